//! The window of a model: the room for a context that a request asks for, and the sign of a context that was cut.

use crate::history::tokens::{Counter, Estimate};
use crate::model::rendering::Request;

/// The most tokens of a window, unless the program sets another number.
pub(super) const MAX_CONTEXT: u32 = 131_072;

/// The smallest window that a request asks for.
const LEAST: usize = 4096;

/// The most tokens that are kept free for a reply. A window takes memory for each token, used or not, and most replies
/// are far shorter than the limit. A longer reply is an error, and nothing is lost silently.
const REPLY: usize = 8192;

/// The smallest window of any server. A smaller number of tokens is no count of a context that was cut.
const SMALLEST_CUT: u64 = 512;

/// The window for a request and the reply, in steps of powers of two: for another window, the server loads the model
/// again. `Err` has the tokens of a request that is longer than the largest window.
pub(super) fn window(request: &Request, most: u32) -> Result<u32, usize> {
    let tokens = request.tokens_by(&Estimate);
    if tokens > most as usize {
        return Err(tokens);
    }
    let reply = REPLY.min(request.max_tokens as usize);
    // Twice the estimate holds prose and most code in any language. A server refuses a longer context, because no request
    // allows a cut.
    let room = tokens.saturating_mul(2).saturating_add(reply).max(LEAST).checked_next_power_of_two();
    Ok(room.and_then(|room| u32::try_from(room).ok()).unwrap_or(most).min(most))
}

/// Whether a server read less than half of a request. The estimates of requests are better than a factor of two, and a
/// server that cuts a context leaves out half of the window.
pub(super) fn was_cut(request: &Request, read: u64) -> bool {
    let twice = read.saturating_mul(2);
    // Models differ by more than a factor of two in the tokens of an image.
    let media = request.messages.media_tokens();
    // The first count is known already.
    read >= SMALLEST_CUT
        && twice < (request.messages.system_tokens() + request.messages.tokens() - media) as u64
        && twice < (request.tokens_by(&ChangedBytes) - media) as u64
}

/// An estimate without repeated bytes: a tokenizer makes one token of a long indentation or line.
struct ChangedBytes;

impl Counter for ChangedBytes {
    fn count(&self, text: &str) -> usize {
        let pairs = text.as_bytes().array_windows().filter(|[before, byte]| before != byte);
        pairs.count() / Estimate::BYTES_PER_TOKEN
    }
}
