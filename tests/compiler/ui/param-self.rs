use columnar::prelude::*;

flow! {
    pub struct Chat(&mut self, style: String) {
        source user;
        column topics(user.latest) = prompt(style);
    }
}

fn main() {
    drop(Chat::new("formal".to_owned()));
}
