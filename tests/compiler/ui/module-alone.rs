use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        column critic(topic.latest) = prompt("Name the weak points.");
    }
}

flow! {
    pub struct Chat {
        use Debate { topic: user } as debate;
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.run().await?;
    drop(chat.debate.critic.get(0));
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
