use columnar::model::Model;
use columnar::prelude::*;

flow! {
    pub struct Chat<M: Model + Clone>(model: M) {
        source user;
        column topics(user.latest) = prompt("List the topics.").model(model.clone());
    }
}

flow! {
    pub struct Felt<M: Model + Clone>(model: M): Chat<M> {
        column mood(usr.latest) = prompt("Name the mood.").model(model.clone());
    }
}

fn main() {
    use columnar::model::Offline;
    drop(talk(Chat::new(Offline::new()), Offline::new()));
}

async fn talk<M: Model + Clone>(chat: Chat<M>, model: M) -> Result<usize> {
    let felt = Felt::extend(chat, model).await?;
    felt.user.push("hello").await?;
    let mut run = felt.run();
    while let Some(event) = run.try_next().await? {
        let _ = match event.column() {
            FeltColumn::Chat(ChatColumn::Topics) => felt.topics.len(),
            FeltColumn::Mood => felt.mood.len(),
        };
    }
    Ok(Felt::<M>::ORDER.len() + Felt::<M>::GRAPH.names().len())
}
