//! A store in files, seen from outside: its folder, and what people and other programs do to it.

use columnar::store::FileStore;
use columnar::testing::conformance;

#[tokio::test]
async fn a_store_in_files_keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let places = std::cell::Cell::new(0);
    conformance(|| {
        places.set(places.get() + 1);
        let place = folder.path().join(places.get().to_string());
        move || FileStore::new(&place)
    })
    .await;
}
