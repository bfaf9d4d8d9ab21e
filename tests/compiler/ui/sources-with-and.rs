use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user and room;
        column topics(user.latest, room) = prompt("List the topics.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    chat.room.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
