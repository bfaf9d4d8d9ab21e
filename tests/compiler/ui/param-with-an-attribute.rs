use columnar::prelude::*;

flow! {
    pub struct Chat(
        /// The style of the prompt.
        #[serde(default)]
        style: String,
    ) {
        source user;
        column topics(user.latest) = prompt(style);
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
