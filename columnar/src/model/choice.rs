//! The choice of a column's model, and models by name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::{env, fmt};

#[cfg(feature = "providers")]
use super::BatchQueue;
use super::{Adaptive, Model, Offline};
use crate::declare::error::BoxError;

/// The model of a column or a flow. Names are looked up when a call is made, and all calls by one name share one model.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Choice {
    /// The model of the flow, for a column; the model that the environment names, for a flow: see [`from_env`].
    #[default]
    Inherited,
    /// The model of this name; see [`by_name`].
    Named(Arc<str>),
    /// The model itself.
    Instance(Arc<dyn Model>),
    /// The first of these, with the others as backups.
    WithBackups(Arc<[Self]>),
    /// The queue of a run by batches, which is the choice of the flow there. The queue takes the requests of prompts
    /// without a model, and of prompts that name a model of its provider.
    #[cfg(feature = "providers")]
    #[doc(hidden)]
    Queue(Arc<BatchQueue>),
}

impl Choice {
    /// Resolves the choice of a column in a flow with the choice `flow`.
    ///
    /// # Errors
    ///
    /// [`ModelError`] with an [`UnknownModel`], or with the reason why the model cannot be used, such as a missing key.
    ///
    /// ```
    /// use columnar::model::Choice;
    ///
    /// let flow = Choice::Named("offline".into());
    /// assert_eq!(Choice::Inherited.resolve(&flow)?.name(), "offline");
    /// # Ok::<(), columnar::Error>(())
    /// ```
    pub fn resolve(&self, flow: &Self) -> Result<Arc<dyn Model>, ModelError> {
        match self {
            Self::Instance(model) => Ok(Arc::clone(model)),
            Self::Named(name) => flow.queued(name).map_or_else(|| shared(name), Ok),
            #[cfg(feature = "providers")]
            Self::Queue(queue) => Ok(queue.model()),
            Self::WithBackups(choices) => choices.first().unwrap_or(&Self::Inherited).resolve(flow),
            Self::Inherited if flow.is_inherited() => from_env(),
            Self::Inherited => flow.resolve(&Self::Inherited),
        }
    }

    /// Resolves the choice with its backups, which are in order.
    ///
    /// # Errors
    ///
    /// The errors of [`resolve`](Self::resolve).
    pub fn resolve_all(&self, flow: &Self) -> Result<Vec<Arc<dyn Model>>, ModelError> {
        match self {
            Self::WithBackups(choices) => choices.iter().map(|choice| choice.resolve(flow)).collect(),
            Self::Inherited if !flow.is_inherited() => flow.resolve_all(&Self::Inherited),
            _ => Ok(vec![self.resolve(flow)?]),
        }
    }

    /// The same choice with a backup behind all earlier ones.
    ///
    /// ```
    /// use columnar::model::Choice;
    ///
    /// let choice = Choice::from("offline").or("openai/gpt-5.4-mini".into());
    /// assert_eq!(choice.resolve(&Choice::Inherited)?.name(), "offline");
    /// # Ok::<(), columnar::Error>(())
    /// ```
    #[must_use]
    pub fn or(self, backup: Self) -> Self {
        let choices: Vec<Self> = match self {
            Self::WithBackups(choices) => choices.iter().cloned().chain([backup]).collect(),
            first => vec![first, backup],
        };
        Self::WithBackups(choices.into())
    }

    /// The name of the model, without the address, also if it cannot be called.
    pub(crate) fn model_name(&self, flow: &Self) -> Option<Arc<str>> {
        self.model_names(flow).into_iter().next()
    }

    /// The names of the model and its backups.
    pub(crate) fn model_names(&self, flow: &Self) -> Vec<Arc<str>> {
        match self {
            Self::Named(name) => name.split('@').next().map(Arc::from).into_iter().collect(),
            Self::WithBackups(choices) => {
                choices.iter().flat_map(|choice| choice.model_names(flow)).collect()
            }
            Self::Inherited if !flow.is_inherited() => flow.model_names(&Self::Inherited),
            _ => self.resolve(flow).ok().map(|model| model.name().into()).into_iter().collect(),
        }
    }

    /// Whether a call of this choice waits in the queue of a run by batches.
    pub(crate) fn is_queued(&self, flow: &Self) -> bool {
        match self {
            Self::Inherited => flow.is_queue(),
            Self::Named(name) => flow.queued(name).is_some(),
            Self::WithBackups(choices) => choices.first().is_some_and(|first| first.is_queued(flow)),
            _ => false,
        }
    }

    fn is_inherited(&self) -> bool {
        matches!(self, Self::Inherited)
    }

    fn is_queue(&self) -> bool {
        match self {
            #[cfg(feature = "providers")]
            Self::Queue(_) => true,
            Self::Inherited | Self::Named(_) | Self::Instance(_) | Self::WithBackups(_) => false,
        }
    }

    /// The model of this name, if its requests wait in the queue of a run by batches.
    #[cfg_attr(not(feature = "providers"), expect(unused_variables, reason = "there is no queue"))]
    fn queued(&self, name: &str) -> Option<Arc<dyn Model>> {
        match self {
            #[cfg(feature = "providers")]
            Self::Queue(queue) => queue.model_named(name),
            Self::Inherited | Self::Named(_) | Self::Instance(_) | Self::WithBackups(_) => None,
        }
    }
}

impl<M: Model> From<M> for Choice {
    fn from(model: M) -> Self {
        Self::Instance(Arc::new(model))
    }
}

/// The conversions of names. A parameter of a flow is a reference in its compute steps, so references are names, too.
macro_rules! named {
    ($($Name:ty),*) => {$(
        impl From<$Name> for Choice {
            fn from(name: $Name) -> Self {
                Self::Named(AsRef::<str>::as_ref(&name).into())
            }
        }
    )*};
}

named!(&str, &&str, String, &String, Arc<str>, &Arc<str>);

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Inherited => f.write_str("Inherited"),
            // A name may hold an address, and an address a password.
            Self::Named(_) => f.write_str("Named"),
            Self::Instance(model) => f.debug_tuple("Instance").field(&model.name()).finish(),
            Self::WithBackups(choices) => f.debug_tuple("WithBackups").field(choices).finish(),
            #[cfg(feature = "providers")]
            Self::Queue(queue) => f.debug_tuple("Queue").field(queue).finish(),
        }
    }
}

/// The environment variable that names the model of all prompts without one.
pub const VARIABLE: &str = "COLUMNAR_MODEL";

/// The environment variable with the base URL for models that are chosen by name, such as the URL of a local server
/// with a provider's API. Needs the feature `providers`.
#[cfg(feature = "providers")]
pub const BASE_URL: &str = "COLUMNAR_BASE_URL";

/// The model that [`VARIABLE`] names, or [`Offline`] if the variable is empty or not set.
///
/// The environment is read once, at the first call. All callers get the same model, and share the limit of an
/// [`Adaptive`] one.
///
/// # Errors
///
/// [`ModelError`] with an [`UnknownModel`], or with the reason why the model cannot be used, such as a missing key.
pub fn from_env() -> Result<Arc<dyn Model>, ModelError> {
    static NAME: OnceLock<String> = OnceLock::new();
    let name = NAME.get_or_init(|| {
        // A name that is not UTF-8 is kept, and does not silently select the offline model.
        let name = env::var_os(VARIABLE).filter(|name| !name.is_empty());
        name.map_or_else(|| Offline::NAME.into(), |name| name.to_string_lossy().into_owned())
    });
    shared(name)
}

/// The model of a name, the same one for all callers, who thus share its limit.
pub(super) fn shared(name: &str) -> Result<Arc<dyn Model>, ModelError> {
    static MODELS: OnceLock<Mutex<HashMap<String, Arc<dyn Model>>>> = OnceLock::new();
    // The lock is held until the model is in the map, so two first callers do not get two limits.
    let mut models = MODELS.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(model) = models.get(name) {
        return Ok(Arc::clone(model));
    }
    let model = by_name(name)?;
    models.insert(name.to_owned(), Arc::clone(&model));
    Ok(model)
}

/// The model of a name: `offline`, or with the feature `providers` a provider and its model, such as
/// `openai/gpt-5.4-mini`, wrapped in [`Adaptive`]. Each call makes a model with a separate limit; clones of the `Arc`
/// share the limit.
///
/// # Errors
///
/// [`ModelError`] with an [`UnknownModel`], or with the reason why the model cannot be used, such as a missing key.
///
/// ```
/// let model = columnar::model::by_name("offline")?;
/// assert_eq!(model.name(), "offline");
///
/// let error = columnar::model::by_name("nonesuch").err().expect("there is no such model");
/// assert!(error.to_string().starts_with("no model is named `nonesuch`; possible are `offline`"));
/// # Ok::<(), columnar::Error>(())
/// ```
pub fn by_name(name: &str) -> Result<Arc<dyn Model>, ModelError> {
    if name == Offline::NAME {
        // The offline model refuses no call, so it needs no limit that adapts.
        return Ok(Arc::new(Offline::new()));
    }
    Ok(Arc::new(provider(name)?))
}

#[cfg(feature = "providers")]
fn provider(name: &str) -> Result<Adaptive, ModelError> {
    use super::{Provider, ProviderError};
    let model = match Provider::new(name) {
        Ok(model) => model,
        Err(ProviderError::UnknownProvider { .. }) => return Err(ModelError(UnknownModel::new(name).into())),
        Err(error) => return Err(ModelError(error.into())),
    };
    Ok(Adaptive::new(match env::var(BASE_URL) {
        // An address in the name belongs to this model, the variable is for all models.
        Ok(url) if !url.is_empty() && !model.has_address() => model.base_url(&url),
        _ => model,
    }))
}

#[cfg(not(feature = "providers"))]
fn provider(name: &str) -> Result<Adaptive, ModelError> {
    Err(ModelError(UnknownModel::new(name).into()))
}

/// The error of a model that cannot be used: the name is [unknown](UnknownModel), the key is missing, or the address
/// is wrong. With `?`, this error becomes an [`Error`](crate::Error::UnusableModel).
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct ModelError(BoxError);

impl ModelError {
    /// The reason.
    pub(crate) fn into_source(self) -> BoxError {
        self.0
    }
}

/// The error of a name that no model has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no model is named `{name}`; possible are `{offline}`, {}", others(), offline = Offline::NAME)]
pub struct UnknownModel {
    name: String,
}

impl UnknownModel {
    pub(super) fn new(name: &str) -> Self {
        // The address after the `@` may hold a password.
        let name = name.split('@').next().unwrap_or_default();
        // A name from the environment may be long, or contain control characters.
        Self { name: name.chars().take(80).collect::<String>().escape_debug().to_string() }
    }

    /// The first 80 characters of the unknown name, escaped, without an address.
    pub fn name(&self) -> &str {
        &self.name
    }
}

#[cfg(feature = "providers")]
fn others() -> String {
    let names = crate::model::registry::PROVIDERS.iter().map(|provider| format!("`{}/MODEL`", provider.name));
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(not(feature = "providers"))]
fn others() -> &'static str {
    "and with the feature `providers` also `openai/MODEL`, `anthropic/MODEL` and others"
}
