use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        source notes;
        source rules;
        source files: Documents;
        #[deny(unbounded)]
        column deny_unbounded(user, self.latest) = prompt("List the topics."); //~
        #[deny(unbounded)]
        column deny_unbounded_context(user.latest, notes.prev.all().context()) = prompt("List the topics."); //~
        #[deny(unbounded)]
        column deny_unbounded_documents(files, user.latest, self.latest) = prompt("Describe each change."); //~
        #[deny(unbounded)]
        column deny_unbounded_tiers(files.tiered(), user.latest, self) = prompt("You write Rust."); //~
        #[deny(unstable_prefix)]
        column deny_unstable_prefix_instruction(user, rules.latest.instruction(), self) = prompt("List the topics."); //~
        #[deny(missing_docs)] //~
        column deny_lint_of_rust(user) = prompt("List the topics.");
        #[deny(unbound)] //~
        column deny_misspelt(user) = prompt("List the topics.");
        #[deny] //~
        column deny_without_a_lint(user) = prompt("List the topics.");
        #[deny(literal_braces)] //~
        column deny_braces(user) = prompt("List the topics.");
        #[allow(unbounded)] //~
        column allow_unbounded(user) = prompt("List the topics.");
        #[allow(unused)] //~
        column allow_lint_of_rust(user) = prompt("List the topics.");
        column braces(user.latest) = prompt("Answer {user} in {style}, as in {\"user\": 1}."); //~
        column braces_unread(user.latest) = if true { Step::new(prompt("Answer {notes.latest}.")) } else { prompt("{{user}}").retry(3) }; //~
        #[allow(literal_braces)]
        column braces_allowed(user.latest) = prompt("Write <b>{user}</b>.");
        column shared(user, self) = prompt("You plan.").model("openai/gpt-5.4");
        #[deny(unshared)]
        column unshared_model(shared.thread()) = prompt("Is it right?").model("openai/gpt-5.4-mini"); //~
        #[deny(unshared)]
        column unshared_default(shared.thread()) = prompt("Is it right?"); //~
        #[deny(unshared)]
        column unshared_effort(shared.thread()) = prompt("Is it right?").model("openai/gpt-5.4").effort(Effort::High); //~
        #[deny(unshared)]
        column shared_by_a_constant(shared.thread()) = prompt("Is it right?").model(MODEL);
    }
}

const MODEL: &str = "openai/gpt-5.4";

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.notes, &chat.rules, &chat.files, &chat.deny_unbounded, &chat.deny_unbounded_context, &chat.deny_unbounded_documents, &chat.deny_unbounded_tiers, &chat.deny_unstable_prefix_instruction, &chat.deny_lint_of_rust, &chat.deny_misspelt, &chat.deny_without_a_lint, &chat.deny_braces, &chat.allow_unbounded, &chat.allow_lint_of_rust, &chat.braces, &chat.braces_unread, &chat.braces_allowed, &chat.shared, &chat.unshared_model, &chat.unshared_default, &chat.unshared_effort, &chat.shared_by_a_constant);
}
