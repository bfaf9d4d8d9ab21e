use columnar::prelude::*;

flow! {
    pub struct Debate {
        source topic;
        source facts;
        column critic(topic.latest, facts.latest) = prompt("Name the weak points.");
        column synthesis(critic, topic) = prompt("Sum up.");
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate { topic = user, facts: user } as module_input_equals; //~
        use Debate { topic: "rust", facts: user } as module_input_of_text; //~
        use Debate { topic: self, facts: user } as module_input_self; //~
        use Debate { topic: user, facts: user, topic: user } as module_input_twice; //~
        use Debate { topic: usr, facts: user } as module_input_unknown_column; //~
        use Debate { topic: user.latest, facts: user } as module_input_with_a_view; //~
        use Debate { topic:, facts: user } as module_input_without_a_column; //~
        use Debate { topic: user,, facts: user } as module_input_empty; //~
        use Debate { topic: user, 3 } as module_input_of_a_number; //~
    }
}

fn main() {
    let chat = Chat::new();
    let _ = (&chat.user, &chat.module_input_equals, &chat.module_input_of_text, &chat.module_input_self, &chat.module_input_twice, &chat.module_input_unknown_column, &chat.module_input_with_a_view, &chat.module_input_without_a_column, &chat.module_input_empty, &chat.module_input_of_a_number);
}
