//! The pieces from which Markdown is written: text, and the marks around it, which are nested like brackets.

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Open(Mark),
    /// Closes the last mark that is open.
    Close,
    Text(String),
    /// The end of a line.
    Break,
    /// A line across the page.
    Rule,
}

/// The meaning of an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A paragraph, or anything else with lines of its own.
    Block,
    /// A heading of a level from 1 to 6.
    Heading(usize),
    /// A list, with the number of its first item if its items have numbers.
    List(Option<u32>),
    Item,
    Quote,
    /// Text whose white space counts, and its language.
    Pre(String),
    Table,
    Row,
    Cell,
    Strong,
    Emphasis,
    Code,
    /// A link to a URL.
    Link(String),
}

impl Mark {
    /// Whether it is within a line.
    pub(super) fn is_inline(&self) -> bool {
        matches!(self, Self::Strong | Self::Emphasis | Self::Code | Self::Link(_))
    }
}
