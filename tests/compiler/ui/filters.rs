use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column filter_async(user.filter(async |text| text.ends_with('?'))) = prompt("List the topics."); //~
        column filter_on_self(user, self.filter(str::is_empty)) = prompt("List the topics."); //~
        column filter_twice(user.filter(str::is_empty).sample(|step| step == 0)) = prompt("List the topics."); //~
        column filter_with_an_arrow(user.filter(text => text.ends_with('?'))) = prompt("List the topics."); //~
        column filter_without_a_function(user.filter()) = prompt("List the topics."); //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.filter_async, &chat.filter_on_self, &chat.filter_twice, &chat.filter_with_an_arrow, &chat.filter_without_a_function);
}
