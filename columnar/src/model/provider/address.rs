//! The base URL that replaces the provider's address.

use std::net::IpAddr;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;

/// The domains of resources of Azure that serve models.
const AZURE: &[&str] = &[".openai.azure.com", ".services.ai.azure.com", ".cognitiveservices.azure.com"];

/// The length of the shortest part of a path that is hidden if the part has a digit. A shorter part is a version, as
/// `v1beta`.
const SHORTEST_ID: usize = 8;

/// An address, which may hold a password and is never shown: there is no `Debug` and no `Display`.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ServerAddress(String);

impl ServerAddress {
    pub(super) fn new(url: &str) -> Self {
        let (path, query) = url.split_at(url.find('?').unwrap_or(url.len()));
        // The path of the request would otherwise replace the last part of the address.
        let slash = if path.ends_with('/') { "" } else { "/" };
        Self(format!("{path}{slash}{query}"))
    }

    /// Splits `provider/model@http://…` into the name and the address. The name of a model may have an `@`, too.
    pub(super) fn split(name: &str) -> (&str, Option<Self>) {
        // The first mark counts: the query of an address may contain another one.
        let at = ["@http://", "@https://"].iter().filter_map(|mark| name.find(mark)).min();
        match at.and_then(|at| Some((name.get(..at)?, name.get(at + 1..)?))) {
            Some((name, url)) => (name, Some(Self::new(url))),
            None => (name, None),
        }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    /// The parts that may be secrets: the user with the password, as written, decoded and in the header
    /// `authorization`; the query; and parts of the path that may be ids or tokens.
    pub(super) fn secrets(&self) -> Vec<String> {
        let (_, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let (before, query) = rest.split_once('?').unwrap_or((rest, ""));
        let user = before.rsplit_once('@').map_or("", |(user, _)| user);
        let decoded = percent_decode_str(user).decode_utf8_lossy();
        let mut secrets = vec![user.to_owned(), decoded.into_owned(), query.to_owned()];
        // RFC 7617. Servers may encode the header again, as a text in a text.
        if let Some((user, _)) = self.authority().rsplit_once('@') {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let [name, password] = [name, password].map(|part| percent_decode_str(part).decode_utf8_lossy());
            secrets.push(BASE64_STANDARD.encode(format!("{name}:{password}")));
        }
        let parts = self.path().split('/').filter(|part| part.len() >= SHORTEST_ID);
        secrets.extend(parts.filter(|part| part.contains(|c: char| c.is_ascii_digit())).map(str::to_owned));
        secrets
    }

    /// The host, and the path if there are several parts. Both are hidden as a whole, because the single words are
    /// common.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let names = [Some(self.host()), Some(self.path()).filter(|path| path.contains('/'))];
        names.into_iter().flatten().filter(|name| !name.is_empty())
    }

    /// The path, without slashes at the ends.
    fn path(&self) -> &str {
        let (_, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        let path = rest.get(self.authority().len()..).unwrap_or_default();
        path.split(['?', '#']).next().unwrap_or_default().trim_matches('/')
    }

    /// The user with the password, the host and the port.
    fn authority(&self) -> &str {
        let (_, rest) = self.0.split_once("://").unwrap_or(("", &self.0));
        // By the URL Standard of the WHATWG a backslash ends the host like a slash.
        rest.split(['/', '?', '#', '\\']).next().unwrap_or_default()
    }

    fn host(&self) -> &str {
        let authority = self.authority();
        // The host is after the last `@`: `http://127.0.0.1@example.com` is not this machine.
        let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        // An address in brackets, as in `[::1]:8123`, contains colons.
        let end = if host.starts_with('[') { ']' } else { ':' };
        host.trim_start_matches('[').split(end).next().unwrap_or_default()
    }

    /// Whether the address is on this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let host = self.host();
        host == "localhost" || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
    }

    /// Whether the address is a resource of Azure, whose keys have a special header.
    pub(super) fn is_azure(&self) -> bool {
        let host = self.host().to_ascii_lowercase();
        AZURE.iter().any(|domain| host.ends_with(domain))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_ends_in_a_slash() {
        for (url, ends) in [
            ("http://h/v1", "http://h/v1/"),
            ("http://h/v1/", "http://h/v1/"),
            ("http://h/v1?api=2", "http://h/v1/?api=2"),
        ] {
            assert_eq!(ServerAddress::new(url).as_str(), ends);
        }
    }

    #[test]
    fn an_address_follows_the_name() {
        for (name, model, url) in [
            ("openai/x", "openai/x", None),
            ("openai/x@2", "openai/x@2", None),
            ("openai/x@http://h/v1", "openai/x", Some("http://h/v1/")),
            ("openai/@cf/x@https://me:pw@h", "openai/@cf/x", Some("https://me:pw@h/")),
            ("openai/x@http://h/?to=@https://i", "openai/x", Some("http://h/?to=@https://i")),
        ] {
            let (name, address) = ServerAddress::split(name);
            assert_eq!((name, address.as_ref().map(ServerAddress::as_str)), (model, url));
        }
    }

    #[test]
    fn its_host_and_its_path_are_hidden_as_a_whole() {
        let names = |url| ServerAddress::new(url).names().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(names("http://h.example:80/v1?api=2"), ["h.example"]);
        assert_eq!(names("https://me:pw@[2001:db8::1]/gate/way/v1"), ["2001:db8::1", "gate/way/v1"]);
        assert_eq!(names(""), [""; 0]);
        let address = ServerAddress::new("https://h/gate/acc0unt77/v1beta");
        assert_eq!(address.secrets().last().map(String::as_str), Some("acc0unt77"));
    }

    #[test]
    fn only_this_machine_is_loopback() {
        for url in [
            "http://127.0.0.1:8123/v1/",
            "http://127.9.9.9",
            "https://localhost/v1/",
            "http://user:pass@localhost:80?x",
            "http://[::1]:8123/v1/",
        ] {
            assert!(ServerAddress::new(url).is_loopback(), "{url}");
        }
        for url in [
            "http://10.0.0.1/",
            "http://localhost.example.com/",
            "http://127.0.0.1.example.com/",
            "http://127.0.0.1@example.com/",
            "http://127.0.0.1:80@example.com/",
            "http://example.com/?http://127.0.0.1/",
            "http://[2001:db8::1]/",
            "",
        ] {
            assert!(!ServerAddress::new(url).is_loopback(), "{url}");
        }
    }
}
