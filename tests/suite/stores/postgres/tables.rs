//! The tables: formats, damage, unusual texts, and the errors about them.

use std::fmt::Write;
use std::sync::Mutex;
use std::{env, fs};

use columnar::prelude::*;
use columnar::store::{Entry, PostgresStore, Put, Store, StoreError, StoredSteps};
use columnar_tests::log::Log;
use columnar_tests::postgres::Database;
use columnar_tests::process::test_alone;
use futures::future::join_all;

use super::{Chat, log_text, name, opened, put, text};

#[tokio::test]
async fn s4_a_read_only_server_cannot_be_opened() {
    let Some(database) = Database::new("s4, read only").await else { return };
    drop(opened(&database.address(), "monday").await);
    let before: String = database.one(ALL).await;
    for flow in ["monday", "tuesday"] {
        let address = database.address_with("-c default_transaction_read_only=on");
        let error = PostgresStore::new(address, flow).open().await.expect_err("nothing can be written");
        let expected = format!("opening the flow \"{flow}\" in PostgreSQL: the server says \"cannot execute");
        assert!(error.to_string().starts_with(&expected), "{error}");
    }
    assert_eq!(database.one::<String>(ALL).await, before);
}

/// All rows.
const ALL: &str = "select format('%s %s %s %s',
    (select array_agg(it) from columnar_format it), (select array_agg(it) from columnar_flows it),
    (select array_agg(it) from columnar_cells it), (select array_agg(it) from columnar_prefixes it))";

#[tokio::test]
async fn a_rehearsal_changes_no_row_of_the_flow() {
    let Some(database) = Database::new("rehearsal").await else { return };
    let step = Log::default().upper("map");
    let columns = [column("map", (source("user"), this()), step)];
    let f = Flow::open(PostgresStore::new(database.address(), "monday"), columns).await.expect("it is new");
    for text in ["one", "two"] {
        f.push("user", text).await.expect("it is stored");
    }
    f.run().await.expect("nothing fails");
    let before: String = database.one(ALL).await;
    let rehearsal = f.rehearse("map").await.expect("a column");
    rehearsal.run().await.expect("nothing fails");
    rehearsal.adopt().expect("the column is there").run().await.expect("nothing fails");
    assert_eq!((rehearsal.comparison().same(), database.one::<String>(ALL).await), (2, before));
}

#[tokio::test]
async fn s13_a_newer_format_is_rejected_before_anything_is_written() {
    let Some(database) = Database::new("s13").await else { return };
    drop(opened(&database.address(), "monday").await);
    for (change, expected) in [
        ("update columnar_format set format = 5", "has format 5, and this version reads formats up to 4"),
        ("update columnar_format set format = -7", "is damaged: there is no format -7"),
        ("delete from columnar_format", "is damaged: columnar_format has 0 rows instead of one"),
    ] {
        database.run(change).await;
        let before: String = database.one(ALL).await;
        for flow in ["monday", "tuesday"] {
            let error = PostgresStore::new(database.address(), flow).open().await.expect_err("it is unknown");
            assert!(error.to_string().contains(expected), "{error}");
        }
        assert_eq!(database.one::<String>(ALL).await, before, "{change}");
    }
}

#[tokio::test]
async fn s13_format_1_is_readable() {
    let Some(database) = Database::new("s13, format 1").await else { return };
    database.run(include_str!("../../../fixtures/postgres/format-1.sql")).await;
    let store = PostgresStore::new(database.address(), "monday");
    assert_eq!(store.open().await.expect("it is known").as_deref(), Some("{\"columns\":[\"user\"]}\0"));
    let stored_steps = store.stored_steps(name("user")).await.expect("it is known");
    assert_eq!(stored_steps, StoredSteps { prefix: 4, beyond: vec![6] });
    let cells = store.load(name("user"), 0..9).await.expect("it is known");
    let expected = [
        (0, text("hello")),
        (1, Entry::SKIPPED),
        (2, text("")),
        (3, text("a\0b\r\n\u{1f680}")),
        (6, text("ahead")),
    ];
    assert_eq!(cells, expected);
    assert_eq!(put(&store, 4, "next").await.ok(), Some(Put::Stored));
    assert_eq!(store.stored_steps(name("debate.critic")).await.expect("it is known").prefix, 1);
    let empty = PostgresStore::new(database.address(), "'; drop table cells; --");
    assert_eq!(empty.open().await.expect("it is known"), None);
}

const PAID: &str = r#"{"model":"a/b","calls":1,"attempts":1,"input":120,"output":8,"ms":640,"id":"\"7\""}"#;
const IN_VAIN: &str = r#"{"calls":3,"untold":3,"attempts":3,"ms":9000}"#;

#[tokio::test]
async fn s13_format_2_is_readable() {
    let Some(database) = Database::new("s13, format 2").await else { return };
    database.run(include_str!("../../../fixtures/postgres/format-2.sql")).await;
    let store = opened(&database.address(), "monday").await;
    let expected = [
        (0, text("weak").with_receipt(PAID)),
        (1, Entry::SKIPPED.with_receipt(IN_VAIN)),
        (2, Entry::SKIPPED),
        (4, text("").with_receipt(IN_VAIN)),
    ];
    assert_eq!(store.load(name("debate.critic"), 0..9).await.expect("it is known"), expected);
    assert_eq!(
        store.load(name("user"), 0..9).await.expect("it is known"),
        [(0, text("hello")), (1, text(""))]
    );
    // The checksum includes the receipt.
    for (change, step) in [
        ("update columnar_cells set receipt = null where step = 0 and receipt is not null", 0),
        ("update columnar_cells set value = receipt, receipt = null where step = 1", 1),
        ("update columnar_cells set receipt = '' where step = 2", 2),
        ("update columnar_cells set value = null where step = 4", 4),
    ] {
        database.run(change).await;
        let error = store.load(name("debate.critic"), step..step + 1).await.expect_err("it was changed");
        assert!(
            matches!(error, StoreError::Corrupt { step: reported, .. } if reported == step),
            "{change}: {error}"
        );
    }
}

#[tokio::test]
async fn s13_format_3_is_readable() {
    let Some(database) = Database::new("s13, format 3").await else { return };
    database.run(include_str!("../../../fixtures/postgres/format-3.sql")).await;
    let store = PostgresStore::new(database.address(), "monday");
    assert_eq!(store.open().await.expect("it is known").as_deref(), Some("{\"columns\":[\"user\"]}\0"));
    let critic = store.stored_steps(name("debate.critic")).await.expect("it is known");
    assert_eq!(critic, StoredSteps { prefix: 3, beyond: vec![4] });
    assert_eq!(store.load(name("debate.critic"), 0..9).await.expect("it is known").len(), 4);
    assert_eq!(put(&store, 2, "next").await.ok(), Some(Put::Stored));
    store.put_blob("ab".repeat(32), [7].into()).await.expect("there is a table for attachments");
    drop(store);
    let counted: i64 = database.one("select prefix from columnar_prefixes where \"column\" = 'user'").await;
    assert_eq!(counted, 2, "the first steps were not asked for");
    let store = opened(&database.address(), "monday").await;
    assert_eq!(store.stored_steps(name("user")).await.expect("it is known").prefix, 3);
}

#[tokio::test]
async fn s13_format_2_counts_its_columns_when_it_is_opened() {
    let Some(database) = Database::new("s13, upgrade 2").await else { return };
    database.run(include_str!("../../../fixtures/postgres/format-2.sql")).await;
    let store = opened(&database.address(), "monday").await;
    assert_eq!(store.stored_steps(name("debate.critic")).await.expect("it is known").prefix, 3);
    drop(store);
    assert_eq!(database.one::<i32>("select columns from columnar_flows where key = 'monday'").await, 2);
    database.run("delete from columnar_prefixes where \"column\" = 'user'").await;
    let error = PostgresStore::new(database.address(), "monday").open().await.expect_err("it is gone");
    assert!(error.to_string().ends_with("has the rows of 1 columns, and there were 2"), "{error}");
}

#[tokio::test]
async fn s13_format_1_gets_a_column_for_receipts_and_its_rows_do_not_change() {
    const ROWS: &str = r#"select string_agg(format('%s %s %s %s', "column", step, value, sum), ',' order by "column", step)
        from columnar_cells where step <> 4"#;
    let Some(database) = Database::new("s13, upgrade").await else { return };
    database.run(include_str!("../../../fixtures/postgres/format-1.sql")).await;
    let before: String = database.one(ROWS).await;
    // Many at once, as when a service restarts.
    let stores: Vec<_> =
        (0..6).map(|flow| PostgresStore::new(database.address(), format!("{flow}"))).collect();
    for opened in join_all(stores.iter().map(Store::open)).await {
        assert_eq!(opened.expect("it is known"), None);
    }
    let store = opened(&database.address(), "monday").await;
    let paid = text("next").with_receipt(PAID);
    assert_eq!(store.put(name("user"), 4, paid.clone()).await.ok(), Some(Put::Stored));
    drop(store);
    let store = opened(&database.address(), "monday").await;
    assert_eq!(store.load(name("user"), 4..5).await.expect("it is there"), [(4, paid)]);
    assert_eq!(database.one::<String>(ROWS).await, before);
    assert_eq!(database.one::<i32>("select format from columnar_format").await, 4);
}

#[tokio::test]
async fn i2_damage_is_an_error_with_column_and_step_and_other_cells_are_readable() {
    let Some(database) = Database::new("i2").await else { return };
    database.run(include_str!("../../../fixtures/postgres/format-1.sql")).await;
    database.run(include_str!("../../../fixtures/postgres/format-1-damaged.sql")).await;
    let store = opened(&database.address(), "monday").await;
    let error = store.load(name("user"), 0..9).await.expect_err("it is no text");
    assert!(matches!(&error, StoreError::Corrupt { column, step: 3, .. } if *column == "user"), "{error:?}");
    let expected = "`user` at step 3 is damaged: its value in columnar_cells is no text";
    assert_eq!(error.to_string(), expected);
    assert_eq!(store.load(name("user"), 0..3).await.expect("these are whole").len(), 3);
    let exists = put(&store, 3, "something else").await;
    assert!(matches!(exists, Err(StoreError::Corrupt { step: 3, .. })), "it is not replaced: {exists:?}");
    assert!(store.open().await.is_ok());

    let error = store.stored_steps(name("topics")).await.expect_err("there is nothing before all steps");
    assert_eq!(error.to_string(), "`topics` in columnar_cells is damaged: -1 is no step");
    let known = store.stored_steps(name("debate.critic")).await.expect("it was remembered").prefix;
    assert_eq!(known, 3);
    let error = store.load(name("debate.critic"), 0..3).await.expect_err("there was one more");
    assert!(matches!(error, StoreError::Corrupt { step: 1, .. }), "{error:?}");

    let error = PostgresStore::new(database.address(), "tuesday").open().await.expect_err("it is no text");
    assert_eq!(error.to_string(), "the flow \"tuesday\" in PostgreSQL is damaged: its definition is no text");
}

#[tokio::test]
async fn s3_a_changed_or_moved_value_is_an_error_and_other_cells_are_readable() {
    let Some(database) = Database::new("s3").await else { return };
    let store = opened(&database.address(), "monday").await;
    for step in 0..5 {
        assert_eq!(put(&store, step, &format!("said {step}")).await.ok(), Some(Put::Stored));
    }
    assert_eq!(store.stored_steps(name("user")).await.expect("it can be read").prefix, 5);
    for (change, damaged) in [
        ("update columnar_cells set value = 'said what' where step = 0", &[0][..]),
        ("update columnar_cells set value = null where step = 1", &[0, 1]),
        ("update columnar_cells set sum = sum + 1 where step = 2", &[0, 1, 2]),
        ("update columnar_cells set step = 7 - step where step in (3, 4)", &[0, 1, 2, 3, 4]),
        ("delete from columnar_cells where step = 0", &[0, 1, 2, 3, 4]),
    ] {
        // Two rows that are swapped violate the key for a moment.
        database.run("alter table columnar_cells drop constraint if exists columnar_cells_pkey").await;
        database.run(change).await;
        for step in 0..5 {
            let found = store.load(name("user"), step..step + 1).await;
            match found {
                Ok(_) => assert!(!damaged.contains(&step), "{change}: {step}"),
                Err(StoreError::Corrupt { step: reported, .. }) => {
                    assert!(damaged.contains(&step) && reported == step, "{change}: {step}, {reported}");
                }
                Err(error) => unreachable!("{change}: {error}"),
            }
        }
    }
}

/// The message of the error of a `load`, or the number of entries.
async fn loaded(store: &PostgresStore, column: &str) -> Result<usize, String> {
    let loaded = store.load(name(column), 0..9).await;
    loaded.map(|entries| entries.len()).map_err(|error| error.to_string())
}

/// Rows that somebody deleted while a flow was closed: its cells were computed again, without a word.
#[tokio::test]
async fn s3_rows_that_are_deleted_while_a_flow_is_closed_are_errors() {
    let gone = |step| Err(format!("`map` at step {step} is damaged: its row in columnar_cells is gone"));
    let refused = |reason: &str| Err(format!("the flow \"monday\" in PostgreSQL is damaged: {reason}"));
    let rows = "columnar_prefixes has the rows of 1 columns, and there were 2";
    let changed = || Err("`map` in columnar_prefixes is damaged: its row was changed".to_owned());
    for (change, expected) in [
        ("delete from columnar_cells where \"column\" = 'map' and step = 4", gone(4)),
        ("delete from columnar_cells where \"column\" = 'map' and step = 1", gone(1)),
        ("delete from columnar_cells where \"column\" = 'map'", gone(0)),
        ("delete from columnar_prefixes where \"column\" = 'map'", refused(rows)),
        (
            "delete from columnar_prefixes where \"column\" = 'map'; delete from columnar_cells where \"column\" = 'map'",
            refused(rows),
        ),
        ("update columnar_prefixes set prefix = prefix - 1 where \"column\" = 'map'", changed()),
        ("update columnar_prefixes set prefix = 1::bigint << 40 where \"column\" = 'map'", changed()),
        ("update columnar_flows set columns = columns - 1", refused("its row in columnar_flows was changed")),
        ("update columnar_flows set definition = '{}'", refused("its row in columnar_flows was changed")),
        ("update columnar_flows set owners = owners + 1", Ok(5)),
    ] {
        let Some(database) = Database::new("s3, deleted").await else { return };
        let address = database.address();
        let store = opened(&address, "monday").await;
        store.define("the definition".into()).await.expect("it is defined");
        for step in 0..5 {
            for column in ["user", "map"] {
                store.put(name(column), step, text(format!("{step}"))).await.expect("it is stored");
            }
        }
        drop(store);
        database.run(change).await;
        for _ in 0..2 {
            let store = PostgresStore::new(&address, "monday");
            let found = match store.open().await {
                Err(error) => Err(error.to_string()),
                Ok(_) => {
                    assert_eq!(loaded(&store, "user").await, Ok(5), "{change}");
                    match store.stored_steps(name("map")).await {
                        Ok(stored_steps) => {
                            assert_eq!(stored_steps, StoredSteps { prefix: 5, beyond: vec![] }, "{change}");
                            loaded(&store, "map").await
                        }
                        Err(error) => Err(error.to_string()),
                    }
                }
            };
            assert_eq!(found, expected, "{change}");
        }
    }
}

/// A process that is killed counts nothing at its end. The next opening counts what it stored.
#[tokio::test]
async fn s3_rows_that_are_deleted_after_a_kill_are_errors_up_to_the_last_opening() {
    let Some(database) = Database::new("s3, killed").await else { return };
    let address = database.address();
    let fill = async |steps: std::ops::Range<usize>| {
        let store = opened(&address, "monday").await;
        let first = store.stored_steps(name("map")).await.expect("it can be read").prefix;
        for step in steps {
            store.put(name("map"), step, text(format!("{step}"))).await.expect("it is stored");
        }
        // Its connection ends before it is closed.
        database.end_sessions().await;
        drop(store);
        first
    };
    assert_eq!(fill(0..3).await, 0);
    // Not counted, so it is computed again.
    database.run("delete from columnar_cells where step = 2").await;
    assert_eq!(fill(2..4).await, 2);
    database.run("delete from columnar_cells where step = 1").await;
    let store = opened(&address, "monday").await;
    assert_eq!(store.stored_steps(name("map")).await.expect("it can be read").prefix, 4);
    assert_eq!(
        loaded(&store, "map").await,
        Err("`map` at step 1 is damaged: its row in columnar_cells is gone".to_owned())
    );
}

/// A flow whose definition was removed was opened with any columns.
#[tokio::test]
async fn s21_a_definition_that_is_removed_is_an_error() {
    let Some(database) = Database::new("s21").await else { return };
    let store = opened(&database.address(), "monday").await;
    store.define("the definition".into()).await.expect("it is defined");
    put(&store, 0, "hello").await.expect("it is stored");
    drop(store);
    database.run("update columnar_flows set definition = null").await;
    let error = PostgresStore::new(database.address(), "monday").open().await.expect_err("it is gone");
    let expected = "the flow \"monday\" in PostgreSQL is damaged: its row in columnar_flows was changed";
    assert_eq!(error.to_string(), expected);
}

/// One wrong bit in a number made opening the flow take gigabytes.
#[tokio::test]
async fn i6_a_damaged_number_of_steps_is_an_error_before_anything_depends_on_it() {
    let Some(database) = Database::new("i6, prefix").await else { return };
    let columns = || [column("map", source("user").latest(), Log::default().upper("map"))];
    let store = || PostgresStore::new(database.address(), "monday");
    let f = Flow::open(store(), columns()).await.expect("it is new");
    f.push("user", "hello").await.expect("it is stored");
    f.run().await.expect("nothing fails");
    drop(f);
    for (change, expected) in [
        (
            "update columnar_prefixes set prefix = prefix | (1::bigint << 40) where \"column\" = 'user'",
            "`user` in columnar_prefixes is damaged: its row was changed",
        ),
        // A row of an earlier version has no checksum.
        (
            "update columnar_prefixes set sum = null where \"column\" = 'user'",
            "`user` at step 1099511627776 is damaged: its row in columnar_cells is gone",
        ),
    ] {
        database.run(change).await;
        let error = Flow::open(store(), columns()).await.expect_err("there are no such steps");
        let Error::Load { column, source } = error else { panic!("{error}") };
        assert_eq!((column, source.to_string()), (name("user"), expected.to_owned()));
    }
}

#[tokio::test]
async fn q1_counting_a_column_resumes_at_the_stored_prefix() {
    let Some(database) = Database::new("q1").await else { return };
    let store = opened(&database.address(), "monday").await;
    for (stored, remembered) in [(0..600, 600), (600..1200, 1200), (1200..1300, 1300)] {
        let end = stored.end;
        let puts = stored.map(|step| store.put(name("user"), step, Entry::SKIPPED));
        assert!(join_all(puts).await.iter().all(Result::is_ok));
        assert_eq!(store.stored_steps(name("user")).await.expect("it can be read").prefix, end);
        let there: i64 = database.one("select coalesce(max(prefix), 0) from columnar_prefixes").await;
        assert_eq!(there, remembered);
    }
    // Stored steps are not listed again, so a removed one is detected when it is loaded.
    database.run("delete from columnar_cells where step = 700").await;
    assert_eq!(store.stored_steps(name("user")).await.expect("it can be read").prefix, 1300);
    let error = store.load(name("user"), 690..710).await.expect_err("it is gone");
    assert!(matches!(error, StoreError::Corrupt { step: 700, .. }), "{error:?}");
}

#[tokio::test]
async fn i4_the_key_of_a_flow_may_be_any_text_without_nul() {
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
async fn i6_steps_beyond_the_range_of_the_database_are_an_error() {
    let Some(database) = Database::new("i6").await else { return };
    let store = opened(&database.address(), "monday").await;
    let last = usize::try_from(i64::MAX).expect("it is no wider");
    assert_eq!(put(&store, last - 1, "the last").await.ok(), Some(Put::Stored));
    assert_eq!(store.load(name("user"), 0..usize::MAX).await.ok(), Some(vec![(last - 1, text("the last"))]));
    assert_eq!(
        store.stored_steps(name("user")).await.ok(),
        Some(StoredSteps { prefix: 0, beyond: vec![last - 1] })
    );
    let error = put(&store, usize::MAX, "beyond").await.expect_err("it is too far");
    assert!(error.to_string().contains("PostgreSQL cannot count that far"), "{error}");
}

/// Records all log messages, at every level.
struct Logs(Mutex<String>);

impl log::Log for Logs {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        writeln!(self.0.lock().expect("no test panics"), "{}: {}", record.target(), record.args())
            .expect("there is room");
    }

    fn flush(&self) {}
}

/// Marks the process that has its own logger, since other tests of this program log as well.
const LOGGED: &str = "COLUMNAR_PG_LOGGED";

static LOGS: Logs = Logs(Mutex::new(String::new()));

#[tokio::test]
async fn x1_neither_address_nor_password_nor_values_are_in_errors_debug_or_logs() {
    const SECRET: &str = "canary-of-a-password";
    let Some(database) = Database::new("x1").await else { return };
    if env::var_os(LOGGED).is_none() {
        let test = "x1_neither_address_nor_password_nor_values_are_in_errors_debug_or_logs";
        let alone = test_alone(module_path!(), test).env(LOGGED, "1").output().expect("it runs");
        let output = String::from_utf8_lossy(&alone.stdout);
        assert!(alone.status.success() && output.contains("1 passed"), "{alone:?}");
        return;
    }
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
        // No server at this address, a wrong password, and a server without encryption.
        format!("postgres://me:{SECRET}?{SECRET}={SECRET}@127.0.0.1:1/database"),
        format!("postgres://me:{SECRET}@{host}:{port}/postgres"),
        format!("postgres://me:{SECRET}@{host}:{port}/postgres?sslmode=require"),
    ];
    for address in malformed.iter().chain(&wrong) {
        let store = PostgresStore::new(address, "monday");
        assert_eq!(format!("{store:?}"), "PostgresStore { flow: \"monday\", .. }");
        let error = store.open().await.expect_err("it leads nowhere");
        let text = log_text(&error);
        assert!(!text.contains(SECRET) && !text.contains(address), "{text}");
        let expected = if malformed.contains(address) {
            "is not one"
        } else if address.contains("require") && !cfg!(feature = "postgres-tls") {
            "needs the feature `postgres-tls`"
        } else {
            "opening the flow \"monday\" in PostgreSQL"
        };
        assert!(error.to_string().contains(expected), "{text}");
        let error = Chat::open(store, Log::default()).await.map(drop).expect_err("nor for a flow");
        assert!(!log_text(&error).contains(SECRET), "{error:?}");
    }
    let store = opened(&database.address(), "monday").await;
    assert!(put(&store, 0, "canary-of-a-value").await.is_ok());
    assert!(store.load(name("user"), 0..9).await.is_ok());
    drop(store);
    let logs = LOGS.0.lock().expect("no test panics").clone();
    assert!(logs.contains("tokio_postgres"), "messages of the client are recorded: {logs}");
    assert!(!logs.contains("canary"), "{logs}");
}

/// The statements are constants of the program.
#[test]
fn i7_no_statement_contains_names_or_values() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../columnar/src/store/postgres");
    let mut statements = 0;
    for file in fs::read_dir(folder).expect("it is there") {
        let source = fs::read_to_string(file.expect("it can be read").path()).expect("it can be read");
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
