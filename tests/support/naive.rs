//! The rules of assembly in the plainest words: a description of a flow and its values in, the
//! messages of a cell out.

use std::collections::BTreeSet;

use crate::spelling::Spelling;

/// The messages of a cell: role and content.
pub type Messages = Vec<(&'static str, String)>;

/// A flow and everything in it.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Each after what it reads.
    pub columns: Vec<Column>,
}

/// A column with the values that it has or will get.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// By step.
    pub values: Vec<String>,
    /// `None` for a source.
    pub reads: Option<Reads>,
}

/// What a derived column reads.
#[derive(Clone, Debug)]
pub struct Reads {
    /// The inputs in order of declaration.
    pub views: Vec<View>,
    /// How much of its own past it reads, if any.
    pub own: Option<Window>,
    /// Whether it is said how much of that is hidden.
    pub own_elided: bool,
    /// Before which of the views the own past was declared. It makes no difference.
    pub own_at: usize,
}

/// An input.
#[derive(Clone, Debug)]
pub struct View {
    /// The name of the column.
    pub column: String,
    /// How much of it is shown.
    pub window: Window,
    /// Whether that ends with the step before.
    pub delayed: bool,
    /// The tag around it.
    pub tag: String,
    /// The tags of the groups around it, the outermost first.
    pub groups: Vec<String>,
    /// Which of its values are shown, if not all.
    pub filter: Option<Filter>,
    /// Whether it is said how many values the window hides.
    pub elided: bool,
}

/// Which values are shown.
#[derive(Clone, Copy, Debug)]
pub enum Filter {
    /// Those of every so many steps.
    Steps(usize),
    /// Those with an odd number of bytes.
    Odd,
}

impl Filter {
    /// Whether it shows a value.
    pub fn shows(self, step: usize, value: &str) -> bool {
        match self {
            Self::Steps(count) => step.is_multiple_of(count),
            Self::Odd => !value.len().is_multiple_of(2),
        }
    }
}

/// How much of a history is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// All of it.
    All,
    /// The last so many values.
    Last(usize),
}

/// A cell that has no value and should have one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name of the column.
    pub column: String,
    /// The step.
    pub step: usize,
}

impl Window {
    /// Whether a history that ends with the step `newest` is shown at the step `then`.
    fn shows(self, then: usize, newest: usize) -> bool {
        match self {
            Self::All => then <= newest,
            Self::Last(count) => then <= newest && newest < then + count,
        }
    }
}

impl View {
    /// The value of a step, if there is one and the view does not leave it out.
    fn passing<'f>(
        &self,
        flow: &'f Flow,
        said: usize,
        is_gap: IsGap<'_>,
    ) -> Result<Option<&'f str>, Missing> {
        if is_gap(&self.column, said) {
            return Ok(None);
        }
        let value = flow.value(&self.column, said)?;
        Ok(Some(value).filter(|value| self.filter.is_none_or(|filter| filter.shows(said, value))))
    }
}

impl Reads {
    /// The tags of the context.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.views.iter().map(|view| view.tag.as_str()).chain(self.groups())
    }

    /// Those of groups, some more than once.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.views.iter().flat_map(|view| &view.groups).map(String::as_str)
    }
}

impl Flow {
    /// The columns that are computed, and what they read.
    pub fn derived(&self) -> impl Iterator<Item = (&Column, &Reads)> {
        self.columns.iter().filter_map(|column| Some((column, column.reads.as_ref()?)))
    }

    /// How many steps have a value in every column.
    pub fn steps(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).min().unwrap_or(0)
    }

    /// A value.
    ///
    /// # Errors
    ///
    /// [`Missing`] when it is not there.
    pub fn value(&self, column: &str, step: usize) -> Result<&str, Missing> {
        let found = self.columns.iter().find(|candidate| candidate.name == column);
        let value = found.and_then(|column| column.values.get(step));
        value.map(String::as_str).ok_or_else(|| Missing { column: column.to_owned(), step })
    }
}

/// What is read at a step, or said there.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The step.
    pub step: usize,
    /// Who speaks.
    pub role: &'static str,
    /// What a user says before it, whoever speaks.
    pub before: Vec<String>,
    /// The pieces, tags and all.
    pub parts: Vec<String>,
    /// The cells that they show: column and step.
    pub cells: Vec<(String, usize)>,
    /// Its tokens, as [`Chars`](columnar::tokens::Chars) counts: the values, what is around each, and
    /// what separates it from others.
    pub tokens: usize,
}

impl Turn {
    fn of(step: usize, role: &'static str) -> Self {
        Self { step, role, before: Vec::new(), parts: Vec::new(), cells: Vec::new(), tokens: 0 }
    }

    fn push(&mut self, cell: (&str, usize), value: &str, around: &str) {
        self.cells.push((cell.0.to_owned(), cell.1));
        self.tokens += tokens(value) + tokens(around);
    }
}

/// Puts the tags of groups around neighbours that share one, from this depth on.
fn grouped(shown: &[(&[String], String)], depth: usize, count: &mut usize) -> Vec<String> {
    let neighbours =
        shown.chunk_by(|(one, _), (other, _)| one.get(depth).is_some() && one.get(depth) == other.get(depth));
    let part = |neighbours: &[(&[String], String)]| match neighbours {
        [(groups, part)] if groups.len() <= depth => part.clone(),
        [(groups, _), ..] => {
            let tag = groups.get(depth).expect("neighbours share a group");
            *count += tokens(&format!("<{tag}>\n\n</{tag}>"));
            format!("<{tag}>\n{}\n</{tag}>", grouped(neighbours, depth + 1, count).join("\n\n"))
        }
        [] => unreachable!("a chunk has something in it"),
    };
    neighbours.map(part).collect()
}

/// What is said of so many values; nothing of none.
fn elided(count: usize, name: &str) -> Option<String> {
    let values = if count == 1 { "value" } else { "values" };
    (count > 0).then(|| format!("<elided>{count} {values} of {name}</elided>"))
}

/// The tokens of a text: its characters by four, rounded up.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

/// Whether the cell of a column at a step is empty for good.
pub type IsGap<'g> = &'g dyn Fn(&str, usize) -> bool;

/// The turns that the cell of a derived column shows at a step, without what is empty.
///
/// # Errors
///
/// [`Missing`] when a value that they show is not there.
pub fn turns(
    flow: &Flow,
    column: &str,
    reads: &Reads,
    step: usize,
    is_gap: IsGap<'_>,
) -> Result<Vec<Turn>, Missing> {
    let spelling = Spelling::of(reads.tags());
    let mut turns = Vec::new();
    let (mut told, mut own_told) = (BTreeSet::new(), false);
    for then in 0..=step {
        let mut read = Turn::of(then, "user");
        let mut shown: Vec<(&[String], String)> = Vec::new();
        for view in &reads.views {
            let View { column, window, delayed, tag, groups, .. } = view;
            let Some(said) = then.checked_sub(usize::from(*delayed)) else { continue };
            if !window.shows(then, step) && !view.elided {
                continue;
            }
            if let Some(value) = view.passing(flow, said, is_gap)?
                && window.shows(then, step)
            {
                let before: Result<Vec<_>, _> =
                    (0..said).map(|said| view.passing(flow, said, is_gap)).collect();
                if view.elided
                    && told.insert(tag)
                    && let Some(text) = elided(before?.iter().flatten().count(), tag)
                {
                    read.tokens += tokens(&text) + tokens("\n\n");
                    shown.push((groups, text));
                }
                let part = format!("<{tag}>\n{}\n</{tag}>", spelling.escape(value));
                read.push((column, said), value, &format!("<{tag}>\n\n</{tag}>\n\n"));
                shown.push((groups, part));
            }
        }
        read.parts = grouped(&shown, 0, &mut read.tokens);
        let mut said = Turn::of(then, "assistant");
        if let Some(own) = reads.own
            && then < step
            && own.shows(then, step - 1)
            && !is_gap(column, then)
        {
            let value = flow.value(column, then)?;
            if reads.own_elided && !std::mem::replace(&mut own_told, true) {
                let before = (0..then).filter(|then| !is_gap(column, *then)).count();
                said.before.extend(elided(before, column));
                said.tokens += said.before.iter().map(|text| tokens(text) + tokens("\n\n")).sum::<usize>();
            }
            said.push((column, then), value, "\n\n");
            said.parts.push(value.to_owned());
        }
        turns.extend([read, said]);
    }
    turns.retain(|turn| !turn.parts.is_empty());
    Ok(turns)
}

/// The messages of the cell of a derived column at a step.
///
/// # Errors
///
/// [`Missing`] when a value that they show is not there.
pub fn messages(flow: &Flow, column: &str, reads: &Reads, step: usize) -> Result<Messages, Missing> {
    Ok(merge(turns(flow, column, reads, step, &|_, _| false)?))
}

/// Turns as messages: a user comes first, and neighbours of equal role become one message.
pub fn merge(turns: Vec<Turn>) -> Messages {
    let mut said: Messages = Vec::new();
    for Turn { role, before, parts, .. } in turns {
        said.extend(before.into_iter().map(|part| ("user", part)));
        said.extend(parts.into_iter().map(|part| (role, part)));
    }
    if said.first().is_some_and(|(role, _)| *role == "assistant") {
        said.insert(0, ("user", "<elided/>".to_owned()));
    }
    let mut merged = Messages::new();
    for (role, text) in said {
        match merged.last_mut() {
            Some((last, content)) if *last == role => {
                content.push_str("\n\n");
                content.push_str(&text);
            }
            _ => merged.push((role, text)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chat(window: Window, own: Window) -> Flow {
        let values = |letter: &str| (0..4).map(|step| format!("{letter}{step}")).collect();
        let views = vec![View {
            column: "user".into(),
            window,
            delayed: false,
            tag: "user".into(),
            groups: Vec::new(),
            filter: None,
            elided: false,
        }];
        let reads = Some(Reads { views, own: Some(own), own_elided: false, own_at: 0 });
        let user = Column { name: "user".into(), values: values("u"), reads: None };
        Flow { columns: vec![user, Column { name: "bot".into(), values: values("b"), reads }] }
    }

    fn shown(flow: &Flow, step: usize) -> String {
        let (column, reads) = flow.derived().next().expect("there is one");
        let messages = messages(flow, &column.name, reads, step).expect("complete");
        let content = messages.into_iter().map(|(_, content)| content).collect::<Vec<_>>().join(" | ");
        content.replace("<user>\n", "[").replace("\n</user>", "]").replace("\n\n", " ")
    }

    #[test]
    fn the_naive_messages_of_common_patterns_are_right() {
        use Window::{All, Last};
        for (window, own, expected) in [
            (All, All, "[u0] | b0 | [u1] | b1 | [u2] | b2 | [u3]"),
            (All, Last(1), "[u0] [u1] [u2] | b2 | [u3]"),
            (Last(1), All, "<elided/> | b0 b1 b2 | [u3]"),
            (Last(1), Last(1), "<elided/> | b2 | [u3]"),
            (Last(2), Last(1), "[u2] | b2 | [u3]"),
        ] {
            assert_eq!(shown(&chat(window, own), 3), expected);
            assert_eq!(shown(&chat(window, own), 0), "[u0]");
        }
    }

    #[test]
    fn a_missing_value_is_an_error() {
        let mut flow = chat(Window::All, Window::All);
        flow.columns.iter_mut().for_each(|column| column.values.truncate(1));
        let (column, reads) = flow.derived().next().expect("there is one");
        let missing = messages(&flow, &column.name, reads, 1).expect_err("`user` ends at step 0");
        assert_eq!(missing, Missing { column: "user".into(), step: 1 });
    }
}
