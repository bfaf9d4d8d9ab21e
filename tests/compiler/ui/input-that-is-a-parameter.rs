use columnar::prelude::*;

flow! {
    pub struct Chat(style: String) {
        source user;
        column topics(user.latest) = async |user, style: String| format!("{style}: {user}");
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
