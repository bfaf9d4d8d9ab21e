//! A naive implementation of assembly: a description of a flow with all values in, the messages of a cell out.

use std::collections::BTreeSet;

use crate::spelling::Spelling;

/// The messages of a cell: role and content.
pub type Messages = Vec<(&'static str, String)>;

/// A flow and all of its contents.
#[derive(Clone, Debug)]
pub struct Flow {
    /// The columns, each after all inputs.
    pub columns: Vec<Column>,
}

/// A column with the values that it has or will get.
#[derive(Clone, Debug)]
pub struct Column {
    /// The name of the column.
    pub name: String,
    /// The values by step.
    pub values: Vec<String>,
    /// `None` for a source.
    pub reads: Option<Reads>,
}

/// The inputs of a derived column.
#[derive(Clone, Debug)]
pub struct Reads {
    /// The inputs in order of declaration.
    pub views: Vec<View>,
    /// The window of the self history, if the column reads `self`.
    pub self_history: Option<Window>,
    /// Whether a notice counts the hidden values of the self history.
    pub self_elided: bool,
    /// The position of `self` among the views, which makes no difference.
    pub self_position: usize,
}

/// An input.
#[derive(Clone, Debug)]
pub struct View {
    /// The name of the column.
    pub column: String,
    /// The window.
    pub window: Window,
    /// Whether the input lags by one step.
    pub lagged: bool,
    /// The tag around the values.
    pub tag: String,
    /// The tags of the groups around the input, the outermost first.
    pub groups: Vec<String>,
    /// The filter, if any.
    pub filter: Option<Filter>,
    /// Whether a notice counts the hidden values.
    pub elided: bool,
}

/// A filter of values.
#[derive(Clone, Copy, Debug)]
pub enum Filter {
    /// Shows the values of every n-th step.
    Steps(usize),
    /// Shows the values with an odd number of bytes.
    Odd,
}

impl Filter {
    /// Whether the filter shows a value.
    pub fn shows(self, step: usize, value: &str) -> bool {
        match self {
            Self::Steps(count) => step.is_multiple_of(count),
            Self::Odd => !value.len().is_multiple_of(2),
        }
    }
}

/// The window of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// The whole history.
    All,
    /// This number of latest values.
    Last(usize),
}

/// A cell whose value is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The name of the column.
    pub column: String,
    /// The step.
    pub step: usize,
}

impl Window {
    fn text(self) -> String {
        match self {
            Self::All => String::new(),
            Self::Last(1) => ".latest".to_owned(),
            Self::Last(count) => format!(".window({count})"),
        }
    }

    /// Whether the step `then` is shown of a history that ends before the step `end`. The window counts values.
    fn shows(self, then: usize, end: usize, is_gap: impl Fn(usize) -> bool) -> bool {
        let later = || (then + 1..end).filter(|step| !is_gap(*step)).count();
        match self {
            Self::All => then < end,
            Self::Last(count) => then < end && later() < count,
        }
    }
}

impl View {
    fn text(&self) -> String {
        let Self { column, window, lagged, tag, elided, .. } = self;
        let lag = match (lagged, window) {
            (true, Window::All) => ".prev.all()".to_owned(),
            (true, Window::Last(1)) => ".prev".to_owned(),
            (true, Window::Last(_)) => format!(".prev{}", window.text()),
            (false, _) => window.text(),
        };
        // The tag before the rest: modifiers may come in any order.
        let tag = if tag == column { String::new() } else { format!(".as(\"{tag}\")") };
        format!("{column}{lag}{tag}{}", if *elided { ".elided()" } else { "" })
    }

    /// The value of a step, if there is one and the view shows it.
    fn passing<'f>(
        &self,
        flow: &'f Flow,
        step: usize,
        is_gap: IsGap<'_>,
    ) -> Result<Option<&'f str>, Missing> {
        if is_gap(&self.column, step) {
            return Ok(None);
        }
        let value = flow.value(&self.column, step)?;
        Ok(Some(value).filter(|value| self.filter.is_none_or(|filter| filter.shows(step, value))))
    }
}

impl Reads {
    /// The tags of the context.
    pub fn tags(&self) -> impl Iterator<Item = &str> {
        self.views.iter().map(|view| view.tag.as_str()).chain(self.groups())
    }

    /// The tags of groups, with repetitions.
    pub fn groups(&self) -> impl Iterator<Item = &str> {
        self.views.iter().flat_map(|view| &view.groups).map(String::as_str)
    }
}

impl Reads {
    /// The views as text, in the language of `flow!`. A filter has none.
    pub fn texts(&self) -> Vec<String> {
        let mut texts = group_texts(&self.views, 0);
        if let Some(window) = self.self_history {
            let elided = if self.self_elided { ".elided()" } else { "" };
            let text = format!("self{}{elided}", window.text());
            // A group is one text for several views, so the position may be beyond the end.
            texts.insert(self.self_position.min(texts.len()), text);
        }
        texts
    }
}

/// The texts of these views, which are in the same groups up to this depth.
fn group_texts(views: &[View], depth: usize) -> Vec<String> {
    let is_same = |one: &View, other: &View| {
        one.groups.get(depth).is_some() && one.groups.get(depth) == other.groups.get(depth)
    };
    let text = |views: &[View]| match views.first().and_then(|first| first.groups.get(depth)) {
        Some(tag) => format!("group(\"{tag}\", {})", group_texts(views, depth + 1).join(", ")),
        None => views.iter().map(View::text).collect(),
    };
    views.chunk_by(is_same).map(text).collect()
}

impl Flow {
    /// The derived columns and all inputs.
    pub fn derived(&self) -> impl Iterator<Item = (&Column, &Reads)> {
        self.columns.iter().filter_map(|column| Some((column, column.reads.as_ref()?)))
    }

    /// The number of steps with a value in every column.
    pub fn steps(&self) -> usize {
        self.columns.iter().map(|column| column.values.len()).min().unwrap_or(0)
    }

    /// A value.
    ///
    /// # Errors
    ///
    /// [`Missing`] if there is no such value.
    pub fn value(&self, column: &str, step: usize) -> Result<&str, Missing> {
        let found = self.columns.iter().find(|candidate| candidate.name == column);
        let value = found.and_then(|column| column.values.get(step));
        value.map(String::as_str).ok_or_else(|| Missing { column: column.to_owned(), step })
    }
}

/// The inputs of a step, or the column's own value at the step.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The step.
    pub step: usize,
    /// The role.
    pub role: &'static str,
    /// The texts of the user before the turn, for a turn of any role.
    pub before: Vec<String>,
    /// The parts with tags.
    pub parts: Vec<String>,
    /// The shown cells: column and step.
    pub cells: Vec<(String, usize)>,
    /// The tokens of the turn, as [`Estimate`](columnar::tokens::Estimate) counts: the values, the delimiters and the
    /// separators.
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

/// Adds the tags of groups around adjacent parts that share one, from this depth on.
fn grouped(shown: &[(&[String], String)], depth: usize, count: &mut usize) -> Vec<String> {
    let adjacent =
        shown.chunk_by(|(one, _), (other, _)| one.get(depth).is_some() && one.get(depth) == other.get(depth));
    let part = |adjacent: &[(&[String], String)]| match adjacent {
        [(groups, part)] if groups.len() <= depth => part.clone(),
        [(groups, _), ..] => {
            let tag = groups.get(depth).expect("adjacent share a group");
            *count += tokens(&format!("<{tag}>\n\n</{tag}>"));
            format!("<{tag}>\n{}\n</{tag}>", grouped(adjacent, depth + 1, count).join("\n\n"))
        }
        [] => unreachable!("a chunk has something in it"),
    };
    adjacent.map(part).collect()
}

/// The notice of this number of hidden values, if there are any.
fn elided(count: usize, name: &str) -> Option<String> {
    let values = if count == 1 { "value" } else { "values" };
    (count > 0).then(|| format!("<elided>{count} {values} of {name}</elided>"))
}

/// The tokens of a text: a quarter of the characters, rounded up.
pub fn tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}

/// Whether the cell of a column at a step is skipped.
pub type IsGap<'g> = &'g dyn Fn(&str, usize) -> bool;

/// The turns that the cell of a derived column shows at a step, without empty ones.
///
/// # Errors
///
/// [`Missing`] if a shown value is missing.
pub fn turns(
    flow: &Flow,
    column: &str,
    reads: &Reads,
    step: usize,
    is_gap: IsGap<'_>,
) -> Result<Vec<Turn>, Missing> {
    let spelling = Spelling::of(reads.tags());
    let mut turns = Vec::new();
    let (mut noticed, mut self_noticed) = (BTreeSet::new(), false);
    for then in 0..=step {
        let mut read = Turn::of(then, "user");
        let mut shown: Vec<(&[String], String)> = Vec::new();
        for view in &reads.views {
            let View { column, window, lagged, tag, groups, .. } = view;
            let Some(source_step) = then.checked_sub(usize::from(*lagged)) else { continue };
            let end = step + 1 - usize::from(*lagged);
            let is_shown = window.shows(source_step, end, |step| is_gap(column, step));
            // A notice counts hidden values, so a missing one is an error although it is not shown.
            if !is_shown && !view.elided {
                continue;
            }
            if let Some(value) = view.passing(flow, source_step, is_gap)?
                && is_shown
            {
                let before: Result<Vec<_>, _> =
                    (0..source_step).map(|earlier| view.passing(flow, earlier, is_gap)).collect();
                if view.elided
                    // Only before the first shown value of a view, which the tag identifies.
                    && noticed.insert(tag)
                    && let Some(text) = elided(before?.iter().flatten().count(), tag)
                {
                    read.tokens += tokens(&text) + tokens("\n\n");
                    shown.push((groups, text));
                }
                let part = format!("<{tag}>\n{}\n</{tag}>", spelling.escape(value));
                read.push((column, source_step), value, &format!("<{tag}>\n\n</{tag}>\n\n"));
                shown.push((groups, part));
            }
        }
        read.parts = grouped(&shown, 0, &mut read.tokens);
        let mut own_turn = Turn::of(then, "assistant");
        if let Some(window) = reads.self_history
            && window.shows(then, step, |step| is_gap(column, step))
            && !is_gap(column, then)
        {
            let value = flow.value(column, then)?;
            if reads.self_elided && !std::mem::replace(&mut self_noticed, true) {
                let before = (0..then).filter(|then| !is_gap(column, *then)).count();
                own_turn.before.extend(elided(before, column));
                own_turn.tokens +=
                    own_turn.before.iter().map(|text| tokens(text) + tokens("\n\n")).sum::<usize>();
            }
            own_turn.push((column, then), value, "\n\n");
            own_turn.parts.push(value.to_owned());
        }
        turns.extend([read, own_turn]);
    }
    turns.retain(|turn| !turn.parts.is_empty());
    Ok(turns)
}

/// The messages of the cell of a derived column at a step.
///
/// # Errors
///
/// [`Missing`] if a shown value is missing.
pub fn messages(flow: &Flow, column: &str, reads: &Reads, step: usize) -> Result<Messages, Missing> {
    Ok(merge(turns(flow, column, reads, step, &|_, _| false)?))
}

/// Turns as messages: the first role is user, and adjacent turns of one role become one message.
pub fn merge(turns: Vec<Turn>) -> Messages {
    let mut parts_by_role: Messages = Vec::new();
    for Turn { role, before, parts, .. } in turns {
        parts_by_role.extend(before.into_iter().map(|part| ("user", part)));
        parts_by_role.extend(parts.into_iter().map(|part| (role, part)));
    }
    if parts_by_role.first().is_some_and(|(role, _)| *role == "assistant") {
        parts_by_role.insert(0, ("user", "<elided/>".to_owned()));
    }
    let mut merged = Messages::new();
    for (role, text) in parts_by_role {
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
            lagged: false,
            tag: "user".into(),
            groups: Vec::new(),
            filter: None,
            elided: false,
        }];
        let reads = Some(Reads { views, self_history: Some(own), self_elided: false, self_position: 0 });
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
