use columnar::prelude::*;

flow! {
    pub struct Chat(style: String) {
        source user;
        column topics(user.latest) = move |_: Context| std::future::ready(style.clone());
        column mood(topics.latest) = async |topics| format!("{topics}, {}", topics.len());
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
