use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.").when(|cx| cx.input("usr").is_some());
        column assistant(user, topics) = prompt("Answer.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    chat.run().await?;
    Ok(chat.topics.messages(0)?.len() + Chat::ORDER.len())
}
