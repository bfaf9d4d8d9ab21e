//! Forecasts of contexts that do not fit into the window of a model.

use columnar::Overflow;
use columnar::budget::Budget;
use columnar::model::ContextWindow;
use columnar::prelude::*;
use columnar::usage::{Price, Usage};

/// A window of 200,000 tokens, and replies of 64,000 at most.
const MODEL: &str = "anthropic/claude-haiku-4-5";

/// About a thousand tokens.
fn page(number: usize) -> String {
    format!("{number:4}").repeat(1000)
}

/// A chat of so many pages, with all that was said.
async fn chat(pages: usize, step: impl FnOnce(columnar::Prompt) -> Step<'static>) -> Result<Flow> {
    let user = source("user");
    let reply = step(prompt("You are a helpful assistant.").model(MODEL));
    let f = flow([column("assistant", (&user, this()), reply)])?;
    for number in 0..pages {
        f.push("user", page(number)).await?;
    }
    Ok(f)
}

fn overflow(f: &Flow) -> Option<Overflow> {
    f.forecast().columns[0].overflow.clone()
}

#[tokio::test]
async fn a_forecast_names_the_first_step_that_does_not_fit() -> Result<()> {
    let f = chat(190, |prompt| Step::new(prompt.max_tokens(30_000))).await?;
    let window = ContextWindow::by_model(MODEL).expect("it is known");
    let first = overflow(&f).expect("190,000 tokens and the reply do not fit");
    assert_eq!((&*first.model, first.window), (MODEL, window));
    // The forecast assumes 100 tokens for each reply before.
    assert!((150..170).contains(&first.step), "{first:?}");
    let table = f.forecast().to_string();
    let line = format!(
        "`assistant` reaches the context window of `{MODEL}` (200,000 tokens) at step {}",
        first.step
    );
    assert_eq!(table.lines().last(), Some(&*line), "{table}");

    let longest = f.forecast().columns[0].longest_input;
    assert!((190_000..220_000).contains(&longest), "{longest}");
    Ok(())
}

/// The limit of a reply counts, because the provider keeps it free.
#[tokio::test]
async fn a_shorter_reply_leaves_room_for_more_steps() -> Result<()> {
    let step = |max_tokens: Option<u32>| async move {
        let set = |prompt: columnar::Prompt| match max_tokens {
            Some(tokens) => Step::new(prompt.max_tokens(tokens)),
            None => Step::new(prompt),
        };
        Ok::<_, Error>(overflow(&chat(200, set).await?).map(|first| first.step))
    };
    let [long, default, short] = [step(Some(60_000)).await?, step(None).await?, step(Some(100)).await?];
    assert!(long < default && default < short, "{long:?} {default:?} {short:?}");
    Ok(())
}

#[tokio::test]
async fn a_context_that_fits_is_not_mentioned() -> Result<()> {
    // A budget keeps it small, whatever is pushed.
    let budgeted = chat(300, |prompt| prompt.budget(Budget::of(100_000))).await?;
    assert_eq!(overflow(&budgeted), None);
    assert_eq!(overflow(&chat(50, Step::new).await?), None);
    assert!(!budgeted.forecast().to_string().contains("window"));
    // Nobody knows the window.
    for model in ["offline", "ollama/qwen3", "somebody/something"] {
        let f = chat(300, |prompt| Step::new(prompt.model(model))).await?;
        assert_eq!(overflow(&f), None, "{model}");
    }
    Ok(())
}

/// A forecast had no dollars, and expected replies that no request permits.
#[tokio::test]
async fn a_forecast_has_the_cost_and_no_reply_above_its_limit() -> Result<()> {
    let user = source("user");
    let short = prompt("List.").model("anthropic/claude-sonnet-5").max_tokens(20);
    let own = prompt("Answer.").model("somebody/something");
    let f = flow([column("topics", user.latest(), short), column("answer", user.latest(), own)])?;
    for _ in 0..1000 {
        f.push("user", "y".repeat(4000)).await?;
    }
    let forecast = f.forecast();
    let [topics, answer] = &forecast.columns[..] else { panic!("{forecast}") };
    // Without values, a reply has 100 tokens or the most that it may have.
    assert_eq!((topics.output_tokens, answer.output_tokens), (20 * 1000, 100 * 1000));
    let price = Price::by_model("anthropic/claude-sonnet-5").expect("it has a price");
    let expected = price.cost(&Usage::new(topics.input_tokens as u64, topics.output_tokens as u64));
    assert_eq!((topics.cost, answer.cost), (Some(expected), None));
    assert_eq!((forecast.cost, forecast.unpriced), (expected, 1000));
    let table = forecast.to_string();
    assert!(table.lines().next().is_some_and(|head| head.ends_with("at once   cost")), "{table}");
    let end = "of calls without a cache, without 1,000 calls that have no price; by batches $1.11 in 1 wave";
    assert!(table.ends_with(end), "{table}");
    assert_eq!(
        (topics.batch_cost, forecast.batch_cost + forecast.batch_cost),
        (Some(forecast.batch_cost), expected)
    );
    Ok(())
}
