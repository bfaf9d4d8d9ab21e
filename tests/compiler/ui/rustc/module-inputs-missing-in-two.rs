use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        source facts;
        column pro(topic.latest, facts) = prompt("Argue for it.");
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate { topic: user } as first;
        use Debate { facts: user } as second;
        column answer(first.pro.latest, second.pro.latest) = prompt("Answer.");
    }
}

fn main() {
    drop(Chat::new());
}
