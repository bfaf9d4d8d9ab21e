//! The values of one column.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::value::Value;

/// Each node has so many children, as a power of two.
const BITS: u32 = 5;
const WIDTH: usize = 1 << BITS;

/// Values that are longer together are not copied into one text.
const LARGE: usize = 1 << 16;

/// The values of a column by step; a step may be without one. A value that is there stays.
///
/// A tree in which clones share all that they have in common: cloning is a reference count, whatever
/// the length, and writing copies the few nodes on the way that are shared. So a clone is a snapshot
/// that can be shown long after the column has gone on.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    root: Arc<Node>,
    /// How many levels lie between the root and the leaves.
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Inner(Vec<Arc<Node>>),
    Open(Vec<Option<Arc<str>>>),
    /// A leaf without gaps, as one text.
    Sealed {
        text: Arc<str>,
        marks: Arc<[Mark]>,
    },
}

/// A stored value, and what is known of it without looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'h> {
    pub(crate) value: &'h str,
    /// It has neither `<` nor `&`, so no tag has to be escaped in it.
    pub(crate) is_untagged: bool,
    /// It is the same in a JSON string.
    pub(crate) is_plain_json: bool,
}

/// Where a value ends in the text of a sealed leaf, and what is known of it, in the two highest bits.
#[derive(Clone, Copy, Debug)]
struct Mark(u32);

impl Mark {
    const UNTAGGED: u32 = 1 << 31;
    const PLAIN_JSON: u32 = 1 << 30;

    fn new(end: usize, value: &str) -> Option<Self> {
        let end = u32::try_from(end).ok().filter(|end| *end < Self::PLAIN_JSON)?;
        let untagged = if value.contains(['<', '&']) { 0 } else { Self::UNTAGGED };
        let plain = if value.bytes().any(needs_json_escape) { 0 } else { Self::PLAIN_JSON };
        Some(Self(end | untagged | plain))
    }

    #[inline]
    fn end(self) -> Option<usize> {
        usize::try_from(self.0 & (Self::PLAIN_JSON - 1)).ok()
    }

    #[inline]
    fn is(self, known: u32) -> bool {
        self.0 & known != 0
    }
}

/// A node without anything in it, at any level.
impl Default for Node {
    fn default() -> Self {
        Self::Open(Vec::new())
    }
}

impl History {
    pub(crate) fn value(&self, step: usize) -> Option<Value> {
        self.leaf(step)?.value(digit(step, 0))
    }

    pub(crate) fn text(&self, step: usize) -> Option<Text<'_>> {
        self.leaf(step)?.text(digit(step, 0))
    }

    /// The bytes of the values in some steps, found leaf by leaf.
    pub(crate) fn bytes(&self, steps: Range<usize>) -> usize {
        let (mut bytes, mut step) = (0, steps.start);
        while step < steps.end {
            let next = (step | (WIDTH - 1)).saturating_add(1).min(steps.end);
            let first = digit(step, 0);
            bytes += self.leaf(step).map_or(0, |leaf| leaf.bytes(first..first + (next - step)));
            step = next;
        }
        bytes
    }

    fn leaf(&self, step: usize) -> Option<&Node> {
        if rest(step, self.height + 1) > 0 {
            return None;
        }
        let mut node = &*self.root;
        for level in (1..=self.height).rev() {
            let Node::Inner(children) = node else { return None };
            node = children.get(digit(step, level))?;
        }
        Some(node)
    }

    /// Writes a value unless the step has one.
    pub(crate) fn insert(&mut self, step: usize, value: Value) {
        while rest(step, self.height + 1) > 0 {
            let below = core::mem::take(&mut self.root);
            self.root = Arc::new(Node::Inner(alloc::vec![below]));
            self.height += 1;
        }
        let Some(leaf) = self.leaf_mut(step) else { return };
        leaf.insert(digit(step, 0), value);
        // Whoever looks at a leaf keeps it from being sealed, so the one before has another chance.
        if leaf.seal()
            && let Some(before) = step.checked_sub(WIDTH)
            && let Some(leaf) = self.leaf_mut(before)
        {
            leaf.seal();
        }
    }

    fn leaf_mut(&mut self, step: usize) -> Option<&mut Node> {
        let mut node = Arc::make_mut(&mut self.root);
        for level in (1..=self.height).rev() {
            node = Arc::make_mut(node.child_mut(digit(step, level))?);
        }
        Some(node)
    }

    /// The values before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        let mut before = self.clone();
        if rest(step, self.height + 1) > 0 {
            return before;
        }
        let mut node = Arc::make_mut(&mut before.root);
        for level in (1..=self.height).rev() {
            let Node::Inner(children) = node else { return before };
            children.truncate(digit(step, level) + 1);
            node = match children.get_mut(digit(step, level)) {
                Some(child) => Arc::make_mut(child),
                None => return before,
            };
        }
        node.truncate(digit(step, 0));
        before
    }
}

impl Node {
    /// The child at a place of a node above the leaves, made if it is not there.
    fn child_mut(&mut self, at: usize) -> Option<&mut Arc<Node>> {
        if let Self::Open(_) = self {
            *self = Self::Inner(Vec::new());
        }
        let Self::Inner(children) = self else { return None };
        if children.len() <= at {
            children.resize_with(at + 1, Arc::default);
        }
        children.get_mut(at)
    }

    #[inline]
    fn text(&self, at: usize) -> Option<Text<'_>> {
        let (text, is_untagged, is_plain_json) = match self {
            Self::Open(texts) => (texts.get(at)?.as_deref()?, false, false),
            Self::Sealed { text, marks } => {
                let mark = *marks.get(at)?;
                (text.get(range(marks, at)?)?, mark.is(Mark::UNTAGGED), mark.is(Mark::PLAIN_JSON))
            }
            Self::Inner(_) => return None,
        };
        Some(Text { value: text, is_untagged, is_plain_json })
    }

    fn bytes(&self, places: Range<usize>) -> usize {
        match self {
            Self::Open(texts) => {
                texts.iter().take(places.end).skip(places.start).flatten().map(|text| text.len()).sum()
            }
            Self::Sealed { marks, .. } => {
                let end = |places: usize| places.checked_sub(1).and_then(|last| marks.get(last)?.end());
                end(places.end).unwrap_or(0) - end(places.start).unwrap_or(0)
            }
            Self::Inner(_) => 0,
        }
    }

    fn value(&self, at: usize) -> Option<Value> {
        match self {
            Self::Open(texts) => texts.get(at)?.clone().map(Value::from),
            Self::Sealed { text, marks } => Some(Value::part(Arc::clone(text), range(marks, at)?)),
            Self::Inner(_) => None,
        }
    }

    /// Writes a value into a leaf, unless there is one.
    fn insert(&mut self, at: usize, value: Value) {
        let Self::Open(texts) = self else { return };
        if texts.len() <= at {
            texts.resize(at + 1, None);
        }
        if let Some(slot) = texts.get_mut(at) {
            slot.get_or_insert_with(|| value.into());
        }
    }

    /// Makes one text of a leaf that is full, which saves a third of the memory of short values. Not
    /// if that would copy a text that somebody else holds, too. Returns whether the leaf is full.
    fn seal(&mut self) -> bool {
        let Self::Open(texts) = self else { return true };
        if texts.len() < WIDTH || texts.iter().any(Option::is_none) {
            return false;
        }
        let length: usize = texts.iter().flatten().map(|text| text.len()).sum();
        if length <= LARGE && texts.iter().flatten().all(|text| Arc::strong_count(text) == 1) {
            let mut whole = String::with_capacity(length);
            let marks = texts.iter().flatten().filter_map(|text| {
                whole.push_str(text);
                Mark::new(whole.len(), text)
            });
            let marks = marks.collect();
            *self = Self::Sealed { text: whole.into(), marks };
        }
        true
    }

    /// Leaves the first values of a leaf.
    fn truncate(&mut self, len: usize) {
        if let Self::Sealed { .. } = self {
            *self = Self::Open((0..len).map(|at| self.value(at).map(Into::into)).collect());
        }
        if let Self::Open(texts) = self {
            texts.truncate(len);
        }
    }
}

/// Whether a byte cannot stand in a JSON string as it is. All of those are ASCII.
pub(crate) const fn needs_json_escape(byte: u8) -> bool {
    matches!(byte, 0..b' ' | b'"' | b'\\')
}

/// Where a value stands in the text of a sealed leaf.
#[inline]
fn range(marks: &[Mark], at: usize) -> Option<Range<usize>> {
    let start = match at.checked_sub(1) {
        Some(before) => marks.get(before)?.end()?,
        None => 0,
    };
    Some(start..marks.get(at)?.end()?)
}

/// Which child of a node at this level leads to a step.
fn digit(step: usize, level: u32) -> usize {
    rest(step, level) & (WIDTH - 1)
}

/// What is left of a step above a level.
fn rest(step: usize, level: u32) -> usize {
    step.checked_shr(level * BITS).unwrap_or(0)
}

/// Reads the values of neighbouring steps of one history without looking for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader<'h> {
    /// The leaf that was read last, and which one it is.
    leaf: Option<(usize, &'h Node)>,
}

impl<'h> Reader<'h> {
    #[inline]
    pub(crate) fn text(&mut self, history: &'h History, step: usize) -> Option<Text<'h>> {
        let number = rest(step, 1);
        let leaf = match self.leaf {
            Some((last, leaf)) if last == number => leaf,
            _ => {
                let leaf = history.leaf(step)?;
                self.leaf = Some((number, leaf));
                leaf
            }
        };
        leaf.text(digit(step, 0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(steps: impl IntoIterator<Item = usize>) -> History {
        let mut history = History::default();
        for step in steps {
            history.insert(step, alloc::format!("{step}").into());
        }
        history
    }

    fn holds(history: &History, step: usize) -> bool {
        let expected = alloc::format!("{step}");
        let text = history.text(step);
        assert_eq!(Reader::default().text(history, step), text);
        assert_eq!(history.value(step).as_deref(), text.map(|text| text.value));
        text.is_some_and(|text| text.value == expected)
    }

    #[test]
    fn what_is_written_is_there_in_any_order_and_at_any_distance() {
        let far = [0, 31, 32, 1023, 1024, 40_000, usize::MAX];
        let forth = history(far);
        let back = history(far.into_iter().rev());
        for step in far {
            assert!(holds(&forth, step) && holds(&back, step), "{step}");
        }
        for step in [1, 30, 33, 1025, 39_999, usize::MAX - 1] {
            assert!(forth.text(step).is_none() && back.text(step).is_none(), "{step}");
        }
    }

    #[test]
    fn a_value_that_is_there_stays() {
        let mut once = history(0..3);
        once.insert(1, "another".into());
        assert!(holds(&once, 1));
        let mut sealed = history(0..100);
        sealed.insert(1, "another".into());
        assert!(holds(&sealed, 1));
    }

    /// Backwards, so that each leaf is full only in the end; with a value too long to be copied; with
    /// values that are held elsewhere, too.
    #[test]
    fn sealed_or_not_the_values_are_the_same() {
        let mut sealed = history((0..200).rev());
        assert!(matches!(sealed.leaf(0), Some(Node::Sealed { .. })));
        assert!(matches!(sealed.leaf(199), Some(Node::Open(_))), "it is not full");
        let held: Vec<Value> = (200..224).map(|step| Value::from(alloc::format!("{step}"))).collect();
        held.iter().zip(200..).for_each(|(value, step)| sealed.insert(step, value.clone()));
        assert!(matches!(sealed.leaf(223), Some(Node::Open(_))), "its texts are held elsewhere");
        assert!((0..224).all(|step| holds(&sealed, step)));

        let mut long = History::default();
        (0..64).for_each(|step| long.insert(step, "é".repeat(LARGE).into()));
        assert!(matches!(long.leaf(0), Some(Node::Open(_))));
        let mut empty = History::default();
        (0..64).for_each(|step| empty.insert(step, "".into()));
        assert!((0..64).all(|step| empty.value(step).as_deref() == Some("")) && empty.text(64).is_none());
    }

    #[test]
    fn the_past_is_shared_and_what_follows_is_not() {
        for step in [0, 1, 31, 32, 33, 1000, 1024, 1056, 2000, 2001] {
            let whole = history(0..2000);
            let mut cut = whole.before(step);
            for at in 0..2000 {
                assert_eq!(holds(&cut, at), at < step, "{at} of {step}");
            }
            cut.insert(step + 1, "its own way".into());
            assert!(cut.text(step).is_none() || step >= 2000, "nothing of the other shows through at {step}");
            assert_eq!(cut.value(step + 1).as_deref(), Some("its own way"));
            assert!((0..2000).all(|at| holds(&whole, at)), "the first one is as it was");
        }
    }

    /// A clone of a long history copies nothing of it: both point at the same text.
    #[test]
    fn a_clone_is_a_reference_count() {
        let whole = history(0..5000);
        let clone = whole.before(4000);
        let (a, b) = (whole.text(17).expect("it is there"), clone.text(17).expect("it is there"));
        assert!(core::ptr::eq(a.value, b.value), "the text itself is shared");
    }

    #[test]
    fn what_is_known_of_a_text_is_true() {
        let texts = ["plain", "a < b", "a & b", "two\nlines", "\"said\"", "back\\slash", "bell\u{7}", "é"];
        let mut sealed = History::default();
        (0..WIDTH).zip(texts.iter().cycle()).for_each(|(step, text)| sealed.insert(step, (*text).into()));
        for (step, text) in (0..WIDTH).zip(texts.iter().cycle()) {
            let known = sealed.text(step).expect("it is there");
            let json = serde_json::to_string(text).expect("strings serialise");
            assert_eq!(known.is_plain_json, json == alloc::format!("\"{text}\""), "{text:?}");
            assert_eq!(known.is_untagged, !text.contains(['<', '&']), "{text:?}");
        }
    }
}
