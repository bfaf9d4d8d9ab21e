//! Connections of a program without the feature `postgres-tls`, to a server that has TLS if openssl is there.
//!
//! `tests/postgres-server run cargo test -p columnar-tests --features postgres --test suite no_tls`

use columnar_tests::postgres::Database;

use super::session;

/// A mode that needs TLS must not be taken for one that prefers it: the password would be sent in the clear.
#[tokio::test(flavor = "multi_thread")]
async fn s19_without_the_feature_a_mode_that_needs_tls_is_an_error() {
    let Some(database) = Database::new("s19_without").await else { return };
    let root = "sslrootcert=/nonesuch/root.crt";
    for parameters in ["", "sslmode=disable", "sslmode=prefer", &format!("sslmode=prefer {root}"), root] {
        let found = session(&database, "localhost", parameters).await;
        assert_eq!(found, Ok(false), "{parameters}");
    }
    for mode in ["require", "verify-ca", "verify-full"] {
        for parameters in [format!("sslmode={mode}"), format!("{root} sslmode={mode}")] {
            let error = session(&database, "localhost", &parameters).await.expect_err("it needs TLS");
            let expected = format!("`sslmode={mode}` needs the feature `postgres-tls` of columnar");
            assert!(error.contains(&expected) && !error.contains(&database.password()), "{error}");
        }
    }
    let error = session(&database, "localhost", "sslrootcert=system").await.expect_err("it needs TLS");
    assert!(error.contains("`sslmode=verify-full` needs the feature"), "{error}");
}
