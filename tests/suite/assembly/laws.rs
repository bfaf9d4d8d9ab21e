//! Laws of assembly, on random flows.

use columnar::cache::Difference;
use columnar::{Error, Growth, Messages, Part, Repeats, Role};
use columnar_tests::live::{Gaps, Live, block_on, plain};
use columnar_tests::naive::{self, Column, Flow, Reads, Window};
use columnar_tests::parse::user_message;
use columnar_tests::spelling::Spelling;
use columnar_tests::strategies::{flows, pauses};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value as Json, json};

/// A failure becomes a test with a name, not a seed in a file.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn messages_equal_those_of_the_naive_rules(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |cell, messages| {
            assert_eq!(plain(&messages), cell.assembled());
            assert_eq!(serde_json::from_str::<Json>(&messages.to_json()).unwrap(), cell.as_json());
        });
    }

    /// The outline of a declaration is true of each request that is made when all windows are full.
    #[test]
    fn the_outline_has_the_repeated_prefix_and_the_number_of_values(flow in flows()) {
        let live = filled(&flow, &[0]);
        let outline = live.flow.outline();
        each_cell(&flow, &live, |cell, messages| {
            let column = outline.columns.iter().find(|column| *column.name == *cell.column.name).unwrap();
            let shown = messages.parts().filter_map(|part| part.origin()).count();
            let is_filtered = cell.reads.views.iter().any(|view| view.filter.is_some());
            match column.growth {
                Growth::Constant(most) => assert!(shown <= most, "{shown} of {most}"),
                // A filter may hide a whole history.
                Growth::Linear if is_filtered => {}
                Growth::Linear => assert!(shown >= cell.step, "{shown} at step {}", cell.step),
            }
            // No window is wider than four steps.
            if cell.step < 4 || is_filtered {
                return;
            }
            let stable = live.flow.explain_cache(&cell.column.name, cell.step).unwrap();
            let first = stable.difference.as_ref().map(|difference| match difference {
                Difference::View { step, .. } => *step,
                other => panic!("there is no budget: {other}"),
            });
            match column.repeats {
                Repeats::Everything => assert_eq!(first, None),
                Repeats::AllBut(steps) => {
                    let first = first.expect("something is not repeated");
                    assert!((cell.step - steps..=cell.step + 1 - steps).contains(&first), "{first}, {steps}");
                }
                Repeats::Instruction => {
                    let first = messages.parts().next().unwrap();
                    let is_led = first.origin().is_none() && first.hidden().is_none();
                    // The notice of the self history replaces the leading notice as soon as something is hidden.
                    let lead = if is_led && !cell.reads.self_elided { "<elided/>".len() } else { 0 };
                    // An input that skips the next step may take its place.
                    assert!([0, lead].contains(&stable.bytes), "{stable}");
                }
                other => panic!("{other:?} is unexpected"),
            }
        });
    }

    #[test]
    fn roles_alternate_and_the_first_and_the_last_are_user(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |_, messages| {
            let roles: Vec<Role> = messages.iter().map(|(role, _)| role).collect();
            let alternating = [Role::User, Role::Assistant].into_iter().cycle();
            assert!(roles.iter().copied().eq(alternating.take(roles.len())), "{roles:?}");
            assert_eq!(roles.last(), Some(&Role::User));
        });
    }

    #[test]
    fn the_last_message_holds_the_current_step_of_every_input(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |cell, messages| {
            let last = cell.parsed(&messages.last_text());
            let current = cell.shown_at(cell.step);
            assert!(last.ends_with(&current), "{last:?} should end with {current:?}");
        });
    }

    #[test]
    fn user_messages_parse_back_to_the_values_that_they_show(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |cell, messages| {
            let users = messages.iter().filter(|(role, _)| *role == Role::User);
            let parsed: Vec<_> = users.flat_map(|(_, content)| cell.parsed(&content)).collect();
            let shown: Vec<_> = (0..=cell.step).flat_map(|then| cell.shown_at(then)).collect();
            assert_eq!(parsed, shown);
        });
    }

    #[test]
    fn self_history_is_shown_verbatim(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |cell, messages| {
            let mut steps = Vec::new();
            for part in messages.parts().filter(|part| part.role() == Role::Assistant) {
                let origin = part.origin().expect("an assistant part has an origin");
                let value = flow.value(origin.column, origin.step).unwrap();
                let text = part.text();
                let before = text.strip_suffix(value);
                assert!(before == Some("") || before == Some("\n\n"), "{part:?} should show {value:?}");
                assert_eq!(*origin.column, *cell.column.name);
                steps.push(origin.step);
            }
            let own = cell.reads.self_history.map_or(cell.step..cell.step, |own| first_shown(own, cell.step)..cell.step);
            assert!(steps.iter().copied().eq(own));
        });
    }

    #[test]
    fn parts_joined_are_the_messages(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |_, messages| {
            let parts: Vec<Part<'_>> = messages.parts().collect();
            let pieces = parts.chunk_by(|a, b| a.role() == b.role());
            let joined = pieces.map(|parts| (parts[0].role().as_str(), parts.iter().map(Part::text).collect()));
            assert_eq!(joined.collect::<naive::Messages>(), plain(&messages));
            let mut later = messages.parts().skip(1);
            let is_known = |part: Part<'_>| part.origin().is_some() || part.hidden().is_some();
            assert!(later.all(is_known), "only the first part can be constant");
        });
    }

    #[test]
    fn without_windows_every_request_is_a_prefix_of_the_next(flow in flows()) {
        let flow = without_windows(flow);
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |cell, messages| {
            if cell.step + 1 < flow.steps() {
                let next = live.flow.messages(&cell.column.name, cell.step + 1).unwrap();
                assert!(next.parts().take(messages.parts().count()).eq(messages.parts()));
            }
        });
    }

    /// The stable prefix is the longest common prefix of a request and the next one.
    #[test]
    fn the_stable_prefix_is_repeated_by_the_next_request(flow in flows()) {
        let live = filled(&flow, &[0]);
        each_cell(&flow, &live, |cell, messages| {
            if cell.step + 1 == flow.steps() {
                return;
            }
            let next = live.flow.messages(&cell.column.name, cell.step + 1).unwrap();
            let repeated = messages.parts().zip(next.parts()).take_while(|(now, then)| now == then).count();
            let bytes = |parts: usize| messages.parts().take(parts).map(|part| part.text().len()).sum::<usize>();
            let stable = live.flow.explain_cache(&cell.column.name, cell.step).unwrap();
            // Whether a leading notice alone is repeated may depend on an input that skips the next step.
            let is_notice_only = repeated == 1 && messages.parts().next().is_some_and(|part| part.origin().is_none());
            let known = if is_notice_only && stable.bytes == 0 { 0 } else { bytes(repeated) };
            assert_eq!((stable.bytes, stable.total_bytes), (known, bytes(usize::MAX)), "{stable}");
            // A leading notice that is not repeated is no part of the prefix.
            let mut rest = messages.parts().skip(repeated);
            let first = rest.find_map(|part| part.origin().map(|it| (it.column.clone(), it.step)));
            let difference = stable.difference.map(|difference| match difference {
                Difference::View { column, step, .. } => (column, step),
                other => panic!("there is no budget: {other}"),
            });
            assert_eq!(difference, first);
        });
    }

    #[test]
    fn messages_do_not_depend_on_the_order_of_completion(flow in flows(), pauses in pauses()) {
        let (calm, busy) = (filled(&flow, &[0]), filled(&flow, &pauses));
        each_cell(&flow, &busy, |cell, messages| {
            assert_eq!(messages, calm.flow.messages(&cell.column.name, cell.step).unwrap());
        });
        assert_eq!(busy.seen(), calm.seen());
    }

    #[test]
    fn messages_are_those_of_the_compute_step_and_do_not_change(flow in flows(), pauses in pauses()) {
        let live = Live::declare(&flow, &pauses).unwrap();
        for step in 0..flow.steps() {
            block_on(async {
                live.push(&flow, step).await?;
                live.flow.run().await
            }).unwrap();
            for ((column, step), seen) in live.seen() {
                assert_eq!(live.flow.messages(&column, step).unwrap(), seen);
            }
        }
        assert_eq!(live.seen().len(), flow.derived().count() * flow.steps());
    }

    /// Windows reach back over skipped cells, in every order of completion, and a cell without a new input is skipped.
    #[test]
    fn a_skipped_cell_is_shown_nowhere_and_windows_count_values(
        flow in flows(),
        gaps in vec(any::<Index>(), 1..16),
        pauses in pauses(),
    ) {
        let all: Vec<_> = cells(&flow).map(|cell| (cell.column.name.clone(), cell.step)).collect();
        let mut gaps: Gaps = gaps.iter().map(|gap| gap.get(&all).clone()).collect();
        let holed = Live::with_gaps(&flow, &gaps, &pauses).unwrap();
        block_on(holed.fill(&flow)).unwrap();
        assert_eq!(holed.flow.steps(), flow.steps());
        let forks: Vec<_> = (0..=flow.steps()).map(|step| holed.flow.fork(step).unwrap()).collect();
        // Cells come after their inputs, so a cell whose inputs are all gaps is found to be a gap.
        let mut in_time: Vec<_> = cells(&flow).collect();
        in_time.sort_by_key(|cell| cell.step);
        for cell in in_time {
            let is_gap = |view: &naive::View| {
                let source_step = cell.step.checked_sub(usize::from(view.lagged));
                let is_out = |source_step| {
                    let value = flow.value(&view.column, source_step).unwrap();
                    view.filter.is_some_and(|filter| !filter.shows(source_step, value))
                };
                source_step.is_none_or(|source_step| gaps.contains(&(view.column.clone(), source_step)) || is_out(source_step))
            };
            let name = &cell.column.name;
            if cell.reads.views.iter().all(is_gap) {
                gaps.insert((name.clone(), cell.step));
                assert!(matches!(holed.flow.messages(name, cell.step), Err(Error::Skipped { .. })));
                continue;
            }
            let shown = holed.flow.messages(name, cell.step).unwrap();
            let is_gap = |column: &str, step| gaps.contains(&(column.to_owned(), step));
            let left = naive::turns(&flow, name, cell.reads, cell.step, &is_gap).unwrap();
            assert_eq!(plain(&shown), naive::merge(left));
            assert_eq!(shown, holed.seen()[&(name.clone(), cell.step)], "what the compute step got");
            for fork in &forks[cell.step + 1..] {
                assert_eq!(fork.messages(name, cell.step).unwrap(), shown);
            }
            assert_eq!(shown.parts().map(|part| part.tokens()).sum::<usize>(), shown.tokens());
            let mut roles = shown.iter().map(|(role, _)| role);
            assert!(roles.all(|role| role == Role::User) || shown.len() % 2 == 1, "they alternate");
        }
        for (column, step) in &all {
            assert_eq!(holed.flow.get(column, *step).is_none(), gaps.contains(&(column.clone(), *step)));
        }
    }

    /// The next request repeats at least the stable prefix: it is not known which columns will skip the next step.
    #[test]
    fn the_stable_prefix_is_repeated_whatever_is_skipped(flow in flows(), gaps in vec(any::<Index>(), 1..16)) {
        let all: Vec<_> = cells(&flow).map(|cell| (cell.column.name.clone(), cell.step)).collect();
        let gaps: Gaps = gaps.iter().map(|gap| gap.get(&all).clone()).collect();
        let holed = Live::with_gaps(&flow, &gaps, &[0]).unwrap();
        block_on(holed.fill(&flow)).unwrap();
        for cell in cells(&flow).filter(|cell| cell.step + 1 < flow.steps()) {
            let name = &cell.column.name;
            let [now, next] = [cell.step, cell.step + 1].map(|step| holed.flow.messages(name, step));
            // Without a value of its own, the next request lacks what a column that reads itself expects.
            let (Ok(now), Ok(next)) = (now, next) else { continue };
            if cell.reads.self_history.is_some() && holed.flow.get(name, cell.step).is_none() {
                continue;
            }
            let repeated = now.parts().zip(next.parts()).take_while(|(now, then)| now == then).count();
            let bytes: usize = now.parts().take(repeated).map(|part| part.text().len()).sum();
            let stable = holed.flow.explain_cache(name, cell.step).unwrap();
            assert!(stable.bytes <= bytes, "{stable} of {bytes}");
        }
    }

    #[test]
    fn a_value_that_is_not_computed_yet_is_an_error_and_never_skipped(flow in flows()) {
        let live = Live::declare(&flow, &[0]).unwrap();
        block_on(async {
            for step in 0..flow.steps() {
                live.push(&flow, step).await.unwrap();
            }
        });
        let pushed = only_sources(&flow);
        for cell in cells(&flow) {
            let actual = live.flow.messages(&cell.column.name, cell.step);
            match naive::messages(&pushed, &cell.column.name, cell.reads, cell.step) {
                Ok(expected) => assert_eq!(plain(&actual.unwrap()), expected),
                Err(_) => assert_missing(&actual.unwrap_err(), Cell { flow: &pushed, ..cell }),
            }
        }
    }
}

/// Rules, each with an assembler that breaks it.
const BROKEN: [(&str, Assembler); 9] = [
    ("windows are counted from the current step", |cell| {
        let first =
            cell.reads.views.iter().map(|view| first_shown(view.window, cell.step + 1)).min().unwrap();
        let mut reads = cell.reads.clone();
        reads.views.iter_mut().for_each(|view| view.window = Window::Last(cell.step + 1 - first));
        Cell { reads: &reads, ..cell }.assembled()
    }),
    ("inputs are in declaration order", |cell| {
        let mut reads = cell.reads.clone();
        reads.views.reverse();
        Cell { reads: &reads, ..cell }.assembled()
    }),
    ("the self history is windowed", |cell| {
        let reads =
            Reads { self_history: cell.reads.self_history.map(|_| Window::All), ..cell.reads.clone() };
        Cell { reads: &reads, ..cell }.assembled()
    }),
    ("hidden values are counted in a notice", |cell| {
        let mut reads = Reads { self_elided: false, ..cell.reads.clone() };
        reads.views.iter_mut().for_each(|view| view.elided = false);
        Cell { reads: &reads, ..cell }.assembled()
    }),
    ("a constant leads where the assistant would", |cell| {
        cell.assembled().into_iter().filter(|(_, content)| content != "<elided/>").collect()
    }),
    ("an empty line separates", |cell| cell.rewritten(|content| content.replace(">\n\n<", ">\n<"))),
    ("spellings of tags are escaped", |cell| cell.rewritten(|content| cell.spelling().restore(content))),
    ("an escaped spelling is escaped again", |cell| {
        cell.rewritten(|content| content.replace("&amp;lt;", "&lt;"))
    }),
    ("`elided` counts as a tag", |cell| {
        cell.rewritten(|content| content.replace("&lt;elided/>", "<elided/>"))
    }),
];

type Assembler = fn(Cell<'_>) -> naive::Messages;

/// The random flows distinguish each wrong assembler from the right one.
#[test]
fn every_broken_rule_is_detected() {
    let mut runner = TestRunner::deterministic();
    let drawn: Vec<Flow> = (0..64).map(|_| flows().new_tree(&mut runner).unwrap().current()).collect();
    for (rule, broken) in BROKEN {
        let mut cells = drawn.iter().flat_map(cells);
        assert!(cells.any(|cell| broken(cell) != cell.assembled()), "no flow shows that {rule}");
    }
}

/// A cell of a derived column.
#[derive(Clone, Copy)]
struct Cell<'f> {
    flow: &'f Flow,
    column: &'f Column,
    reads: &'f Reads,
    step: usize,
}

impl Cell<'_> {
    fn assembled(self) -> naive::Messages {
        naive::messages(self.flow, &self.column.name, self.reads, self.step).unwrap()
    }

    /// As an array of objects.
    fn as_json(self) -> Json {
        let message = |(role, content)| json!({ "role": role, "content": content });
        self.assembled().into_iter().map(message).collect()
    }

    /// As assembled, but with other content in the user messages.
    fn rewritten(self, how: impl Fn(&str) -> String) -> naive::Messages {
        let rewrite =
            |(role, content): (_, String)| (role, if role == "user" { how(&content) } else { content });
        self.assembled().into_iter().map(rewrite).collect()
    }

    fn spelling(self) -> Spelling {
        Spelling::of(self.reads.tags())
    }

    fn parsed(self, content: &str) -> Vec<(String, String)> {
        let tags: Vec<&str> = self.reads.tags().collect();
        let groups: Vec<&str> = self.reads.groups().collect();
        user_message(content, &tags, &groups).unwrap_or_else(|error| panic!("{content:?}: {error}"))
    }

    /// The tags and values of the shown inputs of a step.
    fn shown_at(self, then: usize) -> Vec<(String, String)> {
        let is_shown = |window| (first_shown(window, self.step + 1)..=self.step).contains(&then);
        let views = self.reads.views.iter().filter(|view| is_shown(view.window));
        let values = views.filter_map(|view| {
            let source_step = then.checked_sub(usize::from(view.lagged))?;
            let value = self.flow.value(&view.column, source_step).unwrap();
            let is_shown = view.filter.is_none_or(|filter| filter.shows(source_step, value));
            is_shown.then(|| (view.tag.clone(), value.to_owned()))
        });
        values.collect()
    }
}

/// The first shown step of a history with this number of steps.
fn first_shown(window: Window, len: usize) -> usize {
    match window {
        Window::All => 0,
        Window::Last(count) => len.saturating_sub(count),
    }
}

fn cells(flow: &Flow) -> impl Iterator<Item = Cell<'_>> {
    let steps = 0..flow.steps();
    let of_column = move |(column, reads)| steps.clone().map(move |step| Cell { flow, column, reads, step });
    flow.derived().flat_map(of_column)
}

/// Visits every cell of a flow with its messages in the library.
fn each_cell(flow: &Flow, live: &Live, check: impl Fn(Cell<'_>, Messages)) {
    for cell in cells(flow) {
        check(cell, live.flow.messages(&cell.column.name, cell.step).unwrap());
    }
}

fn filled(flow: &Flow, pauses: &[usize]) -> Live {
    let live = Live::declare(flow, pauses).unwrap();
    block_on(live.fill(flow)).unwrap();
    live
}

fn without_windows(mut flow: Flow) -> Flow {
    for reads in flow.columns.iter_mut().filter_map(|column| column.reads.as_mut()) {
        reads.views.iter_mut().for_each(|view| (view.window, view.elided) = (Window::All, false));
        (reads.self_history, reads.self_elided) = (reads.self_history.map(|_| Window::All), false);
    }
    flow
}

/// The flow as it is before it runs.
fn only_sources(flow: &Flow) -> Flow {
    let mut flow = flow.clone();
    flow.columns.iter_mut().filter(|column| column.reads.is_some()).for_each(|column| column.values.clear());
    flow
}

/// Asserts that the error names a missing cell that the column reads.
fn assert_missing(error: &Error, reader: Cell<'_>) {
    let Error::Missing { column, step } = error else { panic!("{error}") };
    assert!(reader.flow.value(column, *step).is_err(), "{error}");
    let is_own = reader.reads.self_history.is_some() && *column == reader.column.name.as_str();
    assert!(is_own || reader.reads.views.iter().any(|view| *column == view.column.as_str()), "{error}");
}
