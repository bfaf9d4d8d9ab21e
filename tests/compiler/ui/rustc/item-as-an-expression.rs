use columnar::prelude::*;

fn main() {
    let chat = flow! {
        struct Chat {
            source user;
            column topics(user.latest) = prompt("List the topics.");
        }
    };
    drop(chat);
}
