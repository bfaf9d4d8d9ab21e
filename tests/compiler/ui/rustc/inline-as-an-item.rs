use columnar::prelude::*;

flow! {
    source user;
    column topics(user.latest) = prompt("List the topics.");
}

fn main() {}
