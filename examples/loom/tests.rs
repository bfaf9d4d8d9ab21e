//! Conversations in temporary folders.

use columnar::loom::{NodeId, import};
use unicode_width::UnicodeWidthStr as _;

use super::*;

/// Opens a folder as the program does.
async fn session(folder: &Path) -> Session<Vec<u8>> {
    let loom = open(folder).await.expect("it is a tree, or empty");
    let asker = Arc::new(Asker::after(replies(&loom)));
    Session::new(loom, asker, Agent::new(INSTRUCTION), Vec::new()).expect("text can be written")
}

/// The output of a command.
async fn run(session: &mut Session<Vec<u8>>, line: &str) -> String {
    session.out.clear();
    session.run(line).await.expect("its mistakes are messages");
    String::from_utf8(session.out.clone()).expect("text was written")
}

/// The ids of the question and of the reply.
fn ids(output: &str) -> (NodeId, NodeId) {
    let (question, reply) = output.lines().last().and_then(|line| line.split_once(" → ")).expect(output);
    (question.parse().expect("an id"), reply.parse().expect("an id"))
}

async fn ask(session: &mut Session<Vec<u8>>, line: &str) -> (NodeId, NodeId) {
    ids(&run(session, line).await)
}

#[tokio::test]
async fn an_edit_and_another_reply_are_siblings() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut session = session(folder.path()).await;
    let (first, a) = ask(&mut session, "Who lives there?").await;
    let (again, b) = ask(&mut session, "/again").await;
    assert_eq!(again, first);
    let (second, c) = ask(&mut session, "A sailor.").await;
    let (edited, d) = ask(&mut session, "/edit A painter.").await;
    assert_ne!(edited, second);
    let tree = run(&mut session, "/tree").await;
    let expected = [
        format!("{first} human  Who lives there?"),
        format!("├ {a} model  What is special about \"lives\"?"),
        format!("└ {b} model  Who told you about \"lives\"?"),
        format!("  ├ {second} human  A sailor."),
        format!("  │ {c} model  Which came first, \"sailor\" or \"lives\"?"),
        format!("  └ {edited} human  A painter."),
        format!("    {d} model  Is \"painter\" the reason for \"lives\"?  ← you are here"),
    ];
    assert_eq!(tree.lines().collect::<Vec<_>>(), expected);
    let texts = [
        "Who lives there?",
        "Who told you about \"lives\"?",
        "A painter.",
        "Is \"painter\" the reason for \"lives\"?\n",
    ];
    assert_eq!(run(&mut session, "/buffer").await, texts.concat());
    Ok(())
}

#[tokio::test]
async fn a_request_is_shown_as_it_was() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut session = session(folder.path()).await;
    let (first, a) = ask(&mut session, "Who lives there?").await;
    let (_, before) = ask(&mut session, "A sailor.").await;
    let request = run(&mut session, &format!("/asked {before}")).await;
    let expected = "system: Answer in one or two sentences.\nuser: Who lives there?\nassistant: What is special \
                    about \"lives\"?\nuser: A sailor.\n";
    assert_eq!(request, expected);
    assert_eq!(
        run(&mut session, &format!("/exclude {a}")).await,
        format!("the next request does not have {a}\n")
    );
    let (_, after) = ask(&mut session, "/again").await;
    assert_eq!(run(&mut session, &format!("/asked {before}")).await, expected);
    let request = run(&mut session, &format!("/asked {after}")).await;
    assert_eq!(request, "system: Answer in one or two sentences.\nuser: Who lives there?\n\nA sailor.\n");
    assert!(run(&mut session, "/tree").await.contains("\"lives\"? (excluded)"));
    assert!(run(&mut session, &format!("/exclude {a}")).await.contains("the next request has"));
    assert!(run(&mut session, &format!("/asked {first}")).await.contains("a person wrote"));
    Ok(())
}

#[tokio::test]
async fn a_tree_that_is_opened_again_goes_on_where_it_stopped() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut first = session(folder.path()).await;
    let (_, a) = ask(&mut first, "Who lives there?").await;
    let (_, b) = ask(&mut first, "A sailor.").await;
    drop(first);

    let mut second = session(folder.path()).await;
    let greeting = String::from_utf8(second.out.clone())?;
    assert_eq!(greeting, format!("4 nodes so far; you are at {b}\n"));
    // The newest node is another one.
    assert!(run(&mut second, &format!("/go {a}")).await.contains(&format!("you are at {a} model")));
    drop(second);

    let mut third = session(folder.path()).await;
    assert!(String::from_utf8(third.out.clone())?.contains(&format!("you are at {a}")));
    let (_, c) = ask(&mut third, "A painter.").await;
    assert!(!run(&mut third, "/buffer").await.contains("sailor"));
    drop(third);

    let fourth = session(folder.path()).await;
    assert!(String::from_utf8(fourth.out.clone())?.ends_with(&format!("you are at {c}\n")));
    Ok(())
}

#[tokio::test]
async fn two_replies_are_beside_each_other() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut session = session(folder.path()).await;
    let (question, a) = ask(&mut session, "Who?").await;
    assert!(run(&mut session, "/compare").await.contains(&format!("{question} has no two continuations")));
    let (_, b) = ask(&mut session, "/again").await;
    let lines = run(&mut session, "/compare").await;
    let expected =
        [format!("{a} model"), format!("{b} model"), "What is special about".into(), "Who told you".into()];
    let found: Vec<&str> = lines.lines().flat_map(|line| line.split('│')).map(str::trim).collect();
    assert_eq!(found.len(), 4, "{lines}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(&expected), "{lines}");
    }
    // A word that is longer than a column, and characters that are two columns wide.
    let long = format!("{} {}", "x".repeat(50), "漢".repeat(60));
    run(&mut session, &long).await;
    run(&mut session, "/again").await;
    let lines = run(&mut session, "/compare").await;
    assert!(lines.lines().count() > 2 && lines.contains(&"漢".repeat(19)), "{lines}");
    assert!(lines.lines().all(|line| line.width() <= 2 * 38 + 3), "{lines}");
    Ok(())
}

#[tokio::test]
async fn a_mistake_is_a_message_and_changes_nothing() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut session = session(folder.path()).await;
    for (line, message) in [
        ("/again", "the tree is empty"),
        ("/buffer", "the tree is empty"),
        ("/tree", "the tree is empty"),
        ("/edit", "it needs more: /edit TEXT"),
        ("/go", "it needs more: /go ID"),
        ("/go nonesuch", "there is no node `nonesuch`"),
        ("/asked \u{202e}", "there is no node `\\u{202e}`"),
        ("/fly", "there is no command `/fly`"),
        ("/tree all", "there is no command `/tree all`"),
    ] {
        let output = run(&mut session, line).await;
        assert!(output.starts_with(message), "{line}: {output}");
    }
    assert!(run(&mut session, "/help").await.contains("/edit TEXT"));
    let (question, reply) = ask(&mut session, "Who?").await;
    for node in [&question, &reply] {
        run(&mut session, &format!("/exclude {node}")).await;
    }
    assert!(run(&mut session, "/buffer").await.contains("shows no text"));
    Ok(())
}

/// A model that ends in every way but the right one.
struct Broken(AtomicUsize);

impl Model for Broken {
    fn name(&self) -> &'static str {
        "broken"
    }

    fn reply(&self, _: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        let text = Ok(Chunk::Text("So".into()));
        match self.0.fetch_add(1, Ordering::Relaxed) {
            0 => stream::iter(vec![text, Err("the line is dead".into())]),
            1 => stream::iter(vec![text]),
            2 => stream::iter(vec![Ok(Chunk::stop())]),
            _ => stream::iter(vec![text, Ok(Chunk::stop())]),
        }
        .boxed()
    }
}

#[tokio::test]
async fn a_question_without_a_reply_stays_and_is_asked_again() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let broken = Arc::new(Broken(AtomicUsize::new(0)));
    let mut session = Session::new(open(folder.path()).await?, broken, Agent::new(""), Vec::new())?;
    for (line, message) in [
        ("Who?", "the line is dead; /again asks again"),
        ("/again", "it broke off before its end; /again"),
        ("/again", "it has no text"),
    ] {
        let output = run(&mut session, line).await;
        assert!(output.contains(message), "{output}");
    }
    ask(&mut session, "/again").await;
    assert_eq!(run(&mut session, "/buffer").await, "Who?So\n");
    Ok(())
}

#[tokio::test]
async fn the_export_can_be_imported_and_controls_no_terminal() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut session = session(folder.path()).await;
    let hostile = "We \u{1b}[2J \u{9b}31m \u{202e}sdrawkcab \u{e0041}\u{200b}.";
    ask(&mut session, hostile).await;
    let document = run(&mut session, "/export").await;
    assert_eq!(columnar_examples::printable(&document), document);
    let tree = &import(&document)?[0].tree;
    assert_eq!(tree.roots().next().map(|node| node.text()), Some(hostile));
    Ok(())
}

#[tokio::test]
async fn a_folder_with_a_flow_is_refused() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    columnar::flow! {
        struct Words {
            source text;
        }
    }
    drop(Words::open(FileStore::new(folder.path())).await?);
    let error = open(folder.path()).await.map(drop).expect_err("it is no tree");
    assert!(error.to_string().contains("it holds a flow, and no tree"), "{error}");
    Ok(())
}

#[tokio::test]
async fn the_included_session_has_no_mistake() -> Result<(), BoxError> {
    let folder = tempfile::tempdir()?;
    let mut session = session(folder.path()).await;
    play_included(&mut session).await?;
    let text = String::from_utf8(session.out)?;
    for part in [
        "  ← you are here",
        "\nsystem: Answer",
        "(excluded)",
        " │ ",
        "A sailor who lost her ship.Is \"sailor\"",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("there is no"), "{text}");
    Ok(())
}
