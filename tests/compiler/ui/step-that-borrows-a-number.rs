use columnar::prelude::*;

flow! {
    pub struct Chat(most: usize) {
        source user;
        column short(user.latest) =
            (move |user| std::future::ready(user.len().min(*most).to_string())).retry(2);
    }
}

fn main() {
    drop(Chat::new(3));
}
