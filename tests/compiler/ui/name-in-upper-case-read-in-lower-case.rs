use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column RunningTopics(user.latest, self) = prompt("List the topics.");
        column notes(running_topics.latest) = prompt("Take notes.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::RunningTopics => chat.running_topics.messages(event.step())?,
            ChatColumn::Notes => chat.notes.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
