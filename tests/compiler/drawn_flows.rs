//! Flows whose drawings are compared: rustdoc reads this file, and the test compiles it.

use columnar::prelude::*;

flow! {
    /// The flow of the README.
    pub struct Chat {
        /// What the person typed.
        source user;

        column topics(user.latest)        = prompt("Extract the main topics as a comma-separated list.");
        column summary(user, self.latest) = prompt("Update the running summary with the latest message.");
        column critique(summary.latest.as("digest"), user.latest) = prompt("Identify weak reasoning.");
        column assistant(user, self)      = prompt("You are a helpful assistant.");
    }
}

flow! {
    /// Views of each kind, in another order than in a request, and columns of each pattern.
    pub struct Desk {
        source user;
        source files: Documents;
        source rules;
        column late(answer.prev, watch.prev.window(3).elided(), user.prev.all()) = prompt("Compare.");
        column answer(
            self,
            rules.latest.instruction(),
            user.text_only(),
            watch.window(2).context(),
            files.tiered().target(0),
        ) = prompt("Answer.");
        column watch(self.window(4), user.window(6).filter(|text| !text.is_empty())) = prompt("Watch.");
        column journal(user.latest, self)           = prompt("Take notes.");
        column log(user, files.compacted().edits()) = prompt("Describe each change.");
        column title(answer.thread(), group("facts", journal.latest.note("What happened."), late.latest)) =
            prompt("Find a title.");
    }
}
