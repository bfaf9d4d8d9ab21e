//! Coding sessions: a person edits files while a model answers, and the requests hold the files.
//!
//! This file has the two layouts of the library; the layouts of other programs are in `layouts`.

use std::sync::Arc;

use columnar::documents::Update;
use columnar::{Compute, Context, Flow, Reply, Result, View, column, documents, flow, source, this};

use super::replies::column_spec;
use super::{MESSAGES, REPLIES, record, wait};
use crate::cost::random::Random;
use crate::cost::trace::{ColumnSpec, Kind, Trace};

const SESSIONS: usize = 6;
const EDITS: usize = 50;

/// The probability that a step has an edit.
const EDITED: f64 = 0.5;

/// The instruction, in tokens.
const INSTRUCTION: usize = 1500;

/// The files of the sessions, and the ones that are edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    /// Few files. Seven of ten edits are in two of these.
    Focused,
    /// Many files. The work stays at one for some edits, then moves to any other.
    Large,
    /// Few files, and each edit is in any of these.
    Scattered,
    /// Few long documents. Each edit replaces the whole text of one of two, so the old texts are soon longer than all
    /// others.
    Rewritten,
}

/// All projects.
pub const PROJECTS: [Project; 4] = [Project::Focused, Project::Large, Project::Scattered, Project::Rewritten];

/// The files at the beginning of a session, and the steps.
#[derive(Clone, Debug)]
pub struct Session {
    /// The texts of the files.
    pub files: Vec<String>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// A message, the reply, and the edit before the message: a file and its new text.
#[derive(Clone, Debug)]
pub struct Step {
    /// The message.
    pub message: String,
    /// The edit.
    pub edit: Option<(usize, String)>,
    /// The reply.
    pub reply: String,
}

impl Project {
    /// The name of the project in the tables of results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Focused => "focused",
            Self::Large => "large",
            Self::Scattered => "scattered",
            Self::Rewritten => "rewritten",
        }
    }

    /// Sessions of fifty edits each.
    pub fn sessions(self) -> Vec<Session> {
        let mut random = Random::new(6);
        (0..SESSIONS).map(|_| self.session(&mut random)).collect()
    }

    fn session(self, random: &mut Random) -> Session {
        let files = (0..self.files()).map(|_| random.text(self.lengths())).collect();
        let (mut steps, mut file, mut edits) = (Vec::new(), 0, 0);
        while edits < EDITS {
            // The files are new at the first step.
            let is_edited = !steps.is_empty() && random.happens(EDITED);
            let edit = is_edited.then(|| {
                file = self.next(file, random);
                (file, random.text(self.lengths()))
            });
            edits += usize::from(is_edited);
            steps.push(Step { message: random.text(MESSAGES), edit, reply: random.text(REPLIES) });
        }
        Session { files, steps }
    }

    fn files(self) -> usize {
        match self {
            Self::Focused | Self::Scattered => 12,
            Self::Large => 100,
            Self::Rewritten => 4,
        }
    }

    /// The lengths of files, in tokens.
    fn lengths(self) -> &'static [usize] {
        match self {
            Self::Focused | Self::Large | Self::Scattered => &[100, 200, 400, 800, 1600],
            Self::Rewritten => &[6000, 10_000],
        }
    }

    /// The file of the edit after one in this file.
    fn next(self, file: usize, random: &mut Random) -> usize {
        let last = self.files() - 1;
        match self {
            Self::Focused => {
                let most = if random.happens(0.7) { 1 } else { last };
                random.count(0, most)
            }
            Self::Rewritten => random.count(0, 1),
            Self::Large if random.happens(0.7) => file,
            Self::Large | Self::Scattered => random.count(0, last),
        }
    }

    /// The sessions as flows whose files are read in order of the changes.
    ///
    /// # Errors
    ///
    /// The errors of the flows. None is expected.
    pub fn append(self) -> Result<Trace> {
        self.trace("append", Kind::AppendOnly, &documents("files").all())
    }

    /// The sessions as flows whose files are read in tiers.
    ///
    /// # Errors
    ///
    /// The errors of the flows. None is expected.
    pub fn tiers(self) -> Result<Trace> {
        self.trace("tiers", Kind::Mutable, &documents("files").tiered().into())
    }

    fn trace(self, layout: &str, kind: Kind, files: &View) -> Result<Trace> {
        let coder = instruction();
        let mut trace = Trace::new(format!("T6 {} {layout}", self.name()), kind, vec![coder.clone()]);
        for session in self.sessions() {
            let user = source("user");
            let coding = column("coder", (files.clone(), user.all(), this()), Coder::new(&coder, &session));
            let coding = Arc::new(flow([coding])?);
            wait(push_and_run(&coding, &session))?;
            record(&mut trace, &coding, 0..session.steps.len(), None)?;
        }
        Ok(trace)
    }
}

/// The instruction of all layouts.
pub(super) fn instruction() -> ColumnSpec {
    column_spec("coder", INSTRUCTION, 0)
}

async fn push_and_run(coding: &Flow, Session { files, steps }: &Session) -> Result<()> {
    let path = |file: usize| format!("src/{file:03}.rs");
    let mut update = files
        .iter()
        .enumerate()
        .fold(Update::new(), |update, (file, text)| update.file(path(file), text.as_str()));
    for step in steps {
        if let Some((file, text)) = &step.edit {
            update = update.file(path(*file), text.as_str());
        }
        let text = update.to_text().expect("the paths are valid, and each file is put once");
        coding.push("files", text).await?;
        coding.push("user", step.message.as_str()).await?;
        update = Update::new();
    }
    coding.run().await
}

/// A compute step with the replies of a session, so that the replies are equal in all layouts.
struct Coder {
    instruction: String,
    replies: Vec<String>,
}

impl Coder {
    fn new(coder: &ColumnSpec, session: &Session) -> Self {
        let replies = session.steps.iter().map(|step| step.reply.clone()).collect();
        Self { instruction: coder.instruction.clone(), replies }
    }
}

impl Compute for Coder {
    fn compute(&self, cx: Context) -> Reply<'static> {
        Reply::text(self.replies.get(cx.step()).cloned().unwrap_or_default())
    }

    fn instruction(&self) -> Option<&str> {
        Some(&self.instruction)
    }
}
