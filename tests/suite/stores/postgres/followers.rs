//! Followers, which the server tells of values.

use std::time::Duration;

use columnar::prelude::*;
use columnar::service::{Follower, Position};
use columnar::store::{PostgresStore, Store};
use columnar_tests::postgres::Database;
use futures::future::FutureExt;
use tokio::time::timeout;

use super::{opened, put};

/// The store tells of a change. A change that is never told is an error of the test, not a test without end.
async fn told(store: &PostgresStore) {
    let changed = store.changed().expect("there is a thread");
    timeout(Duration::from_mins(1), changed).await.expect("it is told");
}

#[tokio::test]
async fn s27_a_reader_is_told_of_each_write_and_of_a_lost_connection() {
    let Some(database) = Database::new("s27").await else { return };
    let address = database.address();
    let owner = opened(&address, "monday").await;
    let other = owner.flow("tuesday");
    other.open().await.expect("it is free");
    let reader =
        PostgresStore::new(format!("{address} application_name=s27_{}", std::process::id()), "monday");
    reader.open_to_read().await.expect("it is there");
    // From the beginning of listening on, nothing is missed.
    told(&reader).await;
    for step in 0..3 {
        reader.open_to_read().await.expect("it is there");
        assert!(put(&other, step, "said to another").await.is_ok());
        let changed = reader.changed().expect("there is a thread");
        assert!(changed.now_or_never().is_none(), "nothing is stored in this flow");
        assert!(put(&owner, step, "said").await.is_ok());
        // As a look that was dropped before it began.
        told(&reader).await;
        told(&reader).await;
    }
    reader.open_to_read().await.expect("it is there");
    let name = format!("s27_{}", std::process::id());
    let end = format!(
        "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = '{name}'"
    );
    assert_eq!(database.one::<i64>(&end).await, 2, "one reads, and one listens");
    told(&reader).await;
    reader.open_to_read().await.expect("the server is there");
    let locks = format!(
        "select count(*) from pg_locks join pg_stat_activity using (pid) where application_name = '{name}' and locktype = 'advisory'"
    );
    while database.one::<i64>(&locks).await == 0 {}
    assert!(put(&owner, 3, "said").await.is_ok());
    told(&reader).await;
    drop(reader);
    let count = format!("select count(*) from pg_stat_activity where application_name = '{name}'");
    while database.one::<i64>(&count).await > 0 {}
    assert!(put(&owner, 4, "said").await.is_ok(), "nobody is told");
}

/// Values that are stored while the follower begins, looks, or waits.
#[tokio::test(flavor = "multi_thread")]
async fn s27_a_follower_has_each_value_once_while_sessions_end() -> Result<()> {
    const STEPS: usize = 40;
    let Some(database) = Database::new("s27, follower").await else { return Ok(()) };
    let columns =
        [column("upper", source("user").latest(), |cx: Context| async move { cx.step().to_string() })];
    let owner = Flow::open(PostgresStore::new(database.address(), "monday"), columns).await?;
    let mut follower = Follower::new(PostgresStore::new(database.address(), "monday"), &Position::START);
    let follows = async {
        let mut steps = Vec::new();
        while steps.len() < STEPS {
            match timeout(Duration::from_mins(2), follower.next()).await.expect("it is told") {
                Ok(Event::Value { column, step, .. }) if column.as_str() == "user" => steps.push(step),
                Ok(_) => {}
                // Its session has ended; the next call looks again.
                Err(error) => println!("{error}"),
            }
        }
        steps
    };
    let writes = async {
        for step in 0..STEPS {
            owner.push("user", format!("said {step}")).await.expect("it is stored");
            if step % 15 == 10 {
                database.end_sessions().await;
            }
        }
    };
    let (steps, ()) = tokio::join!(follows, writes);
    assert_eq!(steps, (0..STEPS).collect::<Vec<_>>());
    Ok(())
}

/// A thousand followers had a thousand connections and threads.
#[tokio::test]
async fn s27_followers_of_stores_that_share_connections_share_the_one_that_listens() {
    const FLOWS: u16 = 24;
    let Some(database) = Database::new("s27, many").await else { return };
    let name = format!("s27_many_{}", std::process::id());
    let stores = PostgresStore::new(format!("{} application_name={name}", database.address()), "");
    let owners = PostgresStore::new(database.address(), "");
    let mut readers = Vec::new();
    for number in 0..FLOWS {
        let reader = stores.flow(number.to_string());
        // Half of them wait for a flow that is not there yet.
        if number % 2 == 0 {
            opened_flow(&owners, number).await;
            reader.open_to_read().await.expect("it is there");
        }
        told(&reader).await;
        readers.push(reader);
    }
    let count = format!("select count(*) from pg_stat_activity where application_name = '{name}'");
    assert!(database.one::<i64>(&count).await <= 5, "four read, and one listens");
    for (number, reader) in (0..).zip(&readers) {
        let owner = opened_flow(&owners, number).await;
        reader.open_to_read().await.expect("it is there");
        assert!(put(&owner, 0, "said").await.is_ok());
        told(reader).await;
    }
    let locks = format!(
        "select count(*) from pg_locks join pg_stat_activity using (pid) where application_name = '{name}' and locktype = 'advisory'"
    );
    assert_eq!(database.one::<i64>(&locks).await, i64::from(FLOWS));
    readers.truncate(2);
    while database.one::<i64>(&locks).await > 2 {}
}

async fn opened_flow(stores: &PostgresStore, number: u16) -> PostgresStore {
    let store = stores.flow(number.to_string());
    store.open().await.expect("it is free");
    store
}
