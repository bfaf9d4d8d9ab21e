//! The recordings of a file, in memory. A recording is found by the request, and a new recording is written at once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use super::error::CassetteError;
use super::recording::{RecordedCell, RecordedReply, RecordedRequest, Recording};
use super::{format, mismatch};
use crate::declare::error::shown;

const DUPLICATE: &str = "is damaged: it holds two recordings of the same request; put their replies into one";

const CHANGED: &str =
    "was changed by another writer while it was recorded: share one `Cassette`, or use a file for each";

/// The requests that a [`Cassette`](super::Cassette) sends to a model, to record the replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Record {
    /// No request. A request that is not recorded is an error.
    #[default]
    Nothing,
    /// The requests that are not recorded.
    Missing,
    /// All requests. The first reply replaces all earlier recordings.
    All,
}

/// The result of looking up a request.
pub(super) enum Lookup {
    Replay(RecordedReply),
    /// The request is not recorded: call the model, with this sequence number.
    Call(u64),
}

/// The recordings of one file.
#[derive(Debug)]
pub(super) struct Recordings {
    pub(super) path: PathBuf,
    pub(super) record: Record,
    /// The recordings by the lines of the request.
    by_request: BTreeMap<Vec<String>, Recording>,
    /// The content of the file as last read or written; `None` if there is no file.
    written: Option<Vec<u8>>,
    /// The error that every request gets.
    error: Option<CassetteError>,
    /// The sequence number of the last call.
    calls: u64,
}

impl Recordings {
    pub(super) fn open(path: PathBuf, record: Result<Record, CassetteError>) -> Self {
        let mut recordings = Self {
            path,
            // If the mode turns out to be invalid, nothing may be recorded.
            record: Record::Nothing,
            by_request: BTreeMap::new(),
            written: None,
            error: None,
            calls: 0,
        };
        if let Err(error) = record.and_then(|record| recordings.read(record)) {
            recordings.error = Some(error);
        }
        recordings
    }

    fn read(&mut self, record: Record) -> Result<(), CassetteError> {
        self.record = record;
        self.written = read_file(&self.path)?;
        match (&self.written, record) {
            // The file is replaced, so the content does not matter.
            (_, Record::All) | (None, Record::Missing) => {}
            (None, Record::Nothing) => {
                let path = shown(&self.path);
                let message = format!("there is no cassette `{path}`; `COLUMNAR_RECORD=missing` records one");
                return Err(CassetteError::new(message).refused());
            }
            (Some(bytes), _) => {
                let recordings = format::read(bytes);
                for recording in recordings.map_err(|damage| CassetteError::of(&self.path, damage))? {
                    if self.by_request.insert(recording.request.lines(), recording).is_some() {
                        return Err(CassetteError::of(&self.path, DUPLICATE));
                    }
                }
            }
        }
        Ok(())
    }

    /// The error that every request gets, if any.
    pub(super) fn check(&self) -> Result<(), CassetteError> {
        self.error.clone().map_or(Ok(()), Err)
    }

    /// The models of all recordings.
    pub(super) fn models(&self) -> Vec<String> {
        let mut models: Vec<_> =
            self.by_request.values().map(|recording| recording.request.model.clone()).collect();
        models.sort();
        models.dedup();
        models
    }

    /// Looks up the reply to a request.
    pub(super) fn find(
        &mut self,
        cell: &RecordedCell,
        request: &RecordedRequest,
        has_model: bool,
    ) -> Result<Lookup, CassetteError> {
        self.check()?;
        let lines = request.lines();
        let earlier = request.earlier_lines().filter(|_| !self.by_request.contains_key(&lines));
        let recorded = earlier.filter(|earlier| self.by_request.contains_key(earlier));
        let recorded = recorded.as_ref().unwrap_or(&lines);
        // A request that this process recorded is sent again: each reply is recorded, as replies may differ.
        let from_file = self.by_request.get_mut(recorded).filter(|recording| recording.sequence.is_empty());
        if let Some(recording) = from_file {
            let reply = recording.replies.get(recording.replayed).or(recording.replies.last());
            recording.replayed += 1;
            if let Some(reply) = reply {
                return Ok(Lookup::Replay(reply.clone()));
            }
        }
        if self.record == Record::Nothing || !has_model {
            let description = mismatch::describe(cell, &lines, &request.origins, &self.by_request);
            let hint = match self.record {
                Record::Nothing => "`COLUMNAR_RECORD=missing` records missing replies",
                _ => {
                    "there is no model to record it from: give one with `Cassette::by_name` or `Cassette::recording`"
                }
            };
            let reason = format!("holds no reply {description}\n{hint}");
            return Err(CassetteError::of(&self.path, reason).refused());
        }
        self.calls += 1;
        Ok(Lookup::Call(self.calls))
    }

    /// Records a reply and writes the file.
    pub(super) fn insert(
        &mut self,
        cell: RecordedCell,
        request: RecordedRequest,
        call: u64,
        reply: RecordedReply,
    ) -> Result<(), CassetteError> {
        let recording = self.by_request.entry(request.lines()).or_insert_with(|| Recording {
            cell: cell.clone(),
            request,
            replies: Vec::new(),
            replayed: 0,
            sequence: Vec::new(),
        });
        // If several columns send the same request, the file must not depend on which column was first.
        recording.cell = cell.min(recording.cell.clone());
        // Calls are concurrent, so replies may end in another order than the requests began.
        let index = recording.sequence.partition_point(|other| *other < call);
        recording.sequence.insert(index, call);
        recording.replies.insert(index, reply);
        // The flow has just used this reply, so `unused` must not list it.
        recording.replayed += 1;
        self.write()
    }

    fn write(&mut self) -> Result<(), CassetteError> {
        if read_file(&self.path)? != self.written {
            return Err(CassetteError::of(&self.path, CHANGED));
        }
        let bytes = format::write(self.in_order()).into_bytes();
        replace(&self.path, &bytes).map_err(|error| CassetteError::io(&self.path, &error))?;
        self.written = Some(bytes);
        Ok(())
    }

    /// The recordings by step, column, and order within the cell, for any order of concurrent calls.
    fn in_order(&self) -> Vec<&Recording> {
        let mut recordings: Vec<_> = self.by_request.values().collect();
        recordings.sort_by_key(|recording| (&recording.cell, recording.request.follow_up.len()));
        recordings
    }

    /// The recordings with replies that were not replayed.
    pub(super) fn unused(&self) -> Vec<&Recording> {
        let mut recordings = self.in_order();
        recordings.retain(|recording| recording.replayed < recording.replies.len());
        recordings
    }
}

fn read_file(path: &Path) -> Result<Option<Vec<u8>>, CassetteError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CassetteError::io(path, &error)),
    }
}

/// Replaces a file atomically, so that no reader sees a part of the new content.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    // The parent of a bare file name is the empty path, which cannot be created.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), fs::create_dir_all)?;
    // The name has the process id, because test processes that run together must not share the file.
    let staged = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), process::id()));
    fs::write(&staged, bytes)?;
    fs::rename(&staged, path)
}
