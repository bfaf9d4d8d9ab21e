use columnar::prelude::*;

fn main() {
    let chat = flow! {
        source user;
        source notes;
        column topics(notes.latest.context(), self) = prompt("List the topics.");
    };
    drop(talk(&chat.topics));
    drop(chat.user);
}

fn talk(topics: &columnar::flow::Derived) -> usize {
    topics.len()
}
