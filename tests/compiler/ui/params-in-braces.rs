use columnar::prelude::*;

flow! {
    pub struct Chat { style: String } {
        source user;
        column assistant(user, self) = prompt("Answer.");
    }
}

fn main() {
    drop(talk(&Chat::new(String::new())));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Assistant => chat.assistant.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
