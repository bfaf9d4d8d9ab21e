//! The spans of runs and their fields, which have no content of conversations by default.

use std::env;
use std::future::ready;
use std::io;

use columnar::BoxError;
use columnar::model::{Chunk, Finish, Model, Request, Usage};
use columnar::prelude::*;
use columnar::testing::script;
use columnar::trace::CAPTURE_CONTENT;
use columnar_tests::panics::expect_panic;
use columnar_tests::process::test_alone;
use columnar_tests::spans::{self, Span};
use columnar_tests::store::{Fail, FaultyStore};
use futures::FutureExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use tokio::time::sleep;
use tracing::instrument::Instrument;
use tracing::{info, info_span};

const OUTCOMES: &[&str] =
    &["columnar.column", "columnar.step", "columnar.attempts", "columnar.outcome", "error.type"];

/// A model with this name and this reply, which comes after a second.
#[derive(Clone)]
struct Replying(&'static str, Vec<Piece>);

#[derive(Clone)]
enum Piece {
    Text(&'static str),
    End(Finish),
    Error(&'static str),
}

impl Model for Replying {
    fn name(&self) -> &str {
        self.0
    }

    fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        info!("this is in the span of the call");
        let chunks = stream::iter(self.1.clone()).map(|piece| Some(piece.chunk()));
        stream::once(sleep(secs(1))).map(|()| None).chain(chunks).filter_map(ready).boxed()
    }
}

impl Piece {
    fn chunk(self) -> Result<Chunk, BoxError> {
        Ok(match (self, Chunk::stop()) {
            (Self::Text(text), _) => Chunk::Text(text.to_owned()),
            (Self::End(finish), Chunk::End(mut end)) => {
                let mut usage = Usage::default();
                (usage.input, usage.output, usage.cache_read, usage.cache_write) = (9, 2, 4, 3);
                (end.finish, end.usage) = (finish, Some(usage));
                Chunk::End(end)
            }
            (Self::Error(text), _) => return Err(text.into()),
            _ => unreachable!("a reply stops with an end"),
        })
    }
}

fn replying() -> Replying {
    Replying("openai/gpt-5.4-mini", vec![Piece::Text("well, "), Piece::Text("yes"), Piece::End(Finish::Stop)])
}

async fn after_a_while(cx: Context) -> String {
    sleep(secs(1)).await;
    info!("this is in the span of the cell");
    info_span!("own").in_scope(|| info!("and this in a span of the program in it"));
    cx.messages().last_text().to_uppercase()
}

#[tokio::test(start_paused = true)]
async fn spans_of_calls_are_in_cells_and_spans_of_cells_in_runs() -> Result<()> {
    let (spans, _guard) = spans::listen();
    let chat = flow! {
        source user;
        column answer(user.latest) = prompt("Answer.").model(replying());
        column loud(answer.latest) = after_a_while;
    };
    chat.user.push("one").await?;
    chat.user.push("two").await?;
    async { chat.run().await }.instrument(info_span!("outer")).await?;

    let tree = "\
outer
  columnar.run ok
    columnar.cell answer 0 1 ok
      chat ok
        - this is in the span of the call
    columnar.cell answer 1 1 ok
      chat ok
        - this is in the span of the call
    columnar.cell loud 0 1 ok
      - this is in the span of the cell
      own
        - and this in a span of the program in it
    columnar.cell loud 1 1 ok
      - this is in the span of the cell
      own
        - and this in a span of the program in it
";
    assert_eq!(spans.tree(OUTCOMES), tree);
    assert_eq!(spans.open(), 0);
    let run = &spans.named("columnar.run")[0].fields;
    assert_eq!((&*run["columnar.cells.stored"], &*run["columnar.cells.failed"]), ("4", "0"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_call_has_the_attributes_of_the_semantic_conventions() -> Result<()> {
    let (spans, _guard) = spans::listen();
    let chat = flow! {
        source user;
        column answer(user.latest) = prompt("Answer.").model(replying()).max_tokens(77);
    };
    chat.user.push("one").await?;
    chat.run().await?;

    let [Span { fields, .. }] = &spans.named("chat")[..] else { unreachable!("there is one call") };
    let expected = [
        ("columnar.outcome", "ok"),
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.max_tokens", "77"),
        ("gen_ai.request.model", "gpt-5.4-mini"),
        ("gen_ai.request.stream", "true"),
        ("gen_ai.response.finish_reasons", r#"["stop"]"#),
        ("gen_ai.response.time_to_first_chunk", "1.0"),
        ("gen_ai.usage.cache_creation.input_tokens", "3"),
        ("gen_ai.usage.cache_read.input_tokens", "4"),
        ("gen_ai.usage.input_tokens", "9"),
        ("gen_ai.usage.output_tokens", "2"),
        ("otel.kind", "client"),
        ("otel.name", "chat gpt-5.4-mini"),
    ];
    let content = ["gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions"];
    let fields = fields.iter().filter(|(name, _)| !content.contains(&name.as_str()));
    let rounded = fields.map(|(name, value)| match value.parse::<f64>() {
        Ok(seconds) if name.contains("time") => (name.as_str(), format!("{seconds:.1}")),
        _ => (name.as_str(), value.clone()),
    });
    assert_eq!(rounded.collect::<Vec<_>>(), expected.map(|(name, value)| (name, value.to_owned())));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn the_outcome_of_a_cell_is_in_its_span() -> Result<()> {
    let (spans, _guard) = spans::listen();
    let refused = |_: Context| async { Err::<String, _>(io::Error::from(io::ErrorKind::ConnectionRefused)) };
    let broken = Replying("broken", vec![Piece::Text("well")]);
    let chat = flow! {
        source user;
        column tried(user.latest)       = refused.retry(2).or_wait();
        column given_up(user.latest)    = prompt("Answer.").model(broken).or_skip();
        column unasked(given_up.latest) = script(["never"]);
        column waits(tried.latest)      = script(["never"]);
        column good(user.latest)        = script(["good"]);
    };
    chat.user.push("one").await?;
    chat.run().await?;

    let tree = "\
columnar.run ok
  columnar.cell tried 0 3 failed ConnectionRefused
    - an attempt failed, and another one follows
    - an attempt failed, and another one follows
  columnar.cell given_up 0 1 skipped broke_off
    chat failed broke_off
      - this is in the span of the call
  columnar.cell good 0 1 ok
  columnar.cell unasked 0 0 skipped
";
    assert_eq!(spans.tree(OUTCOMES), tree);
    let run = &spans.named("columnar.run")[0].fields;
    let cells = ["stored", "skipped", "failed"].map(|outcome| &*run[&format!("columnar.cells.{outcome}")]);
    assert_eq!(cells, ["1", "2", "1"]);
    let cell = &spans.named("columnar.cell")[0];
    assert_eq!(cell.fields["otel.status_code"], "error");
    let attempts: Vec<_> =
        cell.events.iter().map(|event| (&*event["columnar.attempt"], &*event["error.type"])).collect();
    assert_eq!(attempts, [("1", "ConnectionRefused"), ("2", "ConnectionRefused")]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_cut_off_or_empty_fails_its_call() -> Result<()> {
    let (spans, _guard) = spans::listen();
    let cut = Replying("cut", vec![Piece::Text("well"), Piece::End(Finish::Length)]);
    let empty = Replying("empty", vec![Piece::End(Finish::Stop)]);
    let chat = flow! {
        source user;
        column cut(user.latest)   = prompt("Answer.").model(cut).max_tokens(2).or_wait();
        column empty(user.latest) = prompt("Answer.").model(empty).or_wait();
    };
    chat.user.push("one").await?;
    chat.run().await?;
    let tree = "\
columnar.run ok
  columnar.cell cut 0 1 failed length
    chat failed length
      - this is in the span of the call
  columnar.cell empty 0 1 failed empty
    chat failed empty
      - this is in the span of the call
";
    assert_eq!(spans.tree(OUTCOMES), tree);
    let finishes =
        spans.named("chat").into_iter().map(|span| span.fields["gen_ai.response.finish_reasons"].clone());
    assert_eq!(finishes.collect::<Vec<_>>(), [r#"["length"]"#, r#"["stop"]"#]);
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_failure_ends_the_run_and_its_siblings_are_stored() -> Result<()> {
    let (spans, _guard) = spans::listen();
    let late = |_: Context| async {
        tokio::time::timeout(secs(1), std::future::pending::<()>()).await?;
        Ok::<_, BoxError>("never")
    };
    let refusal = Replying("refusing", vec![Piece::End(Finish::Refused)]);
    let chat = flow! {
        source user;
        column late(user.latest)    = late;
        column refused(user.latest) = prompt("Answer.").model(refusal);
        column beside(user.latest)  = prompt("Answer.").model(replying());
    };
    chat.user.push("one").await?;
    assert!(chat.run().await.is_err());

    let tree = "\
columnar.run failed timeout
  columnar.cell late 0 1 failed timeout
  columnar.cell refused 0 1 failed content_filter
    chat failed content_filter
      - this is in the span of the call
  columnar.cell beside 0 1 ok
    chat ok
      - this is in the span of the call
";
    assert_eq!(spans.tree(OUTCOMES), tree);
    Ok(())
}

#[tokio::test]
async fn a_cell_is_ok_when_it_is_stored_and_not_before() -> Result<()> {
    let (spans, _guard) = spans::listen();
    let store = FaultyStore::default();
    let user = source("user");
    let f = Flow::open(store.clone(), [column("answer", user.latest(), script(["a"]))]).await?;
    f.push("user", "one").await?;

    store.close();
    let mut run = f.run();
    assert!(run.next().now_or_never().is_none());
    drop(run);
    assert_eq!(spans.tree(OUTCOMES), "columnar.run cancelled\n  columnar.cell answer 0 1 cancelled\n");

    store.let_through(9);
    store.fail_next(Fail::Before);
    assert!(f.run().await.is_err());
    assert_eq!(spans.named("columnar.cell")[1].fields["error.type"], "store");
    assert_eq!(spans.named("columnar.run")[1].fields["columnar.cells.failed"], "1");
    f.run().await?;
    assert!(spans.tree(OUTCOMES).ends_with("columnar.run ok\n  columnar.cell answer 0 1 ok\n"));
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_run_that_is_dropped_closes_its_spans() -> Result<()> {
    /// Traces its drop.
    struct DropTracer;

    impl Drop for DropTracer {
        fn drop(&mut self) {
            info!("dropped");
        }
    }

    let (spans, _guard) = spans::listen();
    let chat = flow! {
        source user;
        column first(user.latest)  = script(["a"]);
        column answer(user.latest) = prompt("Answer.").model(replying());
        column slow(user.latest) = |_: Context| async {
            let _tracer = DropTracer;
            sleep(secs(9)).await;
            "never"
        };
    };
    chat.user.push("one").await?;
    let mut run = chat.run();
    assert!(matches!(run.try_next().await?, Some(Event::Value { .. })));
    assert!(run.next().now_or_never().is_none(), "the others wait");
    drop(run);

    let tree = "\
columnar.run cancelled
  columnar.cell first 0 1 ok
  columnar.cell answer 0 1 cancelled
    chat cancelled
      - this is in the span of the call
  columnar.cell slow 0 1 cancelled
    - dropped
";
    assert_eq!(spans.tree(OUTCOMES), tree);
    assert_eq!(spans.open(), 0);
    assert_eq!(spans.named("columnar.run")[0].fields["columnar.cells.stored"], "1");
    Ok(())
}

/// The content of [`run_everything`]: each text that could get into a span.
const CONTENT: [&str; 6] = [
    "canary-source",
    "canary-instruction",
    "canary-reply",
    "canary-error",
    "canary-of-a-model",
    "canary-reason",
];

const PANIC: &str = "canary-panic";

#[expect(clippy::panic, reason = "the test is about it")]
async fn panics(_: Context) -> String {
    panic!("{PANIC}")
}

async fn run_everything() -> Result<()> {
    let [source, instruction, reply, error, of_a_model, reason] = CONTENT;
    let model =
        |end| prompt(instruction).model(Replying("openai/gpt-5.4-mini", vec![Piece::Text(reply), end]));
    let fails = move |_: Context| async move { Err::<String, _>(io::Error::other(error)) };
    let chat = flow! {
        source user;
        column echo(user.latest, self) = |cx: Context| async move { cx.messages().to_json() };
        column answer(echo, self)      = model(Piece::End(Finish::Stop));
        column breaks(answer)          = model(Piece::Error(of_a_model)).retry(1).or_skip();
        column ends(answer)            = model(Piece::End(Finish::Other(reason.to_owned()))).or_wait();
        column fails(answer)           = fails.retry(1).or_wait();
        column panics(answer)          = panics.or_wait();
        column stops(answer)           = fails;
    };
    for _ in 0..2 {
        chat.user.push(source).await?;
    }
    assert!(chat.run().await.is_err());
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn content_is_not_traced_by_default() -> Result<()> {
    let (spans, _guard) = spans::listen();
    expect_panic(PANIC);
    run_everything().await?;
    let outcomes = spans.tree(&["columnar.outcome"]);
    for outcome in
        ["run failed", "cell ok", "cell failed", "cell skipped", "chat ok", "chat failed", "- an attempt"]
    {
        assert!(outcomes.contains(outcome), "{outcome}\n{outcomes}");
    }
    assert!(!spans.contain(PANIC));
    let traced: Vec<&str> = CONTENT.into_iter().filter(|text| spans.contain(text)).collect();
    let is_enabled = env::var_os(CAPTURE_CONTENT).is_some();
    assert_eq!(traced, if is_enabled { CONTENT.to_vec() } else { Vec::new() });
    if is_enabled {
        let call = &spans.named("chat")[0].fields;
        let field = |name: &str| call[name].parse::<Value>().expect("it is JSON");
        let part = |text: &str| json!({ "type": "text", "content": text });
        assert_eq!(field("gen_ai.system_instructions"), json!([part("canary-instruction")]));
        let reply = json!({ "role": "assistant", "parts": [part("canary-reply")], "finish_reason": "stop" });
        assert_eq!(field("gen_ai.output.messages"), json!([reply]));
        let input = &field("gen_ai.input.messages")[0];
        assert_eq!(input["role"], "user");
        assert!(input["parts"][0]["content"].as_str().is_some_and(|text| text.starts_with("<echo>\n")));
        println!("content was traced");
    }
    Ok(())
}

/// The variable is read once in a process, so this test starts another one.
#[test]
fn content_is_traced_if_it_is_enabled() {
    let output = test_alone(module_path!(), "content_is_not_traced_by_default")
        .env(CAPTURE_CONTENT, "span_only")
        .output()
        .expect("it runs, as this one does");
    let output_text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output_text.contains("content was traced"), "{output:?}");
}
