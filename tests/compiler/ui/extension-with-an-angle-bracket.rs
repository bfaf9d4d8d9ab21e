use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

flow! {
    pub struct Felt < Chat {
        column mood(user.latest) = prompt("Name the mood.");
    }
}

fn main() {
    drop(talk(Chat::new()));
}

async fn talk(chat: Chat) -> Result<usize> {
    let felt = Felt::extend(chat).await?;
    felt.user.push("hello").await?;
    let mut run = felt.run();
    while let Some(event) = run.try_next().await? {
        let _ = match event.column() {
            FeltColumn::Chat(ChatColumn::Topics) => felt.topics.len(),
            FeltColumn::Mood => felt.mood.len(),
        };
    }
    Ok(Felt::ORDER.len() + Felt::GRAPH.names().len())
}
