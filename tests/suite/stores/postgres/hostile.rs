//! Servers that are silent, or repeat the password. Some of them need no real server.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use columnar::prelude::*;
use columnar::store::{PostgresStore, Store};
use columnar_tests::log::Log;
use columnar_tests::postgres::{Cut, Database, Way};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

use super::{Chat, free, log_text, put};

/// Runs something that must end, on a thread of its own: what blocks would block the test.
fn ends<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, outcome) = mpsc::channel();
    thread::spawn(move || done.send(act()));
    outcome.recv_timeout(Duration::from_mins(1)).expect("it ends")
}

/// The rest of a message of a client, after its type, if it has one.
fn message(client: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    client.read_exact(&mut length).expect("a message");
    let mut rest = vec![0; u32::from_be_bytes(length) as usize - 4];
    client.read_exact(&mut rest).expect("all of it");
    rest
}

/// A message of a server. PostgreSQL, "Message Formats".
fn answer(client: &mut TcpStream, kind: u8, body: &[u8]) {
    let length = u32::try_from(body.len() + 4).expect("a short message").to_be_bytes();
    client.write_all(&[&[kind][..], &length, body].concat()).expect("it is sent");
}

/// A server that does this with its first client, and keeps the connection; and its port.
fn server(act: impl FnOnce(&mut TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        let (mut client, _) = listener.accept().expect("a client");
        act(&mut client);
        // Until the client is gone.
        while matches!(client.read(&mut [0; 1024]), Ok(1..)) {}
    });
    port
}

/// `timeout` around an opening waited for ever: dropping the opening waited for the thread of the store, and that for the
/// server.
#[test]
fn s12_dropping_an_opening_does_not_wait_for_a_silent_server() {
    for (mode, does_begin) in [("disable", false), ("disable", true), ("require", false)] {
        for mut runtime in [Builder::new_current_thread(), Builder::new_multi_thread()] {
            let (silent, is_silent) = oneshot::channel();
            let port = server(move |client| {
                message(client);
                if does_begin {
                    // The session begins, and its first statement is not answered.
                    answer(client, b'R', &[0; 4]);
                    answer(client, b'Z', b"I");
                    client.read_exact(&mut [0; 1]).expect("a statement");
                }
                silent.send(()).expect("the test waits");
            });
            let address = format!("postgres://me:pw@127.0.0.1:{port}/db?sslmode={mode}&connect_timeout=3600");
            ends(move || {
                let runtime = runtime.enable_all().build().expect("a runtime");
                runtime.block_on(async {
                    tokio::select! {
                        opened = Chat::open(PostgresStore::new(address, "monday"), Log::default()) => {
                            unreachable!("{:?}", opened.map(drop))
                        }
                        silent = is_silent => silent.expect("a client comes"),
                    }
                });
            });
        }
    }
}

/// The limit was one of the TCP connection alone.
#[tokio::test(flavor = "multi_thread")]
async fn s12_the_limit_of_a_connection_includes_its_handshakes() {
    for mode in ["disable", "require"] {
        let port = server(|client| drop(message(client)));
        let address = format!("postgres://me:pw@127.0.0.1:{port}/db?sslmode={mode}&connect_timeout=1");
        let error = PostgresStore::new(address, "monday").open().await.expect_err("the server is silent");
        assert!(log_text(&error).contains("did not answer within 1s"), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s12_dropping_a_flow_does_not_wait_for_a_silent_server() -> Result<()> {
    let Some(database) = Database::new("s12, silent").await else { return Ok(()) };
    let wire = database.wire();
    for is_writing in [true, false] {
        let chat =
            Chat::open(PostgresStore::new(database.address_by(&wire), "monday"), Log::default()).await?;
        chat.user.push("said 0").await?;
        chat.run().await?;
        wire.cut_after(Way::ToServer, 0, Cut::Silent);
        let cuts = wire.cuts();
        if is_writing {
            tokio::select! {
                pushed = chat.user.push("said 1") => unreachable!("{pushed:?}"),
                () = async { while wire.cuts() == cuts { tokio::task::yield_now().await } } => {}
            }
        }
        ends(move || drop(chat));
        wire.mend();
        // The server gives the flow up when it notices that the connection has ended.
        drop(free(&database.address()).await);
    }
    Ok(())
}

/// A server gives up the lock of a flow when it notices the end of the connection, which takes it a moment.
#[tokio::test(flavor = "multi_thread")]
async fn s6_a_flow_is_free_after_its_opening_was_dropped() {
    let Some(database) = Database::new("s6, dropped").await else { return };
    let (address, wire) = (database.address(), database.wire());
    let mut whole = 0;
    for bytes in (0..4000).step_by(100) {
        wire.cut_after(Way::ToServer, u64::MAX, Cut::Through);
        let store = PostgresStore::new(database.address_by(&wire), "monday");
        let is_whole = tokio::select! {
            biased;
            opened = store.open() => opened.is_ok(),
            () = async { while wire.passed(Way::ToServer) < bytes { tokio::task::yield_now().await } } => false,
        };
        whole += usize::from(is_whole);
        drop(store);
        let store = PostgresStore::new(&address, "monday");
        let opened = store.open().await;
        assert!(opened.is_ok(), "after {bytes} bytes: {opened:?}");
        assert!(put(&store, 0, "said").await.is_ok());
    }
    assert!((1..35).contains(&whole), "{whole} were opened before they were dropped");
}

/// The message of a server was shown as it was, with the password that it had received and with control characters.
#[tokio::test(flavor = "multi_thread")]
async fn x1_a_server_that_repeats_the_password_is_shown_without_it() {
    const PASSWORD: &str = "Hunter+29xyzzy";
    let hex = PASSWORD.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let base64 = BASE64_STANDARD.encode(PASSWORD);
    let written = "Hunter%2B29xyzzy";
    for (at, repeated) in [PASSWORD, written, &hex, &base64, "hunter-29-XYZZY", "Hunter", "H u n t e r 2 9"]
        .into_iter()
        .enumerate()
    {
        for severity in ["ERROR", "FATAL"] {
            let says = format!("role \"me\" is refused for \u{1b}[31m{repeated}\u{202e}\u{7} by users_pkey");
            let port = server(move |client| {
                message(client);
                // `AuthenticationCleartextPassword`.
                answer(client, b'R', &[0, 0, 0, 3]);
                client.read_exact(&mut [0; 1]).expect("a type");
                assert_eq!(message(client), format!("{PASSWORD}\0").as_bytes());
                let fields = format!("S{severity}\0V{severity}\0C28P01\0M{says}\0\0");
                answer(client, b'E', fields.as_bytes());
            });
            let address = match at % 2 {
                0 => format!("postgres://me:{written}@127.0.0.1:{port}/db?sslmode=disable"),
                _ => format!(
                    "host=127.0.0.1 port={port} user=me password='{PASSWORD}' dbname=db sslmode=disable"
                ),
            };
            let error = PostgresStore::new(address, "monday").open().await.expect_err("it is refused");
            let text = log_text(&error);
            for word in [repeated, "xyzzy", "Hunter", "\u{1b}", "\u{202e}", "\u{7}"] {
                assert!(!text.contains(word), "{word:?} in {text:?}");
            }
            // An honest message stays as it is.
            for word in ["role \"me\" is refused for", "by users_pkey", "SQLSTATE 28P01"] {
                assert!(error.to_string().contains(word) || text.contains(word), "{word} in {text}");
            }
        }
    }
}
