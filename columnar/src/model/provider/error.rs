use std::io;
use std::time::{Duration, SystemTime};

use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use super::redaction::{Sent, SentForm, ServerWords};
use super::words::{STATUSES, is_quota};
use crate::declare::error::chain;
use crate::model::errors::PauseRequest;
use crate::model::registry::PROVIDERS;
use crate::model::{MediaError, Overloaded, Refused};

/// The longest pause that a header may ask for.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// The codes of the system for too many open files: of the program, and of the system.
const NO_FILES: &[i32] = if cfg!(unix) { &[24, 23] } else { &[10024] };

pub(super) const BAD_ADDRESS: &str = "the base URL is not valid";
pub(super) const GARBLED: &str = "the reply could not be understood";

/// An error of a call to a provider, without any key, address or long part of the conversation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProviderError {
    /// The name of the model does not begin with a known provider, or has nothing after the provider.
    #[error("`{name}` is not a provider: name a model as `provider/model`, with one of {known}", known = known_providers())]
    UnknownProvider {
        /// The beginning of the name.
        name: String,
    },
    /// The key of the provider is not set.
    #[error(
        "`{model}` needs a key: set the environment variable {variable}, or give one with `Provider::key`"
    )]
    MissingKey {
        /// The name of the model.
        model: String,
        /// The variable to set.
        variable: &'static str,
        /// The marker of a call that fails in the same way at the next attempt.
        source: Refused,
    },
    /// The model does not take a setting of the prompt.
    #[error(
        "`{model}` does not take the setting `{setting}` ({reason}): drop it, or leave out what a model does not take with `.lenient()`"
    )]
    Setting {
        /// The name of the model.
        model: String,
        /// The setting, such as `temperature`.
        setting: &'static str,
        /// The reason.
        reason: String,
        /// The marker of a call that fails in the same way at the next attempt.
        source: Refused,
    },
    /// The request is longer than the largest window of the model.
    #[error(
        "the context of `{model}` has about {tokens} tokens, and its window at most {most}: raise it with `Provider::max_context`, or shorten the context, for example with `budget`"
    )]
    Window {
        /// The name of the model.
        model: String,
        /// The tokens of the request, by an estimate.
        tokens: usize,
        /// The most tokens of the window.
        most: u32,
        /// The marker of a call that fails in the same way at the next attempt.
        source: Refused,
    },
    /// The server answered with success, but not with a stream of events.
    #[error(
        "`{model}` answered with {kind} in place of a stream: is the address that of its interface, and does the server stream?"
    )]
    NoStream {
        /// The name of the model.
        model: String,
        /// The kind of the answer: `a page` or `a whole reply`.
        kind: &'static str,
        /// The marker of a call that fails in the same way at the next attempt.
        source: Refused,
    },
    /// The request has an attachment that the model does not take.
    #[error(transparent)]
    Media(#[from] MediaError),
    /// No HTTPS connection can be made from this system.
    #[error("HTTPS is not available: are the root certificates installed?")]
    NoClient,
    /// The server refused the request, or could not answer it.
    #[error("`{model}` answered with HTTP status {status}{}", ServerWords(message))]
    Status {
        /// The name of the model.
        model: String,
        /// The HTTP status, for example 401 for a wrong key.
        status: u16,
        /// The provider's message: words for the kind of error, and a sentence of at most 500 characters. Empty if
        /// there is no message.
        ///
        /// `…` replaces what must not be in a log. That is any part of the key and of the secrets in the address, also
        /// encoded, and any text that has 20 characters or more in common with the conversation: the system text, the
        /// messages or the stop sequences. Single words and names such as `max_completion_tokens` are shown, unless
        /// such a word mixes letters and digits as a token does. So are the schema with its name, the name of the
        /// model and the sentences that this library adds.
        message: String,
        /// The marker of a request that is refused again if repeated, as with most statuses below 500.
        source: Option<Refused>,
    },
    /// The provider takes no more calls for now: there were too many from this program, or from all users of the
    /// provider.
    #[error("`{model}` takes no more calls for now (HTTP status {status}){pause}{}", ServerWords(message), pause = PauseRequest(source.retry_after))]
    Overloaded {
        /// The name of the model.
        model: String,
        /// 429 for too many calls, 503 or 529 for a provider that is busy.
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
        /// The error that [`Adaptive`](crate::model::Adaptive) and [`retry`](crate::compute::Policy::retry) react to:
        /// with fewer calls at once, each call gets a file.
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
    /// The reply is too long: the text, an event, or the whole reply; see
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
    /// The error of a reply that is not complete, for this reason.
    pub(super) fn failed(model: &str, cause: impl Into<String>) -> Self {
        Self::Failed { model: model.to_owned(), cause: cause.into() }
    }

    /// The error of a connection that failed, or was never made. The client's own text, which quotes the address, is
    /// not used.
    pub(super) fn connection(model: &str, error: &reqwest::Error, sent: &Sent) -> Self {
        let cause = chain(error).find_map(|cause| cause.downcast_ref::<io::Error>());
        if cause.and_then(io::Error::raw_os_error).is_some_and(|code| NO_FILES.contains(&code)) {
            return Self::TooManyOpenFiles { model: model.to_owned(), source: Overloaded::default() };
        }
        let cause = match cause {
            // The words of the system.
            Some(cause) if cause.raw_os_error().is_some() => cause.to_string(),
            // A library may quote the server, for example the names in the certificate.
            Some(cause) => {
                let shown = sent.shown(SentForm::Sentence, &cause.to_string());
                shown.unwrap_or_else(|| cause.kind().to_string())
            }
            None => if error.is_builder() { BAD_ADDRESS } else { "the connection failed" }.to_owned(),
        };
        Self::failed(model, cause)
    }

    /// An error in the middle of a reply.
    pub(super) fn fault(model: &str, body: &Json, sent: &Sent) -> Self {
        let message = sent.redacted_error(body);
        match ProviderRefusal::status_of(body) {
            Some(status) => {
                ProviderRefusal::new(status, &HeaderMap::new(), body, sent).into_error(model.to_owned())
            }
            None => Self::failed(model, format!("the server reported an error{}", ServerWords(&message))),
        }
    }

    /// The error of a body that is no stream of events, with a status of success.
    pub(super) fn whole(model: &str, kind: &'static str, body: &[u8], sent: &Sent) -> Self {
        match serde_json::from_slice::<Json>(body) {
            Ok(body) if body.get("error").is_some_and(|error| !error.is_null()) => {
                Self::fault(model, &body, sent)
            }
            _ => Self::NoStream { model: model.to_owned(), kind, source: Refused },
        }
    }
}

/// A provider's refusal.
pub(super) struct ProviderRefusal {
    status: u16,
    retry_after: Option<Duration>,
    /// Whether the server says that the same request would be refused again.
    is_final: bool,
    message: String,
}

impl ProviderRefusal {
    pub(super) fn new(status: u16, headers: &HeaderMap, body: &Json, sent: &Sent) -> Self {
        let [should_retry, milliseconds, pause] = ["x-should-retry", "retry-after-ms", "retry-after"]
            .map(|name| headers.get(name).and_then(|value| value.to_str().ok()));
        let is_final = words(body).any(is_quota) || should_retry == Some("false");
        let retry_after = milliseconds
            .and_then(|pause| seconds(pause, 1e-3))
            .or_else(|| retry_after(pause?, SystemTime::now()))
            .or_else(|| retry_delay(body));
        Self { status, retry_after, is_final, message: sent.redacted_error(body) }
    }

    /// The status of an error that was sent after a status of success.
    fn status_of(body: &Json) -> Option<u16> {
        let code = error(body).get("code").and_then(Json::as_u64).and_then(|code| u16::try_from(code).ok());
        let by_word = words(body).find_map(|word| {
            let known = STATUSES.iter().find(|(_, words)| words.contains(&word));
            known.map(|(status, _)| *status).or_else(|| is_quota(word).then_some(429))
        });
        code.filter(|code| (400..600).contains(code)).or(by_word)
    }

    pub(super) fn into_error(self, model: String) -> ProviderError {
        let Self { status, retry_after, is_final, message } = self;
        match status {
            _ if is_final => ProviderError::Status { model, status, message, source: Some(Refused) },
            429 | 503 | 529 => {
                ProviderError::Overloaded { model, status, message, source: Overloaded { retry_after } }
            }
            // These statuses may be temporary; all others mean that the request or the key is wrong.
            408 | 409 | 425 | 500.. => ProviderError::Status { model, status, message, source: None },
            _ => ProviderError::Status { model, status, message, source: Some(Refused) },
        }
    }
}

/// The error in a body. Gemini sends a list with one error.
fn error(body: &Json) -> &Json {
    let body = body.get(0).unwrap_or(body);
    body.get("error").filter(|error| error.is_object()).unwrap_or(body)
}

/// The words for the kind of an error.
fn words(body: &Json) -> impl Iterator<Item = &str> {
    ["code", "type", "status"].into_iter().filter_map(move |name| error(body).get(name)?.as_str())
}

/// The pause that Gemini asks for, as in `34.07s`.
fn retry_delay(body: &Json) -> Option<Duration> {
    let details = error(body).get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?, 1.0)
}

/// The time of a number of units, each of this many seconds.
fn seconds(number: &str, unit: f64) -> Option<Duration> {
    let seconds = number.trim().parse::<f64>().ok()? * unit;
    (seconds >= 0.0)
        .then(|| Duration::try_from_secs_f64(seconds).map_or(LONGEST_WAIT, |pause| pause.min(LONGEST_WAIT)))
}

/// Parses a `retry-after` header: a number of seconds, or a date.
fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    // RFC 9110, section 10.2.3, allows both forms; some providers send fractions.
    if let Some(pause) = seconds(header, 1.0) {
        return Some(pause);
    }
    // A past date requests no pause.
    let pause = httpdate::parse_http_date(header.trim()).ok()?.duration_since(now).unwrap_or_default();
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
            ("18446744073709551616", Some(86_400)),
            ("1.5", Some(1)),
            ("-1", None),
            ("soon", None),
            ("", None),
        ] {
            let pause = retry_after(header, now).map(|pause| pause.as_secs());
            assert_eq!(pause, seconds, "{header}");
        }
    }
}
