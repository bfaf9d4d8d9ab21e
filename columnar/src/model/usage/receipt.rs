//! The receipt of a cell.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value as Json, json};

use super::{CacheDiagnosis, Finish, UnixTime, Usage};

/// The model, tokens and time of one cell, over all attempts. A receipt is stored with the value.
///
/// A receipt prints as one line of JSON, and is parsed from such a line.
///
/// ```
/// use columnar::usage::Receipt;
///
/// let text = r#"{"model":"openai/gpt-5.4-mini","calls":1,"attempts":1,"input":120,"output":8,"ms":640}"#;
/// let receipt: Receipt = text.parse()?;
/// assert_eq!((receipt.usage.input, receipt.usage.cache_read), (120, 0));
/// assert_eq!(receipt.to_string().parse(), Ok(receipt));
/// # Ok::<(), columnar::usage::ParseReceiptError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The name of the model that was called last. Tokens of an earlier model, which failed, are priced as tokens of
    /// this one.
    pub model: Option<Arc<str>>,
    /// The tokens of the calls that reported tokens.
    pub usage: Usage,
    /// The number of calls.
    pub calls: u32,
    /// The number of calls that reported no usage: these calls broke off, were cancelled or failed. Refused calls are
    /// free and do not count.
    pub unreported: u32,
    /// The number of attempts.
    pub attempts: u32,
    /// The time from the beginning of the first attempt to the end of the last, in milliseconds.
    pub ms: u64,
    /// The time from the moment at which a run took up the cell until the first call began, in milliseconds: the call
    /// waited for a limit, a rate, or a first reply that fills the provider's cache. 0 in receipts of earlier versions.
    pub waited: u64,
    /// The times of the calls, and the reasons of failures, if there was more than one call. Empty in receipts of earlier versions.
    pub call_times: Vec<CallTime>,
    /// The time at which the last call began, by the wall clock. `None` in receipts of earlier versions.
    pub at: Option<UnixTime>,
    /// The end of the last reply. `None` if no reply ended, and in receipts of earlier versions.
    pub finish: Option<Finish>,
    /// The provider's id of the last reply.
    pub id: Option<Arc<str>>,
    /// The thoughts of the last reply, if the prompt [keeps](crate::Prompt::keep_thoughts) thoughts.
    pub thoughts: Option<Arc<str>>,
    /// The provider's own reason for a miss of its cache in the last call, where it sends one.
    pub diagnosis: Option<CacheDiagnosis>,
    /// The answer of a cell whose value came [from outside](crate::compute::external); `None` for a computed cell.
    pub answer: Option<Answer>,
    /// Whether the last reply came by a [batch](crate::guide::batches), whose tokens cost less.
    pub batch: bool,
}

/// The answer that is the value of a cell.
///
/// ```
/// use columnar::usage::Receipt;
///
/// let text = r#"{"calls":0,"attempts":0,"ms":0,"answer":{"at":1795803000000,"proposed":"Restart it."}}"#;
/// let receipt: Receipt = text.parse()?;
/// let answer = receipt.answer.expect("it came from outside");
/// assert!(!answer.is_proposal);
/// assert_eq!(answer.edited.as_deref(), Some("Restart it."));
/// # Ok::<(), columnar::usage::ParseReceiptError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// The time of the answer, by the wall clock.
    pub at: UnixTime,
    /// Whether the value is what the column [proposed](crate::compute::External::default).
    pub is_proposal: bool,
    /// The proposal in place of which another value was given; `None` without a proposal, or if it was accepted.
    pub edited: Option<Arc<str>>,
}

impl Answer {
    /// The answer with a value, in place of a proposal or not.
    pub(crate) fn new(value: &str, proposal: Option<&str>) -> Self {
        let edited = proposal.filter(|proposal| *proposal != value).map(Arc::from);
        Self { at: UnixTime::now(), is_proposal: proposal.is_some() && edited.is_none(), edited }
    }

    fn to_json(&self) -> Json {
        object([
            ("at", Some(self.at.as_millis().into())),
            ("accepted", self.is_proposal.then(|| true.into())),
            ("proposed", self.edited.as_deref().map(Json::from)),
        ])
    }

    fn parse(json: &Json) -> Result<Self, ParseReceiptError> {
        let entries = json.as_object().ok_or(ParseReceiptError)?;
        let is_proposal = entries.get("accepted") == Some(&Json::Bool(true));
        let at = UnixTime::from_millis(count(entries, "at")?);
        Ok(Self { at, is_proposal, edited: text(entries, "proposed")? })
    }
}

/// The time of one call among several of a cell, and the reason why another call followed.
///
/// ```
/// use columnar::usage::Receipt;
///
/// let text = r#"{"calls":2,"attempts":2,"ms":1250,"call_times":[[0,200,"429"],[700,550]]}"#;
/// let receipt: Receipt = text.parse()?;
/// let [first, second] = &receipt.call_times[..] else { panic!("two calls") };
/// assert_eq!((second.after - first.ms, first.error.as_deref()), (500, Some("429")));
/// # Ok::<(), columnar::usage::ParseReceiptError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallTime {
    /// The time from the beginning of the first call to the beginning of this one, in milliseconds.
    pub after: u64,
    /// The time from the beginning of the call to its end, in milliseconds.
    pub ms: u64,
    /// The class of the error if the attempt of the call failed, in the words of `error.type` in a span: an HTTP status,
    /// `timeout`, `overloaded`, a kind of [`std::io::Error`] and others. Never a text of the error.
    pub error: Option<Arc<str>>,
}

impl Receipt {
    /// The time that the cell took.
    pub fn duration(&self) -> Duration {
        Duration::from_millis(self.ms)
    }
}

/// The error of a text that is not a [`Receipt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a receipt of a cell")]
pub struct ParseReceiptError;

impl Receipt {
    /// The members of the stored form.
    pub(super) fn members(&self) -> [(&'static str, Option<Json>); 19] {
        let Self { model, usage, calls, unreported, attempts, ms, waited, call_times, .. } = self;
        let Self { at, finish, id, thoughts, diagnosis, answer, batch, .. } = self;
        let times = call_times.iter().map(|CallTime { after, ms, error }| match error.as_deref() {
            Some(error) => json!([after, ms, error]),
            None => json!([after, ms]),
        });
        [
            ("model", model.as_deref().map(Json::from)),
            ("calls", Some(json!(calls))),
            ("attempts", Some(json!(attempts))),
            // Stored receipts have this name, from before the field was renamed.
            ("untold", positive((*unreported).into())),
            ("input", positive(usage.input)),
            ("output", positive(usage.output)),
            ("cache_read", positive(usage.cache_read)),
            ("cache_write", positive(usage.cache_write)),
            ("cache_write_long", positive(usage.cache_write_long)),
            ("ms", Some(json!(ms))),
            ("waited", positive(*waited)),
            ("call_times", (!call_times.is_empty()).then(|| times.collect())),
            ("at", at.map(|at| at.as_millis().into())),
            ("finish", finish.as_ref().map(|finish| finish.to_string().into())),
            ("id", id.as_deref().map(Json::from)),
            ("thoughts", thoughts.as_deref().map(Json::from)),
            ("diagnosis", diagnosis.as_ref().map(json_of)),
            ("answer", answer.as_ref().map(Answer::to_json)),
            ("batch", batch.then_some(Json::Bool(true))),
        ]
    }

    /// Parses the members of the stored form. Unknown members are ignored, because a later version may write more.
    pub(super) fn parse(entries: &Map<String, Json>) -> Result<Self, ParseReceiptError> {
        Ok(Self {
            model: text(entries, "model")?,
            usage: Usage {
                input: count(entries, "input")?,
                output: count(entries, "output")?,
                cache_read: count(entries, "cache_read")?,
                cache_write: count(entries, "cache_write")?,
                cache_write_long: count(entries, "cache_write_long")?,
            },
            calls: count(entries, "calls")?,
            unreported: count(entries, "untold")?,
            attempts: count(entries, "attempts")?,
            ms: count(entries, "ms")?,
            waited: count(entries, "waited")?,
            call_times: entries.get("call_times").map_or(Ok(Vec::new()), call_times)?,
            at: entries
                .contains_key("at")
                .then(|| count(entries, "at"))
                .transpose()?
                .map(UnixTime::from_millis),
            finish: text(entries, "finish")?.map(|word| Finish::from_word(&word)),
            id: text(entries, "id")?,
            thoughts: text(entries, "thoughts")?,
            diagnosis: entries.get("diagnosis").map(diagnosis).transpose()?,
            answer: entries.get("answer").map(Answer::parse).transpose()?,
            batch: entries.get("batch").and_then(Json::as_bool).unwrap_or_default(),
        })
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        object(self.members()).fmt(f)
    }
}

impl FromStr for Receipt {
    type Err = ParseReceiptError;

    /// Parses a receipt. Unknown members are ignored, because a later version may write more.
    fn from_str(json: &str) -> Result<Self, ParseReceiptError> {
        let json: Json = serde_json::from_str(json).map_err(|_| ParseReceiptError)?;
        Self::parse(json.as_object().ok_or(ParseReceiptError)?)
    }
}

fn call_times(json: &Json) -> Result<Vec<CallTime>, ParseReceiptError> {
    let times = json.as_array().ok_or(ParseReceiptError)?.iter();
    let times = times.map(|time| {
        // A later version may write more.
        let [after, ms, more @ ..] = &time.as_array()?[..] else { return None };
        let error = more.first().and_then(Json::as_str).map(Arc::from);
        Some(CallTime { after: after.as_u64()?, ms: ms.as_u64()?, error })
    });
    times.collect::<Option<_>>().ok_or(ParseReceiptError)
}

fn json_of(CacheDiagnosis { reason, tokens }: &CacheDiagnosis) -> Json {
    object([("reason", Some((**reason).into())), ("tokens", tokens.map(Json::from))])
}

fn diagnosis(json: &Json) -> Result<CacheDiagnosis, ParseReceiptError> {
    let entries = json.as_object().ok_or(ParseReceiptError)?;
    let reason = text(entries, "reason")?.ok_or(ParseReceiptError)?;
    let tokens = entries.contains_key("tokens").then(|| count(entries, "tokens")).transpose()?;
    Ok(CacheDiagnosis { reason, tokens })
}

/// A count that is not zero: a missing count is read as zero, so zeros take no space in the store.
fn positive(count: u64) -> Option<Json> {
    (count > 0).then(|| count.into())
}

fn text(entries: &Map<String, Json>, name: &str) -> Result<Option<Arc<str>>, ParseReceiptError> {
    let text = entries.get(name).map(|text| text.as_str().map(Arc::from).ok_or(ParseReceiptError));
    text.transpose()
}

fn count<N: TryFrom<u64>>(entries: &Map<String, Json>, name: &str) -> Result<N, ParseReceiptError> {
    let count = entries.get(name).map_or(Some(0), Json::as_u64);
    count.and_then(|count| count.try_into().ok()).ok_or(ParseReceiptError)
}

/// An object of the members that have a value.
pub(crate) fn object<'n>(members: impl IntoIterator<Item = (&'n str, Option<Json>)>) -> Json {
    members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_receipt_equals_the_printed_one() {
        let full = Receipt {
            model: Some("a/\"b\"\n".into()),
            usage: Usage::new(u64::MAX, 2).cached(3, 4).kept_long(1),
            calls: 5,
            unreported: 1,
            attempts: 6,
            ms: 7,
            waited: 9,
            call_times: vec![
                CallTime { after: 0, ms: 3, error: Some("a\"b".into()) },
                CallTime { after: 4, ms: 2, error: None },
            ],
            at: Some(UnixTime::from_millis(8)),
            finish: Some(Finish::Stop),
            id: Some("é".into()),
            thoughts: Some("Hm.\n".into()),
            diagnosis: Some(CacheDiagnosis { reason: "tools_changed".into(), tokens: Some(8) }),
            answer: Some(Answer {
                at: UnixTime::from_millis(8),
                is_proposal: true,
                edited: Some("\"".into()),
            }),
            batch: true,
        };
        let ends = [
            Finish::Length,
            Finish::ContextWindow,
            Finish::ContextCut,
            Finish::Refused,
            Finish::Other("é\"".to_owned()),
        ];
        let known = CacheDiagnosis { reason: "unavailable".into(), tokens: None };
        let unmeasured = Receipt { diagnosis: Some(known), ..Receipt::default() };
        let ends = ends.map(|finish| Receipt { finish: Some(finish), ..Receipt::default() });
        for receipt in [Receipt::default(), full, unmeasured].into_iter().chain(ends) {
            let text = receipt.to_string();
            assert!(!text.contains('\n'), "{text}");
            assert_eq!(text.parse(), Ok(receipt), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_not_a_receipt_is_refused() {
        for text in [
            "",
            "[]",
            "{",
            r#"{"calls":-1}"#,
            r#"{"model":3}"#,
            r#"{"attempts":4294967296}"#,
            r#"{"diagnosis":3}"#,
            r#"{"at":"now"}"#,
            r#"{"call_times":[[1]]}"#,
            r#"{"call_times":[[1,-2]]}"#,
        ] {
            assert_eq!(text.parse::<Receipt>(), Err(ParseReceiptError), "{text}");
        }
        assert_eq!(r#"{"later":[1]}"#.parse(), Ok(Receipt::default()));
    }
}
