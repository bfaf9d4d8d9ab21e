use columnar::prelude::*;

flow! {
    struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

flow! {
    pub struct Felt: Chat {
        column mood(topics, user.latest) = prompt("Name the mood.");
    }
}

fn main() {}
