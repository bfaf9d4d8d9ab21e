//! Valid replies, as odd as servers and proxies may write, split and delay them.

use std::time::Duration;

use columnar_tests::server::{Act, Wire};
use fastrand::Rng;

/// A word, and pieces of texts that must not be taken for the syntax around them.
const TEXTS: [&str; 12] = [
    "moon ",
    "Käse, ",
    "🦀🦀",
    "\n",
    "\r\n",
    "\"quoted\"",
    "\\",
    "data: [DONE]\n\n",
    "event: error\ndata: {}\n\n",
    "{\"error\":{\"message\":\"none\"}}",
    "\u{0}\u{7f}\u{feff}",
    "",
];

/// The acts of a server that sends a valid reply, and the text of the reply.
pub(super) fn valid(wire: Wire, rng: &mut Rng) -> (Vec<Act>, String) {
    // A reply of white space alone is an error.
    let mut texts = vec!["Since"];
    let count = if rng.u8(..8) == 0 { 2000 } else { rng.usize(..10) };
    texts.extend((0..count).map(|_| TEXTS[rng.usize(..TEXTS.len())]));
    let body = body(wire.events(&texts, wire.stop()), rng);
    let mut acts = sent(response(&body, rng), rng);
    if rng.bool() {
        acts.push(Act::Hold);
    }
    (acts, texts.concat())
}

/// The events in a random form of the HTML Standard, section 9.2.6.
fn body(events: Vec<String>, rng: &mut Rng) -> String {
    let [has_space, has_fields, is_odd, is_alive] = [(); 4].map(|()| rng.bool());
    let colon = if has_space { ": " } else { ":" };
    let mut lines = Vec::new();
    for event in events {
        for line in event.lines() {
            let Some((field, value)) = line.split_once(": ") else { continue };
            if has_fields {
                lines.extend(["id: 7", "retry: 10", ": a comment", "dat: {", "none"].map(str::to_owned));
            }
            // A key that nobody knows, before the others.
            let odd = value.strip_prefix('{').filter(|_| is_odd);
            let value =
                odd.map_or(value.to_owned(), |rest| format!(r#"{{"odd":[null,{{"a":1e300}}],{rest}"#));
            lines.push([field, colon, &value].concat());
        }
        lines.push(String::new());
        if is_alive {
            lines.extend([": alive", "", ":", "", ""].map(str::to_owned));
        }
    }
    let end = ["\n", "\r", "\r\n"][rng.usize(..3)];
    let mark = if rng.bool() { "\u{feff}" } else { "" };
    lines.iter().fold(mark.to_owned(), |body, line| body + line + end)
}

/// A response with this body, whose end is found in any of the ways of RFC 9112, section 6.3.
fn response(body: &str, rng: &mut Rng) -> Vec<u8> {
    let early = if rng.u8(..4) == 0 { "HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" } else { "" };
    let head = format!("{early}HTTP/1.1 200 OK\r\nContent-Type:text/event-stream\r\n");
    match rng.u8(..4) {
        0 => format!("{head}connection: close\r\n\r\n{body}").into_bytes(),
        1 => format!("HTTP/1.0 200 Fine\r\n\r\n{body}").into_bytes(),
        2 => format!("{head}content-length: {}\r\n\r\n{body}", body.len()).into_bytes(),
        _ => {
            let mut response = format!("{head}Transfer-Encoding: chunked\r\n\r\n").into_bytes();
            for piece in split(body.as_bytes(), rng) {
                // Zeros before the length and words after it mean nothing.
                response.extend_from_slice(format!("00{:X};a=b\r\n", piece.len()).as_bytes());
                response.extend_from_slice(piece);
                response.extend_from_slice(b"\r\n");
            }
            response.extend_from_slice(b"0\r\nage: 7\r\n\r\n");
            response
        }
    }
}

/// The bytes as a server sends them: at once, or in pieces with pauses.
fn sent(bytes: Vec<u8>, rng: &mut Rng) -> Vec<Act> {
    if rng.u8(..4) == 0 {
        return vec![Act::Send(bytes)];
    }
    let pieces = split(&bytes, rng).into_iter();
    let pause = |rng: &mut Rng| Act::Pause(Duration::from_millis(rng.u64(..20)));
    pieces.flat_map(|piece| [Act::Send(piece.to_vec()), pause(rng)]).collect()
}

/// At most ten pieces. None of them is empty.
fn split<'b>(bytes: &'b [u8], rng: &mut Rng) -> Vec<&'b [u8]> {
    let mut ends: Vec<usize> = (0..rng.usize(..10)).map(|_| rng.usize(1..bytes.len())).collect();
    ends.extend([0, bytes.len()]);
    ends.sort_unstable();
    ends.dedup();
    ends.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect()
}
