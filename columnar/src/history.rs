//! The values of one column.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use crate::tokens::{Counter, Sum};
use crate::value::Value;

/// Each node has so many children, as a power of two.
const BITS: u32 = 5;
const WIDTH: usize = 1 << BITS;

/// Values that are longer together are not copied into one text.
const LARGE: usize = 1 << 16;

/// The values of a column by step, each with its number of tokens; a step may be without one. A value
/// that is there stays.
///
/// A tree in which clones share all that they have in common: cloning is a reference count, whatever
/// the length, and writing copies the few nodes on the way that are shared. So a clone is a snapshot
/// that can be shown long after the column has gone on. Each node knows what its children sum up to, so
/// the size of any window is a subtraction.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    root: Arc<Node>,
    /// How many levels lie between the root and the leaves.
    height: u32,
}

#[derive(Clone, Debug)]
enum Node {
    Inner(Vec<Child>),
    Open(Vec<Option<Held>>),
    /// A leaf without gaps, as one text.
    Sealed {
        text: Arc<str>,
        marks: Arc<[Mark]>,
    },
}

/// A node and all that is in it.
#[derive(Clone, Debug, Default)]
struct Child {
    node: Arc<Node>,
    sum: Sum,
}

/// A value as a text of its own.
#[derive(Clone, Debug)]
struct Held {
    text: Arc<str>,
    tokens: usize,
}

/// A stored value, and what is known of it without looking at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Text<'h> {
    pub(crate) value: &'h str,
    pub(crate) tokens: usize,
    /// It has neither `<` nor `&`, so no tag has to be escaped in it.
    pub(crate) is_untagged: bool,
    /// It is the same in a JSON string.
    pub(crate) is_plain_json: bool,
}

/// Where a value ends in the text of a sealed leaf, how many tokens it has, and what else is known of it:
/// 17, 13 and 2 bits, from the lowest on.
#[derive(Clone, Copy, Debug)]
struct Mark(u32);

impl Mark {
    const UNTAGGED: u32 = 1 << 31;
    const PLAIN_JSON: u32 = 1 << 30;
    const END_BITS: u32 = 17;
    const END: u32 = (1 << Self::END_BITS) - 1;
    const TOKENS: u32 = (Self::PLAIN_JSON - 1) >> Self::END_BITS;

    /// `None` for what has no room.
    fn new(end: usize, held: &Held) -> Option<Self> {
        let end = u32::try_from(end).ok().filter(|end| *end <= Self::END)?;
        let tokens = u32::try_from(held.tokens).ok().filter(|tokens| *tokens <= Self::TOKENS)?;
        let untagged = if held.text.contains(['<', '&']) { 0 } else { Self::UNTAGGED };
        let plain = if held.text.bytes().any(needs_json_escape) { 0 } else { Self::PLAIN_JSON };
        Some(Self(end | tokens << Self::END_BITS | untagged | plain))
    }

    #[inline]
    fn end(self) -> Option<usize> {
        usize::try_from(self.0 & Self::END).ok()
    }

    #[inline]
    fn tokens(self) -> usize {
        usize::try_from(self.0 >> Self::END_BITS & Self::TOKENS).unwrap_or_default()
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

    pub(crate) fn has(&self, step: usize) -> bool {
        self.leaf(step).is_some_and(|leaf| leaf.has(digit(step, 0)))
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
            node = &children.get(digit(step, level))?.node;
        }
        Some(node)
    }

    /// What the values in some steps sum up to.
    pub(crate) fn sum(&self, steps: Range<usize>) -> Sum {
        if steps.is_empty() {
            Sum::default()
        } else {
            self.sum_before(steps.end) - self.sum_before(steps.start)
        }
    }

    fn sum_before(&self, step: usize) -> Sum {
        if rest(step, self.height + 1) > 0 {
            return self.root.sum();
        }
        let (mut sum, mut node) = (Sum::default(), &*self.root);
        for level in (1..=self.height).rev() {
            let Node::Inner(children) = node else { return sum };
            let at = digit(step, level);
            sum += children.iter().take(at).map(|child| child.sum).sum();
            match children.get(at) {
                Some(child) => node = &child.node,
                None => return sum,
            }
        }
        sum + node.sum_before(digit(step, 0))
    }

    /// Writes a value unless the step has one.
    pub(crate) fn insert(&mut self, step: usize, value: Value, tokens: usize) {
        if self.has(step) {
            return;
        }
        while rest(step, self.height + 1) > 0 {
            let node = core::mem::take(&mut self.root);
            let sum = node.sum();
            self.root = Arc::new(Node::Inner(alloc::vec![Child { node, sum }]));
            self.height += 1;
        }
        let Some(leaf) = self.leaf_mut(step, Sum::one(tokens)) else { return };
        leaf.insert(digit(step, 0), Held { text: value.into(), tokens });
        // Whoever looks at a leaf keeps it from being sealed, so the one before has another chance.
        if leaf.seal()
            && let Some(before) = step.checked_sub(WIDTH)
            && let Some(leaf) = self.leaf_mut(before, Sum::default())
        {
            leaf.seal();
        }
    }

    /// The leaf of a step, to which so much is added.
    fn leaf_mut(&mut self, step: usize, added: Sum) -> Option<&mut Node> {
        let mut node = Arc::make_mut(&mut self.root);
        for level in (1..=self.height).rev() {
            let child = node.child_mut(digit(step, level))?;
            child.sum += added;
            node = Arc::make_mut(&mut child.node);
        }
        Some(node)
    }

    /// The same values, counted another way.
    pub(crate) fn counted(&self, counter: &dyn Counter) -> Self {
        let (mut counted, mut open) = (Self::default(), alloc::vec![(&self.root, self.height, 0)]);
        while let Some((node, height, first)) = open.pop() {
            match &**node {
                Node::Inner(children) => {
                    let place = |at| first + (at << (height * BITS));
                    let below =
                        children.iter().enumerate().map(|(at, child)| (&child.node, height - 1, place(at)));
                    open.extend(below.rev());
                }
                leaf => (0..WIDTH).filter_map(|at| Some((at, leaf.value(at)?))).for_each(|(at, value)| {
                    let tokens = counter.count(&value);
                    counted.insert(first + at, value, tokens);
                }),
            }
        }
        counted
    }

    /// The values before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        let mut before = self.clone();
        if rest(step, self.height + 1) == 0 {
            Arc::make_mut(&mut before.root).truncate(step, self.height);
        }
        before
    }
}

impl Node {
    /// The child at a place of a node above the leaves, made if it is not there.
    fn child_mut(&mut self, at: usize) -> Option<&mut Child> {
        if let Self::Open(_) = self {
            *self = Self::Inner(Vec::new());
        }
        let Self::Inner(children) = self else { return None };
        if children.len() <= at {
            children.resize_with(at + 1, Child::default);
        }
        children.get_mut(at)
    }

    fn sum(&self) -> Sum {
        self.sum_before(WIDTH)
    }

    /// What comes before a place in this node.
    fn sum_before(&self, at: usize) -> Sum {
        match self {
            Self::Inner(children) => children.iter().take(at).map(|child| child.sum).sum(),
            Self::Open(texts) => texts.iter().take(at).flatten().map(|held| Sum::one(held.tokens)).sum(),
            Self::Sealed { marks, .. } => marks.iter().take(at).map(|mark| Sum::one(mark.tokens())).sum(),
        }
    }

    #[inline]
    fn text(&self, at: usize) -> Option<Text<'_>> {
        match self {
            Self::Open(texts) => {
                let Held { text, tokens } = texts.get(at)?.as_ref()?;
                Some(Text { value: text, tokens: *tokens, is_untagged: false, is_plain_json: false })
            }
            Self::Sealed { text, marks } => {
                let mark = *marks.get(at)?;
                Some(Text {
                    value: text.get(range(marks, at)?)?,
                    tokens: mark.tokens(),
                    is_untagged: mark.is(Mark::UNTAGGED),
                    is_plain_json: mark.is(Mark::PLAIN_JSON),
                })
            }
            Self::Inner(_) => None,
        }
    }

    fn has(&self, at: usize) -> bool {
        match self {
            Self::Open(texts) => texts.get(at).is_some_and(Option::is_some),
            Self::Sealed { marks, .. } => at < marks.len(),
            Self::Inner(_) => false,
        }
    }

    fn bytes(&self, places: Range<usize>) -> usize {
        match self {
            Self::Open(texts) => {
                texts.iter().take(places.end).skip(places.start).flatten().map(|held| held.text.len()).sum()
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
            Self::Open(texts) => Some(Value::from(Arc::clone(&texts.get(at)?.as_ref()?.text))),
            Self::Sealed { text, marks } => Some(Value::part(Arc::clone(text), range(marks, at)?)),
            Self::Inner(_) => None,
        }
    }

    /// Writes a value into a leaf.
    fn insert(&mut self, at: usize, held: Held) {
        let Self::Open(texts) = self else { return };
        if texts.len() <= at {
            texts.resize(at + 1, None);
        }
        if let Some(slot) = texts.get_mut(at) {
            *slot = Some(held);
        }
    }

    /// Makes one text of a leaf that is full, which saves a third of the memory of short values. Not
    /// if that would copy a text that somebody else holds, too. Returns whether the leaf is full.
    fn seal(&mut self) -> bool {
        let Self::Open(texts) = self else { return true };
        if texts.len() < WIDTH || texts.iter().any(Option::is_none) {
            return false;
        }
        let length: usize = texts.iter().flatten().map(|held| held.text.len()).sum();
        if length > LARGE || texts.iter().flatten().any(|held| Arc::strong_count(&held.text) > 1) {
            return true;
        }
        let mut end = 0;
        let marks = texts.iter().flatten().map(|held| {
            end += held.text.len();
            Mark::new(end, held)
        });
        if let Some(marks) = marks.collect() {
            let mut text = String::with_capacity(length);
            texts.iter().flatten().for_each(|held| text.push_str(&held.text));
            *self = Self::Sealed { text: text.into(), marks };
        }
        true
    }

    /// Leaves what comes before a step in a node of this height.
    fn truncate(&mut self, step: usize, height: u32) {
        let at = digit(step, height);
        if let Self::Sealed { .. } = self {
            let held = |at| {
                let tokens = self.text(at)?.tokens;
                Some(Held { text: self.value(at)?.into(), tokens })
            };
            *self = Self::Open((0..at).map(held).collect());
        }
        match self {
            Self::Open(texts) => texts.truncate(at),
            Self::Inner(children) => {
                children.truncate(at + 1);
                if let Some(child) = children.get_mut(at) {
                    Arc::make_mut(&mut child.node).truncate(step, height.saturating_sub(1));
                    child.sum = child.node.sum();
                }
            }
            Self::Sealed { .. } => {}
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
            history.insert(step, alloc::format!("{step}").into(), step % 7);
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
        once.insert(1, "another".into(), 9);
        assert!(holds(&once, 1));
        let mut sealed = history(0..100);
        sealed.insert(1, "another".into(), 9);
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
        held.iter().zip(200..).for_each(|(value, step)| sealed.insert(step, value.clone(), 0));
        assert!(matches!(sealed.leaf(223), Some(Node::Open(_))), "its texts are held elsewhere");
        assert!((0..224).all(|step| holds(&sealed, step)));

        let mut long = History::default();
        (0..64).for_each(|step| long.insert(step, "é".repeat(LARGE).into(), 0));
        assert!(matches!(long.leaf(0), Some(Node::Open(_))));
        let mut empty = History::default();
        (0..64).for_each(|step| empty.insert(step, "".into(), 0));
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
            cut.insert(step + 1, "its own way".into(), 0);
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
        (0..WIDTH).zip(texts.iter().cycle()).for_each(|(step, text)| sealed.insert(step, (*text).into(), 0));
        for (step, text) in (0..WIDTH).zip(texts.iter().cycle()) {
            let known = sealed.text(step).expect("it is there");
            let json = serde_json::to_string(text).expect("strings serialise");
            assert_eq!(known.is_plain_json, json == alloc::format!("\"{text}\""), "{text:?}");
            assert_eq!(known.is_untagged, !text.contains(['<', '&']), "{text:?}");
        }
    }

    /// Whole and cut, sealed and open, with gaps and without, a window sums up to what its values do.
    #[test]
    fn the_size_of_a_window_is_what_its_values_sum_up_to() {
        let gaps = (0..3000).filter(|step| step % 50 != 7 && !(1500..1600).contains(step));
        for whole in [history(0..70), history(gaps.clone()), history(gaps.rev())] {
            for cut in [whole.before(0), whole.before(33), whole.before(1599), whole.clone()] {
                for (start, end) in [(0, 0), (0, 1), (0, 70), (3, 64), (31, 1025), (1490, 1610), (9, 9999)] {
                    let tokens = (start..end).filter_map(|step| Some(cut.text(step)?.tokens));
                    assert_eq!(cut.sum(start..end), tokens.map(Sum::one).sum(), "{start}..{end}");
                }
            }
        }
    }

    /// A leaf whose marks have no room for what it holds stays as it is.
    #[test]
    fn a_value_of_many_tokens_keeps_their_number() {
        let mut history = History::default();
        let tokens = |step| if step == 40 { 8192 } else { 8191 };
        (0..64).for_each(|step| history.insert(step, "x".into(), tokens(step)));
        assert!(matches!(history.leaf(0), Some(Node::Sealed { .. })));
        assert!(matches!(history.leaf(40), Some(Node::Open(_))));
        assert!((0..64).all(|step| history.text(step).is_some_and(|text| text.tokens == tokens(step))));
    }
}
