//! Flows of another crate than the one with the use.

use columnar::prelude::*;
use columnar::testing::script;

flow! {
    /// A conversation of two speakers.
    #[derive(Debug)]
    pub struct Talk<'a>(answer: &'a str) {
        /// The messages of the first speaker.
        source one;
        /// The replies of the second speaker.
        column other(one.latest, self) = {
            let answer: &'a str = answer;
            move |_: Context| std::future::ready(answer.to_owned())
        };
        /// A column whose name is a keyword.
        column r#type(other.latest) = script(["first", "second"]);
    }
}

flow! {
    /// A flow with a module.
    #[derive(Debug)]
    pub struct Panel<'a>(answer: &'a str) {
        /// The question.
        source asked;
        /// The conversation about the question.
        use Talk<'a>(answer) { one: asked } as talk;
        /// The result.
        column rest(talk.other.latest, talk.r#type.latest) = script(["a", "b"]);
    }
}

/// A type that returns a text, for flows with type parameters.
pub trait Voice: Clone + Send + Sync + 'static {
    /// The text.
    fn speak(&self) -> String;
}

impl Voice for String {
    fn speak(&self) -> String {
        self.clone()
    }
}

/// A compute step that returns the text of a voice.
pub fn spoken<V: Voice>(
    voice: &V,
) -> impl Fn(Context) -> std::future::Ready<String> + Send + Sync + 'static + use<V> {
    let voice = voice.clone();
    move |_| std::future::ready(voice.speak())
}
