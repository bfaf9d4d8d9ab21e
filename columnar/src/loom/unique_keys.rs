//! A check that no object of JSON has a key twice. A map would keep the last value, and lose the others.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// JSON whose objects have no key twice. Nothing of the JSON is kept.
pub(super) struct UniqueKeys;

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = UniqueKeys;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<UniqueKeys, E> {
        Ok(UniqueKeys)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<UniqueKeys, A::Error> {
        while let Some(UniqueKeys) = list.next_element()? {}
        Ok(UniqueKeys)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<UniqueKeys, A::Error> {
        let mut keys = BTreeSet::new();
        while let Some(key) = object.next_key::<String>()? {
            if !keys.insert(key) {
                return Err(A::Error::custom("a key is there twice"));
            }
            let UniqueKeys = object.next_value()?;
        }
        Ok(UniqueKeys)
    }
}

#[cfg(test)]
mod tests {
    use crate::context::tree::{Author, Edge, Mode, Tree};
    use crate::loom::{export, import};

    /// Of two texts of a node, or of two nodes with one id, the first one was lost.
    #[test]
    fn a_document_with_a_key_twice_is_refused_at_its_place() {
        let mut tree = Tree::new(Mode::Dialogue);
        tree.append(&mut || 7 << 40, Edge::root(), Author::Human, "Why?").expect("it is the first one");
        let document = export(&tree, "t", "a title");
        assert_eq!(import(&document).expect("it is whole").len(), 1);
        let title = "\"title\": \"a title\"";
        let twice = document.replacen(title, &format!("{title}, \"title\": \"another\""), 1);
        assert_ne!(twice, document);
        let error = import(&twice).expect_err("one of both would be lost").to_string();
        assert!(error.contains("it has a key twice in one object, at line "), "{error}");
    }
}
