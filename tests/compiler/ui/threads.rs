use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user, self) = prompt("You plan.");
        column thread_of_a_source(user.thread()) = prompt("Is it right?"); //~
        column thread_of_self(assistant.thread(), self.thread()) = prompt("Is it right?"); //~
        column thread_of_self_without_parentheses(user, self.thread) = prompt("Is it right?"); //~
        column thread_with_an_argument(assistant.thread(3)) = prompt("Is it right?"); //~
        column thread_without_parentheses(assistant.thread) = prompt("Is it right?"); //~
        column thread_with_a_window(assistant.thread().latest) = prompt("Is it right?"); //~
        column thread_with_a_tag(assistant.thread().as("said")) = prompt("Is it right?"); //~
        column thread_after_a_window(assistant.latest.thread()) = prompt("Is it right?"); //~
        column thread_in_a_group(group("talk", assistant.thread(), user)) = prompt("Is it right?"); //~
        column thread_behind_a_view(user, assistant.thread()) = prompt("Is it right?"); //~
        column threads(thread_behind_a_view.thread(), assistant.thread()) = prompt("Is it right?"); //~
        column thread_beside_self(assistant.thread(), self) = prompt("Is it right?"); //~
        column thread_beside_an_instruction(assistant.thread(), user.instruction()) = prompt("Is it right?"); //~
        column thread_and_view_of_one_column(assistant.thread(), assistant.latest) = prompt("Is it right?"); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.assistant, &chat.thread_of_a_source, &chat.thread_of_self, &chat.thread_of_self_without_parentheses, &chat.thread_with_an_argument, &chat.thread_without_parentheses, &chat.thread_with_a_window, &chat.thread_with_a_tag, &chat.thread_after_a_window, &chat.thread_in_a_group, &chat.thread_behind_a_view, &chat.threads, &chat.thread_beside_self, &chat.thread_beside_an_instruction, &chat.thread_and_view_of_one_column);
}
