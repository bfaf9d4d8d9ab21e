//! What is recorded, in memory: who asks for it finds it, and what is new goes to the file at once.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;

use super::asked::Asked;
use super::fault::Fault;
use super::{Record, file, miss};
use crate::model::{Chunk, End, Refused};

/// One request, and what was answered to it.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    pub(super) cell: Cell,
    pub(super) asked: Asked,
    /// In the order in which they were asked for.
    pub(super) replies: Vec<Spoken>,
    /// How many of the replies were given.
    pub(super) given: usize,
    /// The turns in which the replies were asked for; none if they come from the file.
    pub(super) turns: Vec<u64>,
}

/// The cell that a request was for. It says where a recording comes from, and is no part of what it is found by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) step: usize,
    pub(super) column: String,
}

/// A reply that came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spoken {
    pub(super) pieces: Vec<String>,
    pub(super) end: End,
}

impl Spoken {
    pub(super) fn chunks(self) -> impl Iterator<Item = Chunk> {
        self.pieces.into_iter().map(Chunk::Text).chain([Chunk::End(self.end)])
    }
}

/// What becomes of a request.
pub(super) enum Found {
    /// It was answered before.
    Reply(Spoken),
    /// The model is to be asked, in this turn.
    Ask(u64),
}

/// A file of recordings that is in use.
#[derive(Debug)]
pub(super) struct Tape {
    pub(super) path: PathBuf,
    pub(super) record: Record,
    /// By the lines of the request.
    pub(super) recordings: BTreeMap<Vec<String>, Recording>,
    /// What the file holds, as far as is known here; `None` if there is none.
    written: Option<Vec<u8>>,
    /// Why nothing can be asked at all.
    fault: Option<Fault>,
    turn: u64,
}

impl Tape {
    pub(super) fn open(path: PathBuf, record: Result<Record, Fault>) -> Self {
        let mut tape = Self {
            path,
            record: Record::Nothing,
            recordings: BTreeMap::new(),
            written: None,
            fault: None,
            turn: 0,
        };
        if let Err(fault) = record.and_then(|record| tape.read(record)) {
            tape.fault = Some(fault);
        }
        tape
    }

    fn read(&mut self, record: Record) -> Result<(), Fault> {
        self.record = record;
        self.written = on_disk(&self.path)?;
        match (&self.written, record) {
            // What is there is replaced, so it may be anything.
            (_, Record::All) | (None, Record::Missing) => {}
            (None, Record::Nothing) => {
                return Err(Fault::Absent { path: self.path.clone(), source: Refused });
            }
            (Some(bytes), _) => {
                let recordings = file::read(bytes).map_err(|what| what.of(&self.path))?;
                let named = recordings.into_iter().map(|recording| (recording.asked.lines(), recording));
                for (lines, recording) in named {
                    if self.recordings.insert(lines, recording).is_some() {
                        return Err(Fault::Twice { path: self.path.clone() });
                    }
                }
            }
        }
        Ok(())
    }

    /// Why nothing can be asked at all, if so.
    pub(super) fn check(&self) -> Result<(), Fault> {
        self.fault.clone().map_or(Ok(()), Err)
    }

    /// The models that are recorded.
    pub(super) fn models(&self) -> Vec<String> {
        let mut models: Vec<_> =
            self.recordings.values().map(|recording| recording.asked.model.clone()).collect();
        models.sort();
        models.dedup();
        models
    }

    /// The reply to a request, or the turn in which a model is to be asked for it.
    pub(super) fn find(&mut self, cell: &Cell, asked: &Asked, has_model: bool) -> Result<Found, Fault> {
        self.check()?;
        let lines = asked.lines();
        // What was asked for the first time in this life is asked again, as a model may answer otherwise.
        let before = self.recordings.get_mut(&lines).filter(|recording| recording.turns.is_empty());
        if let Some(recording) = before {
            let reply = recording.replies.get(recording.given).or(recording.replies.last());
            recording.given += 1;
            if let Some(reply) = reply {
                return Ok(Found::Reply(reply.clone()));
            }
        }
        if self.record == Record::Nothing || !has_model {
            let text = miss::tell(cell, &lines, &self.recordings);
            return Err(Fault::Missed {
                path: self.path.clone(),
                text,
                way_out: self.way_out(),
                source: Refused,
            });
        }
        self.turn += 1;
        Ok(Found::Ask(self.turn))
    }

    fn way_out(&self) -> &'static str {
        match self.record {
            Record::Nothing => "`COLUMNAR_RECORD=missing` records what is missing",
            _ => "there is no model to record it from: give one with `Cassette::of` or `Cassette::recording`",
        }
    }

    /// Keeps a reply, in the file as well.
    pub(super) fn keep(&mut self, cell: Cell, asked: Asked, turn: u64, reply: Spoken) -> Result<(), Fault> {
        let recording = self.recordings.entry(asked.lines()).or_insert_with(|| Recording {
            cell: cell.clone(),
            asked,
            replies: Vec::new(),
            given: 0,
            turns: Vec::new(),
        });
        // Which of several columns is the first to ask the same must not show.
        recording.cell = cell.min(recording.cell.clone());
        let place = recording.turns.partition_point(|other| *other < turn);
        recording.turns.insert(place, turn);
        recording.replies.insert(place, reply);
        recording.given += 1;
        self.write()
    }

    fn write(&mut self) -> Result<(), Fault> {
        if on_disk(&self.path)? != self.written {
            return Err(Fault::Changed { path: self.path.clone() });
        }
        let bytes = file::write(self.in_order()).into_bytes();
        replace(&self.path, &bytes).map_err(|error| Fault::io(&self.path, &error))?;
        self.written = Some(bytes);
        Ok(())
    }

    /// The recordings in an order that no concurrency can change: by step and column, and first what was asked
    /// first there.
    fn in_order(&self) -> Vec<&Recording> {
        let mut recordings: Vec<_> = self.recordings.values().collect();
        recordings.sort_by_key(|recording| (&recording.cell, recording.asked.follow_up.len()));
        recordings
    }

    /// The recordings of which some reply was not given.
    pub(super) fn unused(&self) -> Vec<&Recording> {
        let mut recordings = self.in_order();
        recordings.retain(|recording| recording.given < recording.replies.len());
        recordings
    }
}

fn on_disk(path: &Path) -> Result<Option<Vec<u8>>, Fault> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Fault::io(path, &error)),
    }
}

/// Puts a whole file in the place of another, so that nobody ever sees a part.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::IsADirectory.into()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map_or(Ok(()), fs::create_dir_all)?;
    let staged = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), process::id()));
    fs::write(&staged, bytes)?;
    fs::rename(&staged, path)
}
