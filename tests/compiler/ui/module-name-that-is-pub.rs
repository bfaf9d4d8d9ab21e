use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        column critic(topic.latest) = prompt("Name the weak points.");
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate { topic: user } as pub debate;
        column topics(debate.critic) = prompt("List the topics.");
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
            ChatColumn::Debate(_) => chat.debate.critic.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
