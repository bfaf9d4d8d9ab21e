use columnar::prelude::*;

flow! {
    pub struct Chat<'a>(style: &'a str, tones: Vec<&'b str>) {
        source user;
        column topics(user.latest) = prompt(format!("{style}, {tones:?}"));
    }
}

fn main() {
    drop(talk(&Chat::new("formal", vec!["calm"])));
}

async fn talk(chat: &Chat<'_>) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
