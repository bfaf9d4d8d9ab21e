//! TLS to the server, with the modes of libpq.
//!
//! There is no channel binding, which needs a parser of certificates; `verify-full` gives the same protection.

use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures::future::{BoxFuture, FutureExt};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect};
use tokio_postgres::{Error, Socket};

use super::super::StoreError;
use super::address::{DatabaseAddress, Root, TlsMode};
use crate::declare::error::shown;

/// Makes the TLS sessions of connections to one address.
#[derive(Clone)]
pub(super) struct Tls {
    config: Arc<ClientConfig>,
    is_name_checked: bool,
}

impl Tls {
    /// Makes sessions for an address. Reads the root certificates if the mode needs them.
    pub(super) fn new(address: &DatabaseAddress) -> Result<Self, StoreError> {
        let provider = Arc::new(aws_lc_rs::default_provider());
        let roots =
            address.root.as_ref().filter(|_| address.tls >= TlsMode::Require).map(root_store).transpose()?;
        let verifier: Arc<dyn ServerCertVerifier> = match (address.tls, roots) {
            (TlsMode::VerifyFull, Some(roots)) => {
                WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
                    .build()
                    .map_err(|_| StoreError::other("TLS is not available with these root certificates"))?
            }
            (TlsMode::VerifyFull | TlsMode::VerifyCa, None) => {
                return Err(StoreError::other(format!(
                    "`sslmode={}` needs a root certificate: add `sslrootcert=FILE`, or `sslrootcert=system` for those of this system",
                    address.tls.word()
                )));
            }
            (_, roots) => Arc::new(AnyName { roots, provider: provider.clone() }),
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|_| StoreError::other("TLS is not available"))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self { config: Arc::new(config), is_name_checked: address.tls == TlsMode::VerifyFull })
    }

    /// Whether a connection failed because of TLS. With `prefer`, the connection is made again without TLS.
    pub(super) fn is_cause_of(error: &Error) -> bool {
        std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<HandshakeError>)
    }
}

fn root_store(root: &Root) -> Result<RootCertStore, StoreError> {
    let mut store = RootCertStore::empty();
    match root {
        Root::System => {
            // A system may have certificates that are not valid, and trusts the others nevertheless.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Root::File(path) => {
            add_file(&mut store, path).map_err(|reason| {
                StoreError::other(format!(
                    "the root certificates in {} cannot be read: {reason}",
                    shown(path)
                ))
            })?;
        }
    }
    if store.is_empty() { Err(StoreError::other("`sslrootcert` has no root certificate")) } else { Ok(store) }
}

fn add_file(store: &mut RootCertStore, path: &Path) -> Result<(), String> {
    let pem = std::fs::read(path).map_err(|error| error.to_string())?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        let certificate = certificate.map_err(|_| "it is no PEM file")?;
        store.add(certificate).map_err(|_| "one of them is not valid")?;
    }
    Ok(())
}

/// Accepts a certificate for any name: with root certificates, only a certificate that one of these signs; without,
/// any certificate.
#[derive(Debug)]
struct AnyName {
    roots: Option<RootCertStore>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for AnyName {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(roots) = &self.roots {
            let algorithms = self.provider.signature_verification_algorithms.all;
            let certificate = ParsedCertificate::try_from(certificate)?;
            verify_server_cert_signed_by_trust_anchor(&certificate, roots, intermediates, now, algorithms)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    // The server must have the key of its certificate, no matter who signed it.
    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl MakeTlsConnect<Socket> for Tls {
    type Stream = TlsStream;
    type TlsConnect = Handshake;
    type Error = HandshakeError;

    fn make_tls_connect(&mut self, host: &str) -> Result<Handshake, HandshakeError> {
        let name = match ServerName::try_from(host.to_owned()) {
            Ok(name) => name,
            Err(_) if self.is_name_checked => {
                return Err(HandshakeError("the address has no host name to check"));
            }
            // Such a name is not sent, and nothing else is done with it.
            Err(_) => ServerName::IpAddress(std::net::Ipv4Addr::UNSPECIFIED.into()),
        };
        Ok(Handshake { config: Arc::clone(&self.config), name })
    }
}

/// A TLS session that is about to begin.
pub(super) struct Handshake {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl TlsConnect<Socket> for Handshake {
    type Stream = TlsStream;
    type Error = crate::declare::error::BoxError;
    type Future = BoxFuture<'static, Result<TlsStream, Self::Error>>;

    fn connect(self, socket: Socket) -> Self::Future {
        let session = tokio_rustls::TlsConnector::from(self.config).connect(self.name, socket);
        session.map(|session| Ok(TlsStream(Box::new(session.map_err(handshake_error)?)))).boxed()
    }
}

/// The reason why there is no TLS session. The words of the library are not shown, because they quote the certificate
/// and the host.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct HandshakeError(&'static str);

fn handshake_error(error: io::Error) -> crate::declare::error::BoxError {
    let Some(cause) = error.get_ref().and_then(|cause| cause.downcast_ref::<rustls::Error>()) else {
        return error.into();
    };
    HandshakeError(match cause {
        rustls::Error::InvalidCertificate(wrong) => match wrong {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "the server's certificate is for other hosts: connect by one of its names, or check no name with `sslmode=verify-ca`"
            }
            CertificateError::UnknownIssuer => {
                "the server's certificate is not signed by the root certificates of `sslrootcert`"
            }
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the server's certificate has expired"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the server's certificate is not valid yet"
            }
            _ => "the server's certificate is not valid",
        },
        rustls::Error::AlertReceived(_) => "the server ended the handshake",
        _ => "the server has no common version of TLS, or sent something else",
    })
    .into()
}

/// An encrypted connection.
pub(super) struct TlsStream(Box<tokio_rustls::client::TlsStream<Socket>>);

impl tokio_postgres::tls::TlsStream for TlsStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for TlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, to)
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, from: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, from)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}
