//! The stored entry of a cell.

use crate::history::Value;

/// The stored entry of a cell: its value, and the receipt of its computation.
///
/// ```
/// use columnar::store::Entry;
///
/// let answer = Entry::from("Since when?").with_receipt(r#"{"calls":1,"attempts":1,"ms":640}"#);
/// assert_eq!(answer.value.as_deref(), Some("Since when?"));
///
/// let empty = Entry::SKIPPED.with_receipt(r#"{"calls":3,"attempts":3,"ms":9000}"#);
/// assert!(empty.is_skipped() && empty.receipt.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The value; `None` for a cell that is skipped for good: its computation failed and [may be
    /// skipped](crate::compute::Policy::or_skip), or all that it reads is skipped.
    pub value: Option<Value>,
    /// A [`Receipt`](crate::usage::Receipt) as text, which stores do not parse. A skipped cell may have one,
    /// since failed attempts cost something, too. Values of sources have none.
    pub receipt: Option<Value>,
}

impl Entry {
    /// The entry of a skipped cell without a receipt.
    pub const SKIPPED: Self = Self { value: None, receipt: None };

    /// The same entry with this receipt.
    #[must_use]
    pub fn with_receipt(self, receipt: impl Into<Value>) -> Self {
        Self { receipt: Some(receipt.into()), ..self }
    }

    /// Whether the cell is skipped.
    pub const fn is_skipped(&self) -> bool {
        self.value.is_none()
    }

    /// The bytes of value and receipt together.
    pub(crate) fn len(&self) -> usize {
        [&self.value, &self.receipt].into_iter().flatten().map(|text| text.len()).sum()
    }

    /// Whether the other entry says the same: a receipt that it lacks is no difference.
    pub(crate) fn holds(&self, other: &Self) -> bool {
        self.value == other.value && (other.receipt.is_none() || self.receipt == other.receipt)
    }
}

/// An entry of a value without a receipt.
impl<T: Into<Value>> From<T> for Entry {
    fn from(value: T) -> Self {
        Self { value: Some(value.into()), receipt: None }
    }
}
