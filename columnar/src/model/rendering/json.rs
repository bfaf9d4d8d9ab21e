//! JSON that several forms share.

use serde_json::{Value as Json, json};

use super::Block;

/// A message with one string as the content.
pub(super) fn message(role: &str, content: &str) -> Json {
    json!({ "role": role, "content": content })
}

/// One message for all adjacent blocks of equal role, with a part for each block.
pub(super) fn messages(blocks: &[Block], part: impl Fn(&Block) -> Json) -> Vec<Json> {
    let message = |blocks: &[Block]| {
        let content: Vec<Json> = blocks.iter().map(&part).collect();
        Some(json!({ "role": blocks.first()?.role.as_str(), "content": content }))
    };
    blocks.chunk_by(|one, other| one.role == other.role).filter_map(message).collect()
}

/// A text part of a message.
pub(super) fn text(text: &str) -> Json {
    json!({ "type": "text", "text": text })
}

/// Adds a member to an object, if there is a value.
pub(super) fn with(mut object: Json, key: &str, value: Option<Json>) -> Json {
    if let (Json::Object(members), Some(value)) = (&mut object, value) {
        members.insert(String::from(key), value);
    }
    object
}
