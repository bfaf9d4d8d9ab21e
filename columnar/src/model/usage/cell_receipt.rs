//! The receipt that a store has for a cell.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value as Json;

use super::receipt::object;
use super::{Fingerprint, ParseReceiptError, Receipt};
use crate::history::SkipReason;

/// The stored receipt of a cell: the calls, and how the cell came about.
///
/// The text is a [`Receipt`] with up to two further members: `skipped`, and `made`, the fingerprint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellReceipt {
    /// `None` if the cell called no model.
    pub(crate) calls: Option<Arc<Receipt>>,
    /// The reason for a skipped cell. `None` for a cell with a value, and for cells of earlier versions.
    pub(crate) skipped: Option<SkipReason>,
    /// What computed the value. `None` for a cell that is skipped, was imported, or was stored by an earlier version.
    pub(crate) made: Option<Fingerprint>,
}

impl CellReceipt {
    /// The receipt of a cell that called no model and is skipped.
    pub(crate) fn skipped(reason: SkipReason) -> Self {
        Self { skipped: Some(reason), ..Self::default() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for CellReceipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, skipped, made } = self;
        // The receipt of most cells without a model, for which an object would take longer than the cell.
        if let (None, None, Some(made)) = (calls, skipped, made) {
            return write!(f, "{{\"made\":\"{made}\"}}");
        }
        let calls = calls.iter().flat_map(|calls| calls.members());
        let notes = [
            ("skipped", skipped.as_ref().map(|reason| Json::from(reason.text()))),
            ("made", made.map(|made| made.to_string().into())),
        ];
        object(calls.chain(notes)).fmt(f)
    }
}

impl FromStr for CellReceipt {
    type Err = ParseReceiptError;

    fn from_str(json: &str) -> Result<Self, ParseReceiptError> {
        // The receipt of most cells without a model again: opening a flow parses the receipts of all cells.
        let made = json.strip_prefix("{\"made\":\"").and_then(|rest| rest.strip_suffix("\"}"));
        if let Some(Ok(made)) = made.map(str::parse) {
            return Ok(Self { made: Some(made), ..Self::default() });
        }
        let json: Json = serde_json::from_str(json).map_err(|_| ParseReceiptError)?;
        let entries = json.as_object().ok_or(ParseReceiptError)?;
        // A later version may write other reasons and fingerprints.
        let skipped = entries.get("skipped").and_then(|reason| SkipReason::parse(reason.as_str()?));
        let made = entries.get("made").and_then(|made| made.as_str()?.parse().ok());
        let has_calls = entries.is_empty() || entries.keys().any(|name| name != "skipped" && name != "made");
        let calls = has_calls.then(|| Receipt::parse(entries).map(Arc::new)).transpose()?;
        Ok(Self { calls, skipped, made })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_receipt_equals_the_printed_one() {
        let made = Fingerprint::new(Some("Answer."), None, "user");
        for calls in [None, Some(Arc::new(Receipt { calls: 2, ..Receipt::default() }))] {
            for skipped in [None, Some(SkipReason::When), Some(SkipReason::Failed("no \"answer\"".into()))] {
                for made in [None, Some(made)] {
                    let receipt = CellReceipt { calls: calls.clone(), skipped: skipped.clone(), made };
                    if !receipt.is_empty() {
                        assert_eq!(receipt.to_string().parse(), Ok(receipt));
                    }
                }
            }
        }
    }

    #[test]
    fn texts_of_earlier_and_later_versions_are_read() {
        let earlier: CellReceipt = r#"{"calls":1,"ms":4}"#.parse().expect("a receipt");
        assert_eq!(
            (earlier.calls.map(|calls| calls.ms), earlier.skipped, earlier.made),
            (Some(4), None, None)
        );
        let later: CellReceipt = r#"{"skipped":"later","made":"v2"}"#.parse().expect("a receipt");
        assert!(later.is_empty());
        let both: CellReceipt = r#"{"calls":1,"skipped":"failed: x"}"#.parse().expect("a receipt");
        assert_eq!(both.to_string().parse::<Receipt>().map(|receipt| receipt.calls), Ok(1));
        assert_eq!("cheap".parse::<CellReceipt>(), Err(ParseReceiptError));
        assert_eq!("{}".parse::<CellReceipt>().map(|receipt| receipt.calls), Ok(Some(Arc::default())));
    }
}
