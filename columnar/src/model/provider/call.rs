//! A request in the terms that all formats share, and the helpers that write it down.

use serde_json::Value as Json;

use super::schema::to_send;
use crate::cache::{CachePolicy, Lifetime};
use crate::registry::ProviderFacts;
use crate::rendering::{Block, Rendering, Request};

/// A request to a model.
pub(super) struct Call<'r> {
    pub(super) provider: &'static ProviderFacts,
    /// The model as the provider spells it, with the ending for its effort.
    pub(super) model: &'r str,
    pub(super) base_url: &'r str,
    pub(super) system: Option<(&'r str, Option<Lifetime>)>,
    pub(super) blocks: Vec<Block>,
    /// The options of OpenAI for the cache marks, if it accepts them for this model.
    pub(super) cache_options: Option<Json>,
    pub(super) max_tokens: u32,
    pub(super) temperature: Option<f64>,
    pub(super) stop: Option<Json>,
    /// The name and the JSON Schema of the reply, in the dialect of the provider.
    pub(super) schema: Option<(&'r str, Json)>,
}

impl<'r> Call<'r> {
    /// The call of `model`, whose name with its provider is `name`.
    pub(super) fn new(
        provider: &'static ProviderFacts,
        name: &str,
        model: &'r str,
        base_url: &'r str,
        request: &'r Request,
    ) -> Self {
        let rendering = Rendering::of(request, CachePolicy::by_model(name));
        // A cache entry is found at the end of a block, so with marks each block is sent separately. Providers join
        // adjacent messages of equal role.
        let blocks = if rendering.is_marked() { rendering.blocks() } else { rendering.joined() };
        let options = rendering.prompt_cache_options();
        let schema = request.schema.as_ref().zip(provider.schema);
        Self {
            provider,
            model,
            base_url,
            system: rendering.system(),
            blocks,
            cache_options: options.filter(|_| provider.models_of == "openai"),
            max_tokens: request.max_tokens,
            temperature: request.temperature.map(round),
            stop: Some(&*request.stop).filter(|stop| !stop.is_empty()).map(Json::from),
            // A schema that the provider does not accept is left out. The instruction of a typed column has it as well,
            // so nothing is lost without it.
            schema: schema
                .and_then(|(schema, dialect)| Some((schema.name.as_str(), to_send(&schema.json, dialect)?))),
        }
    }
}

/// The number with the digits that the user wrote: 0.7, not `0.699_999_988`.
fn round(number: f32) -> f64 {
    number.to_string().parse().unwrap_or_else(|_| number.into())
}

/// An object of the members that have a value.
pub(super) fn object<const N: usize>(members: [(&str, Option<Json>); N]) -> Json {
    members.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_sent_as_it_was_written() {
        for (number, sent) in [(0.0, 0.0), (0.7, 0.7), (1.0, 1.0), (0.1, 0.1), (f32::MAX, 3.402_823_5e38)] {
            assert!((round(number) - sent).abs() < f64::EPSILON, "{number}");
        }
    }
}
