//! The ids of nodes. An id is checked once, so a [`NodeId`] is always valid.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::timeline::NodeIndex;

/// Lower-case base 32 of Crockford: no letter looks like a digit or like another letter.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The length of an id that collides with none.
const SHORTEST: usize = 4;

/// The number of digits in one random number: 60 of the bits.
const LONGEST: usize = 12;

/// The id of a node, unique in the tree.
///
/// A tree makes short ids: four digits and letters, and more if an id is taken. A model can repeat them, and they say
/// nothing about the order or the time of the nodes. The id of an imported node is any text of one line. Cloning an id
/// is a reference count.
///
/// ```
/// use columnar::loom::NodeId;
///
/// let id = NodeId::new("a7x2")?;
/// assert_eq!(id.as_str(), "a7x2");
/// assert_eq!("a7x2".parse(), Ok(id));
/// assert!(NodeId::new("").is_err());
/// # Ok::<(), columnar::loom::NodeIdError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(Arc<str>);

impl NodeId {
    /// The length of the longest id, in bytes.
    pub const MAX_LEN: usize = 128;

    /// Checks an id.
    ///
    /// # Errors
    ///
    /// [`NodeIdError`] if the text is empty, longer than [`MAX_LEN`](Self::MAX_LEN), or contains a control character, a
    /// line break or a mark of direction.
    pub fn new(text: &str) -> Result<Self, NodeIdError> {
        let fault = if text.is_empty() {
            NodeIdFault::Empty
        } else if text.len() > Self::MAX_LEN {
            NodeIdFault::TooLong
        } else if text.contains(is_control) {
            NodeIdFault::Control
        } else {
            return Ok(Self(text.into()));
        };
        Err(NodeIdError { bytes: text.len(), fault })
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A short id that is not taken. `count` is the number of ids that are.
    pub(super) fn draw(
        dice: &mut impl FnMut() -> u64,
        count: usize,
        is_taken: impl Fn(&str) -> bool,
    ) -> Self {
        let drawn = digits(dice(), LONGEST);
        let prefixes = (SHORTEST..=LONGEST).filter_map(|len| drawn.get(..len));
        let short = prefixes.map(ToOwned::to_owned).find(|text| !is_taken(text));
        // The dice repeats itself. One of these `count + 1` texts is free.
        let mut numbered = (count as u64..).map(|number| drawn.clone() + &digits(number.reverse_bits(), 13));
        let text = short.or_else(|| numbered.find(|text| !is_taken(text))).unwrap_or(drawn);
        Self(text.into())
    }
}

/// The first digits of a number, from the highest bits.
fn digits(number: u64, len: usize) -> String {
    let digits = (0..len).map(|at| {
        let value = (number << (5 * at)) >> 59;
        usize::try_from(value).ok().and_then(|value| DIGITS.get(value)).copied().map_or('0', char::from)
    });
    digits.collect()
}

/// Unicode does not count the later ones as control characters. Some readers end a line at the first two; the others
/// reverse the text after them, so an id looks like another one.
fn is_control(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

impl Borrow<str> for NodeId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl FromStr for NodeId {
    type Err = NodeIdError;

    fn from_str(text: &str) -> Result<Self, NodeIdError> {
        Self::new(text)
    }
}

impl PartialEq<str> for NodeId {
    fn eq(&self, other: &str) -> bool {
        *self.0 == *other
    }
}

impl PartialEq<&str> for NodeId {
    fn eq(&self, other: &&str) -> bool {
        *self.0 == **other
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

/// The reason why a text is no id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NodeIdFault {
    /// The text names nothing.
    #[error("is empty: name the node")]
    Empty,
    /// The text is longer than [`NodeId::MAX_LEN`].
    #[error("is longer than {} bytes: use a shorter one", NodeId::MAX_LEN)]
    TooLong,
    /// The text contains a control character, a line break or a mark that reverses the direction of text.
    #[error("contains a control character, a line break or a mark of direction: use an id without")]
    Control,
}

/// A text that cannot be the id of a node. The error does not show it, because it may be the text of a node.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an id of a node, of {bytes} bytes, {fault}")]
pub struct NodeIdError {
    bytes: usize,
    fault: NodeIdFault,
}

impl NodeIdError {
    /// The reason.
    pub const fn fault(&self) -> NodeIdFault {
        self.fault
    }
}

/// A map from ids to numbers. Ids that a tree makes are short, and are keys as one number: a comparison of texts would follow
/// a pointer at each step of a search, and a million nodes do not fit into a cache.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ids {
    short: BTreeMap<u64, NodeIndex>,
    long: BTreeMap<NodeId, NodeIndex>,
}

impl Ids {
    pub(super) fn get(&self, id: &str) -> Option<NodeIndex> {
        match packed(id) {
            Some(short) => self.short.get(&short),
            None => self.long.get(id),
        }
        .copied()
    }

    pub(super) fn insert(&mut self, id: &NodeId, node: NodeIndex) {
        match packed(id.as_str()) {
            Some(short) => self.short.insert(short, node),
            None => self.long.insert(id.clone(), node),
        };
    }
}

/// An id of up to eight bytes as a number. No id contains the byte 0, so no two have the same.
fn packed(id: &str) -> Option<u64> {
    let mut bytes = [0; 8];
    bytes.get_mut(..id.len())?.copy_from_slice(id.as_bytes());
    Some(u64::from_be_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_id_has_digits_of_the_highest_bits() {
        assert_eq!(digits(0, 4), "0000");
        assert_eq!(digits(u64::MAX, 12), "zzzzzzzzzzzz");
        assert_eq!(digits(1 << 59, 4), "1000");
        assert_eq!(digits(0b00001_00010_00011_11111 << 44, 4), "123z");
    }

    /// The same number again and again: longer ids at first, then numbers.
    #[test]
    fn a_dice_that_repeats_itself_makes_different_ids() {
        let mut taken = BTreeSet::new();
        for count in 0..2_000 {
            let id = NodeId::draw(&mut || 0, count, |text| taken.contains(text));
            assert!(id.as_str().len() <= 25, "{id}");
            assert!(taken.insert(id), "an id is taken twice");
        }
        let lengths: Vec<usize> = taken.iter().map(|id| id.as_str().len()).collect();
        assert_eq!(lengths.iter().filter(|len| **len <= LONGEST).count(), LONGEST - SHORTEST + 1);
    }

    #[test]
    fn ids_of_any_length_differ() {
        let ids = ["a", "aa", "b", "aaaaaaaa", "aaaaaaab", "aaaaaaaaa", "aaaaaaaab", "é", "漢🦀", "漢🦀漢"];
        let mut map = Ids::default();
        for (node, id) in (0..).zip(ids) {
            assert_eq!(map.get(id), None);
            map.insert(&NodeId::new(id).expect("it is an id"), node);
        }
        for (node, id) in (0..).zip(ids) {
            assert_eq!(map.get(id), Some(node), "{id}");
        }
    }
}
