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

flow! {
    /// A talk that is a part of what is said.
    #[derive(Debug)]
    pub struct Panel<'a>(answer: &'a str) {
        /// What is asked.
        source asked;
        /// What two say to it.
        use Talk<'a>(answer) { one: asked } as talk;
        /// What remains.
        column rest(talk.other.latest, talk.r#type.latest) = script(["a", "b"]);
    }
}

/// A way to speak that is a type of its own, for flows with parameters.
pub trait Voice: Clone + Send + Sync + 'static {
    /// What it says.
    fn speak(&self) -> String;
}

impl Voice for String {
    fn speak(&self) -> String {
        self.clone()
    }
}

/// A compute step that says what a voice does.
pub fn spoken<V: Voice>(
    voice: &V,
) -> impl Fn(Context) -> std::future::Ready<String> + Send + Sync + 'static + use<V> {
    let voice = voice.clone();
    move |_| std::future::ready(voice.speak())
}
