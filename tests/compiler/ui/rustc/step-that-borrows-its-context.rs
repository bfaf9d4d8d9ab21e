use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = |cx: Context| async { cx.messages().last_text().into_owned() };
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
