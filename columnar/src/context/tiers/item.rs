//! The items that tiers hold.

use std::cmp::{Ordering, Reverse};
use std::fmt;

use crate::context::documents::Key;

/// A document or an exchange.
///
/// Items are ordered as anchors are chosen: documents by key, then exchanges, the newest first.
///
/// ```
/// use columnar::documents::{Key, Kind};
/// use columnar::tiers::Item;
///
/// let file = Item::from(Key::new(Kind::File, "src/lib.rs")?);
/// assert!(file < Item::Exchange(7) && Item::Exchange(7) < Item::Exchange(6));
/// assert_eq!(Item::Exchange(7).to_string(), "history:7");
/// # Ok::<(), columnar::documents::KeyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// A file, the entry of its symbols, or a page.
    Document(Key),
    /// The inputs and the reply of a step.
    Exchange(usize),
}

impl Ord for Item {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Document(key), Self::Document(other)) => key.cmp(other),
            (Self::Exchange(step), Self::Exchange(other)) => Reverse(step).cmp(&Reverse(other)),
            (Self::Document(_), Self::Exchange(_)) => Ordering::Less,
            (Self::Exchange(_), Self::Document(_)) => Ordering::Greater,
        }
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<Key> for Item {
    fn from(key: Key) -> Self {
        Self::Document(key)
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Document(key) => fmt::Display::fmt(key, f),
            Self::Exchange(step) => write!(f, "history:{step}"),
        }
    }
}
