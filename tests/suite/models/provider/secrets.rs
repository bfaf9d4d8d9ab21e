//! Keys, addresses and what is said: in no error, no event, no log and no picture.

use std::env;
use std::error::Error;
use std::fs;
use std::iter;
use std::panic::panic_any;

use columnar::model::Genai;
use columnar::prelude::*;
use columnar::store::{FileStore, Store};
use columnar_tests::process::test_alone;
use columnar_tests::server::{Act, Server, WIRES, Wire, answer, data, stream};

use super::{Chat, Told, asked_with, said};

/// What a key looks like, and what stands in an address.
const KEY: &str = "canarykey4711";
const PASSWORD: &str = "canarypassword";

/// What is said.
const VALUE: &str = "canaryvalue sings";

/// Who asks with a key.
const AS_CHILD: &str = "COLUMNAR_TESTS_WITH_KEY";

/// All that goes wrong, and says again what it was sent: key, password and text.
fn lies(wire: Wire) -> Vec<Vec<Act>> {
    let echo = format!("{KEY} Bearer {KEY} {PASSWORD} {VALUE}: x{}y", VALUE.replace(' ', "_"));
    let error = format!(
        r#"{{"error":{{"message":"{echo}","type":"{KEY}","code":"canaryvalue","param":"{PASSWORD}"}}}}"#
    );
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
        wire.says(&["Hi"]).replace("chatcmpl-7", VALUE).replace("msg_7", VALUE) + &data(&echo),
    ];
    let broken = [vec![Act::Reset], vec![Act::Send(format!("{echo}\r\n\r\n").into_bytes())]];
    answers.chain(streams.map(stream)).chain(broken).collect()
}

/// All that is told of a run against each of the lies.
async fn told() -> Vec<String> {
    let mut told = Vec::new();
    for wire in WIRES {
        for acts in lies(wire) {
            let server = Server::always(acts).await;
            let url = server.url().replace("http://", &format!("http://me:{PASSWORD}@"));
            let model = wire.model_at(&format!("{url}/v1?key={PASSWORD}"));
            told.push(format!("{model:?}"));
            let outcome = asked_with(model, 0, VALUE).await;
            assert_eq!(server.requests().len(), 1);
            told.push(outcome.events.concat());
            let Some(error) = &outcome.error else { continue };
            let all = iter::successors(Some(error as &(dyn Error + 'static)), |&error| error.source());
            told.extend(all.map(|error| format!("{error} {error:?} {error:#?}")));
        }
        let nowhere = format!("http://me:{PASSWORD}@127.0.0.1:1/{PASSWORD}");
        let outcome = asked_with(wire.model_at(&nowhere), 0, VALUE).await;
        told.push(format!("{} {:?}", outcome.cause(), outcome.error));
        for odd in [format!("{}@http://{PASSWORD}:x", said(wire)), format!("x@http://{PASSWORD}")] {
            match Genai::new(&odd) {
                Ok(model) => {
                    let outcome = asked_with(model, 0, VALUE).await;
                    told.push(format!("{} {:?}", outcome.cause(), outcome.error));
                }
                Err(error) => told.push(format!("{error} {error:?}")),
            }
            let error = columnar::model::by_name(&odd).err();
            told.extend(error.map(|error| format!("{error} {error:?}")));
        }
    }
    told
}

fn holds_nothing(told: &[String], secrets: &[&str]) {
    assert!(told.len() > 50, "{}", told.len());
    for text in told {
        for secret in secrets {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
}

/// Only a program that has a key can tell it, so one is begun that has, for one of the tests here; what it writes is
/// read as well.
fn as_child(test: &str, envs: &[(&str, &str)]) {
    let child = test_alone(module_path!(), test)
        .arg("--test-threads=1")
        .envs([("OPENAI_API_KEY", KEY), ("ANTHROPIC_API_KEY", KEY), (AS_CHILD, "1"), ("RUST_BACKTRACE", "1")])
        .envs(envs.iter().copied())
        .output()
        .expect("it runs");
    let said = String::from_utf8_lossy(&child.stdout) + String::from_utf8_lossy(&child.stderr);
    assert!(child.status.success() && said.contains("1 passed"), "{said}");
    assert!(!said.contains(KEY) && !said.contains(PASSWORD), "{said}");
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
        // An address that is nobody's: that the connection is refused comes from the proxy, which is not there.
        let outcome = asked_with(wire.model_at("http://192.0.2.1/v1"), 0, VALUE).await;
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
            #[expect(unreachable_code, reason = "it is to be known what it would be")]
            ""
        };
    };
    chat.user.push("Hello!").await.expect("memory takes it");
    let error = chat.run().await.expect_err("it panics");
    let told = format!("{error} {error:?} {error:#?} {chat:?}");
    assert!(told.contains("panicked") && !told.contains("canary"), "{told}");
}

#[tokio::test]
async fn with_a_key() {
    if env::var_os(AS_CHILD).is_none() {
        return;
    }
    let mut told = told().await;
    let folder = tempfile::tempdir().expect("a folder");
    lives(FileStore::new(folder.path().join("chat")), &mut told).await;
    #[cfg(feature = "sqlite")]
    lives(columnar::store::SqliteStore::new(folder.path().join("chats.db"), "chat"), &mut told).await;
    let mut folders = vec![folder.path().to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            match fs::read(&path) {
                Ok(bytes) => told.push(String::from_utf8_lossy(&bytes).into_owned()),
                Err(_) => folders.push(path),
            }
        }
    }
    holds_nothing(&told, &[KEY, PASSWORD]);
}

/// A value is asked for with the key, and stored.
async fn lives(store: impl Store + std::fmt::Debug, told: &mut Vec<String>) {
    for wire in WIRES {
        let server = Server::always(stream(wire.says(&["Hi"]))).await;
        let url = server.url().replace("http://", &format!("http://me:{PASSWORD}@"));
        let model = Told::new(wire.model_at(&url));
        told.push(format!("{store:?}"));
        let chat = Chat::new(model, 0);
        told.extend([format!("{:?}", chat.forecast()), format!("{}{:?}", chat.outline(), chat.outline())]);
        chat.user.push("Hello!").await.expect("memory takes it");
        let mut run = chat.run();
        while let Some(event) = run.try_next().await.expect("it answers") {
            told.push(format!("{event:?}"));
        }
        let request = server.requests().concat();
        assert!(request.contains(KEY) || request.contains("authorization: Basic"), "it is sent: {request}");
    }
    let server = Server::always(stream(Wire::OpenAi.says(&["Hi"]))).await;
    let chat = Chat::open(store, Told::new(Wire::OpenAi.model(&server)), 0).await.expect("it is new");
    chat.user.push("Hello!").await.expect("it is stored");
    chat.run().await.expect("it answers");
    assert!(server.requests().concat().contains(KEY), "it is sent");
    told.push(format!("{:?}", chat.bot.get(0)));
}

#[tokio::test]
async fn x2_content_of_conversations_appears_nowhere() {
    let told = told().await;
    holds_nothing(&told, &["canaryvalue", "sings", PASSWORD]);
}

/// The client below writes what it does not understand into the log, and whom it asked.
#[cfg(feature = "tracing")]
#[tokio::test]
async fn x1_x2_the_log_has_no_secret_at_its_finest_level() {
    let (spans, _guard) = columnar_tests::spans::listen();
    told().await;
    for secret in ["canaryvalue", "sings", PASSWORD, KEY] {
        assert!(!spans.hold(secret), "{secret}");
    }
    assert!(spans.hold("columnar.run"), "it listens");
}
