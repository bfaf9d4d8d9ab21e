//! Addresses that a page must not be read from, whatever leads to them.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::web::{Fetch, Web, WebFault};
use columnar_tests::scripted::Server;

use super::{HERE, html, path, redirect, server, web};

/// The fault of a URL.
async fn fault(web: &Web, url: &str) -> WebFault {
    let error = web.fetch(url).await.map(|page| page.url().to_owned()).expect_err(url);
    error.fault().clone()
}

/// The port of a server.
fn port(server: &Server) -> &str {
    server.url().rsplit(':').next().expect("a port")
}

/// A URL that a person pastes may point at a service of this machine, which trusts whoever is on it.
#[tokio::test]
async fn w1_this_machine_and_the_networks_around_it_are_not_reached() {
    let server = server(html("secret")).await;
    let port = port(&server);
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.0.0.1.",
        "%31%32%37.0.0.1",
        "localhost",
        "LOCALHOST",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::]",
        "[64:ff9b::7f00:1]",
        "10.0.0.1",
        "169.254.169.254",
        "192.168.1.1",
        "[fe80::1]",
        "[fd00:ec2::254]",
    ] {
        let fault = fault(&Web::new(), &format!("http://{host}:{port}/")).await;
        assert_eq!(fault, WebFault::Private, "{host}");
    }
    assert!(server.requests().is_empty());
    // One setting allows the address that it names, and the other one all addresses.
    assert!(web().fetch(server.url()).await.is_ok());
    assert!(Web::new().allow_private().fetch(server.url()).await.is_ok());
    assert_eq!(fault(&web(), &format!("http://127.0.0.2:{port}/")).await, WebFault::Private);
    assert_eq!(fault(&web(), &format!("http://[::1]:{port}/")).await, WebFault::Private);
}

/// A redirect leads from a harmless address to a private one.
#[tokio::test]
async fn w1_a_redirect_to_a_private_address_is_not_followed() {
    let inner = server(html("secret")).await;
    let port = port(&inner).to_owned();
    for target in [
        format!("http://127.0.0.2:{port}/?key=hidden"),
        format!("http://0x7f.0.0.2:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("//127.0.0.3:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://2852039166/".to_owned(),
    ] {
        let redirecting = redirect(&target);
        let outer = Server::always(redirecting).await;
        let error = web().fetch(outer.url()).await.expect_err(&target);
        assert_eq!(error.fault(), &WebFault::Private, "{target}");
        let text = error.to_string();
        assert!(text.contains("which leads to `http://") && !text.contains("hidden"), "{text}");
    }
    assert!(inner.requests().is_empty());
    for (target, fault) in [
        ("file:///etc/passwd", WebFault::Url),
        ("ftp://a.org/", WebFault::Url),
        ("http://me:pw@a.org/", WebFault::User),
        ("http://a.org:25/", WebFault::Port(25)),
        ("http://[", WebFault::Location),
    ] {
        let outer = Server::always(redirect(target)).await;
        let error = web().fetch(outer.url()).await.expect_err(target);
        assert_eq!(error.fault(), &fault, "{target}");
        // The fault was reported as if it were that of the URL that the person wrote.
        let (text, is_url) = (error.to_string(), fault != WebFault::Location);
        assert_eq!(text.contains(", which leads to `"), is_url, "{text}");
        assert!(!text.contains("me:pw"), "{text}");
    }
}

/// The name server of an attacker first replies with a public address, and then, to whoever asks again to connect, with a
/// private one. Here each request has one lookup, and its addresses are both checked and connected to.
#[tokio::test]
async fn w1_a_name_whose_address_changes_gains_nothing() {
    let server = Server::by_request(|request| match path(request) {
        "/" => redirect("/next"),
        _ => html("secret"),
    })
    .await;
    let url = format!("http://rebind.example:{}/", port(&server));
    let lookups = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&lookups);
    // 127.0.0.1 is the public address of this test, and 127.0.0.2 the private one, where the same server would listen if
    // it could: a connection would be refused, and a check after it would be too late.
    let changing = Web::new().allow(HERE).resolver(move |name| {
        assert_eq!(name, "rebind.example");
        let last = if counted.fetch_add(1, Ordering::SeqCst) == 0 { 1 } else { 2 };
        async move { Ok(vec![IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))]) }
    });
    let error = changing.fetch(&url).await.expect_err("its second address is private");
    assert_eq!(error.fault(), &WebFault::Private);
    // One for each request: no answer is asked for twice.
    assert_eq!((lookups.load(Ordering::SeqCst), server.requests().len()), (2, 1));
}

/// A name may have public and private addresses. Only the public ones are connected to.
#[tokio::test]
async fn w1_of_the_addresses_of_a_name_only_public_ones_are_used() {
    let server = server(html("public")).await;
    let url = format!("http://both.example:{}/", port(&server));
    let addresses = |list: &'static [[u8; 4]]| {
        web()
            .resolver(move |_| async move { Ok(list.iter().map(|address| IpAddr::from(*address)).collect()) })
    };
    let page = addresses(&[[127, 0, 0, 2], [10, 0, 0, 1], [127, 0, 0, 1]])
        .fetch(&url)
        .await
        .expect("one is allowed");
    assert_eq!(page.text().as_str(), "public");
    assert_eq!(fault(&addresses(&[[127, 0, 0, 2], [10, 0, 0, 1]]), &url).await, WebFault::Private);
    assert_eq!(fault(&addresses(&[]), &url).await, WebFault::Name);
    let unknown = web().resolver(|_| async { Err(io::ErrorKind::NotFound.into()) });
    assert_eq!(fault(&unknown, &url).await, WebFault::Name);
}

/// A client with other settings must not find pages in the cache of this one that it may not read.
#[tokio::test]
async fn w1_a_stricter_client_does_not_share_the_cache() {
    let server = server(html("secret")).await;
    let open = Web::new().allow_private();
    open.fetch(server.url()).await.expect("it is allowed");
    assert_eq!(fault(&Web::new(), server.url()).await, WebFault::Private);
    assert!(open.clone().timeout(std::time::Duration::from_secs(9)).fetch(server.url()).await.is_ok());
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn w2_texts_that_are_no_url_of_a_page_are_refused() {
    for (url, expected) in [
        ("", WebFault::Url),
        ("a.org", WebFault::Url),
        ("file:///etc/passwd", WebFault::Url),
        ("https://me:pw@a.org/", WebFault::User),
        ("https://a.org@127.0.0.1/", WebFault::User),
        ("http://127.0.0.1:22/", WebFault::Port(22)),
    ] {
        let error = web().fetch(url).await.expect_err(url);
        assert_eq!(error.fault(), &expected, "{url}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
}

/// It must not pass for a browser, and must not tell more than the URL.
#[tokio::test]
async fn w1_a_request_is_plain_and_honest() {
    let server = server(html("text")).await;
    web().fetch(&format!("{}/a?b=c#d", server.url())).await.expect("a page");
    let request = server.requests().remove(0).to_lowercase();
    assert!(request.starts_with("get /a?b=c http/1.1\r\n"), "{request}");
    assert!(
        request.contains(concat!("\r\nuser-agent: columnar/", env!("CARGO_PKG_VERSION"), "\r\n")),
        "{request}"
    );
    assert!(request.contains("\r\naccept-encoding: gzip\r\n"), "{request}");
    for name in ["cookie", "authorization", "referer", "range"] {
        assert!(!request.contains(&format!("\r\n{name}:")), "{request}");
    }
}
