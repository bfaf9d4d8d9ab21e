use columnar::prelude::*;

flow! {
    pub struct Chat(
        &self, //~
        mut style: String, //~
        pub tone: String, //~
        &mood: String, //~
        #[serde(default)] //~
        count: usize,
        type: String, //~
        model, //~
        most: , //~
        size: 5, //~
        text: str, //~
        count: u8, //~
        String, //~
        , //~
    ) {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

fn main() {
    let read = |chat: &Chat| chat.topics.len() + chat.user.len();
    let _ = read;
}
