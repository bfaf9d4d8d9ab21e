use columnar::prelude::*;

flow! {
    pub struct Chat(count: usize) {
        source user;
        column topics(user.latest) = prompt(count);
    }
}

fn main() {
    drop(Chat::new(3));
}
