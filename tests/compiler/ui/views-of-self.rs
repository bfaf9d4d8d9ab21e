use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
        column self_by_name(user, self_by_name.latest) = prompt("Summarise."); //~
        column self_twice(user, self, self.latest) = prompt("Answer."); //~
        column prev_by_name(user, prev_by_name.prev) = prompt("List the prev_by_name."); //~
        column only_self(self) = prompt("Go on."); //~
        column reads_nothing() = prompt("Tell a joke."); //~
        column this_for_self(user, this) = prompt("List the topics."); //~
        column self_misspelt(user, slef) = prompt("Answer."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.topics, &chat.self_by_name, &chat.self_twice, &chat.prev_by_name, &chat.only_self, &chat.reads_nothing, &chat.this_for_self, &chat.self_misspelt);
}
