use columnar::prelude::*;

flow! {
    pub struct Chat {

    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.run().await?;
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
