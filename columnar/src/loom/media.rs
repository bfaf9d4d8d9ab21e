//! The blocks of the content of a node in Open Loom: texts, and media with the bytes in the document.
//!
//! ```text
//! { "type": "text", "text": TEXT }
//! { "type": "image", "ref": URI, "mimeType": TYPE, "width": PIXELS, "height": PIXELS, "altText": TEXT }
//! { "type": "audio", "ref": URI, "mimeType": TYPE, "transcript": TEXT }
//! { "type": "file", "ref": URI, "mimeType": TYPE, "altText": TEXT }         of other media; an addition to the format
//! ```

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::raw_json::RawJson;
use crate::context::tree::Node;
use crate::history::Attachment;

/// A block that can be read.
pub(super) enum ContentBlock {
    Text(String),
    Media(Attachment),
}

impl ContentBlock {
    /// Reads a block: media whose `ref` is a data URI in base64, otherwise the text in place of the media. `None` if the
    /// block has neither.
    ///
    /// # Errors
    ///
    /// The fault of the bytes.
    pub(super) fn read(block: RawJson<'_>) -> Result<Option<Self>, String> {
        let [kind, text, transcript, alternative, reference, media_type] =
            block.members(["type", "text", "transcript", "altText", "ref", "mimeType"]);
        let kind = kind.and_then(RawJson::text).unwrap_or_default();
        let text = match kind.as_str() {
            "text" => text,
            "audio" => transcript,
            _ => alternative,
        };
        let text = text.and_then(RawJson::text);
        let reference = reference.filter(|_| kind != "text").and_then(RawJson::text);
        let Some(data) = reference.as_deref().and_then(base64_of) else { return Ok(text.map(Self::Text)) };
        let bytes = STANDARD.decode(data).map_err(|_| "its `ref` is no base64".to_owned())?;
        let attachment = Attachment::new(bytes).map_err(|error| error.to_string())?;
        // A drawing is a text, so no bytes at its start tell that it is an image.
        let is_drawing = media_type.and_then(RawJson::text).as_deref() == Some("image/svg+xml");
        if kind == "image" && !is_drawing && !attachment.media_type().starts_with("image/") {
            return Err(format!("it is no image, but `{}`", attachment.media_type()));
        }
        Ok(Some(Self::Media(match text {
            Some(text) => attachment.alt(text),
            None => attachment,
        })))
    }
}

/// The data of a URI that has them in base64.
fn base64_of(uri: &str) -> Option<&str> {
    let (head, data) = uri.split_once(',')?;
    let scheme = head.get(.."data:".len()).unwrap_or_default();
    (scheme.eq_ignore_ascii_case("data:") && head.ends_with(";base64")).then_some(data)
}

/// The blocks of a node. Attachments stand behind the text, and beside attachments an empty text has no block.
pub(super) fn content(node: &Node<'_>) -> Json {
    let media = node.attachments();
    let has_text = media.is_empty() || !node.text().is_empty();
    let text = has_text.then(|| json!({ "type": "text", "text": node.text() }));
    text.into_iter().chain(media.iter().map(block)).collect()
}

fn block(attachment: &Attachment) -> Json {
    let media_type = attachment.media_type();
    let (kind, alternative) = match media_type.split_once('/') {
        Some(("image", _)) => ("image", "altText"),
        Some(("audio", _)) => ("audio", "transcript"),
        _ => ("file", "altText"),
    };
    let uri = format!("data:{media_type};base64,{}", STANDARD.encode(attachment.bytes()));
    let [width, height] =
        [attachment.size().map(|(width, _)| width), attachment.size().map(|(_, height)| height)];
    let fields = [
        ("type", Some(kind.into())),
        ("ref", Some(uri.into())),
        ("mimeType", Some(media_type.into())),
        ("width", width.map(Json::from)),
        ("height", height.map(Json::from)),
        (alternative, attachment.alt_text().map(Json::from)),
    ];
    fields.into_iter().filter_map(|(name, field)| Some((name, field?))).collect()
}
