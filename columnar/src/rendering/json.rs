//! What the forms have in common.

use serde_json::{Value as Json, json};

use super::Block;

/// A message that is one string.
pub(super) fn message(role: &str, content: &str) -> Json {
    json!({ "role": role, "content": content })
}

/// A message for all neighbours of equal role, each of which is a part, written like this.
pub(super) fn messages(blocks: &[Block], part: impl Fn(&Block) -> Json) -> Vec<Json> {
    let message = |blocks: &[Block]| {
        let content: Vec<Json> = blocks.iter().map(&part).collect();
        Some(json!({ "role": blocks.first()?.role.as_str(), "content": content }))
    };
    blocks.chunk_by(|one, other| one.role == other.role).filter_map(message).collect()
}

/// A part of a message.
pub(super) fn text(text: &str) -> Json {
    json!({ "type": "text", "text": text })
}

/// An object with one more member, if there is one.
pub(super) fn with(mut object: Json, key: &str, value: Option<Json>) -> Json {
    if let (Json::Object(members), Some(value)) = (&mut object, value) {
        members.insert(String::from(key), value);
    }
    object
}
