use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
        let style = "formal"; //~
        const COUNT: usize = 3; //~
        struct Topics { list: Vec<String> } //~
        for name in ["mood", "tone"] { column name(user) = prompt("Name it."); } //~
        println!("These are all."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.topics);
}
