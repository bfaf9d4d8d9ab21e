use columnar::prelude::*;

flow! {
    #[derive(Clone, Debug, PartialEq)]
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {
    drop(Chat::new());
}
