//! The names of attachments in the receipt of a cell. A store has the bytes under the digest.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::object;
use crate::history::{Attachment, Value};

/// An attachment of a value, as the receipt of the value names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AttachmentRef {
    /// The SHA-256 of the bytes, in hexadecimal digits.
    pub(crate) digest: String,
    media_type: String,
    length: usize,
    alt: Option<String>,
}

impl AttachmentRef {
    /// The names of the attachments of a value.
    pub(crate) fn of(value: &Value) -> Vec<Self> {
        let attachments = value.attachments().iter().map(|attachment| Self {
            digest: attachment.digest().to_owned(),
            media_type: attachment.media_type().to_owned(),
            length: attachment.len(),
            alt: attachment.alt_text().map(str::to_owned),
        });
        attachments.collect()
    }

    pub(crate) fn to_json(&self) -> Json {
        object([
            ("sha256", Some(self.digest.as_str().into())),
            ("type", Some(self.media_type.as_str().into())),
            ("bytes", Some(self.length.into())),
            ("alt", self.alt.as_deref().map(Json::from)),
        ])
    }

    /// The member `attachments` of a receipt; `None` if it names no attachments.
    pub(super) fn parse_all(receipt: &Map<String, Json>) -> Option<Vec<Self>> {
        let Some(attachments) = receipt.get("attachments") else { return Some(Vec::new()) };
        attachments.as_array()?.iter().map(Self::parse).collect()
    }

    fn parse(json: &Json) -> Option<Self> {
        let text = |member: &str| json.get(member).and_then(Json::as_str).map(str::to_owned);
        Some(Self {
            // A receipt from elsewhere must not name a path.
            digest: text("sha256").filter(|digest| is_digest(digest))?,
            media_type: text("type")?,
            length: json.get("bytes")?.as_u64()?.try_into().ok()?,
            alt: text("alt"),
        })
    }

    /// The attachment with these bytes, which a store returned, or the defect of the bytes.
    pub(crate) fn attachment(&self, bytes: Option<Arc<[u8]>>) -> Result<Attachment, String> {
        let Some(bytes) = bytes else {
            return Err(format!("its attachment {self} is gone; restore it from a backup"));
        };
        let attachment = Attachment::accepted(bytes);
        if attachment.len() == self.length && attachment.digest() == self.digest {
            return Ok(self.named(attachment));
        }
        Err(format!("its attachment {self} was changed or damaged; restore it from a backup"))
    }

    /// The attachment with the text in its place.
    pub(crate) fn named(&self, attachment: Attachment) -> Attachment {
        match &self.alt {
            Some(alt) => attachment.alt(alt.as_str()),
            None => attachment,
        }
    }
}

/// The type and the first digits of the digest.
impl fmt::Display for AttachmentRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest.get(..8).unwrap_or_default();
        write!(f, "`{} {digest}`", self.media_type.escape_debug())
    }
}

/// Whether a text is a SHA-256 in hexadecimal digits.
pub(crate) fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}
