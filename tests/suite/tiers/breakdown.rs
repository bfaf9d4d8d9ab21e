//! The breakdown of a request: where its tokens go.

use columnar::breakdown::Breakdown;
use columnar::budget::Budget;
use columnar::cache::{CachePlan, CachePolicy, Pace};
use columnar::documents::{Kind, Update};
use columnar::prelude::*;
use columnar::testing::script;
use columnar::tiers::Tier;
use columnar::tokens::Counter;
use columnar::usage::Receipt;
use columnar::{Column, Messages};
use proptest::collection::vec;
use proptest::prelude::*;

const MODEL: &str = "anthropic/claude-sonnet-4-5";

const INSTRUCTION: &str = "You write Rust.";

/// One token per character.
struct Letters;

impl Counter for Letters {
    fn count(&self, text: &str) -> usize {
        text.chars().count()
    }
}

flow! {
    pub struct Coder {
        source files: Documents;
        source user;
        column coder(files.tiered().target(0), user.note("The words of the user."), self) =
            script(["Done."; 40]);
    }
}

/// A coder whose files change at two steps.
async fn coder() -> Result<Coder> {
    let coder = Coder::new();
    coder.set_counter(Letters);
    for step in 0..7 {
        let update = match step {
            0 => Update::new()
                .legend("f function")
                .tree("a.rs\nb.rs\nc.rs\nd.rs\ne.rs\nf.rs")
                .symbol("c.rs", "f c")
                .cluster(0, 3)
                .symbol("d.rs", "f d")
                .cluster(1, 2)
                .symbol("e.rs", "f e")
                .symbol("f.rs", "f f")
                .file("a.rs", "fn a() {}\n")
                .file("b.rs", "fn b() {}\n"),
            4 => Update::new().symbol("c.rs", "f c2"),
            6 => Update::new().file("b.rs", "fn b6() {}\n").url("https://a.example", "A page."),
            _ => Update::new(),
        };
        coder.files.push(update).await?;
        coder.user.push(format!("Question {step}.")).await?;
        coder.run().await?;
    }
    Ok(coder)
}

/// The tokens of all leaves.
fn sum(breakdown: &Breakdown) -> usize {
    let tiers = breakdown.tiers.iter().map(|tier| {
        let documents: usize = tier.documents.iter().map(|document| document.tokens).sum();
        let rest = [tier.legend, tier.tree, tier.history, tier.prompt, tier.titles, tier.acknowledgements];
        let sum = documents + rest.into_iter().sum::<usize>();
        assert_eq!(sum, tier.tokens, "{}", tier.tier);
        assert_eq!(documents, tier.document_tokens());
        sum
    });
    let columns = breakdown.columns.iter().map(|column| column.tokens);
    breakdown.instruction + breakdown.notes + breakdown.omitted + tiers.chain(columns).sum::<usize>()
}

#[tokio::test]
async fn t24_a_breakdown_prints_as_a_table_with_the_moves_and_a_line_for_each_tier() -> Result<()> {
    let coder = coder().await?;
    let expected = "\
request of `coder` at step 3
active to L3: file:a.rs, file:b.rs
empty tiers: 0
part         symbols  files  pages  history  prompt  other  tokens  holds
instruction                                                     15
notes                                                           68
L0                 0      0      0        0       0     44      44  cached: legend
L1                18      0      0        0       0     43      61  cached: 1 symbol
L2                18      0      0        0       0     43      61  cached: 1 symbol
L3                36     50      0        0       0     67     153  cached: 2 symbols, 2 files
active             0      0      0      105      28     66     199  3 exchanges, tree, prompt
total             72     50      0      105      28    263     601";
    assert_eq!(coder.coder.messages(3)?.breakdown(INSTRUCTION).to_string(), expected);
    let expected = "\
request of `coder` at step 6
L3 to active, changed: file:b.rs
empty tiers: 1
part         symbols  files  pages  history  prompt  other  tokens  holds
instruction                                                     15
notes                                                           68
L0                 0      0      0        0       0     44      44  cached: legend
L1                 0      0      0        0       0      0       0  cached: nothing
L2                18      0      0        0       0     43      61  cached: 1 symbol
L3                36     25      0        0       0     67     128  cached: 2 symbols, 1 file
active            19     26     35      210      28    179     497  1 symbol, 1 file, 1 page, 6 exchanges, tree, prompt
total             73     51     35      210      28    333     813";
    assert_eq!(coder.coder.messages(6)?.breakdown(INSTRUCTION).to_string(), expected);
    Ok(())
}

/// The key, the N, the next one and the progress of a document.
type Stability = (String, u32, Option<u32>, Option<f64>);

/// The text of a tier stays as long as none of its documents leaves or changes, while their N goes on. The N was that of
/// the step which made the text.
#[tokio::test]
async fn t24_n_is_that_of_the_step_in_a_tier_that_keeps_its_text() -> Result<()> {
    let coder = coder().await?;
    let n = |step: usize, tier: Tier| -> Result<Vec<Stability>> {
        let messages = coder.coder.messages(step)?;
        let breakdown = messages.breakdown(INSTRUCTION);
        let parts = messages.parts().filter(|part| part.tier() == Some(tier));
        let shown: Vec<_> = parts
            .flat_map(|part| part.items().map(|item| (item.key.clone(), item.n)).collect::<Vec<_>>())
            .collect();
        let tier = breakdown.tiers.into_iter().find(|it| it.tier == tier).unwrap();
        let documents = tier.documents.iter();
        assert_eq!(shown, documents.clone().map(|it| (it.key.clone(), it.n)).collect::<Vec<_>>());
        Ok(documents.map(|it| (it.key.to_string(), it.n, it.next, it.progress())).collect())
    };
    let d = |n: u32, progress: f64| vec![("symbol:d.rs".to_owned(), n, Some(9), Some(progress))];
    assert_eq!(n(3, Tier::L2)?, d(6, 0.0));
    // The tier above changes, so the tier takes part in the update, and it stays as it is.
    assert_eq!(n(4, Tier::L2)?, d(7, 1.0 / 3.0));
    assert!(!coder.coder.messages(4)?.moves().unwrap().broken().contains(&Tier::L2));
    Ok(())
}

#[tokio::test]
async fn t24_the_system_text_its_notes_and_l0_are_counted_apart() -> Result<()> {
    let coder = coder().await?;
    let messages = coder.coder.messages(4)?;
    let breakdown = messages.breakdown(INSTRUCTION);
    let l0 = &breakdown.tiers[0];
    assert_eq!(breakdown.instruction, INSTRUCTION.len());
    assert_eq!(l0.legend, "```\nf function\n```\n\n".len());
    assert_eq!(l0.titles, "# Repository Structure\n\n".len());
    // Each section counts the empty line after its last document, too; the notes count the one before them.
    assert_eq!(breakdown.instruction + breakdown.notes + l0.tokens, messages.system(INSTRUCTION).len());
    // Another instruction changes nothing else.
    let other = messages.breakdown("");
    assert_eq!((other.instruction, other.notes), (0, breakdown.notes - "\n\n".len()));
    assert_eq!((other.tiers, other.moves), (breakdown.tiers, breakdown.moves));
    Ok(())
}

/// A flow without tiers, with everything that a context leaves out.
fn truncated(budget: usize) -> Flow {
    let (files, user) = (documents("files"), source("user"));
    let topic = column("topic", user.latest(), script((0..40).map(|step| format!("topic {step}"))).every(2));
    let step = script((0..40).map(|step| format!("answer {step}")));
    let step = step.budget(Budget::of(budget).token_buffer(0).truncate_middle());
    let subjects = topic.latest().elided().named("subjects");
    let views = (group("all", (user.all().note("All."), subjects)), files.all(), this());
    let f = flow([column("answer", views, step)]).unwrap();
    f.set_counter(Letters);
    f
}

#[tokio::test]
async fn t24_without_tiers_a_breakdown_is_by_column() -> Result<()> {
    let f = truncated(420);
    for step in 0..8 {
        let update = if step == 5 { Update::new().file("a.rs", "a") } else { Update::new() };
        f.push("files", update.to_text().unwrap()).await?;
        f.push("user", format!("question {step}")).await?;
    }
    f.run().await?;
    let breakdown = f.messages("answer", 7)?.breakdown(INSTRUCTION);
    let expected = "\
request of `answer` at step 7
budget: 9 turns left out by truncate_middle: about 382 of 776 tokens, limit 420
part           values  hidden  tokens
instruction                        15
notes                              50
user                3       0     120
topic               1       3      71
files               3       0     117
self                3       0      30
omitted turns                      44
total              10       3     447";
    assert_eq!(breakdown.to_string(), expected);
    assert_eq!(sum(&breakdown), breakdown.tokens);
    Ok(())
}

fn plan(coder: &Coder, step: usize) -> Result<CachePlan> {
    let mut policy = CachePolicy::by_model(MODEL).clone();
    policy.minimum = 200;
    coder.coder.cache_plan(step, &policy, Pace::batch())
}

fn receipt() -> Receipt {
    format!(r#"{{"model":"{MODEL}","calls":1,"input":4000,"output":20,"cache_read":3000}}"#).parse().unwrap()
}

#[tokio::test]
async fn t24_a_breakdown_also_has_marks_and_usage() -> Result<()> {
    let coder = coder().await?;
    let breakdown = coder.coder.messages(6)?.breakdown(INSTRUCTION);
    let plan = plan(&coder, 6)?;
    let all = breakdown.clone().with_plan(&plan).with_receipt(&receipt());
    let all = all.with_total([&receipt(), &receipt()].into_iter().collect()).with_empty_tiers(5);
    let expected = "\
request of `coder` at step 6
L3 to active, changed: file:b.rs
empty tiers: 1, 5 in the session
last request to `anthropic/claude-sonnet-4-5`: 4,000 tokens in (75 % cached), 20 out of 64,000 at most
session: 2 calls, 8,000 tokens in (6,000 cached), 40 out, $0.0084, 0.0 s
window: 813 of 200,000 tokens
part         symbols  files  pages  history  prompt  other  tokens  holds
instruction                                                     15
notes                                                           68
L0                 0      0      0        0       0     44      44  cached: legend
L1                 0      0      0        0       0      0       0  cached: nothing
L2                18      0      0        0       0     43      61  cached: 1 symbol
L3                36     25      0        0       0     67     128  cached, marked: 2 symbols, 1 file
active            19     26     35      210      28    179     497  1 symbol, 1 file, 1 page, 6 exchanges, tree, prompt
total             73     51     35      210      28    333     813";
    assert_eq!(all.to_string(), expected);
    // They change none of the other figures.
    assert_eq!((sum(&all), all.tokens), (sum(&breakdown), breakdown.tokens));
    Ok(())
}

/// The exchanges were a number alone, so nobody saw which of them a tier keeps and for how long.
#[tokio::test]
async fn t24_each_exchange_has_its_tokens_and_its_n() -> Result<()> {
    let chat = flow! {
        source files: Documents;
        source user;
        column coder(files.tiered().target(40), user, self) = script(["Done."; 20]);
    };
    chat.set_counter(Letters);
    for step in 0..14 {
        // A change of L3 makes room for the exchanges that wait.
        let change = Update::new().file("a.rs", format!("// {step}"));
        chat.files.push(if step % 5 == 0 { change } else { Update::new() }).await?;
        chat.user.push(format!("Question {step}.")).await?;
    }
    chat.run().await?;
    let breakdown = chat.coder.messages(13)?.breakdown("");
    let mut steps = Vec::new();
    for tier in &breakdown.tiers {
        let of_exchanges: usize = tier.exchanges.iter().map(|exchange| exchange.tokens).sum();
        assert_eq!(of_exchanges, tier.history, "{}", tier.tier);
        for exchange in &tier.exchanges {
            let entry = tier.tier.entry();
            assert!(
                entry <= exchange.n && exchange.next.is_none_or(|next| exchange.n <= next),
                "{exchange:?}"
            );
            assert_eq!(exchange.next, tier.tier.leaves_at());
            steps.push(exchange.step);
        }
    }
    assert_eq!(steps, (0..13).collect::<Vec<_>>());
    let oldest = breakdown.tiers.iter().find_map(|tier| tier.exchanges.first()).unwrap();
    assert!(oldest.n >= 3, "{oldest:?}");
    Ok(())
}

/// The names of all fields, each with the path to it.
fn names(json: &serde_json::Value, path: &str, names: &mut Vec<String>) {
    match json {
        serde_json::Value::Object(fields) => {
            for (name, value) in fields {
                let path = format!("{path}.{name}");
                self::names(value, &path, names);
                names.push(path);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| self::names(value, path, names)),
        _ => {}
    }
}

/// Programs read these.
#[tokio::test]
async fn t24_the_fields_of_the_json_form_stay() -> Result<()> {
    let coder = coder().await?;
    let json = |step| -> Result<serde_json::Value> {
        let breakdown = coder.coder.messages(step)?.breakdown(INSTRUCTION);
        let breakdown = breakdown.with_plan(&plan(&coder, step)?).with_receipt(&receipt());
        Ok(serde_json::to_value(breakdown.with_total([&receipt()].into_iter().collect())).unwrap())
    };
    let (promoted, json) = (json(3)?, json(6)?);
    let f = truncated(900);
    f.push("files", Update::new().to_text().unwrap()).await?;
    f.push("user", "question").await?;
    f.run().await?;
    let untiered = serde_json::to_value(f.messages("answer", 0)?.breakdown(INSTRUCTION)).unwrap();
    let mut found = Vec::new();
    names(&promoted, "", &mut found);
    names(&json, "", &mut found);
    names(&untiered, "", &mut found);
    found.sort();
    found.dedup();
    let expected = "\
        .budget .budget.after .budget.before .budget.kept_fewer .budget.limit .budget.over_limit .budget.strategy \
        .budget.turns .column .columns .columns.column .columns.hidden .columns.tokens .columns.values .empty_tiers .flow .instruction .instructions \
        .last_request .last_request.cache_read .last_request.cache_write .last_request.hit_rate .last_request.input \
        .last_request.longest_reply .last_request.model .last_request.output .map .marks .marks.after .marks.lifetime \
        .marks.tier .moves \
        .moves.broken .moves.demotions .moves.demotions.from .moves.demotions.item .moves.demotions.to .moves.empty \
        .moves.promotions .moves.promotions.from .moves.promotions.item .moves.promotions.to .notes .omitted .session \
        .session.cache_read .session.cache_write .session.calls .session.cost .session.hit_rate .session.input \
        .session.output .session.unpriced .session.unreported .step .thread .tiers \
        .tiers.acknowledgements .tiers.cached .tiers.documents .tiers.documents.key .tiers.documents.kind \
        .tiers.documents.n .tiers.documents.next .tiers.documents.progress .tiers.documents.tokens .tiers.exchanges \
        .tiers.exchanges.n .tiers.exchanges.next .tiers.exchanges.progress .tiers.exchanges.step .tiers.exchanges.tokens \
        .tiers.history .tiers.legend .tiers.marked .tiers.prompt .tiers.tier .tiers.titles .tiers.tokens .tiers.tree .tokens .window";
    assert_eq!(found.join(" "), expected);
    let working = &json["tiers"][4];
    assert_eq!(working["tier"], "active");
    assert_eq!(working["cached"], false);
    let document = r#"{"kind":"file","key":"file:b.rs","tokens":26,"n":0,"next":3,"progress":0.0}"#;
    let document: serde_json::Value = serde_json::from_str(document).unwrap();
    assert_eq!(working["documents"].as_array().unwrap().last(), Some(&document));
    assert_eq!(json["last_request"]["hit_rate"], 0.75);
    assert_eq!(json["session"]["cost"], "$0.0042");
    for missing in [
        &untiered["moves"],
        &untiered["marks"],
        &untiered["last_request"],
        &untiered["session"],
        &json["budget"],
    ] {
        assert_eq!(missing, &serde_json::Value::Null);
    }
    Ok(())
}

/// A breakdown goes to logs and screens that conversations do not.
#[tokio::test]
async fn t24_a_breakdown_has_no_text_of_a_document_or_a_value() -> Result<()> {
    let coder = Coder::new();
    let secret = "secret";
    for step in 0..5 {
        let update = Update::new()
            .file("a.rs", format!("{secret} {step}"))
            .symbol("b.rs", secret)
            .legend(secret)
            .tree(secret)
            .url("https://a.example", secret);
        coder.files.push(update).await?;
        coder.user.push(secret).await?;
    }
    coder.run().await?;
    for step in 0..5 {
        let breakdown = coder.coder.messages(step)?.breakdown(secret);
        let json = serde_json::to_string(&breakdown).unwrap();
        for text in [breakdown.to_string(), json, format!("{breakdown:?}")] {
            assert!(!text.contains(secret) && !text.contains("Done"), "{text}");
        }
    }
    Ok(())
}

/// Looking at a request does not change it, at any step and in any order.
#[tokio::test]
async fn t24_a_breakdown_has_no_side_effects() -> Result<()> {
    let (one, other) = (coder().await?, coder().await?);
    for step in [3, 0, 6, 3] {
        let messages = one.coder.messages(step)?;
        let first = messages.breakdown(INSTRUCTION);
        assert_eq!(messages.breakdown(INSTRUCTION), first);
        assert_eq!(messages, other.coder.messages(step)?);
        assert_eq!(other.coder.messages(step)?.breakdown(INSTRUCTION), first);
    }
    Ok(())
}

/// The views of a column.
#[derive(Clone, Copy, Debug)]
struct Shape {
    tiered: bool,
    grouped: bool,
    noted: bool,
    /// The window, and whether it counts the values before it.
    window: Option<(usize, bool)>,
    budget: Option<(usize, bool)>,
    target: usize,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let window = prop::option::of((1..4_usize, any::<bool>()));
    let budget = prop::option::of((60..1_500_usize, any::<bool>()));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let target = prop_oneof![Just(0), Just(50), Just(1_536)];
    (flags, window, budget, target).prop_map(|((tiered, grouped, noted), window, budget, target)| Shape {
        tiered,
        grouped,
        noted,
        window,
        budget,
        target,
    })
}

impl Shape {
    fn flow(self, hints: Vec<bool>) -> Flow {
        let (files, user) = (documents("files"), source("user"));
        let hint = move |cx: Context| {
            let hint = if hints[cx.step()] { Ok(format!("hint {}", cx.step())) } else { Err("no hint") };
            async move { hint }
        };
        let hint = column("hint", user.latest(), hint.or_skip());
        let windowed = |column: &Column| {
            let view = match self.window {
                None => column.all(),
                Some((steps, false)) => column.window(steps),
                Some((steps, true)) => column.window(steps).elided(),
            };
            if self.noted { view.note("A note.") } else { view }
        };
        let mut views = if self.grouped {
            vec![group("all", (windowed(&user), windowed(&hint)))]
        } else {
            vec![windowed(&user), hint.prev().window(2), windowed(&hint).named("now")]
        };
        views.push(if self.tiered { files.tiered().target(self.target).into() } else { files.all() });
        let itself = match self.window.filter(|_| !self.tiered) {
            Some((steps, _)) => this().window(steps),
            None => this(),
        };
        views.push(itself);
        let step = |cx: Context| async move { format!("answer {}", cx.step()) };
        let budget = Budget::of(self.budget.map_or(0, |(tokens, _)| tokens)).token_buffer(0);
        let answer = match self.budget {
            None => column("answer", views, step),
            Some((_, true)) => column("answer", views, step.budget(budget.truncate_middle())),
            Some((_, false)) => column("answer", views, step.budget(budget.rolling_window())),
        };
        flow([answer]).unwrap()
    }
}

fn check(messages: &Messages, shape: Shape) -> Result<(), TestCaseError> {
    let breakdown = messages.breakdown(INSTRUCTION);
    prop_assert_eq!(sum(&breakdown), breakdown.tokens, "{}", breakdown);
    prop_assert_eq!(breakdown.tiers.len(), if shape.tiered { 5 } else { 0 });
    prop_assert_eq!(breakdown.columns.is_empty(), shape.tiered);
    let l0: usize = breakdown.tiers.first().map_or(0, |l0| l0.tokens - l0.history - l0.prompt);
    prop_assert_eq!(breakdown.tokens, breakdown.instruction + breakdown.notes + l0 + messages.tokens());
    let report = messages.report();
    prop_assert_eq!(breakdown.budget.as_ref(), report);
    prop_assert_eq!(breakdown.moves.as_ref(), messages.moves());
    // Each part is in its tier or column.
    let shown = messages.parts().filter_map(|part| part.origin()).count();
    let values: usize = breakdown.columns.iter().map(|column| column.values).sum();
    prop_assert_eq!(values, if shape.tiered { 0 } else { shown });
    for tier in breakdown.tiers.iter().skip(1) {
        let parts = messages.parts().filter(|part| part.tier() == Some(tier.tier));
        let marker = if report.is_some_and(|report| report.turns > 0) { breakdown.omitted } else { 0 };
        let parts: usize = parts.map(|part| part.tokens()).sum();
        prop_assert!(parts == tier.tokens || parts == tier.tokens + marker);
    }
    // The number of characters of the request, but for the separators at the ends of messages.
    let letters = messages.iter().map(|(_, content)| content.chars().count()).sum::<usize>();
    let letters = letters + messages.system(INSTRUCTION).chars().count();
    let few = 4 * (messages.parts().count() + 2) + "<elided/>".len();
    prop_assert!(letters.abs_diff(breakdown.tokens) <= few, "{} and\n{}", letters, breakdown);
    Ok(())
}

fn update() -> impl Strategy<Value = Vec<(u8, u8, String)>> {
    let text = prop_oneof![Just(String::new()), "[a-zé`\n]{1,12}", "[a-z]{40,90}"];
    prop_oneof![2 => Just(Vec::new()), 3 => vec((0..6_u8, 0..4_u8, text), 1..6)]
}

/// The edits that are possible.
fn built(edits: &[(u8, u8, String)], known: &mut Vec<(u8, u8)>) -> Update {
    let (mut update, mut seen) = (Update::new(), Vec::new());
    for (kind, path, text) in edits {
        let (text, name) = (text.clone(), format!("p{path}.rs"));
        let key = if *kind > 3 { (*kind, 0) } else { (*kind % 3, *path) };
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        update = match kind {
            0 => update.file(&name, text),
            1 => update.symbol(&name, text),
            2 if *path < 3 => update.url(format!("https://p{path}"), text),
            3 if known.contains(&(0, *path)) => {
                known.retain(|known| *known != (0, *path));
                update.remove(Kind::File, &name)
            }
            4 => update.tree(text),
            5 => update.legend(text),
            _ => update,
        };
        if *kind == 0 {
            known.push((0, *path));
        }
    }
    update
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is shown, and wherever, the figures are exact.
    #[test]
    fn t24_the_figures_add_up_to_the_tokens_of_the_request(
        shape in shapes(),
        steps in vec((update(), any::<bool>()), 1..24),
    ) {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
            let f = shape.flow(steps.iter().map(|(_, hint)| *hint).collect());
            f.set_counter(Letters);
            let mut known = Vec::new();
            for (step, (edits, _)) in steps.iter().enumerate() {
                f.push("files", built(edits, &mut known).to_text().unwrap()).await.unwrap();
                f.push("user", format!("question {step}")).await.unwrap();
                // Documents alone may be over the budget.
                let ran = f.run().await;
                prop_assert!(ran.is_ok() || shape.budget.is_some(), "{:?}", ran.err());
                if let Ok(messages) = f.messages("answer", step) {
                    check(&messages, shape)?;
                }
                if ran.is_err() {
                    break;
                }
            }
            Ok(())
        })?;
    }
}
