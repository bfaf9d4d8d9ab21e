use columnar::prelude::*;

flow! {
    pub struct {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {}
