//! Clients: each talks in a conversation of its own, and follows the conversation.

use std::collections::HashMap;
use std::time::Duration;

use columnar::BoxError;
use futures::stream::{StreamExt, TryStreamExt, iter};
use reqwest::{Client, Response};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::sleep;

use crate::Plan;

/// The conversations that go on at once.
pub(crate) const AT_ONCE: usize = 200;

pub(crate) struct Clients {
    http: Client,
    gateway: String,
    /// Differs between two demonstrations on the same servers.
    name: String,
    chats: usize,
    steps: usize,
    /// The number of answers so far.
    pub(crate) answers: watch::Sender<usize>,
}

impl Clients {
    /// Clients of a gateway; the name tells the fleets of a process apart.
    pub(crate) fn new(gateway: &str, name: &str, plan: &Plan) -> Self {
        let name = format!("{:x} {name}", std::process::id());
        let Plan { chats, steps, .. } = *plan;
        Self {
            http: Client::new(),
            gateway: gateway.to_owned(),
            name,
            chats,
            steps,
            answers: watch::Sender::new(0),
        }
    }

    pub(crate) fn key(&self, chat: usize) -> String {
        format!("fleet {} {chat}", self.name)
    }

    /// Talks in all conversations, and fails if a client gets a value twice.
    pub(crate) async fn talk(&self) -> Result<(), BoxError> {
        iter(0..self.chats).map(|chat| self.talk_in(chat)).buffer_unordered(AT_ONCE).try_collect().await
    }

    async fn talk_in(&self, chat: usize) -> Result<(), BoxError> {
        let mut events = Events {
            address: format!("{}/chats/{}", self.gateway, self.key(chat).replace(' ', "%20")),
            ..Events::default()
        };
        for step in 0..self.steps {
            self.push(&events.address, chat, step).await;
            while !events.seen.contains_key(&("answer".to_owned(), step)) {
                events.next(&self.http).await?;
            }
            self.answers.send_modify(|answers| *answers += 1);
        }
        Ok(())
    }

    /// Differs in each cell, so that a request of the model is a cell.
    pub(crate) fn question(step: usize, chat: usize, name: &str) -> String {
        format!("Question {step} of conversation {chat} of {name}: which language is fast?")
    }

    /// Sends a message until there is a reply, with the same key each time.
    async fn push(&self, address: &str, chat: usize, step: usize) {
        let text =
            format!("Question {step} of conversation {chat} of {}: which language is fast?", self.name);
        loop {
            let request = self.http.post(address).header("idempotency-key", format!("message {step}"));
            if request.body(text.clone()).send().await.is_ok_and(|reply| reply.status().is_success()) {
                return;
            }
            sleep(Duration::from_millis(500)).await;
        }
    }
}

/// The server-sent events of a conversation, over as many connections as it takes.
#[derive(Default)]
struct Events {
    address: String,
    connection: Option<Response>,
    /// What has arrived of the next event.
    text: String,
    last_id: Option<String>,
    /// The values so far, by column and step.
    seen: HashMap<(String, usize), String>,
}

impl Events {
    /// Reads until there is another event, or the connection is lost.
    async fn next(&mut self, http: &Client) -> Result<(), BoxError> {
        let Some(connection) = &mut self.connection else {
            let mut request = http.get(format!("{}/events", self.address));
            if let Some(id) = &self.last_id {
                request = request.header("last-event-id", id);
            }
            match request.send().await.and_then(Response::error_for_status) {
                Ok(connection) => self.connection = Some(connection),
                Err(_) => sleep(Duration::from_millis(500)).await,
            }
            return Ok(());
        };
        let Ok(Some(chunk)) = connection.chunk().await else {
            self.connection = None;
            self.text.clear();
            return Ok(());
        };
        self.text.push_str(std::str::from_utf8(&chunk)?);
        while let Some((event, rest)) = self.text.split_once("\n\n") {
            let (event, rest) = (event.to_owned(), rest.to_owned());
            self.text = rest;
            self.record(&event)?;
        }
        Ok(())
    }

    fn record(&mut self, event: &str) -> Result<(), BoxError> {
        let field = |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let (Some(id), Some(data)) = (field("id:"), field("data:")) else { return Ok(()) };
        self.last_id = Some(id.to_owned());
        let event: Value = serde_json::from_str(data)?;
        let [column, step, value] = ["column", "step", "value"].map(|name| event.get(name));
        let column = column.and_then(Value::as_str).unwrap_or_default().to_owned();
        let step = step.and_then(Value::as_u64).unwrap_or_default().try_into()?;
        if let Some(value) = value.and_then(Value::as_str)
            && self.seen.insert((column.clone(), step), value.to_owned()).is_some()
        {
            return Err(format!("{} has sent {column} at step {step} twice", self.address).into());
        }
        Ok(())
    }
}
