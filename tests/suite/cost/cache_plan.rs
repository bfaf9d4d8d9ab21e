//! Where requests are marked for the caches of providers.

use std::time::Duration;

use columnar::Messages;
use columnar::cache::{CachePlan, CachePolicy, Difference, Lifetime, Pace, Position, Reason};
use columnar::prelude::*;
use columnar::testing::{ScriptedModel, script};
use columnar_tests::live::{Gaps, Live, push_all};
use columnar_tests::naive::{self, Reads};
use columnar_tests::strategies::{flows, pauses};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use Position::{Part, System};

const CLAUDE: &str = "anthropic/claude-sonnet-5";

/// A provider for which every prefix is long enough.
fn eager(most_marks: usize, look_back: usize) -> CachePolicy {
    let mut row = CachePolicy::by_model(CLAUDE).clone();
    (row.minimum, row.most_marks, row.look_back) = (1, most_marks, look_back);
    row
}

/// The positions of the marks that are not for forks.
fn positions(plan: &CachePlan) -> Vec<Position> {
    let marks = plan.marks.iter().filter(|mark| mark.reason != Reason::Forks);
    marks.map(|mark| mark.position).collect()
}

/// The positions of the marks that are for forks.
fn spare(plan: &CachePlan) -> Vec<Position> {
    let marks = plan.marks.iter().filter(|mark| mark.reason == Reason::Forks);
    marks.map(|mark| mark.position).collect()
}

const fn mins(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

/// A flow with a column `bot` that reads `user` under an instruction, after some steps. A value of `user` has 1,000
/// tokens with its tag, a value of `bot` has 100.
async fn bot(steps: usize, instruction: usize, views: impl Fn(&Column) -> Vec<View>) -> Result<Flow> {
    let user = source("user");
    let model = ScriptedModel::new(|_| "b".repeat(4 * 100));
    let f = flow([column("bot", views(&user), prompt("i".repeat(4 * instruction)).model(model))])?;
    for _ in 0..steps {
        f.push("user", "u".repeat(4 * 1000 - "<user>\n\n</user>".len())).await?;
    }
    f.run().await?;
    Ok(f)
}

/// At step 3, with the parts from 0 on and an instruction of 2,000 tokens. The minimum is 1,024.
#[tokio::test]
async fn each_pattern_is_marked_where_the_next_request_diverges() -> Result<()> {
    type Views = fn(&Column) -> Vec<View>;
    let patterns: [(&str, Views, &[Position]); 6] = [
        // u0 b0 u1 b1 u2 b2 u3: everything stays.
        ("accumulator", |user| vec![user.all(), this()], &[System, Part(6)]),
        // u0 u1 u2, then the latest value of the column.
        ("reducer", |user| vec![user.all(), this().latest()], &[System, Part(2)]),
        // The leading notice, b0 b1 b2, then the latest value of the user.
        ("journal", |user| vec![user.latest(), this()], &[System, Part(3)]),
        ("map", |user| vec![user.latest()], &[System]),
        ("window", |user| vec![user.window(2)], &[System]),
        // The leading notice, b0 b1, then u2, which leaves the window next.
        ("windows", |user| vec![user.window(2), this().window(4)], &[System, Part(2)]),
    ];
    for (name, views, expected) in patterns {
        let f = bot(4, 2000, views).await?;
        let plan = f.cache_plan("bot", 3, CachePolicy::by_model(CLAUDE), Pace::batch())?;
        assert_eq!(positions(&plan), expected, "{name}");
        assert!(plan.marks.iter().all(|mark| mark.lifetime == Lifetime::Short), "{name}");
    }
    Ok(())
}

/// A plan was printed by `{:?}` alone.
#[tokio::test]
async fn a_plan_prints_with_a_line_for_each_mark() -> Result<()> {
    let f = bot(4, 2000, |user| vec![user.all(), this()]).await?;
    let plan = |policy, pace| Ok::<_, Error>(f.cache_plan("bot", 3, policy, pace)?.to_string());
    let long = Pace::think(mins(20));
    assert_eq!(
        plan(CachePolicy::by_model(CLAUDE), long)?,
        "after the instruction, long lifetime, for all under the instruction\n\
         after part 3, long lifetime, for forks\n\
         after part 5, long lifetime, for forks\n\
         after part 6, long lifetime, for the next request"
    );
    assert_eq!(plan(CachePolicy::by_model("offline"), long)?, "no marks");
    Ok(())
}

/// The earlier steps wrote the window up to this point, and the last request before it moves reads it once more.
#[tokio::test]
async fn a_full_window_is_read_from_the_cache_once_more() -> Result<()> {
    let f = bot(5, 0, |user| vec![user.window(3)]).await?;
    let plan = |step| Ok::<_, Error>(positions(&f.cache_plan("bot", step, &eager(4, 20), Pace::batch())?));
    assert_eq!(plan(0)?, [Part(0)]);
    assert_eq!(plan(1)?, [Part(1)]);
    assert_eq!(plan(2)?, [Part(1)], "the third part is new, and not repeated");
    assert_eq!(plan(3)?, []);
    Ok(())
}

/// A window moves by two after a step without a request.
#[tokio::test]
async fn a_window_that_moved_between_two_requests_is_not_read_from_the_cache() -> Result<()> {
    let seen = source("user").window(3).filter(|text| text == "u");
    let f = flow([column("bot", seen, script(["b", "b", "b", "b"]))])?;
    push_all(&f, "user", ["u", "u", "no", "u"]).await?;
    f.run().await?;
    let plan = |step| Ok::<_, Error>(positions(&f.cache_plan("bot", step, &eager(4, 20), Pace::batch())?));
    assert_eq!(plan(1)?, [Part(1)]);
    assert!(matches!(plan(2), Err(Error::Skipped { .. })));
    assert_eq!(plan(3)?, [], "it begins with the second value");
    Ok(())
}

/// The value of a column that has skipped the step most likely stays: without a mark behind it, each request until the
/// next value would write all turns since the last one again.
#[tokio::test]
async fn the_turns_after_a_value_that_stays_are_read_from_the_cache() -> Result<()> {
    let user = source("user");
    let weekly = column("weekly", user.latest(), script((0..9).map(|step| format!("w{step}"))).every(4));
    let bot = column("bot", (&user, weekly.latest(), this()), script(["b"; 9]));
    let f = flow([bot])?;
    push_all(&f, "user", ["u"; 9]).await?;
    f.run().await?;
    let plan = |step| Ok::<_, Error>(positions(&f.cache_plan("bot", step, &eager(4, 1), Pace::batch())?));
    // u0 b0 u1 b1 u2 b2 u3 w3: the column has no habit yet.
    assert_eq!(plan(3)?, [Part(4), Part(6)]);
    // … w3 b3 u4: it is skipped, and most likely again.
    assert!(plan(4)?.contains(&Part(9)), "{:?}", plan(4)?);
    assert!(plan(5)?.ends_with(&[Part(11)]) && plan(5)?.contains(&Part(9)), "{:?}", plan(5)?);
    // Nothing is said to be certain.
    let stable = f.explain_cache("bot", 5)?;
    assert!(matches!(stable.difference, Some(Difference::View { step: 3, .. })), "{stable}");
    Ok(())
}

#[tokio::test]
async fn a_prefix_below_the_minimum_is_not_marked() -> Result<()> {
    let views = |user: &Column| vec![user.all(), this()];
    let plan = async |instruction, step, model| {
        let f = bot(4, instruction, views).await?;
        Ok::<_, Error>(positions(&f.cache_plan("bot", step, CachePolicy::by_model(model), Pace::batch())?))
    };
    assert_eq!(plan(0, 0, CLAUDE).await?, [], "1,000 of 1,024 tokens");
    assert_eq!(plan(24, 0, CLAUDE).await?, [Part(0)]);
    assert_eq!(plan(0, 1, CLAUDE).await?, [Part(2)]);
    assert_eq!(plan(1024, 1, CLAUDE).await?, [System, Part(2)]);
    assert_eq!(plan(1024, 2, "anthropic/claude-opus-4-6").await?, [Part(4)], "4,096 are needed there");
    assert_eq!(plan(700, 2, "anthropic/claude-opus-4-6").await?, []);
    Ok(())
}

#[tokio::test]
async fn a_provider_with_automatic_caching_gets_no_marks() -> Result<()> {
    let f = bot(4, 5000, |user| vec![user.all(), this()]).await?;
    for model in
        ["openai/gpt-5.4", "gemini/gemini-3.8-flash", "deepseek/deepseek-flash", "ollama/llama3.2", "x/y"]
    {
        assert_eq!(
            f.cache_plan("bot", 3, CachePolicy::by_model(model), Pace::batch())?,
            CachePlan::default(),
            "{model}"
        );
    }
    Ok(())
}

/// A provider that looks for entries only at marks gets a mark at the entry of the previous request.
#[tokio::test]
async fn an_entry_beyond_the_look_back_has_its_own_mark() -> Result<()> {
    let f = bot(4, 2000, |user| vec![user.all(), this()]).await?;
    let plan = |provider: &CachePolicy| {
        Ok::<_, Error>(positions(&f.cache_plan("bot", 3, provider, Pace::batch())?))
    };
    assert_eq!(plan(CachePolicy::by_model("openai/gpt-5.6"))?, [System, Part(4), Part(6)]);
    assert_eq!(
        plan(&eager(4, 3))?,
        [System, Part(6)],
        "of three blocks the third is that of the step before"
    );
    assert_eq!(plan(&eager(4, 2))?, [System, Part(4), Part(6)]);
    assert_eq!(plan(&eager(2, 2))?, [Part(4), Part(6)], "the instruction is the first to go without");
    assert_eq!(plan(&eager(1, 2))?, [Part(6)]);

    // 20 blocks a step: the end of the step before is the twenty-first, counted from this one.
    let user = source("user");
    let copies: Vec<Column> =
        (0..19).map(|n| column(format!("c{n}"), user.latest(), script(["x", "x", "x"]))).collect();
    let views = copies.iter().map(Column::all).chain([this()]).collect::<Vec<_>>();
    let f = flow(copies.iter().cloned().chain([column("bot", views, script(["b", "b", "b"]))]))?;
    for _ in 0..3 {
        f.push("user", "u").await?;
    }
    f.run().await?;
    let plan = |provider: &CachePolicy| {
        Ok::<_, Error>(positions(&f.cache_plan("bot", 2, provider, Pace::batch())?))
    };
    assert_eq!(plan(&eager(4, 20))?, [Part(38), Part(58)]);
    assert_eq!(plan(&eager(4, 21))?, [Part(58)]);
    Ok(())
}

#[tokio::test]
async fn the_lifetime_depends_only_on_the_pace() -> Result<()> {
    use Lifetime::{Long, Short};
    let f = bot(12, 0, |user| vec![user.all(), this()]).await?;
    let lifetime = |step, model, pace| {
        let plan = f.cache_plan("bot", step, CachePolicy::by_model(model), pace)?;
        Ok::<_, Error>(plan.marks.first().map(|mark| mark.lifetime))
    };
    for (pace, expected) in [
        (Pace::batch(), Some(Short)),
        (Pace::every(mins(5)), Some(Short)),
        (Pace::every(mins(6)), Some(Long)),
        (Pace::every(mins(60)), Some(Long)),
        (Pace::every(mins(61)), None),
        // One pause in 70 is longer than five minutes; one in seven; all but a few are longer than an hour.
        (Pace::think(Duration::from_secs(20)), Some(Short)),
        (Pace::think(Duration::from_secs(75)), Some(Long)),
        (Pace::think(mins(600)), None),
    ] {
        for step in 1..12 {
            assert_eq!(lifetime(step, CLAUDE, pace)?, expected, "{pace:?} at step {step}");
        }
    }
    // This provider has a lifetime of half an hour only.
    assert_eq!(lifetime(11, "openai/gpt-5.6", Pace::every(mins(30)))?, Some(Short));
    assert_eq!(lifetime(11, "openai/gpt-5.6", Pace::every(mins(31)))?, None);
    Ok(())
}

/// Marks inside the prefix that is read cost nothing, so requests leave entries at many earlier steps: a fork of any
/// step finds one shortly before it.
#[tokio::test]
async fn forks_at_an_earlier_step_find_a_nearby_entry() -> Result<()> {
    let f = bot(64, 2000, |user| vec![user.all(), this()]).await?;
    let mut marked: Vec<Position> = Vec::new();
    for step in 40..64 {
        let plan = f.cache_plan("bot", step, CachePolicy::by_model(CLAUDE), Pace::batch())?;
        assert_eq!(positions(&plan), [System, Part(2 * step)], "step {step}");
        marked.extend(spare(&plan));
    }
    // At most one part of eight is farther than eight parts from the preceding mark of the last 24 requests.
    let far =
        (16..128).filter(|at| !marked.iter().any(|position| (Part(at - 8)..=Part(*at)).contains(position)));
    let far = far.count();
    assert!(far <= 16, "{far}");
    Ok(())
}

#[tokio::test]
async fn both_branches_are_marked_where_a_fork_diverges() -> Result<()> {
    let f = bot(16, 2000, |user| vec![user.all(), this()]).await?;
    let plan = |f: &Flow, step| f.cache_plan("bot", step, CachePolicy::by_model(CLAUDE), Pace::batch());
    let before: Vec<CachePlan> = (0..16).map(|step| plan(&f, step)).collect::<Result<_>>()?;
    let fork = f.fork(9)?;
    // Both share step 8; its request was marked after its seventeenth part, the last one.
    let divergence = Part(16);
    for (flow, step) in [(&f, 16), (&fork, 9), (&fork, 10)] {
        flow.push("user", "something else").await?;
        flow.run().await?;
        assert!(spare(&plan(flow, step)?).contains(&divergence), "step {step}");
    }
    // The fork does not change the plans of earlier requests.
    let after: Vec<CachePlan> = (0..16).map(|step| plan(&f, step)).collect::<Result<_>>()?;
    assert_eq!(after, before);
    Ok(())
}

/// The last request reads the existing entry and writes no other.
#[tokio::test]
async fn the_last_request_is_marked_at_the_mark_of_the_previous_one() -> Result<()> {
    let f = bot(4, 2000, |user| vec![user.all(), this()]).await?;
    let plan = |step, pace| f.cache_plan("bot", step, CachePolicy::by_model(CLAUDE), pace);
    let last = plan(3, Pace::batch().last())?;
    assert_eq!(positions(&last), positions(&plan(2, Pace::batch())?));
    assert_eq!(last.marks.last().map(|mark| mark.reason), Some(Reason::Previous));
    assert_eq!(
        positions(&plan(0, Pace::batch().last())?),
        [System],
        "others may follow under the instruction"
    );
    let lifetime = |pace| Ok::<_, Error>(plan(3, pace)?.marks.first().map(|mark| mark.lifetime));
    let human = Pace::think(mins(6));
    assert_eq!(
        lifetime(human.last())?,
        lifetime(human)?,
        "an entry with the long lifetime is read with the long lifetime"
    );
    Ok(())
}

/// Step 1 makes no request. From step 0 to step 2 the value of `short` leaves its window, so the group ends with the
/// value of `long` before it: the cell is the same and its bytes are not. It was taken for repeated, and marked.
#[tokio::test]
async fn a_value_whose_group_ends_elsewhere_is_not_repeated() -> Result<()> {
    let (long, short) = (source("long"), source("short"));
    let is_text = |text: &str| text != "-";
    let views = group("both", [long.filter(is_text), short.window(2).filter(is_text)]);
    let f = flow([column("bot", views, script(["", "", ""]))])?;
    for text in ["a", "-", "b"] {
        f.push("long", text).await?;
        f.push("short", text).await?;
    }
    f.run().await?;

    let first = |messages: &Messages| messages.parts().next().map(|part| part.text().into_owned());
    assert_eq!(first(&f.messages("bot", 0)?).as_deref(), Some("<both>\n<long>\na\n</long>"));
    assert_eq!(first(&f.messages("bot", 2)?).as_deref(), Some("<both>\n<long>\na\n</long>\n</both>"));
    assert_eq!(positions(&f.cache_plan("bot", 2, &eager(4, 1), Pace::batch().last())?), []);
    Ok(())
}

#[tokio::test]
async fn handles_and_flows_return_the_same_plan() -> Result<()> {
    let chat = flow! {
        source user;
        column bot(user, self) =
            prompt("Be brief. ".repeat(500)).model(ScriptedModel::new(|_| "Yes.".to_owned()));
    };
    chat.user.push("Is this marked?").await?;
    chat.run().await?;
    let provider = CachePolicy::by_model(CLAUDE);
    let plan = chat.bot.cache_plan(0, provider, Pace::batch())?;
    assert_eq!(positions(&plan), [System, Part(0)]);
    assert_eq!(plan, chat.cache_plan("bot", 0, provider, Pace::batch())?);
    assert_eq!(plan, CachePlan::of(&chat.bot.messages(0)?, 1250, provider, Pace::batch()));
    assert!(matches!(chat.bot.cache_plan(1, provider, Pace::batch()), Err(Error::Missing { .. })));
    assert!(matches!(chat.cache_plan("user", 0, provider, Pace::batch()), Err(Error::NotDerived { .. })));

    let fork = chat.fork(1)?;
    assert_eq!(plan, fork.cache_plan("bot", 0, provider, Pace::batch())?);
    Ok(())
}

/// A failure becomes a test with a name, not a seed in a file.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn marks_are_within_the_limit_and_at_existing_parts(flow in flows(), most in 0..5_usize, look_back in 1..4_usize, system in 0..2_usize) {
        let provider = eager(most, look_back);
        each_cell(&flow, &[0], |cell| {
            let plan = CachePlan::of(&cell.messages, system, &provider, Pace::batch());
            let positions: Vec<Position> = plan.marks.iter().map(|mark| mark.position).collect();
            assert!(positions.len() <= most && positions.is_sorted_by(|a, b| a < b), "{positions:?}");
            assert!(system > 0 || !positions.contains(&System));
            let count = cell.messages.parts().count();
            assert!(positions.iter().all(|position| matches!(position, System) || *position < Part(count)), "{positions:?}");
            assert!(plan.marks.iter().all(|mark| mark.lifetime == Lifetime::Short));
        });
    }

    /// Another request, the next or the previous one, begins with the marked prefix.
    #[test]
    fn the_bytes_before_a_mark_begin_an_adjacent_request(flow in flows(), look_back in 1..4_usize) {
        let provider = eager(4, look_back);
        each_cell(&flow, &[0], |cell| {
            if cell.step + 1 == flow.steps() {
                return;
            }
            let plan = CachePlan::of(&cell.messages, 0, &provider, Pace::batch());
            let now = cell.assembled(cell.step);
            let next = cell.assembled(cell.step + 1);
            let before = cell.step.checked_sub(1).map(|step| cell.assembled(step));
            for position in positions(&plan) {
                let sent = cell.sent_before(position);
                assert!(now.starts_with(&sent), "the parts are the request");
                let is_known = before.as_ref().is_some_and(|before| before.starts_with(&sent));
                assert!(is_known || next.starts_with(&sent), "{position:?}");
            }
            // The end of the repeated prefix is among them, unless it is that of the leading notice.
            let following = cell.live.flow.messages(cell.column, cell.step + 1).unwrap();
            let repeated = cell.messages.parts().zip(following.parts()).take_while(|(now, then)| now == then);
            let last = repeated.enumerate().filter(|(_, (part, _))| part.origin().is_some()).last();
            if let Some((at, _)) = last {
                assert!(positions(&plan).contains(&Part(at)), "{plan:?} without {at}");
            }
        });
    }

    /// The next request finds the last mark of a request, if it begins with the same prefix. Skipped cells are not
    /// shown, and a column whose inputs are all skipped sends no request. A mark for a prefix that is read once more is
    /// not for the next request, and a value that was about to leave a window may stay, if a cell is skipped.
    #[test]
    fn the_next_request_finds_the_entry_of_the_previous_one(flow in flows(), look_back in 1..4_usize, gaps in vec(any::<Index>(), 0..4)) {
        let cells: Vec<_> =
            flow.derived().flat_map(|(column, _)| (0..flow.steps()).map(|step| (column.name.clone(), step))).collect();
        let gaps: Gaps = gaps.iter().map(|gap| gap.get(&cells).clone()).collect();
        let live = Live::with_gaps(&flow, &gaps, &[0]).unwrap();
        fill(&live, &flow);
        let provider = eager(4, look_back);
        for (column, _) in flow.derived() {
            let requests: Vec<Messages> =
                (0..flow.steps()).filter_map(|step| live.flow.messages(&column.name, step).ok()).collect();
            for pair in requests.windows(2) {
                let [earlier, later] =
                    [&pair[0], &pair[1]].map(|messages| CachePlan::of(messages, 1, &provider, Pace::batch()));
                let deepest = earlier.marks.last().expect("at least the instruction");
                if deepest.reason == Reason::Previous && !gaps.is_empty() {
                    continue;
                }
                let deepest = deepest.position;
                let later = positions(&later);
                let Part(last) = deepest else { continue };
                if pair[0].parts().take(last + 1).eq(pair[1].parts().take(last + 1)) {
                    let finds = |mark: &Position| (0..look_back).any(|back| block(*mark) == block(deepest) + back);
                    assert!(later.iter().any(finds), "{deepest:?} is not found from {later:?}");
                }
            }
        }
    }

    #[test]
    fn a_plan_does_not_depend_on_the_order_of_completion(flow in flows(), pauses in pauses()) {
        let (calm, provider) = (filled(&flow, &[0]), eager(4, 2));
        each_cell(&flow, &pauses, |cell| {
            let plan = |live: &Live| live.flow.cache_plan(cell.column, cell.step, &provider, Pace::batch()).unwrap();
            assert_eq!(plan(&calm), plan(cell.live));
        });
    }
}

/// The number of blocks before a mark.
fn block(position: Position) -> usize {
    match position {
        System => 1,
        Part(at) => at + 2,
    }
}

/// The start of a message in a request that is written as one text.
fn begin(role: &str) -> String {
    format!("\u{1}{role}\u{2}")
}

struct Cell<'f> {
    flow: &'f naive::Flow,
    live: &'f Live,
    column: &'f str,
    reads: &'f Reads,
    step: usize,
    messages: Messages,
}

impl Cell<'_> {
    /// The request of a step as one text.
    fn assembled(&self, step: usize) -> String {
        let messages = naive::messages(self.flow, self.column, self.reads, step).unwrap();
        messages.into_iter().map(|(role, content)| begin(role) + &content).collect()
    }

    /// The request before a mark, as one text.
    fn sent_before(&self, position: Position) -> String {
        let Part(last) = position else { return String::new() };
        let mut role = None;
        let mut sent = String::new();
        for part in self.messages.parts().take(last + 1) {
            if role.replace(part.role()) != Some(part.role()) {
                sent.push_str(&begin(part.role().as_str()));
            }
            sent.push_str(&part.text());
        }
        sent
    }
}

fn each_cell(flow: &naive::Flow, pauses: &[usize], check: impl Fn(Cell<'_>)) {
    let live = &filled(flow, pauses);
    for (column, reads) in flow.derived() {
        for step in 0..flow.steps() {
            let messages = live.flow.messages(&column.name, step).unwrap();
            check(Cell { flow, live, column: &column.name, reads, step, messages });
        }
    }
}

fn filled(flow: &naive::Flow, pauses: &[usize]) -> Live {
    let live = Live::declare(flow, pauses).unwrap();
    fill(&live, flow);
    live
}

fn fill(live: &Live, flow: &naive::Flow) {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(live.fill(flow)).unwrap();
}
