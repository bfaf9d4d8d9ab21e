use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        column critic(topic.latest) = prompt("Name the weak points.");
    }
}

fn main() {
    drop(talk());
}

async fn talk() -> Result<usize> {
    let chat = flow! {
        use Debate { topic: user } as debate;
    };
    chat.run().await?;
    drop(chat.debate.critic.get(0));
    Ok(chat.steps())
}
