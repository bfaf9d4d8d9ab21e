use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let count = 3;
    let chat = flow! {
        source user;
        column topics(user.window(count)) = prompt("List the topics.");
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    chat.topics.messages(0)?;
    Ok(chat.steps())
}
