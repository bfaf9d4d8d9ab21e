use columnar::prelude::*;

fn main() {
    let chat = flow! {
        source user;
        column topics(user.latest.as("said")) = (async |said| said.to_uppercase()).when(|cx| cx.input("user").is_some());
        column assistant(user, topics) = prompt("Answer.");
    };
    drop(talk(&chat.topics));
    drop(chat.user);
}

fn talk(topics: &columnar::flow::Derived) -> usize {
    topics.len()
}
