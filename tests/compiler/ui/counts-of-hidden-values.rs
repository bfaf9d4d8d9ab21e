use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        source other;
        column elided_misspelt(user.window(3).elidd()) = prompt("List the topics."); //~
        column elided_twice(user.window(3).elided().as("said").elided()) = prompt("List the topics."); //~
        column elided_with_all_of_a_column(user.elided()) = prompt("List the topics."); //~
        column elided_with_an_argument(user.window(3).elided(4)) = prompt("List the topics."); //~
        column elided_with_prev_all(user.latest, other.prev.all().elided().as("before")) = prompt("List the topics."); //~
        column elided_without_parentheses(user.window(3).elided) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.other, &chat.elided_misspelt, &chat.elided_twice, &chat.elided_with_all_of_a_column, &chat.elided_with_an_argument, &chat.elided_with_prev_all, &chat.elided_without_parentheses);
}
