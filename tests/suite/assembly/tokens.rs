//! The laws of counting tokens, and calibration by the usage that models report.

use columnar::BoxError;
use columnar::budget::Budget;
use columnar::model::{Chunk, End, Finish, Model, Request, Usage};
use columnar::prelude::*;
use columnar::tokens::{Calibrated, Calibration, Counter, Estimate, Ratio};
use columnar_tests::models::ChunkModel;
use futures::stream::{self, BoxStream};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any characters, characters of each class, and long runs of them.
fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "\\PC{0,12}",
        "[a-zA-Z]{1,30} ?",
        "[0-9]{1,20}",
        "[A-Za-z0-9+/]{20,60}",
        "[ \t\r\n]{1,9}",
        "[-.,;:!'\"<>/=(){}]{1,9}",
        "[äéñøłżğİ]{1,5}",
        "[дфжλωשבمن한국かな漢字。「ไท😀️]{1,9}",
        any::<String>(),
    ];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Estimates of parts with a tag that is no word and tiny values were wrong by more than a token each when a tag was
/// weighted by the letters around it.
#[test]
fn counts_of_tiny_parts_add_up() {
    let parts = ["<aaaaaaaaa>\né\n</aaaaaaaaa>", "\n\n<aaaaaaaaa>\n\n</aaaaaaaaa>"];
    let sum: usize = parts.iter().map(|part| Estimate.count(part)).sum();
    assert!(sum.abs_diff(Estimate.count(&parts.concat())) <= parts.len());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_count_is_at_most_the_bytes_and_zero_only_for_an_empty_text(text in text()) {
        for counter in [&Estimate as &dyn Counter, &Calibrated::new(Estimate, Ratio::percent(100))] {
            let count = counter.count(&text);
            prop_assert!(count <= text.len());
            prop_assert_eq!(count == 0, text.is_empty());
            prop_assert_eq!(counter.count(&text.clone()), count);
        }
    }

    #[test]
    fn the_counts_of_parts_add_up_to_about_the_count_of_the_message(
        values in vec(text(), 1..20),
        tag in "[a-z]{1,12}",
    ) {
        let mut parts = Vec::new();
        for value in &values {
            let separator = if parts.is_empty() { "" } else { "\n\n" };
            parts.push(format!("{separator}<{tag}>\n{value}\n</{tag}>"));
        }
        let sum: usize = parts.iter().map(|part| Estimate.count(part)).sum();
        let whole = Estimate.count(&parts.concat());
        prop_assert!(sum.abs_diff(whole) <= parts.len(), "{sum} of {} parts, {whole}", parts.len());
    }

    #[test]
    fn a_ratio_is_exact_to_half_a_token(tokens in 0_usize..1_000_000, reported in 1_u64..100_000, counted in 1_u64..100_000) {
        let ratio = Ratio::new(reported, counted).expect("something is counted");
        let (scaled, exact) = (ratio.apply(tokens) as u64 * counted, tokens as u64 * reported);
        prop_assert!(scaled.abs_diff(exact) * 2 <= counted || ratio.apply(tokens) == 1);
        prop_assert_eq!(ratio.apply(tokens) == 0, tokens == 0);
    }

    #[test]
    fn ratios_are_ordered_like_their_quotients(a in 1_u64..1000, b in 1_u64..1000, c in 0_u64..1000, d in 1_u64..1000) {
        let [one, other] = [(a, b), (c, d)].map(|(a, b)| Ratio::new(a, b).expect("something is counted"));
        prop_assert_eq!(one.cmp(&other), (a * d).cmp(&(c * b)));
        prop_assert_eq!(one == other, a * d == c * b);
    }
}

#[test]
fn a_ratio_of_nothing_is_none_and_a_huge_count_stays_huge() {
    assert_eq!(Ratio::new(5, 0), None);
    assert_eq!(Ratio::percent(200).apply(usize::MAX), usize::MAX);
    assert_eq!(Ratio::percent(0).apply(7), 1);
}

/// A model that reports three tokens for two bytes of its request, if its reply ends like this.
#[derive(Clone)]
enum Reporting {
    Ends(Finish),
    EndsWithoutUsage,
    Fails,
    BreaksOff,
}

impl Model for Reporting {
    fn name(&self) -> &'static str {
        "reporting"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let bytes: usize = request.messages.iter().map(|(_, content)| content.len()).sum();
        let Chunk::End(mut end) = Chunk::stop() else { unreachable!("it is an end") };
        let mut usage = Usage::default();
        usage.input = (request.system.len() + bytes) as u64 * 3 / 2;
        let last: Option<Result<Chunk, BoxError>> = match self {
            Self::Ends(finish) => {
                (end.finish, end.usage) = (finish.clone(), Some(usage));
                Some(Ok(Chunk::End(end)))
            }
            Self::EndsWithoutUsage => Some(Ok(Chunk::End(end))),
            Self::Fails => Some(Err("it failed".into())),
            Self::BreaksOff => None,
        };
        let text = ["well", " then"].map(|word| Ok(Chunk::Text(word.into())));
        stream::iter(text.into_iter().chain(last)).boxed()
    }
}

/// A token for each byte, so that sums of parts are exact.
struct Bytes;

impl Counter for Bytes {
    fn count(&self, text: &str) -> usize {
        text.len()
    }
}

/// The sums of a counter that returned huge numbers overflowed: a forecast panicked, and cells failed.
#[tokio::test]
async fn a_counter_may_return_any_number() -> Result<()> {
    struct Most;

    impl Counter for Most {
        fn count(&self, _: &str) -> usize {
            usize::MAX
        }
    }

    let user = source("user");
    let answer = column("answer", (&user, this()), prompt("Answer."));
    let mood = column("mood", (user.window(2).elided(), answer.latest()), prompt("Name the mood."));
    let f = flow([answer, mood])?;
    f.set_counter(Most);
    for text in ["one", "two", "three"] {
        f.push("user", text).await?;
    }
    assert_eq!(f.forecast().cells, 6);
    f.run().await?;
    assert_eq!(f.steps(), 3);
    assert!(f.messages("answer", 2)?.tokens() > u32::MAX as usize);

    f.set_budget(Budget::of(usize::MAX).token_buffer(usize::MAX));
    let error = f.messages("answer", 2).expect_err("nothing is left for messages");
    assert!(matches!(error, Error::BudgetTooSmall { .. }), "{error}");
    Ok(())
}

/// Runs two columns with the model and the calibration, for this number of steps.
async fn talk(calibration: &Calibration, model: Reporting, steps: usize) -> Result<Flow> {
    let user = source("user");
    let ask = |instruction| prompt(instruction).model(calibration.watching(model.clone())).or_skip();
    let one = column("one", (&user, this()), ask("Answer."));
    let two = column("two", (&user, one.latest()), ask("Sum up."));
    let f = flow([one, two])?;
    for step in 0..steps {
        f.push("user", format!("line {step}, and some more of it")).await?;
    }
    f.run().await?;
    Ok(f)
}

#[tokio::test]
async fn reported_usage_calibrates_after_eight_calls() -> Result<()> {
    let calibration = Calibration::new(Bytes);
    talk(&calibration, Reporting::Ends(Finish::Stop), 3).await?;
    assert_eq!((calibration.ratio(), calibration.p99()), (None, None));
    talk(&calibration.clone(), Reporting::Ends(Finish::Length), 1).await?;
    for ratio in [calibration.ratio(), calibration.p99()] {
        let ratio = ratio.expect("eight calls are enough");
        // Each message has one separator less than its parts count.
        assert!((Ratio::percent(140)..=Ratio::percent(150)).contains(&ratio), "{ratio}");
    }
    Ok(())
}

#[tokio::test]
async fn a_reply_without_usage_or_without_an_end_does_not_calibrate() -> Result<()> {
    let refused = Reporting::Ends(Finish::Refused);
    let other = Reporting::Ends(Finish::Other("strange".into()));
    for model in [refused, other, Reporting::EndsWithoutUsage, Reporting::Fails, Reporting::BreaksOff] {
        let calibration = Calibration::new(Bytes);
        talk(&calibration, model, 20).await?;
        assert_eq!(calibration.ratio(), None);
    }
    Ok(())
}

/// The messages after the context were not counted, though the model reports their tokens: each repair of a typed column
/// made the correction too large.
#[tokio::test]
async fn the_messages_after_the_context_calibrate_as_well() -> Result<()> {
    let model = ChunkModel::new("repaired", |_, request| {
        let bytes: usize = request.messages.iter().map(|(_, content)| content.len()).sum();
        let follow_up: usize = request.follow_up.iter().map(|(_, text)| text.len()).sum();
        let usage = Usage::new((request.system.len() + bytes + follow_up) as u64, 1);
        let text = if follow_up == 0 { "far too many words ".repeat(50) } else { "[5]".to_owned() };
        vec![Ok(Chunk::Text(text)), Ok(Chunk::End(End::new(Finish::Stop).with_usage(usage)))]
    });
    let calibration = Calibration::new(Bytes);
    let step = prompt("Rate it.").model(calibration.watching(model)).typed::<Vec<u8>>();
    let f = flow([column("stars", source("user").latest(), step)])?;
    for step in 0..8 {
        f.push("user", format!("line {step}, and some more of it")).await?;
    }
    f.run().await?;
    assert_eq!(f.bill().total().calls, 16, "each step was repaired");
    let ratio = calibration.ratio().expect("eight calls are enough");
    assert!((Ratio::percent(99)..=Ratio::percent(101)).contains(&ratio), "{ratio}");
    Ok(())
}

#[tokio::test]
async fn a_calibrating_model_returns_the_same_reply() -> Result<()> {
    let f = talk(&Calibration::new(Estimate), Reporting::Ends(Finish::Stop), 2).await?;
    assert_eq!(f.get("two", 1).as_deref(), Some("well then"));
    assert_eq!(Calibration::new(Estimate).watching(Reporting::Fails).name(), "reporting");
    Ok(())
}

#[test]
fn a_calibrated_counter_does_not_change_during_calibration() {
    let calibration = Calibration::new(Estimate);
    (0..8).for_each(|_| calibration.learn(100, 130));
    let counter = Calibrated::new(Estimate, calibration.ratio().expect("eight calls are enough"));
    assert_eq!(counter.count(&"x".repeat(400)), 130);
    (0..200).for_each(|_| calibration.learn(100, 200));
    assert_eq!(counter.count(&"x".repeat(400)), 130);
    assert_eq!(calibration.ratio(), Some(Ratio::percent(200)));
}
