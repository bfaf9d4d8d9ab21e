//! A model by one rule, for a program without a key: the model quotes the line of the documents that has most words of
//! the question. The documents come from the request, as with any model.

use std::collections::BTreeSet;

use columnar::BoxError;
use columnar::model::{Chunk, Model, Request};
use columnar_examples::documents;
use futures::stream::{self, BoxStream, StreamExt as _};

pub(crate) struct Finder;

impl Model for Finder {
    fn name(&self) -> &'static str {
        "finder"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let question = words(&request.messages.last_text());
        let documents = documents(&request);
        let lines = documents
            .iter()
            .flat_map(|document| document.lines.iter().map(|line| (document.path.as_str(), line.as_str())));
        // Of equal lines the last one: lines that changed lately are at the end.
        let best = lines.max_by_key(|(_, line)| words(line).intersection(&question).count());
        let answer = match best.filter(|(_, line)| !words(line).is_disjoint(&question)) {
            Some((path, line)) => format!("{path}: {}", line.trim()),
            None => "No document has a word of the question.".to_owned(),
        };
        stream::iter([Ok(Chunk::Text(answer)), Ok(Chunk::stop())]).boxed()
    }
}

/// The words of a text that may mean something.
fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
    let words = words.map(str::to_lowercase).map(|word| word.trim_end_matches('s').to_owned());
    words.filter(|word| !["question", "does", "which", "there", "where", "when"].contains(&&**word)).collect()
}
