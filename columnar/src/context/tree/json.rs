//! The JSON form of changes.
//!
//! ```text
//! {"id":ID,"author":"human"|"model","root":true,"from":[EDGE],"annotates":[EDGE],"edited_from":ID,
//!  "receipt":{…},"text":TEXT,"attachments":[ATTACHMENT]}
//! {"link":ID,"from":EDGE}
//! {"mark":"bookmarked"|"pruned"|"excluded","node":ID,"set":true|false}
//! {"prune_one":ID,"set":true|false}
//! {"system":TEXT|null}
//! {"system_in_buffer":true|false}
//!
//! EDGE = [SOURCE]        SOURCE = ID | [ID,"context"|"instruction"]        an id alone is a primary source
//! ATTACHMENT = {"data":BASE64,"alt":TEXT}
//! ```
//!
//! Of a node, `root`, `from`, `annotates`, `edited_from`, `receipt` and `attachments` are there only if they say something. A
//! header is a node without `text` and `attachments`. The first key tells the shapes apart, and an unknown key is an error, so a later version of the library
//! can add shapes and keys that this one refuses.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value as Json, json};

use super::change::{Change, Header};
use super::edge::Edge;
use super::error::TreeError;
use super::id::NodeId;
use super::kinds::{Author, Mark};
use crate::context::budget::Budget;
use crate::declare::Purpose;
use crate::history::{Attachment, Value};

impl Change {
    /// The change as JSON, on one line. Equal changes with the same attachments have equal texts.
    ///
    /// A node is an object with `id`, `author`, `text`, and, if they are not empty, `root`, `from`, `annotates`, `edited_from`,
    /// `receipt` and `attachments`, with their bytes in base64. The other changes begin with the keys `link`, `mark`, `prune_one`, `system`, `budget` and
    /// `system_in_buffer`. An edge is a list of sources: an id is a primary source, and `[id, purpose]` another one.
    ///
    /// ```
    /// use columnar::loom::{Change, Edge, NodeId};
    ///
    /// let (answer, other, photo) = (NodeId::new("q2xd")?, NodeId::new("k3f9")?, NodeId::new("p0aa")?);
    /// let change = Change::Link { from: Edge::from(&other).context(&photo), node: answer };
    /// let json = change.to_json();
    /// assert_eq!(json, r#"{"link":"q2xd","from":["k3f9",["p0aa","context"]]}"#);
    /// assert_eq!(Change::parse(&json)?, change);
    /// # Ok::<(), columnar::loom::TreeError>(())
    /// ```
    pub fn to_json(&self) -> String {
        match self {
            Self::Node { header, text } => {
                let attachments: Json = text.attachments().iter().map(attachment).collect();
                let attachments = (!text.attachments().is_empty()).then_some(("attachments", attachments));
                let text = ("text", Json::from(text.as_str()));
                object(header.fields().into_iter().chain([text]).chain(attachments))
            }
            Self::Link { from, node } => object([("link", id(node)), ("from", edge(from))]),
            Self::Mark { node, mark, is_set } => {
                object([("mark", mark.as_str().into()), ("node", id(node)), ("set", (*is_set).into())])
            }
            Self::PruneOne { node, is_set } => object([("prune_one", id(node)), ("set", (*is_set).into())]),
            Self::System { text } => object([("system", text.as_deref().into())]),
            Self::Budget { budget } => object([("budget", budget.to_json())]),
            Self::SystemInBuffer { is_set } => object([("system_in_buffer", (*is_set).into())]),
        }
    }

    /// Reads a change from the JSON.
    ///
    /// # Errors
    ///
    /// [`TreeError::Damaged`] names the key of the fault: one that is missing, unknown or has a wrong value.
    /// [`TreeError::BadId`] if an id is none.
    pub fn parse(json: &str) -> Result<Self, TreeError> {
        let mut fields = JsonFields::parse(json)?;
        let change = if fields.has("id") {
            Self::Node { header: fields.header()?, text: fields.value()? }
        } else if let Some(node) = fields.take("link") {
            Self::Link { node: parse_id(&node, "link")?, from: parse_edge(fields.need("from")?, "from")? }
        } else if let Some(mark) = fields.take("mark") {
            let mark = mark.as_str().and_then(Mark::by_name).ok_or(damaged("mark"))?;
            let node = parse_id(&fields.need("node")?, "node")?;
            Self::Mark { node, mark, is_set: fields.flag("set")? }
        } else if let Some(node) = fields.take("prune_one") {
            Self::PruneOne { node: parse_id(&node, "prune_one")?, is_set: fields.flag("set")? }
        } else if let Some(budget) = fields.take("budget") {
            Self::Budget { budget: Budget::from_json(&budget).ok_or(damaged("budget"))? }
        } else if fields.has("system_in_buffer") {
            Self::SystemInBuffer { is_set: fields.flag("system_in_buffer")? }
        } else {
            match fields.need("system")? {
                Json::Null => Self::System { text: None },
                Json::String(text) => Self::System { text: Some(text.into()) },
                _ => return Err(damaged("system")),
            }
        };
        fields.end(change)
    }
}

impl Header {
    /// The header as JSON, on one line: the [JSON of the node](Change::to_json) without `text`.
    pub fn to_json(&self) -> String {
        object(self.fields())
    }

    /// The header as JSON beside a stored text, with the names of the attachments.
    pub(crate) fn to_stored_json(&self, attachments: Vec<Json>) -> String {
        let attachments = (!attachments.is_empty()).then(|| ("attachments", attachments.into()));
        object(self.fields().into_iter().chain(attachments))
    }

    /// Reads a header that a store has beside a text, and that names the attachments of the text.
    pub(crate) fn parse_stored(json: &str, text: &Value) -> Result<Self, TreeError> {
        let mut fields = JsonFields::parse(json)?;
        let header = fields.header()?;
        let names = fields.take("attachments").map(|names| names.as_array().map_or(0, Vec::len));
        // A name that cannot be read leads to no attachment.
        if names.is_some_and(|names| names == 0 || names != text.attachments().len()) {
            return Err(damaged("attachments"));
        }
        fields.end(header)
    }

    /// Reads a header from the JSON.
    ///
    /// # Errors
    ///
    /// As for [`Change::parse`].
    pub fn parse(json: &str) -> Result<Self, TreeError> {
        let mut fields = JsonFields::parse(json)?;
        let header = fields.header()?;
        fields.end(header)
    }

    fn fields(&self) -> Vec<(&'static str, Json)> {
        let mut fields = vec![("id", id(self.id())), ("author", self.author().as_str().into())];
        if self.is_root() {
            fields.push(("root", true.into()));
        } else if !self.from.is_empty() {
            fields.push(("from", self.from.iter().map(edge).collect()));
        }
        if !self.annotates.is_empty() {
            fields.push(("annotates", self.annotates.iter().map(edge).collect()));
        }
        fields.extend(self.edited_from.as_ref().map(|node| ("edited_from", id(node))));
        let receipt = self.receipt.as_deref().and_then(|text| serde_json::from_str(text).ok());
        fields.extend(receipt.map(|receipt| ("receipt", receipt)));
        fields
    }
}

/// An object with the keys in this order.
fn object(fields: impl IntoIterator<Item = (&'static str, Json)>) -> String {
    fields.into_iter().collect::<Json>().to_string()
}

fn id(node: &NodeId) -> Json {
    node.as_str().into()
}

fn edge(edge: &Edge) -> Json {
    let sources = edge.sources().iter().map(|(purpose, node)| match purpose {
        Purpose::Primary => id(node),
        Purpose::Context | Purpose::Instruction => json!([node.as_str(), purpose.as_str()]),
    });
    sources.collect()
}

fn attachment(attachment: &Attachment) -> Json {
    let data = ("data", Json::from(STANDARD.encode(attachment.bytes())));
    let alt = attachment.alt_text().map(|alt| ("alt", alt.into()));
    [data].into_iter().chain(alt).collect()
}

const fn damaged(part: &'static str) -> TreeError {
    TreeError::Damaged { part }
}

fn parse_id(json: &Json, part: &'static str) -> Result<NodeId, TreeError> {
    Ok(NodeId::new(json.as_str().ok_or(damaged(part))?)?)
}

fn parse_edge(json: Json, part: &'static str) -> Result<Edge, TreeError> {
    let Json::Array(sources) = json else { return Err(damaged(part)) };
    let sources = sources.iter().map(|json| match json {
        Json::Array(pair) => {
            let [node, purpose] = pair.as_slice() else { return Err(damaged(part)) };
            let mut purposes = [Purpose::Context, Purpose::Instruction].into_iter();
            let purpose = purposes.find(|known| Some(known.as_str()) == purpose.as_str());
            Ok((purpose.ok_or(damaged(part))?, parse_id(node, part)?))
        }
        node => Ok((Purpose::Primary, parse_id(node, part)?)),
    });
    Ok(Edge::new(sources.collect::<Result<Vec<_>, TreeError>>()?))
}

fn parse_attachment(json: Json) -> Result<Attachment, TreeError> {
    let Json::Object(fields) = json else { return Err(damaged("attachments")) };
    let mut fields = JsonFields(fields);
    let bytes = STANDARD.decode(&*fields.text("data")?).ok();
    let attachment = bytes.and_then(|bytes| Attachment::new(bytes).ok()).ok_or(damaged("data"))?;
    let attachment = if fields.has("alt") { attachment.alt(fields.text("alt")?) } else { attachment };
    fields.end(attachment)
}

/// The fields of an object that are not read yet.
struct JsonFields(Map<String, Json>);

impl JsonFields {
    fn parse(json: &str) -> Result<Self, TreeError> {
        match serde_json::from_str(json) {
            Ok(Json::Object(fields)) => Ok(Self(fields)),
            _ => Err(damaged("json")),
        }
    }

    fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    fn take(&mut self, key: &str) -> Option<Json> {
        self.0.remove(key)
    }

    fn need(&mut self, key: &'static str) -> Result<Json, TreeError> {
        self.take(key).ok_or(damaged(key))
    }

    fn flag(&mut self, key: &'static str) -> Result<bool, TreeError> {
        self.need(key)?.as_bool().ok_or(damaged(key))
    }

    fn text(&mut self, key: &'static str) -> Result<Arc<str>, TreeError> {
        match self.need(key)? {
            Json::String(text) => Ok(text.into()),
            _ => Err(damaged(key)),
        }
    }

    /// The text of a node, with the attachments. A list that is there is not empty.
    fn value(&mut self) -> Result<Value, TreeError> {
        let text = Value::from(self.text("text")?);
        match self.take("attachments") {
            None => Ok(text),
            Some(Json::Array(list)) if !list.is_empty() => {
                let attachments = list.into_iter().map(parse_attachment).collect::<Result<_, _>>()?;
                Ok(text.attached(Some(attachments)))
            }
            Some(_) => Err(damaged("attachments")),
        }
    }

    fn header(&mut self) -> Result<Header, TreeError> {
        let id = parse_id(&self.need("id")?, "id")?;
        let author = self.need("author")?;
        let author = author.as_str().and_then(Author::by_name).ok_or(damaged("author"))?;
        let mut header = Header::new(id, author);
        header.from = self.edges("from")?;
        header.annotates = self.edges("annotates")?;
        if self.has("root") {
            // It has one form, as equal nodes have equal texts.
            if !self.flag("root")? || !header.from.is_empty() {
                return Err(damaged("root"));
            }
            header.from.push(Edge::root());
        }
        let edited_from = self.take("edited_from");
        header.edited_from = edited_from.map(|node| parse_id(&node, "edited_from")).transpose()?;
        header.receipt = match self.take("receipt") {
            None => None,
            Some(receipt @ Json::Object(_)) => Some(receipt.to_string().into()),
            Some(_) => return Err(damaged("receipt")),
        };
        Ok(header)
    }

    /// The edges of a node. A list that is there is not empty.
    fn edges(&mut self, key: &'static str) -> Result<Vec<Edge>, TreeError> {
        match self.take(key) {
            None => Ok(Vec::new()),
            Some(Json::Array(edges)) if !edges.is_empty() => {
                edges.into_iter().map(|edge| parse_edge(edge, key)).collect()
            }
            Some(_) => Err(damaged(key)),
        }
    }

    /// The value that was read, if no field is left.
    fn end<T>(self, value: T) -> Result<T, TreeError> {
        if self.0.is_empty() { Ok(value) } else { Err(damaged("an unknown key")) }
    }
}
