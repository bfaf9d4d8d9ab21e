//! Connections without TLS, in a program without the feature `postgres-tls`.

use tokio_postgres::tls::{MakeTlsConnect, NoTlsError, NoTlsStream};
use tokio_postgres::{Error, NoTls, Socket};

use super::super::StoreError;
use super::address::{DatabaseAddress, TlsMode};

#[derive(Clone)]
pub(super) struct NoEncryption;

pub(super) type TlsStream = NoTlsStream;

impl NoEncryption {
    pub(super) fn new(address: &DatabaseAddress) -> Result<Self, StoreError> {
        if address.tls >= TlsMode::Require {
            return Err(StoreError::other(format!(
                "`sslmode={}` needs the feature `postgres-tls` of columnar",
                address.tls.word()
            )));
        }
        Ok(Self)
    }

    pub(super) fn is_cause_of(_: &Error) -> bool {
        false
    }
}

impl MakeTlsConnect<Socket> for NoEncryption {
    type Stream = NoTlsStream;
    type TlsConnect = NoTls;
    type Error = NoTlsError;

    fn make_tls_connect(&mut self, host: &str) -> Result<NoTls, NoTlsError> {
        MakeTlsConnect::<Socket>::make_tls_connect(&mut NoTls, host)
    }
}
