//! The blocks that show a tree to a model: a header before each turn, the position before the newest turn, an addendum
//! and the memory in the system text.
//!
//! Every block is a function of the tree and of these settings. The ages of nodes are an argument.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::memory::{Memory, one_line};
use crate::context::Role;
use crate::context::tree::{Mode, NodeId, Path, Turn};
use crate::declare::Purpose;
use crate::history::Value;

/// The most nodes of a path that the block of the position names.
const NAMED: usize = 4;

/// The settings of an agent that knows the tree around the request.
///
/// ```
/// use columnar::loom::{Agent, Author, Aware, Edge, Memory, Mode, Tree};
///
/// let mut next = 0_u64;
/// let mut dice = || {
///     next += 1;
///     next << 44
/// };
/// let mut tree = Tree::new(Mode::Dialogue);
/// let question = tree.append(&mut dice, Edge::root(), Author::Human, "Who lives there?")?;
/// tree.annotate(&mut dice, &question, Author::Human, "He asks often.")?;
///
/// let aware = Aware::new("The house").permissions(["loom_aware"]).memory(Memory::new().pin(&question));
/// let asked = tree.path(&question, &[])?.dialogue(&Agent::new("You tell stories.").aware(aware))?;
/// let id = question.as_str();
/// assert_eq!(asked.text(), format!("\
/// === Loom Context ===
/// Tree: \"The house\" (dialogue mode)
/// 2 nodes · 1 branch · depth: 0
/// Position: [{id}]*
/// Permissions: loom_aware
/// ===
///
/// [{id}] human
/// 1 annotation
/// ---
/// Who lives there?"));
/// assert!(asked.system().is_some_and(|system| system.ends_with("\n===") && system.contains("Pinned:")));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Aware {
    title: String,
    permissions: Vec<String>,
    others: Vec<String>,
    pub(super) memory: Memory,
    age: Option<Arc<Age>>,
}

/// The time since a node was made.
type Age = dyn Fn(&NodeId) -> Option<Duration> + Send + Sync;

impl Aware {
    /// The settings for a tree with this title.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            permissions: Vec::new(),
            others: Vec::new(),
            memory: Memory::new(),
            age: None,
        }
    }

    /// Sets the names of the things that the model may do.
    #[must_use]
    pub fn permissions<T: Into<String>>(self, names: impl IntoIterator<Item = T>) -> Self {
        Self { permissions: names.into_iter().map(|name| one_line(&name.into())).collect(), ..self }
    }

    /// Adds a line about somebody else in the tree, such as `Human active at [c4m2]`.
    #[must_use]
    pub fn other(mut self, line: impl Into<String>) -> Self {
        self.others.push(one_line(&line.into()));
        self
    }

    /// Sets the memory of the model.
    #[must_use]
    pub fn memory(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// Shows the age of each node, as this function words the age: `3m ago`. An age changes from request to request, so
    /// no provider can serve the messages from its cache.
    #[must_use]
    pub fn ages(self, age: impl Fn(&NodeId) -> Option<Duration> + Send + Sync + 'static) -> Self {
        Self { age: Some(Arc::new(age)), ..self }
    }

    /// A text with the header of the node. The header is a part of the turn, so the header stays where turns are
    /// joined.
    pub(super) fn with_header(&self, turn: &Turn<'_>, text: &Value) -> Value {
        let node = turn.node();
        let age = self.age.as_ref().and_then(|age| age(node.id()));
        let age = age.map(|age| format!(" · {} ago", short(age))).unwrap_or_default();
        let mut header = format!("[{}] {}{age}", node.id(), node.author());
        let counts = [(turn.continuations(), "continuation"), (turn.annotations(), "annotation")].into_iter();
        let counts = counts.filter(|(count, _)| *count > 0).map(|(count, one)| counted(count, one));
        let facts: Vec<String> =
            counts.chain(turn.is_bookmarked().then(|| "bookmarked".to_owned())).collect();
        if !facts.is_empty() {
            header.push('\n');
            header.push_str(&facts.join(" · "));
        }
        text.with_text(format!("{header}\n---\n{text}"))
    }

    /// Adds the block of the position directly before the newest turn of the user, as a part of that turn.
    pub(super) fn add_position(
        &self,
        path: &Path<'_>,
        turns: &mut Vec<(Role, Value)>,
        nodes: &mut Vec<Option<NodeId>>,
    ) {
        let block = self.position_block(path);
        match turns.last_mut() {
            Some((Role::User, text)) => *text = text.with_text(format!("{block}\n\n{text}")),
            // After a reply, the block itself is the newest turn.
            _ => {
                turns.push((Role::User, block.into()));
                nodes.push(None);
            }
        }
    }

    fn position_block(&self, path: &Path<'_>) -> String {
        let tree = path.tree();
        let way: Vec<&NodeId> =
            path.all().filter(|turn| turn.purpose() == Purpose::Primary).map(|turn| turn.id()).collect();
        let first = way.len().saturating_sub(NAMED);
        let more = if first > 0 { "... → " } else { "" };
        let named: Vec<String> = way.iter().skip(first).map(|id| format!("[{id}]")).collect();
        let mode = match tree.mode() {
            Mode::Dialogue => "dialogue",
            Mode::Buffer => "buffer",
        };
        let mut lines = vec![
            "=== Loom Context ===".to_owned(),
            format!("Tree: {:?} ({mode} mode)", self.title),
            format!(
                "{} · {} · depth: {}",
                counted(path.tree_len(), "node"),
                counted(path.tree_ends(), "branch"),
                way.len().saturating_sub(1)
            ),
            format!("Position: {more}{}*", named.join(" → ")),
        ];
        if !self.permissions.is_empty() {
            lines.push(format!("Permissions: {}", self.permissions.join(", ")));
        }
        lines.extend(self.others.iter().cloned());
        lines.push("===".to_owned());
        lines.join("\n")
    }

    /// The instruction of the agent with an explanation of these blocks.
    pub(super) fn with_addendum(&self, system: &str) -> String {
        let permissions =
            if self.permissions.is_empty() { "none".to_owned() } else { self.permissions.join(", ") };
        let addendum = format!(
            "You are in a tree of conversations that branch.\n\
             - Each turn begins with the id of its node in brackets, its author, and what is connected to it.\n\
             - A block before the newest turn shows where you are in the tree.\n\
             - People and models read and continue the same tree.\n\
             Your permissions: {permissions}."
        );
        if system.trim().is_empty() { addendum } else { format!("{}\n\n{addendum}", system.trim()) }
    }
}

/// The settings without the memory.
impl fmt::Debug for Aware {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Aware").field("permissions", &self.permissions).finish_non_exhaustive()
    }
}

fn counted(count: usize, one: &str) -> String {
    match (count, one) {
        (1, _) => format!("1 {one}"),
        (_, "branch") => format!("{count} branches"),
        _ => format!("{count} {one}s"),
    }
}

/// A duration in the largest unit that fits.
fn short(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
