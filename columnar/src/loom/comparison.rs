//! Two paths beside each other: where they part, and what each has that the other lacks.

use std::collections::BTreeSet;
use std::fmt;

use crate::context::tree::{Node, Path, Turn};
use crate::declare::Purpose;
use crate::declare::error::Printable;
use crate::history::tokens::Counter;
use crate::history::{MediaRules, in_words};
use crate::model::usage::{Receipt, Total};

/// The width of a line of a node, in columns of a terminal.
const WIDTH: usize = 80;

/// The lines of nodes for a branch. The others are counted.
const LISTED: usize = 8;

impl<'t> Path<'t> {
    /// The comparison of two branches: this path is the left one.
    ///
    /// ```
    /// use columnar::loom::{Author, Edge, Mode, Tree};
    /// use columnar::tokens::Estimate;
    ///
    /// let mut next = 0_u64;
    /// let mut dice = || {
    ///     next += 1;
    ///     next << 44
    /// };
    /// let mut tree = Tree::new(Mode::Dialogue);
    /// let question = tree.append(&mut dice, Edge::root(), Author::Human, "Who lives there?")?;
    /// let ada = tree.append(&mut dice, &question, Author::Model, "Ada.")?;
    /// let why = tree.append(&mut dice, &ada, Author::Human, "Why?")?;
    /// let caroline = tree.append(&mut dice, &question, Author::Model, "Caroline Herschel.")?;
    ///
    /// let compared = tree.path(&why, &[])?.compare(&tree.path(&caroline, &[])?, &Estimate);
    /// assert_eq!(compared.ancestor.map(|node| node.id()), Some(&question));
    /// assert_eq!((compared.left.turns.len(), compared.right.tokens), (2, 5));
    /// assert_eq!(compared.to_string(), "\
    /// both: 0001 human  Who lives there?
    /// left: 2 nodes, 2 tokens
    ///   0002 model  Ada.
    ///   0003 human  Why?
    /// right: 1 node, 5 tokens
    ///   0004 model  Caroline Herschel.");
    /// # Ok::<(), columnar::loom::TreeError>(())
    /// ```
    pub fn compare(&self, other: &Self, counter: &impl Counter) -> BranchComparison<'t> {
        let common = way(self).zip(way(other)).take_while(|(left, right)| left.id() == right.id());
        BranchComparison {
            ancestor: common.last().map(|(turn, _)| turn.node()),
            left: Branch::new(self, other, counter),
            right: Branch::new(other, self, counter),
        }
    }
}

/// The nodes through which a path runs.
fn way<'t>(path: &Path<'t>) -> impl Iterator<Item = Turn<'t>> {
    path.all().filter(|turn| turn.purpose() == Purpose::Primary && !turn.is_annotation())
}

/// Two branches of a tree: the node after which they part, and the nodes that only one of them has. Made by
/// [`Path::compare`], and prints as lines that fit a terminal.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BranchComparison<'t> {
    /// The last node to which both paths come by the same nodes; `None` if they begin with different ones.
    pub ancestor: Option<Node<'t>>,
    /// The branch of the path that was asked.
    pub left: Branch<'t>,
    /// The branch of the other path.
    pub right: Branch<'t>,
}

/// One side of a [`BranchComparison`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Branch<'t> {
    /// The nodes of the path that the other path does not have, in order, with those that are dropped.
    pub turns: Vec<Turn<'t>>,
    /// The tokens of the texts and attachments of these nodes, without those that are dropped. Attachments are counted as
    /// for a model without rules.
    pub tokens: usize,
    /// The sum of the receipts of these nodes; [`Total::cells`] is the number of nodes with a receipt.
    pub usage: Total,
}

impl<'t> Branch<'t> {
    fn new(path: &Path<'t>, other: &Path<'t>, counter: &impl Counter) -> Self {
        let shared: BTreeSet<_> = other.all().map(|turn| turn.id()).collect();
        let turns: Vec<Turn<'t>> = path.all().filter(|turn| !shared.contains(turn.id())).collect();
        let shown = turns.iter().filter(|turn| turn.dropped_by().is_none());
        let tokens = shown.fold(0_usize, |sum, turn| {
            let media = MediaRules::ANY.tokens_of(turn.attachments());
            sum.saturating_add(counter.count(turn.text())).saturating_add(media)
        });
        let receipts: Vec<Receipt> = turns.iter().filter_map(|turn| turn.node().receipt()).collect();
        Self { tokens, usage: receipts.iter().collect(), turns }
    }
}

impl fmt::Display for BranchComparison<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ancestor {
            Some(node) => f.write_str(&line("both: ", node, ""))?,
            None => f.write_str("both: no node")?,
        }
        for (side, branch) in [("left", &self.left), ("right", &self.right)] {
            let Branch { turns, tokens, usage } = branch;
            let nodes = if turns.len() == 1 { "node" } else { "nodes" };
            write!(f, "\n{side}: {} {nodes}, {tokens} tokens", turns.len())?;
            if usage.cells > 0 {
                write!(f, "\n  {usage}")?;
            }
            for turn in turns.iter().take(LISTED) {
                let mark = turn.dropped_by().map(|mark| format!(" ({mark})")).unwrap_or_default();
                write!(f, "\n{}", line("  ", &turn.node(), &mark))?;
            }
            if let Some(more @ 1..) = turns.len().checked_sub(LISTED) {
                write!(f, "\n  … and {more} more")?;
            }
        }
        Ok(())
    }
}

/// A node on one line.
fn line(before: &str, node: &Node<'_>, mark: &str) -> String {
    let mut line = format!("{before}{} {}{mark} ", Printable(node.id()), node.author());
    // A text may be long, and the line ends after some of its words.
    let media = in_words(node.attachments());
    for word in node.text().split_whitespace().chain(media.split_whitespace()).take(WIDTH) {
        line.push(' ');
        line += &Printable(word).to_string();
    }
    let ends = line.char_indices().scan(0, |width, (at, c)| {
        // Letters of Chinese, Japanese and Korean have two columns; a few others have less than this says.
        *width += if c >= '\u{1100}' { 2 } else { 1 };
        Some((at, *width))
    });
    let ends: Vec<(usize, usize)> = ends.take(WIDTH + 1).collect();
    if ends.last().is_some_and(|(_, width)| *width > WIDTH) {
        let end = ends.iter().find(|(_, width)| *width >= WIDTH).map_or(0, |(at, _)| *at);
        line.truncate(end);
        line.push('…');
    }
    line.trim_end().to_owned()
}
