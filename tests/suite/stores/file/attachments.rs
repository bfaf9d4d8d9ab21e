//! The attachments in the folder of a store: files that people can open, and what happens if they are lost, damaged or
//! replaced.

use std::fs;
use std::path::{Path, PathBuf};

use columnar::Text;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::{FileStore, Store};

use super::folder::{copy, files};
use crate::stores::attachments::{columns, is_the_first_format, names_a_lost_picture, note, picture, talk};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn picture_in(folder: &Path) -> PathBuf {
    folder.join("_attachments").join(format!("{}.png", picture(7, b"").digest()))
}

#[tokio::test]
async fn s13_stores_of_format_3_have_their_attachments() -> Outcome {
    let scratch = tempfile::tempdir()?;
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/file/attached"), scratch.path());
    is_the_first_format(|| FileStore::new(scratch.path())).await
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
    let mut flipped = picture(7, b"").bytes().to_vec();
    flipped[20] ^= 1;
    for (content, reason) in [
        (None, "is gone"),
        (Some(&[][..]), "was changed or damaged"),
        (Some(&flipped), "was changed or damaged"),
    ] {
        let scratch = tempfile::tempdir()?;
        let folder = scratch.path().join("chat");
        talk(FileStore::new(&folder)).await?;
        let path = picture_in(&folder);
        match content {
            Some(bytes) => fs::write(&path, bytes)?,
            None => fs::remove_file(&path)?,
        }
        let defects = FileStore::new(&folder).verify().await?;
        assert_eq!(defects.len(), 4, "{defects:?}");
        assert!(defects.iter().all(|defect| defect.reason.contains(reason)), "{defects:?}");
        names_a_lost_picture(|| FileStore::new(&folder), reason).await?;
        // A restored file is sound.
        fs::write(&path, picture(7, b"").bytes())?;
        assert_eq!(FileStore::new(&folder).verify().await?, []);
    }
    Ok(())
}

#[tokio::test]
async fn a_lost_file_is_there_again_with_the_next_value_that_has_it() -> Outcome {
    let scratch = tempfile::tempdir()?;
    let folder = scratch.path().join("chat");
    talk(FileStore::new(&folder)).await?;
    fs::remove_dir_all(folder.join("_attachments"))?;
    let f = Flow::open(OpenOptions::new(FileStore::new(&folder)).recent(0), columns()).await?;
    f.push("user", Text::new("Again.").with(picture(7, b"")).with(note())).await?;
    drop(f);
    assert_eq!(FileStore::new(&folder).verify().await?, []);
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
