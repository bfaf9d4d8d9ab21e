use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = async |user| tell(user.to_string());
        column assistant(user, topics) = prompt("Answer.");
    }
}

async fn tell(text: String) -> String {
    text.to_uppercase()
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    chat.run().await?;
    Ok(chat.topics.messages(0)?.len() + Chat::ORDER.len())
}
