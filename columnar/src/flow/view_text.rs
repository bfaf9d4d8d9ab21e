//! Views of the run-time API as text, and texts as views.

use std::fmt;

use super::column::{View, ViewTarget, group};
use crate::declare::ViewText;

/// A view as text, in the language of [`flow!`](crate::flow!). It finds its column by name, so the column may be declared
/// later. A text that is no view is an error of the flow, with the position of the mistake.
///
/// ```
/// use columnar::prelude::*;
///
/// let critic = column("critic", ["user.latest", "writer.prev", "self.window(3)"], prompt("Name the weak points."));
/// let writer = column("writer", ["user", "critic.latest.as(\"review\")"], prompt("Write."));
/// let f = flow([writer, critic, source("user")])?;
/// assert_eq!(f.order(), ["user", "critic", "writer"]);
///
/// let unknown = flow([column("critic", "user.windw(3)", prompt("…")), source("user")]).expect_err("a mistake");
/// assert_eq!(
///     unknown.to_string(),
///     "`critic` has the view `user.windw(3)`, which is wrong at character 6: no view is named `windw`; did you mean \
///      `window`?"
/// );
/// # Ok::<(), Error>(())
/// ```
impl From<&str> for View {
    fn from(text: &str) -> Self {
        match text.parse() {
            Ok(view) => view_of(view),
            Err(error) => Self::new(ViewTarget::Invalid(text.to_owned(), error)),
        }
    }
}

impl From<&String> for View {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for View {
    fn from(text: String) -> Self {
        text.as_str().into()
    }
}

/// The view as text, in the language of [`flow!`](crate::flow!). A filter has no text: `.filter` is in its place.
impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.target {
            ViewTarget::Invalid(text, _) => f.write_str(text),
            _ => text_of(self).fmt(f),
        }
    }
}

// One parser and one writer of texts: a stored definition, a file and an error must mean the same view.
pub(super) fn view_of(text: ViewText) -> View {
    match text {
        ViewText::Column(name, spec) => View { target: ViewTarget::Named(name), spec },
        ViewText::SelfHistory(spec) => View { target: ViewTarget::SelfHistory, spec },
        ViewText::Group(tag, views) => group(tag, views.into_iter().map(view_of).collect::<Vec<_>>()),
    }
}

fn text_of(view: &View) -> ViewText {
    let spec = view.spec.clone();
    match &view.target {
        ViewTarget::SelfHistory => ViewText::SelfHistory(spec),
        ViewTarget::Column(column) => ViewText::Column(column.name().to_owned(), spec),
        ViewTarget::Named(name) | ViewTarget::Invalid(name, _) => ViewText::Column(name.clone(), spec),
        ViewTarget::Group(views) => {
            ViewText::Group(spec.tag.unwrap_or_default(), views.iter().map(text_of).collect())
        }
    }
}
