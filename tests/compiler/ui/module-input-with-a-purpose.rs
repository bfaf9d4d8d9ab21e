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
        use Debate { topic: user.context() } as debate;
        column verdict(debate.critic, user.latest) = prompt("Judge.");
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
            ChatColumn::Verdict => chat.verdict.messages(event.step())?,
            ChatColumn::Debate(_) => chat.debate.critic.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
