//! Tiers: which documents and exchanges are so stable that a provider should cache them together.
//!
//! ```text
//!  Step ──▶ Tracker ──▶ Moves
//!            │
//!            └──▶ the tier and the N of each item
//! ```
//!
//! A provider caches the beginning of a request. If it is sorted by how long its items have not changed, a change near the
//! end leaves the beginning cached. So each item has an N, the number of responses since its last change, and is in one of
//! five [tiers](Tier). A [`Tracker`] knows them. [`Tracker::update`] takes the changes of the next [`Step`] and returns the
//! [`Moves`] that follow.
//!
//! ```
//! use columnar::documents::{Key, Kind};
//! use columnar::tiers::{Item, Step, Tier, Tracker};
//!
//! let symbol = |path| Key::new(Kind::Symbol, path);
//! let (parser, lexer, main) = (symbol("src/parser.rs")?, symbol("src/lexer.rs")?, symbol("src/main.rs")?);
//!
//! // The first symbols get their tiers by their clusters: files that refer to each other stay together.
//! let mut tracker = Tracker::new(100);
//! let first = Step::new().put(parser.clone(), 300).put(lexer.clone(), 200).put(main.clone(), 400);
//! tracker.update(&first.cluster(&parser, 0).cluster(&lexer, 0));
//! assert_eq!(tracker.of(&parser), Some((Tier::L1, 9)));
//! assert_eq!(tracker.of(&lexer), Some((Tier::L1, 9)));
//! assert_eq!(tracker.of(&main), Some((Tier::L2, 6)));
//!
//! // A change makes an item active. No other tier changes.
//! let moves = tracker.update(&Step::new().put(main.clone(), 410));
//! assert_eq!(tracker.of(&main), Some((Tier::Active, 0)));
//! assert_eq!(moves.demotions()[0].item, Item::from(main));
//! assert_eq!(moves.broken(), [Tier::L2]);
//! # Ok::<(), columnar::documents::KeyError>(())
//! ```
//!
//! # The rules
//!
//! 1. A document that was put is active, with N 0. At each later step it gains one. At 3 it enters L3, whether it is still
//!    selected or not.
//! 2. A document that changed is active again, and its tier is *broken*: the text of the tier is not the text of the step
//!    before. Every change of its text breaks a tier, and nothing else does.
//! 3. A tier takes part in an update if it or the tier above is broken. Its items are counted by ascending N, at the same N
//!    documents by key and then exchanges, the newest first. The first items, up to the target, are **anchors**: they gain
//!    nothing. The others gain one. At the threshold they go to the tier above, if that is broken or empty, and enter with
//!    its N. Else they stay at the threshold. This is repeated until nothing moves, and no item gains twice.
//! 4. An exchange goes to L3 when something else changes L3; otherwise the oldest ones go as soon as all active ones are
//!    more than the target. Then they are items like others. An older exchange is at least as stable as a newer one.
//! 5. The entry of the symbols of a file is hidden while the file itself is shown, and has the tier and the N of the file
//!    when that is deselected.
//! 6. At the first step with symbols, clusters get their tiers by size: the biggest one first, each into the smallest of L1,
//!    L2 and L3. Without clusters the files with the most references fill L1 up to the target, the next ones L2, and the
//!    others L3. Tiers below the target are then joined with the smallest other one. Later symbols enter L3.
//!
//! # Where the rules leave a choice
//!
//! - A tier that lost an item takes part, even if nothing entered it: its text is sent again in any case.
//! - L0 has no threshold, so the N of its items is always 12.
//! - An item that came into a tier in this update neither gains N nor moves on. This also holds for an entry that takes the
//!   place of its file: it has exactly the N that the file had.
//! - An entry that changed in the step in which its file was deselected is a changed document: it is active.
//! - A tier without items is empty, also L0 although it has the instruction. So the first items can get there. Only L1 to
//!   L3 are reported as empty.
//! - A change of the legend breaks L0.
//! - History does not wait for N 3, as its text is final. It joins L3 at N 3 in the first update in which something else
//!   changes L3, also by a promotion from it.
//! - An exchange that is not newer than all before it is ignored. So boundaries describe the history completely.
//! - Exchanges and documents of earlier steps that are in L1 to L3 count when the first symbols get their tiers.
//! - A file that is the only one of its cluster is in no cluster. Entries without a cluster are clusters of one.
//! - The smallest tier below the target is joined first, at the same size the most stable one. A single small tier stays.
//! - Without sizes (the target is 0, or all sizes are), entry `i` of `n` by references is in L1 if `5 i < n`, in L2 if
//!   `2 i < n`, otherwise in L3.
//! - There are no placeholders for items whose text is not known yet. The first symbols come with their text, which is no
//!   demotion.

mod cascade;
mod cohort;
mod headers;
mod initial;
mod item;
mod moves;
mod step;
mod tier;
mod tracker;
mod update;

pub(crate) use headers::SectionPlace;
pub use item::Item;
pub use moves::{Move, Moves};
pub use step::Step;
pub use tier::Tier;
pub use tracker::Tracker;
