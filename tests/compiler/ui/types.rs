use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user) = prompt("Answer.");
        column type_invalid(user.latest): 5 stars = prompt("Rate it."); //~
        column type_missing(user.latest): = prompt("Rate it."); //~
        column type_of_text(user.latest): String = prompt("List the topics."); //~
        column type_of_unknown_size(user.latest): [String] = prompt("List the topics."); //~
        column type_partial(user.latest): std:: = prompt("Rate it."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.assistant, &chat.type_invalid, &chat.type_missing, &chat.type_of_text, &chat.type_of_unknown_size, &chat.type_partial);
}
