//! A generic debate that a program uses twice, with two models of one provider, which fails now and then.

use std::collections::BTreeMap;
use std::time::Duration;

use columnar::model::Model;
use columnar::prelude::*;
use columnar::store::FileStore;
use columnar_tests::server::{Act, Server, Wire, answer, stream};

use crate::models::provider::advance_clock;

flow! {
    /// Two sides of a question, in one manner.
    pub struct Debate<M: Model + Clone>(model: M, manner: &'static str) {
        /// The question.
        source topic;
        column advocate(topic, critic.prev, self) =
            prompt(format!("Speak for it. Be {manner}.")).model(model.clone()).timeout(secs(30)).retry(3);
        column critic(topic.latest, advocate.latest, self.latest) =
            prompt(format!("Name the weak points. Be {manner}."))
                .model(model.clone())
                .timeout(secs(30))
                .retry(3);
    }
}

flow! {
    /// The same question, debated twice.
    pub struct Panel<A: Model + Clone, B: Model + Clone>(first: A, second: B) {
        /// The question.
        source question;
        use Debate<A>(first.clone(), "brief") { topic: question } as brief;
        use Debate<B>(second.clone(), "thorough") { topic: question } as thorough;
        column verdict(
            group("brief", brief.advocate.latest, brief.critic.latest),
            group("thorough", thorough.advocate.latest.as("speech"), thorough.critic.latest.as("reply")),
            question.latest,
        ) = prompt("Who is right?").model(first.clone()).timeout(secs(30)).retry(3);
    }
}

const QUESTIONS: [&str; 3] = ["Rewrite it in Rust?", "When?", "Who pays?"];

/// A response to the request with this number. Five of the first twelve fail: an overload, an error of the server, a
/// refused connection, a reply that is cut off, and one that never comes.
fn response(wire: Wire, number: usize) -> Vec<Act> {
    let reply = wire.reply(&["Reply ", &number.to_string()]);
    match number {
        1 => answer("429 Too Many Requests", ""),
        4 => answer("500 Internal Server Error", ""),
        7 => vec![Act::Reset],
        9 => [stream(&reply.as_bytes()[..reply.len() / 2]), vec![Act::Reset]].concat(),
        11 => vec![Act::Hold],
        _ => stream(reply),
    }
}

/// The values of a run, by the name of the column and the step.
async fn values<A: Model + Clone, B: Model + Clone>(
    panel: &Panel<A, B>,
) -> Result<BTreeMap<(String, usize), String>> {
    let mut values = BTreeMap::new();
    let mut run = panel.run();
    while let Some(event) = run.try_next().await? {
        if let Event::Value { column, step, value } = event {
            let before = values.insert((column.to_string(), step), value.to_string());
            assert_eq!(before, None, "a value is emitted once");
        }
    }
    Ok(values)
}

#[tokio::test(start_paused = true)]
async fn a_generic_debate_is_used_twice_over_a_provider_that_fails() -> Result<()> {
    advance_clock(Duration::from_millis(100));
    let folder = tempfile::tempdir().expect("a folder");
    let (wire, other) = (Wire::OpenAi, Wire::Anthropic);
    let first = Server::start(move |number| response(wire, number)).await;
    let second = Server::start(move |number| response(other, number)).await;
    let open = || Panel::open(FileStore::new(folder.path()), wire.model(&first), other.model(&second));

    let panel = open().await?;
    for question in QUESTIONS {
        panel.question.push(question).await?;
    }
    let computed = values(&panel).await?;
    assert_eq!(computed.len(), 5 * QUESTIONS.len());
    assert_eq!((panel.steps(), panel.progress().failed), (QUESTIONS.len(), 0));
    // Each failed request was followed by another one, and nothing else was.
    let requests = first.requests().len() + second.requests().len();
    let failures = [&first, &second]
        .map(|server| [1, 4, 7, 9, 11].iter().filter(|number| **number < server.requests().len()).count());
    assert_eq!(requests, computed.len() + failures.iter().sum::<usize>());
    assert_eq!(failures, [5, 3], "the provider failed in every way");
    // The two debates are apart: each model received its own instruction and its own history.
    assert!(first.requests().iter().all(|request| !request.contains("Be thorough.")));
    assert!(second.requests().iter().all(|request| request.contains("Be thorough.")));
    let verdict = panel.verdict.messages(2)?.last_text().into_owned();
    for tag in ["<brief>", "<thorough>", "<advocate>", "<speech>", "<reply>", "<question>\nWho pays?"] {
        assert!(verdict.contains(tag), "{tag} is not in {verdict}");
    }
    drop(panel);

    // Another day: nothing is computed again, and the next question continues both debates.
    let panel = open().await?;
    assert!(values(&panel).await?.is_empty());
    for ((column, step), value) in &computed {
        assert_eq!(panel.try_get(column, *step)?.as_deref(), Some(&**value), "{column} {step}");
    }
    panel.question.push("And then?").await?;
    assert_eq!(values(&panel).await?.len(), 5);
    assert!(
        panel.thorough.advocate.messages(3)?.to_json().contains(&computed[&("thorough.advocate".into(), 1)])
    );
    Ok(())
}
