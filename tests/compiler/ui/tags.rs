use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
        column tag_as_in_rust(user as "said") = prompt("List the topics."); //~
        column tag_invalid(user.as("What is said")) = prompt("List the topics."); //~
        column tag_missing(user.as) = prompt("List the topics."); //~
        column tag_not_a_literal(user.as(SAID)) = prompt("List the topics."); //~
        column tag_on_self(user, self.as("me")) = prompt("Answer."); //~
        column tag_twice_with_as(user, topics.as("user"), self) = prompt("Answer."); //~
        column tag_twice(user.window(3), user.latest) = prompt("List the topics."); //~
        column view_with_two_tags(user.as("said").as("heard")) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.topics, &chat.tag_as_in_rust, &chat.tag_invalid, &chat.tag_missing, &chat.tag_not_a_literal, &chat.tag_on_self, &chat.tag_twice_with_as, &chat.tag_twice, &chat.view_with_two_tags);
}
