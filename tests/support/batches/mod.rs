//! A provider of batches on this machine: OpenAI's files and batches, or Anthropic's Message Batches, by their published
//! references. The server checks each request strictly, counts its bills, and fails on demand.

#![allow(
    clippy::indexing_slicing,
    reason = "an index into JSON is null where nothing is, and batches have numbers"
)]

mod anthropic;
mod openai;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use columnar::model::Provider;
use serde_json::{Value as Json, json};
use tokio::sync::Notify;

use crate::scripted::{Act, Server};
use crate::server::Wire;

/// The looks at a batch before it is over.
const LOOKS: usize = 2;

/// The lines of a file of results that are kept for a look at what was sent.
const SHOWN: usize = 20;

/// A fault of one call, in place of the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFault {
    /// Nothing is done, and the response has this status.
    Status(u16),
    /// The call is carried out, and the connection breaks before the response.
    Lost,
    /// The response ends in the middle, though its head names the whole length.
    Cut,
    /// The response ends after some lines, as if it were whole.
    Short,
    /// The call is not carried out, and there is no response.
    Hangs,
    /// The call is carried out, and there is no response.
    HangsAfter,
}

/// The end of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchPlan {
    /// The server leaves every n-th request without an answer, and the batch expires; 0 for none.
    pub expires: usize,
    /// Whether the batch is cancelled, after half of its requests.
    pub is_cancelled: bool,
    /// Whether the batch fails as a whole. Only OpenAI's do.
    pub fails: bool,
    /// The server refuses every n-th request; 0 for none.
    pub refuses: usize,
    /// Whether results come twice, with strange ids between them, and backwards.
    pub is_messy: bool,
}

/// A request of a batch.
#[derive(Clone, Debug)]
pub struct BatchedRequest {
    /// The custom id.
    pub id: String,
    /// The body of a call.
    pub body: Json,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchedResult {
    Answered,
    Refused,
    Expired,
    Cancelled,
}

/// A batch at the server.
#[derive(Clone, Debug)]
pub struct ServedBatch {
    /// The id.
    pub id: String,
    /// The requests, in order.
    pub requests: Vec<BatchedRequest>,
    metadata: Json,
    file: String,
    endpoint: String,
    looks: usize,
    plan: BatchPlan,
    results: Vec<BatchedResult>,
}

impl ServedBatch {
    fn is_over(&self) -> bool {
        self.looks >= LOOKS
    }

    fn count(&self, result: BatchedResult) -> usize {
        self.results.iter().filter(|of| **of == result).count()
    }

    /// The lines of these results, as the plan mixes them.
    fn lines(&self, line: impl Fn(&str, &BatchedRequest, BatchedResult) -> Option<Json>) -> String {
        let mut lines = Vec::new();
        for (request, result) in self.requests.iter().zip(&self.results) {
            lines.extend(line(&request.id, request, *result));
            if self.plan.is_messy {
                lines.extend(line("nobody-asked", request, *result));
                lines.extend(line(&request.id.replacen(|_: char| true, "x", 1), request, *result));
                // The second answer would be another one.
                let mut other = request.clone();
                other.body =
                    json!({ "model": "x", "messages": [{ "role": "user", "content": "a duplicate" }] });
                lines.extend(line(&request.id, &other, *result));
            }
        }
        if self.plan.is_messy {
            // The first answer of each request stays before its duplicate.
            lines.chunks_mut(4).for_each(|four| four.swap(1, 2));
            let mut blocks: Vec<_> = lines.chunks(4).map(<[Json]>::to_vec).collect();
            blocks.reverse();
            lines = blocks.concat();
        }
        let lines: Vec<String> = lines.iter().map(|line| line.to_string() + "\n").collect();
        lines.concat()
    }
}

type CallPlan = Box<dyn Fn(usize, &str) -> Option<CallFault> + Send>;

struct BatchState {
    wire: Wire,
    batches: Vec<ServedBatch>,
    /// The files of requests and results, by id.
    files: BTreeMap<String, String>,
    /// The times that each request was billed, by its model, instruction and last text.
    billed: BTreeMap<String, usize>,
    /// The rules that requests broke.
    violations: Vec<String>,
    calls: Vec<String>,
    faults: CallPlan,
    plans: Box<dyn Fn(usize) -> BatchPlan + Send>,
    /// The bodies that the server sent, each with the kind of its contents.
    sent: Vec<(&'static str, Json)>,
}

/// A server with batches of one interface.
pub struct BatchServer {
    server: Server,
    state: Arc<Mutex<BatchState>>,
    hung: Arc<Notify>,
}

impl BatchServer {
    /// Starts a server without faults.
    pub async fn start(wire: Wire) -> Self {
        let state = Arc::new(Mutex::new(BatchState {
            wire,
            batches: Vec::new(),
            files: BTreeMap::new(),
            billed: BTreeMap::new(),
            violations: Vec::new(),
            calls: Vec::new(),
            faults: Box::new(|_, _| None),
            plans: Box::new(|_| BatchPlan::default()),
            sent: Vec::new(),
        }));
        let hung = Arc::new(Notify::new());
        let of_server = (Arc::clone(&state), Arc::clone(&hung));
        let server = Server::by_request(move |request| {
            let mut state = of_server.0.lock().unwrap_or_else(PoisonError::into_inner);
            let acts = state.serve(request);
            if acts.iter().any(|act| matches!(act, Act::Hold)) {
                of_server.1.notify_one();
            }
            acts
        })
        .await;
        Self { server, state, hung }
    }

    /// The address of the server, without a path.
    pub fn url(&self) -> &str {
        self.server.url()
    }

    /// A model of the server with a known price.
    ///
    /// # Panics
    ///
    /// Where HTTPS is not available.
    pub fn provider(&self) -> Provider {
        let name = match self.lock().wire {
            Wire::OpenAi => "openai/gpt-6-luna",
            Wire::Anthropic => "anthropic/claude-sonnet-5-5",
        };
        let url = self.server.url();
        Provider::new(name).expect("a provider").base_url(&format!("{url}/v1")).key(|| "sk-batch-7")
    }

    /// Sets the faults of calls, by the number of the call and its first line.
    pub fn faults(&self, faults: impl Fn(usize, &str) -> Option<CallFault> + Send + 'static) {
        self.lock().faults = Box::new(faults);
    }

    /// Sets the plans of batches, by their number.
    pub fn plans(&self, plans: impl Fn(usize) -> BatchPlan + Send + 'static) {
        self.lock().plans = Box::new(plans);
    }

    /// Waits for a call that hangs.
    pub async fn hung(&self) {
        self.hung.notified().await;
    }

    /// The calls so far, each as the first line of its request.
    pub fn calls(&self) -> Vec<String> {
        self.lock().calls.clone()
    }

    /// The batches so far.
    pub fn batches(&self) -> Vec<ServedBatch> {
        self.lock().batches.clone()
    }

    /// The number of answers that were billed, and the number that was billed once more for the same request.
    pub fn billed(&self) -> [usize; 2] {
        let state = self.lock();
        [state.billed.values().sum(), state.billed.values().map(|times| times - 1).sum()]
    }

    /// The rules of the interface that requests broke.
    pub fn violations(&self) -> Vec<String> {
        self.lock().violations.clone()
    }

    /// The bodies that the server sent, each with its kind.
    pub fn sent(&self) -> Vec<(&'static str, Json)> {
        self.lock().sent.clone()
    }

    fn lock(&self) -> MutexGuard<'_, BatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for BatchServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BatchServer").field("calls", &self.calls().len()).finish_non_exhaustive()
    }
}

/// A response of the server: its status, and its body.
struct Response {
    status: u16,
    body: String,
}

impl BatchState {
    fn serve(&mut self, request: &str) -> Vec<Act> {
        let line = request.lines().next().unwrap_or_default().to_owned();
        let call = self.calls.len();
        let fault = (self.faults)(call, &line);
        self.calls.push(line);
        if let Some(CallFault::Status(status)) = fault {
            let body = json!({ "type": "error", "error": { "type": "api_error", "message": "Try again." } });
            return acts(&Response { status, body: body.to_string() }, None);
        }
        if fault == Some(CallFault::Hangs) {
            return vec![Act::Hold];
        }
        let response = self.respond(request);
        acts(&response, fault)
    }

    fn respond(&mut self, request: &str) -> Response {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let mut words = head.split(' ');
        let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let response = match self.wire {
            Wire::OpenAi => self.openai(head, (method, path, query), body),
            Wire::Anthropic => self.anthropic(head, (method, path, query), body),
        };
        response.unwrap_or_else(|rule| {
            self.violations.push(format!("{method} {target}: {rule}"));
            let body =
                json!({ "type": "error", "error": { "type": "invalid_request_error", "message": rule } });
            Response { status: 400, body: body.to_string() }
        })
    }

    /// Begins a batch.
    fn begin(&mut self, requests: Vec<BatchedRequest>, created: (String, String, Json)) -> Json {
        let number = self.batches.len();
        let (file, endpoint, metadata) = created;
        let id = match self.wire {
            Wire::OpenAi => format!("batch_{number}"),
            Wire::Anthropic => format!("msgbatch_{number}"),
        };
        let plan = (self.plans)(number);
        let results = Vec::new();
        self.batches.push(ServedBatch { id, requests, metadata, file, endpoint, looks: 0, plan, results });
        self.describe(number)
    }

    /// Looks at a batch, which may end by that.
    fn look(&mut self, id: &str) -> Result<Json, String> {
        let number = self.batches.iter().position(|batch| batch.id == id).ok_or("there is no such batch")?;
        let batch = &mut self.batches[number];
        batch.looks += 1;
        if batch.looks == LOOKS {
            let plan = batch.plan;
            let half = batch.requests.len() / 2;
            let is_last = |at: usize, of: usize| of > 0 && at % of == of - 1;
            let result = |at| match at {
                _ if plan.fails => BatchedResult::Cancelled,
                _ if plan.is_cancelled && at >= half => BatchedResult::Cancelled,
                _ if is_last(at, plan.expires) => BatchedResult::Expired,
                _ if is_last(at, plan.refuses) => BatchedResult::Refused,
                _ => BatchedResult::Answered,
            };
            batch.results = (0..batch.requests.len()).map(result).collect();
            for (request, result) in batch.requests.iter().zip(&batch.results) {
                if *result == BatchedResult::Answered {
                    *self.billed.entry(content(&request.body)).or_default() += 1;
                }
            }
        }
        let is_over_now = self.batches[number].looks == LOOKS;
        if is_over_now && self.wire == Wire::OpenAi && !self.batches[number].plan.fails {
            let batch = self.batches[number].clone();
            self.openai_results(&batch);
        }
        Ok(self.describe(number))
    }

    fn describe(&self, number: usize) -> Json {
        let batch = &self.batches[number];
        match self.wire {
            Wire::OpenAi => self.openai_batch(batch),
            Wire::Anthropic => Self::anthropic_batch(batch),
        }
    }

    /// A page of the list, the newest first.
    fn page(&mut self, query: &str, after_name: &str, most: usize) -> Result<Vec<Json>, String> {
        let value = |name: &str| query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        let limit = value("limit").unwrap_or("20").parse().map_err(|_| "the limit is no number")?;
        if !(1..=most).contains(&limit) {
            return Err(format!("the limit is beyond {most}"));
        }
        let mut numbers: Vec<_> = (0..self.batches.len()).rev().collect();
        if let Some(after) = value(after_name) {
            let at = numbers.iter().position(|number| self.batches[*number].id == after);
            numbers.drain(..=at.ok_or("the cursor is no batch")?);
        }
        let has_more = numbers.len() > limit;
        numbers.truncate(limit);
        let ids: Vec<_> = numbers.iter().map(|number| self.batches[*number].id.clone()).collect();
        // Time passes with each look, also at the list.
        let mut page = ids.iter().map(|id| self.look(id)).collect::<Result<Vec<_>, _>>()?;
        page.push(has_more.into());
        Ok(page)
    }
}

/// Checks the rules for custom ids that both interfaces have.
fn check_ids(requests: &[BatchedRequest]) -> Result<(), String> {
    let mut ids = std::collections::BTreeSet::new();
    for BatchedRequest { id, .. } in requests {
        let is_plain = id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !(1..=64).contains(&id.len()) || !is_plain {
            return Err(format!("`{id}` is no custom id"));
        }
        if !ids.insert(id) {
            return Err(format!("`{id}` is there twice"));
        }
    }
    if requests.is_empty() { Err("there are no requests".to_owned()) } else { Ok(()) }
}

/// The last text of a request, with which it is counted and answered.
pub fn question(body: &Json) -> String {
    let messages = body.get("messages").or_else(|| body.get("input")).and_then(Json::as_array);
    let content = messages.and_then(|messages| messages.last()?.get("content"));
    match content {
        Some(Json::Array(parts)) => {
            parts.last().and_then(|part| part.get("text")?.as_str()).unwrap_or_default().to_owned()
        }
        content => content.and_then(Json::as_str).unwrap_or_default().to_owned(),
    }
}

/// The model, the instruction and the last text of a request, without the marks for caches.
fn content(body: &Json) -> String {
    let instruction =
        ["/system/0/text", "/system", "/instructions", "/messages/0/content/0/text", "/messages/0/content"];
    let instruction = instruction.iter().find_map(|path| body.pointer(path)?.as_str());
    format!("{} {} {}", body["model"], instruction.unwrap_or_default(), question(body))
}

/// The reply to a request.
fn reply(body: &Json) -> String {
    let question = question(body);
    let question = question.lines().filter(|line| !line.starts_with('<')).collect::<Vec<_>>().join(" ");
    format!("Seen: {question}")
}

fn acts(response: &Response, fault: Option<CallFault>) -> Vec<Act> {
    let Response { status, body } = response;
    let head = |length: usize| {
        format!(
            "HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        )
    };
    let send = |text: String| Act::Send(text.into_bytes());
    match fault {
        Some(CallFault::Lost) => vec![Act::Reset],
        Some(CallFault::HangsAfter) => vec![Act::Hold],
        Some(CallFault::Cut) => {
            let half = body.floor_char_boundary(body.len() / 2);
            vec![send(head(body.len()) + &body[..half])]
        }
        Some(CallFault::Short) if body.matches('\n').count() > 1 => {
            let line = body.find('\n').map_or(0, |at| at + 1);
            vec![send(head(line) + &body[..line])]
        }
        _ => vec![send(head(body.len()) + body)],
    }
}
