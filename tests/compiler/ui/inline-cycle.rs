use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let chat = flow! {
        source user;
        column topics(user, summary) = prompt("List the topics.");
        column summary(topics) = prompt("Summarise.");
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    chat.topics.messages(0)?;
    chat.summary.messages(0)?;
    Ok(chat.steps())
}
