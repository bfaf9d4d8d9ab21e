//! Models by their names.

use std::collections::HashMap;
use std::env;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Adaptive, Model, Offline};
use crate::error::BoxError;

/// The environment variable that names the model of every prompt that is given none.
pub const VARIABLE: &str = "COLUMNAR_MODEL";

/// The environment variable that sends the calls of models chosen by name to another address, such as
/// a server on this machine that speaks a provider's language. Needs the feature `genai`.
#[cfg(feature = "genai")]
pub const BASE_URL: &str = "COLUMNAR_BASE_URL";

/// The model that [`VARIABLE`] names, or [`Offline`] if it is not set or empty.
///
/// The environment is read once, at the first call, and all who ask get the same model: where it is
/// [`Adaptive`](super::Adaptive), they have one limit.
///
/// # Errors
///
/// [`UnknownModel`], or what is missing to use the model, such as the variable for its key.
pub fn from_env() -> Result<Arc<dyn Model>, BoxError> {
    static NAME: OnceLock<String> = OnceLock::new();
    let name = NAME.get_or_init(|| {
        let name = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        name.map_or_else(|| Offline::NAME.into(), |name| name.to_string_lossy().into_owned())
    });
    shared(name)
}

/// The model of a name, the same one for all who ask, so that they have one limit.
pub(super) fn shared(name: &str) -> Result<Arc<dyn Model>, BoxError> {
    static MODELS: OnceLock<Mutex<HashMap<String, Arc<dyn Model>>>> = OnceLock::new();
    let mut models = MODELS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = models.get(name) {
        return Ok(Arc::clone(model));
    }
    let model = by_name(name)?;
    models.insert(name.to_owned(), Arc::clone(&model));
    Ok(model)
}

/// The model of a name: `offline`, or with the feature `genai` a provider and its model, such as
/// `openai/gpt-4o-mini`, wrapped in [`Adaptive`](super::Adaptive). Each call makes a model with a limit
/// of its own; clones of the `Arc` share it.
///
/// # Errors
///
/// [`UnknownModel`], or what is missing to use the model, such as the variable for its key.
///
/// ```
/// let model = columnar::model::by_name("offline")?;
/// assert_eq!(model.name(), "offline");
///
/// let error = columnar::model::by_name("nonesuch").err().expect("there is no such model");
/// assert!(error.to_string().starts_with("no model is named `nonesuch`; possible are `offline`"));
/// # Ok::<(), columnar::BoxError>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn Model>, BoxError> {
    if name == Offline::NAME {
        return Ok(Arc::new(Offline::new()));
    }
    Ok(Arc::new(provider(name)?))
}

#[cfg(feature = "genai")]
fn provider(name: &str) -> Result<Adaptive, BoxError> {
    use super::{Genai, GenaiError};
    let model = match Genai::new(name) {
        Ok(model) => model,
        Err(GenaiError::UnknownProvider(_)) => return Err(UnknownModel::new(name).into()),
        Err(error) => return Err(error.into()),
    };
    Ok(Adaptive::new(match env::var(BASE_URL) {
        Ok(url) if !url.is_empty() && !model.has_address() => model.with_base_url(&url),
        _ => model,
    }))
}

#[cfg(not(feature = "genai"))]
fn provider(name: &str) -> Result<Adaptive, BoxError> {
    Err(UnknownModel::new(name).into())
}

/// A name that no model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no model is named `{name}`; possible are {possible}")]
pub struct UnknownModel {
    name: String,
    possible: String,
}

impl UnknownModel {
    pub(super) fn new(name: &str) -> Self {
        #[cfg(feature = "genai")]
        let more = crate::registry::PROVIDERS
            .iter()
            .map(|provider| format!("`{}/MODEL`", provider.name))
            .collect::<Vec<_>>()
            .join(", ");
        #[cfg(not(feature = "genai"))]
        let more = "and with the feature `genai` also `openai/MODEL`, `anthropic/MODEL` and others";
        // Behind it stands an address, which may hold a password.
        let name = name.split('@').next().unwrap_or_default();
        let name = name.chars().take(80).collect::<String>().escape_debug().to_string();
        Self { name, possible: format!("`{}`, {more}", Offline::NAME) }
    }
}
