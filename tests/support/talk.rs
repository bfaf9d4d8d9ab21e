//! A flow of another crate than the one that extends it.

use columnar::prelude::*;
use columnar::testing::script;

flow! {
    /// A talk between two.
    #[derive(Debug)]
    pub struct Talk<'a>(answer: &'a str) {
        /// What the one says.
        source one;
        /// What the other answers.
        column other(one.latest, self) = {
            let answer: &'a str = answer;
            move |_: Context| std::future::ready(answer.to_owned())
        };
        /// What comes after.
        column r#type(other.latest) = script(["first", "second"]);
    }
}
