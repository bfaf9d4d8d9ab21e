//! A line of a file of results, and the answer that it has.

use reqwest::header::HeaderMap;
use serde_json::Value as Json;

use crate::declare::error::BoxError;
use crate::model::provider::error::ProviderRefusal;
use crate::model::provider::formats::format;
use crate::model::provider::redaction::Sent;
use crate::model::provider::reply::{WireReply, at, count, string};
use crate::model::provider::{Provider, ProviderError, WrittenCall};
use crate::model::registry::BatchApi;
use crate::model::rendering::Request;
use crate::model::{Chunk, ReplyError};

/// The outcome of a request.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A whole reply, and whether it has private characters for halves of characters.
    Reply(Json, bool),
    /// The error of this request, with its status if the provider tells.
    Refused(Json, Option<u16>),
}

/// The custom id and the outcome in a line of results; `None` for a request that was not executed.
pub(super) fn parse(api: BatchApi, line: &Json, has_halves: bool) -> Option<(&str, Outcome)> {
    let id = string(line, "/custom_id")?;
    let outcome = match api {
        BatchApi::Anthropic => match string(line, "/result/type")? {
            "succeeded" => Outcome::Reply(at(line, "/result/message")?.clone(), has_halves),
            "errored" => Outcome::Refused(at(line, "/result/error")?.clone(), None),
            _ => return None,
        },
        BatchApi::OpenAi => match at(line, "/response").filter(|response| response.is_object()) {
            Some(response) => {
                let body = response.get("body")?.clone();
                match count(response, "/status_code").and_then(|status| u16::try_from(status).ok()) {
                    Some(200) => Outcome::Reply(body, has_halves),
                    status => Outcome::Refused(body, status),
                }
            }
            None => return None,
        },
    };
    Some((id, outcome))
}

impl Provider {
    /// The reply to a request, as a stream would bring it.
    pub(super) fn read_outcome(
        &self,
        request: Request,
        call: WrittenCall,
        outcome: Outcome,
    ) -> Result<Vec<Chunk>, BoxError> {
        let sent = self.sent(Some(request), self.key_to_send()?);
        let model = self.name.clone();
        match outcome {
            Outcome::Reply(body, has_halves) => {
                let mut reply = WireReply::new(self.facts.counts_thoughts_apart);
                reply.begin_event(&body, has_halves);
                (format(self.facts.api).read_whole)(&body, &mut reply);
                self.chunks(reply, call, &sent)
            }
            Outcome::Refused(body, Some(status)) => {
                Err(ProviderRefusal::new(status, &HeaderMap::new(), &body, &sent).into_error(model).into())
            }
            Outcome::Refused(body, None) => Err(ProviderError::fault(&model, &body, &sent).into()),
        }
    }

    fn chunks(&self, reply: WireReply, call: WrittenCall, sent: &Sent) -> Result<Vec<Chunk>, BoxError> {
        let limit = self.limits.text;
        if reply.text.len().saturating_add(reply.thought.len()) > limit {
            return Err(ProviderError::TooLong { model: self.name.clone(), limit }.into());
        }
        let mut stop = call.stop;
        let text = stop.pass(reply.text.clone()) + &stop.finish();
        let Some(mut end) = reply.end_after(&stop, sent, call.asked_long) else {
            return Err(ReplyError::BrokeOff.into());
        };
        end.batch = true;
        let pieces = [Chunk::Thought(reply.thought), Chunk::Text(text)];
        let pieces = pieces
            .into_iter()
            .filter(|piece| !matches!(piece, Chunk::Thought(text) | Chunk::Text(text) if text.is_empty()));
        Ok(pieces.chain([Chunk::End(end)]).collect())
    }
}
