//! The errors of updates. They name documents and positions, never texts.

use super::key::{Key, KeyError};
use super::urls::MOST_URLS;
use crate::declare::error::{Printable, first};

/// The faults after this many are counted, and not listed.
const LISTED: usize = 20;

/// All faults of an update. Nothing of it was applied or stored.
///
/// ```
/// use columnar::documents::Update;
///
/// let update = Update::new().file("a.rs", "").file("a.rs", "").file("../b.rs", "");
/// let error = update.to_text().expect_err("there are two faults");
/// assert_eq!(error.faults().len(), 2);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", first(faults, LISTED, "\n", "\n"))]
pub struct UpdateError {
    faults: Vec<UpdateFault>,
}

impl UpdateError {
    /// An error, unless there are no faults.
    pub(super) fn check(faults: Vec<UpdateFault>) -> Result<(), Self> {
        if faults.is_empty() { Ok(()) } else { Err(Self { faults }) }
    }

    pub(super) fn one(fault: UpdateFault) -> Self {
        Self { faults: vec![fault] }
    }

    /// The faults, in the order of the update; never empty.
    pub fn faults(&self) -> &[UpdateFault] {
        &self.faults
    }
}

/// One fault of an update.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UpdateFault {
    /// A path or a URL that names no document.
    #[error("document {number} of the update: {error}")]
    Key {
        /// The number of the document in the update, counted from 1 in the order of the calls.
        number: usize,
        /// The reason.
        error: KeyError,
    },
    /// A document that is put or removed twice.
    #[error("`{}` is in the update twice: put or remove it once", Printable(.0))]
    Repeated(Key),
    /// A second file tree.
    #[error("the update has two file trees: put one")]
    RepeatedTree,
    /// A second legend.
    #[error("the update has two legends: put one")]
    RepeatedLegend,
    /// A cluster that belongs to no symbols.
    #[error("{}: call `.cluster` after `.symbol`", cluster_place(*number))]
    Cluster {
        /// The number of the document before the cluster, counted from 1; 0 if there is none.
        number: usize,
    },
    /// More pages than a step shows.
    #[error("the update has {0} URLs, and a step shows at most {MOST_URLS}: put the others at later steps")]
    Urls(usize),
    /// The removal of a document that is not in the set.
    #[error("`{}` cannot be removed, because it is not there: remove only documents that were put before", Printable(.0))]
    Missing(Key),
    /// The removal of a page.
    #[error("`{}` needs no removal: a page is shown only at the step that puts it", Printable(.0))]
    Page(Key),
    /// Attachments beside the text of an update, which no context would show.
    #[error(
        "an update of documents has no attachments: push the attachments with the value of another source"
    )]
    Attachments,
    /// A text that is not the text of an update.
    #[error(
        "the text is damaged at byte {at}: {fault}; restore it from a copy, or write it with `Update::to_text`"
    )]
    Text {
        /// The position of the line with the fault.
        at: usize,
        /// The fault.
        fault: TextFault,
    },
}

/// The place of a cluster that belongs to no symbols.
fn cluster_place(number: usize) -> String {
    match number {
        0 => "the update begins with a cluster".to_owned(),
        number => format!("document {number} of the update has a cluster and is no symbol"),
    }
}

/// A fault in the text of an update.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextFault {
    /// A line without the title of a section that may follow, perhaps of a newer version of the library.
    #[error("no section of an update that may follow here has this title, in this version of the library")]
    Title,
    /// A line that is no part of the section, or an empty line that is missing or too many.
    #[error("the line is no part of its section")]
    Line,
    /// A fence that is missing, not closed, or not as long as that text needs.
    #[error("a fence is missing here, is not closed, or is not of the length that its text needs")]
    Fence,
    /// Documents that are not in the order, or one that is there twice.
    #[error("the documents are out of order, or one is there twice")]
    Order,
    /// A path that is invalid, or not normalised.
    #[error("the path or URL is invalid")]
    Key,
    /// More pages than a step shows.
    #[error("there are more than {MOST_URLS} pages")]
    Urls,
}
