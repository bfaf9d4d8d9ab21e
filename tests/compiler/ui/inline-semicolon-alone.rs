use columnar::prelude::*;

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let chat = flow! { ; };
    chat.user.push("hello").await?;
    chat.run().await?;
    Ok(chat.steps())
}
