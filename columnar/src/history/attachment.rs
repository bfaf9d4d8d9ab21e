//! Attachments: images, documents and files beside the text of a value.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use sha2::{Digest as _, Sha256};

use super::{file_content, pdf};

/// An image, a document or a file beside the text of a [`Value`](super::Value).
///
/// The type is found by the content, and not by the name of a file. Clones share the bytes.
///
/// ```
/// use columnar::Attachment;
///
/// # fn main() -> Result<(), columnar::AttachmentError> {
/// let note = Attachment::new("Launch on Monday.")?.alt("A note about the launch");
/// assert_eq!((note.media_type(), note.len()), ("text/plain", 17));
/// assert_eq!(note.alt_text(), Some("A note about the launch"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Attachment {
    content: Arc<AttachmentContent>,
    alt: Option<Arc<str>>,
}

/// The part of an attachment that all values with the same bytes share.
pub(crate) struct AttachmentContent {
    /// The SHA-256 of the bytes, in hexadecimal digits.
    digest: Arc<str>,
    media_type: &'static str,
    bytes: Arc<[u8]>,
    /// The width and the height of an image, in pixels.
    size: Option<(u32, u32)>,
    /// The number of pages of a PDF, or 1.
    pages: usize,
}

/// The error of bytes that are no attachment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachmentError {
    /// There are no bytes.
    #[error("the attachment is empty")]
    Empty,
    /// An image or a document of this type that ends too early, or whose head is damaged.
    #[error(
        "the attachment is a damaged or truncated `{media_type}`; open it in a viewer, and attach it again"
    )]
    Damaged {
        /// The type, as the first bytes say.
        media_type: &'static str,
    },
    /// A PDF with a password, which no model can read.
    #[error("the attachment is a PDF with a password; attach a copy without one")]
    Encrypted,
    /// The file cannot be read.
    #[error("the attachment `{path}` cannot be read: {source}")]
    Unreadable {
        /// The path as the caller named it, escaped.
        path: String,
        /// The error of the system.
        source: Box<dyn Error + Send + Sync>,
    },
}

impl Attachment {
    /// The attachment of these bytes.
    ///
    /// # Errors
    ///
    /// [`AttachmentError`], if there are no bytes, or if an image or a PDF is damaged or truncated. The content of an
    /// image is not decoded.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, AttachmentError> {
        let bytes: Arc<[u8]> = bytes.into().into();
        let media_type = file_content::media_type(&bytes).ok_or(AttachmentError::Empty)?;
        if file_content::is_damaged(&bytes, media_type) {
            return Err(AttachmentError::Damaged { media_type });
        }
        if media_type == PDF && pdf::is_encrypted(&bytes) {
            return Err(AttachmentError::Encrypted);
        }
        Ok(Self::with_type(bytes, media_type))
    }

    /// The attachment of bytes that were accepted before, perhaps by another version with other checks.
    pub(crate) fn accepted(bytes: Arc<[u8]>) -> Self {
        let media_type = file_content::media_type(&bytes).unwrap_or("application/octet-stream");
        Self::with_type(bytes, media_type)
    }

    fn with_type(bytes: Arc<[u8]>, media_type: &'static str) -> Self {
        let pages = if media_type == PDF { pdf::pages(&bytes) } else { 1 };
        let size = file_content::size(&bytes, media_type);
        let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
        let digest = digest.concat().into();
        Arc::new(AttachmentContent { digest, media_type, bytes, size, pages }).into()
    }

    /// The same attachment with a text in its place, for models that take no such media.
    #[must_use]
    pub fn alt(self, text: impl Into<Arc<str>>) -> Self {
        Self { alt: Some(text.into()), ..self }
    }

    /// The text in place of the attachment.
    pub fn alt_text(&self) -> Option<&str> {
        self.alt.as_deref()
    }

    /// The text in place of the attachment, or else the type and the length.
    pub(crate) fn in_words(&self) -> String {
        match self.alt_text() {
            Some(text) => format!("[{text}]"),
            None => format!("[{}, {} bytes]", self.media_type(), self.len()),
        }
    }

    /// The type and the beginning of the digest, for errors.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.media_type(), self.digest().get(..8).unwrap_or_default())
    }

    pub(crate) fn is_image(&self) -> bool {
        self.media_type().starts_with("image/")
    }

    pub(crate) fn is_pdf(&self) -> bool {
        self.media_type() == PDF
    }

    /// The longer edge of an image in pixels; 0 for other media.
    pub(crate) fn edge(&self) -> u32 {
        self.size().map_or(0, |(width, height)| width.max(height))
    }

    /// The number of pages of a PDF, or 1.
    pub(crate) fn pages(&self) -> usize {
        self.content.pages
    }

    /// The media type, such as `image/png`: `text/plain` for other text in UTF-8, `application/octet-stream` for other
    /// bytes.
    pub fn media_type(&self) -> &str {
        self.content.media_type
    }

    /// The content of a text, such as `text/html`.
    pub(crate) fn text(&self) -> Option<&str> {
        self.media_type().starts_with("text/").then(|| str::from_utf8(self.bytes()).ok()).flatten()
    }

    /// Whether a GIF has several pictures.
    pub(crate) fn is_animated(&self) -> bool {
        file_content::is_animated(self.bytes())
    }

    /// The SHA-256 of the bytes, in hexadecimal digits: the address in a store.
    pub fn digest(&self) -> &str {
        &self.content.digest
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.content.bytes
    }

    /// The content, which other attachments may have as well.
    pub(crate) fn content(&self) -> &Arc<AttachmentContent> {
        &self.content
    }

    /// The bytes as they are shared.
    pub(crate) fn shared_bytes(&self) -> Arc<[u8]> {
        Arc::clone(&self.content.bytes)
    }

    /// The number of bytes.
    pub fn len(&self) -> usize {
        self.content.bytes.len()
    }

    /// Whether there are no bytes, which never is.
    pub fn is_empty(&self) -> bool {
        self.content.bytes.is_empty()
    }

    /// The width and the height in pixels of a PNG, JPEG, GIF or WebP; `None` for other media.
    pub fn size(&self) -> Option<(u32, u32)> {
        self.content.size
    }
}

/// An attachment without a text in its place.
impl From<Arc<AttachmentContent>> for Attachment {
    fn from(content: Arc<AttachmentContent>) -> Self {
        Self { content, alt: None }
    }
}

/// The texts in place of attachments, behind the text of a value.
pub(crate) fn in_words(attachments: &[Attachment]) -> String {
    attachments.iter().flat_map(|attachment| ["\n\n".to_owned(), attachment.in_words()]).collect()
}

const PDF: &str = "application/pdf";

/// Attachments are equal if their bytes and texts are.
impl PartialEq for Attachment {
    fn eq(&self, other: &Self) -> bool {
        self.digest() == other.digest() && self.alt_text() == other.alt_text()
    }
}

impl Eq for Attachment {}

/// As the type, the digest, the number of bytes and the text in place of the attachment, without the bytes.
impl Serialize for Attachment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", self.media_type())?;
        map.serialize_entry("sha256", self.digest())?;
        map.serialize_entry("bytes", &self.len())?;
        self.alt_text().map_or(Ok(()), |alt| map.serialize_entry("alt", alt))?;
        map.end()
    }
}

/// Without the bytes and without the text.
impl fmt::Debug for Attachment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digest = self.digest().get(..8).unwrap_or_default();
        write!(f, "Attachment({} {digest}…, {} bytes)", self.media_type(), self.len())
    }
}
