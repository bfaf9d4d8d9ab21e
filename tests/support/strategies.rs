//! Random flows whose values resemble tags.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use crate::naive::{Column, Filter, Flow, Reads, View, Window};

const SOURCES: [&str; 3] = ["user", "notes", "user_2"];

const DERIVED: [&str; 4] = ["topics", "use", "k", "elided"];

/// The tags: more than a column has views, so one is always free.
const TAGS: [&str; 6] = ["digest", "user", "elided", "us", "topics", LONGEST];

const GROUPS: [&str; 2] = ["debate", "lt"];

/// A name of the maximum length.
const LONGEST: &str = "x123456789_123456789_123456789_123456789_123456789_123456789_123";

const MOST_STEPS: usize = 6;

/// Starts of a spelled tag, and similar texts.
const MARKS: [&str; 7] = ["<", "</", "&lt;", "&amp;lt;", "&amp;amp;lt;/", "&LT;", "&amp;"];

/// White space that a spelled tag may contain, and white space beyond ASCII, which no spelled tag may contain.
const SPACES: [&str; 9] = ["", "", "", " ", "\u{b}", "\n", "\t\r\u{c}", "\u{a0}", "\u{85}"];

/// Texts after a name.
const TAILS: [&str; 8] = [">", "", "/>", " a='b'>", "_", "9", "\u{e9}", "-"];

/// Other pieces of values.
#[rustfmt::skip]
const PIECES: [&str; 22] = [
    "<", "</", "/", ">", "&", "&lt;", "&amp;lt;", "&amp;", "amp;", "lt;", "<elided/>", "\n</user>\n\n<user>\n",
    " ", "\u{b}", "\n", "\n\n", "\r\n", "\0", "two words", "u\u{17f}er", "\u{212a}", "\u{1f980}",
];

/// A flow without lagged views.
fn acyclic() -> impl Strategy<Value = Flow> {
    (1..=MOST_STEPS, vec(values(), 1..=SOURCES.len()), vec(derived(), 1..=DERIVED.len())).prop_map(
        |(steps, sources, derived)| {
            let mut columns = Vec::new();
            for (name, values) in SOURCES.iter().zip(sources) {
                columns.push(Column { name: (*name).to_owned(), values, reads: None });
            }
            for (name, (reads, values)) in DERIVED.iter().zip(derived) {
                let reads = Some(resolve(reads, &columns));
                columns.push(Column { name: (*name).to_owned(), values, reads });
            }
            columns.iter_mut().for_each(|column| column.values.truncate(steps));
            Flow { columns }
        },
    )
}

/// A flow of 1 to 3 sources and 1 to 4 derived columns, with the values of 1 to 6 steps. Some columns have lagged views
/// of earlier or later columns, and some views are in groups, are filtered, or have a notice of hidden values.
pub fn flows() -> impl Strategy<Value = Flow> {
    let groups = vec((any::<Index>(), any::<Index>()), 0..=2);
    let filter = option::weighted(0.3, prop_oneof![(1..=3_usize).prop_map(Filter::Steps), Just(Filter::Odd)]);
    let more = (groups, vec(filter, 3), any::<bool>(), vec(any::<bool>(), 4));
    (with_lagged_views(), vec(more, DERIVED.len())).prop_map(|(mut flow, more)| {
        let derived = flow.columns.iter_mut().filter_map(|column| column.reads.as_mut());
        for (reads, (groups, filters, self_elided, elided)) in derived.zip(more) {
            let is_windowed = |window: Window| window != Window::All;
            reads.self_elided = self_elided && reads.self_history.is_some_and(is_windowed);
            for (view, elided) in reads.views.iter_mut().zip(elided) {
                view.elided = elided && is_windowed(view.window);
            }
            // At least one view has no filter, so every cell has a new value.
            let rest = reads.views.iter_mut().filter(|view| !view.lagged).skip(1);
            rest.zip(filters).for_each(|(view, filter)| view.filter = filter);
            let (mut from, mut to) = (0, reads.views.len());
            for (group, (start, end)) in GROUPS.into_iter().zip(groups) {
                // Each group is inside the previous one.
                from += start.index(to - from);
                // At least one view, so no group is empty.
                to = from + 1 + end.index(to - from);
                let inside = reads.views.iter_mut().take(to).skip(from);
                inside.for_each(|view| view.groups.push(group.to_owned()));
            }
        }
        flow
    })
}

fn with_lagged_views() -> impl Strategy<Value = Flow> {
    let lagged_view = option::of((any::<Index>(), window(), any::<Index>()));
    (acyclic(), vec(lagged_view, DERIVED.len())).prop_map(|(mut flow, lagged_views)| {
        let names: Vec<String> = flow.columns.iter().map(|column| column.name.clone()).collect();
        let derived = flow.columns.iter_mut().filter(|column| column.reads.is_some());
        for (column, (read, window, at)) in
            derived.zip(lagged_views).filter_map(|(column, lagged_view)| Some((column, lagged_view?)))
        {
            let (Some(reads), read) = (&mut column.reads, read.get(&names)) else { continue };
            let is_free = |tag: &&str| reads.views.iter().all(|view| view.tag != *tag);
            let tag = TAGS.into_iter().find(is_free).expect("there are more tags than views").to_owned();
            if *read != column.name {
                let view = View {
                    column: read.clone(),
                    window,
                    lagged: true,
                    tag,
                    groups: Vec::new(),
                    filter: None,
                    elided: false,
                };
                reads.views.insert(at.index(reads.views.len() + 1), view);
            }
        }
        flow
    })
}

/// The number of times that each cell of a flow yields to the runtime.
pub fn pauses() -> impl Strategy<Value = Vec<usize>> {
    vec(0..6_usize, MOST_STEPS * (SOURCES.len() + DERIVED.len()))
}

/// A value, which is often empty, and often has texts that resemble tags.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![1 => Just(String::new()), 6 => vec(fragment(), 1..5).prop_map(|fragments| fragments.concat())]
}

fn values() -> impl Strategy<Value = Vec<String>> {
    vec(value(), MOST_STEPS)
}

fn fragment() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => spelling(),
        4 => select(&PIECES[..]).prop_map(str::to_owned),
        1 => odd_case(),
        1 => any::<char>().prop_map(String::from),
    ]
}

fn spelling() -> impl Strategy<Value = String> {
    let space = || select(&SPACES[..]);
    (select(&MARKS[..]), space(), select(&["", "/"][..]), space(), odd_case(), select(&TAILS[..])).prop_map(
        |(mark, before, slash, after, name, tail)| format!("{mark}{before}{slash}{after}{name}{tail}"),
    )
}

/// A name or tag with some letters in upper case.
fn odd_case() -> impl Strategy<Value = String> {
    let names: Vec<&str> = SOURCES.into_iter().chain(DERIVED).chain(TAGS).chain(GROUPS).collect();
    (select(names), option::of(any::<u64>())).prop_map(|(name, upper)| {
        // A shift by 64 or more would overflow.
        let is_upper = |at: usize| upper.unwrap_or(0) >> (at % 64) & 1 == 1;
        let letters = name.chars().enumerate();
        letters.map(|(at, letter)| if is_upper(at) { letter.to_ascii_uppercase() } else { letter }).collect()
    })
}

/// The inputs of a derived column, before the earlier columns are known.
#[derive(Clone, Debug)]
struct Draft {
    views: Vec<(Index, Window, Option<Index>)>,
    self_history: Option<Window>,
    self_position: Index,
}

fn derived() -> impl Strategy<Value = (Draft, Vec<String>)> {
    let view = (any::<Index>(), window(), option::of(any::<Index>()));
    let draft = (vec(view, 1..=3), option::of(window()), any::<Index>());
    (
        draft.prop_map(|(views, self_history, self_position)| Draft { views, self_history, self_position }),
        values(),
    )
}

fn window() -> impl Strategy<Value = Window> {
    prop_oneof![Just(Window::All), (1..=4_usize).prop_map(Window::Last)]
}

fn resolve(draft: Draft, columns: &[Column]) -> Reads {
    let self_position = draft.self_position.index(draft.views.len() + 1);
    let mut views: Vec<View> = Vec::new();
    for (column, window, tag) in draft.views {
        let column = column.get(columns).name.clone();
        let preferred = tag.map_or(column.as_str(), |tag| *tag.get::<&str>(&TAGS));
        let is_free = |tag: &&str| views.iter().all(|view| view.tag != *tag);
        let tag = [preferred].into_iter().chain(TAGS).find(is_free).unwrap_or(preferred).to_owned();
        views.push(View {
            column,
            window,
            lagged: false,
            tag,
            groups: Vec::new(),
            filter: None,
            elided: false,
        });
    }
    Reads { views, self_history: draft.self_history, self_elided: false, self_position }
}

#[cfg(test)]
mod tests {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_tags_of_a_context_are_unique() {
        let mut runner = TestRunner::deterministic();
        for _ in 0..200 {
            let flow = flows().new_tree(&mut runner).expect("flows are never rejected").current();
            for (column, reads) in flow.derived() {
                let mut tags: Vec<_> = reads.tags().collect();
                tags.sort_unstable();
                tags.dedup();
                let groups: BTreeSet<&str> = reads.groups().collect();
                assert_eq!(tags.len(), reads.views.len() + groups.len(), "{column:?}");
            }
        }
    }
}
