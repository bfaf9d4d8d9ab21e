//! The attachments of a flow: files in the folder `_attachments`, which no column can be called, named after the digest and
//! the type, so that a person can open them.
//!
//! ```text
//! stage the bytes ─▶ rename to the digest ─▶ sync the folder ─▶ the entry that names the digest
//!       sync
//! ```
//!
//! A crash before the entry leaves a file that nothing names, which the deletion of the flow removes.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::disk::{Disk, FileKind};
use super::format::{StoreFormat, WITH_ATTACHMENTS};
use super::layout::{IoContext, StoreFolder, create_dir, none_if_missing};
use super::own_files::unwritable;
use crate::declare::Name;
use crate::model::usage::is_digest;
use crate::store::{Entry, StoreError, attachment_refs};

/// The most bytes of an attachment. A damaged file of any size must not fill the memory.
const MAX_ATTACHMENT: usize = 1 << 30;

/// The files of attachments.
#[derive(Default)]
pub(super) struct AttachmentFiles {
    /// The names by digest, as of the last listing.
    names: BTreeMap<String, String>,
    /// The digests that this owner has made durable.
    durable: BTreeSet<String>,
    /// The digests that were found sound.
    sound: BTreeSet<String>,
}

impl AttachmentFiles {
    /// Stores an attachment by way of a staged file.
    pub(super) fn put<D: Disk>(
        &mut self,
        folder: &StoreFolder<D>,
        staged: [&Path; 2],
        digest: &str,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        if !is_digest(digest) || bytes.len() > MAX_ATTACHMENT {
            let reason =
                "an attachment has at most a gigabyte, and is named after a SHA-256 in hexadecimal digits";
            return Err(StoreError::other(reason));
        }
        let [format, staged] = staged;
        if self.durable.is_empty() {
            begin(folder, format)?;
        }
        // Through a link, the file would get into a folder of somebody else.
        if folder.status(&folder.attachments)?.is_none_or(|found| found.kind != FileKind::Folder) {
            return Err(unwritable(&folder.attachments, "it is not a folder"));
        }
        let name = format!("{digest}.{}", ending(bytes));
        let path = folder.attachments.join(&name);
        let found = folder.status(&path)?;
        let is_there =
            found.is_some_and(|found| found.kind == FileKind::File && found.len == bytes.len() as u64);
        if !is_there {
            folder.stage(staged, bytes)?;
            folder.disk.rename(staged, &path).context("making", &path)?;
        } else if self.durable.contains(digest) {
            return Ok(());
        }
        // Synced also if the file was there: the owner that wrote the file may have died before.
        folder.sync(&path)?;
        folder.sync(&folder.attachments)?;
        self.names.insert(digest.to_owned(), name);
        self.durable.insert(digest.to_owned());
        Ok(())
    }

    /// The bytes of an attachment, if there is a file.
    pub(super) fn load<D: Disk>(
        &mut self,
        folder: &StoreFolder<D>,
        digest: &str,
    ) -> Result<Option<Arc<[u8]>>, StoreError> {
        folder.check_folder(&folder.attachments)?;
        if !self.names.contains_key(digest) {
            let listed = none_if_missing(folder.disk.list(&folder.attachments));
            let listed = listed.context("listing", &folder.attachments)?.unwrap_or_default();
            let named = listed.into_iter().filter_map(|(name, _)| Some((digest_of(&name)?.to_owned(), name)));
            self.names = named.collect();
        }
        let Some(name) = self.names.get(digest) else { return Ok(None) };
        let bytes = folder.read(&folder.attachments.join(name), MAX_ATTACHMENT as u64)?;
        Ok(bytes.map(Into::into))
    }

    /// The first defect of the attachments of an entry.
    pub(super) fn check<D: Disk>(
        &mut self,
        folder: &StoreFolder<D>,
        column: &Name,
        step: usize,
        entry: &Entry,
    ) -> Result<(), StoreError> {
        for name in attachment_refs(entry) {
            if !self.sound.contains(&name.digest) {
                let bytes = self.load(folder, &name.digest)?;
                name.attachment(bytes).map_err(|reason| StoreError::corrupt(column, step, reason))?;
                self.sound.insert(name.digest);
            }
        }
        Ok(())
    }
}

/// Makes the folder. Earlier versions would not see the attachments, so the format tells these to refuse the store.
fn begin<D: Disk>(folder: &StoreFolder<D>, staged: &Path) -> Result<(), StoreError> {
    if StoreFormat::read(folder)? != StoreFormat::Known(WITH_ATTACHMENTS) {
        folder.replace(&folder.format, staged, format!("{WITH_ATTACHMENTS}\n").as_bytes())?;
    }
    create_dir(&folder.disk, &folder.attachments)?;
    folder.sync(&folder.root)
}

/// Removes the attachments of a flow that is deleted, and the folder unless it has other files.
pub(super) fn remove<D: Disk>(folder: &StoreFolder<D>) -> Result<(), StoreError> {
    let path = &folder.attachments;
    if folder.status(path)?.is_none_or(|found| found.kind != FileKind::Folder) {
        return Ok(());
    }
    for (name, kind) in folder.list(path)? {
        if kind != FileKind::Folder && digest_of(&name).is_some() {
            folder.remove(&path.join(name))?;
        }
    }
    folder.sync(path)?;
    match folder.disk.remove_dir(path) {
        Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(()),
        removed => removed.context("removing", path),
    }
}

/// The digest in the name of a file.
fn digest_of(name: &str) -> Option<&str> {
    name.split_once('.').map(|(digest, _)| digest).filter(|digest| is_digest(digest))
}

/// The ending by which programs know the type.
fn ending(bytes: &[u8]) -> &'static str {
    let other = if str::from_utf8(bytes).is_ok() { "txt" } else { "bin" };
    infer::get(bytes).map_or(other, |kind| kind.extension())
}
