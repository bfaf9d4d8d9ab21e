//! A server on this machine with a script: the server sends, waits, floods and breaks off.

use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// An action on a connection. The connection ends after the last one.
#[derive(Clone, Debug)]
pub enum Act {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Waits.
    Pause(Duration),
    /// Resets the connection, so the client gets an error instead of an end.
    Reset,
    /// Keeps the connection open and sends nothing more.
    Hold,
    /// Sends these bytes this number of times, or until the client is gone.
    Flood(Vec<u8>, usize),
}

/// The actions on a connection, by the request.
type Script = Box<dyn FnOnce(&str) -> Vec<Act> + Send>;

/// A server with a script for each connection, by number. The server ends when this value is dropped.
#[derive(Debug)]
pub struct Server {
    url: String,
    log: Arc<Log>,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Log {
    requests: Mutex<Vec<(Instant, String)>>,
    changed: Notify,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Starts a server.
    ///
    /// # Panics
    ///
    /// If there is no port left.
    pub async fn start(script: impl Fn(usize) -> Vec<Act> + Send + 'static) -> Self {
        Self::serve(move |number| {
            let acts = script(number);
            Box::new(|_| acts)
        })
        .await
    }

    /// A server whose script depends on the request, such as on the path.
    pub async fn by_request(script: impl Fn(&str) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let script = Arc::new(script);
        Self::serve(move |_| {
            let script = Arc::clone(&script);
            Box::new(move |request| script(request))
        })
        .await
    }

    async fn serve(script: impl Fn(usize) -> Script + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let log = Arc::new(Log::default());
        let kept = Arc::clone(&log);
        let task = tokio::spawn(async move {
            let mut connections = Vec::new();
            loop {
                let (socket, _) = listener.accept().await.expect("a client");
                let script = script(connections.len());
                connections.push(tokio::spawn(serve(socket, script, Arc::clone(&kept))));
            }
        });
        Self { url, log, task }
    }

    /// A server with the same script for every connection.
    pub async fn always(acts: Vec<Act>) -> Self {
        Self::start(move |_| acts.clone()).await
    }

    /// The address of the server, without a path.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The requests so far, as received.
    pub fn requests(&self) -> Vec<String> {
        self.log().iter().map(|(_, request)| request.clone()).collect()
    }

    /// The times of the requests.
    pub fn request_times(&self) -> Vec<Instant> {
        self.log().iter().map(|(at, _)| *at).collect()
    }

    /// Waits for this number of requests.
    pub async fn received(&self, count: usize) {
        loop {
            // Made before the check: `notify_waiters` wakes this future from then on, even if it has not been polled.
            let changed = self.log.changed.notified();
            if self.log().len() >= count {
                return;
            }
            changed.await;
        }
    }

    fn log(&self) -> MutexGuard<'_, Vec<(Instant, String)>> {
        self.log.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn serve(mut socket: TcpStream, script: Script, log: Arc<Log>) {
    let mut request = Vec::new();
    while !is_whole(&request) {
        if !matches!(socket.read_buf(&mut request).await, Ok(1..)) {
            return;
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let acts = script(&request);
    log.requests.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), request));
    log.changed.notify_waiters();
    for act in acts {
        match act {
            Act::Send(bytes) => {
                // The client may have closed the connection.
                if socket.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Act::Pause(time) => sleep(time).await,
            Act::Reset => {
                // Closing a socket whose linger is 0 sends a reset.
                socket.set_zero_linger().expect("it can be reset");
                return;
            }
            Act::Hold => pending().await,
            Act::Flood(bytes, times) => {
                for _ in 0..times {
                    if socket.write_all(&bytes).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
    // Unread bytes would reset the connection.
    let _ = socket.shutdown().await;
    while matches!(socket.read_buf(&mut Vec::with_capacity(1024)).await, Ok(1..)) {}
}

/// Whether a request has its whole body.
pub fn is_whole(request: &[u8]) -> bool {
    let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") else { return false };
    // Names of fields have no case (RFC 9110, section 5.1).
    let head = String::from_utf8_lossy(request.get(..end).unwrap_or_default()).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
    request.len() >= end + 4 + length.unwrap_or(0)
}
