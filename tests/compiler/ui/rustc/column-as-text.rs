use columnar::prelude::*;

flow! {
    struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {
    let chat = Chat::new();
    let _ = chat.get("topcs", 0);
}
