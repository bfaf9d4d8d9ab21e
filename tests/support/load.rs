//! Many streaming calls at once, and what they cost the process that makes them. The clients of `tests/peers` use this
//! file as well, so all are measured alike.
//!
//! A server that answers knows from the question how many words to send. Its first word is the time that it took itself,
//! in microseconds, so the rest of the time to the first word is the client's and the network's.

use std::fs;
use std::time::{Duration, Instant};

use futures::future::join_all;

/// Concurrent calls: each of several workers makes a few, one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// The words of a reply.
    pub words: u32,
    /// The microseconds between two words. All words are sent at once if there are none.
    pub pause: u32,
    /// The number of workers.
    pub workers: u32,
    /// The number of calls that each worker makes.
    pub calls: u32,
}

/// A reply as a worker hears it.
#[derive(Debug)]
pub struct HeardReply {
    asked: Instant,
    first: Option<Duration>,
    words: u32,
}

impl HeardReply {
    /// Takes a piece of the reply.
    ///
    /// # Panics
    ///
    /// If the first piece is no number.
    pub fn hear(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.first.is_none() {
            let server = text.trim().parse().expect("the first word is the time of the server");
            self.first = Some(self.asked.elapsed().saturating_sub(Duration::from_micros(server)));
        }
        self.words += 1;
    }
}

impl Load {
    /// The load in the order of [`words`](Self::words): words, pause, workers and calls.
    pub fn parse(numbers: &[String]) -> Option<Self> {
        let [words, pause, workers, calls] = numbers else { return None };
        let [words, pause, workers, calls] = [words, pause, workers, calls].map(|it| it.parse().ok());
        Some(Self { words: words?, pause: pause?, workers: workers?, calls: calls? })
    }

    /// The arguments that [`parse`](Self::parse) reads.
    pub fn arguments(&self) -> [String; 4] {
        [self.words, self.pause, self.workers, self.calls].map(|number| number.to_string())
    }

    /// The question that tells the server what to send.
    pub fn question(words: u32, pause: u32) -> String {
        format!("Send {words} words, one each {pause} us.")
    }

    /// Makes the calls, and returns a line with the microseconds of CPU of this process, the median and the 99th
    /// percentile of the microseconds to the first word, and the most memory in bytes.
    ///
    /// `ask` makes a call of a worker with a question.
    ///
    /// # Panics
    ///
    /// If a reply has not all words.
    pub async fn run(self, ask: impl AsyncFn(usize, &str, &mut HeardReply)) -> String {
        let call = async |worker: u32, words: u32, pause: u32| {
            let mut reply = HeardReply { asked: Instant::now(), first: None, words: 0 };
            ask(worker as usize, &Self::question(words, pause), &mut reply).await;
            assert_eq!(reply.words, words, "a reply is whole");
            reply.first.unwrap_or_default()
        };
        // Connections and whatever else a client sets up once.
        join_all((0..self.workers).map(|worker| call(worker, 1, 0))).await;
        let before = cpu();
        let work = async |worker| {
            let mut firsts = Vec::new();
            for _ in 0..self.calls {
                firsts.push(call(worker, self.words, self.pause).await);
            }
            firsts
        };
        let mut firsts = join_all((0..self.workers).map(work)).await.concat();
        let cpu = cpu().saturating_sub(before).as_micros();
        firsts.sort_unstable();
        let [median, late] = [50, 99].map(|percent| firsts.get(firsts.len() * percent / 100));
        let [median, late] = [median, late].map(|first| first.map_or(0, Duration::as_micros));
        format!("{cpu} {median} {late} {}", peak())
    }
}

/// The time of this process on a CPU, in the kernel as well. The kernel counts hundredths of a second.
fn cpu() -> Duration {
    let status = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in parentheses, may have spaces. The times are the fields 14 and 15.
    let fields = status.rsplit_once(')').map_or("", |(_, rest)| rest).split_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}

/// The most memory that this process has had, in bytes.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
    peak.and_then(|peak| peak.trim().parse::<u64>().ok()).unwrap_or_default() * 1024
}
