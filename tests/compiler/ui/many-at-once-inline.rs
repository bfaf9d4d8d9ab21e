use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let style = "formal";
    let chat = flow! {
        source user, //~
        column topics(usr.latest) = prompt(style); //~
        column summary(summary) = prompt(style); //~
        column answer(user); //~
        column list[user] = prompt(style); //~
        column first(user, second) = prompt(style); //~
        column second(first.window(0)) = prompt(style) //~~
    };
    chat.user.push("hello").await?;
    chat.run().await?;
    chat.topics.messages(0)?;
    chat.summary.messages(0)?;
    chat.answer.messages(0)?;
    chat.list.messages(0)?;
    chat.first.messages(0)?;
    chat.second.messages(0)?;
    Ok(chat.steps())
}
