//! A model whose reported usage corrects a counter of tokens.

use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt};

use super::{Chunk, End, Finish, Model, ReplySettings, Request};
use crate::declare::error::BoxError;
use crate::history::tokens::Calibration;

impl Calibration {
    /// Wraps a model, and learns from the usage that the model reports. Each complete reply with a usage is one
    /// sample; a reply that fails, is refused, breaks off or reports no usage is ignored. The replies are unchanged.
    ///
    /// A request is counted as a context is counted for a [budget](crate::budget): the instruction, the values and the
    /// delimiters separately. So the correction fits the counts of budgets. The messages after the context are counted
    /// as well. The request is counted when the reply is complete.
    pub fn watching<M: Model>(&self, model: M) -> impl Model + Clone + use<M> {
        Observed { model: Arc::new(model), calibration: self.clone() }
    }
}

#[derive(Clone)]
struct Observed {
    model: Arc<dyn Model>,
    calibration: Calibration,
}

impl Model for Observed {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn ready(&self) -> Result<(), BoxError> {
        self.model.ready()
    }

    fn accepts(&self, settings: &ReplySettings, max_tokens: u32) -> Result<(), BoxError> {
        self.model.accepts(settings, max_tokens)
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let calibration = self.calibration.clone();
        // The clone shares the texts, so it is cheap to keep until the reply ends.
        let sent = request.clone();
        let reply = self.model.reply(request);
        let observed = reply.inspect(move |chunk| {
            let Ok(Chunk::End(End { finish, usage: Some(usage), .. })) = chunk else { return };
            if matches!(finish, Finish::Stop | Finish::Length | Finish::ContextWindow) {
                calibration.learn(sent.tokens_by(calibration.counter()), usage.input);
            }
        });
        observed.boxed()
    }
}
