use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let chat = flow! {
        source user;
        column topics(usr.latest) = prompt("List the topics.");
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    chat.topics.messages(0)?;
    Ok(chat.steps())
}
