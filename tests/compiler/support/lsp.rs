//! A client of rust-analyzer, as an editor is one.
//!
//! ```text
//! Editor ── JSON-RPC ──▶ rust-analyzer ──▶ the proc macro that this test was built with
//! ```
//!
//! The edited program is one file. The client describes it and the library to the server, which therefore runs no
//! `cargo` and does not know the dependencies of the library.
#![expect(clippy::indexing_slicing, reason = "an index that JSON lacks is null")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use serde_json::{Value, json};

use crate::rustc::newest;

/// The longest wait for an answer; a busy machine is slow.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The error "content modified", after which the request is repeated.
const MODIFIED: i64 = -32801;

/// An open file.
#[derive(Debug)]
pub struct Editor {
    server: Child,
    requests: ChildStdin,
    messages: Receiver<Value>,
    path: PathBuf,
    /// The version of the text.
    version: u64,
    requested: u64,
    /// The kinds of tokens, by the number that the server gives them.
    kinds: Vec<String>,
}

/// A position in the file, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column, for ASCII text.
    pub column: usize,
}

impl Editor {
    /// Opens a new file in `folder`. `None` without rust-analyzer or the source of the standard library.
    ///
    /// # Panics
    ///
    /// If the server does not become idle.
    pub fn open(folder: &Path) -> Option<Self> {
        let sysroot = sysroot()?;
        let version = Command::new("rust-analyzer").arg("--version").output();
        let runs = version.is_ok_and(|version| version.status.success());
        if !runs || !sysroot.join("lib/rustlib/src/rust/library").is_dir() {
            return None;
        }
        fs::create_dir_all(folder).expect("the target folder can be written to");
        let path = folder.join("edited.rs");
        fs::write(&path, "").expect("the target folder can be written to");
        let mut server = Command::new("rust-analyzer");
        let server =
            server.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut server = server.spawn().ok()?;
        let requests = server.stdin.take()?;
        let mut answers = BufReader::new(server.stdout.take()?);
        let (sender, messages) = channel();
        thread::spawn(
            move || while read(&mut answers).is_some_and(|message| sender.send(message).is_ok()) {},
        );
        let mut editor =
            Self { server, requests, messages, path, version: 0, requested: 0, kinds: Vec::new() };
        editor.begin(&project(&editor.path, &sysroot)?);
        Some(editor)
    }

    fn begin(&mut self, project: &Value) {
        let uri = self.uri();
        let answer = self.request(
            "initialize",
            &json!({
                "processId": null,
                "rootUri": null,
                "capabilities": {
                    "experimental": { "serverStatusNotification": true },
                    "textDocument": {
                        "hover": { "contentFormat": ["markdown"] },
                        "semanticTokens": {
                            "requests": { "full": true },
                            "tokenTypes": [],
                            "tokenModifiers": [],
                            "formats": ["relative"],
                            "augmentsSyntaxTokens": false,
                        },
                    },
                },
                "initializationOptions": {
                    "linkedProjects": [project],
                    "checkOnSave": false,
                    "cachePriming": { "enable": false },
                    "completion": { "autoimport": { "enable": false }, "postfix": { "enable": false } },
                    "semanticHighlighting": { "punctuation": {
                        "enable": true,
                        "specialization": { "enable": true },
                    } },
                },
            }),
        );
        let kinds = &answer["capabilities"]["semanticTokensProvider"]["legend"]["tokenTypes"];
        let kinds = kinds.as_array().cloned().unwrap_or_default();
        self.kinds = kinds.iter().filter_map(|kind| Some(kind.as_str()?.to_owned())).collect();
        self.notify("initialized", &json!({}));
        let document = json!({ "uri": uri, "languageId": "rust", "version": 0, "text": "" });
        self.notify("textDocument/didOpen", &json!({ "textDocument": document }));
        let until = Instant::now() + TIMEOUT;
        loop {
            let message = self.next(until);
            let is_status = message["method"] == "experimental/serverStatus";
            if is_status && message["params"]["quiescent"] == true {
                return;
            }
        }
    }

    /// Replaces the text of the file, and returns the position of the cursor `¦` in it.
    ///
    /// # Panics
    ///
    /// If the text has no cursor.
    pub fn write(&mut self, text: &str) -> Position {
        let (before, after) = text.split_once('¦').expect("there is a cursor");
        self.version += 1;
        let (uri, version) = (self.uri(), self.version);
        let changes = json!([{ "text": format!("{before}{after}") }]);
        let document = json!({ "uri": uri, "version": version });
        self.notify(
            "textDocument/didChange",
            &json!({ "textDocument": document, "contentChanges": changes }),
        );
        let line = before.rsplit('\n').next().unwrap_or_default();
        Position { line: before.matches('\n').count(), column: line.len() }
    }

    /// The completions at a position: for each its label and its kind.
    pub fn completions(&mut self, at: Position) -> Vec<(String, u64)> {
        let answer = self.request_at("textDocument/completion", at, json!({}));
        let items = answer["items"].as_array().or(answer.as_array()).cloned().unwrap_or_default();
        let label = |item: &Value| Some((item["label"].as_str()?.to_owned(), item["kind"].as_u64()?));
        items.iter().filter_map(label).collect()
    }

    /// The hover text of a word.
    pub fn hover(&mut self, at: Position) -> String {
        let answer = self.request_at("textDocument/hover", at, json!({}));
        answer["contents"]["value"].as_str().unwrap_or_default().to_owned()
    }

    /// The definition of a word.
    pub fn definition(&mut self, at: Position) -> Vec<Position> {
        positions(&self.request_at("textDocument/definition", at, json!({})))
    }

    /// The references to a word, with its declaration.
    pub fn references(&mut self, at: Position) -> Vec<Position> {
        let context = json!({ "context": { "includeDeclaration": true } });
        positions(&self.request_at("textDocument/references", at, context))
    }

    /// The positions that renaming this word changes.
    ///
    /// # Panics
    ///
    /// If it changes another file.
    pub fn rename(&mut self, at: Position) -> Vec<Position> {
        let answer = self.request_at("textDocument/rename", at, json!({ "newName": "other" }));
        let uri = self.uri();
        let by_document = answer["documentChanges"].as_array().cloned().unwrap_or_default();
        let by_file = answer["changes"].as_object().cloned().unwrap_or_default();
        let is_other = |file: &str| assert_eq!(file, uri, "a rename edits another file");
        by_document.iter().filter_map(|change| change["textDocument"]["uri"].as_str()).for_each(is_other);
        by_file.keys().map(String::as_str).for_each(is_other);
        positions(by_document.first().map_or(&answer["changes"][&uri], |change| &change["edits"]))
    }

    /// Whether the server refuses to rename this word.
    pub fn refuses_to_rename(&mut self, at: Position) -> bool {
        self.send_at("textDocument/rename", at, json!({ "newName": "Other" })).is_err()
    }

    /// The signature of the call around a position.
    pub fn signature(&mut self, at: Position) -> String {
        let answer = self.request_at("textDocument/signatureHelp", at, json!({}));
        answer["signatures"][0]["label"].as_str().unwrap_or_default().to_owned()
    }

    /// The kind of each word and sign, as an editor colours them.
    pub fn colours(&mut self) -> BTreeMap<Position, String> {
        let params = json!({ "textDocument": { "uri": self.uri() } });
        let answer = self.request("textDocument/semanticTokens/full", &params);
        let numbers = answer["data"].as_array().cloned().unwrap_or_default();
        let numbers: Vec<usize> =
            numbers.iter().filter_map(|number| usize::try_from(number.as_u64()?).ok()).collect();
        let mut at = Position { line: 0, column: 0 };
        let tokens = numbers.as_chunks::<5>().0.iter().map(|&[lines, columns, _, kind, _]| {
            let column = if lines == 0 { at.column } else { 0 };
            at = Position { line: at.line + lines, column: column + columns };
            (at, self.kinds.get(kind).cloned().unwrap_or_default())
        });
        tokens.collect()
    }

    fn uri(&self) -> String {
        format!("file://{}", self.path.display())
    }

    fn request_at(&mut self, method: &str, at: Position, more: Value) -> Value {
        self.send_at(method, at, more).expect(method)
    }

    fn send_at(&mut self, method: &str, at: Position, more: Value) -> Result<Value, Value> {
        let mut params = json!({
            "textDocument": { "uri": self.uri() },
            "position": { "line": at.line, "character": at.column },
        });
        if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
            params.extend(more);
        }
        self.answer(method, &params)
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.answer(method, params).expect(method)
    }

    /// Sends a request and waits for the response, or its error. Answers requests of the server meanwhile.
    fn answer(&mut self, method: &str, params: &Value) -> Result<Value, Value> {
        let until = Instant::now() + TIMEOUT;
        loop {
            self.requested += 1;
            let id = self.requested;
            self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            let mut message = loop {
                let message = self.next(until);
                if message["id"] == id && message["method"].is_null() {
                    break message;
                }
            };
            if message["error"]["code"] != MODIFIED {
                let error = message["error"].take();
                return if error.is_null() { Ok(message["result"].take()) } else { Err(error) };
            }
        }
    }

    fn notify(&mut self, method: &str, params: &Value) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let sent = write!(self.requests, "Content-Length: {}\r\n\r\n{body}", body.len());
        sent.and_then(|()| self.requests.flush()).expect("the server listens");
    }

    /// The next message. A request of the server is answered with `null`.
    fn next(&mut self, until: Instant) -> Value {
        let left = until.saturating_duration_since(Instant::now());
        let message = self.messages.recv_timeout(left).expect("the server answers");
        if !message["method"].is_null() && !message["id"].is_null() {
            self.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": null }));
        }
        message
    }
}

/// All positions of a word in a program, outside of texts and doc comments.
pub fn mentions(program: &str, word: &str) -> Vec<Position> {
    let is_letter =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let text = program.replace('¦', "");
    let mut positions = Vec::new();
    for (line, text) in text.lines().enumerate() {
        for (column, _) in text.match_indices(word) {
            let (before, after) = (&text[..column], &text[column + word.len()..]);
            let is_word = !is_letter(before.chars().last()) && !is_letter(after.chars().next());
            let is_text = before.matches('"').count() % 2 == 1 || text.starts_with("///");
            if is_word && !is_text {
                positions.push(Position { line, column });
            }
        }
    }
    positions
}

impl Drop for Editor {
    fn drop(&mut self) {
        let ended = self.server.kill().and_then(|()| self.server.wait());
        if let Err(error) = ended {
            eprintln!("rust-analyzer could not be ended: {error}");
        }
    }
}

fn read(answers: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        answers.read_line(&mut line).ok().filter(|read| *read > 0)?;
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", bytes)) => length = bytes.parse().ok()?,
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    answers.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

fn positions(locations: &Value) -> Vec<Position> {
    let one = |location: &Value| {
        let start = ["range", "targetSelectionRange"].iter().map(|range| &location[*range]["start"]);
        let start = start.clone().find(|start| !start.is_null())?;
        let number = |name: &str| usize::try_from(start[name].as_u64()?).ok();
        Some(Position { line: number("line")?, column: number("character")? })
    };
    let mut positions: Vec<Position> = match locations {
        Value::Array(locations) => locations.iter().filter_map(one).collect(),
        location => one(location).into_iter().collect(),
    };
    positions.sort_unstable();
    positions
}

fn sysroot() -> Option<PathBuf> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "sysroot"]).output().ok()?;
    Some(PathBuf::from(String::from_utf8(output.stdout).ok()?.trim()))
}

/// The project: the file, the library and the macro.
fn project(file: &Path, sysroot: &Path) -> Option<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.parent()?;
    let deps = env::current_exe().ok()?.parent()?.to_owned();
    let (start, end) = (format!("{}columnar_macros-", env::consts::DLL_PREFIX), env::consts::DLL_SUFFIX);
    let dylib = newest(&deps, &start, end)?;
    Some(json!({
        "sysroot": sysroot,
        "sysroot_src": sysroot.join("lib/rustlib/src/rust/library"),
        "crates": [
            {
                "display_name": "columnar_macros",
                "root_module": root.join("columnar-macros/src/lib.rs"),
                "edition": "2024",
                "is_proc_macro": true,
                "proc_macro_dylib_path": dylib,
                "deps": [],
            },
            {
                "display_name": "columnar",
                "root_module": root.join("columnar/src/lib.rs"),
                "edition": "2024",
                "deps": [{ "crate": 0, "name": "columnar_macros" }],
            },
            {
                "display_name": "edited",
                "root_module": file,
                "edition": "2024",
                "deps": [{ "crate": 1, "name": "columnar" }],
            },
        ],
    }))
}
