use std::{error::Error, io, iter};

use super::PROVIDERS;

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
        /// For example 401 for a wrong key, or 429 for too many requests.
        status: u16,
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
        if let Some(status) = cause.downcast_ref().and_then(::genai::Error::status) {
            let status = status.as_u16();
            return Self::Status { model, status };
        }
        let cause = iter::successors(Some(cause), |&cause| cause.source())
            .find_map(|cause| cause.downcast_ref::<io::Error>())
            .map_or_else(|| summary(error).to_owned(), ToString::to_string);
        Self::Failed { model, cause }
    }
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
