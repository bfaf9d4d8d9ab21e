use columnar::prelude::*;

fn main() {
    let chat = flow! {
        source user;
        column topics(user.latest, self) = async |(user, topics)| user.to_uppercase();
        column assistant(user, topics) = prompt("Answer.");
    };
    drop(talk(&chat.topics));
    drop(chat.user);
}

fn talk(topics: &columnar::flow::Derived) -> usize {
    topics.len()
}
