use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("...");
    }
}

async fn open() -> Result<()> {
    let chat = Chat::open("chats").await?;
    chat.run().await
}

fn main() {
    let _ = open();
}
