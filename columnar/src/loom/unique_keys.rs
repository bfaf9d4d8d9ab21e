//! JSON whose objects have no key twice. A map would keep the last value, and lose the others.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value as Json};

/// JSON of such objects.
pub(super) struct UniqueKeys(pub(super) Json);

impl<'de> Deserialize<'de> for UniqueKeys {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueKeysVisitor).map(Self)
    }
}

struct UniqueKeysVisitor;

impl<'de> Visitor<'de> for UniqueKeysVisitor {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON")
    }

    fn visit_unit<E: Error>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Json, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Json, E> {
        Ok(number.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_string<E: Error>(self, text: String) -> Result<Json, E> {
        Ok(text.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Json, A::Error> {
        let mut values = Vec::new();
        while let Some(UniqueKeys(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Json, A::Error> {
        let mut members = Map::new();
        while let Some(key) = object.next_key::<String>()? {
            if members.contains_key(&key) {
                return Err(A::Error::custom("a key is there twice"));
            }
            let UniqueKeys(value) = object.next_value()?;
            members.insert(key, value);
        }
        Ok(members.into())
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
