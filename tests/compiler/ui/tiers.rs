use columnar::prelude::*;

flow! {
    pub struct Chat {
        source files: Documents;
        source user;
        column topics(user.latest) = prompt("List the topics.");
        column tiered_column(topics.tiered(), user, self) = prompt("You write Rust."); //~
        column tiered_self(files, user, self.tiered()) = prompt("You write Rust."); //~
        column tiered_text(user.tiered(), files, self) = prompt("You write Rust."); //~
        column tiered_twice(files.tiered().tiered(), user, self) = prompt("You write Rust."); //~
        column tiered_with_a_purpose(files.tiered().context(), user, self) = prompt("You write Rust."); //~
        column tiered_with_text_only(files.tiered().text_only(), user, self) = prompt("You write Rust."); //~
        column tiered_with_a_tag(files.tiered().as("code"), user, self) = prompt("You write Rust."); //~
        column tiered_with_an_argument(files.tiered(1_536), user, self) = prompt("You write Rust."); //~
        column tiered_without_parentheses(files.tiered, user, self) = prompt("You write Rust."); //~
        column tiered_in_a_group(group("all", files.tiered(), user), self) = prompt("You write Rust."); //~
        column target_alone(files.target(1_536), user, self) = prompt("You write Rust."); //~
        column target_in_quotes(files.tiered().target("1536"), user, self) = prompt("You write Rust."); //~
        column target_twice(files.tiered().target(0).target(1_536), user, self) = prompt("You write Rust."); //~
        column target_without_a_number(files.tiered().target(), user, self) = prompt("You write Rust."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.files, &chat.user, &chat.topics, &chat.tiered_column, &chat.tiered_self, &chat.tiered_text, &chat.tiered_twice, &chat.tiered_with_a_purpose, &chat.tiered_with_text_only, &chat.tiered_with_a_tag, &chat.tiered_with_an_argument, &chat.tiered_without_parentheses, &chat.tiered_in_a_group, &chat.target_alone, &chat.target_in_quotes, &chat.target_twice, &chat.target_without_a_number);
}
