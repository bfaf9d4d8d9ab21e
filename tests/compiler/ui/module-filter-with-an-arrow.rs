use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        column pro(topic.latest) = prompt("Argue for it.");
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate { topic: user } as debate;
        column answer(user, debate.pro.filter(text => text.ends_with('?')), self) = prompt("Answer.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    chat.run().await?;
    chat.answer.messages(0)?;
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
