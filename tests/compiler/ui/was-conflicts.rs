use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user was "user"; //~
        column topics(user.latest) was "mood" = prompt("..."); //~
        column mood(user.latest) was "feeling" = prompt("...");
        column words(user.latest) was "feeling" = prompt("..."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (chat.user.len(), chat.topics.len(), chat.mood.len(), chat.words.len());
}
