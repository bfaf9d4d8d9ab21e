use columnar::prelude::*;

flow! {
    pub struct Chat;
}

fn main() {
    drop(Chat::new());
    assert!(Chat::ORDER.is_empty());
}
