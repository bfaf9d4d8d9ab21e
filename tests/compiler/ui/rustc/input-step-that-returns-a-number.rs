use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = async |user| user.len();
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
