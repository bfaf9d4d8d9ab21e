//! The documents of a request, for models by rules, which read a request as any model does.

use columnar::Role;
use columnar::model::Request;

/// A document in the form of a request.
#[derive(Clone, Debug)]
pub struct Document {
    /// The title of the section.
    pub title: String,
    /// The line before the text; empty for a tree or a legend.
    pub path: String,
    /// The text of the document.
    pub lines: Vec<String>,
}

/// The documents of a request, in the system text and in messages of the user.
pub fn documents(request: &Request) -> Vec<Document> {
    let users = request.messages.iter().filter(|(role, _)| *role == Role::User);
    let mut documents = Vec::new();
    collect(&mut documents, &request.system);
    users.for_each(|(_, text)| collect(&mut documents, &text));
    documents
}

/// Adds the documents of a text: a path, and the text in a fence that is longer than any run of backticks inside.
fn collect(documents: &mut Vec<Document>, text: &str) {
    let (mut title, mut before, mut fence, mut lines) = ("", "", None, Vec::new());
    for line in text.lines() {
        match fence {
            Some(open) if line == open => {
                // The line break after a text is not part of the last line.
                lines.pop_if(|line: &mut String| line.is_empty());
                let lines = std::mem::take(&mut lines);
                documents.push(Document { title: title.to_owned(), path: before.to_owned(), lines });
                (fence, before) = (None, "");
            }
            Some(_) => lines.push(line.to_owned()),
            None if line.starts_with("```") => fence = Some(line),
            None => {
                if line.is_empty() && before.starts_with("# ") {
                    title = before;
                }
                before = line;
            }
        }
    }
}
