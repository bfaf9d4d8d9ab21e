use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column assistant(user, topics) = prompt("Answer.");
        column topics(user.latest) = prompt("List the topics.");
        column window_after_a_tag(user.as("said").window(3)) = prompt("List the topics."); //~
        column window_in_angle_brackets(user.window::<3>()) = prompt("List the topics."); //~
        column window_in_brackets(user.window[3]) = prompt("List the topics."); //~
        column window_of_zero(user.window(0)) = prompt("List the topics."); //~
        column window_with_a_name(user.window(n: 3)) = prompt("List the topics."); //~
        column window_without_count(user.window) = prompt("List the topics."); //~
        column view_with_two_windows(user.latest.window(3)) = prompt("List the topics."); //~
        column prev_after_a_window(user.window(3).prev) = prompt("List the topics."); //~
        column prev_called_with_a_number(user, topics.prev(2)) = prompt("Take notes."); //~
        column prev_on_self(user, self.prev) = prompt("List the topics."); //~
        column latest_called(user.latest()) = prompt("List the topics."); //~
        column view_of_all(user.all()) = prompt("List the topics."); //~
        column view_that_is_a_method(user.last(3)) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.assistant, &chat.topics, &chat.window_after_a_tag, &chat.window_in_angle_brackets, &chat.window_in_brackets, &chat.window_of_zero, &chat.window_with_a_name, &chat.window_without_count, &chat.view_with_two_windows, &chat.prev_after_a_window, &chat.prev_called_with_a_number, &chat.prev_on_self, &chat.latest_called, &chat.view_of_all, &chat.view_that_is_a_method);
}
