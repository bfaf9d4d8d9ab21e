use columnar::prelude::*;

flow! {
    pub struct Chat {
        source files: Documents;
        source notes: Documents;
        source user;
        column tiers_beside_documents(files.tiered(), notes, user, self) = prompt("You write Rust."); //~
        column tiers_twice_of_one_source(files.tiered(), files.tiered().target(0), user, self) = prompt("You write Rust."); //~
        column tiers_with_a_window_of_self(files.tiered(), user, self.window(3).elided()) = prompt("You write Rust."); //~
        column tiers_with_context_alone(files.tiered(), user.latest.context(), self) = prompt("You write Rust."); //~
        column tiers_without_self(files.tiered(), user) = prompt("You write Rust."); //~
        column tiers_without_text(files.tiered(), self) = prompt("You write Rust."); //~
        column documents_latest(files.latest, user, self) = prompt("Describe each change."); //~
        column documents_filter(files.filter(|text| text.len() > 9), user, self) = prompt("Describe each change."); //~
        column documents_tiered_window(files.tiered().window(3), user, self) = prompt("You write Rust."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.files, &chat.notes, &chat.user, &chat.tiers_beside_documents, &chat.tiers_twice_of_one_source, &chat.tiers_with_a_window_of_self, &chat.tiers_with_context_alone, &chat.tiers_without_self, &chat.tiers_without_text, &chat.documents_latest, &chat.documents_filter, &chat.documents_tiered_window);
}
