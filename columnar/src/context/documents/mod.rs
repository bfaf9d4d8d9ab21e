//! Documents: texts with names, such as the files of a repository, the entries of the map, and pages.
//!
//! ```text
//! calls ──▶ Update ◀──▶ text, in a store
//!             │
//! Documents ──┴──▶ Documents of the next step, Changes
//! ```
//!
//! The documents of a step are the documents of the step before and one [`Update`]. So a step costs the documents that changed,
//! nothing of the past is edited, and the documents of each step can be found again from the updates.
//!
//! The values of a source of documents are updates: `push` of the [handle](crate::flow::Source) takes one, and at
//! run time [`Flow::push`](crate::Flow::push) takes the text. A view of the source shows the text of each update in its
//! turn, a [compacted](crate::flow::Handle::compacted) view the same until old texts are too dear, and a
//! [tiered](crate::flow::Handle::tiered) view each document once, with the present text. The
//! [guide](crate::guide::documents) compares them.
//!
//! ```
//! use columnar::documents::{Documents, Update};
//!
//! let update = Update::new().file("src/lib.rs", "mod a;\n").file("src/a.rs", "");
//! let stored = update.to_text()?;
//!
//! let (documents, changes) = Documents::new().apply(&Update::parse(stored)?)?;
//! assert_eq!((documents.len(), changes.added().len()), (2, 2));
//! # Ok::<(), columnar::documents::UpdateError>(())
//! ```
//!
//! # Rules
//!
//! - A document is a file, the symbols of a file, or a page. The [`Key`] is the kind and the path or URL.
//! - A path is relative to a folder that the program chooses, so that a context is the same on every machine. It has `/`
//!   between the parts, no `..`, no control character, line break or mark of direction, and does not begin like a fence.
//! - A file that is put is selected, and one that is removed is not. The symbols of a selected file stay in the set and
//!   are not shown; they are shown again when the file is removed.
//! - A document changed if the bytes did, when it was put. A put with the same bytes changes nothing.
//! - A cluster belongs to symbols. It is not text, so another cluster alone is no change.
//! - There is one tree of files and one legend. An empty text removes them.
//! - A page is shown at the step that puts it, and is gone at the next. An update has three at most.
//! - An update is valid as a whole or not applied. A document is in it once, put or removed, and removed only if it is
//!   there. An error has all faults, with paths and positions, and never the text of a document.
//! - Files, symbols and pages are shown in the same form: the path on a line, then the text in a fence. The tree and the
//!   legend are in a fence without a path. Nothing of a text is outside of a fence.
//! - The stored [text of an update](Update::to_text) has this form, because a view of the source shows it. Each update has
//!   one text, and a text that is not the text of an update is an error.
//!
//! A pure layer: no clock and no I/O.

mod error;
mod key;
mod place;
mod render;
mod set;
mod text_form;
mod update;
mod urls;

pub use error::{TextFault, UpdateError, UpdateFault};
pub use key::{Key, KeyError, KeyFault, Kind};
pub(crate) use place::LogPlace;
pub(crate) use render::{FencedText, push_items, push_lines};
pub use set::{Changes, Documents};
pub use update::{Cluster, Update};
pub use urls::urls;
