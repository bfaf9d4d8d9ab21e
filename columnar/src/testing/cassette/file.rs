//! The format of a cassette: JSON that is read by people when it changes.
//!
//! A text of several lines is an array of lines, and what is short stands on one line. The order of everything is
//! fixed, so a file that is written anew differs where something differs.

use serde_json::Value as Json;

use super::asked::{Asked, sorted};
use super::doc::Doc;
use super::node::{Damage, Node};
use super::tape::{Cell, Recording, Spoken};
use crate::context::Role;
use crate::model::{End, Finish, Usage};
use crate::rendering::Schema;

/// The version that is written, and read.
const VERSION: u64 = 1;

pub(super) fn write(recordings: Vec<&Recording>) -> String {
    let recordings = recordings.into_iter().map(recording).collect();
    let doc = Doc::Map(vec![("cassette", Doc::number(VERSION)), ("recordings", Doc::List(recordings))]);
    doc.to_string() + "\n"
}

fn recording(Recording { cell, asked, replies, .. }: &Recording) -> Doc {
    Doc::Map(vec![
        ("column", Doc::quoted(&cell.column)),
        ("step", Doc::number(cell.step)),
        ("request", request(asked)),
        ("replies", Doc::List(replies.iter().map(reply).collect())),
    ])
}

fn request(asked: &Asked) -> Doc {
    let Asked { model, system, messages, follow_up, max_tokens, temperature, stop, schema } = asked;
    let mut entries = vec![("model", Doc::quoted(model)), ("max_tokens", Doc::number(max_tokens))];
    // JSON has no others.
    let temperature = temperature.filter(|temperature| temperature.is_finite());
    entries.extend(temperature.map(|temperature| ("temperature", Doc::number(temperature))));
    if !stop.is_empty() {
        entries.push(("stop", Doc::List(stop.iter().map(|text| Doc::quoted(text)).collect())));
    }
    if let Some(Schema { name, json }) = schema {
        let schema = vec![("name", Doc::quoted(name)), ("json", Doc::Json(sorted(json)))];
        entries.push(("schema", Doc::Map(schema)));
    }
    entries.extend([("system", Doc::text(system)), ("messages", said(messages))]);
    if !follow_up.is_empty() {
        entries.push(("follow_up", said(follow_up)));
    }
    Doc::Map(entries)
}

fn said(messages: &[(Role, String)]) -> Doc {
    let messages = messages.iter().map(|(role, content)| {
        Doc::Map(vec![("role", Doc::quoted(role.as_str())), ("content", Doc::text(content))])
    });
    Doc::List(messages.collect())
}

fn reply(Spoken { pieces, end }: &Spoken) -> Doc {
    let mut entries = vec![("text", Doc::text(&pieces.concat()))];
    if pieces.len() != 1 {
        // On one line, however many there are.
        let lengths: Vec<_> = pieces.iter().map(|piece| piece.len().to_string()).collect();
        entries.push(("pieces", Doc::quoted(&lengths.join(" "))));
    }
    entries.push((
        "finish",
        match &end.finish {
            Finish::Other(word) => Doc::Map(vec![("other", Doc::quoted(word))]),
            known => Doc::quoted(&known.to_string()),
        },
    ));
    entries.extend(end.usage.map(|usage| {
        let counts = counts(usage).into_iter().filter(|(_, count)| *count > 0);
        ("usage", Doc::Map(counts.map(|(name, count)| (name, Doc::number(count))).collect()))
    }));
    entries.extend(end.id.as_ref().map(|id| ("id", Doc::quoted(id))));
    Doc::Map(entries)
}

fn counts(usage: Usage) -> [(&'static str, u64); 4] {
    [
        ("input", usage.input),
        ("output", usage.output),
        ("cache_read", usage.cache_read),
        ("cache_write", usage.cache_write),
    ]
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Recording>, Damage> {
    let json: Json = serde_json::from_slice(bytes).map_err(|error| Damage::json(&error))?;
    let root = Node::root(&json);
    let version = root.field("cassette")?.count()?;
    if version != VERSION {
        return Err(Damage::Version { found: version, known: VERSION });
    }
    root.has_only(&["cassette", "recordings"])?;
    root.field("recordings")?.items()?.iter().map(read_recording).collect()
}

fn read_recording(node: &Node<'_>) -> Result<Recording, Damage> {
    node.has_only(&["column", "step", "request", "replies"])?;
    let replies = node.field("replies")?.items()?;
    if replies.is_empty() {
        return Err(node.field("replies")?.damage("has no reply"));
    }
    Ok(Recording {
        cell: Cell {
            column: node.field("column")?.text()?,
            step: usize::try_from(node.field("step")?.count()?).unwrap_or(usize::MAX),
        },
        asked: read_request(&node.field("request")?)?,
        replies: replies.iter().map(read_reply).collect::<Result<_, _>>()?,
        given: 0,
        turns: Vec::new(),
    })
}

fn read_request(node: &Node<'_>) -> Result<Asked, Damage> {
    node.has_only(&[
        "model",
        "max_tokens",
        "temperature",
        "stop",
        "schema",
        "system",
        "messages",
        "follow_up",
    ])?;
    let stop = node.optional("stop")?.map_or(Ok(Vec::new()), |stop| stop.items())?;
    let schema = |node: Node<'_>| {
        node.has_only(&["name", "json"])?;
        Ok(Schema { name: node.field("name")?.text()?, json: node.field("json")?.json().clone() })
    };
    Ok(Asked {
        model: node.field("model")?.text()?,
        system: node.field("system")?.text()?,
        messages: read_said(&node.field("messages")?)?,
        follow_up: node.optional("follow_up")?.as_ref().map_or(Ok(Vec::new()), read_said)?,
        max_tokens: node.field("max_tokens")?.small()?,
        temperature: node.optional("temperature")?.map(|node| node.fraction()).transpose()?,
        stop: stop.iter().map(Node::text).collect::<Result<_, _>>()?,
        schema: node.optional("schema")?.map(schema).transpose()?,
    })
}

fn read_said(node: &Node<'_>) -> Result<Vec<(Role, String)>, Damage> {
    let message = |node: &Node<'_>| {
        node.has_only(&["role", "content"])?;
        let role = node.field("role")?;
        let role = match &*role.text()? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return Err(role.damage("is neither `user` nor `assistant`")),
        };
        Ok((role, node.field("content")?.text()?))
    };
    node.items()?.iter().map(message).collect()
}

fn read_reply(node: &Node<'_>) -> Result<Spoken, Damage> {
    node.has_only(&["text", "pieces", "finish", "usage", "id"])?;
    let text = node.field("text")?.text()?;
    let pieces = match node.optional("pieces")? {
        None => vec![text],
        Some(lengths) => pieces(&text, &lengths.text()?).ok_or_else(|| {
            lengths.damage("does not add up to the text; without it, the text arrives in one piece")
        })?,
    };
    let finish = node.field("finish")?;
    let finish = match finish.optional("other") {
        Ok(Some(word)) => Finish::Other(word.text()?),
        _ => match &*finish.text()? {
            "stop" => Finish::Stop,
            "length" => Finish::Length,
            "refused" => Finish::Refused,
            _ => return Err(finish.damage("is none of `stop`, `length`, `refused` and `{\"other\": …}`")),
        },
    };
    let usage = node.optional("usage")?.as_ref().map(read_usage).transpose()?;
    let id = node.optional("id")?.as_ref().map(Node::text).transpose()?;
    Ok(Spoken { pieces, end: End { finish, usage, id } })
}

fn pieces(text: &str, lengths: &str) -> Option<Vec<String>> {
    let mut rest = text;
    let mut pieces = Vec::new();
    for length in lengths.split_ascii_whitespace() {
        let (piece, behind) = rest.split_at_checked(length.parse().ok()?)?;
        pieces.push(piece.to_owned());
        rest = behind;
    }
    rest.is_empty().then_some(pieces)
}

fn read_usage(node: &Node<'_>) -> Result<Usage, Damage> {
    node.has_only(&counts(Usage::default()).map(|(name, _)| name))?;
    let count = |name| node.optional(name)?.as_ref().map_or(Ok(0), Node::count);
    Ok(Usage::new(count("input")?, count("output")?).cached(count("cache_read")?, count("cache_write")?))
}
