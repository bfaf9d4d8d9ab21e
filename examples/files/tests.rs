//! Chats over temporary folders.

use std::fs;

use columnar::documents::Update;

use super::folder::LARGEST;
use super::*;

async fn session(desk: Desk, root: &Path) -> Session<Vec<u8>> {
    desk.set_model(Finder);
    let root = root.canonicalize().expect("it is there");
    Session::new(desk, root, EXAMPLE, Vec::new()).await.expect("the updates are sound")
}

/// The lines of the next question.
async fn ask(session: &mut Session<Vec<u8>>, question: &str) -> Vec<String> {
    session.out.clear();
    session.ask(question).await.expect("it is answered");
    let text = String::from_utf8(session.out.clone()).expect("text was written");
    text.lines().map(ToOwned::to_owned).collect()
}

fn has(lines: &[String], line: &str) -> bool {
    lines.iter().any(|found| found == line)
}

#[tokio::test]
async fn each_request_has_the_documents_as_they_are_and_stable_ones_in_a_tier() -> Result<(), BoxError> {
    let root = tempfile::tempdir()?;
    fs::create_dir(root.path().join("docs"))?;
    fs::write(root.path().join("docs/plan.md"), "We launch on Monday.")?;
    fs::write(root.path().join("rules.md"), "```\nNobody launches at night.\n```")?;
    let mut session = session(Desk::new(), root.path()).await;
    let lines = ask(&mut session, "On which day do we launch?").await;
    for line in ["added: docs/plan.md", "added: rules.md", "docs/plan.md: We launch on Monday."] {
        assert!(has(&lines, line), "{line}\n{lines:#?}");
    }
    for _ in 0..2 {
        ask(&mut session, "On which day do we launch?").await;
    }
    let lines = ask(&mut session, "At night?").await;
    assert!(has(&lines, "rules.md: Nobody launches at night."), "{lines:#?}");
    let tier = |lines: &[String], start: &str| {
        let found = lines.iter().find(|line| line.starts_with(start));
        found.and_then(|line| Some(line.split_once("tokens  ")?.1.to_owned()))
    };
    let documents = "docs/plan.md (N 3), rules.md (N 3), questions 0 to 2";
    assert_eq!(tier(&lines, "L3     changed").as_deref(), Some(documents));
    assert_eq!(tier(&lines, "active not cached").as_deref(), Some("question 3"));

    fs::write(root.path().join("docs/plan.md"), "We launch on Friday.")?;
    fs::remove_file(root.path().join("rules.md"))?;
    let lines = ask(&mut session, "On which day do we launch?").await;
    let moved = lines.iter().find(|line| line.starts_with("moved: ")).ok_or("a document moved")?;
    assert!(moved.contains("docs/plan.md L3 → active"), "{moved}");
    for line in ["changed: docs/plan.md", "removed: rules.md", "docs/plan.md: We launch on Friday."] {
        assert!(has(&lines, line), "{line}\n{lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.contains("rules.md (N")), "{lines:#?}");
    Ok(())
}

#[tokio::test]
async fn files_that_are_no_documents_are_skipped_with_a_reason_and_named_once() -> Result<(), BoxError> {
    let root = tempfile::tempdir()?;
    let write = |name: &str, bytes: &[u8]| fs::write(root.path().join(name), bytes);
    write("picture.png", b"\x89PNG")?;
    write("large.txt", &vec![b'a'; LARGEST + 1])?;
    write("fits.txt", &vec![b'a'; LARGEST])?;
    write(".hidden", b"a")?;
    let mut session = session(Desk::new(), root.path()).await;
    let lines = ask(&mut session, "Any?").await;
    for line in [
        "added: fits.txt",
        "skipped: picture.png: it is not UTF-8",
        "skipped: large.txt: it has more than 200 kB",
    ] {
        assert!(has(&lines, line), "{line}\n{lines:#?}");
    }
    assert!(!lines.iter().any(|line| line.contains("hidden")), "{lines:#?}");
    let lines = ask(&mut session, "Any?").await;
    assert!(!lines.iter().any(|line| line.starts_with("skipped")), "{lines:#?}");
    write("fits.txt", b"\xff")?;
    let lines = ask(&mut session, "Any?").await;
    assert!(
        has(&lines, "removed: fits.txt") && has(&lines, "skipped: fits.txt: it is not UTF-8"),
        "{lines:#?}"
    );
    Ok(())
}

/// A link may lead out of the folder, in a circle, or to a file that is no text. On Unix a name may contain `\`.
#[cfg(unix)]
#[tokio::test]
async fn links_are_not_followed_and_no_two_files_have_the_same_path() -> Result<(), BoxError> {
    let (root, outside) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::write(outside.path().join("secret"), "secret")?;
    fs::create_dir(root.path().join("a"))?;
    fs::write(root.path().join("a/b"), "one")?;
    fs::write(root.path().join(r"a\b"), "two")?;
    fs::write(root.path().join("``` a"), "three")?;
    std::os::unix::fs::symlink(outside.path(), root.path().join("folder"))?;
    std::os::unix::fs::symlink(outside.path().join("secret"), root.path().join("file"))?;
    std::os::unix::fs::symlink(root.path(), root.path().join("a/circle"))?;
    let lines = ask(&mut session(Desk::new(), root.path()).await, "Any?").await;
    for line in [
        "added: a/b",
        r"skipped: a\b: its name would be read as a/b",
        "skipped: folder: it is a link",
        "skipped: file: it is a link",
        "skipped: a/circle: it is a link",
    ] {
        assert!(has(&lines, line), "{line}\n{lines:#?}");
    }
    assert!(lines.iter().any(|line| line.starts_with("skipped: ``` a: the path ")), "{lines:#?}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("added")).count(), 1);
    Ok(())
}

#[tokio::test]
async fn a_chat_that_is_opened_again_knows_its_documents() -> Result<(), BoxError> {
    let (root, chat) = (tempfile::tempdir()?, tempfile::tempdir()?);
    fs::write(root.path().join("plan.md"), "We launch on Monday.")?;
    ask(&mut session(open(chat.path(), root.path()).await?, root.path()).await, "When?").await;
    let mut again = session(open(chat.path(), root.path()).await?, root.path()).await;
    let text = String::from_utf8(again.out.clone())?;
    assert_eq!(text, "1 questions so far, 1 documents\n");
    let lines = ask(&mut again, "On which day do we launch?").await;
    assert!(!lines.iter().any(|line| line.starts_with("added")), "{lines:#?}");
    drop(again);

    // A process that ended before the question was stored.
    let desk = open(chat.path(), root.path()).await?;
    desk.files.push(Update::new().file("plan.md", "We launch on Friday.")).await?;
    drop(desk);
    let mut again = session(open(chat.path(), root.path()).await?, root.path()).await;
    let lines = ask(&mut again, "On which day do we launch?").await;
    assert!(has(&lines, "plan.md: We launch on Friday."), "{lines:#?}");
    let lines = ask(&mut again, "On which day do we launch?").await;
    assert!(has(&lines, "changed: plan.md") && has(&lines, "plan.md: We launch on Monday."), "{lines:#?}");
    drop(again);

    for inside in [root.path().to_owned(), root.path().join("new/chat")] {
        let error = open(&inside, &root.path().canonicalize()?).await.map(drop).expect_err("it is inside");
        assert!(error.to_string().contains("choose another"), "{error}");
    }
    assert!(!root.path().join("new").exists());
    Ok(())
}

#[tokio::test]
async fn the_included_session_moves_documents_between_tiers() -> Result<(), BoxError> {
    let copies = included::copies()?;
    let mut session = session(Desk::new(), copies.path()).await;
    included::play(&mut session).await?;
    let text = String::from_utf8(session.out)?;
    for part in
        ["this program writes notes.md", "\nL3     same ", "\nL2     changed ", "README.md L3 → active"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    Ok(())
}
