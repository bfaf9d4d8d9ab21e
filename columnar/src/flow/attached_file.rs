//! Files as attachments.

use std::path::Path;
use std::{fs, io};

use crate::history::{Attachment, AttachmentError};

impl Attachment {
    /// The attachment with the content of a file.
    ///
    /// # Errors
    ///
    /// [`AttachmentError`], if the file cannot be read, or for the reasons of [`new`](Self::new).
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, AttachmentError> {
        let path = path.as_ref().to_owned();
        let shown = path.display().to_string().escape_debug().to_string();
        let read = tokio::task::spawn_blocking(move || read(&path)).await;
        let read = read.map_err(io::Error::other).and_then(|read| read);
        Self::new(read.map_err(|source| AttachmentError::Unreadable { path: shown, source: source.into() })?)
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A pipe or a device may have no end.
    if fs::metadata(path)?.is_file() { fs::read(path) } else { Err(io::Error::other("it is no file")) }
}
