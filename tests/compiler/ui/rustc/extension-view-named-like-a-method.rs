use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column answer(user, self) = prompt("Answer.");
    }
}

flow! {
    pub struct Felt: Chat {
        column mood(user.latest, answer.last) = prompt("Name the mood.");
    }
}

async fn extend(chat: &Chat) -> Result<()> {
    let felt = Felt::extend(chat).await?;
    felt.mood.messages(0)?;
    Ok(())
}

fn main() {
    drop(extend(&Chat::new()));
}
