use columnar::prelude::*;

flow! {
    pub struct Chat(style: String) {
        source user;
        column styled(user.latest) = |user| std::future::ready(format!("{style}: {user}"));
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
