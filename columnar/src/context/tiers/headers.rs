//! The texts around the documents of a tier in a request: the titles before them, and the reply after them.

use super::tier::Tier;
use crate::context::documents::{Documents, Kind};
use crate::history::Value;

/// The reply to documents. It is constant, so that a cached prefix stays valid.
const ACKNOWLEDGED: &str = "Ok.";

/// The reply to pages.
const ACKNOWLEDGED_PAGES: &str = "Ok, I've reviewed the URL content.";

/// The title of the legend and the symbols in L0.
const STRUCTURE: &str = "# Repository Structure";

/// The title of other symbols.
const MORE_STRUCTURE: &str = "# Repository Structure (continued)";

/// The place of a section in a request. They are ordered as there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SectionPlace {
    /// The end of the system text.
    System,
    L1,
    L2,
    L3,
    Tree,
    Pages,
    /// The files that changed lately, after the symbols that did.
    Working,
}

impl SectionPlace {
    /// All places, in order.
    pub(crate) const ALL: [Self; 7] =
        [Self::System, Self::L1, Self::L2, Self::L3, Self::Tree, Self::Pages, Self::Working];

    /// The tier of the section.
    pub(crate) const fn tier(self) -> Tier {
        match self {
            Self::System => Tier::L0,
            Self::L1 => Tier::L1,
            Self::L2 => Tier::L2,
            Self::L3 => Tier::L3,
            Self::Tree | Self::Pages | Self::Working => Tier::Active,
        }
    }

    /// The documents of a kind in the section, under the title.
    pub(crate) const fn titles(self) -> &'static [(Kind, &'static str)] {
        match self {
            Self::System => &[(Kind::Symbol, STRUCTURE), (Kind::File, "# Reference Files (Stable)")],
            Self::L1 => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Reference Files")],
            Self::L2 => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Reference Files (L2)")],
            Self::L3 => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Reference Files (L3)")],
            Self::Tree => &[],
            Self::Pages => &[(Kind::Url, "# URL Context")],
            Self::Working => &[(Kind::Symbol, MORE_STRUCTURE), (Kind::File, "# Working Files")],
        }
    }

    /// The text without a path that begins the section.
    pub(crate) fn alone(self, documents: &Documents) -> Option<(&'static str, &Value)> {
        match self {
            Self::System => Some((STRUCTURE, documents.legend()?)),
            Self::Tree => Some(("# Repository Files", documents.tree()?)),
            _ => None,
        }
    }

    /// The reply that follows the section.
    pub(crate) fn acknowledgement(self) -> &'static str {
        if self == Self::Pages { ACKNOWLEDGED_PAGES } else { ACKNOWLEDGED }
    }
}
