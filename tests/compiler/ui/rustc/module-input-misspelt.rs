use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        source facts;
        column critic(topic.latest, facts.latest) = prompt("Name the weak points.");
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate { topic: user, fact: user } as debate;
        column verdict(debate.critic, user.latest) = prompt("Judge.");
    }
}

fn main() {}
