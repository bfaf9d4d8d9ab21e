//! The commands and requests of a chat. Mistakes are messages; only the chat's store and the output can fail.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use columnar::BoxError;
use columnar::cache::CachePolicy;
use columnar::documents::{Changes, Documents, Key, Kind, Update};
use columnar::prelude::*;
use columnar::repo::{RepoError, Repository};
use columnar::tokens::{Counter as _, Estimate};
use columnar::usage::Total;
use columnar_examples::{printable, show_tiers};

use crate::blocks::Answer;
use crate::cost::Costs;
use crate::edits::{self, Edit};
use crate::{Coder, INSTRUCTION, pace};

pub(crate) const COMMANDS: &str = "\
TEXT           is a request; files that it names by their paths are selected
/add PATH…     selects files, or all files of folders: requests have them in full; quote a path that has spaces
/drop PATH…    selects them no more
/files         shows the files that are selected
/breakdown     shows the tokens of the last request by tier
/undo          takes back the last edits
/help          shows these commands
";

pub(crate) struct Session<W> {
    coder: Coder,
    repository: Repository,
    root: PathBuf,
    /// The model whose cache marks and costs are shown.
    provider: String,
    /// The documents after all updates that are stored.
    documents: Documents,
    selected: BTreeSet<String>,
    /// The edits of this session, an entry for each answer.
    edits: Vec<Vec<Edit>>,
    /// The fate of the last edits, for the next request.
    note: String,
    costs: Costs,
    pub(crate) out: W,
}

impl<W: Write> Session<W> {
    /// Goes on where the chat stopped. A request without an answer is sent again. `map` is the limit of the map.
    pub(crate) async fn new(
        coder: Coder,
        root: &Path,
        map: Option<usize>,
        provider: &str,
        mut out: W,
    ) -> Result<Self, BoxError> {
        coder.set_pace(pace());
        let documents = coder.files.documents().await?;
        let files = documents.iter().map(|(key, _)| key).filter(|key| key.kind() == Kind::File);
        let selected: BTreeSet<String> = files.map(|key| key.path().to_owned()).collect();
        match coder.user.len() {
            0 => writeln!(out, "a new chat; /help shows the commands")?,
            count => writeln!(out, "requests so far: {count}, selected files: {}", selected.len())?,
        }
        let mut repository = Repository::open(root)?;
        if let Some(tokens) = map {
            repository = repository.limit(tokens);
        }
        let mut session = Self {
            coder,
            repository,
            root: root.to_owned(),
            provider: provider.to_owned(),
            documents,
            selected,
            edits: Vec::new(),
            note: String::new(),
            costs: Costs::new(provider),
            out,
        };
        session.scan(&BTreeSet::new())?;
        let (files, skipped) = (session.repository.paths().count(), session.repository.skipped().count());
        writeln!(session.out, "files: {files}, skipped: {skipped}")?;
        session.answer().await?;
        Ok(session)
    }

    /// Runs a command, or sends a request.
    ///
    /// # Errors
    ///
    /// The store or the output failed, so nothing more can be done.
    pub(crate) async fn run(&mut self, line: &str) -> Result<(), BoxError> {
        if !line.starts_with('/') {
            return self.ask(line).await;
        }
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let paths = shlex::split(rest);
        let done = match (command, paths.as_deref()) {
            (_, None) => Err("a quote is not closed".to_owned()),
            ("/add" | "/drop", Some([])) => Err(format!("it needs more: {command} PATH…")),
            ("/add", Some(paths)) => {
                self.add(paths).map_err(|error| format!("nothing is selected:\n{error}"))
            }
            ("/drop", Some(paths)) => self.drop(paths),
            ("/files", Some([])) => Ok(self.list()),
            ("/breakdown", Some([])) => self.show_breakdown(),
            ("/undo", Some([])) => self.undo(),
            ("/help", Some([])) => Ok(COMMANDS.trim_end().to_owned()),
            _ => Err(format!("there is no command `{line}`; /help shows all of them")),
        };
        Ok(writeln!(self.out, "{}", printable(done.unwrap_or_else(|fault| fault)))?)
    }

    /// Reads the repository, and returns the update from the stored documents.
    fn scan(&mut self, selected: &BTreeSet<String>) -> Result<Update, RepoError> {
        self.repository.resume(&self.documents).select(selected).scan()
    }

    /// Selects files, or all files of folders. Files that cannot be shown are named at once.
    fn add(&mut self, paths: &[String]) -> Result<String, RepoError> {
        // A person may have made files since the last scan.
        self.scan(&BTreeSet::new())?;
        let mut selected = self.selected.clone();
        for path in paths {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            let is_inside = |file: &&str| file.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'));
            let files: Vec<&str> = self.repository.paths().filter(is_inside).collect();
            let files = if files.is_empty() { vec![path] } else { files };
            selected.extend(files.into_iter().map(ToOwned::to_owned));
        }
        self.scan(&selected)?;
        let added: Vec<&str> =
            self.repository.selected().filter(|path| !self.selected.contains(*path)).collect();
        let added = if added.is_empty() { "nothing new".to_owned() } else { added.join(", ") };
        self.selected = self.repository.selected().map(ToOwned::to_owned).collect();
        Ok(format!("selected: {added}"))
    }

    fn drop(&mut self, paths: &[String]) -> Result<String, String> {
        match paths.iter().find(|path| !self.selected.contains(*path)) {
            Some(path) => Err(format!("{path} is not selected; /files shows the files that are")),
            None => {
                self.selected.retain(|file| !paths.contains(file));
                Ok(format!("selected no more: {}", paths.join(", ")))
            }
        }
    }

    fn list(&self) -> String {
        let files: String = self.selected.iter().flat_map(|file| [file, "\n"]).collect();
        format!("{files}{} of {} files are selected", self.selected.len(), self.repository.paths().count())
    }

    fn show_breakdown(&self) -> Result<String, String> {
        let step = self.coder.user.len().checked_sub(1).ok_or("there was no request yet")?;
        let breakdown = self.coder.coder.messages(step).map(|messages| messages.breakdown(INSTRUCTION));
        Ok(breakdown.map_err(|error| error.to_string())?.to_string())
    }

    fn undo(&mut self) -> Result<String, String> {
        let edits = self.edits.last().ok_or("no edits of this session are left")?;
        edits::undo(&self.root, edits).map_err(|fault| format!("nothing is undone: {fault}"))?;
        let paths: Vec<&str> = edits.iter().map(|edit| &*edit.path).collect();
        let undone = format!("undone: {}", paths.join(", "));
        self.note = format!("The person took your edits of these files back: {}\n\n", paths.join(", "));
        for edit in self.edits.pop().unwrap_or_default().iter().filter(|edit| edit.is_new()) {
            self.selected.remove(&edit.path);
        }
        Ok(undone)
    }

    /// Pushes the changes on the disk, then the request.
    async fn ask(&mut self, request: &str) -> Result<(), BoxError> {
        self.select_named(request)?;
        // Each request has one update. A process that ended between the two left an update without a request.
        if self.coder.files.len() == self.coder.user.len() && !self.update().await? {
            return Ok(());
        }
        let note = std::mem::take(&mut self.note);
        self.coder.user.push(note + request).await?;
        self.answer().await
    }

    /// Selects the files whose paths are words of the request.
    fn select_named(&mut self, request: &str) -> io::Result<()> {
        let is_between = |c: char| c.is_whitespace() || "`'\"(),;:".contains(c);
        let words: BTreeSet<&str> =
            request.split(is_between).map(|word| word.trim_end_matches(['.', '?', '!'])).collect();
        let named = self.repository.paths().filter(|path| words.contains(path));
        let named: Vec<String> =
            named.filter(|path| !self.selected.contains(*path)).map(ToOwned::to_owned).collect();
        if !named.is_empty() {
            writeln!(self.out, "selected: {}", printable(named.join(", ")))?;
        }
        self.selected.extend(named);
        Ok(())
    }

    /// Pushes the changes on the disk. If a selected file cannot be read, nothing is sent.
    async fn update(&mut self) -> Result<bool, BoxError> {
        let update = match self.scan(&self.selected.clone()) {
            Ok(update) => update,
            Err(error) => {
                let advice = "the request is not sent; /drop takes a file out of the selection";
                writeln!(self.out, "{}\n{advice}", printable(error))?;
                return Ok(false);
            }
        };
        let (documents, changes) = self.documents.apply(&update)?;
        self.coder.files.push(update).await?;
        self.documents = documents;
        self.show_changes(&changes)?;
        Ok(true)
    }

    fn show_changes(&mut self, changes: &Changes) -> io::Result<()> {
        let (added, changed, removed) = (changes.added(), changes.changed(), changes.removed());
        for (word, keys) in [("in full", added), ("changed", changed), ("not in full", removed)] {
            let files = keys.iter().filter(|key| key.kind() == Kind::File);
            let files: Vec<&str> = files.map(Key::path).collect();
            if !files.is_empty() {
                writeln!(self.out, "{word}: {}", printable(files.join(", ")))?;
            }
        }
        let entries = |keys: &[Key]| keys.iter().filter(|key| key.kind() == Kind::Symbol).count();
        match [added, changed, removed].map(entries) {
            [0, 0, 0] => Ok(()),
            [added, changed, removed] => {
                writeln!(self.out, "entries of the map: {added} added, {changed} changed, {removed} removed")
            }
        }
    }

    /// Runs the flow, and takes the answers.
    async fn answer(&mut self) -> Result<(), BoxError> {
        let (mut run, mut answers) = (self.coder.run(), Vec::new());
        while let Some(event) = run.try_next().await? {
            match event {
                Event::Value { step, value, .. } => answers.push((step, value)),
                Event::Retry { error, .. } => writeln!(self.out, "once more, after: {}", printable(error))?,
                Event::Failed { error, .. } => {
                    writeln!(self.out, "there is no answer: {}; say it again", printable(error))?;
                }
                _ => {}
            }
        }
        drop(run);
        for (step, answer) in answers {
            self.apply(&answer)?;
            self.report(step, &answer)?;
        }
        Ok(())
    }

    /// Writes the edits of an answer, or none. In that case the next request says why.
    fn apply(&mut self, text: &str) -> io::Result<()> {
        let Answer { prose, blocks, faults } = Answer::parse(text);
        let planned =
            if faults.is_empty() { edits::plan(&self.root, &self.selected, &blocks) } else { Err(faults) };
        let written = planned.and_then(|planned| match edits::write(&self.root, &planned) {
            Ok(()) => Ok(planned),
            Err(fault) => Err(vec![fault]),
        });
        match written {
            Ok(edits) => {
                writeln!(self.out, "{}", printable(prose))?;
                edits.iter().try_for_each(|edit| edit.show(&mut self.out))?;
                self.selected.extend(edits.iter().map(|edit| edit.path.clone()));
                self.edits.extend(Some(edits).filter(|edits| !edits.is_empty()));
            }
            Err(faults) => {
                let faults = faults.join("\n");
                writeln!(self.out, "{}\n\nnothing is written:\n{}", printable(text), printable(&faults))?;
                self.note = format!("Nothing of your last answer was written:\n{faults}\n\n");
            }
        }
        Ok(())
    }

    /// Prints the tiers and the costs of a request.
    fn report(&mut self, step: usize, answer: &str) -> Result<(), BoxError> {
        let messages = self.coder.coder.messages(step)?;
        let breakdown = messages.breakdown(INSTRUCTION);
        let plan = self.coder.coder.cache_plan(step, CachePolicy::by_model(&self.provider), pace())?;
        writeln!(self.out)?;
        show_tiers(&mut self.out, &messages, &breakdown)?;
        writeln!(self.out, "total {:>19} tokens", breakdown.tokens)?;
        if let Some(costs) = self.costs.lines(&messages, &plan, Estimate.count(answer)) {
            writeln!(self.out, "{}", printable(costs))?;
        }
        if let Some(receipt) = self.coder.coder.receipt(step).filter(|receipt| receipt.usage.input > 0) {
            let total: Total = [&*receipt].into_iter().collect();
            writeln!(self.out, "reported by the provider: {}", printable(total))?;
        }
        Ok(())
    }
}
