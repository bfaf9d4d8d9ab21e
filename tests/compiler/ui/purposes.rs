use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        source notes;
        source rules;
        column purpose_of_self(user, self.latest.context()) = prompt("List the topics."); //~
        column purpose_twice(user, notes.latest.context().instruction()) = prompt("List the topics."); //~
        column purpose_with_an_argument(user, notes.latest.context(3)) = prompt("List the topics."); //~
        column purpose_without_a_primary_input(notes.latest.context(), rules.prev.instruction(), self) = prompt("List the topics."); //~
        column purpose_without_parentheses(user, notes.context) = prompt("List the topics."); //~
        column instruction_after_a_tag(user, rules.latest.as("law").instruction()) = prompt("List the topics."); //~
        column instruction_in_a_group(user, group("facts", notes.latest, rules.latest.instruction())) = prompt("List the topics."); //~
        column instruction_with_a_tag(user, rules.latest.instruction().as("law")) = prompt("List the topics."); //~
        column text_only_twice(user.latest.text_only().as("said").text_only()) = prompt("List the topics."); //~
        column text_only_with_an_argument(user.text_only(true)) = prompt("List the topics."); //~
        column text_only_without_parentheses(user.text_only) = prompt("List the topics."); //~
        column text_only_of_self_without_parentheses(user, self.text_only) = prompt("List the topics."); //~
        column group_of_two_purposes(user, group("facts", notes.latest.context(), rules.latest)) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.notes, &chat.rules, &chat.purpose_of_self, &chat.purpose_twice, &chat.purpose_with_an_argument, &chat.purpose_without_a_primary_input, &chat.purpose_without_parentheses, &chat.instruction_after_a_tag, &chat.instruction_in_a_group, &chat.instruction_with_a_tag, &chat.text_only_twice, &chat.text_only_with_an_argument, &chat.text_only_without_parentheses, &chat.text_only_of_self_without_parentheses, &chat.group_of_two_purposes);
}
