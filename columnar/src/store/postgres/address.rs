//! The address of a database: the parameters for TLS, and limits on all waiting.
//!
//! The driver knows neither certificates nor the modes that check certificates. So these parameters are taken out of
//! the address before the driver parses it.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

use super::super::StoreError;
use crate::declare::default_limits::POSTGRES_CONNECT;

/// The parsed address of a database, which may hold a password, so there is no `Debug`.
pub(super) struct DatabaseAddress {
    pub(super) config: Config,
    pub(super) tls: TlsMode,
    /// The parameter `sslrootcert`.
    #[cfg_attr(not(feature = "postgres-tls"), allow(dead_code, reason = "read with TLS alone"))]
    pub(super) root: Option<Root>,
}

/// The parameter `sslmode`, as [`libpq`](https://www.postgresql.org/docs/current/libpq-ssl.html#LIBPQ-SSL-PROTECTION)
/// defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TlsMode {
    Disable,
    /// TLS if the server has it, with any certificate.
    Prefer,
    /// TLS with any certificate; with a root certificate the same as `VerifyCa`.
    Require,
    /// TLS with a certificate that a root certificate signs.
    VerifyCa,
    /// The same as `VerifyCa`, and the certificate is for the host of the address.
    VerifyFull,
}

/// The root certificates that the server's certificate is checked with.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "postgres-tls"), allow(dead_code, reason = "read with TLS alone"))]
pub(super) enum Root {
    File(PathBuf),
    /// The root certificates of the operating system.
    System,
}

impl TlsMode {
    const ALL: [(&str, Self); 5] = [
        ("disable", Self::Disable),
        ("prefer", Self::Prefer),
        ("require", Self::Require),
        ("verify-ca", Self::VerifyCa),
        ("verify-full", Self::VerifyFull),
    ];

    /// The word in an address.
    pub(super) fn word(self) -> &'static str {
        Self::ALL.iter().find(|(_, mode)| *mode == self).map_or("", |(word, _)| word)
    }
}

impl DatabaseAddress {
    /// Parses an address. The driver's error is dropped, because it may quote the password.
    pub(super) fn parse(text: &str) -> Result<Self, StoreError> {
        let mut mode = None;
        let mut root = None;
        let mut rest = text.to_owned();
        // Removed from the last to the first, so that the positions of the others stay.
        for (at, name, value) in parameters(text).into_iter().rev() {
            match &*name {
                "sslmode" => mode = mode.or(Some(value)),
                "sslrootcert" => root = root.or(Some(value)),
                _ => continue,
            }
            rest.replace_range(at, "");
        }
        let config: Config = rest.parse().map_err(|_| {
            StoreError::other(
                "the address of the database is not one: write `postgres://user:password@host/database`, and only parameters that the documentation of `PostgresStore` names",
            )
        })?;
        let root = root.map(|root| if root == "system" { Root::System } else { Root::File(root.into()) });
        let tls = match mode {
            // As in libpq: an attacker could otherwise choose the mode.
            None if root == Some(Root::System) => TlsMode::VerifyFull,
            None => TlsMode::Prefer,
            Some(word) => by_word(&word)?,
        };
        if root == Some(Root::System) && tls < TlsMode::VerifyFull {
            return Err(StoreError::other(format!(
                "`sslrootcert=system` needs `sslmode=verify-full`, not `{}`: anybody can get a certificate that these roots sign",
                tls.word()
            )));
        }
        Ok(Self { config: with_limits(config, tls), tls, root })
    }

    /// The time limit of connecting, for all hosts together.
    pub(super) fn connect_limit(&self) -> Duration {
        let hosts = self.config.get_hosts().len().max(self.config.get_hostaddrs().len()).max(1);
        let limit = self.config.get_connect_timeout().copied().unwrap_or(POSTGRES_CONNECT);
        limit.saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX))
    }
}

/// The password in an address, as written and decoded. The server gets the password, and may repeat it.
pub(super) fn passwords(address: &str) -> Vec<String> {
    let written = address.split_once("://").and_then(|(_, rest)| rest.split_once('@')?.0.split_once(':'));
    let decoded = DatabaseAddress::parse(address).ok();
    let decoded = decoded.as_ref().and_then(|address| address.config.get_password());
    let written = written.map(|(_, password)| password.to_owned());
    written
        .into_iter()
        .chain(decoded.map(|password| String::from_utf8_lossy(password).into_owned()))
        .collect()
}

fn by_word(word: &str) -> Result<TlsMode, StoreError> {
    let found = TlsMode::ALL.iter().find(|(known, _)| *known == word).map(|(_, mode)| *mode);
    found.ok_or_else(|| {
        let known = TlsMode::ALL.map(|(word, _)| word).join(", ");
        // The error does not repeat the word: with a wrong quotation mark, the word may have a part of the password.
        StoreError::other(format!(
            "the `sslmode` in the address of the database is unknown: possible are {known}"
        ))
    })
}

fn with_limits(mut config: Config, tls: TlsMode) -> Config {
    // Connections by a socket of this machine have no TLS, as with libpq.
    let is_local = !config.get_hosts().iter().any(|host| matches!(host, Host::Tcp(_)));
    config.ssl_mode(match tls {
        TlsMode::Disable => SslMode::Disable,
        TlsMode::Prefer if is_local => SslMode::Disable,
        TlsMode::Prefer => SslMode::Prefer,
        TlsMode::Require | TlsMode::VerifyCa | TlsMode::VerifyFull => SslMode::Require,
    });
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(POSTGRES_CONNECT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(POSTGRES_CONNECT);
    }
    // The default is two hours, so a longer time than one is taken for no setting.
    if config.get_keepalives_idle() > Duration::from_hours(1) {
        config.keepalives_idle(POSTGRES_CONNECT);
    }
    if config.get_application_name().is_none() {
        config.application_name("columnar");
    }
    config
}

/// The parameters of an address: the range to remove, the name and the value. Of an address that cannot be parsed,
/// some parameters may be missing.
fn parameters(text: &str) -> Vec<(Range<usize>, String, String)> {
    match ["postgres://", "postgresql://"].iter().find_map(|prefix| text.strip_prefix(prefix)) {
        Some(rest) => url_parameters(text, text.len() - rest.len()),
        None => pairs(text),
    }
}

/// Parameters after the `?` of a URL. The driver reads the user up to the first `@`.
fn url_parameters(text: &str, start: usize) -> Vec<(Range<usize>, String, String)> {
    let rest = text.get(start..).unwrap_or_default();
    let host = rest.split_once('@').map_or(rest, |(_, host)| host);
    let Some((_, query)) = host.split_once('?') else { return Vec::new() };
    let mut parameters = Vec::new();
    let mut at = text.len() - query.len();
    for pair in query.split('&') {
        // The range includes the next `&`.
        let end = (at + pair.len() + 1).min(text.len());
        if let Some((name, value)) = pair.split_once('=') {
            let [name, value] =
                [name, value].map(|text| percent_decode_str(text).decode_utf8_lossy().into_owned());
            parameters.push((at..end, name, value));
        }
        at = end;
    }
    parameters
}

/// The pairs of `name=value`. A value may be in quotation marks, and `\` escapes the next character.
fn pairs(text: &str) -> Vec<(Range<usize>, String, String)> {
    let mut pairs = Vec::new();
    let mut chars = text.char_indices().peekable();
    loop {
        while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let Some(&(start, _)) = chars.peek() else { return pairs };
        let mut name = String::new();
        while let Some((_, c)) = chars.next_if(|(_, c)| *c != '=' && !c.is_whitespace()) {
            name.push(c);
        }
        while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        if chars.next_if(|(_, c)| *c == '=').is_none() {
            return pairs;
        }
        while chars.next_if(|(_, c)| c.is_whitespace()).is_some() {}
        let is_quoted = chars.next_if(|(_, c)| *c == '\'').is_some();
        let mut value = String::new();
        while let Some((_, c)) =
            chars.next_if(|(_, c)| if is_quoted { *c != '\'' } else { !c.is_whitespace() })
        {
            value.extend(if c == '\\' { chars.next().map(|(_, c)| c) } else { Some(c) });
        }
        if is_quoted && chars.next().is_none() {
            return pairs;
        }
        let end = chars.peek().map_or(text.len(), |(at, _)| *at);
        pairs.push((start..end, name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (TlsMode, Option<Root>, Config) {
        let Ok(address) = DatabaseAddress::parse(text) else { panic!("{text} is an address") };
        (address.tls, address.root, address.config)
    }

    /// `verify-full` and `verify-ca` were answered as no address at all.
    #[test]
    fn s19_parameters_of_tls_are_taken_out_of_an_address() {
        let file = |path: &str| Some(Root::File(path.into()));
        for (text, mode, root) in [
            ("postgres://me:pw@h/db", TlsMode::Prefer, None),
            ("postgres://me:pw@h/db?sslmode=verify-full", TlsMode::VerifyFull, None),
            (
                "postgresql://me:p%3Fw@h/db?sslrootcert=%2Fa%20b&sslmode=verify-ca&application_name=x",
                TlsMode::VerifyCa,
                file("/a b"),
            ),
            (
                "postgres://me:p?sslmode=disable@h/db?connect_timeout=3&sslmode=require",
                TlsMode::Require,
                None,
            ),
            ("postgres://h/db?sslrootcert=system", TlsMode::VerifyFull, Some(Root::System)),
            (
                "host=h user=me sslmode = 'verify-full' password='p sslmode=disable' sslrootcert=/a\\ b",
                TlsMode::VerifyFull,
                file("/a b"),
            ),
            ("sslmode=disable host=h user=me password=p\\'w", TlsMode::Disable, None),
        ] {
            let (found, found_root, config) = parsed(text);
            assert_eq!((found, found_root), (mode, root), "{text}");
            assert_eq!(config.get_hosts(), [Host::Tcp("h".to_owned())], "{text}");
        }
        let (.., config) =
            parsed("host=h password='p sslmode=disable' sslmode=verify-full application_name=x");
        assert_eq!(config.get_password(), Some(&b"p sslmode=disable"[..]));
        assert_eq!(config.get_application_name(), Some("x"));
        let (.., config) =
            parsed("postgresql://me:p%3Fw@h/db?sslrootcert=%2Fa&sslmode=verify-ca&application_name=x");
        assert_eq!((config.get_password(), config.get_application_name()), (Some(&b"p?w"[..]), Some("x")));
    }

    #[test]
    fn s19_a_wrong_address_is_an_error_without_its_text() {
        for (text, expected) in [
            ("postgres://me:hunter2@h/db?sslmode=hunter2", "possible are disable, prefer, require"),
            ("postgres://me:hunter2@h/db?sslcert=hunter2", "is not one"),
            ("host=h password='hunter2 sslmode=verify-full", "is not one"),
            ("postgres://me:hunter2@h/db?sslrootcert=system&sslmode=require", "needs `sslmode=verify-full`"),
        ] {
            let error = DatabaseAddress::parse(text).map(drop).expect_err(text).to_string();
            assert!(error.contains(expected) && !error.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn s19_a_socket_of_this_machine_has_no_tls() {
        for (text, mode) in [
            ("host=/run/postgresql", SslMode::Disable),
            ("host=/run/postgresql sslmode=require", SslMode::Require),
            ("host=h", SslMode::Prefer),
        ] {
            assert_eq!(parsed(text).2.get_ssl_mode(), mode, "{text}");
        }
    }
}
