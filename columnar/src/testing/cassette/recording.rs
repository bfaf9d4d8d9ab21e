//! A recording: the request that identifies it, the cell that sent the request, and the replies.

use serde_json::{Value as Json, json};

use crate::context::{Messages, Origin, Role};
use crate::model::rendering::{ReplySettings, Request, Schema};
use crate::model::{Chunk, End, MaxTokens};

/// A request and the replies to it.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    pub(super) cell: RecordedCell,
    pub(super) request: RecordedRequest,
    /// The replies, in the order of the requests.
    pub(super) replies: Vec<RecordedReply>,
    /// The number of replies that were replayed.
    pub(super) replayed: usize,
    /// The sequence numbers of the requests; none if the replies come from the file.
    pub(super) sequence: Vec<u64>,
}

/// The cell that sent a request, shown to people. The cell does not identify the recording.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordedCell {
    pub(super) step: usize,
    pub(super) column: String,
}

/// A complete reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RecordedReply {
    pub(super) pieces: Vec<String>,
    pub(super) end: End,
}

impl RecordedReply {
    pub(super) fn chunks(self) -> impl Iterator<Item = Chunk> {
        self.pieces.into_iter().map(Chunk::Text).chain([Chunk::End(self.end)])
    }
}

/// A request, with everything that a reply depends on: everything but the pace, which only affects caching.
#[derive(Clone, Debug)]
pub(super) struct RecordedRequest {
    pub(super) model: String,
    pub(super) system: String,
    pub(super) messages: Vec<RecordedMessage>,
    pub(super) follow_up: Vec<RecordedMessage>,
    /// The limit; `None` for the default of the model, which may differ in another version of the library.
    pub(super) max_tokens: Option<u32>,
    /// The settings without `lenient`, which only decides what is sent.
    pub(super) settings: ReplySettings,
    pub(super) schema: Option<Schema>,
    /// The cells of the attachments, for errors; none if the request comes from the file.
    pub(super) origins: Vec<String>,
}

/// A message: the role, and texts with the attachments between. The first part is a text, and two texts are never
/// neighbours.
pub(super) type RecordedMessage = (Role, Vec<RecordedPart>);

#[derive(Clone, Debug)]
pub(super) enum RecordedPart {
    Text(String),
    /// The type, the digest, the length and the alternative text of an attachment.
    Attachment(Json),
}

impl RecordedPart {
    fn all(messages: &Messages) -> Vec<RecordedMessage> {
        let mut recorded: Vec<RecordedMessage> = Vec::new();
        for part in messages.parts() {
            if !part.joins() {
                recorded.push((part.role(), Vec::new()));
            }
            let Some((_, content)) = recorded.last_mut() else { continue };
            match content.last_mut() {
                Some(Self::Text(text)) => text.push_str(&part.text()),
                _ => content.push(Self::Text(part.text().into_owned())),
            }
            let attachments = part.attachments().iter();
            content.extend(attachments.map(|attachment| Self::Attachment(sorted(&json!(attachment)))));
        }
        recorded
    }

    fn lines(&self) -> Vec<String> {
        match self {
            Self::Text(text) => indented(text).collect(),
            Self::Attachment(json) => vec![format!("{ATTACHMENT}{json}")],
        }
    }
}

/// The cell of each attachment.
fn origins(messages: &Messages) -> Vec<String> {
    let origins = messages.parts().flat_map(|part| {
        let origin = part.origin().map(|Origin { column, step }| format!("`{column}` at step {step}"));
        part.attachments().iter().map(move |_| origin.clone().unwrap_or_default())
    });
    origins.collect()
}

/// The beginning of the line of an attachment.
pub(super) const ATTACHMENT: &str = "attachment: ";

impl RecordedRequest {
    pub(super) fn new(model: &str, request: &Request) -> Self {
        // Every field by name, so that a new field of `Request` cannot be forgotten here.
        let Request {
            system,
            messages,
            follow_up,
            max_tokens,
            settings,
            schema,
            pace: _,
            may_wait: _,
            media: _,
        } = request;
        Self {
            model: model.to_owned(),
            system: (**system).to_owned(),
            messages: RecordedPart::all(messages),
            follow_up: follow_up
                .iter()
                .map(|(role, content)| (*role, vec![RecordedPart::Text((**content).to_owned())]))
                .collect(),
            max_tokens: Some(*max_tokens).filter(|limit| *limit != MaxTokens::by_model(model).default),
            settings: ReplySettings { lenient: false, ..settings.clone() },
            schema: schema.as_deref().cloned(),
            origins: origins(messages),
        }
    }

    /// Whether a message has attachments.
    pub(super) fn has_attachments(&self) -> bool {
        self.messages.iter().any(|(_, content)| content.len() > 1)
    }

    /// The request as lines, which identify it: text from outside is indented or quoted, so two requests are equal if
    /// and only if the lines are equal.
    pub(super) fn lines(&self) -> Vec<String> {
        // The whole request, because a replay must not answer another one.
        let mut lines = vec![format!("model: {:?}", self.model)];
        lines.extend(self.max_tokens.map(|limit| format!("max_tokens: {limit}")));
        let ReplySettings { effort, temperature, top_p, seed, stop, cache_key: _, lenient: _ } =
            &self.settings;
        lines.extend(effort.map(|effort| format!("effort: {effort}")));
        lines.extend(temperature.map(|temperature| format!("temperature: {temperature}")));
        lines.extend(top_p.map(|share| format!("top_p: {share}")));
        lines.extend(seed.map(|seed| format!("seed: {seed}")));
        lines.extend(stop.iter().map(|text| format!("stop: {text:?}")));
        if let Some(Schema { name, json }) = &self.schema {
            lines.push(format!("schema: {name:?}"));
            // A `Value` that is formatted with indentation has one representation.
            lines.extend(indented(&format!("{:#}", sorted(json))));
        }
        lines.push("system".to_owned());
        lines.extend(indented(&self.system));
        for (role, content) in &self.messages {
            lines.push(role.to_string());
            lines.extend(content.iter().flat_map(RecordedPart::lines));
        }
        for (role, content) in &self.follow_up {
            lines.push(format!("then {role}"));
            lines.extend(content.iter().flat_map(RecordedPart::lines));
        }
        lines
    }
}

/// The default for all models in files of version 1.
const EARLIER_DEFAULT: u32 = 1024;

impl RecordedRequest {
    /// The lines of the same request in a file of version 1, if they differ.
    pub(super) fn earlier_lines(&self) -> Option<Vec<String>> {
        let earlier = Self { max_tokens: Some(EARLIER_DEFAULT), ..self.clone() };
        self.max_tokens.is_none().then(|| earlier.lines())
    }
}

fn indented(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(|line| format!("  {line}"))
}

/// The JSON with the entries of all objects in order of names, as in cassettes.
pub(super) fn sorted(json: &Json) -> Json {
    let mut json = json.clone();
    json.sort_all_objects();
    json
}
