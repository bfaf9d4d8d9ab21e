use columnar::prelude::*;

flow! {
    pub struct Chat {
        source s0;
        source s1;
        source s2;
        source s3;
        source s4;
        source s5;
        source s6;
        source s7;
        source s8;
        source s9;
        column topics(everything) = prompt("List the topics.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.s0.push("hello").await?;
    chat.s1.push("hello").await?;
    chat.s2.push("hello").await?;
    chat.s3.push("hello").await?;
    chat.s4.push("hello").await?;
    chat.s5.push("hello").await?;
    chat.s6.push("hello").await?;
    chat.s7.push("hello").await?;
    chat.s8.push("hello").await?;
    chat.s9.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
