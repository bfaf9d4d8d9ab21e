//! The reason why a cell is skipped.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The stored text of a failure, before the message.
const FAILED: &str = "failed: ";

/// The stored text of a refusal, before the reason.
const DECLINED: &str = "declined: ";

/// The reason why a cell is skipped, which is stored with the cell. Shown by [`CellState::Skipped`](crate::CellState),
/// [`Event::Skipped`](crate::Event::Skipped) and [`Row::skip_reason`](crate::flow::Row::skip_reason).
///
/// As JSON, a reason is a text: `every`, `when`, `step`, `inputs`, or `failed: ` and the message, or `declined: ` and the
/// reason.
///
/// ```
/// use columnar::prelude::*;
/// use columnar::testing::script;
/// use columnar::{CellState, SkipReason};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column digest(user.window(2)) = script(["", "Tired."]).every(2);
///     column mood(user.latest)      = (async |_: Context| Err::<String, _>("no answer")).or_skip();
/// };
/// chat.user.push("Long day.").await?;
/// chat.run().await?;
/// assert_eq!(chat.digest.cell(0), CellState::Skipped(Some(SkipReason::Every)));
/// let CellState::Skipped(Some(reason)) = chat.mood.cell(0) else { panic!("it failed") };
/// assert_eq!(reason.to_string(), "the computation failed: no answer");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkipReason {
    /// The column [leaves out](crate::compute::Policy::every) the step.
    Every,
    /// The [condition](crate::compute::Policy::when) of the column does not hold.
    When,
    /// The compute step returned [`Reply::skip`](crate::Reply::skip).
    Step,
    /// The cell has nothing to read: all its inputs are skipped, or no new value passes the filters.
    Inputs,
    /// The cell could not be computed, and the column has the policy [`or_skip`](crate::compute::Policy::or_skip). With the
    /// message of [`Event::Failed`](crate::Event::Failed), of which the first 300 bytes are kept.
    Failed(Arc<str>),
    /// The answer was [declined](crate::flow::Handle::decline), and the column has the policy
    /// [`or_skip`](crate::compute::Policy::or_skip). With the reason, of which the first 300 bytes are kept.
    Declined(Arc<str>),
}

impl SkipReason {
    /// The reason for a cell with an error of this message, of which at most `bytes` are kept.
    pub(crate) fn failed(message: &str, bytes: usize) -> Self {
        Self::Failed(cut(message, bytes))
    }

    /// The reason for a declined cell, cut to at most `bytes`.
    pub(crate) fn declined(reason: &str, bytes: usize) -> Self {
        Self::Declined(cut(reason, bytes))
    }

    /// The stored text.
    pub(crate) fn text(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Every => "every",
            Self::When => "when",
            Self::Step => "step",
            Self::Inputs => "inputs",
            Self::Failed(message) => return Cow::Owned(format!("{FAILED}{message}")),
            Self::Declined(reason) => return Cow::Owned(format!("{DECLINED}{reason}")),
        })
    }

    /// The reason of a stored text; `None` for a reason of a later version.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text {
            "every" => Some(Self::Every),
            "when" => Some(Self::When),
            "step" => Some(Self::Step),
            "inputs" => Some(Self::Inputs),
            _ => {
                let failed = text.strip_prefix(FAILED).map(|message| Self::Failed(message.into()));
                failed.or_else(|| Some(Self::Declined(text.strip_prefix(DECLINED)?.into())))
            }
        }
    }
}

/// The first bytes of a text, up to the end of a character.
fn cut(text: &str, bytes: usize) -> Arc<str> {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default().into()
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every => f.write_str("the column leaves out this step"),
            Self::When => f.write_str("the condition of the column does not hold"),
            Self::Step => f.write_str("the compute step skipped the cell"),
            Self::Inputs => f.write_str("the cell has nothing to read"),
            Self::Failed(message) => write!(f, "the computation failed: {message}"),
            Self::Declined(reason) => write!(f, "the answer was declined: {reason}"),
        }
    }
}

impl Serialize for SkipReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parsed_reason_equals_the_written_one() {
        let reasons = [
            SkipReason::Every,
            SkipReason::When,
            SkipReason::Step,
            SkipReason::Inputs,
            SkipReason::failed("\"é\n", 9),
            SkipReason::declined("failed: no", 99),
        ];
        for reason in reasons {
            let json = serde_json::to_value(&reason).expect("a reason is JSON");
            assert_eq!(json.as_str().and_then(SkipReason::parse), Some(reason), "{json}");
        }
        assert_eq!(SkipReason::parse("later"), None);
    }

    #[test]
    fn a_long_message_is_cut_between_two_characters() {
        assert_eq!(SkipReason::failed("né né", 2), SkipReason::Failed("n".into()));
        assert_eq!(SkipReason::failed("né né", 3), SkipReason::Failed("né".into()));
    }
}
