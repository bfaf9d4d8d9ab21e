use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        source facts;
        column critic(topic.latest, facts.latest) = prompt("Name the weak points.");
        column synthesis(critic, topic) = prompt("Sum up.");
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate { topic: user, facts: user } as debate;
        column verdict(debate.topic.latest, debate.critic) = prompt("Judge.");
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
