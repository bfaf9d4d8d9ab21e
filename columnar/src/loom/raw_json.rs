//! JSON that is read part by part. A document as a whole would take thirty times its length.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::unique_keys::UniqueKeys;

/// A part of a document, as text.
#[derive(Clone, Copy)]
pub(super) struct RawJson<'d>(&'d str);

impl<'d> RawJson<'d> {
    /// A document whose objects have no key twice.
    pub(super) fn checked(document: &'d str) -> Result<Self, serde_json::Error> {
        let UniqueKeys = serde_json::from_str(document)?;
        Ok(Self(document))
    }

    /// The members of an object with these names.
    pub(super) fn members<const N: usize>(self, names: [&'static str; N]) -> [Option<Self>; N] {
        let mut found = [None; N];
        self.visit(|key, value| {
            let places = names.iter().zip(&mut found).filter(|(name, _)| **name == key);
            places.for_each(|(_, place)| *place = Some(value));
        });
        found
    }

    /// The members of an object.
    pub(super) fn object(self) -> Option<Vec<(String, Self)>> {
        let mut members = Vec::new();
        self.visit(|key, value| members.push((key, value))).then_some(members)
    }

    pub(super) fn list(self) -> Option<Vec<Self>> {
        let values: Vec<&RawValue> = serde_json::from_str(self.0).ok()?;
        Some(values.into_iter().map(|value| Self(value.get())).collect())
    }

    pub(super) fn text(self) -> Option<String> {
        serde_json::from_str(self.0).ok()
    }

    pub(super) fn number(self) -> Option<u64> {
        serde_json::from_str(self.0).ok()
    }

    pub(super) fn flag(self) -> bool {
        self.0 == "true"
    }

    pub(super) const fn as_str(self) -> &'d str {
        self.0
    }

    /// Shows all members of an object. `false` if it is none.
    fn visit(self, member: impl FnMut(String, Self)) -> bool {
        serde_json::Deserializer::from_str(self.0).deserialize_map(MemberVisitor(member)).is_ok()
    }
}

struct MemberVisitor<F>(F);

impl<'d, F: FnMut(String, RawJson<'d>)> Visitor<'d> for MemberVisitor<F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'d>>(mut self, mut object: A) -> Result<(), A::Error> {
        while let Some((key, value)) = object.next_entry::<String, &RawValue>()? {
            (self.0)(key, RawJson(value.get()));
        }
        Ok(())
    }
}
