//! The URL of a page, checked before each request.

use std::net::IpAddr;

use reqwest::Url;

use super::error::WebFault;
use crate::context::documents::Key;

/// The [ports that browsers refuse](https://fetch.spec.whatwg.org/#port-blocking): servers of other protocols, which may
/// take the lines of a request for commands.
const REFUSED_PORTS: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103,
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
    515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723,
    2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
];

/// The URL that a text is, if it may be asked for.
pub(super) fn parsed(text: &str) -> Result<Url, WebFault> {
    if text.len() > Key::MAX_LEN {
        return Err(WebFault::Url);
    }
    checked(Url::parse(text).map_err(|_| WebFault::Url)?)
}

/// The URL that a redirect leads to.
pub(super) fn joined(from: &Url, location: &str) -> Result<Url, WebFault> {
    if location.len() > Key::MAX_LEN {
        return Err(WebFault::Location);
    }
    checked(from.join(location).map_err(|_| WebFault::Location)?)
}

fn checked(mut url: Url) -> Result<Url, WebFault> {
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none_or(str::is_empty) {
        return Err(WebFault::Url);
    }
    // It would be sent as a password, and `https://a.org@b.org` only looks like a page of a.org.
    if !url.username().is_empty() || url.password().is_some() {
        return Err(WebFault::User);
    }
    if let Some(port) = url.port().filter(|port| REFUSED_PORTS.contains(port)) {
        return Err(WebFault::Port(port));
    }
    // It is not sent, and pages do not depend on it.
    url.set_fragment(None);
    Ok(url)
}

/// The address in a URL that has no name. The library of URLs reads all forms of one: `0x7f.1`, `2130706433`.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn w1_every_form_of_an_address_is_read() {
        for (url, address) in [
            ("http://127.0.0.1/", "127.0.0.1"),
            ("http://2130706433/", "127.0.0.1"),
            ("http://0x7f000001/", "127.0.0.1"),
            ("http://0x7f.1/", "127.0.0.1"),
            ("http://0177.0.0.1/", "127.0.0.1"),
            ("http://127.1/", "127.0.0.1"),
            ("http://127.0.0.1./", "127.0.0.1"),
            ("http://%31%32%37.0.0.1/", "127.0.0.1"),
            ("http://１２７.０.０.１/", "127.0.0.1"),
            ("http://127。0。0。1/", "127.0.0.1"),
            ("http://[::1]/", "::1"),
            ("http://[0:0::0:1]/", "::1"),
            ("http://[::ffff:127.0.0.1]/", "::ffff:127.0.0.1"),
        ] {
            let url = parsed(url).expect(url);
            assert_eq!(literal(&url), Some(address.parse().expect(address)), "{url}");
        }
        assert_eq!(literal(&parsed("http://a.org/").expect("a URL")), None);
    }

    #[test]
    fn w2_other_urls_are_refused() {
        for (url, fault) in [
            ("", WebFault::Url),
            ("a.org", WebFault::Url),
            ("ftp://a.org/", WebFault::Url),
            ("file:///etc/passwd", WebFault::Url),
            ("data:text/html,x", WebFault::Url),
            ("https://", WebFault::Url),
            ("https://a b/", WebFault::Url),
            ("https://[::1/", WebFault::Url),
            ("https://[fe80::1%25eth0]/", WebFault::Url),
            ("https://1.2.3.4.5/", WebFault::Url),
            ("https://a.org:99999/", WebFault::Url),
            ("https://me@a.org/", WebFault::User),
            ("https://me:pw@a.org/", WebFault::User),
            ("https://:pw@a.org/", WebFault::User),
            ("https://a.org:25/", WebFault::Port(25)),
            ("http://a.org:6667/", WebFault::Port(6667)),
        ] {
            assert_eq!(parsed(url), Err(fault), "{url}");
        }
        assert_eq!(parsed(&format!("https://a.org/{}", "a".repeat(Key::MAX_LEN))), Err(WebFault::Url));
        assert_eq!(parsed("HTTPS://A.org:443/b?c#d").map(String::from).as_deref(), Ok("https://a.org/b?c"));
    }
}
