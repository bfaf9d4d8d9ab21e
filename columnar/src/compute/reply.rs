//! The output of a compute step: whole text, or a stream of pieces.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, BoxStream, Stream, StreamExt, TryStreamExt};

use crate::declare::error::BoxError;
use crate::history::{SkipReason, Value};
use crate::model::End;
use crate::model::cache::MarkedRequest;

/// The output of a compute step: a text that arrives as a whole, or in pieces.
pub struct Reply<'a>(
    // Boxed, because a flow of 500 columns would otherwise have a type with 500 parameters.
    pub(crate) BoxStream<'a, Result<Piece, BoxError>>,
);

/// An item of a reply stream.
pub(crate) enum Piece {
    /// The next piece of the text.
    Text(String),
    /// The whole text at once.
    Whole(Value),
    /// No text: the cell stays empty for good.
    Skip(SkipReason),
    /// A request was sent to the model of this name, with marks that were chosen so.
    CallStarted(Arc<str>, Option<Arc<MarkedRequest>>),
    /// The model is overloaded, and the call is repeated after a pause.
    Waiting { pause: Duration, error: String },
    /// The last request was refused without a reply, so it is free.
    CallRefused,
    /// The reply to the last request is complete.
    CallEnded(Box<End>),
    /// The attempt with this number, counted from 1, failed. Its pieces are discarded, and another attempt begins.
    Retry { attempt: usize, error: BoxError },
}

/// The source of a reply that arrives in pieces.
pub(crate) trait PieceSource: Send {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Option<Result<Piece, BoxError>>> + Send;
}

impl<'a> Reply<'a> {
    /// A text that is available at once.
    pub fn text(text: impl Into<Value>) -> Self {
        let value = text.into();
        Self::whole(std::future::ready(Ok(value)))
    }

    /// A text that arrives as a whole.
    pub fn whole(text: impl Future<Output = Result<Value, BoxError>> + Send + 'a) -> Self {
        Self(stream::once(text).map_ok(Piece::Whole).boxed())
    }

    /// The pieces of a source up to the end or the first error.
    pub(crate) fn of(source: impl PieceSource + 'a) -> Self {
        let pieces = stream::unfold(Some(source), |source| async move {
            let mut source = source?;
            let piece = source.next().await?;
            // A source that has failed is dropped at once, and with it all that the source holds.
            let rest = piece.is_ok().then_some(source);
            Some((piece, rest))
        });
        Self(pieces.boxed())
    }

    /// The reply that a future makes.
    pub(super) fn later(reply: impl Future<Output = Self> + Send + 'a) -> Self {
        Self(stream::once(reply).flat_map(|reply| reply.0).boxed())
    }

    /// No text: the cell stays empty for good, as with [`or_skip`](super::Policy::or_skip) after an error, or where
    /// [`when`](super::Policy::when) returns `false`.
    pub fn skip() -> Self {
        Self::skipped(SkipReason::Step)
    }

    pub(super) fn skipped(reason: SkipReason) -> Self {
        Self(stream::once(std::future::ready(Ok(Piece::Skip(reason)))).boxed())
    }

    /// A text that arrives in pieces; joined, the pieces are the value.
    pub fn deltas(pieces: impl Stream<Item = Result<String, BoxError>> + Send + 'a) -> Self {
        Self(pieces.map_ok(Piece::Text).boxed())
    }
}

impl fmt::Debug for Reply<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reply")
    }
}

/// A stream of pieces of text as the result of a compute step. Made by [`deltas`].
#[derive(Debug)]
pub struct Deltas<S>(pub(super) S);

/// Streams the value of a cell: each piece becomes a [`Delta`](crate::Event::Delta), and the joined pieces are the
/// value. The pieces are text or `Result`s of text; the first error ends the attempt, and nothing is stored.
///
/// ```
/// use columnar::prelude::*;
/// use futures::stream;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column count(user.latest) = |_: Context| deltas(stream::iter(["one, ", "two"]));
/// };
/// chat.user.push("Count!").await?;
/// chat.run().await?;
/// assert_eq!(chat.count.get(0).as_deref(), Some("one, two"));
/// # Ok(()) }
/// ```
pub fn deltas<S: Stream>(pieces: S) -> Deltas<S> {
    Deltas(pieces)
}
