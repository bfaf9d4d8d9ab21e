use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user) = prompt("Answer.");
        column note_empty(user.note(" ")) = prompt("List the topics."); //~
        column note_not_a_literal(user.note(3)) = prompt("List the topics."); //~
        column note_of_two_texts(user.note("said" "here")) = prompt("List the topics."); //~
        column note_on_self(user, self.note("a")) = prompt("List the topics."); //~
        column note_twice(user.note("a").note("b")) = prompt("List the topics."); //~
        column note_without_text(user.note) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.assistant, &chat.note_empty, &chat.note_not_a_literal, &chat.note_of_two_texts, &chat.note_on_self, &chat.note_twice, &chat.note_without_text);
}
