use columnar::prelude::*;

fn ask(style: &str) -> Step<'_> {
    Step::new(prompt(style))
}

flow! {
    pub struct Chat(style: String) {
        source user;
        column topics(user.latest) = ask(style);
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
