use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user, self) = prompt("Answer.");
    }
}

flow! {
    pub struct Felt: Chat {
        column topics(user.latest) = prompt("List the topics.");
        column mood(topics.latest) = prompt("Name the mood.");
    }
}

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let felt = Felt::new();
    felt.user.push("hello").await?;
    felt.run().await?;
    Ok(felt.topics.messages(0)?.len() + Felt::ORDER.len())
}
