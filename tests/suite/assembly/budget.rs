//! Contexts under their budgets.

use columnar::budget::{Budget, BudgetError, Strategy};
use columnar::prelude::*;
use columnar::store::MemoryStore;
use columnar::testing::{ScriptedModel, script};
use columnar::tokens::Counter;
use columnar_tests::budget::{self, Limit};
use columnar_tests::live::{Gaps, Live, block_on, plain, push_all};
use columnar_tests::naive;
use columnar_tests::strategies::flows;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::Strategy as _;
use proptest::test_runner::TestCaseError;

/// The tokens reserved for the reply. The tests give limits of messages, and a budget is larger by this.
const BUFFER: usize = 10;

fn budget(limit: Limit) -> Budget {
    let budget = Budget::of(limit.tokens + BUFFER).token_buffer(BUFFER).strategy(limit.strategy);
    budget.minimum_recent(limit.minimum_recent)
}

/// Eight characters, two tokens; as a value of the source they are nine with their delimiters.
fn word(letter: char, step: usize) -> String {
    format!("{letter}{step:07}")
}

/// A source, and a column that reads it through these views and replies with a word.
fn talk(views: impl Fn(&Column) -> Vec<View>, budget: Budget, steps: usize) -> Result<Flow> {
    let user = source("user");
    let answers: Vec<String> = (0..steps).map(|step| word('b', step)).collect();
    flow([column("bot", views(&user), script(answers).budget(budget))])
}

async fn talked(views: impl Fn(&Column) -> Vec<View>, budget: Budget, steps: usize) -> Result<Flow> {
    let f = talk(views, budget, steps)?;
    for step in 0..steps {
        f.push("user", word('u', step)).await?;
        f.run().await?;
    }
    Ok(f)
}

fn chat(user: &Column) -> Vec<View> {
    vec![user.all(), this()]
}

/// The values of a context, in short: `u3` for a value of the source, `b3` for one of the self history.
fn shape(messages: &Messages) -> String {
    let short = |part: columnar::Part<'_>| match part.origin() {
        Some(origin) => format!("{}{}", &origin.column[..1], origin.step),
        None => part.text().trim_start().to_owned(),
    };
    messages.parts().map(short).collect::<Vec<_>>().join(" ")
}

// A word of the source has 2 tokens and its delimiters `<user>\n\n</user>\n\n` 5; a word of the self history has 2 and
// its separator 1.
const USER: usize = 7;
const OWN: usize = 3;

#[tokio::test]
async fn a_context_is_truncated_only_if_it_exceeds_its_budget() -> Result<()> {
    let f = talked(chat, Budget::new(), 8).await?;
    assert!(f.messages("bot", 7)?.report().is_none());
    let all = 8 * USER + 7 * OWN;
    let exact = talked(chat, Budget::of(all + 1024), 8).await?.messages("bot", 7)?;
    assert_eq!(exact, f.messages("bot", 7)?);
    let report = exact.report().unwrap();
    assert_eq!((report.before, report.after, report.limit, report.turns), (all, all, all, 0));
    assert_eq!(report.to_string(), "about 77 of 77 tokens, nothing left out");
    assert_eq!(exact.elided().count(), 0);
    Ok(())
}

#[tokio::test]
async fn the_default_strategy_omits_the_middle() -> Result<()> {
    let f = talked(chat, Budget::of(60).token_buffer(BUFFER), 8).await?;
    let messages = f.messages("bot", 7)?;
    // The four newest have 20, the notice about 12; then u0, u5 and b0 are added, and no other turn fits.
    assert_eq!(shape(&messages), "u0 b0 <elided>8 turns, about 40 tokens</elided> u5 b5 u6 b6 u7");
    assert_eq!(
        messages.to_json(),
        concat!(
            r#"[{"role":"user","content":"<user>\nu0000000\n</user>"},"#,
            r#"{"role":"assistant","content":"b0000000"},"#,
            r#"{"role":"user","content":"<elided>8 turns, about 40 tokens</elided>\n\n<user>\nu0000005\n</user>"},"#,
            r#"{"role":"assistant","content":"b0000005"},"#,
            r#"{"role":"user","content":"<user>\nu0000006\n</user>"},"#,
            r#"{"role":"assistant","content":"b0000006"},"#,
            r#"{"role":"user","content":"<user>\nu0000007\n</user>"}]"#
        )
    );
    let report = messages.report().unwrap();
    assert_eq!(report.strategy, Strategy::TruncateMiddle);
    assert_eq!((report.before, report.after, report.limit), (77, 77 - 40 + 11 + 1, 50));
    assert_eq!((report.turns, report.kept_fewer, report.is_over_limit()), (8, false, false));
    assert_eq!(messages.parts().map(|part| part.tokens()).sum::<usize>(), report.after);
    let gone: Vec<_> =
        messages.elided().map(|origin| format!("{}{}", &origin.column[..1], origin.step)).collect();
    assert_eq!(gone, ["u1", "b1", "u2", "b2", "u3", "b3", "u4", "b4"]);
    Ok(())
}

#[tokio::test]
async fn a_rolling_window_keeps_the_newest_turns_without_a_notice() -> Result<()> {
    let rolling = Budget::of(29).token_buffer(BUFFER).rolling_window();
    let f = talked(chat, rolling.clone(), 8).await?;
    assert_eq!(shape(&f.messages("bot", 7)?), "u6 b6 u7");
    // If a reply would come first, a user message precedes it as in every context.
    let f = talked(chat, rolling.tokens(30), 8).await?;
    assert_eq!(shape(&f.messages("bot", 7)?), "<elided/> b5 u6 b6 u7");
    Ok(())
}

#[tokio::test]
async fn one_turn_is_always_kept_and_the_report_has_the_excess() -> Result<()> {
    for strategy in [Strategy::TruncateMiddle, Strategy::RollingWindow] {
        let f = talked(chat, Budget::of(BUFFER + 6).token_buffer(BUFFER).strategy(strategy), 4).await?;
        let messages = f.messages("bot", 3)?;
        let report = messages.report().unwrap();
        assert!(messages.last_text().contains("u0000003"), "{messages:?}");
        assert_eq!((report.turns, report.is_over_limit()), (6, true), "{report}");
        assert_eq!(report.kept_fewer, strategy == Strategy::TruncateMiddle);
    }
    Ok(())
}

/// The newest turn fitted, and the request was over the limit by the marker of the others.
#[tokio::test]
async fn a_marker_that_does_not_fit_beside_the_newest_turn_is_left_out() -> Result<()> {
    // The text and a separator.
    let marker = 11 + 1;
    for (limit, expected) in [
        (USER, "u3"),
        (USER + marker - 1, "u3"),
        (USER + marker, "<elided>6 turns, about 30 tokens</elided> u3"),
    ] {
        let f = talked(chat, Budget::of(BUFFER + limit).token_buffer(BUFFER), 4).await?;
        let messages = f.messages("bot", 3)?;
        assert_eq!(shape(&messages), expected);
        let report = messages.report().unwrap();
        let shown: usize = messages.parts().map(|part| part.tokens()).sum();
        assert_eq!((report.turns, report.after, report.is_over_limit()), (6, shown, false), "{report}");
    }
    Ok(())
}

#[tokio::test]
async fn stop_at_limit_names_the_largest_input_and_sends_no_request() -> Result<()> {
    let user = source("user");
    let notes = source("notes");
    let budget = Budget::of(300).stop_at_limit().token_buffer(100);
    let step = prompt("Answer.").model(unreachable_model()).budget(budget);
    let f = flow([column("bot", [user.all(), notes.all()], step)])?;
    f.push("user", "Hello!").await?;
    f.push("notes", "x".repeat(1000)).await?;
    let error = f.run().await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the context of `bot` at step 0 exceeds its budget: it has about 262 tokens, and the limit is \
         198; the largest columns are `notes` with 255, `user` with 7: raise the budget, narrow a view, or choose a strategy that \
         truncates"
    );
    assert!(matches!(f.messages("bot", 0), Err(Error::Budget { source: BudgetError::OverLimit { .. }, .. })));
    Ok(())
}

/// A model that must not be called.
fn unreachable_model() -> ScriptedModel {
    ScriptedModel::new(|_| panic!("no request is sent"))
}

/// A budget that holds no message failed at step 0 of its column, when a run had called the models of the columns before
/// it. So did a forecast: it had no complaint.
#[tokio::test]
async fn a_budget_that_holds_no_message_is_an_error_before_any_request() -> Result<()> {
    let topics = column("topics", "user.latest", prompt("List.").model(unreachable_model()));
    let bot = |budget| column("bot", ["user", "topics"], prompt("x".repeat(400)).budget(budget).or_skip());
    let f = flow([&source("user"), &topics, &bot(Budget::of(1100))])?;
    f.run().await?;
    f.push("user", "Hello!").await?;
    let error = f.run().await.unwrap_err();
    let expected = "the budget of `bot` holds no message: of its 1100 tokens, 1024 are reserved for the reply, the \
        instruction has about 100, and an empty message has about 5: raise the budget to at least 1129, reserve less \
        with `token_buffer`, or shorten the instruction";
    assert_eq!(error.to_string(), expected);
    assert_eq!((f.try_get("topics", 0)?, f.try_get("bot", 0)?, f.progress().skipped), (None, None, 0));

    // The least budget that the error names is enough for an empty message.
    let f = flow([&source("user"), &bot(Budget::of(1129)), &column("topics", "user", script(["", ""]))])?;
    f.push("user", "").await?;
    f.run().await?;
    assert_eq!(f.get("bot", 0).as_deref(), Some("(nothing to extract)"));
    f.set_budget(Budget::new());
    let small = column("small", "user", script([""]).budget(Budget::of(7).token_buffer(3)));
    f.add_column(small).await?;
    assert!(matches!(f.run().await, Err(Error::BudgetTooSmall { column, .. }) if column == "small"));
    assert!(matches!(f.messages("small", 0), Err(Error::BudgetTooSmall { .. })));
    Ok(())
}

/// The failure policy of a column applies to its budget as well.
#[tokio::test]
async fn a_column_with_or_skip_skips_a_cell_over_its_budget() -> Result<()> {
    let user = source("user");
    let short = column(
        "short",
        user.all(),
        script(["s0", "s1"]).budget(Budget::of(20).token_buffer(9).stop_at_limit()).or_skip(),
    );
    let reader = column("reader", [user.latest(), short.latest()], script(["r0", "r1"]));
    let f = flow([reader])?;
    push_all(&f, "user", ["one", "two"]).await?;
    let mut run = f.run();
    let mut failed = Vec::new();
    while let Some(event) = run.try_next().await? {
        if let Event::Failed { column, step, error } = event {
            failed.push((column.to_string(), step, error.contains("the limit is 11")));
        }
    }
    assert_eq!(failed, [("short".to_owned(), 1, true)]);
    assert_eq!((f.get("short", 0).as_deref(), f.get("short", 1)), (Some("s0"), None));
    assert_eq!(f.get("reader", 1).as_deref(), Some("r1"));
    Ok(())
}

#[tokio::test]
async fn budget_settings_are_inherited_field_by_field() -> Result<()> {
    let f = talked(chat, Budget::new().rolling_window(), 6).await?;
    f.set_budget(Budget::of(BUFFER + 17).token_buffer(BUFFER).stop_at_limit());
    let messages = f.messages("bot", 5)?;
    let report = messages.report().unwrap();
    assert_eq!((report.limit, report.strategy), (17, Strategy::RollingWindow));
    assert_eq!(shape(&messages), "u4 b4 u5");
    f.set_budget(Budget::new());
    assert!(f.messages("bot", 5)?.report().is_none());
    Ok(())
}

/// The later policy wins; the fields that it does not set stay.
#[tokio::test]
async fn a_budget_can_be_set_in_several_policies() -> Result<()> {
    let user = source("user");
    let step = script(["b"]).budget(500).retry(1).budget(Budget::new().rolling_window().token_buffer(50));
    let f = flow([column("bot", user.all(), step)])?;
    f.push("user", "hello").await?;
    let messages = f.messages("bot", 0)?;
    let report = messages.report().unwrap();
    assert_eq!((report.limit, report.strategy), (450, Strategy::RollingWindow));
    Ok(())
}

/// A chat that is truncated to half its budget at once keeps its prefix for many steps.
#[tokio::test]
async fn a_low_water_mark_keeps_the_prefix_for_many_steps() -> Result<()> {
    for (low_water, most) in [(None, 200), (Some(0.5), 25)] {
        for strategy in [Strategy::TruncateMiddle, Strategy::RollingWindow] {
            let mut budget = Budget::of(BUFFER + 200).token_buffer(BUFFER).strategy(strategy);
            budget = low_water.map_or(budget.clone(), |share| budget.low_water(share));
            let f = talked(chat, budget, 200).await?;
            let (mut truncations, mut before) = (0, String::new());
            for step in 0..200 {
                let messages = f.messages("bot", step)?;
                let report = messages.report().unwrap();
                assert!(!report.is_over_limit(), "{report}");
                let json = messages.to_json();
                let stays = json.starts_with(before.trim_end_matches(']'));
                truncations += usize::from(!stays);
                if step > 0 && low_water.is_some() {
                    let prefix = f.explain_cache("bot", step - 1)?;
                    assert_eq!(prefix.difference.is_none(), stays, "step {step}: {prefix}");
                }
                before = json;
            }
            assert!((most / 2..=most).contains(&truncations), "{strategy}, {low_water:?}: {truncations}");
        }
    }
    Ok(())
}

/// When turns became longer, the newest ones left less room for the oldest ones of the next context. `explain_cache`
/// promised those all the same, although turns as large as the last ones are all that it expects.
#[tokio::test]
async fn a_promise_under_truncate_middle_expects_turns_like_the_last_ones() -> Result<()> {
    let budget = Budget::of(BUFFER + 400).token_buffer(BUFFER);
    let f = talk(chat, budget, 60)?;
    for step in 0..60 {
        f.push("user", word('u', step).repeat(if step < 40 { 1 } else { 12 })).await?;
        f.run().await?;
    }
    let mut promised = 0;
    for step in 0..59 {
        let (now, next) = (f.messages("bot", step)?, f.messages("bot", step + 1)?);
        let repeated = now.parts().zip(next.parts()).take_while(|(now, then)| now == then);
        let bytes = repeated.map(|(part, _)| part.text().len()).sum::<usize>();
        let stable = f.explain_cache("bot", step)?;
        // Step 40 is the first one with a long question.
        assert!(step == 39 || stable.bytes <= bytes, "{bytes} at {step}: {stable}");
        promised += usize::from(step >= 40 && stable.bytes > 0);
    }
    assert!(promised > 0);
    Ok(())
}

/// While a truncation persists, the window behind it moves on without a change of the context. When a value of the
/// window becomes the first shown one, the notice counts the earlier values.
#[tokio::test]
async fn the_elision_notice_of_a_window_is_where_the_truncation_ends() -> Result<()> {
    let budget = Budget::of(BUFFER + 150).token_buffer(BUFFER).rolling_window().low_water(0.4);
    let views = |user: &Column| vec![user.all(), this().window(8).elided()];
    let f = talked(views, budget, 60).await?;
    let (mut with_notice, mut without) = (0, 0);
    for step in 8..59 {
        let (now, next) = (f.messages("bot", step)?, f.messages("bot", step + 1)?);
        let repeated = now.parts().zip(next.parts()).take_while(|(now, then)| now == then);
        let bytes = repeated.map(|(part, _)| part.text().len()).sum::<usize>();
        let stable = f.explain_cache("bot", step)?;
        assert!(stable.bytes <= bytes, "{} then {} at {step}: {stable}", shape(&now), shape(&next));
        let has_notice = now.parts().any(|part| part.hidden().is_some());
        (with_notice, without) = (with_notice + usize::from(has_notice), without + usize::from(!has_notice));
        assert_eq!(now.parts().map(|part| part.tokens()).sum::<usize>(), now.tokens());
    }
    assert!(with_notice > 5 && without > 5, "{with_notice} and {without}");
    Ok(())
}

/// The truncation at a step follows from the values, not from earlier reads.
#[tokio::test]
async fn a_truncation_is_the_same_after_a_restart_and_in_a_fork() -> Result<()> {
    let user = source("user");
    let answers: Vec<String> = (0..60).map(|step| word('b', step)).collect();
    let low = || Budget::of(BUFFER + 120).token_buffer(BUFFER).low_water(0.6);
    let declared = || column("bot", [user.all(), this()], script(answers.clone()).budget(low()));
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [declared()]).await?;
    for step in 0..60 {
        f.push("user", word('u', step)).await?;
        f.run().await?;
    }
    let all: Vec<String> = (0..60).map(|step| Ok(shape(&f.messages("bot", step)?))).collect::<Result<_>>()?;
    let fork = f.fork(33)?;
    for step in 33..60 {
        fork.push("user", word('u', step)).await?;
    }
    fork.run().await?;
    drop(f);
    let again = Flow::open(store, [declared()]).await?;
    for step in [59, 0, 40, 20, 59] {
        assert_eq!(shape(&again.messages("bot", step)?), all[step], "step {step}");
        assert_eq!(shape(&fork.messages("bot", step)?), all[step], "step {step} of the fork");
    }
    // A fork with other values is truncated in its own way, and the first flow does not change.
    let other = again.fork(33)?;
    for step in 33..60 {
        other.push("user", "x".repeat(10 * step)).await?;
    }
    other.run().await?;
    assert_ne!(shape(&other.messages("bot", 59)?), all[59]);
    assert_eq!(shape(&again.messages("bot", 59)?), all[59]);
    assert_eq!(shape(&other.messages("bot", 32)?), all[32]);
    Ok(())
}

struct Letters;

impl Counter for Letters {
    fn count(&self, text: &str) -> usize {
        text.chars().filter(|letter| letter.is_alphanumeric()).count()
    }
}

#[tokio::test]
async fn a_new_counter_counts_stored_values_again() -> Result<()> {
    let f = talked(chat, Budget::of(10_000), 50).await?;
    assert_eq!(f.messages("bot", 49)?.tokens(), 50 * USER + 49 * OWN);
    f.set_counter(Letters);
    assert_eq!(f.messages("bot", 49)?.tokens(), 50 * (8 + 8) + 49 * 8);
    assert_eq!(f.messages("bot", 49)?.report().unwrap().before, 50 * (8 + 8) + 49 * 8);
    f.push("user", "three letters").await?;
    assert_eq!(f.messages("bot", 50)?.tokens(), 50 * (8 + 8) + 50 * 8 + 12 + 8);
    let fork = f.fork(10)?;
    fork.push("user", "x").await?;
    assert_eq!(fork.messages("bot", 10)?.tokens(), 10 * (8 + 8) + 10 * 8 + 1 + 8);
    Ok(())
}

/// The forecast of a column is at most the cost that its budget allows.
#[tokio::test]
async fn a_forecast_applies_the_budget() -> Result<()> {
    let f = talk(chat, Budget::of(BUFFER + 40).token_buffer(BUFFER), 100)?;
    for step in 0..100 {
        f.push("user", word('u', step)).await?;
    }
    let forecast = f.forecast();
    assert!((90 * 40..=100 * 40).contains(&forecast.input_tokens), "{forecast:?}");
    Ok(())
}

#[test]
#[should_panic(expected = "the low-water mark is a share of the limit")]
fn a_low_water_mark_of_zero_is_an_error() {
    drop(Budget::of(100).low_water(0.0));
}

/// Limits, and their low-water marks as shares.
fn limits() -> impl proptest::strategy::Strategy<Value = (Limit, Option<f64>)> {
    let strategies = select(vec![Strategy::TruncateMiddle, Strategy::RollingWindow]);
    let shares = option::of(select(vec![(1, 0.25), (2, 0.5), (4, 1.0)]));
    (1..40_usize, strategies, 0..6_usize, shares).prop_map(|(quarter, strategy, minimum_recent, share)| {
        let low_water = share.map(|(quarters, _)| quarters * quarter);
        let limit = Limit { tokens: 4 * quarter, strategy, minimum_recent, low_water };
        (limit, share.map(|(_, share)| share))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// For every flow and budget, the shown and the omitted turns are those of the naive rules.
    #[test]
    fn contexts_are_truncated_by_the_naive_rules(described in flows(), (limit, share) in limits()) {
        let live = Live::declare(&described, &[0]).unwrap();
        live.flow.set_budget(share.map_or(budget(limit), |share| budget(limit).low_water(share)));
        if is_filled(&described, &live, limit)? {
            each_is_as_the_rules_say(&described, &live, limit)?;
        }
    }

    /// Skipped cells are no turns, or make turns smaller.
    #[test]
    fn a_skipped_cell_is_neither_shown_nor_counted_as_omitted(
        described in flows(),
        (limit, share) in limits(),
        gaps in vec(any::<Index>(), 1..8),
    ) {
        let derived = described.derived().map(|(column, _)| column.name.clone());
        let cells: Vec<_> =
            derived.flat_map(|name| (0..described.steps()).map(move |step| (name.clone(), step))).collect();
        let gaps: Gaps = gaps.iter().map(|gap| gap.get(&cells).clone()).collect();
        let live = Live::with_gaps(&described, &gaps, &[0]).unwrap();
        live.flow.set_budget(share.map_or(budget(limit), |share| budget(limit).low_water(share)));
        if is_filled(&described, &live, limit)? {
            each_is_as_the_rules_say(&described, &live, limit)?;
        }
    }
}

/// Fills a flow. A limit that holds no message of some column is an error, and any other limit is none.
fn is_filled(described: &naive::Flow, live: &Live, limit: Limit) -> Result<bool, TestCaseError> {
    let too_small = described.derived().find(|(_, reads)| budget::least_message(reads) > limit.tokens);
    match (block_on(live.fill(described)), too_small) {
        (Ok(()), None) => Ok(true),
        (Err(Error::BudgetTooSmall { column, .. }), Some((first, _))) if column == *first.name => Ok(false),
        (filled, too_small) => Err(TestCaseError::fail(format!("{filled:?}, {too_small:?}"))),
    }
}

/// Compares the messages of the compute steps, and those that are read later, with the rules.
fn each_is_as_the_rules_say(described: &naive::Flow, live: &Live, limit: Limit) -> Result<(), TestCaseError> {
    let is_gap = |column: &str, step| live.flow.get(column, step).is_none();
    for ((column, step), seen) in live.seen() {
        let reads = described.derived().find(|(derived, _)| derived.name == column).unwrap().1;
        let (left, gone) = budget::truncated(described, &column, reads, step, limit, &is_gap).unwrap();
        let tokens: usize = left.iter().map(|turn| turn.tokens).sum();
        prop_assert_eq!(plain(&seen), naive::merge(left), "`{}` at step {}, {:?}", column, step, limit);
        let report = seen.report().unwrap();
        prop_assert_eq!((report.turns, report.after), (gone.len(), tokens));
        prop_assert_eq!(seen.tokens(), tokens);
        prop_assert_eq!(seen.parts().map(|part| part.tokens()).sum::<usize>(), tokens);
        let gone: Vec<_> = gone.into_iter().flat_map(|turn| turn.cells).collect();
        prop_assert_eq!(elided(&seen), gone);
        prop_assert_eq!(serde_json::to_string(&seen).unwrap(), seen.to_json());
        prop_assert_eq!(live.flow.messages(&column, step).unwrap(), seen);
    }
    Ok(())
}

/// The omitted cells.
fn elided(messages: &Messages) -> Vec<(String, usize)> {
    messages.elided().map(|origin| (origin.column.to_string(), origin.step)).collect()
}
