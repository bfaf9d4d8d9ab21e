//! A tree on a store: each change is stored before it is made.
//!
//! The store has two columns. `node` has a node in each step: the value is the text, and the
//! [header](super::Node::header) is beside the text in the same write. `change` has all other changes, each with the
//! number of nodes before it. Nothing is ever written twice. The attachments of a node are stored before the node, and the
//! header names them, as the receipt of a cell does.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher as _;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::FutureExt as _;
use serde_json::{Value as Json, json};

use super::error::LoomError;
use crate::context::budget::Budget;
use crate::context::tree::{Author, Change, Edge, Header, Mark, Mode, NodeId, Tree, TreeError};
use crate::declare::Name;
use crate::history::{IntoValue, Value};
use crate::model::usage::{AttachmentRef, Receipt};
use crate::store::{CHUNK, Entry, LoadedAttachments, Put, Store, StoreError, StoreFuture, load, put_blobs};

/// The format of the stored definition.
const FORMAT: u32 = 1;

/// A [`Tree`] on a [store](crate::store): in memory, in a folder, in SQLite or in Postgres. A loom reads like a tree,
/// and the methods that change the tree store the change first.
///
/// A store has one owner. A store of a tree cannot hold a flow.
///
/// ```
/// use columnar::loom::{Agent, Author, Edge, Loom, Mode};
/// use columnar::store::MemoryStore;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let store = MemoryStore::new();
/// let mut loom = Loom::open(store.clone(), Mode::Dialogue).await?;
/// let question = loom.append(Edge::root(), Author::Human, "Why is the sky blue?").await?;
/// let asked = loom.path(&question, &[])?.dialogue(&Agent::new("You are an astronomer."))?;
/// // … a model replies to `asked.request(&agent)` …
/// let answer = loom.append(&question, Author::Model, "Because of scattering.").await?;
/// drop(loom);
///
/// let loom = Loom::open(store, Mode::Dialogue).await?;
/// assert_eq!(loom.node(&answer).map(|node| node.text()), Some("Because of scattering."));
/// assert_eq!(loom.asked(&answer, &[])?.dialogue(&Agent::new("You are an astronomer."))?.messages(), asked.messages());
/// # Ok(()) }
/// ```
pub struct Loom {
    tree: Tree,
    store: Arc<dyn Store>,
    /// The write of the latest call, until the tree has made the change. Only `&mut self` reaches the write; the mutex
    /// makes a loom `Sync`.
    unfinished: Mutex<Option<Unfinished>>,
    dice: Box<dyn FnMut() -> u64 + Send + Sync>,
}

/// A change whose write was begun.
struct Unfinished {
    change: Change,
    column: Name,
    step: usize,
    /// `None` once the store has returned an error. The entry may be stored nevertheless.
    write: Option<StoreFuture<Put>>,
}

impl Loom {
    /// Opens the tree in a store, or begins one of this mode.
    ///
    /// # Errors
    ///
    /// - [`LoomError::Store`] if the store cannot be opened or read, is open elsewhere, or holds a flow.
    /// - [`LoomError::Mode`] if the stored tree has the other mode.
    /// - [`LoomError::Damaged`] names the node or change that cannot be read or that no tree would have accepted.
    pub async fn open(store: impl Store, mode: Mode) -> Result<Self, LoomError> {
        let store: Arc<dyn Store> = Arc::new(store);
        let definition = store.open().await?;
        if let Some(text) = &definition {
            let stored = parse_definition(text)?;
            if stored != mode {
                return Err(LoomError::Mode { stored });
            }
        }
        let tree = read_tree(&*store, mode).await?;
        if definition.is_none() {
            if tree != Tree::new(mode) {
                // The mode of such nodes is not known, and another tree would be begun beside these nodes.
                return Err(LoomError::damaged("the definition", "it is missing, and nodes are there"));
            }
            let definition = json!({ "columnar_loom": FORMAT, "mode": mode.as_str() });
            store.define(format!("{definition}\n")).await?;
        }
        // The keys differ in each process, so the ids of two trees differ.
        let keys = RandomState::new();
        let mut count = 0_u64;
        let dice = Box::new(move || {
            count += 1;
            keys.hash_one(count)
        });
        Ok(Self { tree, store, unfinished: Mutex::default(), dice })
    }

    /// Replaces the source of the random numbers of ids, for tests.
    #[must_use]
    pub fn with_dice(self, dice: impl FnMut() -> u64 + Send + Sync + 'static) -> Self {
        Self { dice: Box::new(dice), ..self }
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Makes a node that continues others, or a root; see [`Tree::append`].
    ///
    /// # Errors
    ///
    /// [`LoomError::Tree`] if the tree refuses the node, [`LoomError::Store`] if the node could not be stored. After an
    /// error of the store, opening the tree again shows whether the node is stored.
    pub async fn append(
        &mut self,
        from: impl Into<Edge>,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, LoomError> {
        let from = from.into();
        let text = text.into_value();
        self.make(|_, id| Ok(Header::new(id, author).with_edge(&from)), text).await
    }

    /// Makes a node of a reply of a model, with the receipt of the call. [`Node::receipt`](super::Node::receipt) reads the
    /// receipt later, [`Path::usage`](super::Path::usage) and [`Tree::usage`] add up receipts.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use columnar::loom::{Author, Edge, Loom, Mode};
    /// use columnar::model::{End, Finish, Usage};
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
    /// let question = loom.append(Edge::root(), Author::Human, "Why is the sky blue?").await?;
    /// // … a model replies, and the last chunk of the reply is its end …
    /// let end = End::new(Finish::Stop).with_usage(Usage::new(120, 8));
    /// let receipt = end.receipt("openai/gpt-5.4-mini", Duration::from_millis(640));
    /// let answer = loom.append_reply(&question, "Because of scattering.", &receipt).await?;
    ///
    /// assert_eq!(loom.node(&answer).and_then(|node| node.receipt()), Some(receipt));
    /// assert_eq!(loom.usage().to_string(), "1 call, 120 tokens in, 8 out, $0.000126, 0.6 s");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn append_reply(
        &mut self,
        from: impl Into<Edge>,
        text: impl IntoValue,
        receipt: &Receipt,
    ) -> Result<NodeId, LoomError> {
        let from = from.into();
        let text = text.into_value();
        self.make(|_, id| Ok(Header::new(id, Author::Model).with_edge(&from).with_receipt(receipt)), text)
            .await
    }

    /// Makes a node outside of all paths; see [`Tree::aside`].
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn aside(&mut self, author: Author, text: impl IntoValue) -> Result<NodeId, LoomError> {
        self.make(|_, id| Ok(Header::new(id, author)), text.into_value()).await
    }

    /// Makes a node that annotates another one; see [`Tree::annotate`].
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn annotate(
        &mut self,
        node: &NodeId,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, LoomError> {
        self.make(|_, id| Ok(Header::new(id, author).with_annotation_edge(node)), text.into_value()).await
    }

    /// Makes an edited copy of a node; see [`Tree::edit`].
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn edit(
        &mut self,
        node: &NodeId,
        author: Author,
        text: impl IntoValue,
    ) -> Result<NodeId, LoomError> {
        self.make(|tree, id| tree.header_of_edit(id, author, node), text.into_value()).await
    }

    /// Adds a continuation edge to a node; see [`Tree::link`].
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn link(&mut self, from: impl Into<Edge>, node: &NodeId) -> Result<(), LoomError> {
        self.change(Change::Link { from: from.into(), node: node.clone() }).await
    }

    /// Sets or removes a mark; see [`Tree::mark`].
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn mark(&mut self, node: &NodeId, mark: Mark, is_set: bool) -> Result<(), LoomError> {
        self.change(Change::Mark { node: node.clone(), mark, is_set }).await
    }

    /// Sets or removes [`Mark::Pruned`] for a node alone.
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn prune_one(&mut self, node: &NodeId, is_set: bool) -> Result<(), LoomError> {
        self.change(Change::PruneOne { node: node.clone(), is_set }).await
    }

    /// Replaces or removes the system text of the tree.
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn set_system(&mut self, text: Option<&str>) -> Result<(), LoomError> {
        self.change(Change::System { text: text.map(Arc::from) }).await
    }

    /// Sets whether requests in buffer mode have a system text.
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn set_system_in_buffer(&mut self, is_set: bool) -> Result<(), LoomError> {
        self.change(Change::SystemInBuffer { is_set }).await
    }

    /// Replaces the budget of the tree; see [`Tree::set_budget`].
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn set_budget(&mut self, budget: impl Into<Budget>) -> Result<(), LoomError> {
        self.change(Change::Budget { budget: budget.into() }).await
    }

    /// Makes any change. [`Tree::changes`] of another tree, one after another, copy that tree into an empty one.
    ///
    /// A call that is dropped may leave a begun write behind. The next call ends that write first, and then makes its
    /// own change.
    ///
    /// # Errors
    ///
    /// The errors of [`append`](Self::append).
    pub async fn change(&mut self, change: Change) -> Result<(), LoomError> {
        self.finish().await?;
        self.tree.check(&change)?;
        // Two columns, because a text must be readable by itself. A change has the number of nodes before it, so both
        // columns are one history.
        let (column, step, entry) = match &change {
            Change::Node { header, text } => {
                let names = AttachmentRef::of(text).iter().map(AttachmentRef::to_json).collect();
                let entry = Entry::from(text).with_receipt(header.to_stored_json(names));
                (node_column(), self.tree.len(), entry)
            }
            change => {
                let text = format!("{{\"after\":{},\"change\":{}}}", self.tree.len(), change.to_json());
                (change_column(), self.tree.further_changes().len(), Entry::from(text))
            }
        };
        let store = Arc::clone(&self.store);
        let place = column.clone();
        let write = async move {
            // No stored node names an attachment that never was.
            put_blobs(&*store, entry.value.as_ref()).await?;
            store.put(place, step, entry).await
        };
        *self.unfinished() = Some(Unfinished { change, column, step, write: Some(write.boxed()) });
        self.write().await
    }

    fn unfinished(&mut self) -> &mut Option<Unfinished> {
        self.unfinished.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the write of an earlier call that was dropped or failed. The two columns are one history, so nothing may be
    /// written before the fate of that change is known.
    async fn finish(&mut self) -> Result<(), LoomError> {
        if self.unfinished().as_ref().is_some_and(|unfinished| unfinished.write.is_some()) {
            // The earlier call has returned this error already.
            let _ = self.write().await;
        }
        let Some(Unfinished { column, step, .. }) = self.unfinished() else { return Ok(()) };
        let column = column.clone();
        let step = *step;
        let stored = self.store.load(column, step..step + 1).await?;
        if stored.iter().any(|(found, _)| *found == step) {
            return self.make_unfinished();
        }
        *self.unfinished() = None;
        Ok(())
    }

    /// Waits for the write, and makes the change. The write stays when this call is dropped.
    async fn write(&mut self) -> Result<(), LoomError> {
        let Some(Unfinished { column, step, write, .. }) = self.unfinished() else { return Ok(()) };
        let Some(waiting) = write else { return Ok(()) };
        let put = waiting.await;
        *write = None;
        match put? {
            Put::Stored => self.make_unfinished(),
            Put::Exists(_) => {
                let part = format!("{column} {step}");
                *self.unfinished() = None;
                Err(LoomError::damaged(part, "another program wrote it"))
            }
        }
    }

    fn make_unfinished(&mut self) -> Result<(), LoomError> {
        if let Some(Unfinished { change, .. }) = self.unfinished().take() {
            self.tree.apply(change)?;
        }
        Ok(())
    }

    async fn make(
        &mut self,
        header: impl Fn(&Tree, NodeId) -> Result<Header, TreeError>,
        text: Value,
    ) -> Result<NodeId, LoomError> {
        self.finish().await?;
        let id = self.tree.new_id(&mut self.dice);
        let header = header(&self.tree, id.clone())?;
        self.change(Change::Node { header, text }).await?;
        Ok(id)
    }
}

/// A loom reads like the tree inside.
impl Deref for Loom {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.tree
    }
}

impl fmt::Debug for Loom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loom").field("tree", &self.tree).finish_non_exhaustive()
    }
}

fn node_column() -> Name {
    Name::known("node")
}

fn change_column() -> Name {
    Name::known("change")
}

fn parse_definition(text: &str) -> Result<Mode, StoreError> {
    let location = "the definition of the tree in the store".to_owned();
    let json: Json = serde_json::from_str(text).unwrap_or_default();
    let reason = match json.get("columnar_loom").and_then(Json::as_u64).map(u32::try_from) {
        Some(Ok(FORMAT)) => match json.get("mode").and_then(Json::as_str).and_then(Mode::by_name) {
            Some(mode) => return Ok(mode),
            None => "it has no mode".to_owned(),
        },
        Some(found) => {
            let found = found.unwrap_or(u32::MAX);
            return Err(StoreError::Unsupported { location, found, known: FORMAT });
        }
        None if json.get("columnar").is_some() => {
            return Err(StoreError::other("it holds a flow, and no tree: open it as a flow"));
        }
        None => "it is no definition".to_owned(),
    };
    Err(StoreError::Damaged { location, reason })
}

async fn read_tree(store: &dyn Store, mode: Mode) -> Result<Tree, LoomError> {
    let nodes = entries(store, &node_column()).await?;
    let nodes = nodes.iter().enumerate().map(|(step, entry)| parse_node(step, entry));
    let nodes = nodes.collect::<Result<Vec<_>, _>>()?;
    let changes = entries(store, &change_column()).await?;
    let changes = changes.iter().enumerate().map(|(step, entry)| parse_change(step, entry));
    let tree = Tree::rebuild(mode, nodes, changes.collect::<Result<Vec<_>, _>>()?);
    tree.map_err(|source| LoomError::damaged("the tree", source.to_string()))
}

/// All entries of a column. A gap is an error.
async fn entries(store: &dyn Store, column: &Name) -> Result<Vec<Entry>, LoomError> {
    let stored = store.stored_steps(column.clone()).await?;
    if !stored.beyond.is_empty() {
        return Err(missing(column, stored.prefix));
    }
    let attachments = LoadedAttachments::default();
    let mut all = Vec::new();
    // A list may be damaged, so no memory is taken for a number.
    for first in (0..stored.prefix).step_by(CHUNK) {
        let mut steps = first..stored.prefix.min(first.saturating_add(CHUNK));
        let loaded = load(store, column, steps.clone()).await?;
        let mut found = loaded.iter().map(|(step, _)| *step);
        if let Some(step) = steps.find(|step| found.next() != Some(*step)) {
            return Err(missing(column, step));
        }
        for (step, entry) in loaded {
            all.push(attachments.attach(store, column, step, entry).await?);
        }
    }
    Ok(all)
}

fn missing(column: &Name, step: usize) -> LoomError {
    LoomError::damaged(format!("{column} {step}"), "it is missing, and later ones are there")
}

fn parse_node(step: usize, entry: &Entry) -> Result<(Header, Value), LoomError> {
    let part = format!("node {step}");
    let (Some(text), Some(header)) = (&entry.value, &entry.receipt) else {
        return Err(LoomError::damaged(part, "it has no text or no header"));
    };
    let header =
        Header::parse_stored(header, text).map_err(|error| LoomError::damaged(part, error.to_string()))?;
    Ok((header, text.clone()))
}

fn parse_change(step: usize, entry: &Entry) -> Result<(usize, Change), LoomError> {
    let part = format!("change {step}");
    let json = entry.value.as_deref().and_then(|text| serde_json::from_str::<Json>(text).ok());
    let after = json.as_ref().and_then(|json| json.get("after")?.as_u64()?.try_into().ok());
    let (Some(after), Some(change)) = (after, json.as_ref().and_then(|json| json.get("change"))) else {
        return Err(LoomError::damaged(part, "it cannot be read"));
    };
    let change =
        Change::parse(&change.to_string()).map_err(|error| LoomError::damaged(part, error.to_string()))?;
    Ok((after, change))
}
