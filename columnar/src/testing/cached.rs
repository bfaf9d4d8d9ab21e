//! An assertion about the requests of a flow: the provider's cache served what was promised.

use crate::model::cache::CacheAudit;

/// Fails a test unless the calls of a flow read from the provider's cache what was promised, with the
/// [audit](crate::flow::LiveFlow::audit) as the message. With a column, only its calls count. With a share as well, the column
/// must have read at least this share of the tokens of its requests.
///
/// The model must report what it read and wrote, under the name of a model whose provider has a cache: a recorded reply, or a
/// [`ScriptedModel`](crate::testing::ScriptedModel::named).
///
/// ```
/// use columnar::assert_cached;
/// use columnar::model::{End, Finish, Usage};
/// use columnar::prelude::*;
/// use columnar::testing::ScriptedModel;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// // The first request is written into the cache, and the next one reads it.
/// let model = ScriptedModel::new(|_| "I see.".to_owned()).named("anthropic/claude-sonnet-5-5").end(|request| {
///     let tokens = request.messages.tokens() as u64;
///     let read = if request.messages.len() > 1 { 1_000 } else { 0 };
///     End::new(Finish::Stop).with_usage(Usage::new(tokens, 3).cached(read, tokens - read))
/// });
/// let chat = flow! {
///     source user;
///     column answer(user, self) = prompt("Be brief.").model(model.clone());
/// };
/// for question in ["What do you think of this? ".repeat(150), "And now?".to_owned()] {
///     chat.user.push(question).await?;
///     chat.run().await?;
/// }
/// assert_cached!(chat);
/// assert_cached!(chat, "answer");
/// assert_cached!(chat, "answer", 0.4);
/// # Ok(()) }
/// ```
///
/// # Panics
///
/// If a call missed tokens, if the share is lower, or if no call can be audited.
#[macro_export]
macro_rules! assert_cached {
    ($flow:expr $(,)?) => {
        $crate::testing::check_cached(&$flow.audit(), 0.0)
    };
    ($flow:expr, $column:expr $(,)?) => {
        $crate::testing::check_cached(&$flow.audit().of_column($column), 0.0)
    };
    ($flow:expr, $column:expr, $share:expr $(,)?) => {
        $crate::testing::check_cached(&$flow.audit().of_column($column), $share)
    };
}

/// Fails if a call of an audit missed tokens, or if the calls read less than this share of their tokens.
///
/// # Panics
///
/// See [`assert_cached!`](crate::assert_cached).
#[track_caller]
pub fn check_cached(audit: &CacheAudit, least: f64) {
    let total = audit.total();
    assert!(total.calls > 0, "no call of a model can be audited\n{audit}");
    assert!(total.missed == 0, "requests read less from the cache than was promised\n{audit}");
    let share = total.share();
    assert!(
        share >= least,
        "requests read {share:.2} of their tokens from the cache, and not {least:.2}\n{audit}"
    );
}
