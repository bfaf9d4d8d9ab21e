use columnar::model::{Model, Offline};
use columnar::prelude::*;

flow! {
    pub struct Chat(model: M)<M: Model + Clone> {
        source user;
        column topics(user.latest) = prompt("List the topics.").model(model.clone());
    }
}

fn main() {
    drop(talk(&Chat::new(Offline::new())));
}

async fn talk<M: Model + Clone>(chat: &Chat<M>) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
        };
    }
    Ok(Chat::<M>::ORDER.len() + Chat::<M>::GRAPH.names().len())
}
