use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.").with("openai/gpt-5.4-mini").retry(2);
    }
}

fn main() {
    drop(Chat::new());
}
