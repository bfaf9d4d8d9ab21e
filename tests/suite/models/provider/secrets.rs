//! Keys, addresses and conversations must not appear in errors, events, logs and outlines.

use std::env;
use std::error::Error;
use std::fs;
use std::iter;
use std::panic::panic_any;
use std::process::Command;

use columnar::model::Provider;
use columnar::prelude::*;
use columnar::store::{FileStore, Store};
use columnar_tests::models::EndRecorder;
use columnar_tests::process::test_alone;
use columnar_tests::server::{Act, Server, WIRES, Wire, answer, data, stream};

use super::{Chat, compute_reply_to};

/// A key, and a password in an address.
const KEY: &str = "canarykey4711";
const PASSWORD: &str = "canarypassword";

/// A message.
const VALUE: &str = "canaryvalue sings at the harbour of Marseille";

/// The variable that marks a child process, which has a key.
pub(super) const AS_CHILD: &str = "COLUMNAR_TESTS_WITH_KEY";

/// Failing responses that echo the request: key, password and text.
fn echoes(wire: Wire) -> Vec<Vec<Act>> {
    let echo = format!("{KEY} Bearer {KEY} {PASSWORD} {VALUE}: x{}y", VALUE.replace(' ', "\\\\n"));
    let error =
        format!(r#"{{"error":{{"message":"{echo}","type":"{KEY}","code":"{VALUE}","param":"{PASSWORD}"}}}}"#);
    let name = format!("event: {KEY}\n{}", data(&format!(r#"{{"type":"{VALUE}"}}"#)));
    let begun = wire.events(&["Hi"], wire.stop()).into_iter().take(2).collect::<String>();
    let statuses = ["400 Bad", "401 No", "404 No", "429 Wait", "500 Oops", "503 Busy", "302 Found"];
    let answers = statuses.iter().flat_map(|status| {
        let echoed = format!("{status}\r\nlocation: http://{PASSWORD}/{KEY}\r\nretry-after: {VALUE}");
        [answer(&echoed, &error), answer(status, &echo)]
    });
    let streams = [
        begun.clone() + &data(&error),
        begun.clone() + &format!("event: error\n{}", data(&error)),
        begun.clone() + &data(&echo),
        begun.clone() + &name,
        begun.clone(),
        wire.events(&["Hi"], &format!("{VALUE} {KEY}")).concat(),
        wire.reply(&["Hi"]).replace("chatcmpl-7", VALUE).replace("msg_7", VALUE) + &data(&echo),
    ];
    let broken = [vec![Act::Reset], vec![Act::Send(format!("{echo}\r\n\r\n").into_bytes())]];
    answers.chain(streams.map(stream)).chain(broken).collect()
}

/// The texts of all errors and events of a run for each of these responses.
async fn outputs() -> Vec<String> {
    let mut outputs = Vec::new();
    for wire in WIRES {
        for acts in echoes(wire) {
            let server = Server::always(acts).await;
            let url = server.url().replace("http://", &format!("http://me:{PASSWORD}@"));
            let model = wire.model_at(&format!("{url}/v1?key={PASSWORD}"));
            outputs.push(format!("{model:?}"));
            let outcome = compute_reply_to(model, 0, VALUE).await;
            assert_eq!(server.requests().len(), 1);
            outputs.push(outcome.events.concat());
            let Some(error) = &outcome.error else { continue };
            let all = iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
            outputs.extend(all.map(|error| format!("{error} {error:?} {error:#?}")));
        }
        let nowhere = format!("http://me:{PASSWORD}@127.0.0.1:1/{PASSWORD}");
        let outcome = compute_reply_to(wire.model_at(&nowhere), 0, VALUE).await;
        outputs.push(format!("{} {:?}", outcome.cause(), outcome.error));
        for odd in [format!("{}@http://{PASSWORD}:x", wire.name()), format!("x@http://{PASSWORD}")] {
            match Provider::new(&odd) {
                Ok(model) => {
                    let outcome = compute_reply_to(model, 0, VALUE).await;
                    outputs.push(format!("{} {:?}", outcome.cause(), outcome.error));
                }
                Err(error) => outputs.push(format!("{error} {error:?}")),
            }
            let error = columnar::model::by_name(&odd).err();
            outputs.extend(error.map(|error| format!("{error} {error:?}")));
        }
    }
    outputs
}

fn assert_hidden(outputs: &[String], secrets: &[&str]) {
    assert!(outputs.len() > 50, "{}", outputs.len());
    for text in outputs {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

/// Runs a test of this file in a process that has a key, and checks its output as well.
fn as_child(test: &str, envs: &[(&str, &str)]) {
    let command = test_alone(module_path!(), test);
    with_key(command, KEY, envs, &[KEY, PASSWORD]);
}

/// Runs a test of a module in a process that has this key. Its output must not contain the secrets.
pub(super) fn as_child_with_key(module: &str, test: &str, key: &str, secrets: &[&str]) {
    with_key(test_alone(module, test), key, &[], secrets);
}

fn with_key(mut command: Command, key: &str, envs: &[(&str, &str)], secrets: &[&str]) {
    let keys = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"].map(|name| (name, key));
    let child = command
        .arg("--test-threads=1")
        .envs(keys)
        .envs([(AS_CHILD, "1"), ("RUST_BACKTRACE", "1")])
        .envs(envs.iter().copied())
        .output()
        .expect("it runs");
    let output = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && output.contains("1 passed"), "{output}");
    assert!(!secrets.iter().any(|secret| output.contains(secret)), "{output}");
}

#[test]
fn x1_keys_and_addresses_appear_nowhere() {
    as_child("with_a_key", &[]);
}

#[test]
fn x1_the_password_of_a_proxy_appears_nowhere() {
    let proxy = format!("http://me:{PASSWORD}@127.0.0.1:1");
    as_child("through_a_proxy", &[("HTTP_PROXY", &proxy), ("http_proxy", &proxy), ("NO_PROXY", "")]);
}

#[tokio::test]
async fn through_a_proxy() {
    if env::var_os(AS_CHILD).is_none() {
        return;
    }
    for wire in WIRES {
        // The address belongs to no host: the proxy, which does not exist, refuses the connection.
        let outcome = compute_reply_to(wire.model_at("http://192.0.2.1/v1"), 0, VALUE).await;
        println!("{} {:?}", outcome.cause(), outcome.error);
        assert!(outcome.cause().contains("refused"), "{}", outcome.cause());
    }
}

#[tokio::test]
async fn x1_a_panic_message_has_no_secret() {
    let chat = flow! {
        source user;
        column bot(user) = |_: Context| async {
            panic_any(format!("{KEY} {VALUE}"));
            #[expect(unreachable_code, reason = "the type of the value must be known")]
            ""
        };
    };
    chat.user.push("Hello!").await.expect("a store in memory");
    let error = chat.run().await.expect_err("it panics");
    let outputs = format!("{error} {error:?} {error:#?} {chat:?}");
    assert!(outputs.contains("panicked") && !outputs.contains("canary"), "{outputs}");
}

#[tokio::test]
async fn with_a_key() {
    if env::var_os(AS_CHILD).is_none() {
        return;
    }
    let mut outputs = outputs().await;
    let folder = tempfile::tempdir().expect("a folder");
    run_with(FileStore::new(folder.path().join("chat")), &mut outputs).await;
    #[cfg(feature = "sqlite")]
    run_with(columnar::store::SqliteStore::new(folder.path().join("chats.db"), "chat"), &mut outputs).await;
    let mut folders = vec![folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match fs::read(&path) {
                Ok(bytes) => outputs.push(String::from_utf8_lossy(&bytes).into_owned()),
                Err(_) => folders.push(path),
            }
        }
    }
    assert_hidden(&outputs, &[KEY, PASSWORD]);
}

/// Computes a value with the key, and stores it.
async fn run_with(store: impl Store + std::fmt::Debug, outputs: &mut Vec<String>) {
    for wire in WIRES {
        let server = Server::always(stream(wire.reply(&["Hi"]))).await;
        let url = server.url().replace("http://", &format!("http://me:{PASSWORD}@"));
        let model = EndRecorder::new(wire.model_at(&url));
        outputs.push(format!("{store:?}"));
        let chat = Chat::new(model, 0);
        outputs.extend([format!("{:?}", chat.forecast()), format!("{}{:?}", chat.outline(), chat.outline())]);
        chat.user.push("Hello!").await.expect("a store in memory");
        let mut run = chat.run();
        while let Some(event) = run.try_next().await.expect("it answers") {
            outputs.push(format!("{event:?}"));
        }
        let request = server.requests().concat();
        assert!(request.contains(KEY) || request.contains("authorization: Basic"), "it is sent: {request}");
    }
    let server = Server::always(stream(Wire::OpenAi.reply(&["Hi"]))).await;
    let chat = Chat::open(store, EndRecorder::new(Wire::OpenAi.model(&server)), 0).await.expect("it is new");
    chat.user.push("Hello!").await.expect("it is stored");
    chat.run().await.expect("it answers");
    assert!(server.requests().concat().contains(KEY), "it is sent");
    outputs.push(format!("{:?}", chat.bot.get(0)));
}

#[tokio::test]
async fn x2_content_of_conversations_appears_nowhere() {
    let outputs = outputs().await;
    assert_hidden(&outputs, &["canaryvalue", "sings", PASSWORD]);
}

/// The HTTP client logs responses that it cannot parse, and addresses.
#[cfg(feature = "tracing")]
#[tokio::test]
async fn x1_x2_the_log_has_no_secret_at_its_finest_level() {
    let (spans, _guard) = columnar_tests::spans::listen();
    outputs().await;
    for secret in ["canaryvalue", "sings", PASSWORD, KEY] {
        assert!(!spans.contain(secret), "{secret}");
    }
    assert!(spans.contain("columnar.run"), "it listens");
}
