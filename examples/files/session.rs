//! A chat and the documents: a question, the update before it, and the report after it.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use columnar::BoxError;
use columnar::cache::CachePolicy;
use columnar::documents::Documents;
use columnar::prelude::*;
use columnar_examples::{pace, printable, show_marks, show_tiers};

use crate::folder::Scan;
use crate::{Desk, INSTRUCTION};

pub(crate) struct Session<W> {
    desk: Desk,
    root: PathBuf,
    /// The model whose cache marks are shown.
    provider: String,
    /// The documents after all updates.
    documents: Documents,
    /// The files that the last scan skipped, each with the reason.
    skipped: BTreeMap<String, String>,
    pub(crate) asked: usize,
    pub(crate) out: W,
}

impl<W: Write> Session<W> {
    pub(crate) async fn new(desk: Desk, root: PathBuf, provider: &str, mut out: W) -> Result<Self, BoxError> {
        desk.set_pace(pace());
        let documents = desk.files.documents().await?;
        if !desk.question.is_empty() {
            writeln!(out, "{} questions so far, {} documents", desk.question.len(), documents.len())?;
        }
        let (provider, skipped) = (provider.to_owned(), BTreeMap::new());
        Ok(Self { desk, root, provider, documents, skipped, asked: 0, out })
    }

    /// Pushes what changed in the folder, then the question, and prints the answer and the tiers.
    pub(crate) async fn ask(&mut self, question: &str) -> Result<(), BoxError> {
        self.asked += 1;
        // Each question has one update. A process that ended between the two left an update without a question.
        if self.desk.files.len() == self.desk.question.len() {
            self.update().await?;
        }
        let step = self.desk.question.push(question).await?;
        let mut run = self.desk.run();
        while let Some(event) = run.try_next().await? {
            if let Event::Value { value, .. } = event {
                writeln!(self.out, "{}\n", printable(value))?;
            }
        }
        drop(run);
        self.show(step)
    }

    /// Prints the tiers of a step, the cache marks for the model, and the prefix of the next request.
    fn show(&mut self, step: usize) -> Result<(), BoxError> {
        let messages = self.desk.answer.messages(step)?;
        show_tiers(&mut self.out, &messages, &messages.breakdown(INSTRUCTION))?;
        let plan = self.desk.answer.cache_plan(step, CachePolicy::by_model(&self.provider), pace())?;
        show_marks(&mut self.out, &plan, &self.provider)?;
        writeln!(self.out, "if nothing is edited, {}", self.desk.answer.explain_cache(step)?)?;
        Ok(())
    }

    async fn update(&mut self) -> Result<(), BoxError> {
        let scan = Scan::of(&self.root).map_err(|error| format!("cannot read the documents: {error}"))?;
        self.report(&scan)?;
        let update = scan.update_of(&self.documents);
        let (documents, changes) = self.documents.apply(&update)?;
        self.desk.files.push(update).await?;
        self.documents = documents;
        let (added, changed, removed) = (changes.added(), changes.changed(), changes.removed());
        for (word, keys) in [("added", added), ("changed", changed), ("removed", removed)] {
            for key in keys {
                writeln!(self.out, "{word}: {}", printable(key.path()))?;
            }
        }
        Ok(())
    }

    /// Prints the files that are skipped, each once until the reason changes.
    fn report(&mut self, scan: &Scan) -> io::Result<()> {
        for (path, reason) in &scan.skipped {
            if self.skipped.get(path) != Some(reason) {
                writeln!(self.out, "skipped: {}: {}", printable(path), printable(reason))?;
            }
        }
        self.skipped.clone_from(&scan.skipped);
        Ok(())
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}
