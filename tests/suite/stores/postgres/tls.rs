//! Encrypted connections: the modes of libpq, against a server with a certificate for `localhost`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use columnar::store::{PostgresStore, Store};
use columnar_tests::postgres::Database;

use super::{log_text, session};

/// An address with `verify-full` was answered as no address, and nothing was ever encrypted.
#[tokio::test(flavor = "multi_thread")]
async fn s19_the_modes_are_those_of_libpq() {
    let Some((database, root, other)) = Database::with_tls("s19").await else { return };
    for (host, parameters, expected) in [
        ("localhost", "sslmode=disable".to_owned(), Ok(false)),
        ("localhost", String::new(), Ok(true)),
        ("localhost", "sslmode=prefer".to_owned(), Ok(true)),
        ("127.0.0.1", "sslmode=require".to_owned(), Ok(true)),
        ("127.0.0.1", format!("sslmode=require sslrootcert='{root}'"), Ok(true)),
        ("127.0.0.1", format!("sslmode=verify-ca sslrootcert='{root}'"), Ok(true)),
        ("localhost", format!("sslmode=verify-full sslrootcert='{root}'"), Ok(true)),
        ("127.0.0.1", format!("sslmode=verify-full sslrootcert='{root}'"), Err("is for other hosts")),
        ("localhost", format!("sslmode=require sslrootcert='{other}'"), Err("is not signed by")),
        ("localhost", format!("sslmode=verify-ca sslrootcert='{other}'"), Err("is not signed by")),
        ("localhost", format!("sslmode=verify-full sslrootcert='{other}'"), Err("is not signed by")),
        // The certificate of the server is no obstacle where it protects nothing.
        ("localhost", format!("sslmode=prefer sslrootcert='{other}'"), Ok(true)),
        ("localhost", "sslmode=verify-full sslrootcert=system".to_owned(), Err("root certificate")),
        ("localhost", "sslmode=verify-full".to_owned(), Err("needs a root certificate")),
        (
            "localhost",
            "sslmode=verify-ca sslrootcert=/nonesuch/root.crt".to_owned(),
            Err("/nonesuch/root.crt"),
        ),
        ("localhost", "channel_binding=require sslmode=require".to_owned(), Err("channel binding")),
    ] {
        let found = session(&database, host, &parameters).await;
        match (&found, expected) {
            (Ok(found), Ok(expected)) => assert_eq!(*found, expected, "{host} {parameters}"),
            (Err(found), Err(expected)) => {
                assert!(found.contains(expected), "{host} {parameters}: {found}");
                assert!(!found.contains(&database.password()), "{found}");
            }
            _ => panic!("{host} {parameters}: {found:?} is not {expected:?}"),
        }
    }
}

/// The first bytes of each connection to a server that answers a request for TLS with these bytes, and then leaves.
fn answer(reply: &'static [u8]) -> (u16, thread::JoinHandle<Vec<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let seen = thread::spawn(move || {
        let mut seen = Vec::new();
        while let Ok((mut client, _)) = listener.accept() {
            seen.push(message(&mut client));
            if seen.last().is_some_and(|first| first != &SSL_REQUEST) {
                break;
            }
            client.write_all(reply).expect("it is sent");
            if reply == b"N" {
                seen.push(message(&mut client));
                break;
            }
        }
        seen
    });
    (port, seen)
}

/// A message without a type: its length, and the rest.
fn message(client: &mut TcpStream) -> Vec<u8> {
    let mut length = [0; 4];
    if client.read_exact(&mut length).is_err() {
        return Vec::new();
    }
    let mut rest = vec![0; (u32::from_be_bytes(length) as usize).saturating_sub(4)];
    let _ = client.read_exact(&mut rest);
    [&length[..], &rest].concat()
}

/// PostgreSQL, "Message Formats": `SSLRequest`.
const SSL_REQUEST: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];

#[tokio::test(flavor = "multi_thread")]
async fn s19_a_server_without_tls_is_used_unless_the_mode_requires_it() {
    let open = async |mode: &str, port: u16| {
        let address = format!("host=127.0.0.1 port={port} user=me password=hunter2 connect_timeout=5 {mode}");
        let error = PostgresStore::new(address, "monday").open().await.expect_err("the server leaves");
        let error = log_text(&error);
        assert!(!error.contains("hunter2"), "{error}");
        error
    };
    let (port, seen) = answer(b"N");
    let error = open("sslmode=require", port).await;
    assert!(error.contains("does not support TLS"), "{error}");
    assert_eq!(seen.join().expect("it ends"), [SSL_REQUEST.to_vec(), Vec::new()], "nothing was sent");

    let (port, seen) = answer(b"N");
    open("", port).await;
    let seen = seen.join().expect("it ends");
    assert!(seen[0] == SSL_REQUEST && seen[1].windows(4).any(|word| word == b"user"), "{seen:?}");

    // The server has TLS, and its handshake fails.
    let (port, seen) = answer(b"Snonsense");
    open("sslmode=prefer", port).await;
    let seen = seen.join().expect("it ends");
    assert!(seen[0] == SSL_REQUEST && seen[1].windows(4).any(|word| word == b"user"), "{seen:?}");
}
