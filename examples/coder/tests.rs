//! Chats over temporary folders.

use std::collections::{BTreeSet, VecDeque};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};

use columnar::documents::Update;
use columnar::model::{Chunk, Model, Request};
use futures::stream::{self, BoxStream};
use tempfile::TempDir;

use super::blocks::{Answer, Block};
use super::edits;
use super::*;

/// A model with prepared answers, which keeps the last text of each request.
#[derive(Clone, Default)]
struct Says {
    answers: Arc<Mutex<VecDeque<String>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Says {
    fn new(answers: &[&str]) -> Self {
        let answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
        Self { answers: Arc::new(Mutex::new(answers)), asked: Arc::default() }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Model for Says {
    fn name(&self) -> &'static str {
        "says"
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let asked = request.messages.last_text().into_owned();
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        let answer = self.answers.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
        let chunks = match answer {
            Some(answer) => vec![Ok(Chunk::Text(answer)), Ok(Chunk::stop())],
            None => vec![Err("it has nothing to say".into())],
        };
        stream::iter(chunks).boxed()
    }
}

fn folder(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a folder is made");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("its folder is made");
        fs::write(path, text).expect("it is written");
    }
    root
}

fn text(root: &TempDir, path: &str) -> String {
    fs::read_to_string(root.path().join(path)).unwrap_or_else(|error| error.kind().to_string())
}

async fn session(coder: Coder, root: &TempDir, model: impl Model + 'static) -> Session<Vec<u8>> {
    coder.set_model(model);
    let root = root.path().canonicalize().expect("it is there");
    Session::new(coder, &root, None, EXAMPLE, Vec::new()).await.expect("the chat is sound")
}

/// The output of the next line.
async fn run(session: &mut Session<Vec<u8>>, line: &str) -> String {
    session.out.clear();
    session.run(line).await.expect("the chat goes on");
    String::from_utf8(session.out.clone()).expect("text was written")
}

fn block(path: &str, search: &str, replace: &str) -> String {
    format!("{path}\n```\n<<<<<<< SEARCH\n{search}=======\n{replace}>>>>>>> REPLACE\n```\n")
}

/// A block in the form that the tests compare.
fn shown(block: &Block) -> String {
    format!("{} {}: {} → {}", block.line, block.path, block.search.join("|"), block.replace.join("|"))
}

#[test]
fn blocks_are_read_in_the_forms_in_which_models_write_them() {
    let marked = |inside: &str| format!("<<<<<<< SEARCH\n{inside}\n>>>>>>> REPLACE");
    let one = marked("a\n=======\nb");
    for (answer, prose, blocks) in [
        ("No edits.".to_owned(), "No edits.", &[][..]),
        (
            format!("Done.\n\nsrc/a.rs\n```rust\n{one}\n```\n\nThat is it."),
            "Done.\n\nThat is it.",
            &["5 src/a.rs: a → b"],
        ),
        (format!("```\nsrc/a.rs\n{one}\n```"), "", &["3 src/a.rs: a → b"]),
        (
            format!("Now:\r\n\r\n**`a b.rs`:**\r\n````\r\n{}\r\n````\r\n", one.replace('\n', "\r\n")),
            "Now:",
            &["5 a b.rs: a → b"],
        ),
        (format!("a.rs\n{one}"), "", &["2 a.rs: a → b"]),
        // Several blocks: in one fence, in one file, in several files.
        (
            format!("a.rs\n```\n{one}\n{one}\n```\n```\n{one}\n```\nb.rs\n```\n{one}\n```"),
            "",
            &["3 a.rs: a → b", "8 a.rs: a → b", "15 a.rs: a → b", "23 b.rs: a → b"],
        ),
        (format!("a.rs\n```\n{}\n```", marked("=======\n  new\n")), "", &["3 a.rs:  →   new|"]),
        (format!("a.rs\n```\n{}\n```", marked("old\n=======")), "", &["3 a.rs: old → "]),
        // A text with lines like the markers.
        (
            "a.md\n```\n<<<<<<<<< SEARCH\nTitle\n=======\n=========\nName\n=======\n>>>>>>>>> REPLACE\n```"
                .to_owned(),
            "",
            &["3 a.md: Title|======= → Name|======="],
        ),
    ] {
        let parsed = Answer::parse(&answer);
        let found: Vec<String> = parsed.blocks.iter().map(shown).collect();
        assert_eq!(
            (&*parsed.prose, found, parsed.faults),
            (prose, blocks.iter().map(ToString::to_string).collect(), vec![]),
            "{answer}"
        );
    }
}

#[test]
fn a_broken_block_is_named_by_its_line() {
    for (answer, fault) in [
        (
            "a.rs\n```\n<<<<<<< SEARCH\na\n=======\nb\n```",
            "line 3 of the answer: no line `>>>>>>> REPLACE` ends the block",
        ),
        (
            "a.rs\n```\n<<<<<<< SEARCH\na\n>>>>>>> REPLACE\n```",
            "line 3 of the answer: no line `=======` divides the block",
        ),
        (
            "a.rs\n```\n<<<<<<< SEARCH\na\n=======\nb\n=======\n>>>>>>> REPLACE\n```",
            "line 3 of the answer: several lines `=======` could divide the block: use longer markers",
        ),
        (
            "a.rs\n```\n<<<<<<< SEARCH\na\n<<<<<<< SEARCH\nb\n=======\n>>>>>>> REPLACE\n```",
            "line 3 of the answer: another block begins before `>>>>>>> REPLACE`: end the first one, or use longer markers",
        ),
        (
            "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n",
            "line 1 of the answer: no path and no fence are before the block",
        ),
        (
            "Here it is:\n<<<<<<< SEARCH\n=======\nb\n>>>>>>> REPLACE\n",
            "line 2 of the answer: no path and no fence are before the block",
        ),
    ] {
        let faults = Answer::parse(answer).faults;
        assert_eq!(faults.first().map(String::as_str), Some(fault), "{answer}");
    }
}

/// The fault of a block, or the text of the file after the edit.
fn edited(before: &str, search: &str, replace: &str) -> String {
    let root = folder(&[("a.txt", before)]);
    let blocks = Answer::parse(&block("a.txt", search, replace)).blocks;
    match edits::plan(root.path(), &BTreeSet::from(["a.txt".to_owned()]), &blocks) {
        Ok(edits) => edits::write(root.path(), &edits).map_or_else(|fault| fault, |()| text(&root, "a.txt")),
        Err(faults) => faults.concat(),
    }
}

#[test]
fn a_block_replaces_whole_lines_that_are_there_once() {
    for (before, search, replace, after) in [
        ("a\nb\nc\n", "b\n", "B\nBB\n", "a\nB\nBB\nc\n"),
        ("a\nb\nc\n", "b\nc\n", "", "a\n"),
        ("a\nb", "b\n", "B\n", "a\nB"),
        ("a\r\nb\r\nc\r\n", "b\n", "B\nBB\n", "a\r\nB\r\nBB\r\nc\r\n"),
        ("ab\nb\n", "b\n", "B\n", "ab\nB\n"),
        ("", "", "a\n", "a\n"),
    ] {
        assert_eq!(edited(before, search, replace), after, "{before:?}");
    }
    for (before, search, fault) in [
        ("a\nb\n", "c\n", "the file has no line `c`, which SEARCH has"),
        ("a\nb\n", "b\na\n", "the lines of SEARCH are in the file, but not one after the other"),
        ("a\nb\na\n", "a\n", "SEARCH is there 2 times, at the lines 1, 3"),
        ("a\n", "", "the file is there, and SEARCH names none of its lines"),
    ] {
        let expected = format!("the block at line 3 of the answer, a.txt: {fault}");
        assert_eq!(edited(before, search, "new\n"), expected);
    }
}

/// A model could name any file of the machine, and one that git runs.
#[cfg(unix)]
#[test]
fn no_edit_leaves_the_folder_or_changes_a_file_that_is_not_selected() {
    let (root, outside) =
        (folder(&[("a.txt", "a\n"), ("a b.txt", "a\n"), ("sub/b.txt", "b\n")]), folder(&[("secret", "a\n")]));
    std::os::unix::fs::symlink(outside.path(), root.path().join("folder")).expect("a link is made");
    std::os::unix::fs::symlink(outside.path().join("secret"), root.path().join("file"))
        .expect("a link is made");
    for (path, fault) in [
        ("../secret", "contains `..`"),
        ("/tmp/secret", "is absolute"),
        (".git/hooks/pre-commit", "files of git are not edited"),
        ("sub/.GIT/config", "files of git are not edited"),
        ("folder/secret", "`folder` is a link"),
        ("folder/new", "`folder` is a link"),
        ("file", "`file` is a link"),
        ("a.txt", "`/add a.txt` selects it"),
        ("a b.txt", "`/add 'a b.txt'` selects it"),
        ("sub", "is a directory"),
        ("a.txt/new", "ot a directory"),
        ("new.txt", "there is no such file"),
    ] {
        for search in ["a\n", ""] {
            let blocks = Answer::parse(&block(path, search, "new\n")).blocks;
            match edits::plan(root.path(), &BTreeSet::new(), &blocks) {
                Err(faults) => assert!(
                    faults.concat().to_lowercase().contains(&fault.to_lowercase()),
                    "{path}: {faults:?}"
                ),
                Ok(_) => assert_eq!((path, search), ("new.txt", ""), "a new file has an empty SEARCH"),
            }
        }
    }
    assert_eq!(text(&outside, "secret"), "a\n");
}

/// The text went through a hard link into a file outside of the folder.
#[cfg(unix)]
#[test]
fn a_selected_hard_link_is_replaced_and_not_written_through() {
    use std::os::unix::fs::PermissionsExt;

    let (root, outside) = (folder(&[]), folder(&[("secret", "a\n")]));
    let link = root.path().join("link");
    fs::set_permissions(outside.path().join("secret"), PermissionsExt::from_mode(0o640))
        .expect("it is there");
    fs::hard_link(outside.path().join("secret"), &link).expect("a link is made");
    let blocks = Answer::parse(&block("link", "a\n", "new\n")).blocks;
    let edits =
        edits::plan(root.path(), &BTreeSet::from(["link".to_owned()]), &blocks).expect("it is selected");
    edits::write(root.path(), &edits).expect("it can be written");
    assert_eq!((text(&root, "link").as_str(), text(&outside, "secret").as_str()), ("new\n", "a\n"));
    assert_eq!(fs::metadata(link).expect("it is there").permissions().mode() & 0o777, 0o640);
    edits::undo(root.path(), &edits).expect("nothing has changed");
    assert_eq!(text(&root, "link"), "a\n");
}

#[tokio::test]
async fn an_answer_is_applied_as_a_whole_and_its_fault_goes_into_the_next_request() -> Result<(), BoxError> {
    let root = folder(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let broken = block("a.txt", "one\n", "1\n") + &block("b.txt", "three\n", "3\n");
    let mended = "Now.\n\n".to_owned() + &block("a.txt", "one\n", "1\n") + &block("b.txt", "two\n", "2\n");
    let model = Says::new(&[&broken, &mended, "Yes."]);
    let mut session = session(Coder::new(), &root, model.clone()).await;
    let fault = "the block at line 11 of the answer, b.txt: the file has no line `three`, which SEARCH has";
    let shown = run(&mut session, "Write numbers in a.txt and `b.txt`.").await;
    assert!(shown.starts_with("selected: a.txt, b.txt\nin full: a.txt, b.txt\n"), "{shown}");
    assert!(shown.contains(&format!("\nnothing is written:\n{fault}\n")), "{shown}");
    assert_eq!((text(&root, "a.txt"), text(&root, "b.txt")), ("one\n".into(), "two\n".into()));

    let shown = run(&mut session, "Again.").await;
    assert!(shown.starts_with("Now.\nedited a.txt\n- one\n+ 1\nedited b.txt\n- two\n+ 2\n"), "{shown}");
    assert_eq!((text(&root, "a.txt"), text(&root, "b.txt")), ("1\n".into(), "2\n".into()));
    run(&mut session, "Thanks.").await;
    let [_, again, thanks] = &model.asked()[..] else { return Err("there were three requests".into()) };
    assert!(
        again.contains(&format!("Nothing of your last answer was written:\n{fault}\n\nAgain.")),
        "{again}"
    );
    assert!(!thanks.contains("Nothing of"), "{thanks}");
    Ok(())
}

/// The disk may refuse the second file after the first one was written.
#[test]
fn files_are_as_before_if_one_cannot_be_written() {
    let root = folder(&[("a.txt", "one\n")]);
    let blocks =
        [block("a.txt", "one\n", "1\n"), block("new", "", "b\n"), block("new/b", "", "b\n")].concat();
    let selected = BTreeSet::from(["a.txt".to_owned()]);
    let edits =
        edits::plan(root.path(), &selected, &Answer::parse(&blocks).blocks).map_err(|faults| faults.concat());
    let fault = edits.and_then(|edits| edits::write(root.path(), &edits)).expect_err("`new` is a file");
    assert!(fault.starts_with("new/b: ") && !fault.contains("damaged"), "{fault}");
    assert_eq!((text(&root, "a.txt"), text(&root, "new")), ("one\n".into(), "entity not found".into()));
}

#[tokio::test]
async fn edits_are_taken_back_unless_the_file_changed() -> Result<(), BoxError> {
    let root = folder(&[("a.txt", "one\n")]);
    let both = block("a.txt", "one\n", "1\n") + &block("new/b.txt", "", "b\n");
    let model = Says::new(&[&both, &block("a.txt", "one\n", "1\n"), "Yes."]);
    let mut session = session(Coder::new(), &root, model.clone()).await;
    assert_eq!(run(&mut session, "/undo").await, "no edits of this session are left\n");
    run(&mut session, "Write numbers in a.txt.").await;
    assert_eq!((text(&root, "a.txt"), text(&root, "new/b.txt")), ("1\n".into(), "b\n".into()));
    assert!(run(&mut session, "/files").await.starts_with("a.txt\nnew/b.txt\n2 of "));
    assert_eq!(run(&mut session, "/undo").await, "undone: a.txt, new/b.txt\n");
    assert_eq!((text(&root, "a.txt"), text(&root, "new/b.txt")), ("one\n".into(), "entity not found".into()));

    run(&mut session, "Write them in a.txt alone.").await;
    fs::write(root.path().join("a.txt"), "1 and mine\n")?;
    assert_eq!(run(&mut session, "/undo").await, "nothing is undone: a.txt changed meanwhile\n");
    assert_eq!(text(&root, "a.txt"), "1 and mine\n");
    let note = "The person took your edits of these files back: a.txt, new/b.txt\n\nWrite them";
    assert!(model.asked().last().is_some_and(|asked| asked.contains(note)), "{:?}", model.asked());
    Ok(())
}

#[tokio::test]
async fn the_next_request_has_the_edits_of_a_person() -> Result<(), BoxError> {
    let root = folder(&[("a.txt", "one\n"), ("b.txt", "two\n")]);
    let mut session = session(Coder::new(), &root, Editor).await;
    run(&mut session, "/add a.txt b.txt").await;
    let shown = run(&mut session, "Replace `one` with `1` in `a.txt`").await;
    assert!(shown.contains("edited a.txt\n- one\n+ 1\n"), "{shown}");
    fs::write(root.path().join("a.txt"), "1\nmine\n")?;
    let shown = run(&mut session, "Replace `mine` with `yours` in `a.txt`").await;
    assert!(shown.starts_with("changed: a.txt\nDone.\nedited a.txt\n- mine\n+ yours\n"), "{shown}");
    assert_eq!(text(&root, "a.txt"), "1\nyours\n");

    fs::remove_file(root.path().join("b.txt"))?;
    let shown = run(&mut session, "Replace `1` with `one` in `a.txt`").await;
    assert!(shown.contains("b.txt") && shown.contains("the request is not sent"), "{shown}");
    assert_eq!(text(&root, "a.txt"), "1\nyours\n");
    assert_eq!(run(&mut session, "/drop b.txt").await, "selected no more: b.txt\n");
    let shown = run(&mut session, "Replace `1` with `one` in `a.txt`").await;
    assert!(shown.starts_with("changed: a.txt\nnot in full: b.txt\n"), "{shown}");
    assert_eq!(text(&root, "a.txt"), "one\nyours\n");
    Ok(())
}

#[tokio::test]
async fn the_offline_model_edits_texts_that_look_like_its_answers() {
    let root = folder(&[]);
    let mut session = session(Coder::new(), &root, Editor).await;
    for (before, request, after) in [
        ("one\n=======\none\n", "Replace `one` with `1` in `a.txt`", "1\n=======\n1\n"),
        (
            "a\n<<<<<<< SEARCH\n=======\n",
            "Replace `SEARCH` with `FIND` in `a.txt`",
            "a\n<<<<<<< FIND\n=======\n",
        ),
        ("# Files\n\nb.txt\n```\none\n```\n", "Rename `one` to `1`", "# Files\n\nb.txt\n```\n1\n```\n"),
        ("one\r\n\r\nthe one\r\nnone", "Rename `one` to `1`", "1\r\n\r\nthe 1\r\nnone"),
        ("  a\n  a\n", "Add line `b` after `a` in `a.txt`", "  a\n  b\n  a\n"),
        ("a\n\n\na", "Replace `a` with `b` in `a.txt`.", "b\n\n\nb"),
    ] {
        fs::write(root.path().join("a.txt"), before).expect("it is written");
        run(&mut session, "/add a.txt").await;
        let shown = run(&mut session, request).await;
        assert_eq!(text(&root, "a.txt"), after, "{request}\n{shown}");
    }
}

#[tokio::test]
async fn a_chat_that_is_opened_again_goes_on_where_it_stopped() -> Result<(), BoxError> {
    let (root, chat) = (folder(&[("a.txt", "one\n"), ("b.txt", "two\n")]), tempfile::tempdir()?);
    let folder = root.path().canonicalize()?;
    let mut first = session(open(chat.path(), &folder).await?, &root, Editor).await;
    run(&mut first, "Replace `one` with `1` in `a.txt`").await;
    drop(first);
    let mut again = session(open(chat.path(), &folder).await?, &root, Editor).await;
    let shown = String::from_utf8(again.out.clone())?;
    assert!(shown.starts_with("requests so far: 1, selected files: 1\nfiles: 2, skipped: 0\n"), "{shown}");
    let shown = run(&mut again, "Replace `1` with `I` in `a.txt`").await;
    assert!(shown.starts_with("changed: a.txt\nDone.\nedited a.txt\n- 1\n+ I\n"), "{shown}");
    drop(again);

    // A process that ended before the answer.
    let coder = open(chat.path(), &folder).await?;
    coder.files.push(Update::new().file("a.txt", "I\n")).await?;
    coder.user.push("Replace `I` with `II` in `a.txt`").await?;
    drop(coder);
    let again = session(open(chat.path(), &folder).await?, &root, Editor).await;
    let shown = String::from_utf8(again.out.clone())?;
    assert!(shown.contains("edited a.txt\n- I\n+ II\n"), "{shown}");
    assert_eq!(text(&root, "a.txt"), "II\n");
    drop(again);

    let error = open(&folder.join("chat"), &folder).await.map(drop).expect_err("it is inside");
    assert!(error.to_string().contains("choose another"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_mistake_is_a_message_and_the_chat_goes_on() {
    let root = folder(&[("src/a.txt", "one\n"), ("src/b.txt", "two\n"), ("c.txt", "three\n")]);
    let hostile = "\u{1b}[2J\u{9b}31m\rpaid\u{202e}";
    let model = Says::new(&[&block("src/a.txt", "one\n", hostile), "Yes."]);
    let mut session = session(Coder::new(), &root, model).await;
    for (line, shown) in [
        ("/add 'src/a.txt", "a quote is not closed\n"),
        ("/nonesuch", "there is no command `/nonesuch`; /help shows all of them\n"),
        ("/add", "it needs more: /add PATH…\n"),
        ("/add d.txt", "nothing is selected:\n`d.txt` is missing: create it, or do not select it\n"),
        ("/drop c.txt", "c.txt is not selected; /files shows the files that are\n"),
        ("/breakdown", "there was no request yet\n"),
        (
            "/add c.txt ../e.txt",
            "nothing is selected:\n`../e.txt` is outside of the repository: name a file of the repository\n",
        ),
        ("/add ./src/a.txt", "selected: src/a.txt\n"),
        ("/add ./src", "selected: src/b.txt\n"),
        ("/add src/", "selected: nothing new\n"),
        ("/drop src/b.txt", "selected no more: src/b.txt\n"),
        ("/files", "src/a.txt\n1 of 3 files are selected\n"),
    ] {
        assert_eq!(run(&mut session, line).await, shown, "{line}");
    }
    let shown = run(&mut session, "Write it.").await;
    assert!(shown.contains("\\u{1b}[2J\\u{9b}31m\\u{d}paid\\u{202e}"), "{shown}");
    assert_eq!(printable(&shown), shown);
    run(&mut session, "Done?").await;
}

#[tokio::test]
async fn paths_with_spaces_are_quoted() {
    let root = folder(&[("my notes/one.txt", "one\n"), ("it's.txt", "two\n")]);
    let mut session = session(Coder::new(), &root, Says::default()).await;
    for (line, shown) in [
        ("/add 'my notes' \"it's.txt\"", "selected: it's.txt, my notes/one.txt\n"),
        ("/drop my\\ notes/one.txt", "selected no more: my notes/one.txt\n"),
        ("/files", "it's.txt\n1 of 2 files are selected\n"),
    ] {
        assert_eq!(run(&mut session, line).await, shown, "{line}");
    }
}

#[tokio::test]
async fn the_map_may_have_another_limit() -> Result<(), BoxError> {
    for (arguments, fault) in [
        (&["--map"][..], "--map needs a number such as 8000, and has ``"),
        (&["--map", "all"], "--map needs a number such as 8000, and has `all`"),
        (&["--map", "-1", "folder"], "--map needs a number such as 8000, and has `-1`"),
        (&["--mop", "1"], "no option `--mop`; possible are FOLDER, CHAT, --map TOKENS, --help"),
        (&["a", "b", "c"], "there can be one FOLDER and one CHAT only"),
    ] {
        let error = start(arguments.iter().collect(), Vec::new()).await.expect_err("it is a mistake");
        assert_eq!(error.to_string(), fault);
    }
    let root = folder(&[("a.rs", "pub fn parse() {}\n")]);
    for (map, has_entry) in [(None, true), (Some(0), false)] {
        let coder = Coder::new();
        coder.set_model(Says::new(&["Yes."]));
        let mut session = Session::new(coder, &root.path().canonicalize()?, map, EXAMPLE, Vec::new()).await?;
        let shown = run(&mut session, "Is there a parser?").await;
        assert_eq!(shown.contains("entries of the map: 1 added"), has_entry, "{map:?}\n{shown}");
    }
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_request_without_an_answer_does_not_end_the_chat() {
    let root = folder(&[("a.txt", "one\n")]);
    let mut session = session(Coder::new(), &root, Says::default()).await;
    let shown = run(&mut session, "Anybody?").await;
    assert!(shown.contains("once more, after: ") && shown.contains("there is no answer: "), "{shown}");
    let shown = run(&mut session, "Anybody?").await;
    assert!(shown.contains("there is no answer: "), "{shown}");
}

#[tokio::test]
async fn the_included_session_edits_files_and_moves_them_between_tiers() -> Result<(), BoxError> {
    let copy = included::copy()?;
    let mut session = session(Coder::new(), &copy, Editor).await;
    included::play(&mut session).await?;
    let shown = String::from_utf8(session.out)?;
    let notes = "# Notes\n\nThe journal counts its entries.\nThe debate prints its bill.\nThe chat breaks its lines.\nThat is all.\n";
    assert_eq!(text(&copy, "examples/NOTES.md"), notes);
    assert!(text(&copy, "examples/journal.rs").contains("{} entries in all, in {}"));
    let support = text(&copy, "examples/support.rs");
    assert!(support.contains("fn is_pipe_closed") && support.contains("pub fn describe("), "{support}");
    for part in [
        "selected: columnar/src/terminal/wrap.rs\n",
        "examples/debate.rs active → L3",
        "examples/support.rs active → L3",
        "examples/journal.rs active → L3",
        "examples/journal.rs L3 → active",
        "computed for anthropic/claude-sonnet-5, not measured: ",
        "undone: examples/support.rs\n",
        "\ntotal ",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
    assert_eq!(shown.matches("I am no intelligence").count(), 1, "{shown}");
    assert_eq!(shown.matches("I do not see that text").count(), 0, "{shown}");
    Ok(())
}

/// The prices of the model are 2 dollars for a million tokens in and 10 for a million tokens out, 0.2 for cached tokens
/// and 4 for tokens that are kept for an hour.
#[tokio::test]
async fn costs_are_those_of_marks_at_the_prices_of_the_model() -> Result<(), BoxError> {
    let root = folder(&[("a.txt", &"A line of a text.\n".repeat(400))]);
    let mut session = session(Coder::new(), &root, Says::new(&["Yes."; 6])).await;
    let mut shown = Vec::new();
    for _ in 0..6 {
        let lines = run(&mut session, "Is a.txt good?").await;
        let lines = lines.split_once("not measured: ").map(|(_, lines)| lines.to_owned());
        shown.push(lines.ok_or("there are costs")?);
    }
    let figures = |line: &str| -> Vec<f64> {
        let figures =
            line.split(|c: char| !c.is_ascii_digit() && c != '.').map(|figure| figure.trim_end_matches('.'));
        figures.filter_map(|figure| figure.parse().ok()).collect()
    };
    let mut sums = [0.0; 2];
    for (at, lines) in shown.iter().enumerate() {
        let [input, read, written, output, cached, plain, session, session_plain] = figures(lines)[..] else {
            return Err(format!("other figures: {lines}").into());
        };
        // At the fourth step the file enters a tier with a mark, at the fifth the file is read from the cache.
        assert_eq!([read > 0.0, written > 0.0], [at > 3, at == 3], "{shown:#?}");
        let costs = [
            (input - read - written) * 2e-6 + read * 0.2e-6 + written * 4e-6 + output * 10e-6,
            input * 2e-6 + output * 10e-6,
        ];
        sums = [sums[0] + costs[0], sums[1] + costs[1]];
        for (figure, cost) in [cached, plain, session, session_plain].iter().zip([costs, sums].concat()) {
            assert!((figure - cost).abs() < 0.000_11, "{figure} {cost}\n{lines}");
        }
    }
    Ok(())
}
