use columnar::prelude::*;

struct Key(String);

flow! {
    pub struct Chat(key: Key) {
        source user;
        column signed(user.latest) = async |user| format!("{user}, {}", key.0);
    }
}

fn main() {
    drop(Chat::new(Key("secret".to_owned())));
}
