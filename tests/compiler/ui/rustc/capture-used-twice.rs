use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let style = String::from("Be formal.");
    let chat = flow! {
        source user;
        column topics(user.latest) = prompt(style);
        column assistant(user, self) = prompt(style);
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    chat.topics.messages(0)?;
    chat.assistant.messages(0)?;
    Ok(chat.steps())
}
