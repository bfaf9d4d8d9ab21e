//! The offline model.

mod extract;
mod sample;

use std::time::Duration;

use futures::stream::{self, BoxStream, StreamExt};

use sample::sample;

use super::{Chunk, End, Finish, Model, Request, Usage};
use crate::context::Role;
use crate::error::BoxError;
use crate::tokens::{Chars, Counter};

/// A stand-in for a language model that needs no download, no network and no key.
///
/// It understands nothing. It extracts key phrases and sentences from the messages and streams them; a few words of the
/// instruction (topics, summary, weak reasoning) decide which. The same messages always give the same reply. Use it to see a
/// flow work; name a real model in `COLUMNAR_MODEL` when the words matter.
///
/// In a [typed](crate::guide::typed) column it replies with such an extract for each text of the type, and with any valid
/// value elsewhere.
///
/// It has no tokens. The usage that it reports is counted as [`Chars`] does, four characters a token, so that bills and
/// limits can be tried as well.
#[derive(Clone, Debug, Default)]
pub struct Offline {
    delay: Duration,
}

impl Offline {
    /// Its name for [`by_name`](super::by_name).
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
        let text = request
            .schema
            .as_ref()
            .map(|schema| sample(&schema.json, &extract).to_string())
            .unwrap_or(extract);
        let input = Chars.count(&request.system) + request.messages.tokens();
        let count = |tokens| u64::try_from(tokens).unwrap_or(u64::MAX);
        let end = End::new(Finish::Stop).usage(Usage::new(count(input), count(Chars.count(&text))));
        let pieces: Vec<Chunk> = extract::pieces(&text).map(|piece| Chunk::Text(piece.to_owned())).collect();
        let delay = self.delay;
        stream::iter(pieces)
            .chain(stream::iter([Chunk::End(end)]))
            .then(move |chunk| async move {
                if !delay.is_zero() {
                    tokio::time::sleep(delay).await;
                }
                Ok(chunk)
            })
            .boxed()
    }
}

fn answer(request: &Request) -> String {
    let mut shown: Vec<Vec<(String, String)>> = Vec::new();
    let mut own = None;
    for (role, content) in &request.messages {
        match role {
            Role::User => shown.push(values(&content)),
            Role::Assistant => own = Some(content),
        }
    }
    let current = shown.pop().unwrap_or_default();
    let past: Vec<String> = shown.into_iter().flatten().map(|(_, text)| text).collect();
    extract::answer(&request.system, &current, &past, own.as_deref())
}

/// The values in a user message. Text outside of all tags is the constant first message, and no value.
fn values(content: &str) -> Vec<(String, String)> {
    extract::sections(content).into_iter().filter(|(tag, _)| !tag.is_empty()).collect()
}
