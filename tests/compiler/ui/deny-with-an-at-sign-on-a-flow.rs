use columnar::prelude::*;

flow! {
    @deny(unbounded)
    /// A chat.
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {
    drop(Chat::new());
}
