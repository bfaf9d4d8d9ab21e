//! The file format of a cassette: JSON that people read in reviews.
//!
//! A text of several lines is an array of lines, and short values are on one line. The order of all entries is fixed,
//! so that a new recording changes only the lines that differ.

use serde_json::Value as Json;

use super::json::{JsonLayout, Located, damage};
use super::recording::{
    RecordedCell, RecordedMessage, RecordedPart, RecordedReply, RecordedRequest, Recording, sorted,
};
use crate::context::Role;
use crate::model::rendering::{ReplySettings, Schema};
use crate::model::{Effort, End, Finish, Usage};

/// The newest version. Earlier versions are read, and a file without attachments is of version 2.
///
/// | version | change |
/// |---|---|
/// | 2 | a request without `max_tokens` has the default of its model |
/// | 3 | an object among the lines of a message is an attachment |
const VERSION: u64 = 3;

pub(super) fn write(recordings: Vec<&Recording>) -> String {
    let has_attachments = recordings.iter().any(|recording| recording.request.has_attachments());
    let version = if has_attachments { VERSION } else { 2 };
    let recordings = recordings.into_iter().map(recording).collect();
    let file = JsonLayout::Map(vec![
        ("cassette", JsonLayout::number(version)),
        ("recordings", JsonLayout::List(recordings)),
    ]);
    file.to_string() + "\n"
}

fn recording(Recording { cell, request: recorded, replies, .. }: &Recording) -> JsonLayout {
    JsonLayout::Map(vec![
        ("column", JsonLayout::quoted(&cell.column)),
        ("step", JsonLayout::number(cell.step)),
        ("request", request(recorded)),
        ("replies", JsonLayout::List(replies.iter().map(reply).collect())),
    ])
}

fn request(recorded: &RecordedRequest) -> JsonLayout {
    let RecordedRequest { model, system, messages, follow_up, max_tokens, settings, schema, .. } = recorded;
    let ReplySettings { effort, temperature, top_p, seed, stop, cache_key: _, lenient: _ } = settings;
    let mut entries = vec![("model", JsonLayout::quoted(model))];
    entries.extend(max_tokens.map(|limit| ("max_tokens", JsonLayout::number(limit))));
    entries.extend(effort.map(|effort| ("effort", JsonLayout::quoted(effort.as_str()))));
    // JSON has no infinite numbers and no NaN.
    for (name, number) in [("temperature", temperature), ("top_p", top_p)] {
        entries.extend(
            number.filter(|number| number.is_finite()).map(|number| (name, JsonLayout::number(number))),
        );
    }
    entries.extend(seed.map(|seed| ("seed", JsonLayout::number(seed))));
    if !stop.is_empty() {
        entries.push(("stop", JsonLayout::List(stop.iter().map(|text| JsonLayout::quoted(text)).collect())));
    }
    if let Some(Schema { name, json }) = schema {
        let schema = vec![("name", JsonLayout::quoted(name)), ("json", JsonLayout::Json(sorted(json)))];
        entries.push(("schema", JsonLayout::Map(schema)));
    }
    entries.extend([("system", JsonLayout::text(system)), ("messages", message_list(messages))]);
    if !follow_up.is_empty() {
        entries.push(("follow_up", message_list(follow_up)));
    }
    JsonLayout::Map(entries)
}

fn message_list(messages: &[RecordedMessage]) -> JsonLayout {
    let messages = messages.iter().map(|(role, parts)| {
        JsonLayout::Map(vec![("role", JsonLayout::quoted(role.as_str())), ("content", content(parts))])
    });
    JsonLayout::List(messages.collect())
}

fn content(parts: &[RecordedPart]) -> JsonLayout {
    if let [RecordedPart::Text(text)] = parts {
        return JsonLayout::text(text);
    }
    let lines = parts.iter().flat_map(|part| match part {
        RecordedPart::Text(text) => text.split('\n').map(JsonLayout::quoted).collect(),
        RecordedPart::Attachment(json) => vec![JsonLayout::Json(json.clone())],
    });
    JsonLayout::Lines(lines.collect())
}

fn reply(RecordedReply { pieces, end }: &RecordedReply) -> JsonLayout {
    let mut entries = vec![("text", JsonLayout::text(&pieces.concat()))];
    // Lengths are written also for no piece at all: without lengths, an empty text is read as one piece.
    if pieces.len() != 1 {
        // One string, so that the lengths are on one line.
        let lengths: Vec<_> = pieces.iter().map(|piece| piece.len().to_string()).collect();
        entries.push(("pieces", JsonLayout::quoted(&lengths.join(" "))));
    }
    entries.push((
        "finish",
        match &end.finish {
            Finish::Other(name) => JsonLayout::Map(vec![("other", JsonLayout::quoted(name))]),
            known => JsonLayout::quoted(&known.to_string()),
        },
    ));
    entries.extend(end.usage.map(|usage| {
        let counts = counts(usage).into_iter().filter(|(_, count)| *count > 0);
        ("usage", JsonLayout::Map(counts.map(|(name, count)| (name, JsonLayout::number(count))).collect()))
    }));
    entries.extend(end.id.as_ref().map(|id| ("id", JsonLayout::quoted(id))));
    JsonLayout::Map(entries)
}

fn counts(usage: Usage) -> [(&'static str, u64); 5] {
    [
        ("input", usage.input),
        ("output", usage.output),
        ("cache_read", usage.cache_read),
        ("cache_write", usage.cache_write),
        ("cache_write_long", usage.cache_write_long),
    ]
}

pub(super) fn read(bytes: &[u8]) -> Result<Vec<Recording>, String> {
    let json: Json = serde_json::from_slice(bytes).map_err(|error| {
        damage(&format!("it is no JSON from line {}, column {} on", error.line(), error.column()))
    })?;
    let root = Located::root(&json);
    // The version is first: entries that a later version adds must not look like damage.
    let version = root.field("cassette")?.count()?;
    if !(1..=VERSION).contains(&version) {
        return Err(format!(
            "is of version {version}, and this library reads versions up to {VERSION}: record it again with \
             `COLUMNAR_RECORD=all`"
        ));
    }
    root.has_only("cassette recordings")?;
    root.field("recordings")?.items()?.iter().map(read_recording).collect()
}

fn read_recording(value: &Located<'_>) -> Result<Recording, String> {
    value.has_only("column step request replies")?;
    let replies = value.field("replies")?.items()?;
    if replies.is_empty() {
        return Err(value.field("replies")?.damage("has no reply"));
    }
    Ok(Recording {
        cell: RecordedCell {
            column: value.field("column")?.text()?,
            // The step is only shown to people, and identifies nothing.
            step: usize::try_from(value.field("step")?.count()?).unwrap_or(usize::MAX),
        },
        request: read_request(&value.field("request")?)?,
        replies: replies.iter().map(read_reply).collect::<Result<_, _>>()?,
        replayed: 0,
        sequence: Vec::new(),
    })
}

fn read_request(value: &Located<'_>) -> Result<RecordedRequest, String> {
    value.has_only("model max_tokens effort temperature top_p seed stop schema system messages follow_up")?;
    let stop = value.optional("stop")?.map_or(Ok(Vec::new()), |stop| stop.items())?;
    Ok(RecordedRequest {
        model: value.field("model")?.text()?,
        system: value.field("system")?.text()?,
        messages: read_messages(&value.field("messages")?)?,
        follow_up: value.optional("follow_up")?.as_ref().map_or(Ok(Vec::new()), read_messages)?,
        max_tokens: value.optional("max_tokens")?.map(|value| value.small()).transpose()?,
        settings: ReplySettings {
            effort: value.optional("effort")?.as_ref().map(read_effort).transpose()?,
            temperature: value.optional("temperature")?.map(|value| value.fraction()).transpose()?,
            top_p: value.optional("top_p")?.map(|value| value.fraction()).transpose()?,
            seed: value.optional("seed")?.map(|value| value.count()).transpose()?,
            stop: stop.iter().map(Located::text).collect::<Result<_, _>>()?,
            ..ReplySettings::default()
        },
        schema: value.optional("schema")?.as_ref().map(read_schema).transpose()?,
        origins: Vec::new(),
    })
}

fn read_schema(value: &Located<'_>) -> Result<Schema, String> {
    value.has_only("name json")?;
    Ok(Schema { name: value.field("name")?.text()?, json: value.field("json")?.json.clone() })
}

fn read_effort(value: &Located<'_>) -> Result<Effort, String> {
    value.text()?.parse().map_err(|_| value.damage("is the word of no effort"))
}

fn read_messages(value: &Located<'_>) -> Result<Vec<RecordedMessage>, String> {
    let items = value.items()?;
    let messages = items.iter().map(|value| {
        value.has_only("role content")?;
        let role = value.field("role")?;
        let role = match &*role.text()? {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => return Err(role.damage("is neither `user` nor `assistant`")),
        };
        Ok((role, read_content(&value.field("content")?)?))
    });
    messages.collect()
}

fn read_content(value: &Located<'_>) -> Result<Vec<RecordedPart>, String> {
    let items = value.items().unwrap_or_default();
    if !items.iter().any(|item| item.json.is_object()) {
        return Ok(vec![RecordedPart::Text(value.text()?)]);
    }
    let mut parts = Vec::new();
    for item in items {
        if item.json.is_object() {
            item.has_only("type sha256 bytes alt")?;
            parts.push(RecordedPart::Attachment(sorted(item.json)));
        } else if let Some(RecordedPart::Text(text)) = parts.last_mut() {
            text.push('\n');
            text.push_str(&item.text()?);
        } else {
            parts.push(RecordedPart::Text(item.text()?));
        }
    }
    Ok(parts)
}

fn read_reply(value: &Located<'_>) -> Result<RecordedReply, String> {
    value.has_only("text pieces finish usage id")?;
    let text = value.field("text")?.text()?;
    let pieces = match value.optional("pieces")? {
        None => vec![text],
        Some(lengths) => pieces(&text, &lengths.text()?).ok_or_else(|| {
            lengths.damage("does not add up to the text; without it, the text arrives in one piece")
        })?,
    };
    let finish = value.field("finish")?;
    let finish = match finish.optional("other") {
        Ok(Some(name)) => Finish::Other(name.text()?),
        // A text is no object, so an error of `optional` only means that the finish is known.
        _ => match &*finish.text()? {
            "stop" => Finish::Stop,
            "length" => Finish::Length,
            "context_window" => Finish::ContextWindow,
            "context_cut" => Finish::ContextCut,
            "refused" => Finish::Refused,
            _ => {
                let known = "is none of `stop`, `length`, `context_window`, `context_cut`, `refused` and `{\"other\": …}`";
                return Err(finish.damage(known));
            }
        },
    };
    let usage = value.optional("usage")?.as_ref().map(read_usage).transpose()?;
    let id = value.optional("id")?.as_ref().map(Located::text).transpose()?;
    Ok(RecordedReply { pieces, end: End { usage, id, ..End::new(finish) } })
}

fn pieces(text: &str, lengths: &str) -> Option<Vec<String>> {
    let mut rest = text;
    let mut pieces = Vec::new();
    for length in lengths.split_ascii_whitespace() {
        // A length that was edited by hand may end inside a character.
        let (piece, after) = rest.split_at_checked(length.parse().ok()?)?;
        pieces.push(piece.to_owned());
        rest = after;
    }
    rest.is_empty().then_some(pieces)
}

fn read_usage(value: &Located<'_>) -> Result<Usage, String> {
    value.has_only(&counts(Usage::default()).map(|(name, _)| name).join(" "))?;
    let mut counts = [0; 5];
    for (count, (name, _)) in counts.iter_mut().zip(self::counts(Usage::default())) {
        *count = value.optional(name)?.as_ref().map_or(Ok(0), Located::count)?;
    }
    let [input, output, cache_read, cache_write, cache_write_long] = counts;
    Ok(Usage::new(input, output).cached(cache_read, cache_write).kept_long(cache_write_long))
}
