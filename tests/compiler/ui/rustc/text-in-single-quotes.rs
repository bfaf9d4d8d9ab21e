use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(group('talk', user.latest)) = prompt("List the topics.");
    }
}

fn main() {
    drop(Chat::new());
}
