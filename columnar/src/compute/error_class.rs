//! The class of an error, for receipts and spans: the text of an error may quote the conversation.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::io;

use tokio::time::error::Elapsed;

#[cfg(feature = "typed")]
use super::SchemaMismatch;
use super::TimedOut;
use crate::declare::error::chain;
#[cfg(feature = "providers")]
use crate::model::ProviderError;
#[cfg(feature = "engine")]
use crate::model::Refused;
use crate::model::usage::SpendLimitError;
use crate::model::{Finish, MediaError, Overloaded, ReplyError, Truncated};

/// The class of all other errors, by the conventions.
pub(crate) const OTHER: &str = "_OTHER";

/// The class of the first known error in the chain of causes.
pub(crate) fn class(error: &(dyn StdError + 'static)) -> Cow<'static, str> {
    chain(error).find_map(known).unwrap_or(OTHER.into())
}

/// Whether the same computation may succeed later, as after an overload, a timeout or a lost connection.
#[cfg(feature = "engine")]
pub(crate) fn is_temporary(error: &(dyn StdError + 'static)) -> bool {
    let is_lost = chain(error).any(<dyn StdError>::is::<io::Error>);
    Refused::of(error).is_none()
        && (Overloaded::of(error).is_some()
            || is_lost
            || matches!(&*class(error), "timeout" | "broke_off" | "408" | "500" | "502" | "503" | "504"))
}

fn known(error: &(dyn StdError + 'static)) -> Option<Cow<'static, str>> {
    match error.downcast_ref() {
        Some(ReplyError::BrokeOff) => return Some("broke_off".into()),
        Some(ReplyError::Empty) => return Some("empty".into()),
        Some(ReplyError::NoRoom { .. }) => return Some("context_window".into()),
        Some(ReplyError::Ended { finish: reason, .. }) => return Some(finish(reason).into()),
        None => {}
    }
    #[cfg(feature = "providers")]
    match error.downcast_ref() {
        // In the chain of causes this error is before its source, an `Overloaded` without a status.
        Some(ProviderError::Status { status, .. } | ProviderError::Overloaded { status, .. }) => {
            return Some(status.to_string().into());
        }
        Some(ProviderError::TimedOut { .. }) => return Some("timeout".into()),
        _ => {}
    }
    let classes = [
        (error.is::<MediaError>(), "unsupported_media"),
        (error.is::<Truncated>(), finish(&Finish::Length)),
        #[cfg(feature = "typed")]
        (error.is::<SchemaMismatch>(), "invalid"),
        (error.is::<Overloaded>(), "overloaded"),
        (error.is::<SpendLimitError>(), "limit"),
        (error.is::<Elapsed>() || error.is::<TimedOut>(), "timeout"),
    ];
    let class = classes.iter().find(|(is_such, _)| *is_such).map(|(_, class)| Cow::Borrowed(*class));
    // The kind alone: the error may have any text.
    class.or_else(|| Some(format!("{:?}", error.downcast_ref::<io::Error>()?.kind()).into()))
}

/// The finish reason in the words of the conventions. The provider's own word could be anything.
pub(crate) fn finish(finish: &Finish) -> &'static str {
    match finish {
        Finish::Stop => "stop",
        Finish::Length | Finish::ContextWindow => "length",
        Finish::Refused => "content_filter",
        Finish::ContextCut | Finish::Other(_) => "other",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::declare::error::BoxError;
    use crate::run::Error;

    fn at(source: BoxError) -> Error {
        Error::Compute { column: "topics".parse().expect("a name"), step: 0, attempt: 1, source }
    }

    #[test]
    fn the_first_known_cause_is_the_class_of_an_error() {
        let refused = io::Error::new(io::ErrorKind::ConnectionRefused, "a secret");
        assert_eq!(class(&at(refused.into())), "ConnectionRefused");
        assert_eq!(class(&at(ReplyError::ended(Finish::Other("a secret".to_owned())).into())), "other");
        assert_eq!(class(&at("a secret".into())), "_OTHER");
        assert_eq!(class(&at(TimedOut::Attempt(Duration::from_secs(3)).into())), "timeout");
        assert_eq!(class(&at(Overloaded { retry_after: None }.into())), "overloaded");
        assert_eq!(class(&at(SpendLimitError::NoPrice { model: "x".to_owned() }.into())), "limit");
        assert_eq!(class(&Error::Running), "_OTHER");
    }

    #[cfg(feature = "typed")]
    #[test]
    fn a_reply_that_is_no_value_of_the_type_is_invalid() {
        let mismatch = crate::compute::read::<u8>("a secret").expect_err("it is no number");
        assert_eq!(class(&at(mismatch.into())), "invalid");
    }

    #[cfg(feature = "providers")]
    #[test]
    fn the_status_of_an_answer_is_its_class() {
        let model = "openai/x".to_owned();
        let source = Overloaded { retry_after: None };
        assert_eq!(
            class(&ProviderError::Overloaded {
                model: model.clone(),
                status: 429,
                message: String::new(),
                source
            }),
            "429"
        );
        assert_eq!(
            class(&ProviderError::Status {
                model: model.clone(),
                status: 401,
                message: String::new(),
                source: None
            }),
            "401"
        );
        let limit = Duration::from_secs(3);
        assert_eq!(class(&ProviderError::TimedOut { model, limit, begun: true }), "timeout");
    }
}
