use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        column pro(topic.latest) = prompt("Argue for it.");
        column con(topic.latest, pro.latest) = prompt("Argue against it.");
    }
}

fn main() {
    let chat = flow! {
        source user;
        use Debate { topic: answer } as debate;
        column answer(user, debate.con.latest, self) = prompt("Answer.");
    };
    drop(chat);
}
