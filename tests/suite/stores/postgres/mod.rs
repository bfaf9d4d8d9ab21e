//! The store in `PostgreSQL`: its contract, and faults of the database, its server and the connection.

use std::io::{BufRead, BufReader};
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context as TaskContext, Poll, Wake};
use std::{env, thread};

use columnar::prelude::*;
use columnar::store::{Entry, PostgresStore, Put, Store, StoreError, StoredSteps};
use columnar::testing::conformance;
use columnar::{Name, Value};
use columnar_tests::cuts::{open_at_last, run_with_cuts};
use columnar_tests::faulty_database::{FaultyDatabase, Mishandling};
use columnar_tests::log::Log;
use columnar_tests::postgres::{Cut, Database, Way};
use columnar_tests::process::test_alone;
use futures::future::join_all;

mod attachments;
mod followers;
mod hostile;
#[cfg(not(feature = "postgres-tls"))]
mod no_tls;
mod pool;
mod tables;
#[cfg(feature = "postgres-tls")]
mod tls;

fn name(name: &str) -> Name {
    Name::new(name).expect("it is a name")
}

fn text(text: impl Into<Value>) -> Entry {
    Entry::from(text)
}

async fn opened(address: &str, flow: &str) -> PostgresStore {
    let store = PostgresStore::new(address, flow);
    let opened = store.open().await;
    assert!(opened.is_ok(), "{opened:?}");
    store
}

async fn put(store: &impl Store, step: usize, value: &str) -> Result<Put, StoreError> {
    store.put(name("user"), step, text(value)).await
}

/// The key of the next flow.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// An error with its sources, as in a log.
fn log_text(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.fold(String::new(), |text, error| format!("{text}\n{error}\n{error:?}"))
}

/// A store by this host, with these parameters; and whether its session is encrypted, or its error.
async fn session(database: &Database, host: &str, parameters: &str) -> Result<bool, String> {
    let (_, port) = database.server();
    let session = format!("s19_{}", NEXT.fetch_add(1, Ordering::SeqCst));
    let address = format!(
        "{} host={host} port={port} application_name={session} {parameters}",
        database.plain_address()
    );
    let store = PostgresStore::new(address, format!("{host} {parameters}"));
    store.open().await.map_err(|error| log_text(&error))?;
    put(&store, 0, "a value").await.expect("it is stored");
    assert_eq!(store.load(name("user"), 0..1).await.expect("it is read"), [(0, text("a value"))]);
    let encrypted = format!(
        "select bool_and(ssl) from pg_stat_ssl join pg_stat_activity using (pid) where application_name = '{session}'"
    );
    let encrypted = database.one::<bool>(&encrypted).await;
    drop(store);
    Ok(encrypted)
}

#[tokio::test]
async fn the_postgres_store_conforms_to_the_contract() {
    let Some(database) = Database::new("the_postgres_store_conforms_to_the_contract").await else { return };
    let address = database.address();
    conformance(|| {
        let (address, flow) = (address.clone(), format!("flow {}", NEXT.fetch_add(1, Ordering::SeqCst)));
        move || PostgresStore::new(&address, &flow)
    })
    .await;
}

flow! {
    struct Chat(log: Log) {
        source user;
        column topics(user.latest)        = log.upper("topics");
        column summary(user, self.latest) = log.upper("summary");
    }
}

#[tokio::test]
async fn a_reopened_flow_resumes() -> Result<()> {
    let Some(database) = Database::new("a_reopened_flow_resumes").await else {
        return Ok(());
    };
    let (log, address) = (Log::default(), database.address());
    for step in 0..3 {
        let chat = Chat::open(PostgresStore::new(&address, "monday"), log.clone()).await?;
        assert_eq!(chat.steps(), step);
        chat.user.push(format!("said {step}")).await?;
        chat.run().await?;
        assert_eq!(log.calls(), 2 * (step + 1), "nothing is computed again");
    }
    let other = Chat::open(PostgresStore::new(&address, "tuesday"), log.clone()).await?;
    assert_eq!(other.steps(), 0, "a flow of another key is another one");
    Ok(())
}

/// The simplest executor.
fn alone<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(thread::Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Arc::new(Unpark(thread::current())).into();
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut TaskContext::from_waker(&waker)) {
            Poll::Ready(done) => return done,
            Poll::Pending => thread::park(),
        }
    }
}

#[test]
fn the_store_works_on_any_executor() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is room");
    let Some(database) = runtime.block_on(Database::new("the_store_works_on_any_executor")) else { return };
    let address = database.address();
    alone(async {
        let store = opened(&address, "elsewhere").await;
        assert!(matches!(put(&store, 0, "a").await, Ok(Put::Stored)));
    });
    let _entered = runtime.enter();
    drop(database);
}

#[tokio::test]
async fn c4_a_connection_cut_at_any_byte_loses_nothing_and_stores_nothing_twice() {
    let Some(database) = Database::new("c4").await else { return };
    let location = |flow: usize| move |address: &str| PostgresStore::new(address, flow.to_string());
    let cuts = run_with_cuts(&database, location, &[Cut::Through, Cut::Unheard]).await;
    assert!(cuts.as_ref().is_ok_and(|cuts| *cuts >= 70), "{cuts:?}");
    println!("{cuts:?} cuts");
}

#[tokio::test]
async fn c4_stores_that_mishandle_lost_connections_are_caught() {
    let Some(database) = Database::new("c4, faulty stores").await else { return };
    for wrong in [Mishandling::ConfirmsEarly, Mishandling::StoresTwice, Mishandling::DisownsItsEntry] {
        let location = |table| move |address: &str| FaultyDatabase::new(address, table, wrong);
        let found = run_with_cuts(&database, location, &[Cut::Through]).await;
        println!("{wrong:?}: {found:?}");
        assert!(found.is_err(), "{wrong:?} goes through it");
    }
}

#[tokio::test]
async fn c5_a_commit_before_a_lost_connection_is_recognised() {
    let Some(database) = Database::new("c5").await else { return };
    let wire = database.wire();
    let store = opened(&database.address_by(&wire), "monday").await;
    // The first write of a session prepares the statement.
    assert!(matches!(put(&store, 9, "said 9").await, Ok(Put::Stored)));
    wire.cut_after(Way::ToClient, u64::MAX, Cut::Through);
    assert!(matches!(put(&store, 0, "said 0").await, Ok(Put::Stored)));
    // The response to `commit` has 18 bytes.
    let answered = wire.passed(Way::ToClient) - 9;

    wire.cut_after(Way::ToClient, answered, Cut::Through);
    let again = put(&store, 1, "said 1").await;
    assert_eq!(wire.cuts(), 1);
    assert!(matches!(again, Ok(Put::Stored)), "{again:?}");
    let transactions: i64 = database.one("select count(distinct xmin::text) from columnar_cells").await;
    assert_eq!(transactions, 3, "it is stored once");

    assert!(matches!(put(&store, 8, "said 8").await, Ok(Put::Stored)));
    wire.cut_after(Way::ToClient, answered, Cut::Unheard);
    let other = put(&store, 0, "something else").await;
    assert_eq!(wire.cuts(), 2);
    assert_eq!(other.ok(), Some(Put::Exists(text("said 0"))), "the stored entry is adopted");
}

/// The child process of the next test, which is killed at any time.
#[tokio::test]
async fn owner_in_a_process_of_its_own() {
    let Ok(address) = env::var("COLUMNAR_PG_OWNED") else { return };
    let store = opened(&address, "monday").await;
    let first = store.stored_steps(name("user")).await.expect("it can be read").prefix;
    for step in first.. {
        let stored = put(&store, step, &format!("said {step}")).await;
        assert!(matches!(stored, Ok(Put::Stored)), "{stored:?}");
        println!("\nstored {step}");
    }
}

#[tokio::test]
async fn c2_a_killed_owner_leaves_all_confirmed_values_and_no_lock() {
    let Some(database) = Database::new("c2").await else { return };
    let address = database.address();
    let mut confirmed = 0;
    for more in [1, 1, 2, 3, 5, 8] {
        let mut owner = test_alone(module_path!(), "owner_in_a_process_of_its_own")
            .env("COLUMNAR_PG_OWNED", &address)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let lines = BufReader::new(owner.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let mut stored = lines.filter_map(|line| line.strip_prefix("stored ")?.parse::<usize>().ok());
        let enough = stored.nth(more - 1).expect("it stores");
        let refused = PostgresStore::new(&address, "monday").open().await;
        assert!(matches!(refused, Err(StoreError::Locked { .. })), "S6: {refused:?}");
        owner.kill().expect("it lives");
        confirmed = stored.last().unwrap_or(enough) + 1;
        owner.wait().expect("it is gone");

        let store = free(&address).await;
        let StoredSteps { prefix, beyond } = store.stored_steps(name("user")).await.expect("it can be read");
        assert!(prefix >= confirmed, "{prefix} of {confirmed} are there");
        assert!(beyond.is_empty(), "{beyond:?}");
        let there = store.load(name("user"), 0..prefix).await.expect("it can be read");
        let expected: Vec<_> = (0..prefix).map(|step| (step, text(format!("said {step}")))).collect();
        assert_eq!(there, expected);
    }
    assert!(confirmed >= 20);
}

/// Waits until the server has noticed the end of the owner.
async fn free(address: &str) -> PostgresStore {
    open_at_last(|| PostgresStore::new(address, "monday")).await.expect("it is free in the end")
}

#[tokio::test]
async fn s6_a_session_that_the_server_ends_is_reopened() {
    let Some(database) = Database::new("s6, ended").await else { return };
    let store = opened(&database.address(), "monday").await;
    for step in 0..3 {
        database.end_sessions().await;
        assert_eq!(put(&store, step, "said").await.ok(), Some(Put::Stored));
        database.end_sessions().await;
        assert_eq!(store.stored_steps(name("user")).await.expect("it can be read").prefix, step + 1);
    }
    let second = PostgresStore::new(database.address(), "monday").open().await;
    assert!(matches!(second, Err(StoreError::Locked { .. })), "the lock is held again: {second:?}");
}

#[tokio::test]
async fn s6_an_owner_that_was_replaced_writes_nothing_and_adopts_the_values_of_the_new_one() {
    let Some(database) = Database::new("s6, lost").await else { return };
    let address = database.address();
    let first = opened(&address, "monday").await;
    assert_eq!(put(&first, 0, "first").await.ok(), Some(Put::Stored));
    database.end_sessions().await;
    let second = free(&address).await;
    assert_eq!(put(&second, 1, "second").await.ok(), Some(Put::Stored));

    let refused = put(&first, 1, "first").await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    let refused = put(&first, 2, "first").await;
    assert!(matches!(refused, Err(StoreError::Halted)), "{refused:?}");
    drop(second);
    let refused = first.define("first".into()).await;
    assert!(matches!(refused, Err(StoreError::Halted)), "not even when that is gone: {refused:?}");

    let third = free(&address).await;
    database.end_sessions().await;
    drop(free(&address).await);
    let refused = put(&third, 2, "third").await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    // The flow is free.
    assert!(first.open().await.is_ok());
    assert_eq!(put(&first, 1, "first").await.ok(), Some(Put::Exists(text("second"))));
    assert_eq!(put(&first, 2, "first").await.ok(), Some(Put::Stored));
}

/// As with a connection pooler that gives the session to another client.
#[tokio::test]
async fn s6_an_owner_that_lost_its_lock_but_not_its_connection_is_rejected() {
    let Some(database) = Database::new("s6, fenced").await else { return };
    for write in ["put", "define"] {
        let store = opened(&database.address(), write).await;
        assert_eq!(put(&store, 0, "first").await.ok(), Some(Put::Stored));
        database.run("update columnar_flows set owners = owners + 1").await;
        let refused = match write {
            "put" => put(&store, 1, "first").await.map(drop),
            _ => store.define("first".into()).await,
        };
        assert!(matches!(refused, Err(StoreError::Locked { .. })), "{write}: {refused:?}");
        assert_eq!(
            store.stored_steps(name("user")).await.ok(),
            Some(StoredSteps { prefix: 1, beyond: vec![] })
        );
    }
    let written: i64 =
        database.one("select count(definition) + count(*) from columnar_flows left join columnar_cells using (flow) where step <> 0").await;
    assert_eq!(written, 0);
}

#[tokio::test]
async fn s16_an_owner_that_lost_its_session_writes_nothing_after_a_deletion() {
    let Some(database) = Database::new("s16, lost").await else { return };
    let address = database.address();
    let first = opened(&address, "monday").await;
    assert_eq!(put(&first, 0, "first").await.ok(), Some(Put::Stored));
    let refused = PostgresStore::new(&address, "monday").delete().await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "it is open: {refused:?}");
    database.end_sessions().await;
    let second = free(&address).await;
    drop(second);
    PostgresStore::new(&address, "monday").delete().await.expect("nobody has it open");
    let refused = put(&first, 1, "first").await;
    assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    let third = opened(&address, "monday").await;
    assert_eq!(
        third.stored_steps(name("user")).await.ok(),
        Some(StoredSteps::default()),
        "it is another flow"
    );
    let refused = put(&first, 1, "first").await;
    assert!(matches!(refused, Err(StoreError::Halted)), "{refused:?}");
}

#[tokio::test]
async fn s4_a_rejected_write_is_quoted_without_values_and_halts_the_store() {
    const CANARY: &str = "the-canary-in-a-value";
    let Some(database) = Database::new("s4").await else { return };
    let store = opened(&database.address(), "monday").await;
    assert_eq!(put(&store, 0, "said 0").await.ok(), Some(Put::Stored));
    let refusals = [
        (
            "raise exception 'No space left on device' using errcode = '53100'",
            "No space left on device\" (SQLSTATE 53100)",
        ),
        (
            "raise exception 'it says %', convert_from(new.value, 'UTF8')",
            "the server refuses (SQLSTATE P0001)",
        ),
        (
            "raise exception 'no' using errcode = '53100', detail = convert_from(new.value, 'UTF8')",
            "says \"no\"",
        ),
        ("return null", "`user` at step 1 is damaged: the server reported it as stored, but it is missing"),
    ];
    for (does, expected) in refusals {
        database
            .run(&format!(
                "create function refuse() returns trigger language plpgsql as $$ begin {does}; end $$; \
                create trigger refuse before insert on columnar_cells for each row execute function refuse()"
            ))
            .await;
        let error = put(&store, 1, CANARY).await.expect_err("it is refused");
        assert!(error.to_string().contains(expected), "{error}");
        assert!(!log_text(&error).contains(CANARY), "{error:?}");
        assert!(matches!(put(&store, 1, "said 1").await, Err(StoreError::Halted)));
        let there = store.load(name("user"), 0..9).await;
        assert_eq!(there.ok(), Some(vec![(0, text("said 0"))]), "earlier entries are readable");
        database.run("drop function refuse cascade").await;
        assert!(store.open().await.is_ok());
    }
    assert_eq!(put(&store, 1, CANARY).await.ok(), Some(Put::Stored));
}

#[tokio::test]
async fn s5_a_server_that_stays_unreachable_halts_the_store_until_it_is_reopened() {
    let Some(database) = Database::new("s5").await else { return };
    let wire = database.wire();
    let store = opened(&database.address_by(&wire), "monday").await;
    assert_eq!(put(&store, 0, "said 0").await.ok(), Some(Put::Stored));
    wire.part();
    let error = put(&store, 1, "said 1").await.expect_err("there is no server");
    let expected = "storing in the flow \"monday\" in PostgreSQL: ";
    assert!(matches!(error, StoreError::Io { .. }) && error.to_string().starts_with(expected), "{error:?}");
    wire.mend();
    assert!(matches!(put(&store, 1, "said 1").await, Err(StoreError::Halted)));
    let there = store.load(name("user"), 0..9).await;
    assert_eq!(there.ok(), Some(vec![(0, text("said 0"))]), "entries are readable again");
    assert!(store.open().await.is_ok());
    assert_eq!(put(&store, 1, "said 1").await.ok(), Some(Put::Stored));
}

#[tokio::test]
async fn stricter_defaults_of_a_database_change_nothing() {
    let Some(database) = Database::new("stricter defaults").await else { return };
    let stricter = database.address_with(
        "-c default_transaction_isolation=serializable -c synchronous_commit=off -c bytea_output=escape \
        -c standard_conforming_strings=off -c client_min_messages=debug5",
    );
    conformance(|| {
        let (address, flow) = (stricter.clone(), format!("flow {}", NEXT.fetch_add(1, Ordering::SeqCst)));
        move || PostgresStore::new(&address, &flow)
    })
    .await;
}

#[tokio::test]
async fn concurrent_first_opens_of_a_database_all_succeed() {
    let Some(database) = Database::new("many that open").await else { return };
    let address = database.address();
    let stores: Vec<_> =
        (0..12).map(|flow| PostgresStore::new(&address, format!("flow {}", flow / 2))).collect();
    let opened = join_all(stores.iter().map(PostgresStore::open)).await;
    for pair in opened.chunks(2) {
        let [one, other] = pair else { unreachable!("there are two of each") };
        let (owner, refused) = if one.is_ok() { (one, other) } else { (other, one) };
        assert!(owner.is_ok(), "{owner:?}");
        assert!(matches!(refused, Err(StoreError::Locked { .. })), "{refused:?}");
    }
}
