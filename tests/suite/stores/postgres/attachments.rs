//! The attachments in a database: once for all flows, and lost or damaged.

use columnar::store::{PostgresStore, Store};
use columnar_tests::postgres::Database;
use futures::future::join_all;

use super::opened;
use crate::stores::attachments::{names_a_lost_picture, picture, returns, talk};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn values_in_postgres_come_back_with_their_attachments() -> Outcome {
    let Some(database) = Database::new("attachments").await else { return Ok(()) };
    returns(|| PostgresStore::new(database.address(), "monday")).await
}

#[tokio::test]
async fn s16_an_attachment_is_there_once_until_its_last_flow_is_deleted() -> Outcome {
    let Some(database) = Database::new("s16, attachments").await else { return Ok(()) };
    const COUNTS: &str = "select format('%s %s', (select count(*) from columnar_attachments),
        (select count(*) from columnar_flow_attachments))";
    for (flow, expected) in [("monday", "2 2"), ("tuesday", "2 4")] {
        talk(PostgresStore::new(database.address(), flow)).await?;
        assert_eq!(database.one::<String>(COUNTS).await, expected);
    }
    for (flow, expected) in [("monday", "2 2"), ("tuesday", "0 0")] {
        PostgresStore::new(database.address(), flow).delete().await?;
        assert_eq!(database.one::<String>(COUNTS).await, expected);
    }
    Ok(())
}

#[tokio::test]
async fn s23_a_row_of_an_attachment_that_is_removed_or_changed_is_named_and_its_text_stays() -> Outcome {
    let Some(database) = Database::new("s23").await else { return Ok(()) };
    let digest = picture(7, b"").digest().to_owned();
    for (at, (change, reason)) in [
        ("delete from columnar_attachments where digest =", "is gone"),
        ("delete from columnar_flow_attachments where digest =", "is gone"),
        ("update columnar_attachments set bytes = '' where digest =", "was changed or damaged"),
        ("update columnar_attachments set bytes = bytes || bytes where digest =", "was changed or damaged"),
    ]
    .into_iter()
    .enumerate()
    {
        let flow = format!("flow {at}");
        talk(PostgresStore::new(database.address(), &flow)).await?;
        database.run(&format!("{change} '{digest}'")).await;
        names_a_lost_picture(|| PostgresStore::new(database.address(), &flow), reason).await?;
        PostgresStore::new(database.address(), &flow).delete().await?;
    }
    Ok(())
}

/// A writer found an attachment, which a deletion removed at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn s16_no_deletion_removes_an_attachment_that_another_flow_has_just_got() -> Outcome {
    let Some(database) = Database::new("s16, attachments at once").await else { return Ok(()) };
    let picture = picture(7, b"");
    for round in 0..20 {
        let stores =
            join_all((0..4).map(async |at| opened(&database.address(), &format!("{round} {at}")).await))
                .await;
        let [mut deleted, kept] = [Vec::new(), Vec::new()];
        let mut kept: Vec<PostgresStore> = kept;
        for (at, store) in stores.into_iter().enumerate() {
            if at % 2 == 0 {
                store.put_blob(picture.digest().into(), picture.bytes().into()).await?;
                drop(store);
                deleted.push(PostgresStore::new(database.address(), format!("{round} {at}")));
            } else {
                kept.push(store);
            }
        }
        let puts = join_all(
            kept.iter().map(|store| store.put_blob(picture.digest().into(), picture.bytes().into())),
        );
        let (puts, deletions) =
            futures::future::join(puts, join_all(deleted.iter().map(Store::delete))).await;
        assert!(puts.iter().chain(&deletions).all(Result::is_ok), "{puts:?} {deletions:?}");
        for store in &kept {
            let bytes = store.load_blob(picture.digest().into()).await?;
            assert_eq!(bytes.as_deref(), Some(picture.bytes()));
        }
        drop(kept);
        for at in [1, 3] {
            PostgresStore::new(database.address(), format!("{round} {at}")).delete().await?;
        }
    }
    Ok(())
}
