//! Pages that are read: their text, and the cache.

use std::time::Duration;

use columnar::documents::{Key, Kind, Update};
use columnar::web::{Fetch, WebFault};
use columnar_tests::scripted::{Act, Server};
use futures::future::join_all;
use tokio::time::{advance, pause, resume};

use super::{html, path, redirect, response, server, web};

/// Moves the clock. It stands still for no longer than that: a clock that stands still jumps to the next timeout while a
/// socket is waited for.
async fn later(time: Duration) {
    pause();
    advance(time).await;
    resume();
}

#[tokio::test]
async fn a_page_of_html_is_markdown() {
    let article = "<title>Tides</title><nav><a href=/>Home</a></nav>\
        <main><h1>How tides work</h1><p>See <a href=/moon>the Moon</a>.<pre><code class=language-rust>let x = 1;</code></pre></main>";
    let server = server(html(article)).await;
    let page = web().fetch(&format!("{}/tides#part", server.url())).await.expect("a page");
    let moon = format!("[the Moon]({}/moon)", server.url());
    assert_eq!(page.text().as_str(), format!("# How tides work\n\nSee {moon}.\n\n```rust\nlet x = 1;\n```"));
    assert_eq!((page.title(), page.url()), (Some("Tides"), format!("{}/tides", server.url()).as_str()));
    assert!(!page.is_cut());
    assert!(!format!("{page:?}").contains("tides work"), "{page:?}");
}

#[tokio::test]
async fn other_text_stays_as_it_is() {
    for (kind, body) in [
        ("text/plain", "a  <b>\n"),
        ("text/markdown", "# a\n\n<p>b"),
        ("application/json", "{ \"a\": 1 }"),
        ("application/rss+xml", "<rss/>"),
        ("application/octet-stream", "# é"),
    ] {
        let server = server(response("200 OK", kind, body)).await;
        let page = web().fetch(server.url()).await.expect(kind);
        assert_eq!((page.text().as_str(), page.title()), (body, None), "{kind}");
    }
}

/// A server that names no type, or another encoding than its text has.
#[tokio::test]
async fn w5_types_and_encodings_are_found() {
    let untyped = "HTTP/1.1 200 OK\r\n\r\n<!doctype html><title>é</title><p>è";
    let untyped = server(vec![Act::Send(untyped.as_bytes().to_vec())]).await;
    let page = web().fetch(untyped.url()).await.expect("HTML");
    assert_eq!((page.title(), page.text().as_str()), (Some("é"), "è"));
    for (kind, body, text) in [
        ("text/html; charset=iso-8859-1", &b"<p>caf\xe9"[..], "café"),
        ("text/html", b"<meta charset=windows-1251><p>\xcf", "П"),
        ("text/html; charset=utf-8", b"<p>caf\xe9", "caf\u{fffd}"),
        ("text/html; charset=nonesuch", b"<p>caf\xe9", "café"),
        ("text/plain; charset=utf-16le", b"h\0i\0", "hi"),
    ] {
        let server = server(response("200 OK", kind, body)).await;
        assert_eq!(web().fetch(server.url()).await.expect(kind).text().as_str(), text, "{kind}");
    }
}

#[tokio::test]
async fn long_texts_are_cut_with_a_mark() {
    let server = server(html(&format!("<p>{}", "é".repeat(1000)))).await;
    let page = web().max_text(9).fetch(server.url()).await.expect("a page");
    assert_eq!(page.text().as_str(), "éééé\n\n… (the rest of the page is left out)");
    assert!(page.is_cut());
    let page = web().max_text(2000).fetch(server.url()).await.expect("a page");
    assert!(!page.is_cut());
    let page = web().max_bytes(8).fetch(server.url()).await.expect("a page");
    assert_eq!(page.text().as_str(), "éé\u{fffd}\n\n… (the rest of the page is left out)");
}

#[tokio::test]
async fn w8_a_page_is_kept_for_its_lifetime() {
    let server = server(html("text")).await;
    let url = server.url();
    let web = web().lifetime(Duration::from_mins(1));
    let clone = web.clone();
    web.fetch(url).await.expect("a page");
    later(Duration::from_secs(59)).await;
    clone.fetch(&format!("{url}/#part")).await.expect("the page of the clone");
    assert_eq!(server.requests().len(), 1);
    later(Duration::from_secs(2)).await;
    web.fetch(url).await.expect("a page");
    assert_eq!(server.requests().len(), 2);
    let without = web.lifetime(Duration::ZERO);
    without.fetch(url).await.expect("a page");
    without.fetch(url).await.expect("a page");
    assert_eq!(server.requests().len(), 4);
}

/// A failure may be over at the next attempt.
#[tokio::test]
async fn w8_a_failure_is_not_kept() {
    let server =
        Server::start(
            |number| if number == 0 { response("500 Oops", "text/html", "") } else { html("text") },
        )
        .await;
    let web = web();
    assert_eq!(web.fetch(server.url()).await.expect_err("a fault").fault(), &WebFault::Status(500));
    assert_eq!(web.fetch(server.url()).await.expect("a page").text().as_str(), "text");
}

/// A thousand different pages would fill the memory.
#[tokio::test]
async fn w8_the_cache_keeps_the_latest_pages_only() {
    let server = Server::by_request(|request| html(path(request))).await;
    let web = web();
    for number in 0..65 {
        web.fetch(&format!("{}/{number}", server.url())).await.expect("a page");
    }
    web.fetch(&format!("{}/64", server.url())).await.expect("the latest is kept");
    web.fetch(&format!("{}/1", server.url())).await.expect("the second is kept");
    assert_eq!(server.requests().len(), 65);
    web.fetch(&format!("{}/0", server.url())).await.expect("the oldest is not");
    assert_eq!(server.requests().len(), 66);
}

/// Two people of a chat paste the same URL at the same time.
#[tokio::test]
async fn w8_concurrent_fetches_of_a_page_are_one_request() {
    let slow = |acts: Vec<Act>| [vec![Act::Pause(Duration::from_millis(50))], acts].concat();
    let good = server(slow(html("text"))).await;
    let client = web();
    let pages = join_all((0..10).map(|_| client.fetch(good.url()))).await;
    assert!(pages.iter().all(|page| page.as_ref().is_ok_and(|page| page.text().as_str() == "text")));
    assert_eq!(good.requests().len(), 1);
    // A failure is one, too.
    let bad = server(slow(response("500 Oops", "text/html", ""))).await;
    let pages = join_all((0..10).map(|_| client.fetch(bad.url()))).await;
    assert!(pages.iter().all(Result::is_err));
    assert_eq!(bad.requests().len(), 1);
}

/// The one who asked first gives up, and the others still wait.
#[tokio::test]
async fn w7_a_fetch_that_is_dropped_does_not_end_that_of_others() {
    let server = server([vec![Act::Pause(Duration::from_millis(50))], html("text")].concat()).await;
    let web = web();
    let (first, second) = (web.clone(), web.clone());
    let (url, same) = (server.url().to_owned(), server.url().to_owned());
    let first = tokio::spawn(async move { first.fetch(&url).await });
    server.received(1).await;
    let second = tokio::spawn(async move { second.fetch(&same).await });
    tokio::task::yield_now().await;
    first.abort();
    assert_eq!(second.await.expect("no panic").expect("a page").text().as_str(), "text");
    assert_eq!(server.requests().len(), 1);
}

/// One bad page of three must not lose the other two, nor end a chat.
#[tokio::test]
async fn w10_the_pages_that_were_read_are_there_beside_those_that_were_not() {
    let server = Server::by_request(|request| match path(request) {
        "/a" => html("<title>First</title><p>one"),
        "/b" => redirect("/c"),
        "/c" => html("<h1>Second</h1>two"),
        _ => response("404 Not Found", "text/html", "?"),
    })
    .await;
    let url = server.url();
    let prompt = format!("Compare {url}/a, {url}/missing?key=secret and ({url}/b).");
    let pages = web().pages(&prompt).await;
    assert_eq!(
        pages.found().map(|page| page.text().as_str()).collect::<Vec<_>>(),
        ["one", "# Second\n\ntwo"]
    );
    assert_eq!(
        pages.errors().map(|error| error.fault().clone()).collect::<Vec<_>>(),
        [WebFault::Status(404)]
    );
    let note = "This page could not be read: the server replied with status 404 Not Found; check the URL.";
    let expected = Update::new()
        .url(format!("{url}/a"), "# First\n\none")
        .url(format!("{url}/missing?key=secret"), note)
        .url(format!("{url}/b"), "# Second\n\ntwo");
    assert_eq!(pages.update(), expected);
    let missing = pages.complete().expect_err("one is missing");
    let text = missing.to_string();
    assert!(text.starts_with(&format!("`{url}/missing?…` could not be read: ")), "{text}");
    assert!(!text.contains("secret") && !format!("{missing:?}").contains("secret"), "{missing:?}");
    assert_eq!(missing.pages().update(), expected);
    // All faults are named at once.
    let missing = web().pages(&format!("{url}/x {url}/y")).await.complete().expect_err("both are missing");
    assert_eq!(missing.to_string().lines().count(), 2);
    assert!(web().update("no URL here").await.is_empty());
    let found = web().pages(&format!("{url}/a {url}/a.")).await.complete().expect("it is there");
    assert_eq!(found, Update::new().url(format!("{url}/a"), "# First\n\none"));
    assert!(Key::new(Kind::Url, &format!("{url}/a")).is_ok());
}
