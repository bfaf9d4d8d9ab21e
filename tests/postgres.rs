//! The store in `PostgreSQL`: what a database, its server and the way to it may do, and what is true all the same.

use columnar::Name;
use columnar::store::{Entry, Extent, PostgresStore, Put, Store, StoreError};
use columnar::testing::conformance;
use columnar_tests::postgres::Database;

fn name(name: &str) -> Name {
    Name::new(name).expect("it is a name")
}

async fn opened(address: &str, flow: &str) -> PostgresStore {
    let store = PostgresStore::new(address, flow);
    let opened = store.open().await;
    assert!(opened.is_ok(), "{opened:?}");
    store
}

#[tokio::test]
async fn it_keeps_every_clause_of_the_contract() {
    let Some(database) = Database::new("conformance").await else { return };
    let address = database.address();
    let places = std::cell::Cell::new(0);
    conformance(|| {
        places.set(places.get() + 1);
        let (address, flow) = (address.clone(), format!("flow {}", places.get()));
        move || PostgresStore::new(&address, &flow)
    })
    .await;
}
