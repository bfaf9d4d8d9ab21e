//! Windows over columns that skip steps: they count values, and each value stays in the turn of its step.

use std::future::{pending, ready};
use std::sync::{Arc, Mutex};

use columnar::compute::{IntoStep, Reply};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::{CellState, Column, View, this};
use columnar_tests::live::push_all;
use columnar_tests::store::on_load;
use futures::FutureExt;
use tokio::sync::Semaphore;

fn labelled(label: &'static str) -> impl Fn(Context) -> std::future::Ready<String> + Send + Sync {
    move |cx| ready(format!("{label}{}", cx.step()))
}

/// A step that has a value at these steps only.
fn now_and_then(
    label: &'static str,
    steps: &'static [usize],
) -> impl Fn(Context) -> Reply<'static> + Send + Sync {
    move |cx| {
        let step = cx.step();
        if steps.contains(&step) { Reply::text(format!("{label}{step}")) } else { Reply::skip() }
    }
}

/// The messages with brackets instead of tags.
fn shown(messages: &Messages) -> String {
    let text = messages.iter().map(|(_, content)| content.into_owned()).collect::<Vec<_>>().join(" | ");
    text.replace("\n\n", " ").replace('\n', "").replace("<day>", "[").replace("</day>", "]")
}

async fn days(f: &Flow, days: std::ops::Range<usize>) -> Result<()> {
    push_all(f, "day", days.map(|day| format!("d{day}"))).await
}

flow! {
    /// A diary with a summary of each week.
    pub struct SummedDiary {
        source day;
        column weekly(day.window(7), self.latest) = labelled("w").every(7);
        column mood(day.latest, weekly.latest) = async |day, weekly: Option<Value>| {
            format!("{day} after {}", weekly.as_deref().unwrap_or("nothing"))
        };
        column plan(day.latest, weekly.latest) =
            async |cx: Context| cx.input("weekly").map(ToString::to_string).unwrap_or_default();
    }
}

/// `weekly.latest` was empty on six of seven days, and the weekly summary never saw the one before.
#[tokio::test]
async fn the_latest_weekly_summary_is_shown_every_day() -> Result<()> {
    let diary = SummedDiary::new();
    for day in 0..15 {
        diary.day.push(format!("d{day}")).await?;
    }
    diary.run().await?;
    assert_eq!(shown(&diary.mood.messages(5)?), "[d5]");
    assert_eq!(shown(&diary.mood.messages(6)?), "[d6] <weekly>w6</weekly>");
    assert_eq!(shown(&diary.mood.messages(7)?), "<weekly>w6</weekly> [d7]");
    assert_eq!(shown(&diary.mood.messages(12)?), "<weekly>w6</weekly> [d12]");
    assert_eq!(shown(&diary.mood.messages(14)?), "<weekly>w13</weekly> [d14]");
    // Compute steps get the same values.
    assert_eq!(diary.mood.get(5).as_deref(), Some("d5 after nothing"));
    assert_eq!(diary.mood.get(12).as_deref(), Some("d12 after w6"));
    assert_eq!(
        ["", "w6", "w13"].map(Some),
        [4, 9, 14].map(|day| diary.plan.get(day)).each_ref().map(Option::as_deref)
    );
    // A reducer sees its own last value.
    let second = "<elided/> | w6 | [d7] [d8] [d9] [d10] [d11] [d12] [d13]";
    assert_eq!(shown(&diary.weekly.messages(13)?), second);
    Ok(())
}

/// The columns of the flow at run time: `mood` has values at the steps 1, 4 and 5 and fails at others.
fn moods(views: impl Fn(&Column, &Column) -> Vec<View>) -> [Column; 2] {
    let day = source("day");
    let moody = |cx: Context| {
        ready(if [1, 4, 5].contains(&cx.step()) { Ok(format!("m{}", cx.step())) } else { Err("no mood") })
    };
    let mood = column("mood", day.latest(), moody.or_skip());
    let reader = column("reader", views(&day, &mood), labelled("r"));
    [mood, reader]
}

#[tokio::test]
async fn a_window_has_as_many_values_as_it_says() -> Result<()> {
    let f = flow(moods(|day, mood| vec![day.latest(), mood.window(3)]))?;
    days(&f, 0..9).await?;
    f.run().await?;
    let mood = |step: usize| format!("<mood>m{step}</mood>");
    let expected = [
        (0, "[d0]".to_owned()),
        (3, format!("{} [d3]", mood(1))),
        (5, format!("{} {} [d5] {}", mood(1), mood(4), mood(5))),
        (8, format!("{} {} {} [d8]", mood(1), mood(4), mood(5))),
    ];
    for (step, expected) in expected {
        assert_eq!(shown(&f.messages("reader", step)?), expected);
    }
    Ok(())
}

/// The next context begins with the mood of this step if the mood is skipped, and `explain_cache` had promised the notice
/// before the reply.
#[tokio::test]
async fn a_notice_that_a_skipped_step_removes_is_not_promised() -> Result<()> {
    let f = flow(moods(|day, mood| vec![day.latest(), mood.latest(), this().latest()]))?;
    days(&f, 0..4).await?;
    f.run().await?;
    assert_eq!(shown(&f.messages("reader", 1)?), "<elided/> | r0 | [d1] <mood>m1</mood>");
    assert_eq!(shown(&f.messages("reader", 2)?), "<mood>m1</mood> | r1 | [d2]");
    assert_eq!(f.explain_cache("reader", 1)?.bytes, 0);
    Ok(())
}

/// Of a column that skips steps, `prev` is the newest value before the step, one step after its own.
#[tokio::test]
async fn prev_is_the_newest_value_before_the_step() -> Result<()> {
    let f = flow(moods(|day, mood| vec![day.window(2), mood.prev()]))?;
    days(&f, 0..9).await?;
    f.run().await?;
    for (step, expected) in [
        (1, "[d0] [d1]"),
        (2, "[d1] [d2] <mood>m1</mood>"),
        (4, "<mood>m1</mood> [d3] [d4]"),
        (5, "[d4] [d5] <mood>m4</mood>"),
        (8, "<mood>m5</mood> [d7] [d8]"),
    ] {
        assert_eq!(shown(&f.messages("reader", step)?), expected);
    }
    Ok(())
}

/// The notice counts all values before the first one that is shown.
#[tokio::test]
async fn hidden_values_are_counted_before_the_window_of_values() -> Result<()> {
    let f = flow(moods(|day, mood| vec![day.latest(), mood.latest().elided()]))?;
    days(&f, 0..9).await?;
    f.run().await?;
    assert_eq!(shown(&f.messages("reader", 8)?), "<elided>2 values of mood</elided> <mood>m5</mood> [d8]");
    assert_eq!(shown(&f.messages("reader", 3)?), "<mood>m1</mood> [d3]");
    Ok(())
}

/// A window counts values before a filter or an exclusion hides some: another value does not replace a hidden one.
#[tokio::test]
async fn filters_and_exclusions_hide_values_inside_the_window() -> Result<()> {
    let f = flow(moods(|day, mood| vec![day.latest(), mood.window(2).filter(|text| text != "m5")]))?;
    days(&f, 0..7).await?;
    f.run().await?;
    assert_eq!(shown(&f.messages("reader", 6)?), "<mood>m4</mood> [d6]");

    let f = flow(moods(|day, mood| vec![day.latest(), mood.window(2)]))?;
    days(&f, 0..7).await?;
    f.run().await?;
    f.exclude("mood", 4).await?;
    days(&f, 7..8).await?;
    f.run().await?;
    assert_eq!(shown(&f.messages("reader", 6)?), "<mood>m4</mood> <mood>m5</mood> [d6]");
    assert_eq!(shown(&f.messages("reader", 7)?), "<mood>m5</mood> [d7]");
    Ok(())
}

/// `mood` waits at step 0 and is skipped at step 1. What `reader` shows at step 1 is not known before step 0 is decided.
#[tokio::test]
async fn a_reader_waits_for_an_earlier_cell_that_may_have_a_value() -> Result<()> {
    let gate = Arc::new(Semaphore::new(0));
    let mood = {
        let gate = Arc::clone(&gate);
        move |cx: Context| {
            let gate = Arc::clone(&gate);
            async move {
                match cx.step() {
                    0 => drop(gate.acquire().await?),
                    1 => return Err("no mood".into()),
                    _ => {}
                }
                Ok::<_, columnar::BoxError>(format!("m{}", cx.step()))
            }
        }
    };
    let computed = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&computed);
    let day = source("day");
    let mood = column("mood", day.latest(), mood.or_skip());
    let reader = column("reader", (day.latest(), mood.latest()), move |cx: Context| {
        log.lock().expect("no test panics").push(cx.step());
        ready("read")
    });
    let f = flow([reader])?;
    days(&f, 0..3).await?;
    let mut run = f.run();
    while let Some(event) = run.try_next().now_or_never() {
        event?;
    }
    // Step 2 has a value of its own, so nothing earlier is shown there.
    assert_eq!(*computed.lock().expect("no test panics"), [2]);
    gate.add_permits(1);
    while run.try_next().await?.is_some() {}
    assert_eq!(*computed.lock().expect("no test panics"), [2, 0, 1]);
    assert_eq!(shown(&f.messages("reader", 1)?), "<mood>m0</mood> [d1]");
    Ok(())
}

/// `weekly` reads `slow`, which never answers. A cell that `every` skips is known without it.
#[tokio::test]
async fn nobody_waits_for_a_cell_that_the_interval_skips() -> Result<()> {
    let diary = flow! {
        source day;
        column slow(day.latest)                = |_: Context| pending::<String>();
        column weekly(slow.latest)             = labelled("w").every(7);
        column mood(day.latest, weekly.latest) = labelled("m");
    };
    for day in 0..8 {
        diary.day.push(format!("d{day}")).await?;
    }
    let mut run = diary.run();
    while let Some(event) = run.try_next().now_or_never() {
        event?;
    }
    let moods: Vec<_> = (0..8).filter(|step| diary.mood.get(*step).is_some()).collect();
    assert_eq!(moods, [0, 1, 2, 3, 4, 5], "the summary of day 6 is not known, and day 7 shows it");
    Ok(())
}

/// The last value may be far behind the steps that are loaded.
#[tokio::test]
async fn a_reopened_flow_loads_the_values_that_its_windows_reach() -> Result<()> {
    let rare = || {
        let day = source("day");
        let rare = column("rare", day.latest(), now_and_then("v", &[3, 900]).into_step());
        let never = column("other", day.latest(), now_and_then("o", &[2]).into_step());
        [column("reader", (day.latest(), rare.latest(), this().latest()), labelled("r")), never]
    };
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), rare()).await?;
    days(&f, 0..900).await?;
    f.run().await?;
    drop(f);
    let loads = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&loads);
    let store = on_load(store, move |inner, column, steps| {
        log.lock().expect("no test panics").push((column.to_string(), steps.clone()));
        async move { inner.load(column, steps).await }
    });
    let f = Flow::open(OpenOptions::new(store).recent(1), rare()).await?;
    assert_eq!((f.get("rare", 3).as_deref(), f.get("other", 2)), (Some("v3"), None));
    assert_eq!(f.cell("day", 3)?, CellState::NotLoaded, "no window reaches it");
    days(&f, 900..902).await?;
    f.run().await?;
    assert_eq!(shown(&f.messages("reader", 899)?), "<rare>v3</rare> | r898 | [d899]");
    assert_eq!(shown(&f.messages("reader", 901)?), "<rare>v900</rare> | r900 | [d901]");
    // A long gap is passed in few loads.
    let loads = loads.lock().expect("no test panics");
    let of_rare = loads.iter().filter(|(column, _)| column == "rare").count();
    assert!(of_rare < 15, "{loads:?}");
    Ok(())
}

#[tokio::test]
async fn a_fork_shows_the_values_of_its_past() -> Result<()> {
    let f = flow(moods(|day, mood| vec![day.latest(), mood.latest()]))?;
    days(&f, 0..9).await?;
    f.run().await?;
    for (at, expected) in [(3, "<mood>m1</mood> [x]"), (8, "<mood>m5</mood> [x]")] {
        let fork = f.fork(at)?;
        fork.push("day", "x").await?;
        fork.run().await?;
        assert_eq!(shown(&fork.messages("reader", at)?), expected);
    }
    Ok(())
}

/// A forecast knows the interval, and does not count cells that it skips.
#[tokio::test]
async fn a_forecast_shows_the_values_that_the_windows_will_have() -> Result<()> {
    let diary = flow! {
        source day;
        column weekly(day.latest)              = (|_: Context| ready("x".repeat(400))).every(7);
        column mood(day.latest, weekly.latest) = (|_: Context| ready("y")).document();
    };
    for _ in 0..7 {
        diary.day.push("").await?;
    }
    diary.run().await?;
    for _ in 7..13 {
        diary.day.push("").await?;
    }
    let forecast = diary.forecast();
    let mood = forecast.columns.iter().find(|part| part.column == "mood").expect("it has missing cells");
    assert_eq!(
        (forecast.cells, mood.cells, mood.input_tokens),
        (6, 6, 600),
        "the summary is in each context"
    );
    Ok(())
}
