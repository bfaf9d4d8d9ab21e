//! From what a model is asked to what is sent, marked for the cache of its provider.

use std::borrow::Cow;
use std::mem;

use ::genai::chat::{CacheControl, ChatMessage, ChatRequest, MessageOptions};

use crate::cache::{CachePlan, Lifetime, Place, Provider};
use crate::context::{Messages, Role};
use crate::model::Request;
use crate::tokens::{Chars, Counter};

/// What stands between two messages of equal role that become one.
const SEPARATOR: &str = "\n\n";

/// The request to a model of this name.
pub(super) fn chat_request(model: &str, request: &Request) -> ChatRequest {
    let Request { system, messages, pace, .. } = request;
    let plan = CachePlan::of(messages, Chars.count(system), Provider::of(model), *pace);
    // An entry is found at the end of a block, so each part is a block as long as there are any marks.
    let mut pieces = pieces(messages, !plan.marks.is_empty());
    let mut marked_system = None;
    for mark in plan.marks {
        match mark.place {
            Place::System => marked_system = Some(mark.lifetime),
            Place::Part(at) => {
                if let Some(piece) = pieces.iter_mut().rfind(|piece| piece.last <= at) {
                    piece.mark = Some(mark.lifetime);
                }
            }
        }
    }
    let chat = ChatRequest::new(Vec::new());
    let chat = match marked_system {
        _ if system.is_empty() => chat,
        None => chat.with_system(&**system),
        Some(lifetime) => chat.append_message(ChatMessage::system(&**system).with_options(kept(lifetime))),
    };
    chat.append_messages(pieces.into_iter().map(Piece::message))
}

fn kept(lifetime: Lifetime) -> MessageOptions {
    MessageOptions::from(match lifetime {
        Lifetime::Short => CacheControl::Ephemeral,
        Lifetime::Long => CacheControl::Ephemeral1h,
    })
}

/// What is sent as one message. Providers put neighbours of equal role together.
struct Piece {
    role: Role,
    text: String,
    /// The last part in it.
    last: usize,
    mark: Option<Lifetime>,
}

impl Piece {
    fn message(self) -> ChatMessage {
        let message = match self.role {
            Role::User => ChatMessage::user(self.text),
            Role::Assistant => ChatMessage::assistant(self.text),
        };
        match self.mark {
            Some(lifetime) => message.with_options(kept(lifetime)),
            None => message,
        }
    }
}

/// The messages, or their parts if they stay apart. Providers refuse an empty text in a request, and some
/// refuse two user messages in a row, which is what leaving out an empty reply can make.
fn pieces(messages: &Messages, apart: bool) -> Vec<Piece> {
    let parts: Vec<(usize, Role, Cow<'_, str>)> =
        messages.parts().enumerate().map(|(at, part)| (at, part.role(), part.text())).collect();
    let mut pieces: Vec<Piece> = Vec::new();
    for message in parts.chunk_by(|(_, one, _), (_, other, _)| one == other) {
        let Some(&(last, role, _)) = message.last().filter(|_| !message.iter().all(is_left_out)) else {
            continue;
        };
        let before = pieces.last_mut().filter(|piece| piece.role == role);
        let mut text = before.as_ref().map_or_else(String::new, |_| SEPARATOR.to_owned());
        if !apart {
            text.extend(message.iter().map(|(.., part)| &**part));
            match before {
                Some(before) => before.text.push_str(&text),
                None => pieces.push(Piece { role, text, last, mark: None }),
            }
            continue;
        }
        // What is blank goes to the piece behind it, and never to one that was sent before.
        for (at, _, part) in message {
            text.push_str(part);
            if !is_blank(part) {
                pieces.push(Piece { role, text: mem::take(&mut text), last: *at, mark: None });
            }
        }
    }
    pieces
}

fn is_left_out((_, role, text): &(usize, Role, Cow<'_, str>)) -> bool {
    *role == Role::Assistant && is_blank(text)
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
