//! The receipt that a store has for a cell.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde_json::Value as Json;

use super::receipt::object;
use super::{AttachmentRef, Fingerprint, ParseReceiptError, Receipt};
use crate::history::SkipReason;

/// The stored receipt of a cell: the calls, and how the cell came about.
///
/// The text is a [`Receipt`] with up to three further members: `skipped`, `made`, the fingerprint, and `attachments`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellReceipt {
    /// `None` if the cell called no model.
    pub(crate) calls: Option<Arc<Receipt>>,
    /// The reason for a skipped cell. `None` for a cell with a value, and for cells of earlier versions.
    pub(crate) skipped: Option<SkipReason>,
    /// What computed the value. `None` for a cell that is skipped, was imported, or was stored by an earlier version.
    pub(crate) made: Option<Fingerprint>,
    /// The attachments of the value.
    pub(crate) attachments: Vec<AttachmentRef>,
}

/// The members that tell nothing about calls.
const NOTES: [&str; 3] = ["skipped", "made", "attachments"];

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
        let Self { calls, skipped, made, attachments } = self;
        // The receipt of most cells without a model, for which an object would take longer than the cell.
        if let (None, None, Some(made), []) = (calls, skipped, made, &attachments[..]) {
            return write!(f, "{{\"made\":\"{made}\"}}");
        }
        let calls = calls.iter().flat_map(|calls| calls.members());
        let named = attachments.iter().map(AttachmentRef::to_json);
        let notes = [
            ("skipped", skipped.as_ref().map(|reason| Json::from(reason.text()))),
            ("made", made.map(|made| made.to_string().into())),
            ("attachments", (!attachments.is_empty()).then(|| named.collect())),
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
        // A value without one of its attachments is another value, so these must be readable.
        let attachments = AttachmentRef::parse_all(entries).ok_or(ParseReceiptError)?;
        let has_calls = entries.is_empty() || entries.keys().any(|name| !NOTES.contains(&name.as_str()));
        let calls = has_calls.then(|| Receipt::parse(entries).map(Arc::new)).transpose()?;
        Ok(Self { calls, skipped, made, attachments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::{Attachment, Text};

    fn attachments() -> Vec<AttachmentRef> {
        let [note, other] =
            ["Launch on Monday.", "Later."].map(|text| Attachment::new(text).expect("a text"));
        AttachmentRef::of(&Text::new("Read.").with(note.alt("a \"note\"")).with(other).into())
    }

    #[test]
    fn a_parsed_receipt_equals_the_printed_one() {
        let made = Fingerprint::new(Some("Answer."), None, "user");
        for calls in [None, Some(Arc::new(Receipt { calls: 2, ..Receipt::default() }))] {
            for skipped in [None, Some(SkipReason::When), Some(SkipReason::Failed("no \"answer\"".into()))] {
                for made in [None, Some(made)] {
                    for attachments in [Vec::new(), attachments()] {
                        let calls = calls.clone();
                        let skipped = skipped.clone();
                        let receipt = CellReceipt { calls, skipped, made, attachments };
                        if !receipt.is_empty() {
                            assert_eq!(receipt.to_string().parse(), Ok(receipt));
                        }
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

    #[test]
    fn an_attachment_is_named_by_digest_type_and_length_and_by_nothing_else() {
        let receipt = CellReceipt { attachments: attachments(), ..CellReceipt::default() };
        let digest = "6bb8d6b3d4a8d4d8b1f1ba9c3a3a6d9f9f4d0a9d1a5e0e0f3c5e8d7b6a594837";
        let named = format!(r#"{{"attachments":[{{"sha256":"{digest}","type":"text/plain","bytes":17}}]}}"#);
        assert_eq!(receipt.to_string().matches("sha256").count(), 2);
        let parsed: CellReceipt = named.parse().expect("a receipt");
        assert_eq!((parsed.calls, parsed.attachments[0].digest.as_str()), (None, digest));
        for (part, other) in
            [("\"bytes\":17", "\"bytes\":-1"), ("6bb8", "../.."), ("sha256", "sha1"), ("[{", "{")]
        {
            let changed = named.replacen(part, other, 1);
            assert_eq!(changed.parse::<CellReceipt>(), Err(ParseReceiptError), "{changed}");
        }
    }
}
