use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user, self) = prompt("Answer.");
    }
}

flow! {
    pub struct Felt: Chat {
        column topics(user.window(3)) = prompt("List the topics.").retry(3).when(move |cx: &Context| { let said = cx.values("usr"); said.count() > 2 }).every(2);
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
