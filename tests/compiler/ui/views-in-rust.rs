use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user) = prompt("Answer.");
        column view_that_is_a_keyword(user.await) = prompt("List the topics."); //~
        column view_that_is_a_literal(user, "the weather") = prompt("List the topics."); //~
        column view_that_is_a_path(Chat::user) = prompt("List the topics."); //~
        column view_that_is_a_reference(&user) = prompt("List the topics."); //~
        column view_that_is_mut(mut user) = prompt("List the topics."); //~
        column view_with_a_type(user: &str) = prompt("List the topics."); //~
        column view_with_an_index(user[3]) = prompt("List the topics."); //~
        column views_as_functions(window(user, 3)) = prompt("List the topics."); //~
        column view_cloned(user.clone()) = prompt("List the topics."); //~
        column self_with_a_column(self.user) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.assistant, &chat.view_that_is_a_keyword, &chat.view_that_is_a_literal, &chat.view_that_is_a_path, &chat.view_that_is_a_reference, &chat.view_that_is_mut, &chat.view_with_a_type, &chat.view_with_an_index, &chat.views_as_functions, &chat.view_cloned, &chat.self_with_a_column);
}
