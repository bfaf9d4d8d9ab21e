//! The broken tiers, against the bytes of requests: whatever a column reads beside its documents.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

use columnar::budget::Budget;
use columnar::documents::Update;
use columnar::prelude::*;
use columnar::tiers::Tier;
use columnar::{Column, Messages, View};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use super::composed::{Edit, Set};
use super::context_laws::edit;

/// One step: the documents that change, whether `rule` and `hint` have a value, and a cell that is excluded or included.
#[derive(Clone, Debug)]
struct BrokenStep {
    edits: Vec<Edit>,
    rule: bool,
    hint: bool,
    reply: bool,
    toggled: Option<(&'static str, Index)>,
}

/// The views of the column beside the documents and its own history.
const VIEWS: [&str; 8] = [
    "user",
    "user.latest",
    "user, rule.instruction()",
    "user, rule.latest.instruction()",
    "user.latest, rule.window(2).instruction()",
    "user.latest, hint.context()",
    "user.window(3).elided(), hint.window(2)",
    "hint.latest.elided(), rule.window(2).elided()",
];

fn steps() -> impl Strategy<Value = Vec<BrokenStep>> {
    let edits = prop_oneof![8 => Just(Vec::new()), 3 => vec(edit(), 1..3), 1 => vec(edit(), 1..12)];
    let column = prop::sample::select(vec!["user", "rule", "hint", "coder"]);
    let toggled = prop::option::weighted(0.1, (column, any::<Index>()));
    let flag = prop::bool::weighted;
    let step = (edits, flag(0.3), flag(0.7), flag(0.9), toggled);
    let step =
        step.prop_map(|(edits, rule, hint, reply, toggled)| BrokenStep { edits, rule, hint, reply, toggled });
    vec(step, 1..40)
}

/// A column that has a value at some steps.
fn at_some(
    name: &'static str,
    views: &[String],
    has: impl Fn(&BrokenStep) -> bool,
    steps: &[BrokenStep],
    budget: Budget,
) -> Column {
    let has: Arc<[bool]> = steps.iter().map(has).collect();
    let compute = move |cx: Context| {
        let value = if has[cx.step()] { Ok(format!("{name} {:02}", cx.step())) } else { Err("no value") };
        async move { value }
    };
    let views: Vec<View> = views.iter().map(|view| view.as_str().into()).collect();
    column(name, views, compute.budget(budget).or_skip())
}

/// What a tier sends: the system text belongs to L0, and each message to the tier of its parts.
fn bytes(messages: &Messages, tier: Tier) -> String {
    let mut bytes = if tier == Tier::L0 { messages.system("") } else { String::new() };
    for part in messages.parts().filter(|part| part.tier() == Some(tier)) {
        // The empty line between the parts of one message is no text of a tier.
        write!(bytes, "\n{}: {}", part.role().as_str(), part.text().trim_start_matches('\n')).unwrap();
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 4_000 })
    })]

    /// An instruction among the inputs changed the system text, and L0 was not broken. A tier whose first turn is a reply lost
    /// the message that leads to the reply when a tier before had its first document.
    #[test]
    fn t13_a_tier_is_broken_exactly_if_its_bytes_change(
        steps in steps(),
        views in prop::sample::select(&VIEWS[..]),
        target in prop_oneof![Just(0), Just(30), Just(100), 0..400_usize],
        tokens in prop_oneof![Just(100_000), 40..400_usize],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let budget = Budget::of(tokens).token_buffer(0);
            let views = format!("files.tiered().target({target}), {views}, self");
            let views: Vec<String> = views.split(", ").map(ToOwned::to_owned).collect();
            let user = ["user.latest".to_owned()];
            let f = flow([
                documents("files"),
                source("user"),
                at_some("rule", &user, |step| step.rule, &steps, Budget::new()),
                at_some("hint", &user, |step| step.hint, &steps, Budget::new()),
                at_some("coder", &views, |step| step.reply, &steps, budget),
            ]).unwrap();
            let (mut documents, mut excluded, mut answered) = (Set::default(), BTreeSet::new(), None);
            for (step, of_step) in steps.iter().enumerate() {
                if let Some((column, index)) = of_step.toggled.filter(|_| step > 0) {
                    let cell = (column, index.index(step));
                    if excluded.remove(&cell) {
                        f.include(cell.0, cell.1).await.unwrap();
                    } else if f.get(cell.0, cell.1).is_some() {
                        f.exclude(cell.0, cell.1).await.unwrap();
                        excluded.insert(cell);
                    }
                }
                let (next, update): (Set, Update) = documents.apply(&of_step.edits);
                documents = next;
                f.push("files", update.to_text().unwrap()).await.unwrap();
                f.push("user", format!("question {step:02}")).await.unwrap();
                f.run().await.unwrap();
                let Ok(messages) = f.messages("coder", step) else { continue };
                if let Some(before) = &answered {
                    for tier in Tier::CACHED {
                        let texts = (bytes(before, tier), bytes(&messages, tier));
                        let is_broken = messages.moves().unwrap().broken().contains(&tier);
                        prop_assert_eq!(texts.0 != texts.1, is_broken, "{} at step {}: {:?}", tier, step, texts);
                    }
                }
                if f.get("coder", step).is_some() {
                    answered = Some(messages);
                }
            }
            Ok(())
        })?;
    }
}
