use std::io;
use std::time::{Duration, SystemTime};

use serde_json::Value as Json;

use super::redaction::{Form, Sent, Suffix};
use crate::error::chain;
use crate::model::errors::PauseRequest;
use crate::model::{Overloaded, Refused};
use crate::registry::PROVIDERS;

/// The longest pause that a header may ask for.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// The codes of the system for too many open files: of the program, and of the system.
const NO_FILES: &[i32] = if cfg!(unix) { &[24, 23] } else { &[10024] };

pub(super) const BAD_ADDRESS: &str = "the base URL is not valid";
pub(super) const GARBLED: &str = "the reply could not be understood";

/// An error of a call to a provider. It contains no key, no address and no long part of the conversation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The name of the model does not begin with a known provider, or has nothing after it.
    #[error("`{name}` is not a provider: name a model as `provider/model`, with one of {known}", known = known_providers())]
    UnknownProvider {
        /// The beginning of the name.
        name: String,
    },
    /// The key of the provider is not set.
    #[error("`{model}` needs a key: set the environment variable {variable}")]
    MissingKey {
        /// The name of the model.
        model: String,
        /// The variable to set.
        variable: &'static str,
        /// The marker of a call that fails in the same way at the next attempt.
        source: Refused,
    },
    /// No HTTPS connection can be made from this system.
    #[error("HTTPS is not available: are the root certificates installed?")]
    NoClient,
    /// The server refused the request, or could not answer it.
    #[error("`{model}` answered with HTTP status {status}{}", Suffix(message))]
    Status {
        /// The name of the model.
        model: String,
        /// The HTTP status, for example 401 for a wrong key.
        status: u16,
        /// The provider's message: its words for the kind of error, and a sentence of at most 500 characters. Empty if there
        /// is none.
        ///
        /// `…` replaces what must not be in a log. That is any part of the key and of the secrets in the address, also
        /// encoded, and what has 20 characters or more in common with the conversation: the system text, the messages or
        /// the stop sequences. Single words and names such as `max_completion_tokens` are shown, unless they mix letters and
        /// digits as a token does. So are the schema with its name, the name of the model and the sentences that this
        /// library adds.
        message: String,
        /// The marker of a request that is refused again if it is repeated, as with most statuses below 500.
        source: Option<Refused>,
    },
    /// The provider takes no more calls for now: there were too many from this program, or from all its users.
    #[error("`{model}` takes no more calls for now (HTTP status {status}){pause}{}", Suffix(message), pause = PauseRequest(source.retry_after))]
    Overloaded {
        /// The name of the model.
        model: String,
        /// 429 for too many calls or a quota that is used up, 503 or 529 for a provider that is busy.
        status: u16,
        /// The provider's message, redacted as in [`Status`](Self::Status).
        message: String,
        /// The error that [`Adaptive`](crate::model::Adaptive) and [`retry`](crate::compute::Policy::retry) react to.
        source: Overloaded,
    },
    /// This program has no file left for a connection, so the call was not sent.
    #[error(
        "no connection to `{model}`: this program has too many open files; raise their limit, as with `ulimit -n`, or lower the number of calls with `Adaptive::max_concurrency`"
    )]
    TooManyOpenFiles {
        /// The name of the model.
        model: String,
        /// The error that [`Adaptive`](crate::model::Adaptive) and [`retry`](crate::compute::Policy::retry) react to: with
        /// fewer calls at once there are files for each.
        source: Overloaded,
    },
    /// The provider sent no data for too long.
    #[error("`{model}` {} {limit:?}", if *begun { "sent nothing for" } else { "did not begin to answer within" })]
    TimedOut {
        /// The name of the model.
        model: String,
        /// The limit.
        limit: Duration,
        /// Whether the reply had begun.
        begun: bool,
    },
    /// The reply is too long: its text, one of its events, or all of it; see
    /// [`text_limit`](crate::model::Provider::text_limit).
    #[error("`{model}` answered with more than {limit} bytes")]
    TooLong {
        /// The name of the model.
        model: String,
        /// The limit that was exceeded.
        limit: usize,
    },
    /// The request could not be sent, or the reply broke off.
    #[error("no complete reply from `{model}`: {cause}")]
    Failed {
        /// The name of the model.
        model: String,
        /// The cause, without any content that was sent or received.
        cause: String,
    },
}

fn known_providers() -> String {
    PROVIDERS.iter().map(|provider| provider.name).collect::<Vec<_>>().join(", ")
}

impl ProviderError {
    /// No complete reply, for this reason.
    pub(super) fn failed(model: &str, cause: impl Into<String>) -> Self {
        Self::Failed { model: model.to_owned(), cause: cause.into() }
    }

    /// A connection that failed, or was never made. The client's own text quotes the address.
    pub(super) fn connection(model: &str, error: &reqwest::Error, sent: &Sent) -> Self {
        let cause = chain(error).find_map(|cause| cause.downcast_ref::<io::Error>());
        if cause.and_then(io::Error::raw_os_error).is_some_and(|code| NO_FILES.contains(&code)) {
            return Self::TooManyOpenFiles { model: model.to_owned(), source: Overloaded::default() };
        }
        let cause = match cause {
            // The words of the system.
            Some(cause) if cause.raw_os_error().is_some() => cause.to_string(),
            // A library may quote the server, for example the names in its certificate.
            Some(cause) => {
                let shown = sent.shown(Form::Sentence, &cause.to_string());
                shown.unwrap_or_else(|| cause.kind().to_string())
            }
            None => if error.is_builder() { BAD_ADDRESS } else { "the connection failed" }.to_owned(),
        };
        Self::failed(model, cause)
    }

    /// A refusal: its status, its `retry-after` header and its redacted message.
    pub(super) fn status(model: &str, status: u16, pause: Option<&str>, message: String) -> Self {
        let retry_after = pause.and_then(|header| retry_after(header, SystemTime::now()));
        Refusal { status, retry_after, message }.into_error(model.to_owned())
    }

    /// An error in the middle of a reply.
    pub(super) fn fault(model: &str, body: &Json, sent: &Sent) -> Self {
        let message = sent.redacted_error(body);
        let kind = ["/error/type", "/type"].iter().find_map(|path| body.pointer(path)?.as_str());
        // Anthropic may send these errors after a status of 200, and documents them as these statuses.
        let status = match kind {
            Some("rate_limit_error") => 429,
            Some("overloaded_error") => 529,
            _ => return Self::failed(model, format!("the server reported an error{}", Suffix(&message))),
        };
        Refusal { status, retry_after: None, message }.into_error(model.to_owned())
    }
}

/// A provider's refusal.
struct Refusal {
    status: u16,
    retry_after: Option<Duration>,
    message: String,
}

impl Refusal {
    fn into_error(self, model: String) -> ProviderError {
        let Self { status, retry_after, message } = self;
        match status {
            429 | 503 | 529 => {
                ProviderError::Overloaded { model, status, message, source: Overloaded { retry_after } }
            }
            // These may be temporary; all others mean that the request or the key is wrong.
            408 | 409 | 425 | 500.. => ProviderError::Status { model, status, message, source: None },
            _ => ProviderError::Status { model, status, message, source: Some(Refused) },
        }
    }
}

/// Parses a `retry-after` header: a number of seconds, or a date.
fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    // RFC 9110, section 10.2.3, allows both forms.
    let pause = if let Ok(seconds) = header.parse() {
        Duration::from_secs(seconds)
    } else {
        // A past date requests no pause.
        httpdate::parse_http_date(header).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(pause.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_in_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        for (header, seconds) in [
            ("0", Some(0)),
            (" 20 ", Some(20)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:50:07 GMT", Some(30)),
            ("Sunday, 06-Nov-94 08:50:07 GMT", Some(30)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0)),
            ("Mon, 06 Nov 2000 08:00:00 GMT", Some(86_400)),
            ("18446744073709551615", Some(86_400)),
            ("18446744073709551616", None),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(retry_after(header, now), seconds.map(Duration::from_secs), "{header}");
        }
    }
}
