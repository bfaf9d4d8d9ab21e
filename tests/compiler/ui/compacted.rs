use columnar::prelude::*;

flow! {
    pub struct Chat {
        source files: Documents;
        source notes: Documents;
        source user;
        column topics(user.latest) = prompt("List the topics.");
        column compacted_column(topics.compacted(), user, self) = prompt("You write Rust."); //~
        column compacted_self(files, user, self.compacted()) = prompt("You write Rust."); //~
        column compacted_text(user.compacted(), files, self) = prompt("You write Rust."); //~
        column compacted_twice(files.compacted().compacted(), user, self) = prompt("You write Rust."); //~
        column compacted_in_tiers(files.compacted().tiered(), user, self) = prompt("You write Rust."); //~
        column compacted_beside_tiers(files.compacted(), notes.tiered(), user, self) = prompt("You write Rust."); //~
        column compacted_with_a_window(files.compacted().window(3), user, self) = prompt("You write Rust."); //~
        column compacted_with_a_purpose(files.compacted().context(), user, self) = prompt("You write Rust."); //~
        column compacted_with_a_tag(files.compacted().as("code"), user, self) = prompt("You write Rust."); //~
        column compacted_with_text_only(files.compacted().text_only(), user, self) = prompt("You write Rust."); //~
        column compacted_with_an_argument(files.compacted(2.0), user, self) = prompt("You write Rust."); //~
        column compacted_without_parentheses(files.compacted, user, self) = prompt("You write Rust."); //~
        column compacted_without_text(files.compacted(), notes, self) = prompt("You write Rust."); //~
        column compacted_in_a_group(group("all", files.compacted(), user), self) = prompt("You write Rust."); //~
        column edits_alone(files.edits(), user, self) = prompt("You write Rust."); //~
        column edits_twice(files.compacted().edits().edits(), user, self) = prompt("You write Rust."); //~
        column edits_with_an_argument(files.compacted().edits(true), user, self) = prompt("You write Rust."); //~
        column bound_of_tiers(files.tiered().at_most(2.0), user, self) = prompt("You write Rust."); //~
        column bound_below_one(files.compacted().at_most(0.5), user, self) = prompt("You write Rust."); //~
        column bound_in_whole_numbers(files.compacted().at_most(2), user, self) = prompt("You write Rust."); //~
        column bound_twice(files.compacted().at_most(2.0).at_most(3.0), user, self) = prompt("You write Rust."); //~
        column bound_without_a_number(files.compacted().at_most(), user, self) = prompt("You write Rust."); //~
        column right(files.compacted().edits().at_most(1.5), user, self) = prompt("You write Rust.");
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.files, &chat.notes, &chat.user, &chat.topics, &chat.compacted_column, &chat.compacted_self, &chat.compacted_text, &chat.compacted_twice, &chat.compacted_in_tiers, &chat.compacted_beside_tiers, &chat.compacted_with_a_window, &chat.compacted_with_a_purpose, &chat.compacted_with_a_tag, &chat.compacted_with_text_only, &chat.compacted_with_an_argument, &chat.compacted_without_parentheses, &chat.compacted_without_text, &chat.compacted_in_a_group, &chat.edits_alone, &chat.edits_twice, &chat.edits_with_an_argument, &chat.bound_of_tiers, &chat.bound_below_one, &chat.bound_in_whole_numbers, &chat.bound_twice, &chat.bound_without_a_number, &chat.right);
}
