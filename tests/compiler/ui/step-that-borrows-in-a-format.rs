use columnar::prelude::*;

flow! {
    pub struct Chat(style: String) {
        source user;
        column styled(user.latest) = async |user| format!("{style}: {user}");
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
