use std::time::{Duration, SystemTime};
use std::{error::Error, io, iter};

use super::PROVIDERS;
use crate::model::Overloaded;
use crate::model::overloaded::Asks;

/// Nobody waits for longer than this, and a header can say anything.
const LONGEST_WAIT: Duration = Duration::from_hours(24);

/// Why there is no reply. Holds no key, no address and nothing of the conversation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GenaiError {
    /// The name of the model does not begin with a provider (this is its beginning), or ends there.
    #[error("`{0}` is no provider: a model is named `provider/model`, with one of {known}", known = PROVIDERS.join(", "))]
    UnknownProvider(String),
    /// The provider wants a key, and none is set.
    #[error("`{model}` needs a key: set the environment variable {variable}")]
    MissingKey {
        /// The name of the model.
        model: String,
        /// The variable to set.
        variable: &'static str,
    },
    /// No HTTPS connection can be made from this system.
    #[error("HTTPS is not available: are the root certificates installed?")]
    NoClient,
    /// The server refused the request.
    #[error("`{model}` answered with HTTP status {status}")]
    Status {
        /// The name of the model.
        model: String,
        /// For example 401 for a wrong key.
        status: u16,
    },
    /// The provider takes no more calls for now: too many came from here, or from everywhere.
    #[error("`{model}` takes no more calls for now (HTTP status {status}){asks}", asks = Asks(source.retry_after))]
    Overloaded {
        /// The name of the model.
        model: String,
        /// 429 for too many calls or a quota that is used up, 503 or 529 for a provider that is busy.
        status: u16,
        /// What [`Adaptive`](crate::model::Adaptive) and [`retry`](crate::compute::Policy::retry) go by.
        source: Overloaded,
    },
    /// The request could not be sent, or the reply broke off.
    #[error("no complete reply from `{model}`: {cause}")]
    Failed {
        /// The name of the model.
        model: String,
        /// What went wrong, without anything that was sent or received.
        cause: String,
    },
}

impl GenaiError {
    /// The client's own text may quote the request, the reply and the address.
    pub(super) fn new(model: &str, error: &::genai::Error) -> Self {
        let model = model.to_owned();
        let cause: &(dyn Error + 'static) = match error {
            ::genai::Error::WebStream { error, .. } => error.as_ref(),
            error => error,
        };
        if let Some(refusal) = cause.downcast_ref().and_then(Refusal::of) {
            return refusal.told_of(model);
        }
        let cause = iter::successors(Some(cause), |&cause| cause.source())
            .find_map(|cause| cause.downcast_ref::<io::Error>())
            .map_or_else(|| summary(error).to_owned(), ToString::to_string);
        Self::Failed { model, cause }
    }
}

/// What a provider says instead of an answer.
struct Refusal {
    status: u16,
    retry_after: Option<Duration>,
}

impl Refusal {
    fn of(error: &::genai::Error) -> Option<Self> {
        if let ::genai::Error::ChatResponse { body, .. } = error {
            // Anthropic may think better of it after a status of 200, and documents these as the same.
            let status = match body.pointer("/error/type")?.as_str()? {
                "rate_limit_error" => 429,
                "overloaded_error" => 529,
                _ => return None,
            };
            return Some(Self { status, retry_after: None });
        }
        let header = error.headers().and_then(|headers| headers.get("retry-after"));
        let header = header.and_then(|header| header.to_str().ok());
        Some(Self {
            status: error.status()?.as_u16(),
            retry_after: header.and_then(|header| retry_after(header, SystemTime::now())),
        })
    }

    fn told_of(self, model: String) -> GenaiError {
        let Self { status, retry_after } = self;
        match status {
            429 | 503 | 529 => GenaiError::Overloaded { model, status, source: Overloaded { retry_after } },
            _ => GenaiError::Status { model, status },
        }
    }
}

/// The header of that name: so many seconds, or a date.
fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    let pause = if let Ok(seconds) = header.parse() {
        Duration::from_secs(seconds)
    } else {
        // A date that has passed asks for nothing.
        httpdate::parse_http_date(header).ok()?.duration_since(now).unwrap_or_default()
    };
    Some(pause.min(LONGEST_WAIT))
}

fn summary(error: &::genai::Error) -> &'static str {
    match error {
        ::genai::Error::WebStream { .. } => "the connection failed",
        ::genai::Error::ChatResponse { .. } => "the server reported an error",
        // Nothing else that is internal to the client depends on what it is given.
        ::genai::Error::Internal(_) => "the base URL is not valid",
        _ => "the reply could not be understood",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_is_given_in_seconds_or_as_a_date() {
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
