//! The offline model.

mod extract;
mod sample;

use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};

use sample::sample;

use super::{Chunk, End, Finish, Model, Request, Usage};
use crate::context::{Messages, Part, Role};
use crate::declare::error::BoxError;
use crate::history::tokens::{Counter, Estimate};

/// A stand-in for a language model that needs no download, no network and no key.
///
/// The model understands nothing. It extracts key phrases and sentences from the messages, and streams these. A few
/// words of the instruction (topics, summary, weak reasoning) decide what is extracted. The same messages always have
/// the same reply. Use it to see a flow work, and name a real model in `COLUMNAR_MODEL` when the content matters.
///
/// In a typed column (see the [guide](crate::guide)) the model replies with such an extract for each text of the type,
/// and with any valid value elsewhere.
///
/// The model has no tokenizer. [`Estimate`] counts the reported usage, a quarter of the bytes, and also the limit at
/// which a reply is cut off. So bills and limits can be tried as well.
#[derive(Clone, Debug, Default)]
pub struct Offline {
    delay: Duration,
}

impl Offline {
    /// The name of the model for [`by_name`](super::by_name).
    pub const NAME: &'static str = "offline";

    /// The model without delays.
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits before each word, as a slow model would.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay }
    }
}

impl Model for Offline {
    fn name(&self) -> &str {
        Self::NAME
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let extract = answer(&request);
        let mut text = match &request.schema {
            Some(schema) => sample(&schema.json, &extract).to_string(),
            None => extract,
        };
        let finish = cut_off(&mut text, request.max_tokens);
        let follow_up = request.follow_up.iter().map(|(_, text)| Estimate.count(text)).sum::<usize>();
        let input = Estimate.count(&request.system) + request.messages.tokens() + follow_up;
        let [input, output] = [input, Estimate.count(&text)].map(|tokens| tokens as u64);
        let end = End::new(finish).with_usage(Usage::new(input, output));
        let pieces: Vec<Chunk> = extract::pieces(&text).map(|piece| Chunk::Text(piece.to_owned())).collect();
        let delay = self.delay;
        stream::iter(pieces)
            .chain(stream::iter([Chunk::End(end)]))
            .then(move |chunk| async move {
                // Without a delay no timer is made, which would need a Tokio runtime.
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                Ok(chunk)
            })
            .boxed()
    }
}

/// Cuts a reply off at this number of tokens.
fn cut_off(text: &mut String, max_tokens: u32) -> Finish {
    let most = usize::try_from(max_tokens).unwrap_or(usize::MAX).saturating_mul(Estimate::BYTES_PER_TOKEN);
    if text.len() <= most {
        return Finish::Stop;
    }
    text.truncate(text.floor_char_boundary(most));
    Finish::Length
}

fn answer(request: &Request) -> String {
    let messages = &request.messages;
    let mut inputs: Vec<Vec<(String, String)>> = Vec::new();
    let mut last_reply = None;
    // Documents, the replies to them, and markers show no cell. Such texts are no words of the user or the model.
    let parts: Vec<Part<'_>> = messages.parts().collect();
    for message in parts.chunk_by(|one, other| one.role() == other.role()) {
        let cells = message.iter().filter(|part| part.origin().is_some());
        let content: String = cells.map(Part::text).collect();
        match message {
            _ if content.is_empty() => {}
            [part, ..] if part.role() == Role::Assistant => last_reply = Some(content),
            _ => inputs.push(values(&content, messages)),
        }
    }
    let current = inputs.pop().unwrap_or_default();
    let documents = documents(messages).map(str::to_owned);
    let past: Vec<String> = documents.chain(inputs.into_iter().flatten().map(|(_, text)| text)).collect();
    extract::answer(instruction(request), &current, &past, last_reply.as_deref())
}

/// The system text without the documents at the end, whose words are no orders.
fn instruction(request: &Request) -> &str {
    let system = &*request.system;
    let documents = request.messages.system_documents();
    documents.and_then(|documents| system.strip_suffix(documents)).unwrap_or(system)
}

/// The texts of the documents in tiers that the messages show.
fn documents(messages: &Messages) -> impl Iterator<Item = &str> {
    let documents = messages.documents().into_iter();
    documents.flat_map(|set| set.iter().filter(|(key, _)| set.is_shown(key)).map(|(_, text)| &**text))
}

/// The values in a message of the user. Text outside of all tags is a title.
fn values(content: &str, messages: &Messages) -> Vec<(String, String)> {
    if !messages.has_tags() {
        return vec![(String::new(), content.to_owned())];
    }
    let sections = extract::sections(content).into_iter().filter(|(tag, _)| !tag.is_empty());
    // A tag in a value is shown with an entity, whose letters are no words of the value.
    sections.map(|(tag, text)| (tag, messages.unescape(&text).into_owned())).collect()
}
