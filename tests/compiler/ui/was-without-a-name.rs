use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user was; //~
        column topics(user.latest) was = prompt("..."); //~
        column mood(user.latest) was 3 = prompt("..."); //~
        column words(user.latest) was subjects = prompt("..."); //~
        column size(user.latest) was "Subjects" = prompt("..."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (chat.user.len(), chat.topics.len(), chat.mood.len(), chat.words.len(), chat.size.len());
}
