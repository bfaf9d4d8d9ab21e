use columnar::prelude::*;

fn main() {
    let chat = flow! {
        source user;
        column topics(user.latest) = (async |user| user).retry(3).when(|cx| async move { cx.step() > 3 });
        column assistant(user, topics) = prompt("Answer.");
    };
    drop(talk(&chat.topics));
    drop(chat.user);
}

fn talk(topics: &columnar::flow::Derived) -> usize {
    topics.len()
}
