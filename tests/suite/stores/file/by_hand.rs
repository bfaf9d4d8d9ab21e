//! Flows on folders in which somebody added, moved or removed files: from the error to a flow that works.

use std::fs;
use std::path::Path;

use columnar::CellState;
use columnar::prelude::*;
use columnar::reopen;
use columnar::store::FileStore;

use super::folder::{ADOPT, files};

flow! {
    struct Chat {
        source user;
        column answer(user.latest) =
            |cx: Context| async move { format!("answer to {}", cx.input("user").expect("it is shown")) };
        column even(user.latest) =
            (|cx: Context| async move { format!("even: {}", cx.input("user").expect("it is shown")) })
                .when(|cx| cx.input("user").is_some_and(|text| text.len() % 2 == 0));
    }
}

const TEXTS: [&str; 6] = ["ab", "a", "abc", "abcd", "x", "xy"];

/// A chat in which `even` is skipped at steps 1, 2 and 4.
async fn chat() -> (tempfile::TempDir, std::path::PathBuf) {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path().canonicalize().expect("it is there").join("chat");
    let chat = Chat::open(FileStore::new(&folder)).await.expect("it is new");
    for text in TEXTS {
        chat.user.push(text).await.expect("it is pushed");
    }
    chat.run().await.expect("it runs");
    check(&chat);
    (scratch, folder)
}

fn check(chat: &Chat) {
    for (step, text) in TEXTS.into_iter().enumerate() {
        assert_eq!(chat.user.get(step).as_deref(), Some(text));
        assert_eq!(chat.answer.get(step), Some(format!("answer to {text}").into()));
        let even = (text.len() % 2 == 0).then(|| format!("even: {text}").into());
        assert_eq!(chat.even.get(step), even);
        assert_eq!(matches!(chat.even.cell(step), CellState::Skipped(_)), text.len() % 2 == 1, "{step}");
    }
}

/// The error of opening the chat, with its causes.
async fn error(folder: &Path) -> String {
    let error = Chat::open(FileStore::new(folder)).await.map(drop).expect_err("it cannot be opened");
    error.to_string()
}

/// The remedy that the errors of a damaged log name led to another error: the file of a value after a skipped cell had the
/// wrong number, and following that error moved values to other steps.
#[tokio::test(flavor = "multi_thread")]
async fn s1_s3_a_folder_with_skipped_cells_is_adopted_without_its_log() {
    let damages: [fn(&Path); 4] = [
        |own| fs::remove_file(own.join("cells")).expect("it is there"),
        |own| fs::write(own.join("cells"), "").expect("it can be written"),
        |own| fs::remove_file(own.join("definition")).expect("it is there"),
        |own| {
            let log = fs::read_to_string(own.join("cells")).expect("it is there");
            let lines: Vec<&str> = log.split_inclusive('\n').collect();
            fs::write(own.join("cells"), lines[..lines.len() / 2].concat()).expect("it can be written");
        },
    ];
    for damage in damages {
        let (scratch, folder) = chat().await;
        damage(&folder.join(".columnar"));
        let error = error(&folder).await;
        assert!(error.ends_with(ADOPT), "{error}");
        // The remedy that it names.
        fs::rename(folder.join(".columnar"), scratch.path().join("aside")).expect("it can be moved");
        let store = FileStore::new(&folder);
        let chat = Chat::open(FileStore::new(&folder)).await.expect("its texts are adopted");
        assert_eq!(chat.forecast().cells, 3, "the skipped cells");
        assert!(store.verify().await.expect("it can be read").is_empty());
        chat.run().await.expect("it runs");
        check(&chat);
        drop(chat);
        check(&Chat::open(FileStore::new(&folder)).await.expect("it is a store like any other"));
        assert!(store.verify().await.expect("it can be read").is_empty());
    }
}

/// A source cannot have a gap. Nothing is written down before the flow has found that out, so the file can be restored.
#[tokio::test(flavor = "multi_thread")]
async fn s3_a_gap_of_a_source_without_a_log_is_an_error_until_it_is_filled() {
    let (scratch, folder) = chat().await;
    fs::rename(folder.join(".columnar"), scratch.path().join("aside")).expect("it can be moved");
    fs::rename(folder.join("user/1.txt"), scratch.path().join("1.txt")).expect("it can be moved");
    for _ in 0..2 {
        let expected = "reading `user` from the store failed: step 1 is missing, but step 2 is stored; restore it, or remove the later ones";
        assert_eq!(error(&folder).await, expected);
    }
    fs::rename(scratch.path().join("1.txt"), folder.join("user/1.txt")).expect("it can be moved");
    let chat = Chat::open(FileStore::new(&folder)).await.expect("its texts are adopted");
    chat.run().await.expect("it runs");
    check(&chat);
}

/// One file too many in the folder of a derived column, and the flow could never be opened again: the file had a line in the
/// log before the flow was asked, so removing it was damage.
#[tokio::test(flavor = "multi_thread")]
async fn s3_a_file_beyond_the_steps_of_the_sources_is_an_error_until_it_is_removed() {
    let (_scratch, folder) = chat().await;
    let before = files(&folder);
    let path = folder.join("answer/6.txt");
    fs::write(&path, "x").expect("it can be written");
    for _ in 0..2 {
        let expected = "reading `answer` from the store failed: step 6 is stored, but the sources have values for only 6 steps; if it was added by hand, remove it, such as the file `6.txt` in the folder of the column";
        assert_eq!(error(&folder).await, expected);
        let defects = reopen::verify(&FileStore::new(&folder)).await.expect("it can be read");
        assert_eq!(defects.len(), 1, "{defects:?}");
    }
    fs::remove_file(&path).expect("it is there");
    assert_eq!(files(&folder), before);
    let chat = Chat::open(FileStore::new(&folder)).await.expect("it was removed");
    check(&chat);
    assert!(reopen::verify(&FileStore::new(&folder)).await.is_err(), "it is open");
    drop(chat);

    // With a value of the source it is one of the flow, as if it had been computed.
    fs::write(&path, "x").expect("it can be written");
    fs::write(folder.join("user/6.txt"), "abcdef").expect("it can be written");
    let chat = Chat::open(FileStore::new(&folder)).await.expect("both are adopted");
    chat.run().await.expect("it runs");
    assert_eq!(
        (chat.answer.get(6).as_deref(), chat.even.get(6).as_deref()),
        (Some("x"), Some("even: abcdef"))
    );
    drop(chat);
    // The run stored `even`, so they have their lines.
    fs::remove_file(&path).expect("it is there");
    let expected = format!(
        "reading `answer` from the store failed: `answer` at step 6 is damaged: {} is missing; restore it",
        path.display()
    );
    assert_eq!(error(&folder).await, expected);
}
