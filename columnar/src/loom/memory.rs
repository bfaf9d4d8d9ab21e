//! The memory of a model beside the path: pinned nodes and texts, stashes, and recent actions.

use crate::context::tree::{NodeId, Tree};

/// The most characters of a pinned node that the block shows.
const EXCERPT: usize = 400;

/// The most actions that the block shows.
const ACTIONS: usize = 8;

/// The memory of an agent: pinned nodes and texts, stashes and recent actions. The memory is shown at the end of the
/// system text, unless the memory is empty.
///
/// Pinned nodes stay in the memory when pruned or excluded. Of a stash, the label alone is shown until it is recalled.
///
/// ```
/// use columnar::loom::Memory;
///
/// let memory = Memory::new()
///     .pin_text("doc:\"notes\"", "She is a sailor.")
///     .stash("the key", "It is under the stone.")
///     .stash("the name", "Ada")
///     .recall("the name")
///     .action("viewed k3f9");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Memory {
    pins: Vec<Pin>,
    stashes: Vec<Stash>,
    actions: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pin {
    Node(NodeId),
    Text { label: String, text: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Stash {
    label: String,
    text: String,
    is_recalled: bool,
}

impl Memory {
    /// An empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Pins a node.
    #[must_use]
    pub fn pin(self, node: &NodeId) -> Self {
        let mut memory = self.unpin(node);
        memory.pins.push(Pin::Node(node.clone()));
        memory
    }

    /// Pins a text under a label.
    #[must_use]
    pub fn pin_text(mut self, label: impl Into<String>, text: impl Into<String>) -> Self {
        self.pins.push(Pin::Text { label: one_line(&label.into()), text: text.into() });
        self
    }

    /// Removes the pin of a node.
    #[must_use]
    pub fn unpin(mut self, node: &NodeId) -> Self {
        self.pins.retain(|pin| !matches!(pin, Pin::Node(pinned) if pinned == node));
        self
    }

    /// Stashes a text under a label, in place of an earlier one with that label.
    #[must_use]
    pub fn stash(self, label: impl Into<String>, text: impl Into<String>) -> Self {
        let label = label.into();
        let mut memory = self.drop_stash(&label);
        memory.stashes.push(Stash { label, text: text.into(), is_recalled: false });
        memory
    }

    /// Shows a stash. Nothing happens without one of this label.
    #[must_use]
    pub fn recall(mut self, label: &str) -> Self {
        self.stashes.iter_mut().for_each(|stash| stash.is_recalled |= stash.label == label);
        self
    }

    /// Removes a stash.
    #[must_use]
    pub fn drop_stash(mut self, label: &str) -> Self {
        self.stashes.retain(|stash| stash.label != label);
        self
    }

    /// Adds an action to the recent ones, such as `viewed k3f9`. The last eight are shown.
    #[must_use]
    pub fn action(mut self, action: impl Into<String>) -> Self {
        self.actions.push(one_line(&action.into()));
        self
    }

    /// The block at the end of the system text; `None` if the memory is empty.
    pub(super) fn block(&self, tree: &Tree) -> Option<String> {
        let mut lines = Vec::new();
        let pins = self.pins.iter().filter_map(|pin| match pin {
            Pin::Node(id) => Some(format!("  [{id}] {:?}", excerpt(&tree.node(id)?.value().in_words()))),
            Pin::Text { label, text } => Some(format!("  {label}: {:?}", excerpt(text))),
        });
        section(&mut lines, "Pinned:", pins);
        let recalled = self.stashes.iter().filter(|stash| stash.is_recalled);
        section(
            &mut lines,
            "Recalled:",
            recalled.map(|stash| format!("  {:?}: {:?}", stash.label, stash.text)),
        );
        let recent = self.actions.get(self.actions.len().saturating_sub(ACTIONS)..).unwrap_or_default();
        let recent = (!recent.is_empty()).then(|| format!("  {}", recent.join(" · ")));
        section(&mut lines, "Recent actions:", recent.into_iter());
        let stashed: Vec<String> = (self.stashes.iter().filter(|stash| !stash.is_recalled))
            .map(|stash| format!("{:?}", stash.label))
            .collect();
        if !stashed.is_empty() {
            lines.push(format!("Stashed (not in context): {}", stashed.join(", ")));
        }
        if lines.is_empty() {
            return None;
        }
        Some(format!("=== Operational Memory ===\n{}\n===", lines.join("\n")))
    }
}

fn section(lines: &mut Vec<String>, title: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        lines.push(title.to_owned());
        lines.extend(items);
    }
}

/// A text on one line, so that no text can end a block or begin another one.
pub(super) fn one_line(text: &str) -> String {
    text.split(char::is_control).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The beginning of a text.
fn excerpt(text: &str) -> String {
    let end = text.char_indices().nth(EXCERPT).map_or(text.len(), |(at, _)| at);
    let more = if end < text.len() { "…" } else { "" };
    format!("{}{more}", text.get(..end).unwrap_or(text))
}
