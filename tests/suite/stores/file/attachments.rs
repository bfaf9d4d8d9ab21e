//! The attachments in the folder of a store: files that people can open, and what happens if they are lost, damaged or
//! replaced.

use std::fs;
use std::path::{Path, PathBuf};

use columnar::Text;
use columnar::prelude::*;
use columnar::store::{FileStore, Store};

use super::folder::files;
use crate::stores::attachments::{columns, names_a_lost_picture, note, picture, talk};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn picture_in(folder: &Path) -> PathBuf {
    folder.join("_attachments").join(format!("{}.png", picture(7, b"").digest()))
}

#[tokio::test]
async fn attachments_are_files_with_the_endings_of_their_types() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("chat");
    talk(FileStore::new(&folder)).await?;
    assert_eq!(fs::read(picture_in(&folder))?, picture(7, b"").bytes());
    let note_file = folder.join("_attachments").join(format!("{}.txt", note().digest()));
    assert_eq!(fs::read(note_file)?, note().bytes());
    assert_eq!(files(&folder.join("_attachments")).len(), 2);
    assert_eq!(fs::read_to_string(folder.join(".columnar/format"))?, "3\n");
    assert_eq!(FileStore::new(&folder).verify().await?, []);

    // A file of somebody else stays.
    fs::write(folder.join("_attachments/read me.txt"), "mine")?;
    FileStore::new(&folder).delete().await?;
    assert_eq!(files(&folder), ["_attachments/read me.txt"]);
    Ok(())
}

#[tokio::test]
async fn a_flow_without_attachments_is_stored_as_before() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("chat");
    let f = Flow::open(FileStore::new(&folder), columns()).await?;
    f.push("user", "Nothing.").await?;
    drop(f);
    assert_eq!(fs::read_to_string(folder.join(".columnar/format"))?, "2\n");
    assert!(!folder.join("_attachments").exists());
    let log = fs::read_to_string(folder.join(".columnar/cells"))?;
    assert!(log.contains("\nvalue user 0 8 ") && !log.contains('{'), "{log}");
    Ok(())
}

#[tokio::test]
async fn s23_a_file_of_an_attachment_that_is_removed_or_changed_is_named_and_its_text_stays() -> Outcome {
    let changes: [(fn(&Path), &str); 4] = [
        (|path| fs::remove_file(path).expect("it is there"), "is gone"),
        (|path| fs::remove_dir_all(path.parent().expect("a folder")).expect("it is there"), "is gone"),
        (|path| fs::write(path, "").expect("it is there"), "was changed or damaged"),
        (
            |path| {
                let mut bytes = fs::read(path).expect("it is there");
                bytes[20] ^= 1;
                fs::write(path, bytes).expect("it is there");
            },
            "was changed or damaged",
        ),
    ];
    for (change, reason) in changes {
        let scratch = tempfile::tempdir()?;
        let folder = scratch.path().join("chat");
        talk(FileStore::new(&folder)).await?;
        // The whole folder is tested without the note.
        let is_whole = reason == "is gone" && {
            change(&picture_in(&folder));
            !folder.join("_attachments").exists()
        };
        if is_whole {
            assert!(Flow::open(FileStore::new(&folder), columns()).await.is_err());
            continue;
        }
        if reason != "is gone" {
            change(&picture_in(&folder));
        }
        let defects = FileStore::new(&folder).verify().await?;
        assert_eq!(defects.len(), 4, "{defects:?}");
        assert!(defects.iter().all(|defect| defect.reason.contains(reason)), "{defects:?}");
        names_a_lost_picture(|| FileStore::new(&folder), reason).await?;
        // The next value that has it puts it there again, unless a file of that length is there.
        let f = Flow::open(FileStore::new(scratch.path().join("other")), columns()).await?;
        f.push("user", Text::new("What is this?").with(picture(7, b""))).await?;
        fs::copy(picture_in(&scratch.path().join("other")), picture_in(&folder))?;
        assert_eq!(FileStore::new(&folder).verify().await?, []);
    }
    Ok(())
}

#[cfg(unix)]
#[tokio::test]
async fn s18_attachments_are_neither_read_nor_written_through_links() -> Outcome {
    use std::os::unix::fs::symlink;

    let scratch = tempfile::tempdir()?;
    let elsewhere = scratch.path().join("elsewhere");
    fs::create_dir(&elsewhere)?;
    for is_file in [true, false] {
        let folder = scratch.path().join(format!("chat {is_file}"));
        talk(FileStore::new(&folder)).await?;
        if is_file {
            fs::write(elsewhere.join("file"), picture(7, b"").bytes())?;
            fs::remove_file(picture_in(&folder))?;
            symlink(elsewhere.join("file"), picture_in(&folder))?;
        } else {
            fs::rename(folder.join("_attachments"), scratch.path().join("moved"))?;
            symlink(scratch.path().join("moved"), folder.join("_attachments"))?;
        }
        let error = Flow::open(FileStore::new(&folder), columns()).await.expect_err("a link is no file");
        let text = format!("{error}: {}", std::error::Error::source(&error).expect("it has one"));
        assert!(text.contains("`user` at step 0 is damaged") && text.contains("_attachments"), "{text}");
        // Nor is anything removed there.
        FileStore::new(&folder).delete().await?;
        assert!(
            elsewhere.join("file").exists() && (is_file || picture_in(scratch.path()).parent().is_some())
        );
    }
    assert_eq!(files(&scratch.path().join("moved")).len(), 2);
    Ok(())
}
