use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user, self) = prompt("Answer.");
    }
}

flow! {
    pub struct Felt: Chat {
        column topics(user.latest) = (async |&user| user.to_uppercase()).retry(3);
        column mood(topics.latest) = prompt("Name the mood.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    let felt = Felt::extend(chat).await?;
    felt.user.push("hello").await?;
    felt.run().await?;
    Ok(felt.topics.messages(0)?.len() + Felt::ORDER.len())
}
