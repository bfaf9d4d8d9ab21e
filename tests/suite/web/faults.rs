//! Servers that do harm, or fail.

use std::io::Write;
use std::time::Duration;

use columnar::web::{Fetch, Web, WebError, WebFault};
use columnar_tests::flood::{Flood, LENGTHS};
use columnar_tests::scripted::{Act, Server};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use super::{html, path, redirect, response, server, web};

const SHORT: Duration = Duration::from_millis(300);

/// The bytes that may be in the buffers of sockets, on both sides.
const BUFFERS: usize = 16 << 20;

fn send(text: &str) -> Act {
    Act::Send(text.as_bytes().to_vec())
}

async fn failed(web: &Web, acts: Vec<Act>) -> WebError {
    let server = Server::always(acts).await;
    web.fetch(server.url()).await.expect_err("it is no page")
}

/// Redirects may go on for ever, or in a circle.
#[tokio::test]
async fn w3_at_most_five_redirects_are_followed() {
    let server = Server::by_request(|request| match path(request).trim_start_matches('/').parse::<u32>() {
        Ok(0) => html("arrived"),
        Ok(left) => redirect(&format!("/{}", left - 1)),
        Err(_) => redirect(path(request)),
    })
    .await;
    let page = web().fetch(&format!("{}/5", server.url())).await.expect("five are followed");
    assert_eq!((page.text().as_str(), page.url()), ("arrived", format!("{}/0", server.url()).as_str()));
    let error = web().fetch(&format!("{}/6", server.url())).await.expect_err("six are too many");
    assert_eq!(error.fault(), &WebFault::Redirects);
    let before = server.requests().len();
    let error = web().fetch(&format!("{}/round", server.url())).await.expect_err("a circle");
    assert_eq!((error.fault(), server.requests().len() - before), (&WebFault::Redirects, 6));
    // A redirect without a target.
    let nowhere = failed(&web(), vec![send("HTTP/1.1 302 Found\r\ncontent-length: 0\r\n\r\n")]).await;
    assert_eq!(nowhere.fault(), &WebFault::Location);
}

/// A body without end would fill the memory.
#[tokio::test]
async fn w4_an_endless_body_ends_at_the_limit() {
    for length in LENGTHS {
        let server = Flood::start("200 OK", length, String::new(), "word ".repeat(1000));
        let page = web().max_text(1000).fetch(server.url()).await.expect("its beginning");
        assert!(page.is_cut() && page.text().len() < 1100, "{page:?}");
        assert!(page.text().ends_with("word\n\n… (the rest of the page is left out)"), "{}", page.text());
        assert!(server.sent() < (2 << 20) + BUFFERS, "{length:?}: {}", server.sent());
    }
}

/// A header without end, or of many thousand fields.
#[tokio::test]
async fn w4_headers_have_a_limit() {
    for endless in ["x: yyyyyyyy\r\n", "yyyyyyyyyyyy"] {
        let flood =
            vec![send("HTTP/1.1 200 OK\r\nz: "), Act::Flood(endless.repeat(1000).into_bytes(), usize::MAX)];
        let error = failed(&web(), flood).await;
        assert_eq!(error.fault(), &WebFault::Interrupted);
    }
}

/// Five gigabytes in ten megabytes. The client reads the beginning. The kept part is tested where it unpacks.
#[tokio::test]
async fn w4_a_compressed_bomb_is_unpacked_up_to_the_limit() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all("bang ".repeat(1 << 20).as_bytes()).expect("memory");
    let part = encoder.finish().expect("memory");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-encoding: gzip\r\n\r\n";
    let server = server(vec![send(head), Act::Flood(part, 1000)]).await;
    let page = web().fetch(server.url()).await.expect("its beginning");
    assert!(page.is_cut() && page.text().len() < 101_000, "{page:?}");
    assert!(page.text().starts_with("bang bang"));
}

#[tokio::test]
async fn w4_a_compressed_page_is_read_and_a_damaged_one_is_a_fault() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"<h1>Hello</h1>").expect("memory");
    let whole = encoder.finish().expect("memory");
    let page = |encoding: &str, body: &[u8]| {
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: {encoding}\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        vec![Act::Send([head.as_bytes(), body].concat())]
    };
    let good = server(page("GZIP", &whole)).await;
    assert_eq!(web().fetch(good.url()).await.expect("a page").text().as_str(), "# Hello");
    assert_eq!(failed(&web(), page("gzip", &whole[..whole.len() / 2])).await.fault(), &WebFault::Damaged);
    assert_eq!(failed(&web(), page("br", &whole)).await.fault(), &WebFault::Encoding("br".to_owned()));
    let hostile = failed(&web(), page("br\u{1b}[2J", &whole)).await;
    assert!(!hostile.to_string().contains('\u{1b}'), "{hostile}");
}

/// Each byte is in time, and the page never is. A limit of the pauses between bytes would not end it.
#[tokio::test]
async fn w4_a_page_that_drips_ends_at_the_limit_of_time() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
    let drips = || (0..1000).flat_map(|_| [send("x"), Act::Pause(Duration::from_millis(20))]);
    let slow = [
        vec![Act::Hold],
        [vec![send("HTTP/1.1 200 OK\r\nx: ")], drips().collect()].concat(),
        [vec![send(head)], drips().collect()].concat(),
        vec![send(head), send("x"), Act::Hold],
        // Interim responses are no beginning.
        vec![Act::Flood(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec(), usize::MAX)],
    ];
    for acts in slow {
        let error = failed(&web().timeout(SHORT), acts).await;
        assert_eq!(error.fault(), &WebFault::TimedOut(SHORT));
    }
    // The limit is one for all redirects.
    let server = Server::by_request(|request| {
        let wait = Act::Pause(SHORT / 2);
        let next = if path(request) == "/" { redirect("/a") } else { redirect("/b") };
        [vec![wait], next].concat()
    })
    .await;
    let error = web().timeout(SHORT).fetch(server.url()).await.expect_err("three halves are too long");
    assert_eq!(error.fault(), &WebFault::TimedOut(SHORT));
}

#[tokio::test]
async fn w6_a_status_that_is_no_success_is_named() {
    for (status, code, rest) in [
        ("404 Not Found", 404, "404 Not Found; check the URL"),
        ("429 Too Many Requests", 429, "429 Too Many Requests; try again later"),
        ("503 Own Words", 503, "503 Service Unavailable; try again later"),
        ("403 Forbidden", 403, "403 Forbidden; it may be for its members or for browsers only"),
        (
            "206 Partial Content",
            206,
            "206 Partial Content; it is a part that nobody asked for, so try again later",
        ),
        ("799 Own", 799, "799; check the URL"),
        ("304 Not Modified", 304, "304 Not Modified; check the URL"),
    ] {
        let error = failed(&web(), response(status, "text/html", "<p>the server's own words")).await;
        assert_eq!(error.fault(), &WebFault::Status(code));
        assert!(error.to_string().ends_with(&format!("the server replied with status {rest}")), "{error}");
    }
}

/// A part of a page must not pass for the page.
#[tokio::test]
async fn w6_a_connection_that_breaks_is_a_fault() {
    let part = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 100\r\n\r\n<p>part";
    let chunk =
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\n";
    for acts in [
        vec![],
        vec![Act::Reset],
        vec![send(part)],
        vec![send(part), Act::Reset],
        vec![send(chunk)],
        vec![send("HTTP/1.1 200 OK\r\n")],
        vec![send("SSH-2.0-OpenSSH_9.6\r\n")],
    ] {
        let error = failed(&web(), acts.clone()).await;
        assert_eq!(error.fault(), &WebFault::Interrupted, "{acts:?}");
    }
    // A port that nobody listens to.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    drop(listener);
    assert_eq!(web().fetch(&url).await.expect_err("nobody is there").fault(), &WebFault::Connect);
    // Encrypted, at a server that is not.
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("https://{}/", listener.local_addr().expect("an address"));
    let plain = async {
        let (mut socket, _) = listener.accept().await.expect("a client");
        socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.expect("it is there");
    };
    let client = web();
    let (error, ()) = tokio::join!(client.fetch(&url), plain);
    assert_eq!(error.expect_err("it does not speak TLS").fault(), &WebFault::Connect);
}

#[tokio::test]
async fn w5_what_is_no_text_is_refused() {
    for (kind, fault) in [
        ("application/pdf", WebFault::Type("application/pdf".to_owned())),
        ("image/png", WebFault::Type("image/png".to_owned())),
        ("text/html", WebFault::Binary),
        ("application/octet-stream", WebFault::Binary),
    ] {
        assert_eq!(failed(&web(), response("200 OK", kind, b"\x89PNG\r\n\x1a\n\0\0")).await.fault(), &fault);
    }
    let hostile = failed(&web(), response("200 OK", "application/\u{9b}2Jx", "x")).await;
    assert!(!hostile.to_string().contains('\u{9b}'), "{hostile}");
    // A video is refused by its type, before any of it is read.
    let head = "HTTP/1.1 200 OK\r\ncontent-type: video/mp4\r\n\r\n";
    let error = failed(&web(), vec![send(head), Act::Flood(vec![0; 1 << 16], usize::MAX)]).await;
    assert_eq!(error.fault(), &WebFault::Type("video/mp4".to_owned()));
    // The page of a program that makes its text by itself.
    let shell =
        failed(&web(), html("<title>App</title><div id=root></div><script src=/app.js></script>")).await;
    assert_eq!(shell.fault(), &WebFault::Empty);
}

/// The stack of a task is small, and some readers of HTML call themselves for each element in another one.
#[test]
fn w4_two_megabytes_of_elements_in_each_other_are_read_in_a_task() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime");
    let page = runtime.block_on(async {
        let server = server(html(&("<div>".repeat(400_000) + "deep"))).await;
        // A debug build on a busy machine needs longer than a page may take.
        let web = web().max_bytes(3 << 20).timeout(Duration::from_mins(5));
        tokio::spawn(async move { web.fetch(server.url()).await }).await.expect("no panic")
    });
    assert_eq!(page.expect("a page").text().as_str(), "deep");
}

/// A person gives up, and the server would send for ever.
#[tokio::test]
async fn w7_a_fetch_that_is_dropped_ends_its_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let web = web().max_bytes(usize::MAX);
    let reading = tokio::spawn({
        let (web, url) = (web.clone(), url.clone());
        async move { web.fetch(&url).await }
    });
    let (mut socket, _) = listener.accept().await.expect("a client");
    socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n").await.expect("it is there");
    reading.abort();
    assert!(reading.await.expect_err("it was dropped").is_cancelled());
    // It ends only when the client has closed the connection.
    while socket.write_all(&[b'x'; 1000]).await.is_ok() {}
    // Nothing of it is in the way of the next one.
    let next = async {
        let (mut socket, _) = listener.accept().await.expect("a client");
        // Unread bytes would reset the connection.
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            socket.read_buf(&mut request).await.expect("a request");
        }
        socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\ntext").await.expect("it is there");
    };
    let (page, ()) = tokio::join!(web.fetch(&url), next);
    assert_eq!(page.expect("a page").text().as_str(), "text");
}

/// The client of the library logs addresses, which may be secrets.
#[cfg(feature = "tracing")]
#[test]
fn w9_nothing_is_logged() {
    use std::sync::{Arc, Mutex};

    use tracing_subscriber::fmt::MakeWriter;

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);
    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl<'w> MakeWriter<'w> for Log {
        type Writer = Self;
        fn make_writer(&'w self) -> Self {
            self.clone()
        }
    }
    let log = Log::default();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let address = tracing::subscriber::with_default(subscriber, || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let server = server(html("text")).await;
            let url = server.url().replace("127.0.0.1", "secret.example") + "/secret?key=secret";
            let web = web().resolver(|_| async { Ok(vec![super::HERE]) });
            web.fetch(&url).await.expect("a page");
            tracing::info!("the log works");
            server.url().replace("http://", "")
        })
    });
    let log = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(log.contains("the log works"), "{log}");
    for secret in ["secret", address.as_str()] {
        assert!(!log.contains(secret), "{log}");
    }
}
