//! The commands of a conversation. Mistakes in a command are messages; only the folder and the output can fail.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use columnar::loom::{Agent, Assembled, Author, Edge, Loom, LoomError, Mark, Node, NodeId, Path, export};
use columnar::model::{Chunk, Finish, Model};
use columnar::terminal::WrapWriter;
use columnar::{BoxError, Role};
use columnar_examples::printable;
use futures::TryStreamExt as _;
use unicode_width::UnicodeWidthStr as _;

pub(crate) const COMMANDS: &str = "\
TEXT           continues the present node, and gets a reply
/edit TEXT     asks the last question in other words, beside the first ones
/again         gets another reply to the last question
/go ID         goes to a node
/tree          shows all nodes
/compare       shows the two newest continuations of the last question side by side
/exclude ID    leaves a node out of later requests, or takes it in again
/asked ID      shows the request that led to a reply, as it was then
/buffer        shows the way to the present node as one text
/export        prints the tree as JSON in the format Open Loom
/help          shows these commands
";

/// The characters of a node that the tree shows.
const EXCERPT: usize = 60;

/// The width of a column in a comparison.
const COLUMN: usize = 38;

pub(crate) struct Session<W> {
    loom: Loom,
    /// The present node; `None` before the first question.
    here: Option<NodeId>,
    model: Arc<dyn Model>,
    agent: Agent,
    pub(crate) out: W,
}

impl<W: Write> Session<W> {
    /// Goes on at the node to which a person went last, otherwise at the newest one.
    pub(crate) fn new(loom: Loom, model: Arc<dyn Model>, agent: Agent, mut out: W) -> Result<Self, BoxError> {
        let on_paths = || loom.nodes().rev().filter(|node| !node.edges().is_empty());
        let here = on_paths().find(Node::is_bookmarked).or_else(|| on_paths().next());
        let here = here.map(|node| node.id().clone());
        match &here {
            Some(here) => writeln!(out, "{} nodes so far; you are at {}", loom.len(), printable(here))?,
            None => writeln!(out, "a new tree; /help shows the commands")?,
        }
        Ok(Self { loom, here, model, agent, out })
    }

    /// Runs a command. Mistakes in the command are printed.
    ///
    /// # Errors
    ///
    /// The output or the folder failed, so nothing more can be done.
    pub(crate) async fn run(&mut self, line: &str) -> Result<(), BoxError> {
        match self.command(line).await {
            Err(error) if !is_fatal(&error) => Ok(writeln!(self.out, "{}", printable(error))?),
            result => result,
        }
    }

    async fn command(&mut self, line: &str) -> Result<(), BoxError> {
        let (command, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        match (command, argument) {
            ("/edit" | "/go" | "/exclude" | "/asked", "") => {
                let what = if command == "/edit" { "TEXT" } else { "ID" };
                Err(format!("it needs more: {command} {what}").into())
            }
            ("/edit", text) => {
                let question = self.loom.edit(&self.last_question()?, Author::Human, text).await?;
                self.move_to(question.clone()).await?;
                self.ask(&question).await
            }
            ("/again", "") => self.ask(&self.last_question()?).await,
            ("/go", id) => self.go(&self.node(id)?).await,
            ("/tree", "") => self.show_tree(),
            ("/compare", "") => self.compare(),
            ("/exclude", id) => {
                let node = self.node(id)?;
                let is_excluded = !self.loom.node(&node).is_some_and(|node| node.is_excluded());
                self.loom.mark(&node, Mark::Excluded, is_excluded).await?;
                let words = if is_excluded { "does not have" } else { "has" };
                Ok(writeln!(self.out, "the next request {words} {}", printable(node))?)
            }
            ("/asked", id) => self.show_asked(&self.node(id)?),
            ("/buffer", "") => {
                let text = self.path()?.buffer("", &self.agent)?.text().into_owned();
                Ok(writeln!(self.out, "{}", printable(text))?)
            }
            ("/export", "") => self.export(),
            ("/help", "") => Ok(self.out.write_all(COMMANDS.as_bytes())?),
            _ if command.starts_with('/') => {
                Err(format!("there is no command `{line}`; /help shows all of them").into())
            }
            _ => {
                let from = self.here.as_ref().map_or_else(Edge::root, Edge::from);
                let question = self.loom.append(from, Author::Human, line).await?;
                self.move_to(question.clone()).await?;
                self.ask(&question).await
            }
        }
    }

    /// Asks the model with the path to a question, and stores the reply.
    async fn ask(&mut self, question: &NodeId) -> Result<(), BoxError> {
        let asked = self.loom.path(question, &[])?.dialogue(&self.agent)?;
        let reply = match self.reply(&asked).await {
            Err(error) if !is_fatal(&error) => {
                return Err(format!("there is no reply to {question}: {error}; /again asks again").into());
            }
            reply => reply?,
        };
        let reply = self.loom.append(question, Author::Model, reply).await?;
        writeln!(self.out, "\n{} → {}", printable(question), printable(&reply))?;
        self.move_to(reply).await
    }

    /// The reply of the model, printed on arrival.
    async fn reply(&mut self, asked: &Assembled) -> Result<String, BoxError> {
        let mut chunks = self.model.reply(asked.request(&self.agent));
        let (mut text, mut is_complete) = (String::new(), false);
        while let Some(chunk) = chunks.try_next().await? {
            match chunk {
                Chunk::Text(more) => {
                    write!(self.out, "{}", printable(&more))?;
                    self.out.flush()?;
                    text.push_str(&more);
                }
                Chunk::End(end) if end.finish != Finish::Stop => {
                    return Err(format!("it ended early ({})", end.finish).into());
                }
                Chunk::End(_) => is_complete = true,
                _ => {}
            }
        }
        match is_complete {
            false => Err("it broke off before its end".into()),
            true if text.trim().is_empty() => Err("it has no text".into()),
            true => Ok(text),
        }
    }

    /// A new node is the newest one, so no bookmark is needed.
    async fn move_to(&mut self, node: NodeId) -> Result<(), BoxError> {
        self.here = Some(node);
        self.remove_bookmarks().await
    }

    /// The bookmark is the place where the next start goes on.
    async fn go(&mut self, node: &NodeId) -> Result<(), BoxError> {
        if self.loom.node(node).is_some_and(|node| node.edges().is_empty()) {
            return Err(format!("{node} is on no path: go to another node").into());
        }
        self.remove_bookmarks().await?;
        self.loom.mark(node, Mark::Bookmarked, true).await?;
        self.here = Some(node.clone());
        let text = self.loom.node(node).map(|node| label(&node)).unwrap_or_default();
        Ok(writeln!(self.out, "you are at {text}")?)
    }

    async fn remove_bookmarks(&mut self) -> Result<(), BoxError> {
        let marked = self.loom.nodes().filter(Node::is_bookmarked);
        for node in marked.map(|node| node.id().clone()).collect::<Vec<_>>() {
            self.loom.mark(&node, Mark::Bookmarked, false).await?;
        }
        Ok(())
    }

    fn show_tree(&mut self) -> Result<(), BoxError> {
        let mut shown = BTreeSet::new();
        // Each node with the lines before it, and with the lines before its continuations.
        let mut open = branches(self.loom.roots().collect(), "");
        while let Some((node, before, below)) = open.pop() {
            let is_here = self.here.as_ref() == Some(node.id());
            let here = if is_here { "  ← you are here" } else { "" };
            // A node of another program may continue several.
            if shown.insert(node.id()) {
                writeln!(self.out, "{before}{}{here}", label(&node))?;
                open.extend(branches(self.loom.continuations(node.id()), &below));
            }
        }
        if shown.is_empty() {
            writeln!(self.out, "the tree is empty: ask something")?;
        }
        Ok(())
    }

    fn compare(&mut self) -> Result<(), BoxError> {
        let question = self.last_question()?;
        let continuations = self.loom.continuations(&question);
        let [.., left, right] = &continuations[..] else {
            return Err(format!("{question} has no two continuations: /again gets another reply").into());
        };
        let column = |node: &Node<'_>| {
            let mut lines = vec![format!("{} {}", printable(node.id()), node.author())];
            lines.extend(wrapped(node.text())?);
            Ok::<_, io::Error>(lines)
        };
        let (left, right) = (column(left)?, column(right)?);
        for at in 0..left.len().max(right.len()) {
            let line = |lines: &[String]| lines.get(at).cloned().unwrap_or_default();
            let (left, right) = (line(&left), line(&right));
            let padding = " ".repeat(COLUMN.saturating_sub(left.width()));
            writeln!(self.out, "{}", format!("{left}{padding} │ {right}").trim_end())?;
        }
        Ok(())
    }

    fn show_asked(&mut self, node: &NodeId) -> Result<(), BoxError> {
        if self.loom.node(node).is_some_and(|node| node.author() == Author::Human) {
            return Err(format!("a person wrote {node}, so no request led to it: name a reply").into());
        }
        let asked = self.loom.asked(node, &[])?.dialogue(&self.agent)?;
        if let Some(system) = asked.system() {
            writeln!(self.out, "system: {}", printable(system))?;
        }
        for (role, text) in asked.messages() {
            let role = if role == Role::Assistant { "assistant" } else { "user" };
            writeln!(self.out, "{role}: {}", printable(text))?;
        }
        Ok(())
    }

    /// Characters that could control a terminal are escaped, which JSON allows in all texts.
    fn export(&mut self) -> Result<(), BoxError> {
        for c in export(&self.loom, "loom", "A conversation").chars() {
            if printable(c).starts_with(c) {
                write!(self.out, "{c}")?;
                continue;
            }
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(self.out, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn path(&self) -> Result<Path<'_>, BoxError> {
        let here = self.here.as_ref().ok_or("the tree is empty: ask something first")?;
        Ok(self.loom.path(here, &[])?)
    }

    fn last_question(&self) -> Result<NodeId, BoxError> {
        let question = self.path()?.all().filter(|turn| turn.author() == Author::Human).last();
        let question = question.ok_or("there is no question on the way here: ask something")?;
        Ok(question.id().clone())
    }

    fn node(&self, id: &str) -> Result<NodeId, BoxError> {
        let node = NodeId::new(id).ok().filter(|id| self.loom.node(id).is_some());
        node.ok_or_else(|| format!("there is no node `{id}`; /tree shows all of them").into())
    }

    /// A line of the included session.
    pub(crate) fn with_ids(&self, line: &str) -> Result<String, BoxError> {
        if !line.contains("REPLY") && !line.contains("HERE") {
            return Ok(line.to_owned());
        }
        let path = self.path()?;
        let reply = path.all().find(|turn| turn.author() == Author::Model);
        let here = path.all().last();
        let id =
            |turn: Option<columnar::loom::Turn<'_>>| turn.map_or("", |turn| turn.id().as_str()).to_owned();
        Ok(line.replace("REPLY", &id(reply)).replace("HERE", &id(here)))
    }
}

/// Whether the program cannot go on: the output is closed, or the folder failed.
fn is_fatal(error: &BoxError) -> bool {
    error.is::<io::Error>()
        || matches!(error.downcast_ref(), Some(LoomError::Store(_) | LoomError::Damaged { .. }))
}

/// A node on one line.
fn label(node: &Node<'_>) -> String {
    let words = node.text().split_whitespace().collect::<Vec<_>>().join(" ");
    let end = words.char_indices().nth(EXCERPT).map_or(words.len(), |(at, _)| at);
    let more = if end < words.len() { "…" } else { "" };
    let excerpt = words.get(..end).unwrap_or_default();
    let excluded = if node.is_excluded() { " (excluded)" } else { "" };
    let pruned = if node.is_pruned() { " (pruned)" } else { "" };
    printable(format!("{} {}  {excerpt}{more}{excluded}{pruned}", node.id(), node.author()))
}

/// Nodes beside each other, the last one first, each with the lines before the node and before its continuations. A
/// conversation without branches is not indented.
fn branches<'n>(nodes: Vec<Node<'n>>, before: &str) -> Vec<(Node<'n>, String, String)> {
    let count = nodes.len();
    let branch = |(at, node)| match (count, at + 1 == count) {
        (1, _) => (node, before.to_owned(), before.to_owned()),
        (_, true) => (node, format!("{before}└ "), format!("{before}  ")),
        (_, false) => (node, format!("{before}├ "), format!("{before}│ ")),
    };
    let mut branches: Vec<_> = nodes.into_iter().enumerate().map(branch).collect();
    branches.reverse();
    branches
}

/// A text in lines of the width of a column.
fn wrapped(text: &str) -> io::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut out = WrapWriter::new(&mut lines, Some(COLUMN));
    writeln!(out, "{}", printable(text))?;
    drop(out);
    Ok(String::from_utf8_lossy(&lines).lines().map(ToOwned::to_owned).collect())
}
