use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

async fn push(chat: &Chat) -> Result<usize> {
    chat.user.push(3).await
}

fn main() {
    let _ = push(&Chat::new());
}
