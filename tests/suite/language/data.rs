//! Flows that are declared as data, and views that are declared as text.

mod mistakes;

use columnar::budget;
use columnar::data::{ColumnDeclaration, Declaration, SourceDeclaration};
use columnar::model::Request;
use columnar::prelude::*;
use columnar::store::{MemoryStore, Store};
use columnar::testing::{ScriptedModel, script};
use columnar::{BoxError, SchemaError, StepError};
use columnar_tests::live::{Live, block_on};
use columnar_tests::naive;
use columnar_tests::strategies::flows;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

/// The messages of a declaration's mistakes.
fn errors(declaration: &Declaration) -> Vec<String> {
    let steps = [("count", Step::new(script(["1"]))), ("words", Step::new(script(["2"])))];
    match flow(declaration.to_columns(steps)) {
        Err(Error::Schema(errors)) => errors.errors().iter().map(ToString::to_string).collect(),
        Err(other) => vec![other.to_string()],
        Ok(_) => Vec::new(),
    }
}

/// The declaration of columns that read `user`.
fn declared(columns: &str) -> Declaration {
    toml::from_str(&format!("sources = [\"user\"]\n{columns}")).expect("it is a declaration")
}

/// The mistakes of one view of a column `topics`.
fn view_errors(view: &str) -> Vec<String> {
    errors(&declared(&format!(
        "[[columns]]\nname = \"topics\"\nviews = ['''{view}''']\nprompt = \"Answer.\""
    )))
}

mod a_view_as_text {
    use super::*;

    fn word() -> impl Strategy<Value = String> {
        "[a-z][a-z0-9_]{0,9}".prop_filter("they are words of the language", |word| {
            !["latest", "prev", "self"].contains(&word.as_str())
        })
    }

    /// Views of every kind that has a text, made by the run-time API.
    fn views() -> impl Strategy<Value = View> {
        let name = (word(), option::of(word())).prop_map(|(name, column)| match column {
            Some(column) => format!("{name}.{column}"),
            None => name,
        });
        let window = prop_oneof![Just(None), (0..4_usize).prop_map(Some), Just(Some(usize::MAX))];
        let more = (window, any::<[bool; 2]>(), option::of(word()), option::of(any::<String>()));
        let view = (option::weighted(0.8, name), any::<bool>(), more);
        let tiered = (word(), option::of(any::<usize>())).prop_map(|(name, target)| {
            let tiered = documents(name).tiered();
            View::from(target.map_or(tiered.clone(), |target| tiered.target(target)))
        });
        let view = view.prop_map(|(name, is_lagged, (window, [is_elided, is_text_only], tag, note))| {
            let view = match name {
                None => this(),
                Some(name) if is_lagged => prev(name).all(),
                Some(name) => source(name).all(),
            };
            let view = window.map_or(view.clone(), |count| view.window(count));
            let view = if is_elided { view.elided() } else { view };
            let view = if is_text_only { view.text_only() } else { view };
            let view = tag.map_or(view.clone(), |tag| view.named(tag));
            note.map_or(view.clone(), |note| view.note(note))
        });
        prop_oneof![7 => view, 1 => tiered].prop_recursive(3, 12, 3, |inner| {
            (word(), vec(inner, 1..=3)).prop_map(|(tag, views)| group(tag, views))
        })
    }

    /// All of a view. Views are not comparable, because filters are functions.
    fn debug(view: &View) -> String {
        // A column that was declared is found by its name in a text.
        format!("{view:?}").replace("Column(source ", "Named(").replace(": Documents", "").replace('"', "")
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn is_read_as_the_view_that_was_written(view in views()) {
            let text = view.to_string();
            let read = View::from(&text);
            prop_assert_eq!(debug(&read), debug(&view), "{}", text);
            prop_assert_eq!(read.to_string(), text);
        }

        #[test]
        fn of_any_letters_is_a_view_or_a_mistake(text in "[a-z.()\", \\\\0-9{}é]{0,40}") {
            let view = View::from(&text);
            let errors = flow([column("a", view, script([""])), source("b")]).map(drop);
            prop_assert!(errors.is_err() || text.contains('b'), "{}", text);
        }
    }

    /// The names of the run-time API stand in its errors, so they are accepted.
    #[test]
    fn may_have_spaces_and_the_names_of_the_run_time_api() {
        for (text, written) in [
            (" user . latest ( ) ", "user.latest"),
            ("user.named(\"x\").latest", "user.latest.as(\"x\")"),
            ("user.prev().window( 1_0 )", "user.prev.window(10)"),
            ("user.window(1)", "user.latest"),
            ("user.all()", "user"),
            ("user.prev.latest()", "user.prev.latest()"),
            ("user.prev.all().elided()", "user.prev.all().elided()"),
            ("group ( \"a\" , b , group(\"c\",d,) , )", "group(\"a\", b, group(\"c\", d))"),
            (r#"user.note("a\"\\\n\t\r\0\u{e9}\'é")"#, r#"user.note("a\"\\\n\t\r\0é'é")"#),
            ("user.window(99999999999999999999999)", "user.window(18446744073709551615)"),
        ] {
            assert_eq!(View::from(text).to_string(), written);
        }
    }

    #[test]
    fn with_a_mistake_is_an_error_with_its_position_and_the_way_to_correct_it() {
        let near = "no view is named";
        let tag = "as in `as(\"digest\")`";
        for (text, at, reason) in [
            ("", 1, "expected a column or `self`, as in `user.latest`"),
            ("&user", 1, "expected a column or `self`, as in `user.latest`"),
            ("user.", 6, "expected a view of `user` after the dot: `latest`, `window(n)` or `prev`"),
            ("user..latest", 6, "expected a view of `user` after the dot: `latest`, `window(n)` or `prev`"),
            ("user latest", 6, "expected `.` or the end of the view, found `l`"),
            ("user, self", 5, "a text has one view: write the next one as a text of its own"),
            ("user.windw(3)", 6, &format!("{near} `windw`; did you mean `window`?")),
            ("user.latest.eldied()", 13, &format!("{near} `eldied`; did you mean `elided`?")),
            ("user.last(3)", 6, &format!("{near} `last`; did you mean `window(n)`?")),
            ("self.topics", 6, &format!("{near} `topics`; the views are")),
            ("user.window", 12, "expected the end"),
            ("user.latest.window(3)", 13, "a view has one window: drop this"),
            ("user.window(3).prev", 16, "`prev` comes right after the column"),
            ("self.prev", 6, "`self` already ends at the step before"),
            ("user.prev.window()", 18, "expected the number of values to show, as in `window(3)`"),
            ("user.window(-1)", 13, "expected the number of values to show, as in `window(3)`"),
            ("user.latest.window", 13, "a view has one window: drop this"),
            ("user.prev.window", 17, "expected the number of values to show, as in `window(3)`"),
            ("user.as(digest)", 9, &format!("expected a tag, {tag}")),
            ("user.as(\"a\").named(\"b\")", 14, "a view has one tag: drop this"),
            ("user.note(\"a\").note(\"b\")", 16, "a view has one note: drop this"),
            ("user.window(2).elided().elided()", 25, "a view has one `elided()`: drop this"),
            ("user.window(2).elided", 22, "expected parentheses"),
            ("user.latest.text_only().text_only()", 25, "a view has one `text_only()`: drop this"),
            ("user.latest.text_only(3)", 23, "`text_only` takes no arguments: write `.text_only()`"),
            ("user.latest.text_oly()", 13, &format!("{near} `text_oly`; did you mean `text_only`?")),
            (
                "files.tiered().text_only()",
                16,
                "a tiered view shows documents, which have no attachments: drop this",
            ),
            ("files.text_only().tiered()", 19, "`tiered` comes right after the column"),
            ("user.latest(3)", 13, "expected `)` after `latest(`"),
            ("user.as(\"a", 9, "the closing quote of this text is missing"),
            ("user.note(\"é\\q\")", 13, "no such escape: write a backslash as `\\\\`"),
            ("user.filter(|text| true)", 6, "a filter is a function, which a text cannot have"),
            ("user.latest.filter", 13, "a filter is a function, which a text cannot have"),
            ("this().latest", 1, "the self history is written `self`"),
            ("window(user, 3)", 1, "a view begins with a column"),
            ("group(user)", 7, "expected the tag of the group, as in"),
            ("group(\"a\")", 11, "the group has no views: add some, as in"),
            ("group(\"a\", user).latest", 17, "a group takes no modifiers"),
            ("group(\"a\", user", 16, "expected `,` or `)`"),
        ] {
            let found = view_errors(text);
            let [error] = &found[..] else { panic!("{text}: {found:?}") };
            let start = format!("`topics` has the view `{text}`, which is wrong at character {at}: {reason}");
            if text == "user.window" {
                // Without parentheses it looks like a column of a module.
                assert!(error.starts_with("`topics` reads `user.window`, but"), "{error}");
                continue;
            }
            assert!(error.starts_with(&start), "{error}\n{start}");
        }
        let deep = format!("{}user{}", "group(\"a\", ".repeat(10_000), ")".repeat(10_000));
        let found = view_errors(&deep);
        assert!(
            found[0].contains("…`, which is wrong at character 353: groups are nested more than 32"),
            "{found:?}"
        );
    }

    #[test]
    fn of_an_unknown_column_names_the_one_that_was_meant() {
        let unknown = |read: &str| format!("`topics` reads `{read}`, but the flow has no such column: ");
        for (text, read, help) in [
            ("usr.latest", "usr", "did you mean `user`?"),
            ("user.lates", "user.lates", "did you mean `user.latest`?"),
            ("user.pre", "user.pre", "did you mean `user.prev`?"),
            ("debate.critic", "debate.critic", "declare it, or correct the name"),
            ("User", "User", "did you mean `user`?"),
        ] {
            assert_eq!(view_errors(text), [unknown(read) + help]);
        }
        assert_eq!(
            view_errors("topics.latest"),
            ["`topics` reads itself in the same step: write `self` for its values at earlier steps"]
        );
    }

    #[tokio::test]
    async fn finds_a_column_that_is_added_or_replaced() -> Result<()> {
        let f = flow([source("user")])?;
        f.add_column(column("topics", "user.latest", script(["a"]))).await?;
        let late = column("late", ["topics", "later"], script(["c"]));
        assert!(f.add_column(&late).await.is_err(), "`later` is declared with it, or before");
        f.add_column(column("later", "topics.latest", script(["b"]))).await?;
        f.add_column(late).await?;
        f.push("user", "x").await?;
        f.run().await?;
        let messages = |f: &Flow| Ok::<_, Error>(f.messages("late", 0)?.last_text().into_owned());
        assert_eq!(messages(&f)?, "<topics>\na\n</topics>\n\n<later>\nb\n</later>");

        let next = f.replace_column(column("topics", "user", script(["A"])))?;
        next.run().await?;
        assert_eq!(messages(&next)?, "<topics>\nA\n</topics>\n\n<later>\nb\n</later>");
        let error = f.replace_column(column("topics", "late", script(["A"]))).expect_err("a cycle");
        assert!(matches!(error, Error::Schema(_)), "{error}");
        Ok(())
    }
}

mod a_flow_from_data {
    use super::*;

    /// A described flow as data, its columns in the order of `order`, each after or before its inputs.
    fn as_data(described: &naive::Flow, order: &[Index]) -> Declaration {
        let mut columns: Vec<&naive::Column> = described.columns.iter().collect();
        let mut shuffled = Vec::new();
        for at in order.iter().cycle().take(columns.len()) {
            shuffled.push(columns.remove(at.index(columns.len())));
        }
        let mut declaration = Declaration::default();
        for column in shuffled {
            match &column.reads {
                None => declaration.sources.push(toml_of(&format!("name = {:?}", column.name))),
                Some(reads) => {
                    let views: Vec<String> = reads.texts();
                    let text = format!("name = {:?}\nstep = \"answer\"\nviews = {views:?}", column.name);
                    declaration.columns.push(toml_of(&text));
                }
            }
        }
        declaration
    }

    fn toml_of<T: serde::de::DeserializeOwned>(text: &str) -> T {
        toml::from_str(text).expect("it is a table")
    }

    /// A compute step for all columns of a described flow.
    fn answer(described: &naive::Flow) -> Step<'static> {
        let described = described.clone();
        Step::new(move |cx: Context| {
            let value = described.columns.iter().find(|column| column.name == cx.column().as_str());
            let value = value.and_then(|column| column.values.get(cx.step())).cloned();
            async move { value.ok_or("no value is described for this step") }
        })
    }

    async fn definition(store: &MemoryStore) -> Vec<String> {
        let text = store.open().await.expect("it is closed").expect("a flow was opened on it");
        let mut lines: Vec<String> = text.lines().map(|line| line.trim_end_matches(',').to_owned()).collect();
        lines.sort();
        lines
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// In any order of columns, data declares the flow that the run-time API declares.
        #[test]
        fn equals_the_one_that_the_program_declares(mut described in flows(), order in vec(any::<Index>(), 1..9)) {
            let views = described.columns.iter_mut().filter_map(|column| column.reads.as_mut());
            // A filter is a function, and has no text.
            views.flat_map(|reads| &mut reads.views).for_each(|view| view.filter = None);
            let declaration = as_data(&described, &order);
            let written: Declaration =
                toml::from_str(&toml::to_string(&declaration).expect("it is written")).expect("it is read");
            prop_assert_eq!(&written, &declaration);

            let columns = || declaration.to_columns([("answer", answer(&described))]);
            let (one, other) = (MemoryStore::new(), MemoryStore::new());
            block_on(async {
                let live = Live::open(one.clone(), &described).await.expect("a flow");
                live.fill(&described).await.expect("a run");
                let data = Flow::open(other.clone(), columns()).await.expect("a flow");
                for step in 0..described.steps() {
                    for source in described.columns.iter().filter(|column| column.reads.is_none()) {
                        data.push(&source.name, &source.values[step]).await.expect("memory");
                    }
                }
                data.run().await.expect("a run");
                for column in described.columns.iter().filter(|column| column.reads.is_some()) {
                    for step in 0..described.steps() {
                        let messages = |flow: &Flow| flow.messages(&column.name, step).expect("it is stored");
                        assert_eq!(messages(&data), messages(&live.flow));
                    }
                }
                drop((live, data));
                assert_eq!(definition(&one).await, definition(&other).await);
                let again = Flow::open(one, columns()).await.expect("nothing has changed");
                assert_eq!(again.forecast().cells, 0);
            });
        }
    }

    #[tokio::test]
    async fn sends_its_prompts_with_their_settings() -> Result<(), BoxError> {
        let model = ScriptedModel::new(|_| "x".to_owned());
        let declaration = declared(
            r#"
            [[columns]]
            name = "topics"
            was = "subjects"
            views = ["user.latest.note(\"what the person typed\")"]
            prompt = "List the topics."
            effort = "low"
            temperature = 0.25
            top_p = 0.5
            seed = 7
            cache_key = "chat-17"
            lenient = true
            strip_thoughts = true
            keep_thoughts = true
            stop = ["\n"]
            max_tokens = 64
            allow_truncated = true
            allow_empty = true
            pace = { think = 75 }
            timeout = 30
            rate = { per_minute = 6000, per_second = 100, tokens_per_minute = 100000 }
            retry = 3
            limit = 2
            every = 2
            or_skip = true
            budget = { tokens = 2000, token_buffer = 100, strategy = "rolling_window", minimum_recent = 2, low_water = 0.5 }
            version = "2"
            "#,
        );
        let store = MemoryStore::new();
        let f = Flow::open(store.clone(), declaration.to_columns([])).await?;
        f.set_model(model.clone());
        for text in ["one", "two"] {
            f.push("user", text).await?;
        }
        f.run().await?;
        let [Request { system, max_tokens, settings, messages, .. }] = &model.requests()[..] else {
            panic!("only every second step is computed")
        };
        let expected = r#"Some(Low), temperature: Some(0.25), top_p: Some(0.5), seed: Some(7), stop: ["\n"], cache_key: Some("chat-17"), lenient: true"#;
        assert_eq!(*max_tokens, 64);
        assert_eq!(format!("{settings:?}"), format!("ReplySettings {{ effort: {expected} }}"));
        assert!(system.starts_with("List the topics.\n\n") && system.contains("what the person typed"));
        let report = messages.report().expect("there is a budget");
        assert_eq!(report.strategy, budget::Strategy::RollingWindow);
        // 2,000 tokens without 100 for the reply and some for the instruction.
        assert!((1850..1900).contains(&report.limit), "{report}");
        drop(f);
        let definition = store.open().await?.expect("a definition");
        assert!(definition.contains(r#""reads":["user.latest"],"version":"2""#), "{definition}");
        Ok(())
    }

    #[tokio::test]
    async fn has_a_column_for_each_step_of_the_program() -> Result<()> {
        let columns =
            declared("[[columns]]\nname = \"number\"\nviews = [\"user\"]\nstep = \"count\"\nor_wait = true")
                .to_columns([("count", Step::new(script(["1"])))]);
        let f = flow(&columns)?;
        f.push("user", "x").await?;
        f.run().await?;
        assert_eq!(f.get("number", 0).as_deref(), Some("1"));
        Ok(())
    }

    /// A program that joins two files, or adds its own columns to those of a file, makes one flow of both.
    #[tokio::test]
    async fn reads_the_columns_of_the_program_and_they_read_its_columns() -> Result<()> {
        let mut columns =
            declared("[[columns]]\nname = \"a\"\nviews = [\"user\", \"b.latest\"]\nstep = \"count\"")
                .to_columns([("count", Step::new(script(["1"])))]);
        columns.push(column("b", "user.latest", script(["2"])));
        columns.push(column("c", "a.latest", script(["3"])));
        assert_eq!(flow(columns)?.order(), ["user", "b", "a", "c"]);
        Ok(())
    }
}

mod a_step_with_conditional_settings {
    use super::*;

    /// Two settings made two types, so `if` had to have all of them in each branch, or name the trait `IntoStep`.
    #[tokio::test(start_paused = true)]
    async fn keeps_its_type() -> Result<()> {
        for (times, is_ok) in [(None, false), (Some(1), true)] {
            let mut attempts = vec![Ok("x"), Err("it is meant to fail")];
            let attempts = std::sync::Mutex::new(std::mem::take(&mut attempts));
            let mut step = Step::new(move |_: Context| {
                let next = attempts.lock().expect("no panic").pop();
                async move { next.unwrap_or(Err("no more attempts")) }
            });
            if let Some(times) = times {
                step = step.retry(times);
            }
            let f = flow([column("a", "user.latest", step), source("user")])?;
            f.push("user", "x").await?;
            assert_eq!(f.run().await.is_ok(), is_ok);
        }
        Ok(())
    }
}
