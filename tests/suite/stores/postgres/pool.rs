//! Flows that share connections: faults of one flow, of a connection, and of all of them.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use columnar::prelude::*;
use columnar::store::{PostgresStore, Put, Store, StoreError};
use columnar::testing::conformance;
use columnar_tests::cuts::open_at_last;
use columnar_tests::log::Log;
use columnar_tests::postgres::{Cut, Database, Way};
use futures::future::{join_all, try_join_all};
use tokio::join;

use super::{NEXT, name, put, text};

/// Stores of flows on these connections, all open.
async fn open_stores(root: &PostgresStore, keys: impl Iterator<Item = usize>) -> Vec<PostgresStore> {
    let stores: Vec<_> = keys.map(|key| root.flow(format!("flow {key}"))).collect();
    for opened in join_all(stores.iter().map(Store::open)).await {
        opened.expect("the flow is free");
    }
    stores
}

/// The address with a name for the sessions, and the query for their number.
fn named(database: &Database, sessions: &str) -> [String; 2] {
    let count = format!(
        "select count(*) from pg_stat_activity where application_name = '{sessions}_{}'",
        std::process::id()
    );
    [format!("{} application_name={sessions}_{}", database.address(), std::process::id()), count]
}

async fn load(store: &PostgresStore) -> Vec<(usize, columnar::store::Entry)> {
    store.load(name("user"), 0..1000).await.expect("it can be read")
}

async fn conforms(root: &Arc<PostgresStore>) {
    conformance(|| {
        let root = Arc::clone(root);
        let key = format!("flow {}", NEXT.fetch_add(1, Ordering::SeqCst));
        move || root.flow(&key)
    })
    .await;
}

#[tokio::test]
async fn two_flows_on_a_connection_conform_to_the_contract() {
    let Some(database) = Database::new("two flows on a connection").await else { return };
    let root = Arc::new(PostgresStore::new(database.address(), "neighbour").connections(1));
    root.open().await.expect("it is free");
    join!(conforms(&root), conforms(&root));
    assert_eq!(put(&root, 0, "said").await.ok(), Some(Put::Stored), "the neighbour goes on");
}

#[tokio::test]
async fn s15_three_hundred_flows_are_open_on_four_connections() -> Result<()> {
    const MANY: usize = 300;
    let Some(database) = Database::new("s15").await else { return Ok(()) };
    let [address, count] = named(&database, "s15");
    let log = Log::default();
    let answer = column("answer", source("user").latest(), log.upper("answer"));
    let root = PostgresStore::new(address, "root");
    for step in 0..2 {
        let chats = (0..MANY).map(|key| Flow::open(root.flow(key.to_string()), [&answer]));
        let chats = try_join_all(chats).await?;
        assert_eq!(database.one::<i64>(&count).await, 4);
        try_join_all(chats.iter().map(|chat| chat.push("user", "hello"))).await?;
        try_join_all(chats.iter().map(|chat| async { chat.run().await })).await?;
        assert_eq!(log.calls(), MANY * (step + 1), "nothing is computed twice");
        assert!(chats.iter().all(|chat| chat.steps() == step + 1));
        drop(chats);
        database.run(&format!("do $$ begin while ({count}) > 0 loop perform pg_sleep(0.01); perform pg_stat_clear_snapshot(); end loop; end $$")).await;
    }
    let [alone, count] = named(&database, "s15_alone");
    let alone = PostgresStore::new(alone, "0");
    alone.open().await.expect("all are closed");
    assert_eq!(load(&alone).await.len(), 2);
    assert_eq!(database.one::<i64>(&count).await, 1);
    Ok(())
}

#[tokio::test]
async fn c4_sessions_of_fifty_flows_that_the_server_ends_lose_nothing_and_store_nothing_twice() {
    const STEPS: usize = 12;
    let Some(database) = Database::new("c4, fifty flows").await else { return };
    let [address, count] = named(&database, "c4");
    // Those that are connecting as well, which have no locks yet.
    let end = count.replace("count(*)", "count(pg_terminate_backend(pid))");
    let root = PostgresStore::new(address, "root");
    let stores = open_stores(&root, 0..50).await;
    let writes = stores.iter().enumerate().map(async |(flow, store)| {
        for step in 0..STEPS {
            // `Put::Exists` is wrong as well: the store mistook the entry for one of another writer.
            let stored = put(store, step, &format!("said in {flow} at {step}")).await;
            assert!(matches!(stored, Ok(Put::Stored)), "{flow} at {step}: {stored:?}");
        }
    });
    let mut ended = 0;
    let ends = async {
        for cells in (50..500).step_by(50) {
            while database.one::<i64>("select count(*) from columnar_cells").await < cells {}
            ended += database.one::<i64>(&end).await;
        }
    };
    join!(join_all(writes), ends);
    assert!(ended >= 9, "{ended}");
    let owners: i64 = database.one("select max(owners) from columnar_flows").await;
    assert_eq!(owners, 1, "nobody else was the owner meanwhile");
    // A session that ends after the last write is noticed by the next request.
    for store in &stores {
        assert_eq!(load(store).await.len(), STEPS);
    }
    for flow in [0, 17, 49] {
        let second = PostgresStore::new(database.address(), format!("flow {flow}")).open().await;
        assert!(matches!(second, Err(StoreError::Locked { .. })), "the locks are held again: {second:?}");
    }
    drop(stores);
    for (flow, store) in open_stores(&root, 0..50).await.iter().enumerate() {
        let expected = (0..STEPS).map(|step| (step, text(format!("said in {flow} at {step}"))));
        assert_eq!(load(store).await, expected.collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn c4_a_connection_of_several_flows_that_is_cut_at_any_byte_loses_nothing() {
    let Some(database) = Database::new("c4, several flows").await else { return };
    let wire = database.wire();
    let root = PostgresStore::new(database.address_by(&wire), "root").connections(1);
    let stores = open_stores(&root, 0..3).await;
    let mut step = 0;
    for cut in [Cut::Through, Cut::Unheard] {
        for way in [Way::ToServer, Way::ToClient] {
            wire.cut_after(way, u64::MAX, cut);
            let (mut after, mut all) = (None, 0);
            while after.is_none_or(|after| after < all) {
                if let Some(after) = after {
                    wire.cut_after(way, after, cut);
                }
                // In one write, or two: the first put may begin alone.
                let puts = stores.iter().map(|store| put(store, step, "said"));
                for stored in join_all(puts).await {
                    assert!(matches!(stored, Ok(Put::Stored)), "{way:?} {cut:?} {after:?}: {stored:?}");
                }
                step += 1;
                if after.is_none() {
                    all = wire.passed(way);
                }
                after = Some(after.map_or(0, |after| after + all / 15));
            }
        }
    }
    // Fewer than all: three puts are one write or two, which have more bytes.
    assert!(wire.cuts() >= 30, "{}", wire.cuts());
    wire.mend();
    for store in &stores {
        let there = load(store).await;
        assert_eq!(there, (0..step).map(|step| (step, text("said"))).collect::<Vec<_>>());
    }
    drop(stores);
    open_stores(&PostgresStore::new(database.address(), "root"), 0..3).await;
}

#[tokio::test]
async fn s26_a_flow_that_another_owner_has_taken_is_refused_and_its_neighbours_go_on() {
    let Some(database) = Database::new("s26, taken").await else { return };
    for connections in [1, 4] {
        let root = PostgresStore::new(database.address(), "root").connections(connections);
        let stores = open_stores(&root, 0..8).await;
        for store in &stores {
            assert!(put(store, 0, "first").await.is_ok());
        }
        database.end_sessions().await;
        let taken = open_at_last(|| PostgresStore::new(database.address(), "flow 3")).await;
        let taken = taken.expect("its session has ended");
        // All at once, as they are due.
        let puts = join_all(stores.iter().map(|store| put(store, connections, "first"))).await;
        for (flow, stored) in puts.into_iter().enumerate() {
            match stored {
                Err(StoreError::Locked { location }) => {
                    assert_eq!((flow, &*location), (3, "the flow \"flow 3\" in PostgreSQL"));
                }
                stored => assert!(flow != 3 && matches!(stored, Ok(Put::Stored)), "{flow}: {stored:?}"),
            }
        }
        assert!(matches!(put(&stores[3], 2, "first").await, Err(StoreError::Halted)));
        assert!(matches!(stores[3].load(name("user"), 0..1).await, Err(StoreError::Locked { .. })));
        assert_eq!(put(&taken, connections, "second").await.ok(), Some(Put::Stored));
        assert!(matches!(stores[3].open().await, Err(StoreError::Locked { .. })), "it has an owner");
        drop(taken);
        stores[3].open().await.expect("it is free");
        let there = stores[3].load(name("user"), connections..connections + 1).await;
        assert_eq!(there.ok(), Some(vec![(connections, text("second"))]));
        for (flow, store) in stores.iter().enumerate() {
            assert_eq!(put(store, connections + 1, "first").await.ok(), Some(Put::Stored), "{flow}");
        }
    }
}

#[tokio::test]
async fn s26_a_flow_has_one_owner_on_a_connection_and_its_drop_leaves_the_others_alone() {
    let Some(database) = Database::new("s26, dropped").await else { return };
    let [address, count] = named(&database, "s26");
    let root = PostgresStore::new(address, "root").connections(1);
    let mut stores = open_stores(&root, 0..4).await;
    // The session has the lock, and would get it a second time.
    let second = root.flow("flow 0");
    assert!(matches!(second.open().await, Err(StoreError::Locked { .. })));
    assert!(matches!(second.delete().await, Err(StoreError::Locked { .. })));
    second.open_to_read().await.expect("a reader needs no lock");
    drop(second);
    let elsewhere = PostgresStore::new(database.address(), "flow 0");
    assert!(matches!(elsewhere.open().await, Err(StoreError::Locked { .. })), "it is locked still");

    drop(stores.remove(0));
    elsewhere.open().await.expect("it is free at once");
    assert!(
        matches!(root.flow("flow 0").open().await, Err(StoreError::Locked { .. })),
        "it has another owner"
    );
    drop(elsewhere);
    root.flow("flow 0").delete().await.expect("nobody has it open");
    root.flow("flow 0").open().await.expect("the deletion left no lock");
    PostgresStore::new(database.address(), "flow 0").open().await.expect("nor did the opening");
    for store in &stores {
        assert_eq!(put(store, 0, "said").await.ok(), Some(Put::Stored));
    }
    assert_eq!(database.one::<i64>(&count).await, 1);
    assert_eq!(PostgresStore::flows(database.address()).await.expect("a list").len(), 4);
}

#[tokio::test]
async fn s26_a_flow_whose_write_the_server_refuses_does_not_halt_its_neighbours() {
    let Some(database) = Database::new("s26, refused").await else { return };
    let root = PostgresStore::new(database.address(), "root").connections(1);
    let stores = open_stores(&root, 0..6).await;
    database
        .run(
            "create function refuse() returns trigger language plpgsql as $$ begin \
            if new.value = 'bad' then raise exception 'no'; end if; return new; end $$; \
            create trigger refuse before insert on columnar_cells for each row execute function refuse()",
        )
        .await;
    // The second error is found here, not by the server.
    let puts = stores.iter().enumerate().map(async |(flow, store)| match flow {
        2 => put(store, 0, "bad").await,
        4 => put(store, usize::MAX, "too far").await,
        _ => put(store, 0, "good").await,
    });
    for (flow, stored) in join_all(puts).await.into_iter().enumerate() {
        assert_eq!(stored.is_err(), flow % 2 == 0 && flow > 0, "{flow}: {stored:?}");
    }
    for (flow, store) in stores.iter().enumerate() {
        let next = put(store, 1, "good").await;
        let is_halted = matches!(next, Err(StoreError::Halted));
        assert_eq!(is_halted, flow == 2 || flow == 4, "{flow}: {next:?}");
        assert!(is_halted || next.is_ok());
        store.load(name("user"), 0..9).await.expect("reading goes on, outside of the failed transaction");
    }
    let stored: i64 = database.one("select count(*) from columnar_cells").await;
    assert_eq!(stored, 8);
}

/// A request of another flow may wait for the server without end.
#[tokio::test(flavor = "multi_thread")]
async fn s12_dropping_a_flow_does_not_wait_for_a_neighbour_that_a_silent_server_holds_up() {
    let Some(database) = Database::new("s12, neighbours").await else { return };
    let wire = database.wire();
    let root = PostgresStore::new(database.address_by(&wire), "root").connections(1);
    let mut stores = open_stores(&root, 0..3).await;
    wire.cut_after(Way::ToServer, 0, Cut::Silent);
    let [waits, idle, opens] = [stores.remove(0), stores.remove(0), root.flow("opening")];
    let waits = Arc::new(waits);
    let waiting = tokio::spawn({
        let waits = Arc::clone(&waits);
        async move { put(&*waits, 0, "said").await }
    });
    while wire.cuts() == 0 {
        tokio::task::yield_now().await;
    }
    let opening = tokio::spawn(async move { opens.open().await });
    opening.abort();
    let (dropped, is_dropped) = std::sync::mpsc::channel();
    thread::spawn(move || {
        drop(idle);
        dropped.send(()).expect("the test waits");
    });
    is_dropped.recv_timeout(Duration::from_mins(1)).expect("it does not wait");
    wire.mend();
    let stored = waiting.await.expect("no panic");
    assert!(matches!(stored, Ok(Put::Stored)), "{stored:?}");
    assert_eq!(put(&stores[0], 0, "said").await.ok(), Some(Put::Stored), "the neighbours go on");
    open_at_last(|| PostgresStore::new(database.address(), "flow 1")).await.expect("it is free");
}

#[tokio::test(flavor = "multi_thread")]
async fn s26_a_list_of_flows_that_is_dropped_leaves_no_session() {
    let Some(database) = Database::new("s26, list").await else { return };
    let [_, count] = named(&database, "s26_list");
    let wire = database.wire();
    drop(open_stores(&PostgresStore::new(database.address(), "root"), 0..40).await);
    let address = format!("{} application_name=s26_list_{}", database.address_by(&wire), std::process::id());
    let mut whole = 0;
    for bytes in (0..3000).step_by(100) {
        wire.cut_after(Way::ToClient, u64::MAX, Cut::Through);
        let is_whole = tokio::select! {
            biased;
            keys = PostgresStore::flows(&address) => keys.expect("a list").len() == 40,
            () = async { while wire.passed(Way::ToClient) < bytes { tokio::task::yield_now().await } } => false,
        };
        whole += usize::from(is_whole);
    }
    assert!((1..30).contains(&whole), "{whole} lists were complete before they were dropped");
    database.run(&format!("do $$ begin while ({count}) > 0 loop perform pg_sleep(0.01); perform pg_stat_clear_snapshot(); end loop; end $$")).await;
}
