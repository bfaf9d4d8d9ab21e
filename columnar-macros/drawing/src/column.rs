//! The content of a drawing: columns, and the views that they read.

/// A column as a box.
#[derive(Clone, Debug)]
pub struct DrawnColumn {
    /// The name.
    pub name: String,
    /// The word beside the name: `source`, or a pattern such as `reducer`.
    pub kind: String,
    /// The level, which is later than the levels of all columns that lines come from.
    pub level: usize,
    /// The views in the order of a request.
    pub reads: Vec<DrawnRead>,
}

/// A view, as a row in the box of its column.
#[derive(Clone, Debug)]
pub struct DrawnRead {
    /// The view in the language of `flow!`.
    pub text: String,
    /// The index of the column that a line comes from; `None` for a view of earlier steps, for which nothing waits.
    pub from: Option<usize>,
    /// The form of the line.
    pub line: DrawnLine,
}

/// The form of the line from a column to a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DrawnLine {
    /// All values, as a solid line.
    All,
    /// A window of the values, as a dashed line.
    Window,
    /// Documents in tiers, as a dotted line.
    Tiers,
    /// A conversation that the request continues, as a line of dashes and dots.
    Thread,
}

impl DrawnLine {
    pub(crate) const ALL: [Self; 4] = [Self::All, Self::Window, Self::Tiers, Self::Thread];

    pub(crate) fn dashes(self) -> &'static str {
        match self {
            Self::All => "",
            Self::Window => " stroke-dasharray=\"4 3\"",
            Self::Tiers => " stroke-dasharray=\"1 3\"",
            Self::Thread => " stroke-dasharray=\"6 3 1 3\"",
        }
    }

    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::All => "`──` all values",
            Self::Window => "`╌╌` some values",
            Self::Tiers => "`···` documents in tiers",
            Self::Thread => "`╌·╌` a conversation that continues",
        }
    }
}
