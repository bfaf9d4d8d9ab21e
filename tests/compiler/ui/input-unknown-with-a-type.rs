use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = async |usr: Value| usr.to_uppercase();
    }
}

fn main() {
    drop(Chat::new());
}
