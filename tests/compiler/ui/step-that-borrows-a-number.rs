use columnar::prelude::*;

flow! {
    pub struct Chat(most: usize) {
        source user;
        column short(user.latest) = (async |user| user.len().min(most).to_string()).retry(2);
    }
}

fn main() {
    drop(Chat::new(3));
}
