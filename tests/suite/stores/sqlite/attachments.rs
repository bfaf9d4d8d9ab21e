//! The attachments in a SQLite file: once for all flows, in a copy, after a kill, and lost or damaged.

use columnar::prelude::*;
use columnar::store::{SqliteStore, Store};
use columnar::{Attachment, Text};

use super::Chats;
use super::child::{CHILD, Process};
use crate::stores::attachments::{
    columns, is_the_first_format, names_a_lost_picture, picture, returns, talk,
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn values_in_sqlite_come_back_with_their_attachments() -> Outcome {
    let chats = Chats::new();
    returns(|| chats.store("monday")).await?;
    assert_eq!(chats.all::<u32>("pragma user_version"), [3]);
    Ok(())
}

#[tokio::test]
async fn s13_files_of_format_3_have_their_attachments() -> Outcome {
    let chats = Chats::new();
    chats.sql(include_str!("../../../fixtures/sqlite/format-3.sql"));
    is_the_first_format(|| chats.store("monday")).await
}

#[tokio::test]
async fn s16_an_attachment_is_there_once_until_its_last_flow_is_deleted() -> Outcome {
    let chats = Chats::new();
    talk(chats.store("monday")).await?;
    talk(chats.store("tuesday")).await?;
    let counts = |chats: &Chats| {
        let [all, named] =
            ["attachment", "flow_attachment"].map(|table| format!("select count(*) from {table}"));
        (chats.all::<u32>(&all)[0], chats.all::<u32>(&named)[0])
    };
    assert_eq!(counts(&chats), (2, 4));
    chats.store("monday").delete().await?;
    assert_eq!(counts(&chats), (2, 2));
    drop(Flow::open(chats.store("tuesday"), columns()).await?);
    // More than a transaction removes.
    let f = Flow::open(chats.store("tuesday"), columns()).await?;
    for at in 0..50 {
        f.push("user", Text::new("What is this?").with(picture(at + 1, b""))).await?;
    }
    drop(f);
    chats.store("tuesday").delete().await?;
    assert_eq!(counts(&chats), (0, 0));
    Ok(())
}

#[tokio::test]
async fn a_file_without_attachments_has_no_table_of_them() -> Outcome {
    let chats = Chats::new();
    let f = Flow::open(chats.store("monday"), columns()).await?;
    f.push("user", "Nothing.").await?;
    drop(f);
    assert_eq!(chats.all::<u32>("pragma user_version"), [2]);
    assert_eq!(chats.all::<u32>("select count(*) from sqlite_schema where name like '%attachment%'"), [0]);
    Ok(())
}

#[tokio::test]
async fn s23_a_row_of_an_attachment_that_is_removed_or_changed_is_named_and_its_text_stays() -> Outcome {
    for (change, reason) in [
        ("delete from attachment where length(bytes) < 60 and hex(bytes) like '89504E47%'", "is gone"),
        (
            "delete from flow_attachment where digest = (select digest from attachment where hex(bytes) like '89504E47%')",
            "is gone",
        ),
        ("update attachment set bytes = x'00' where hex(bytes) like '89504E47%'", "was changed or damaged"),
        ("update attachment set bytes = 7 where hex(bytes) like '89504E47%'", "was changed or damaged"),
        ("update attachment set bytes = 'text' where hex(bytes) like '89504E47%'", "was changed or damaged"),
    ] {
        let chats = Chats::new();
        talk(chats.store("monday")).await?;
        chats.sql(change);
        names_a_lost_picture(|| chats.store("monday"), reason).await?;
    }
    Ok(())
}

#[tokio::test]
async fn s20_a_copy_of_a_file_has_its_attachments_and_none_that_was_deleted() -> Outcome {
    let chats = Chats::new();
    talk(chats.store("monday")).await?;
    let f = Flow::open(chats.store("tuesday"), columns()).await?;
    f.push("user", Text::new("What is this?").with(picture(9, b""))).await?;
    let copy = chats.folder.path().join("copy.db");
    SqliteStore::backup(chats.file(), &copy).await?;
    names_nothing(&SqliteStore::new(&copy, "monday")).await?;
    let copied = Flow::open(SqliteStore::new(&copy, "tuesday"), columns()).await?;
    assert_eq!(copied.get("user", 0).map(|value| value.attachments().to_vec()), Some(vec![picture(9, b"")]));
    Ok(())
}

/// Checks that a talk is whole.
async fn names_nothing(store: &SqliteStore) -> Outcome {
    assert_eq!(columnar::reopen::verify(store).await?, []);
    Ok(())
}

/// Pushes values with attachments until it is killed, and prints the steps.
async fn push_pictures(file: &std::ffi::OsStr) -> Result<()> {
    let f = Flow::open(SqliteStore::new(file, "monday"), columns()).await?;
    for step in 0_u32.. {
        let [own, shared] = [step, 0].map(large);
        f.push("user", Text::new(step.to_string()).with(own).with(shared)).await?;
        println!("\nack {step}.");
    }
    Ok(())
}

/// A picture of many pages.
fn large(at: u32) -> Attachment {
    picture(at + 1, &at.to_be_bytes().repeat(10_000))
}

#[tokio::test]
async fn c2_values_of_a_killed_process_have_their_attachments() -> Outcome {
    let test = "c2_values_of_a_killed_process_have_their_attachments";
    if let Some(file) = std::env::var_os(CHILD) {
        return Ok(push_pictures(&file).await?);
    }
    for acks in [1, 4, 9, 20] {
        let chats = Chats::new();
        let mut process = Process::start(module_path!(), test, &chats.file(), "");
        process.wait_for(&format!("ack {acks}."));
        process.kill();
        let f = Flow::open(chats.store("monday"), columns()).await?;
        assert!(f.len("user")? > acks);
        for step in 0..f.len("user")? {
            let value = f.get("user", step).expect("it has no gap");
            assert_eq!(value.attachments(), [large(u32::try_from(step)?), large(0)]);
        }
        drop(f);
        names_nothing(&chats.store("monday")).await?;
    }
    Ok(())
}
