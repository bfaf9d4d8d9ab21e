use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user, topics) = prompt("Answer.");
        column topics(user.latest) = prompt("List the topics.");
        column group_comma_missing(group("debate" user)) = prompt("List the topics."); //~
        column group_empty(group("debate")) = prompt("List the topics."); //~
        column group_in_brackets(group["said", user.latest]) = prompt("List the topics."); //~
        column group_in_too_many(group("g1", group("g2", group("g3", group("g4", group("g5", group("g6", group("g7", group("g8", group("g9", group("g10", group("g11", group("g12", group("g13", group("g14", group("g15", group("g16", group("g17", group("g18", group("g19", group("g20", group("g21", group("g22", group("g23", group("g24", group("g25", group("g26", group("g27", group("g28", group("g29", group("g30", group("g31", group("g32", group("g33", user.latest)))))))))))))))))))))))))))))))))) = prompt("List the topics."); //~
        column group_misspelt(groups("said", user.latest), topics) = prompt("Take notes."); //~
        column group_tag_invalid(group("De bate", user)) = prompt("List the topics."); //~
        column group_tag_twice(group("user", user)) = prompt("List the topics."); //~
        column group_tag_without_quotes(group(said, user.latest)) = prompt("List the topics."); //~
        column group_with_a_modifier(group("debate", user).latest) = prompt("List the topics."); //~
        column group_with_self(user, group("debate", self)) = prompt("List the topics."); //~
        column group_without_a_tag(group(user.latest)) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.assistant, &chat.topics, &chat.group_comma_missing, &chat.group_empty, &chat.group_in_brackets, &chat.group_in_too_many, &chat.group_misspelt, &chat.group_tag_invalid, &chat.group_tag_twice, &chat.group_tag_without_quotes, &chat.group_with_a_modifier, &chat.group_with_self, &chat.group_without_a_tag);
}
