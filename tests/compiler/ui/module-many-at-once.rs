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
        use Debate { topic: usr } as first; //~
        use Debate { topic: user, topic: user } as second; //~
        us Debate { topic: user.latest } as third; //~~
        use Debate { topic = user } as fourth; //~
        use Debate { topic: user } as verdict; //~
        use Debate { topic: self }; //~~
        use Debate as sixth; //~
        use Debate { topic: } as Seventh; //~~
        use std::fmt; //~
        use Debate { topic: user } as eighth //~
        column verdict(first, second.topic, third.critic.window(0), user) = prompt("Judge."); //~~~
        column other(debte.critic, fourth.critic, sixth.critic, verdict.) = prompt("Judge."); //~~~
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    chat.run().await?;
    Ok(chat.verdict.len() + chat.first.critic.len() + chat.debate.critic.len() + chat.eighth.critic.len())
}
