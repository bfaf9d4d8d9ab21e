//! Which model answers, for people to read.

use columnar::BoxError;
use columnar::model::{self, Offline};

/// The model that the environment names.
///
/// # Errors
///
/// What is missing to use it, before anything else happens.
pub(crate) fn model() -> Result<String, BoxError> {
    let model = model::default()?;
    model.ready()?;
    Ok(match model.name() {
        Offline::NAME => format!(
            "{} (extracts phrases and sentences from what it is given; name a real one in {})",
            Offline::NAME,
            model::VARIABLE
        ),
        name => name.to_owned(),
    })
}
