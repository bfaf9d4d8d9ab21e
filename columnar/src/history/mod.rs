//! The values of one column in memory.

mod attachment;
mod file_content;
mod media;
mod node;
mod pdf;
mod skip_reason;
mod skipped;
mod step_notes;
mod step_ranges;
pub mod tokens;
mod value;

use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

pub use attachment::{Attachment, AttachmentError};
pub(crate) use attachment::{AttachmentContent, in_words};
pub use media::MediaRules;
pub(crate) use media::{ImageRules, ImageTokens, PdfRules};
pub(crate) use node::StoredText;
use node::{BITS, Child, HistoryNode, LeafEntry, WIDTH, digit, rest};
pub use skip_reason::SkipReason;
pub(crate) use skipped::SkippedSteps;
pub(crate) use step_notes::StepNotes;
pub(crate) use step_ranges::StepRanges;
pub use step_ranges::StoredSteps;
use tokens::{Counter, Sum};
pub use value::{IntoValue, Text, Value};

/// The values of a column by step, each with the number of tokens. A step may have no value, and a value never
/// changes.
///
/// A history is a persistent tree: clones share nodes, so a clone is a snapshot. Cloning takes two reference counts
/// for any length, and a write copies only the shared nodes on the path. Each inner node has the sums of its children,
/// so the size of a window is a subtraction. The newest leaf is read most, so it is outside of the tree and needs no
/// descent.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    /// The root of the tree; `None` while all values are in the newest leaf.
    root: Option<Arc<HistoryNode>>,
    /// The number of levels above the leaves.
    height: u32,
    newest: Arc<HistoryNode>,
    /// The index of the newest leaf.
    number: usize,
    /// The attachments of the values that have some; `None` if no value has.
    attachments: Option<Arc<StepNotes<Attachments>>>,
}

/// The attachments of a value.
pub(crate) type Attachments = Arc<[Attachment]>;

impl History {
    pub(crate) fn value(&self, step: usize) -> Option<Value> {
        let value = self.leaf(step)?.value(digit(step, 0))?;
        Some(value.attached(self.attachments(step).cloned()))
    }

    fn attachments(&self, step: usize) -> Option<&Attachments> {
        self.attachments.as_deref()?.get(step)
    }

    /// The tokens of the attachments in these steps.
    pub(crate) fn media_tokens(&self, steps: Range<usize>, media: &MediaRules) -> usize {
        self.attached(steps).map(|(_, attachments)| media.tokens_of(attachments)).sum()
    }

    /// The attachments in these steps, by step.
    fn attached(&self, steps: Range<usize>) -> impl Iterator<Item = (usize, &Attachments)> {
        self.attachments.as_deref().into_iter().flat_map(move |notes| notes.within(steps.clone()))
    }

    pub(crate) fn has(&self, step: usize) -> bool {
        self.leaf(step).is_some_and(|leaf| leaf.has(digit(step, 0)))
    }

    pub(crate) fn text(&self, step: usize) -> Option<StoredText<'_>> {
        let text = self.leaf(step)?.text(digit(step, 0))?;
        let attachments = self.attachments(step).map(|attachments| &**attachments).unwrap_or_default();
        Some(StoredText { attachments, ..text })
    }

    #[inline]
    fn leaf(&self, step: usize) -> Option<&HistoryNode> {
        if rest(step, 1) == self.number { Some(&self.newest) } else { self.older(step) }
    }

    /// The leaf of a step in the tree.
    fn older(&self, step: usize) -> Option<&HistoryNode> {
        // `digit` drops the higher bits, so a step beyond the tree would lead to another leaf.
        if rest(step, self.height + 1) > 0 {
            return None;
        }
        let mut node = self.root.as_deref()?;
        for level in (1..=self.height).rev() {
            let HistoryNode::Inner(children) = node else { return None };
            node = &children.get(digit(step, level))?.node;
        }
        Some(node)
    }

    /// The number of values in these steps, and the sum of tokens.
    pub(crate) fn sum(&self, steps: Range<usize>) -> Sum {
        // A backward range is empty, too, and the subtraction would underflow.
        if steps.is_empty() {
            Sum::default()
        } else {
            self.sum_before(steps.end) - self.sum_before(steps.start)
        }
    }

    fn sum_before(&self, step: usize) -> Sum {
        match rest(step, 1).cmp(&self.number) {
            Ordering::Less => self.older_sum_before(step),
            Ordering::Equal => self.older_sum() + self.newest.sum_before(digit(step, 0)),
            Ordering::Greater => self.older_sum() + self.newest.sum(),
        }
    }

    /// The sum over the values in the tree.
    fn older_sum(&self) -> Sum {
        self.root.as_ref().map_or_else(Sum::default, |root| root.sum())
    }

    fn older_sum_before(&self, step: usize) -> Sum {
        if rest(step, self.height + 1) > 0 {
            return self.older_sum();
        }
        let Some(mut node) = self.root.as_deref() else { return Sum::default() };
        let mut sum = Sum::default();
        for level in (1..=self.height).rev() {
            let HistoryNode::Inner(children) = node else { return sum };
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
        self.begin(rest(step, 1));
        let (text, attachments) = value.into_parts();
        if let Some(attachments) = attachments {
            self.attach(step, attachments);
        }
        let entry = LeafEntry::new(text, tokens);
        // The sums grow on the way down, before the value is written. So the step must have no value yet, and the
        // tokens come from the entry, whose number may be saturated.
        let Some(leaf) = self.leaf_mut(step, Sum::one(entry.tokens())) else { return };
        leaf.insert(digit(step, 0), entry);
        // A leaf whose texts were shared when it became full could not be sealed, so the previous leaf is tried again.
        if leaf.seal()
            && let Some(before) = step.checked_sub(WIDTH)
            && let Some(leaf) = self.leaf_mut(before, Sum::default())
        {
            leaf.seal();
        }
    }

    fn attach(&mut self, step: usize, attachments: Attachments) {
        Arc::make_mut(self.attachments.get_or_insert_default()).insert(step, attachments);
    }

    /// Removes the value of a step, if there is one. Clones keep the value.
    pub(crate) fn remove(&mut self, step: usize) {
        let Some(tokens) = self.text(step).map(|text| text.tokens) else { return };
        if let Some(attachments) = &mut self.attachments {
            Arc::make_mut(attachments).remove(step);
        }
        if rest(step, 1) == self.number {
            Arc::make_mut(&mut self.newest).remove(digit(step, 0));
            return;
        }
        let Some(root) = &mut self.root else { return };
        let mut node = Arc::make_mut(root);
        for level in (1..=self.height).rev() {
            let Some(child) = node.child_mut(digit(step, level)) else { return };
            child.sum = child.sum - Sum::one(tokens);
            node = Arc::make_mut(&mut child.node);
        }
        node.remove(digit(step, 0));
    }

    /// Takes over the values of another history in these steps. Leaves that are taken as a whole share their texts.
    pub(crate) fn adopt(&mut self, other: &Self, steps: Range<usize>) {
        for (step, attachments) in other.attached(steps.clone()) {
            if !self.has(step) {
                self.attach(step, Arc::clone(attachments));
            }
        }
        let mut step = steps.start;
        while step < steps.end {
            let number = rest(step, 1);
            let end = ((number + 1) << BITS).min(steps.end);
            if let Some(leaf) = other.leaf(step) {
                let known = self.leaf(step).map_or(0, |leaf| leaf.sum().count);
                if end - step == WIDTH && leaf.sum().count > 0 && known == 0 {
                    self.begin(number);
                    if let Some(slot) = self.leaf_mut(step, leaf.sum()) {
                        *slot = leaf.clone();
                    }
                } else {
                    for (at, step) in (digit(step, 0)..).zip(step..end) {
                        if let (Some(value), Some(text)) = (leaf.value(at), leaf.text(at)) {
                            self.insert(step, value, text.tokens);
                        }
                    }
                }
            }
            step = end;
        }
    }

    /// Makes a leaf with this number the newest, if the number is newer, and moves the previous newest leaf into the
    /// tree.
    fn begin(&mut self, number: usize) {
        if number <= self.number {
            return;
        }
        let newest = std::mem::take(&mut self.newest);
        let step = self.number << BITS;
        let sum = newest.sum();
        self.number = number;
        if sum.count > 0
            && let Some(leaf) = self.older_mut(step, sum)
        {
            *leaf = Arc::unwrap_or_clone(newest);
        }
    }

    /// The leaf of a step. `added` is added to the sums above the leaf.
    fn leaf_mut(&mut self, step: usize, added: Sum) -> Option<&mut HistoryNode> {
        if rest(step, 1) == self.number {
            Some(Arc::make_mut(&mut self.newest))
        } else {
            self.older_mut(step, added)
        }
    }

    /// The leaf of a step in the tree, created if missing. `added` is added to the sums above the leaf.
    fn older_mut(&mut self, step: usize, added: Sum) -> Option<&mut HistoryNode> {
        // The tree grows at the root: the old root is the first child of the new root, and is not copied.
        while rest(step, self.height + 1) > 0 {
            let node = self.root.take().unwrap_or_default();
            let sum = node.sum();
            self.root = Some(Arc::new(HistoryNode::Inner(vec![Child { node, sum }])));
            self.height += 1;
        }
        let mut node = Arc::make_mut(self.root.get_or_insert_default());
        for level in (1..=self.height).rev() {
            let child = node.child_mut(digit(step, level))?;
            child.sum += added;
            node = Arc::make_mut(&mut child.node);
        }
        Some(node)
    }

    /// The same values, with tokens by another counter.
    pub(crate) fn counted(&self, counter: &dyn Counter) -> Self {
        let mut counted = Self::default();
        counted.count(self, counter);
        counted
    }

    /// Whether both have the same number of values.
    pub(crate) fn has_as_many(&self, other: &Self) -> bool {
        (self.older_sum() + self.newest.sum()).count == (other.older_sum() + other.newest.sum()).count
    }

    /// Adds the values of another history that this history lacks, with tokens by this counter.
    pub(crate) fn count(&mut self, other: &Self, counter: &dyn Counter) {
        // A stack with the newest leaf at the bottom visits the steps in ascending order. So each leaf is filled while
        // it is the newest leaf, without a descent.
        let mut open = vec![(&other.newest, 0, other.number << BITS)];
        open.extend(other.root.iter().map(|root| (root, other.height, 0)));
        while let Some((node, height, first)) = open.pop() {
            match &**node {
                HistoryNode::Inner(children) => {
                    let below = children
                        .iter()
                        .enumerate()
                        .map(|(at, child)| (&child.node, height - 1, first + (at << (height * BITS))));
                    open.extend(below.rev());
                }
                leaf => (0..WIDTH).filter_map(|at| Some((at, leaf.value(at)?))).for_each(|(at, value)| {
                    if !self.has(first + at) {
                        let tokens = counter.count(&value);
                        let attachments = other.attachments(first + at).cloned();
                        self.insert(first + at, value.attached(attachments), tokens);
                    }
                }),
            }
        }
    }

    /// The values before a step.
    pub(crate) fn before(&self, step: usize) -> Self {
        let mut before = self.clone();
        match rest(step, 1).cmp(&self.number) {
            Ordering::Less => {
                // The leaf of the step is in the tree, so the newest leaf becomes an empty leaf behind it.
                (before.number, before.newest) = (rest(step, 1) + 1, Arc::default());
                if let Some(root) = before.root.as_mut().filter(|_| rest(step, self.height + 1) == 0) {
                    Arc::make_mut(root).truncate(step, self.height);
                }
            }
            Ordering::Equal => Arc::make_mut(&mut before.newest).truncate(step, 0),
            Ordering::Greater => {}
        }
        let attachments = before.attachments.as_deref().map(|notes| Arc::new(notes.before(step)));
        before.attachments = attachments;
        before
    }
}

#[cfg(test)]
mod tests {
    use super::node::LARGE;
    use super::*;

    fn history(steps: impl IntoIterator<Item = usize>) -> History {
        let mut history = History::default();
        for step in steps {
            history.insert(step, format!("{step}").into(), step % 7);
        }
        history
    }

    fn holds(history: &History, step: usize) -> bool {
        let expected = format!("{step}");
        let text = history.text(step);
        assert_eq!(history.value(step).as_deref(), text.map(|text| text.value));
        text.is_some_and(|text| text.value == expected)
    }

    #[test]
    fn values_are_found_in_any_order_and_at_any_distance() {
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
    fn a_value_is_never_replaced() {
        let mut once = history(0..3);
        once.insert(1, "another".into(), 9);
        assert!(holds(&once, 1));
        let mut sealed = history(0..100);
        sealed.insert(1, "another".into(), 9);
        assert!(holds(&sealed, 1));
    }

    /// The values are inserted backwards, so that each leaf becomes full with the first step; with values too long to
    /// be copied; with values that the test holds as well.
    #[test]
    fn sealed_or_not_the_values_are_the_same() {
        let mut sealed = history((0..200).rev());
        assert!(matches!(sealed.leaf(0), Some(HistoryNode::Sealed { .. })));
        assert!(matches!(sealed.leaf(199), Some(HistoryNode::Open(_))), "it is not full");
        let held: Vec<Value> = (200..224).map(|step| Value::from(format!("{step}"))).collect();
        held.iter().zip(200..).for_each(|(value, step)| sealed.insert(step, value.clone(), 0));
        assert!(matches!(sealed.leaf(223), Some(HistoryNode::Open(_))), "its texts are held elsewhere");
        assert!((0..224).all(|step| holds(&sealed, step)));

        let mut long = History::default();
        (0..64).for_each(|step| long.insert(step, "é".repeat(LARGE).into(), 0));
        assert!(matches!(long.leaf(0), Some(HistoryNode::Open(_))));
        let mut empty = History::default();
        (0..64).for_each(|step| empty.insert(step, "".into(), 0));
        assert!((0..64).all(|step| empty.value(step).as_deref() == Some("")) && empty.text(64).is_none());
    }

    #[test]
    fn the_values_before_a_step_are_shared_and_later_ones_are_not() {
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

    /// Values are adopted into an empty history, a history with later values, and one with other values of the same
    /// leaves; from sealed and open leaves.
    #[test]
    fn adopted_values_join_those_of_the_history() {
        let other = history((0..900).filter(|step| !(300..400).contains(step)));
        for steps in [0..900, 0..1, 31..33, 5..700, 290..420, 300..400, 64..64, 880..900] {
            for own in [0..0, 895..1000, 2000..2001, 0..31, 640..650] {
                let own = own.filter(|step| !steps.contains(step));
                let mut both = history(own.clone());
                both.adopt(&other, steps.clone());
                let expected = history(own.clone().chain(steps.clone().filter(|step| holds(&other, *step))));
                for step in 0..2100 {
                    assert_eq!(both.text(step), expected.text(step), "{step} of {steps:?}");
                    assert_eq!(both.sum(0..step), expected.sum(0..step), "{step} of {steps:?}");
                }
            }
        }
        let mut adopted = History::default();
        adopted.adopt(&other, 0..896);
        let a = other.text(17).expect("it is there");
        let b = adopted.text(17).expect("it is there");
        assert!(std::ptr::eq(a.value, b.value), "the text itself is shared");
    }

    /// A clone of a long history copies no text: both refer to the same text.
    #[test]
    fn a_clone_is_a_reference_count() {
        let whole = history(0..5000);
        let clone = whole.before(4000);
        let a = whole.text(17).expect("it is there");
        let b = clone.text(17).expect("it is there");
        assert!(std::ptr::eq(a.value, b.value), "the text itself is shared");
    }

    #[test]
    fn a_text_is_plain_without_characters_that_need_escaping() {
        let texts = ["plain", "a < b", "a & b", "two\nlines", "\"said\"", "back\\slash", "bell\u{7}", "é"];
        let mut sealed = History::default();
        (0..WIDTH).zip(texts.iter().cycle()).for_each(|(step, text)| sealed.insert(step, (*text).into(), 0));
        for (step, text) in (0..WIDTH).zip(texts.iter().cycle()) {
            let known = sealed.text(step).expect("it is there");
            assert_eq!(known.is_plain, !text.contains(['<', '&']), "{text:?}");
        }
    }

    /// The sums are right for whole and truncated histories, sealed and open leaves, with and without gaps.
    #[test]
    fn the_size_of_a_window_is_the_sum_of_its_values() {
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

    /// A leaf with a value of too many tokens for a packed entry stays open.
    #[test]
    fn a_value_of_many_tokens_keeps_their_number() {
        let mut history = History::default();
        let tokens = |step| if step == 40 { 8192 } else { 8191 };
        (0..64).for_each(|step| history.insert(step, "x".into(), tokens(step)));
        assert!(matches!(history.leaf(0), Some(HistoryNode::Sealed { .. })));
        assert!(matches!(history.leaf(40), Some(HistoryNode::Open(_))));
        assert!((0..64).all(|step| history.text(step).is_some_and(|text| text.tokens == tokens(step))));
    }
}
