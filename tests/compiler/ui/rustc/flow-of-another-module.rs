mod chat {
    use columnar::prelude::*;

    flow! {
        struct Chat {
            source user;
            column topics(user.latest) = prompt("List the topics.");
        }
    }
}

fn main() {
    let chat = chat::Chat::new();
    drop(chat.topics.get(0));
}
