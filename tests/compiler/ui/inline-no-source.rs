use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let chat = flow! {
        column topics(user) = prompt("List the topics.");
    };
    chat.run().await?;
    chat.topics.messages(0)?;
    Ok(chat.steps())
}
