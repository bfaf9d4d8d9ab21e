use columnar::prelude::*;

flow! {
    #[derive(Default)]
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {
    drop(Chat::default());
}
