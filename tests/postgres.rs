//! The store in `PostgreSQL`: what a database, its server and the way to it may do, and what is true all the same.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Poll, Wake};
use std::{env, thread};

use columnar::prelude::*;
use columnar::store::{Entry, Extent, PostgresStore, Put, Store, StoreError};
use columnar::testing::conformance;
use columnar::{Name, Value};
use columnar_tests::careless::{Careless, Wrong};
use columnar_tests::log::Log;
use columnar_tests::postgres::{Cut, Database, Way, Wire};
use futures::future::join_all;

fn name(name: &str) -> Name {
    Name::new(name).expect("it is a name")
}

fn text(text: impl Into<Value>) -> Entry {
    Entry::Value(text.into())
}

async fn opened(address: &str, flow: &str) -> PostgresStore {
    let store = PostgresStore::new(address, flow);
    let opened = store.open().await;
    assert!(opened.is_ok(), "{opened:?}");
    store
}

async fn put(store: &impl Store, step: usize, said: &str) -> Result<Put, StoreError> {
    store.put(name("user"), step, text(said)).await
}

/// The next flow.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// An error with all that it is made of, as somebody's log has it.
fn told(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(|error| format!("{error}\n{error:?}\n")).collect()
}

#[tokio::test]
async fn it_keeps_every_clause_of_the_contract() {
    let Some(database) = Database::new("it_keeps_every_clause_of_the_contract").await else { return };
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
        column topics(user.latest) = log.upper("topics");
        column summary(user, self.latest) = log.upper("summary");
    }
}

#[tokio::test]
async fn a_flow_that_is_opened_again_goes_on_where_it_was() -> Result<()> {
    let Some(database) = Database::new("a_flow_that_is_opened_again_goes_on_where_it_was").await else {
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

/// An executor that knows nothing.
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
fn any_executor_may_poll_it() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("there is room");
    let Some(database) = runtime.block_on(Database::new("any_executor_may_poll_it")) else { return };
    let address = database.address();
    alone(async {
        let store = opened(&address, "elsewhere").await;
        assert!(matches!(put(&store, 0, "a").await, Ok(Put::Stored)));
    });
    let _entered = runtime.enter();
    drop(database);
}

/// What a store goes through while its connection is cut once: opened, written to alone and at once, read,
/// closed, and read by another one that is connected properly.
async fn lives<S: Store>(
    make: impl Fn(&str) -> S,
    ways: [&str; 2],
    wire: &Wire,
    at: At,
) -> Result<(), String> {
    let [by_wire, direct] = ways;
    let (way, after, cut) = at;
    // Whoever cannot be opened does not know of the session that the server believes in.
    if cut == Cut::Through {
        wire.cut_after(way, after, cut);
    }
    let mut store = make(by_wire);
    let mut tries = 0;
    while let Err(error) = store.open().await {
        tries += 1;
        if tries > 3 {
            return Err(format!("it cannot be opened: {error:?}"));
        }
        store = make(by_wire);
    }
    if cut == Cut::Unheard {
        wire.cut_after(way, after, cut);
    }
    let mut cells = vec![vec![("user", 0)], vec![("user", 1), ("user", 2), ("topics", 0)]];
    cells.push(vec![("topics", 1), ("topics", 2)]);
    for batch in cells {
        let puts = batch
            .iter()
            .map(|(column, step)| store.put(name(column), *step, text(format!("{column} {step}"))));
        for (put, cell) in join_all(puts).await.into_iter().zip(batch) {
            if !matches!(put, Ok(Put::Stored)) {
                return Err(format!("{cell:?} was not there, and is told to be {put:?}"));
            }
        }
    }
    store.define("a definition".into()).await.map_err(|error| format!("{error:?}"))?;
    agrees(&store).await?;
    drop(store);
    wire.mend();
    let again = make(direct);
    again.open().await.map_err(|error| format!("it cannot be opened again: {error:?}"))?;
    agrees(&again).await
}

/// Whether there is what was stored, once.
async fn agrees(store: &impl Store) -> Result<(), String> {
    for column in ["user", "topics"] {
        let stored = store.load(name(column), 0..9).await.map_err(|error| format!("{error:?}"))?;
        let expected: Vec<_> = (0..3).map(|step| (step, text(format!("{column} {step}")))).collect();
        if stored != expected {
            return Err(format!("`{column}` is {stored:?}"));
        }
        let extent = store.extent(name(column)).await.map_err(|error| format!("{error:?}"))?;
        if extent.prefix != 3 {
            return Err(format!("`{column}` is said to have {extent:?}"));
        }
    }
    Ok(())
}

/// Which way, after how many bytes, how.
type At = (Way, u64, Cut);

/// Lives with a cut at some of the bytes that are exchanged, or at all where that is wanted, each time in a new place.
/// Says how many cuts there were, or where it went wrong.
async fn lives_with_cuts<S: Store, H: Fn(&str) -> S>(
    database: &Database,
    place: impl Fn(usize) -> H,
    kinds: &[Cut],
) -> Result<usize, (At, String)> {
    let wire = database.wire();
    let (by_wire, direct) = (database.address_by(&wire), database.address());
    let ways = [by_wire.as_str(), direct.as_str()];
    let points = if env::var_os("COLUMNAR_PG_ALL").is_some() { u64::MAX } else { 20 };
    let mut lived = 0;
    let mut live = async |at| {
        lived += 1;
        lives(place(lived), ways, &wire, at).await.map_err(|error| (at, error))
    };
    for cut in kinds {
        for way in [Way::ToServer, Way::ToClient] {
            // Nothing is cut that far away, and everything is counted.
            live((way, u64::MAX, *cut)).await?;
            let all = wire.passed(way);
            let apart = usize::try_from(all / points).expect("it is small").max(1);
            for after in (0..all).step_by(apart) {
                live((way, after, *cut)).await?;
            }
        }
    }
    Ok(wire.cuts())
}

#[tokio::test]
async fn c4_a_connection_that_is_cut_anywhere_loses_nothing_and_stores_nothing_twice() {
    let Some(database) = Database::new("c4").await else { return };
    let place = |flow: usize| move |address: &str| PostgresStore::new(address, flow.to_string());
    let cuts = lives_with_cuts(&database, place, &[Cut::Through, Cut::Unheard]).await;
    assert!(cuts.as_ref().is_ok_and(|cuts| *cuts >= 70), "{cuts:?}");
    println!("{cuts:?} cuts");
}

#[tokio::test]
async fn c4_stores_that_are_careless_about_connections_are_found_out() {
    let Some(database) = Database::new("c4, careless stores").await else { return };
    for wrong in [Wrong::ConfirmsEarly, Wrong::StoresTwice, Wrong::DisownsItsOwn] {
        let place = |table| move |address: &str| Careless::new(address, table, wrong);
        let found = lives_with_cuts(&database, place, &[Cut::Through]).await;
        println!("{wrong:?}: {found:?}");
        assert!(found.is_err(), "{wrong:?} goes through it");
    }
}

#[tokio::test]
async fn c5_what_was_committed_before_the_connection_went_is_known_for_its_own() {
    let Some(database) = Database::new("c5").await else { return };
    let wire = database.wire();
    let store = opened(&database.address_by(&wire), "monday").await;
    wire.cut_after(Way::ToClient, u64::MAX, Cut::Through);
    assert!(matches!(put(&store, 0, "said 0").await, Ok(Put::Stored)));
    // The answer to `commit` has 18 bytes.
    let answered = wire.passed(Way::ToClient) - 9;

    wire.cut_after(Way::ToClient, answered, Cut::Through);
    let again = put(&store, 1, "said 1").await;
    assert_eq!(wire.cuts(), 1);
    assert!(matches!(again, Ok(Put::Stored)), "{again:?}");
    let transactions: i64 = database.one("select count(distinct xmin::text) from columnar_cells").await;
    assert_eq!(transactions, 2, "it is stored once");

    wire.cut_after(Way::ToClient, answered, Cut::Unheard);
    let other = put(&store, 0, "something else").await;
    assert_eq!(wire.cuts(), 2);
    assert_eq!(other.ok(), Some(Put::Exists(text("said 0"))), "what is there is adopted");
}

/// Takes the place of somebody else's program, which dies at any moment.
#[tokio::test]
#[ignore = "another test starts it as a process"]
async fn owner_in_a_process_of_its_own() {
    let Ok(address) = env::var("COLUMNAR_PG_OWNED") else { return };
    let store = opened(&address, "monday").await;
    let first = store.extent(name("user")).await.expect("it can be read").prefix;
    for step in first.. {
        let stored = put(&store, step, &format!("said {step}")).await;
        assert!(matches!(stored, Ok(Put::Stored)), "{stored:?}");
        println!("\nstored {step}");
    }
}

#[tokio::test]
async fn c2_an_owner_that_is_killed_leaves_all_it_confirmed_and_no_lock() {
    let Some(database) = Database::new("c2").await else { return };
    let address = database.address();
    let mut confirmed = 0;
    for more in [1, 1, 2, 3, 5, 8] {
        let this = env::current_exe().expect("a test is a program");
        let mut owner = Command::new(this)
            .args(["--exact", "owner_in_a_process_of_its_own", "--ignored", "--nocapture"])
            .env("COLUMNAR_PG_OWNED", &address)
            .stdout(Stdio::piped())
            .spawn()
            .expect("it starts");
        let said = BufReader::new(owner.stdout.take().expect("it is piped")).lines().map_while(Result::ok);
        let mut stored = said.filter_map(|line| line.strip_prefix("stored ")?.parse::<usize>().ok());
        let enough = stored.nth(more - 1).expect("it stores");
        let refused = PostgresStore::new(&address, "monday").open().await;
        assert!(matches!(refused, Err(StoreError::Locked { .. })), "S6: {refused:?}");
        owner.kill().expect("it lives");
        confirmed = stored.last().unwrap_or(enough) + 1;
        owner.wait().expect("it is gone");

        let store = free(&address).await;
        let Extent { prefix, beyond } = store.extent(name("user")).await.expect("it can be read");
        assert!(prefix >= confirmed, "{prefix} of {confirmed} are there");
        assert!(beyond.is_empty(), "{beyond:?}");
        let there = store.load(name("user"), 0..prefix).await.expect("it can be read");
        let expected: Vec<_> = (0..prefix).map(|step| (step, text(format!("said {step}")))).collect();
        assert_eq!(there, expected);
    }
    assert!(confirmed >= 20);
}

/// The server hears of the end of a process when it gets to it.
async fn free(address: &str) -> PostgresStore {
    let store = PostgresStore::new(address, "monday");
    for _ in 0..100 {
        match store.open().await {
            Err(StoreError::Locked { .. }) => {}
            opened => {
                assert!(opened.is_ok(), "{opened:?}");
                return store;
            }
        }
    }
    unreachable!("the lock of a process that is dead stays");
}

#[tokio::test]
async fn s6_a_session_that_the_server_ends_is_begun_again() {
    let Some(database) = Database::new("s6, ended").await else { return };
    let store = opened(&database.address(), "monday").await;
    for step in 0..3 {
        database.end_sessions().await;
        assert_eq!(put(&store, step, "said").await.ok(), Some(Put::Stored));
        database.end_sessions().await;
        assert_eq!(store.extent(name("user")).await.expect("it can be read").prefix, step + 1);
    }
    let second = PostgresStore::new(database.address(), "monday").open().await;
    assert!(matches!(second, Err(StoreError::Locked { .. })), "the lock has been taken again: {second:?}");
}

#[tokio::test]
async fn s6_who_has_lost_a_flow_to_another_owner_writes_nothing_more_and_adopts_what_that_wrote() {
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

    assert!(first.open().await.is_ok());
    assert_eq!(put(&first, 1, "first").await.ok(), Some(Put::Exists(text("second"))));
    assert_eq!(put(&first, 2, "first").await.ok(), Some(Put::Stored));
}

/// As with a pooler between that gives the session to somebody else.
#[tokio::test]
async fn s6_an_owner_whose_lock_is_gone_while_its_connection_lives_is_refused_all_the_same() {
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
        assert_eq!(store.extent(name("user")).await.ok(), Some(Extent { prefix: 1, beyond: vec![] }));
    }
    let written: i64 =
        database.one("select count(definition) + count(*) from columnar_flows left join columnar_cells using (flow) where step <> 0").await;
    assert_eq!(written, 0);
}

#[tokio::test]
async fn s4_a_server_that_refuses_a_write_is_quoted_without_values_and_halts_the_store() {
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
        (
            "return null",
            "`user` at step 1 is damaged: the server said that it is stored, and it is not there",
        ),
    ];
    for (does, says) in refusals {
        database
            .run(&format!(
                "create function refuse() returns trigger language plpgsql as $$ begin {does}; end $$; \
                create trigger refuse before insert on columnar_cells for each row execute function refuse()"
            ))
            .await;
        let error = put(&store, 1, CANARY).await.expect_err("it is refused");
        assert!(error.to_string().contains(says), "{error}");
        assert!(!told(&error).contains(CANARY), "{error:?}");
        assert!(matches!(put(&store, 1, "said 1").await, Err(StoreError::Halted)));
        let there = store.load(name("user"), 0..9).await;
        assert_eq!(there.ok(), Some(vec![(0, text("said 0"))]), "what was there can be read");
        database.run("drop function refuse cascade").await;
        assert!(store.open().await.is_ok());
    }
    assert_eq!(put(&store, 1, CANARY).await.ok(), Some(Put::Stored));
}

#[tokio::test]
async fn s4_a_server_that_takes_no_writes_refuses_to_open() {
    let Some(database) = Database::new("s4, read only").await else { return };
    drop(opened(&database.address(), "monday").await);
    let before: String = database.one(ALL).await;
    for flow in ["monday", "tuesday"] {
        let address = database.address_with("-c default_transaction_read_only=on");
        let error = PostgresStore::new(address, flow).open().await.expect_err("nothing can be written");
        let says = format!("opening the flow \"{flow}\" in PostgreSQL: the server says \"cannot execute");
        assert!(error.to_string().starts_with(&says), "{error}");
    }
    assert_eq!(database.one::<String>(ALL).await, before);
}

/// All that is there.
const ALL: &str = "select format('%s %s %s %s',
    (select array_agg(it) from columnar_format it), (select array_agg(it) from columnar_flows it),
    (select array_agg(it) from columnar_cells it), (select array_agg(it) from columnar_prefixes it))";

#[tokio::test]
async fn s13_a_format_of_the_future_is_refused_before_anything_is_written() {
    let Some(database) = Database::new("s13").await else { return };
    drop(opened(&database.address(), "monday").await);
    for (change, says) in [
        ("update columnar_format set format = 2", "has format 2, and this version reads formats up to 1"),
        ("update columnar_format set format = -7", "is damaged: there is no format -7"),
        ("delete from columnar_format", "is damaged: columnar_format has 0 rows in place of one"),
    ] {
        database.run(change).await;
        let before: String = database.one(ALL).await;
        for flow in ["monday", "tuesday"] {
            let error = PostgresStore::new(database.address(), flow).open().await.expect_err("it is unknown");
            assert!(error.to_string().contains(says), "{error}");
        }
        assert_eq!(database.one::<String>(ALL).await, before, "{change}");
    }
}

#[tokio::test]
async fn s13_format_1_is_read_as_it_was_written() {
    let Some(database) = Database::new("s13, format 1").await else { return };
    database.run(include_str!("fixtures/postgres/format-1.sql")).await;
    let store = PostgresStore::new(database.address(), "monday");
    assert_eq!(store.open().await.expect("it is known").as_deref(), Some("{\"columns\":[\"user\"]}\0"));
    let extent = store.extent(name("user")).await.expect("it is known");
    assert_eq!(extent, Extent { prefix: 4, beyond: vec![6] });
    let cells = store.load(name("user"), 0..9).await.expect("it is known");
    let expected = [
        (0, text("hello")),
        (1, Entry::Skipped),
        (2, text("")),
        (3, text("a\0b\r\n\u{1f680}")),
        (6, text("ahead")),
    ];
    assert_eq!(cells, expected);
    assert_eq!(put(&store, 4, "next").await.ok(), Some(Put::Stored));
    assert_eq!(store.extent(name("debate.critic")).await.expect("it is known").prefix, 1);
    let empty = PostgresStore::new(database.address(), "'; drop table cells; --");
    assert_eq!(empty.open().await.expect("it is known"), None);
}

#[tokio::test]
async fn i2_damage_is_told_with_its_column_and_step_and_nothing_else_is_harmed() {
    let Some(database) = Database::new("i2").await else { return };
    database.run(include_str!("fixtures/postgres/format-1.sql")).await;
    database.run(include_str!("fixtures/postgres/format-1-damaged.sql")).await;
    let store = opened(&database.address(), "monday").await;
    let error = store.load(name("user"), 0..9).await.expect_err("it is no text");
    assert!(matches!(&error, StoreError::Corrupt { column, step: 3, .. } if *column == "user"), "{error:?}");
    let says = "`user` at step 3 is damaged: its value in columnar_cells is no text from byte 2 on";
    assert_eq!(error.to_string(), says);
    assert_eq!(store.load(name("user"), 0..3).await.expect("these are whole").len(), 3);
    let exists = put(&store, 3, "something else").await;
    assert!(matches!(exists, Err(StoreError::Corrupt { step: 3, .. })), "it is not replaced: {exists:?}");
    assert!(store.open().await.is_ok());

    let error = store.extent(name("topics")).await.expect_err("there is nothing before all steps");
    assert_eq!(error.to_string(), "`topics` in columnar_cells is damaged: -1 is no step");
    let known = store.extent(name("debate.critic")).await.expect("it was remembered").prefix;
    assert_eq!(known, 3);
    let error = store.load(name("debate.critic"), 0..3).await.expect_err("there was one more");
    assert!(matches!(error, StoreError::Corrupt { step: 1, .. }), "{error:?}");

    let error = PostgresStore::new(database.address(), "tuesday").open().await.expect_err("it is no text");
    assert_eq!(error.to_string(), "the flow \"tuesday\" in PostgreSQL is damaged: its definition is no text");
}

#[tokio::test]
async fn q1_a_column_is_counted_once_and_then_from_where_that_ended() {
    let Some(database) = Database::new("q1").await else { return };
    let store = opened(&database.address(), "monday").await;
    for (stored, remembered) in [(0..600, 0), (600..1200, 1200), (1200..1300, 1200)] {
        let end = stored.end;
        let puts = stored.map(|step| store.put(name("user"), step, Entry::Skipped));
        assert!(join_all(puts).await.iter().all(Result::is_ok));
        assert_eq!(store.extent(name("user")).await.expect("it can be read").prefix, end);
        let there: i64 = database.one("select coalesce(max(prefix), 0) from columnar_prefixes").await;
        assert_eq!(there, remembered);
    }
    // It is not looked for again, so whoever takes it away is found out by reading it.
    database.run("delete from columnar_cells where step = 700").await;
    assert_eq!(store.extent(name("user")).await.expect("it can be read").prefix, 1300);
    let error = store.load(name("user"), 690..710).await.expect_err("it is gone");
    assert!(matches!(error, StoreError::Corrupt { step: 700, .. }), "{error:?}");
}

#[tokio::test]
async fn i4_the_key_of_a_flow_may_be_any_text_but_one_with_nul() {
    let Some(database) = Database::new("i4").await else { return };
    let address = database.address();
    let long = "long ".repeat(400);
    let keys = [
        "",
        " ",
        "a",
        "A",
        "a/../b",
        "'; drop table columnar_cells; --",
        "\\\\ \" $1 %s",
        "e\u{301}",
        "\u{e9}",
        "\r\n",
        &long,
    ];
    for key in keys {
        let store = opened(&address, key).await;
        assert_eq!(put(&store, 0, key).await.ok(), Some(Put::Stored), "{key:?}");
    }
    for key in keys {
        let there = opened(&address, key).await.load(name("user"), 0..9).await;
        assert_eq!(there.ok(), Some(vec![(0, text(key))]), "{key:?}");
    }
    let error = PostgresStore::new(&address, "a\0b").open().await.expect_err("it has a NUL");
    assert_eq!(error.to_string(), "the key of a flow cannot have a NUL in it");
}

#[tokio::test]
async fn i6_steps_are_kept_as_far_as_the_database_counts() {
    let Some(database) = Database::new("i6").await else { return };
    let store = opened(&database.address(), "monday").await;
    let last = usize::try_from(i64::MAX).expect("it is no wider");
    assert_eq!(put(&store, last - 1, "the last").await.ok(), Some(Put::Stored));
    assert_eq!(store.load(name("user"), 0..usize::MAX).await.ok(), Some(vec![(last - 1, text("the last"))]));
    assert_eq!(store.extent(name("user")).await.ok(), Some(Extent { prefix: 0, beyond: vec![last - 1] }));
    let error = put(&store, usize::MAX, "beyond").await.expect_err("it is too far");
    assert!(error.to_string().contains("PostgreSQL cannot count that far"), "{error}");
}

/// Takes down all that is logged, at every level.
struct Logs(Mutex<String>);

impl log::Log for Logs {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        writeln!(self.0.lock().expect("nobody panics"), "{}: {}", record.target(), record.args())
            .expect("there is room");
    }

    fn flush(&self) {}
}

static LOGS: Logs = Logs(Mutex::new(String::new()));

#[tokio::test]
async fn x1_neither_address_nor_password_nor_values_are_in_errors_debug_or_logs() {
    const SECRET: &str = "canary-of-a-password";
    let Some(database) = Database::new("x1").await else { return };
    log::set_logger(&LOGS).expect("it is the only one");
    log::set_max_level(log::LevelFilter::Trace);
    let (host, port) = database.server();
    let malformed = [
        format!("postgres://me:{SECRET}@host/database?{SECRET}={SECRET}"),
        format!("postgres://me:{SECRET}@host:{SECRET}/database"),
        format!("user=me password={SECRET} host=host {SECRET}=1"),
        SECRET.to_owned(),
    ];
    let wrong = [
        // Nobody listens there, nobody has that password, and the server speaks plainly.
        format!("postgres://me:{SECRET}?{SECRET}={SECRET}@127.0.0.1:1/database"),
        format!("postgres://me:{SECRET}@{host}:{port}/postgres"),
        format!("postgres://me:{SECRET}@{host}:{port}/postgres?sslmode=require"),
    ];
    for address in malformed.iter().chain(&wrong) {
        let store = PostgresStore::new(address, "monday");
        assert_eq!(format!("{store:?}"), "PostgresStore { flow: \"monday\", .. }");
        let error = store.open().await.expect_err("it leads nowhere");
        let told = told(&error);
        assert!(!told.contains(SECRET) && !told.contains(address), "{told}");
        let says = "opening the flow \"monday\" in PostgreSQL";
        assert!(
            error.to_string().contains(if wrong.contains(address) { says } else { "is not one" }),
            "{told}"
        );
        let error = Chat::open(store, Log::default()).await.map(drop).expect_err("nor for a flow");
        assert!(!self::told(&error).contains(SECRET), "{error:?}");
    }
    let store = opened(&database.address(), "monday").await;
    assert!(put(&store, 0, "canary-of-a-value").await.is_ok());
    assert!(store.load(name("user"), 0..9).await.is_ok());
    drop(store);
    let logs = LOGS.0.lock().expect("nobody panics").clone();
    assert!(logs.contains("tokio_postgres"), "what is below is heard: {logs}");
    assert!(!logs.contains("canary"), "{logs}");
}

#[tokio::test]
async fn s5_a_server_that_stays_away_halts_the_store_until_it_is_opened_again() {
    let Some(database) = Database::new("s5").await else { return };
    let wire = database.wire();
    let store = opened(&database.address_by(&wire), "monday").await;
    assert_eq!(put(&store, 0, "said 0").await.ok(), Some(Put::Stored));
    wire.part();
    let error = put(&store, 1, "said 1").await.expect_err("there is no server");
    let says = "storing in the flow \"monday\" in PostgreSQL: ";
    assert!(matches!(error, StoreError::Io { .. }) && error.to_string().starts_with(says), "{error:?}");
    wire.mend();
    assert!(matches!(put(&store, 1, "said 1").await, Err(StoreError::Halted)));
    let there = store.load(name("user"), 0..9).await;
    assert_eq!(there.ok(), Some(vec![(0, text("said 0"))]), "it can be read again");
    assert!(store.open().await.is_ok());
    assert_eq!(put(&store, 1, "said 1").await.ok(), Some(Put::Stored));
}

#[tokio::test]
async fn stricter_defaults_of_a_database_change_nothing() {
    let Some(database) = Database::new("stricter defaults").await else { return };
    let stricter = database.address_with(
        "-c default_transaction_isolation=serializable -c synchronous_commit=off -c bytea_output=escape \
        -c standard_conforming_strings=off -c client_min_messages=debug5 -c enable_nestloop=off",
    );
    conformance(|| {
        let (address, flow) = (stricter.clone(), format!("flow {}", NEXT.fetch_add(1, Ordering::SeqCst)));
        move || PostgresStore::new(&address, &flow)
    })
    .await;
}

#[tokio::test]
async fn many_that_open_the_first_flows_of_a_database_at_once_all_do() {
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

/// What is said to the server is written in the program, to the letter.
#[test]
fn i7_no_statement_is_made_of_names_or_values() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../columnar/src/store/postgres");
    let mut statements = 0;
    for file in std::fs::read_dir(folder).expect("it is there") {
        let source = std::fs::read_to_string(file.expect("it can be read").path()).expect("it can be read");
        let source: String = source.split_whitespace().collect();
        for call in ["query_typed", "batch_execute"] {
            for (at, _) in source.match_indices(&format!(".{call}")) {
                let (_, argument) = source[at..].split_once('(').expect("it is called");
                let constant = argument.starts_with('"')
                    || argument
                        .chars()
                        .take_while(|letter| !",)".contains(*letter))
                        .all(|letter| letter.is_ascii_uppercase() || letter == '_');
                assert!(constant, "{argument}");
                statements += 1;
            }
        }
        for other in [
            ".query(",
            ".execute(",
            ".prepare(",
            ".query_one(",
            ".query_opt(",
            ".query_raw(",
            ".simple_query(",
        ] {
            assert!(!source.contains(other), "{other} is not looked at here");
        }
    }
    assert!(statements >= 15, "{statements}");
}
