use columnar::prelude::*;

flow! {
    pub struct Chat(mut style: String, most: usize) {
        source user;
        column topics(user.latest) = prompt(style).every(*most);
    }
}

fn main() {
    drop(Chat::new("formal".to_owned(), 3));
}
