//! Images in the prompts of contexts with tiers. The name of a test begins with its row of `tests/TIERS.md`.

use columnar::cache::{CachePlan, CachePolicy, Pace};
use columnar::documents::Update;
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::tiers::Tier;
use columnar::{Column, Messages, Part, Text};
use columnar_tests::pictures::picture;
use serde_json::{Value as Json, json};

/// A column that replies at all steps but one.
fn coder(target: usize, silent: Option<usize>) -> Column {
    let (files, user) = (documents("files"), source("user"));
    let reply = move |cx: Context| {
        let reply = if Some(cx.step()) == silent { Err("no reply") } else { Ok("Done.") };
        async move { reply }
    };
    column("coder", (files.tiered().target(target), &user, this()), reply.or_skip())
}

/// A flow whose first question has a picture of 121 tokens, if it has one.
async fn asked(coder: Column, has_picture: bool, steps: usize) -> Result<Flow> {
    let f = flow([coder])?;
    for step in 0..steps {
        let update = if step == 0 { Update::new().file("a.rs", "a") } else { Update::new() };
        f.push("files", update.to_text().expect("it has no fault")).await?;
        let question = Text::new(format!("Question {step}."));
        let picture = picture(300, 300).alt("A plan.");
        f.push("user", if has_picture && step == 0 { question.with(picture) } else { question }).await?;
        f.run().await?;
    }
    Ok(f)
}

/// The tier of the first question at each step.
fn tiers(f: &Flow, steps: usize) -> Result<Vec<Tier>> {
    let mut tiers = Vec::new();
    for step in 0..steps {
        let messages = f.messages("coder", step)?;
        let of_first = |part: &Part<'_>| part.origin().is_some_and(|it| it.step == 0 && *it.column == "user");
        let part = messages.parts().find(of_first).expect("all turns are shown");
        let others = messages.parts().filter(|part| !of_first(part));
        assert_eq!(others.map(|part| part.attachments().len()).sum::<usize>(), 0);
        tiers.push(part.tier().expect("there are tiers"));
    }
    Ok(tiers)
}

/// The tokens of all parts that show a value.
fn turn_tokens(messages: &Messages) -> usize {
    messages.parts().filter(|part| part.origin().is_some()).map(|part| part.tokens()).sum()
}

#[tokio::test]
async fn t20_an_image_of_the_prompt_is_active_and_then_in_the_tier_of_its_exchange() -> Result<()> {
    const STEPS: usize = 12;
    // The picture counts: with it the first exchange is larger than the target, and leaves the active tier at once.
    let [with, without] =
        [asked(coder(100, None), true, STEPS).await?, asked(coder(100, None), false, STEPS).await?];
    let [moved, kept] = [tiers(&with, STEPS)?, tiers(&without, STEPS)?];
    assert_eq!((moved[0], moved[1], kept[1]), (Tier::Active, Tier::L3, Tier::Active));
    assert!(moved.iter().rev().is_sorted() && kept[2] == Tier::Active, "{moved:?} {kept:?}");
    for (step, moved) in moved.iter().enumerate() {
        let [messages, plain] = [&with, &without].map(|f| f.messages("coder", step).expect("it is there"));
        let breakdown = messages.breakdown("Be brief.");
        let of_tiers: usize = breakdown.tiers.iter().map(|tier| tier.tokens).sum();
        assert_eq!(breakdown.tokens, breakdown.instruction + of_tiers);
        let tier = breakdown.tiers.iter().find(|tier| tier.tier == *moved).expect("all tiers are listed");
        assert!(tier.history + tier.prompt > 121, "{breakdown}");
        assert_eq!(turn_tokens(&messages), turn_tokens(&plain) + 121);
    }
    // A fork shows the same.
    let forked = with.fork(5)?;
    assert_eq!(tiers(&forked, 5)?, moved[..5]);
    Ok(())
}

/// The blocks of the messages to Claude, each as the kind, and whether it is marked.
fn blocks(rendering: &Json) -> Vec<(String, bool)> {
    let messages = rendering["messages"].as_array().expect("there are messages").iter();
    let blocks = messages.flat_map(|message| message["content"].as_array().expect("there are blocks"));
    blocks.map(|block| (block["type"].to_string(), block.get("cache_control").is_some())).collect()
}

/// The question with the image has no reply, so the image is the last block of its tier.
#[tokio::test]
async fn t23_a_mark_stands_behind_the_image_that_ends_a_tier() -> Result<()> {
    let f = asked(coder(100, Some(0)), true, 2).await?;
    let messages = f.messages("coder", 1)?;
    assert_eq!(tiers(&f, 1)?, [Tier::Active]);
    let mut policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5").clone();
    policy.minimum = 1;
    let plan = CachePlan::of(&messages, 100, &policy, Pace::batch());
    let rendering = Rendering::new("Be brief.", &messages).marked(plan, &policy).anthropic();
    let found = blocks(&rendering);
    let image = found.iter().position(|(kind, _)| kind == "\"image\"").expect("there is an image");
    assert_eq!(found.iter().filter(|(_, is_marked)| *is_marked).count(), 1, "{rendering:#}");
    assert_eq!(found[image], ("\"image\"".to_owned(), true), "{rendering:#}");
    assert_eq!(found[image - 1], ("\"text\"".to_owned(), false));
    assert_eq!(rendering["messages"][0]["role"], json!("user"));
    Ok(())
}
