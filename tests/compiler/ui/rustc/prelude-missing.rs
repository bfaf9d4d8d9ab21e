use columnar::flow;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {
    drop(Chat::new());
}
