//! A request in the terms that all formats share, and the helpers that write it.

use std::hash::Hasher as _;

use serde_json::{Value as Json, json};
use twox_hash::XxHash64;

use super::error::ProviderError;
use super::schema::to_send;
use super::settings::SentSettings;
use super::window::window;
use crate::context::Role;
use crate::history::tokens::{Counter as _, Estimate};
use crate::model::cache::{CachePolicy, Lifetime};
use crate::model::registry::{self, Api, ProviderFacts};
use crate::model::rendering::{Block, PartForm, Rendering, Request, message};
use crate::model::{Refused, check_media};

/// A request to a model.
pub(super) struct ProviderCall<'r> {
    pub(super) target: CallTarget<'r>,
    pub(super) system: Option<(&'r str, Option<Lifetime>)>,
    pub(super) blocks: Vec<Block>,
    pub(super) form: PartForm,
    /// Whether OpenAI's cache marks are understood for this model.
    pub(super) takes_marks: bool,
    /// Whether the request is long enough for the cache.
    pub(super) is_long: bool,
    /// The key that leads requests with the same instruction to the same cache.
    pub(super) cache_key: Option<String>,
    pub(super) max_tokens: u32,
    pub(super) settings: SentSettings<'r>,
    /// The tokens for which a local server must have room, with the tokens of the reply.
    pub(super) context: Option<u32>,
    /// The name and the JSON Schema of the reply, in the dialect of the provider.
    pub(super) schema: Option<(&'r str, Json)>,
}

/// A model and its server.
#[derive(Clone, Copy)]
pub(super) struct CallTarget<'r> {
    pub(super) provider: &'static ProviderFacts,
    /// The name of the model, with the provider.
    pub(super) name: &'r str,
    /// The model in the provider's spelling.
    pub(super) model: &'r str,
    /// The most tokens of a window.
    pub(super) max_context: u32,
}

impl<'r> ProviderCall<'r> {
    /// The call of a model with these settings, marked by this policy.
    pub(super) fn new(
        target: CallTarget<'r>,
        request: &'r Request,
        settings: SentSettings<'r>,
        policy: &CachePolicy,
    ) -> Result<Self, ProviderError> {
        let CallTarget { provider, name, max_context: most, .. } = target;
        // All other servers decide by themselves.
        let is_local = provider.api == Api::Ollama;
        let context = is_local.then(|| window(request, most)).transpose().map_err(|tokens| {
            ProviderError::Window { model: name.to_owned(), tokens, most, source: Refused }
        })?;
        let form = PartForm::of(provider);
        // The content of a text is sent as text.
        check_media(request, name, |attachment| form.takes(attachment) || attachment.text().is_some())?;
        let rendering = Rendering::of(request, policy);
        // A cache entry is found at the end of a block, so with marks each block is sent separately. Providers join
        // adjacent messages of equal role.
        let blocks = if rendering.is_marked() { rendering.blocks() } else { rendering.joined() };
        let takes_schema = registry::accepts(name).has_schema;
        let schema = request.schema.as_ref().filter(|_| takes_schema).zip(provider.schema);
        // A key is worth sending only where cached tokens are cheaper.
        let has_key = provider.has_cache_key && policy.read < 1.0;
        let own_key = settings.cache_key.map(str::to_owned);
        Ok(Self {
            target,
            system: rendering.system(),
            blocks,
            form,
            takes_marks: provider.models_of == "openai" && policy.most_marks > 0,
            is_long: Estimate.count(&request.system) + request.messages.tokens() >= policy.minimum,
            cache_key: own_key.or_else(|| has_key.then(|| key(name, &request.system))),
            max_tokens: request.max_tokens,
            settings,
            context,
            // A schema that the provider does not accept is left out. The instruction of a typed column has the schema
            // as well, so nothing is lost.
            schema: schema
                .and_then(|(schema, dialect)| Some((schema.name.as_str(), to_send(&schema.json, dialect)?))),
        })
    }

    /// Moves each mark of a reply to the block before, for a format whose replies take no mark. Of two marks at a
    /// block, the longer lifetime stays.
    pub(super) fn move_marks_from_replies(&mut self) {
        let mut moved = None;
        for block in self.blocks.iter_mut().rev() {
            moved = moved.max(block.mark.take_if(|_| block.role == Role::Assistant));
            if block.role == Role::User {
                block.mark = block.mark.max(moved.take());
            }
        }
        if let Some((_, mark)) = &mut self.system {
            *mark = (*mark).max(moved);
        }
    }

    /// The messages with the instruction as the first one, without marks.
    pub(super) fn messages(&self) -> impl Iterator<Item = Json> {
        let system = self.system.map(|(system, _)| message("system", system));
        system.into_iter().chain(self.turns(|_| None))
    }

    /// The messages without the instruction. A marked request has a message for each block, and any other request one
    /// for all adjacent blocks of equal role. `mark` returns the member of a part that is the mark.
    pub(super) fn turns(
        &self,
        mark: impl Fn(&Block) -> Option<(&'static str, Json)>,
    ) -> impl Iterator<Item = Json> {
        let is_marked = self.blocks.iter().any(|block| block.mark.is_some());
        let messages = self.blocks.chunk_by(move |one, other| !is_marked && one.role == other.role);
        messages.filter_map(move |blocks| match blocks {
            [block] if let Some(mark) = mark(block) => {
                Some(json!({ "role": block.role.as_str(), "content": self.form.parts(block, Some(mark)) }))
            }
            blocks => self.form.message(blocks),
        })
    }

    /// The lifetimes of the marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = Lifetime> {
        let blocks = self.blocks.iter().filter_map(|block| block.mark);
        self.system.and_then(|(_, mark)| mark).into_iter().chain(blocks)
    }

    /// The options for OpenAI's cache.
    pub(super) fn cache_options(&self) -> Option<Json> {
        let is_marked = self.marks().next().is_some();
        // Without a mark this mode switches the cache off. By default the provider writes a long request to the cache,
        // for a quarter of the price. That includes a request whose plan has no mark because it is not repeated.
        (self.takes_marks && (is_marked || self.is_long)).then(|| json!({ "mode": "explicit" }))
    }
}

/// A number that says nothing about the instruction.
fn key(name: &str, system: &str) -> String {
    // A fixed seed, because all processes must send the same key.
    let mut hash = XxHash64::with_seed(0);
    hash.write(name.as_bytes());
    hash.write(system.as_bytes());
    format!("{:016x}", hash.finish())
}
