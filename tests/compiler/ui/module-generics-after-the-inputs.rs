use columnar::model::{Model, Offline};
use columnar::prelude::*;

flow! {
    pub struct Debate<M: Model + Clone>(model: M) {
        source topic;
        column critic(topic.latest) = prompt("Name the weak points.").model(model.clone());
    }
}

flow! {
    pub struct Chat<M: Model + Clone>(model: M) {
        source user;
        use Debate(model.clone()) { topic: user }<M> as debate;
        column verdict(debate.critic.latest.as("case"), user.latest) = prompt("Judge.").model(model.clone());
    }
}

fn main() {
    drop(talk(&Chat::new(Offline::new())));
}

async fn talk(chat: &Chat<Offline>) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Verdict => chat.verdict.messages(event.step())?,
            ChatColumn::Debate(_) => chat.debate.critic.messages(event.step())?,
        };
    }
    Ok(Chat::<Offline>::ORDER.len() + Chat::<Offline>::GRAPH.names().len())
}
