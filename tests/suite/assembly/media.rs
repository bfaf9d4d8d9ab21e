//! Attachments in contexts: their tokens by the rule of the model that reads them, and what a model does not take.

use std::sync::{Arc, Mutex};

use columnar::budget::Budget;
use columnar::cache::{CachePlan, CachePolicy, Pace, Position};
use columnar::documents::Update;
use columnar::model::{Chunk, End, Finish, MediaRules, Model, Refused, Request, Usage};
use columnar::prelude::*;
use columnar::testing::script;
use columnar::usage::{SpendLimit, SpendLimitError};
use columnar::{Attachment, Text, documents};
use columnar_tests::pictures::png;
use futures::stream::{self, BoxStream, StreamExt};

const CLAUDE: &str = "anthropic/claude-sonnet-5-5";

/// A model by the name of another one: the requests that would be sent.
#[derive(Clone)]
struct Named(&'static str, Arc<Mutex<Vec<Request>>>);

fn named(name: &'static str) -> Named {
    Named(name, Arc::default())
}

impl Named {
    fn requests(&self) -> Vec<Request> {
        self.1.lock().unwrap().clone()
    }
}

impl Model for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, columnar::BoxError>> {
        self.1.lock().unwrap().push(request);
        let end = End::new(Finish::Stop).with_usage(Usage::new(10, 1));
        stream::iter([Ok(Chunk::Text("A cat.".to_owned())), Ok(Chunk::End(end))]).boxed()
    }
}

fn image(width: u32, height: u32) -> Attachment {
    Attachment::new(png(width, height)).unwrap()
}

fn question(image: Attachment) -> Text {
    Text::new("What is this?").with(image)
}

/// Three readers of one image: the counts are those of their providers.
#[tokio::test]
async fn an_image_counts_by_the_rule_of_the_model_that_reads_it() -> Result<()> {
    let user = source("user");
    let ask =
        |name: &str, model: &'static str| column(name, user.latest(), prompt("Answer.").model(named(model)));
    let models = ["anthropic/claude-haiku-4-5", CLAUDE, "openai/gpt-4o", "gemini/gemini-3-pro", "mine/model"];
    let columns = models.iter().enumerate().map(|(at, model)| ask(&format!("c{at}"), model));
    let f = flow(columns)?;
    f.push("user", question(image(1024, 1024))).await?;
    f.push("user", "What is this?").await?;
    let tokens = (0..models.len()).map(|at| {
        let [with_image, text] = [0, 1].map(|step| f.messages(format!("c{at}"), step));
        Ok(with_image?.tokens() - text?.tokens())
    });
    // 37 squares of 28 pixels each way; four tiles of 512 pixels after the image is 768 pixels high.
    assert_eq!(tokens.collect::<Result<Vec<_>>>()?, [1369, 1369, 85 + 4 * 170, 1120, 1369]);
    Ok(())
}

#[tokio::test]
async fn budgets_count_images_and_omit_the_turns_that_have_them() -> Result<()> {
    let user = source("user");
    let budget = Budget::of(3000).token_buffer(10);
    let f = flow([column("bot", (&user, this()), prompt("Answer.").model(named(CLAUDE)).budget(budget))])?;
    for step in 0..4 {
        // A larger image of 1369 tokens at each step: two fit.
        f.push("user", question(image(1024, 1024).alt(format!("image {step}")))).await?;
        f.run().await?;
    }
    let messages = f.messages("bot", 3)?;
    let shown: Vec<_> = messages.parts().flat_map(|part| part.attachments().to_vec()).collect();
    let shown: Vec<_> = shown.iter().filter_map(Attachment::alt_text).collect();
    assert_eq!(shown, ["image 2", "image 3"]);
    assert!(messages.tokens() <= 2990 && messages.tokens() > 2 * 1369);
    assert_eq!(messages.tokens(), messages.parts().map(|part| part.tokens()).sum::<usize>());

    let forecast = f.forecast();
    assert_eq!(forecast.cells, 0);
    let breakdown = messages.breakdown("Answer.");
    assert_eq!(breakdown.tokens, breakdown.instruction + messages.tokens());
    assert_eq!(
        breakdown.columns.iter().map(|column| column.tokens).sum::<usize>() + breakdown.omitted,
        messages.tokens()
    );
    Ok(())
}

#[tokio::test]
async fn forecasts_and_limits_count_images() -> Result<()> {
    let user = source("user");
    let model = named(CLAUDE);
    let f = flow([column("bot", &user, prompt("Answer.").model(model.clone()).max_tokens(10))])?;
    f.push("user", question(image(1024, 1024))).await?;
    let expected = f.messages("bot", 0)?.tokens() + 2;
    assert_eq!(f.forecast().input_tokens, expected);

    f.set_spend_limit(SpendLimit::tokens(1000));
    let error = f.run().await.unwrap_err();
    assert!(SpendLimitError::of(&error).is_some(), "{error}");
    assert!(model.requests().is_empty());
    f.set_spend_limit(SpendLimit::tokens(2000));
    f.run().await?;
    assert_eq!(model.requests().len(), 1);
    Ok(())
}

/// The message of the error of a run, with the causes.
async fn refused(attachments: Vec<Attachment>, model: &'static str) -> String {
    let model = named(model);
    let user = source("user");
    let f = flow([column("bot", (&user, this()), prompt("Answer.").model(model.clone()))]).unwrap();
    f.push("user", "hello").await.unwrap();
    f.run().await.unwrap();
    let question = attachments.into_iter().fold(Text::new("What is this?"), Text::with);
    f.push("user", question).await.unwrap();
    let error = f.run().await.unwrap_err();
    assert!(Refused::of(&error).is_some());
    assert_eq!(model.requests().len(), 1, "nothing was sent");
    assert_eq!(f.get("user", 1).as_deref(), Some("What is this?"), "the text is not lost");
    let chain = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    let chain: Vec<String> = chain.map(ToString::to_string).collect();
    chain.join(": ")
}

#[tokio::test]
async fn what_a_model_does_not_take_is_an_error_before_anything_is_sent() {
    let tiff = Attachment::new(&b"II*\0\x08\0\0\0\0\0"[..]).unwrap();
    assert_eq!(tiff.media_type(), "image/tiff");
    let error = refused(vec![tiff], CLAUDE).await;
    for word in
        ["`bot`", "step 1", "does not take the attachment image/tiff", "of `user` at step 1", "`lenient`"]
    {
        assert!(error.contains(word), "{word} in {error}");
    }
    // A bomb: few bytes, and many pixels, none of which is decoded.
    let error = refused(vec![image(60_000, 60_000)], CLAUDE).await;
    assert!(error.contains("at most 8000 pixels at each edge"), "{error}");
    let mut many = vec![image(10, 10); 20];
    many.push(image(2001, 10));
    let error = refused(many, CLAUDE).await;
    assert!(error.contains("more than 20 images has at most 2000 pixels"), "{error}");
    // A chunk that no decoder knows makes it large.
    let mut large = png(10, 10);
    let unknown = [&(8_u32 << 20).to_be_bytes()[..], b"teSt", &vec![0; 8 << 20], &[0; 4]].concat();
    large.splice(33..33, unknown);
    let error = refused(vec![Attachment::new(large).unwrap()], CLAUDE).await;
    assert!(error.contains("it has at most 7864320 bytes"), "{error}");
    let error = refused(vec![image(10, 10); 601], CLAUDE).await;
    assert!(error.contains("a request has at most 600 attachments"), "{error}");
}

#[tokio::test]
async fn a_lenient_column_sends_words_and_a_backup_gets_its_own_rules() -> Result<()> {
    let heic = || Attachment::new(&b"\0\0\0\x18ftypheic\0\0\0\0heicmif1"[..]).unwrap().alt("A </user> cat");
    let [claude, gemini] = [named(CLAUDE), named("gemini/gemini-3-pro")];
    let user = source("user");
    let lenient = prompt("Answer.").model(claude.clone()).lenient();
    let strict = prompt("Answer.").model(claude.clone()).or_model(gemini.clone());
    let f = flow([column("lenient", &user, lenient), column("strict", &user, strict)])?;
    f.push("user", question(heic())).await?;
    f.run().await?;
    let [request] = &claude.requests()[..] else { panic!("the strict column sends nothing to Claude") };
    let body = columnar::rendering::Rendering::of(request, CachePolicy::by_model(CLAUDE)).anthropic();
    // The words are escaped, as the text of a value is.
    let text = "<user>\nWhat is this?\n</user>\n\n[A &lt;/user> cat]";
    assert_eq!(body["messages"][0]["content"][0]["text"], text);
    assert_eq!(gemini.requests().len(), 1);
    Ok(())
}

/// The attachments were stored, and no context showed them.
#[tokio::test]
async fn an_update_of_documents_takes_no_attachments() -> Result<()> {
    let files = documents("files");
    let user = source("user");
    let f = flow([column("coder", (files.tiered(), &user, this()), script(["Done."]))])?;
    let text = Update::new().file("a.rs", "mod a;").to_text().unwrap();
    let error = f.push("files", Text::new(text).with(image(10, 10))).await.unwrap_err();
    let fault = "an update of documents has no attachments";
    assert!(error.to_string().contains("`files`") && format!("{error:?}").contains("Attachments"), "{error}");
    assert!(std::error::Error::source(&error).unwrap().to_string().starts_with(fault), "{error}");
    assert_eq!(f.steps(), 0);
    Ok(())
}

/// A provider looks back a number of blocks, and an image is a block.
#[tokio::test]
async fn images_count_as_blocks_for_the_look_back() -> Result<()> {
    let user = source("user");
    let f = flow([column("bot", (&user, this()), script(["a", "b", "c"]))])?;
    for _ in 0..2 {
        f.push("user", "hello").await?;
    }
    f.run().await?;
    let with_images = (0..20).fold(Text::new("Look."), |text, _| text.with(image(10, 10)));
    f.push("user", with_images).await?;
    let mut policy = CachePolicy::by_model(CLAUDE).clone();
    policy.minimum = 1;
    let CachePlan { marks, .. } = f.cache_plan("bot", 2, &policy, Pace::batch())?;
    let positions: Vec<_> = marks.iter().map(|mark| mark.position).collect();
    // Without the images, the deepest mark alone would find the entry of the request before.
    assert!(
        positions.contains(&Position::Part(2)) && positions.contains(&Position::Part(4)),
        "{positions:?}"
    );
    Ok(())
}

#[test]
fn each_rule_has_a_source() {
    let rules = MediaRules::by_model("openai/gpt-5.4-mini").unwrap();
    assert!(rules.source().starts_with("https://") && rules.date().starts_with("2026-"));
    assert!(MediaRules::by_model("openai/smollm2").is_none());
}
