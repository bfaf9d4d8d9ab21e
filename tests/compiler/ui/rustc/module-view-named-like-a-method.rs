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
        column answer(user, debate.pro.value.as("case")) = prompt("Answer.");
    }
}

fn main() {
    let _ = Chat::new().answer.messages(0);
}
