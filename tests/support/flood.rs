//! A server whose replies have no end. The server sends as fast as the client reads, on separate threads, so a client
//! that never waits gets data that is always ready.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// The end of a body in HTTP.
#[derive(Clone, Copy, Debug)]
pub enum Length {
    /// The body is in chunks, without a last one.
    Chunked,
    /// A length that is never reached.
    Declared,
    /// HTTP 1.0: the end of the connection.
    Connection,
}

/// All kinds of ends.
pub const LENGTHS: [Length; 3] = [Length::Chunked, Length::Declared, Length::Connection];

/// A server with one endless reply, to each request.
#[derive(Debug)]
pub struct Flood {
    url: String,
    sent: Arc<AtomicUsize>,
}

impl Flood {
    /// Replies with this status: first `begin`, then `rest` again and again.
    ///
    /// # Panics
    ///
    /// If there is no port left.
    pub fn start(status: &'static str, length: Length, begin: String, rest: String) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}/v1", listener.local_addr().expect("an address"));
        let sent = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&sent);
        // The thread ends with the process. A connection ends with the client.
        thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let (begin, rest, count) = (begin.clone(), rest.clone(), Arc::clone(&count));
                thread::spawn(move || flood(socket, status, length, &begin, &rest, &count));
            }
        });
        Self { url, sent }
    }

    /// The address of the server.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The bytes sent so far, the bytes on the way included.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }
}

fn flood(mut socket: TcpStream, status: &str, length: Length, begin: &str, rest: &str, count: &AtomicUsize) {
    // The begin of the request is enough: the rest stays in the socket.
    let Ok(1..) = socket.read(&mut [0; 16 << 10]) else { return };
    let (version, header) = match length {
        Length::Chunked => ("1.1", "transfer-encoding: chunked\r\n"),
        Length::Declared => ("1.1", "content-length: 1000000000000000\r\n"),
        Length::Connection => ("1.0", ""),
    };
    let piece = |text: &str| match length {
        Length::Chunked => format!("{:x}\r\n{text}\r\n", text.len()),
        Length::Declared | Length::Connection => text.to_owned(),
    };
    let head = format!("HTTP/{version} {status}\r\ncontent-type: text/event-stream\r\n{header}\r\n");
    // An empty chunk would end the body (RFC 9112, section 7.1).
    let begin = if begin.is_empty() { String::new() } else { piece(begin) };
    let (mut next, rest) = (head + &begin, piece(rest));
    while socket.write_all(next.as_bytes()).is_ok() {
        count.fetch_add(next.len(), Ordering::Relaxed);
        next.clone_from(&rest);
    }
}
