//! The command `columnar`, run as a process on real stores, which this process has open.
#![cfg(feature = "cli")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use columnar::prelude::*;
use columnar::rows;
use columnar::store::{FileStore, MemoryStore, PostgresStore, SqliteStore, Store};
use columnar::testing::script;
use tempfile::TempDir;

const COMMAND: &str = env!("CARGO_BIN_EXE_columnar");

/// A text that would clear a terminal, hide what follows, and turn it around.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}[8mb\u{9b}31m\u{202e}sdrawkcab\u{7}";

fn command(arguments: &[&str]) -> Output {
    Command::new(COMMAND).args(arguments).output().expect("the command starts")
}

/// The output of a command that must succeed.
#[track_caller]
fn shown(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = command(arguments);
    let error = String::from_utf8_lossy(&stderr);
    assert!(
        status.success() && stderr.is_empty(),
        "{arguments:?}: {error}{}",
        String::from_utf8_lossy(&stdout)
    );
    String::from_utf8(stdout).expect("it is UTF-8")
}

/// The complaint of a command that must fail.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let Output { status, stdout, stderr } = command(arguments);
    assert!(!status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&stdout));
    String::from_utf8(stderr).expect("it is UTF-8")
}

/// A chat of two steps, which stays open.
async fn chat(store: impl Store) -> Flow {
    let user = source("user");
    let topics = column("topics", user.latest(), prompt("List the topics.").model("offline"));
    let views = (&user, this(), topics.latest().named("tags"));
    let answer = column("answer", views, script(["Since when?", HOSTILE]));
    let chat = Flow::open(store, [answer]).await.expect("it opens");
    for text in ["It is slow.", "Since Monday."] {
        chat.push("user", text).await.expect("it is stored");
    }
    chat.run().await.expect("it is computed");
    chat
}

/// A place with its address, the arguments that name a flow, and the flow, which is open.
struct OpenPlace {
    address: String,
    names: Vec<&'static str>,
    flow: Flow,
}

impl OpenPlace {
    /// The arguments of a verb about the flow.
    fn arguments<'a>(&'a self, verb: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
        let names = self.names.iter().copied();
        [verb, &self.address].into_iter().chain(names).chain(rest.iter().copied()).collect()
    }
}

async fn all_places(folder: &Path) -> Vec<OpenPlace> {
    let [file, one, many] = ["chats.db", "one", "many"].map(|name| folder.join(name));
    let address = |path: &Path| path.to_str().expect("it is UTF-8").to_owned();
    let mut places = vec![
        OpenPlace {
            address: address(&file),
            names: vec!["ada"],
            flow: chat(SqliteStore::new(&file, "ada")).await,
        },
        OpenPlace { address: address(&one), names: vec![], flow: chat(FileStore::new(&one)).await },
        OpenPlace {
            address: address(&many),
            names: vec!["ada"],
            flow: chat(FileStore::new(many.join("ada"))).await,
        },
    ];
    drop(chat(SqliteStore::new(&file, "bob")).await);
    drop(chat(FileStore::new(many.join("bob"))).await);
    match std::env::var("COLUMNAR_PG_URL") {
        Ok(database) => {
            let key = "a stranger's command";
            PostgresStore::new(&database, key).delete().await.expect("it can be deleted");
            let flow = chat(PostgresStore::new(&database, key)).await;
            places.push(OpenPlace { address: database, names: vec![key], flow });
        }
        Err(_) => eprintln!("SKIPPED: no PostgreSQL; run the tests by `tests/postgres-server run`"),
    }
    places
}

/// All files of a folder, with their bytes.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path.clone(), fs::read(&path).expect("a file"));
        }
    }
    found
}

#[tokio::test]
async fn everything_is_read_beside_the_owner_of_each_store() {
    let folder = TempDir::new().expect("a folder");
    for place in all_places(folder.path()).await {
        let shows = |verb, rest: &[&str]| shown(&place.arguments(verb, rest));
        let table = shows("show", &[]);
        assert!(table.starts_with("step │ user") && table.contains("Since when?"), "{table}");
        assert!(shows("show", &["--last", "1"]).contains("\n   1 │ Since Monday."), "{table}");
        assert_eq!(shows("show", &["user", "1"]), "Since Monday.");
        // Byte for byte, since it goes to a program.
        assert_eq!(shows("show", &["answer", "1"]), HOSTILE);
        assert!(shows("show", &["user"]).starts_with("── user 0\nIt is slow.\n── user 1\n"));
        assert!(shows("bill", &[]).contains("topics  2 calls"), "{}", shows("bill", &[]));
        // No prompt: it is in the program alone. The tag of the view is stored.
        let messages = shows("messages", &["answer", "1"]);
        assert!(messages.contains("── assistant\nSince when?\n── user\n"), "{messages}");
        assert!(messages.contains("<tags>"), "{messages}");
        let json = shows("messages", &["answer", "1", "--json"]);
        assert_eq!(json.trim_end(), place.flow.messages("answer", 1).expect("a context").to_json());
        let mut expected = Vec::new();
        rows::write_json_lines(&place.flow, &mut expected).await.expect("it is written");
        assert_eq!(shows("export", &[]).into_bytes(), expected);
        assert!(shows("export", &["--format", "csv"]).starts_with("_step,"));
        assert_eq!(shows("verify", &[]), "flows: 1, defects: 0\n");
        // The owner is still the owner, and what it stores next is there for the next command.
        place.flow.push("user", "Is it solved?").await.expect("it is stored");
        assert_eq!(shows("show", &["user", "2"]), "Is it solved?");
    }
}

#[tokio::test]
async fn a_command_changes_no_byte_of_a_folder() {
    let folder = TempDir::new().expect("a folder");
    let store = folder.path().join("chat");
    let flow = chat(FileStore::new(&store)).await;
    let before = files(&store);
    let address = store.to_str().expect("it is UTF-8");
    for arguments in [
        &["list", address, "--long"][..],
        &["show", address],
        &["bill", address],
        &["messages", address, "answer", "1"],
        &["verify", address],
        &["export", address],
    ] {
        shown(arguments);
    }
    assert_eq!(files(&store), before);
    drop(flow);
    let closed = files(&store);
    shown(&["show", address]);
    assert_eq!(files(&store), closed);
}

#[tokio::test]
async fn flows_are_listed_and_named_by_their_keys() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("chats.db");
    for key in ["monday", "tuesday"] {
        drop(chat(SqliteStore::new(&file, key)).await);
    }
    let file = file.to_str().expect("it is UTF-8");
    assert_eq!(shown(&["list", file]), "monday\ntuesday\n");
    assert!(shown(&["list", "--long", file]).starts_with("monday: 4 of 4 cells are done, 2 calls"));
    let bills = shown(&["bill", file]);
    assert!(bills.starts_with("monday: ") && bills.contains("\nall: 4 calls"), "{bills}");
    for (arguments, expected) in [
        (&["show", file][..], "the store has 2 flows: name one"),
        (&["show", file, "wednesday"], "there is no flow with the key `wednesday`"),
        (&["show", file, "monday", "topic"], "did you mean `topics`"),
        (&["show", file, "monday", "topics", "9"], "`topics` at step 9 has no value"),
        (&["show", file, "monday", "topics", "last"], "`last` is no step"),
        (&["export", file, "monday", "topics"], "whole flows"),
        (&["messages", file, "monday", "topics"], "name a column and a step"),
    ] {
        let error = refused(arguments);
        assert!(error.starts_with("columnar: ") && error.contains(expected), "{arguments:?}: {error}");
    }
    let error = refused(&["list", "host=127.0.0.1 port=1 user=me password=swordfish"]);
    assert!(error.contains("PostgreSQL") && !error.contains("swordfish"), "{error}");
    let missing = folder.path().join("nonesuch.db");
    let error = refused(&["list", missing.to_str().expect("it is UTF-8")]);
    assert!(error.contains("there is no store at") && !missing.exists(), "{error}");
    fs::write(&missing, "a text").expect("it is written");
    let error = refused(&["list", missing.to_str().expect("it is UTF-8")]);
    assert!(error.contains("nonesuch.db is no store"), "{error}");
    assert_eq!(fs::read(&missing).expect("it is there"), b"a text");
}

/// `script` gives a program a terminal of its own, and the output that the terminal gets.
#[tokio::test]
async fn texts_control_no_terminal() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("chats.db");
    drop(chat(SqliteStore::new(&file, format!("ada {HOSTILE}"))).await);
    let file = file.to_str().expect("it is UTF-8");
    let verbs =
        ["list FILE", "show FILE", "show FILE answer", "show FILE answer 1", "messages FILE answer 1"];
    for verb in verbs.into_iter().chain(["bill FILE", "show FILE nonesuch", "export FILE --format csv"]) {
        let line = format!("{COMMAND} {}", verb.replace("FILE", file));
        let recorded =
            Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()).output();
        let Ok(Output { stdout, .. }) = recorded else {
            eprintln!("SKIPPED: there is no `script` here, so nobody looked at a terminal");
            return;
        };
        let text = String::from_utf8(stdout).expect("it is UTF-8");
        let is_control =
            |c: &char| (c.is_control() && !"\r\n\t".contains(*c)) || ('\u{202a}'..='\u{202e}').contains(c);
        assert_eq!(text.chars().find(is_control), None, "{verb}: {text:?}");
        assert!(!text.is_empty(), "{verb}");
    }
}

#[tokio::test]
async fn a_backup_has_everything_in_another_kind_of_store() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is UTF-8").to_owned();
    let [file, copies, again, second] = ["chats.db", "copies", "again.db", "second.db"].map(path);
    let _owner = chat(SqliteStore::new(&file, "ada")).await;
    drop(chat(SqliteStore::new(&file, "bob")).await);
    shown(&["backup", &file, &copies]);
    shown(&["backup", &copies, &again]);
    shown(&["backup", &file, &second]);
    for copy in [&copies, &again, &second] {
        assert_eq!(shown(&["list", copy]), "ada\nbob\n", "{copy}");
        assert_eq!(shown(&["export", copy, "ada"]), shown(&["export", &file, "ada"]), "{copy}");
        assert_eq!(shown(&["bill", copy]), shown(&["bill", &file]), "{copy}");
        assert!(shown(&["verify", copy]).ends_with("defects: 0\n"), "{copy}");
    }
    // Nothing is overwritten.
    assert!(refused(&["backup", &file, &second]).contains("second.db"));
    assert!(refused(&["backup", &file, &copies]).contains("empty"));
    // A key that leads out of the folder.
    drop(chat(SqliteStore::new(&file, "../outside")).await);
    let error = refused(&["backup", &file, &path("more")]);
    assert!(error.contains("cannot be the name of a folder"), "{error}");
    assert!(!folder.path().join("outside").exists());
}

#[tokio::test]
async fn tables_and_reports_are_files_and_damage_is_named() {
    let folder = TempDir::new().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_str().expect("it is UTF-8").to_owned();
    let store = path("chat");
    drop(chat(FileStore::new(&store)).await);
    for name in ["rows.jsonl", "rows.csv", "rows.parquet"] {
        shown(&["export", &store, "--to", &path(name)]);
        assert!(refused(&["export", &store, "--to", &path(name)]).contains(name));
    }
    let back = MemoryStore::new();
    let parquet = fs::File::open(path("rows.parquet")).expect("it is there");
    let options = rows::RowOptions::new().source("user");
    assert_eq!(options.read_parquet(&back, parquet).await.expect("it is read"), 2);
    shown(&["report", &store, "--to", &path("report.html")]);
    let page = fs::read_to_string(path("report.html")).expect("it is there");
    assert!(page.contains("Since Monday."));
    fs::write(folder.path().join("chat/user/1.txt"), "Since Tuesday.").expect("it is written");
    let Output { status, stdout, .. } = command(&["verify", &store]);
    let found = String::from_utf8(stdout).expect("it is UTF-8");
    assert!(!status.success() && found.contains("`user` at step 1"), "{found}");
    assert!(found.ends_with("defects: 1\n"), "{found}");
    assert!(refused(&["show", &store]).contains("`user` at step 1"));
}

/// A running server, which ends with the test.
struct CommandServer {
    child: Child,
    address: SocketAddr,
}

impl Drop for CommandServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl CommandServer {
    fn start(store: &str, token: Option<&str>) -> Self {
        let mut command = Command::new(COMMAND);
        let listen = if token.is_some() { "0.0.0.0:0" } else { "127.0.0.1:0" };
        command.args(["serve", store, "--listen", listen]).stdout(Stdio::piped());
        token.into_iter().for_each(|token| _ = command.env("COLUMNAR_TOKEN", token));
        let mut child = command.spawn().expect("it starts");
        let mut line = String::new();
        let out = child.stdout.take().expect("it is piped");
        BufReader::new(out).read_line(&mut line).expect("it is read");
        let address = line.trim().trim_start_matches("listening on http://").trim_end_matches("/?token=…");
        let mut address: SocketAddr = address.parse().expect("an address");
        address.set_ip([127, 0, 0, 1].into());
        Self { child, address }
    }

    /// The connection on which a request was sent.
    fn ask(&self, path: &str, headers: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        let own = format!("Host: {}\r\n", self.address);
        let host = if headers.contains("Host:") { "" } else { &own };
        write!(stream, "GET {path} HTTP/1.1\r\n{host}{headers}Connection: close\r\n\r\n")
            .expect("it is sent");
        stream
    }

    fn get(&self, path: &str, headers: &str) -> String {
        let mut response = String::new();
        self.ask(path, headers).read_to_string(&mut response).expect("it answers");
        response
    }
}

/// A store with texts that would run as scripts, in a real browser, by `tests/browser/run`.
#[tokio::test]
async fn a_page_shows_a_flow_in_a_browser() {
    let Some(browser) = std::env::var_os("COLUMNAR_BROWSER") else {
        println!("SKIPPED: the live page in a browser, which needs `tests/browser/run`");
        return;
    };
    let folder = TempDir::new().expect("a folder");
    let store = folder.path().join("chat");
    let flow = chat(FileStore::new(&store)).await;
    flow.push("user", "<script>alert(1)</script>").await.expect("it is stored");
    let server = CommandServer::start(store.to_str().expect("it is UTF-8"), None);
    let url = format!("http://{}/flow/key:/live", server.address);
    let shots = std::env::var("COLUMNAR_SCREENSHOTS").map_or(folder.path().to_owned(), PathBuf::from);
    let checked = Command::new("node")
        .args(["check.mjs".as_ref(), shots.as_os_str(), url.as_ref()])
        .current_dir(browser)
        .output();
    let Output { status, stdout, stderr } = checked.expect("node is there");
    println!("{}", String::from_utf8_lossy(&stdout));
    assert!(status.success(), "{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
}

/// The IDs and the data of events, until one has this text.
fn events_until(stream: TcpStream, text: &str) -> Vec<String> {
    let lines = BufReader::new(stream).lines().map(|line| line.expect("it is read"));
    let mut events = Vec::new();
    let mut is_last = false;
    // The ID and the data of an event are in any order, and an empty line ends the event.
    for line in lines {
        is_last |= line.contains(text);
        if line.is_empty() && is_last {
            break;
        }
        if line.starts_with("id: ") || line.starts_with("data: ") {
            events.push(line);
        }
    }
    events
}

#[tokio::test]
async fn pages_follow_a_flow_that_another_process_computes() {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("chats.db");
    let flow = chat(SqliteStore::new(&file, "a/../b?")).await;
    let server = CommandServer::start(file.to_str().expect("it is UTF-8"), None);
    let index = server.get("/", "");
    let at = "/flow/key:a%2F%2E%2E%2Fb%3F";
    assert!(index.contains(&format!("{at}/live")) && index.contains("nosniff"), "{index}");
    assert!(server.get(&format!("{at}/live"), "").contains("EventSource"));
    assert!(server.get(&format!("{at}/report"), "").contains("Since Monday."));
    flow.push("user", "And now?").await.expect("it is stored");
    let events = events_until(server.ask(&format!("{at}/events?from=0"), ""), "And now?");
    // Of three columns two steps, and the new value; each with the position after it.
    let values = events.iter().filter(|line| line.contains(r#""type":"value""#)).count();
    assert_eq!((values, events.len()), (7, 14), "{events:#?}");
    assert!(events.iter().any(|line| line.contains(r#""facts":[["#)), "{events:#?}");
    // A browser that returns gets what it has not seen.
    let last = events.iter().rev().find_map(|line| line.strip_prefix("id: ")).expect("a position");
    flow.push("user", "And then?").await.expect("it is stored");
    let header = format!("Last-Event-ID: {last}\r\n");
    let events = events_until(server.ask(&format!("{at}/events"), &header), "And then?");
    assert_eq!(events.len(), 2, "{events:#?}");
    assert!(server.get("/flow/key:nonesuch/live", "").starts_with("HTTP/1.1 404"));
    assert!(server.get(&format!("{at}/events?from=x"), "").starts_with("HTTP/1.1 400"));
}

#[tokio::test]
async fn a_page_of_another_site_and_a_request_without_the_token_get_nothing() {
    let folder = TempDir::new().expect("a folder");
    let store = folder.path().join("chat");
    drop(chat(FileStore::new(&store)).await);
    let store = store.to_str().expect("it is UTF-8");
    let server = CommandServer::start(store, None);
    let response = server.get("/", "Host: evil.example\r\n");
    assert!(response.starts_with("HTTP/1.1 403") && !response.contains("flow/"), "{response}");
    assert!(server.get("/flow/key:/live", "").contains("EventSource"));

    let token = "0123456789abcdef";
    let server = CommandServer::start(store, Some(token));
    for headers in ["", "Cookie: columnar-token=0123456789abcdee\r\n"] {
        assert!(server.get("/flow/key:/report", headers).starts_with("HTTP/1.1 403"));
    }
    let entered = server.get(&format!("/?token={token}"), "");
    assert!(entered.contains("HttpOnly; SameSite=Strict") && entered.contains("location: /"), "{entered}");
    let cookie = format!("Cookie: other=1; columnar-token={token}\r\n");
    assert!(server.get("/flow/key:/report", &cookie).contains("Since Monday."));
    assert!(refused(&["serve", store, "--listen", "0.0.0.0:0"]).contains("COLUMNAR_TOKEN"));
}
