//! What only the inside of the store can bring about.

use super::SqliteStore;
use crate::testing::conformance;

#[tokio::test]
async fn it_keeps_the_contract() {
    conformance(|| {
        let folder = tempfile::tempdir().expect("a folder");
        move || SqliteStore::new(folder.path().join("chats.db"), "monday")
    })
    .await;
}
