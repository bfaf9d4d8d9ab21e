//! A flow without its program: the columns as the store has them.

use std::sync::Arc;

use super::column::{Column, View, documents, source};
use super::dynamic::Flow;
use super::view_text::view_of;
use crate::compute::{Context, Policy, Step, external};
use crate::declare::{Name, ViewText};
use crate::run::reopen::{FlowDefinition, IntoOpenOptions, StoredColumn};
use crate::run::{Error, Result};
use crate::store::{ReadOnly, StoreError};

impl Flow {
    /// Opens the flow of a store to be read, without the program that declares its columns, while its owner may write; see
    /// [`ReadOnly`]. Pass the store, or [`OpenOptions`](crate::reopen::OpenOptions) with the store.
    ///
    /// The columns are the ones of the last opening, with their views. Prompts, notes, budgets, filters and settings are in
    /// the program alone. So a context shows what the views select and no system text, and a run computes nothing.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let store = MemoryStore::new();
    /// let owner = Flow::open(store.clone(), [column("topics", source("user").latest(), prompt("List the topics."))]).await?;
    /// owner.push("user", "hello").await?;
    ///
    /// let reader = Flow::open_stored(store).await?;
    /// assert_eq!(reader.order(), ["user", "topics"]);
    /// assert_eq!(reader.messages("topics", 0)?.last_text(), "<user>\nhello\n</user>");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Open`] if the store cannot be read or has no flow; [`Error::Load`] if a value cannot be read.
    pub async fn open_stored(options: impl IntoOpenOptions) -> Result<Self> {
        let mut options = options.into_open_options();
        options.store = Arc::new(ReadOnly::new(options.store));
        let text = options.store.open().await.map_err(Error::open)?;
        let text = text.ok_or_else(|| Error::open(StoreError::other("it holds no flow yet")))?;
        let definition = FlowDefinition::parse(&text).map_err(Error::open)?;
        let stored: Vec<&StoredColumn> = definition.columns.iter().filter(|column| !column.is_gone).collect();
        // A filter is not stored, so its column seems to have changed.
        let options = stored.iter().fold(options, |options, column| options.keep(column.name.as_str()));
        let columns = stored.iter().map(|column| declared(column, &definition));
        Self::open(options, columns.collect::<Vec<_>>()).await
    }
}

fn declared(stored: &StoredColumn, definition: &FlowDefinition) -> Column {
    let name = stored.name.as_str();
    match &stored.reads {
        None if stored.is_documents => documents(name),
        None => source(name),
        Some(texts) => {
            let views = texts.iter().map(|text| without_filters(text).parse());
            let views = match views.collect::<Result<Vec<ViewText>, _>>() {
                Ok(views) => {
                    joined(views).into_iter().map(|view| view_of(by_names(view, definition))).collect()
                }
                // The flow reports the mistake.
                Err(_) => texts.iter().map(View::from).collect(),
            };
            let step = if stored.is_external { Step::new(external()) } else { not_computed() };
            let step = match &stored.version {
                Some(version) => step.version(version),
                None => step,
            };
            Column::derived(name.to_owned(), views, Ok(step))
        }
    }
}

/// The views with each group in one piece: a definition has all groups around each input, also where a group goes on.
fn joined(views: Vec<ViewText>) -> Vec<ViewText> {
    let mut joined_views: Vec<ViewText> = Vec::new();
    for view in views {
        match (joined_views.last_mut(), view) {
            (Some(ViewText::Group(last, inner)), ViewText::Group(tag, more)) if *last == tag => {
                inner.extend(more);
            }
            (_, view) => joined_views.push(view),
        }
    }
    let inside = joined_views.into_iter().map(|view| match view {
        ViewText::Group(tag, views) => ViewText::Group(tag, joined(views)),
        view => view,
    });
    inside.collect()
}

/// A compute step that fails.
fn not_computed() -> Step<'static> {
    Step::new(|_: Context| async {
        Err::<String, _>("this flow was opened as it is stored: open it in the program that declares it")
    })
}

/// The view with the names of the columns in place of their keys.
fn by_names(view: ViewText, definition: &FlowDefinition) -> ViewText {
    match view {
        ViewText::Column(key, spec) => {
            let stored = definition.columns.iter().find(|column| *column.key == *key);
            ViewText::Column(stored.map(|column| &column.name).map_or(key, Name::to_string), spec)
        }
        ViewText::Group(tag, views) => {
            ViewText::Group(tag, views.into_iter().map(|view| by_names(view, definition)).collect())
        }
        ViewText::SelfHistory(spec) => ViewText::SelfHistory(spec),
    }
}

/// The text of a view without the words for filters, which no declaration as text can have. They are the last word of a view,
/// outside of quotes.
fn without_filters(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut is_quoted = false;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if !is_quoted
            && let Some(after) = rest.strip_prefix(".filter")
            && after.chars().next().is_none_or(|next| matches!(next, ',' | ')'))
        {
            rest = after;
            continue;
        }
        // An escaped quote ends no text.
        let taken = if is_quoted && c == '\\' {
            rest.chars().take(2).map(char::len_utf8).sum()
        } else {
            c.len_utf8()
        };
        is_quoted ^= c == '"';
        let (same, after) = rest.split_at(taken);
        kept.push_str(same);
        rest = after;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_is_left_out_where_it_is_no_part_of_a_text() {
        for (text, expected) in [
            ("user.filter", "user"),
            (r#"user.latest.as("a.filter").filter"#, r#"user.latest.as("a.filter")"#),
            (
                r#"group("x\".filter", a.filter, b.window(3).filter)"#,
                r#"group("x\".filter", a, b.window(3))"#,
            ),
            ("user.filtered.latest", "user.filtered.latest"),
            ("self", "self"),
        ] {
            assert_eq!(without_filters(text), expected);
        }
    }
}
