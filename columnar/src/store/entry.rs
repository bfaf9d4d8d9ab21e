//! What is stored of a cell.

use crate::history::Value;

/// What is stored of a cell: its value, and what it took to compute it.
///
/// ```
/// use columnar::store::Entry;
///
/// let said = Entry::from("Since when?").with_receipt(r#"{"calls":1,"attempts":1,"ms":640}"#);
/// assert_eq!(said.value.as_deref(), Some("Since when?"));
///
/// let empty = Entry::SKIPPED.with_receipt(r#"{"calls":3,"attempts":3,"ms":9000}"#);
/// assert!(empty.is_skipped() && empty.receipt.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value. Without one, the cell is empty for good: the column could not be computed and [may be
    /// skipped](crate::compute::Policy::or_skip), or all it reads is empty.
    pub value: Option<Value>,
    /// A [`Receipt`](crate::usage::Receipt) as text, which stores keep and do not look into. What has no value
    /// may have one: attempts that failed were made. What comes from outside has none.
    pub receipt: Option<Value>,
}

impl Entry {
    /// Empty for good, at no cost.
    pub const SKIPPED: Self = Self { value: None, receipt: None };

    /// The same with this receipt.
    #[must_use]
    pub fn with_receipt(self, receipt: impl Into<Value>) -> Self {
        Self { receipt: Some(receipt.into()), ..self }
    }

    /// Whether the cell is empty for good.
    pub const fn is_skipped(&self) -> bool {
        self.value.is_none()
    }

    /// How many bytes it has.
    pub(crate) fn len(&self) -> usize {
        [&self.value, &self.receipt].into_iter().flatten().map(|text| text.len()).sum()
    }

    /// Whether this is what would be stored of the other one, which may know nothing of a receipt.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.value == other.value && (other.receipt.is_none() || self.receipt == other.receipt)
    }
}

/// A value without a receipt.
impl<T: Into<Value>> From<T> for Entry {
    fn from(value: T) -> Self {
        Self { value: Some(value.into()), receipt: None }
    }
}
