//! The events in the body of a reply, read from the bytes as they arrive.
//!
//! ```text
//! bytes ──▶ lines ──▶ events
//! ```
//!
//! Nothing here waits. The same bytes are the same events, however the bytes are split. Each byte costs the same: a
//! line that arrives in many pieces is searched and copied once.

use std::mem;
use std::ops::Range;

use memchr::{memchr, memchr2};

/// The mark that may be before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The separation of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Each line is an event.
    Lines,
    /// Server-sent events of the HTML Standard, section 9.2.6.
    Sse,
}

/// An event, which is a keep-alive if there is no data.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ServerEvent {
    pub(super) name: String,
    pub(super) data: Vec<u8>,
}

/// The reader of a body, with the bytes that are no event yet.
pub(super) struct Events {
    framing: Framing,
    received: Vec<u8>,
    /// The beginning of the line that is read next.
    line: usize,
    /// The position up to which that line has no end.
    searched: usize,
    /// Whether the last line ended in CR: a following LF belongs to the same end.
    is_after_cr: bool,
    is_first_line: bool,
    /// The event whose lines are being read.
    event: ServerEvent,
    /// The number of bytes that were searched or moved.
    #[cfg(test)]
    cost: usize,
}

impl Events {
    pub(super) fn new(framing: Framing) -> Self {
        Self {
            framing,
            received: Vec::new(),
            line: 0,
            searched: 0,
            is_after_cr: false,
            is_first_line: true,
            event: ServerEvent::default(),
            #[cfg(test)]
            cost: 0,
        }
    }

    /// Takes the next bytes of the body.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        // The rest is moved only after the end of a line, so it arrived with the last bytes.
        self.received.drain(..self.line);
        #[cfg(test)]
        if self.line > 0 {
            self.cost += self.received.len();
        }
        self.searched -= self.line;
        self.line = 0;
        self.received.extend_from_slice(bytes);
    }

    /// The next event; `None` if more bytes are needed.
    pub(super) fn next(&mut self) -> Option<ServerEvent> {
        loop {
            let line = self.next_line()?;
            if let Some(event) = self.read(line) {
                return Some(event);
            }
        }
    }

    /// The event at the end of the body, if no line end follows. Such an event may be incomplete.
    pub(super) fn end(&mut self) -> Option<ServerEvent> {
        let line = self.line..self.received.len();
        (self.line, self.searched) = (line.end, line.end);
        let whole = if line.is_empty() { None } else { self.read(line) };
        let event = whole.or_else(|| self.read(0..0))?;
        Some(event).filter(|event| !event.data.is_empty())
    }

    /// The number of bytes that wait for the end of an event.
    pub(super) fn pending(&self) -> usize {
        self.received.len() - self.line + self.event.data.len()
    }

    fn next_line(&mut self) -> Option<Range<usize>> {
        if self.is_after_cr && self.line < self.received.len() {
            self.is_after_cr = false;
            if self.received.get(self.line) == Some(&b'\n') {
                self.line += 1;
                self.searched = self.line;
            }
        }
        let rest = self.received.get(self.searched..)?;
        let end = memchr2(b'\n', b'\r', rest);
        #[cfg(test)]
        {
            self.cost += end.unwrap_or(rest.len());
        }
        let Some(end) = end.map(|end| self.searched + end) else {
            self.searched = self.received.len();
            return None;
        };
        self.is_after_cr = self.received.get(end) == Some(&b'\r');
        let line = self.line..end;
        (self.line, self.searched) = (end + 1, end + 1);
        Some(line)
    }

    /// Reads a line, and returns an event that this line completes.
    fn read(&mut self, line: Range<usize>) -> Option<ServerEvent> {
        let mut line = self.received.get(line)?;
        if mem::take(&mut self.is_first_line) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        match self.framing {
            Framing::Lines => {
                let is_blank = line.trim_ascii().is_empty();
                (!is_blank).then(|| ServerEvent { name: String::new(), data: line.to_vec() })
            }
            Framing::Sse => self.event.read(line),
        }
    }
}

impl ServerEvent {
    /// Reads a line of server-sent events, and returns an event that this line completes.
    fn read(&mut self, line: &[u8]) -> Option<Self> {
        if line.is_empty() {
            let mut event = mem::take(self);
            // Each line of data but the last ends in LF.
            event.data.pop();
            return Some(event).filter(|event| *event != Self::default());
        }
        let (field, value) = match memchr(b':', line) {
            // The line is a comment.
            Some(0) => return Some(Self::default()),
            Some(at) => (line.get(..at)?, line.get(at + 1..)?),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                self.data.extend_from_slice(value);
                self.data.push(b'\n');
            }
            b"event" => String::from_utf8_lossy(value).trim().clone_into(&mut self.name),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events of a body that arrives in these pieces, as name and data.
    fn events<'b>(framing: Framing, pieces: impl IntoIterator<Item = &'b [u8]>) -> Vec<(String, String)> {
        let mut events = Events::new(framing);
        let mut found = Vec::new();
        for piece in pieces {
            events.feed(piece);
            found.extend(std::iter::from_fn(|| events.next()));
        }
        found.extend(events.end());
        let text = |event: ServerEvent| (event.name, String::from_utf8(event.data).expect("text"));
        found.into_iter().map(text).collect()
    }

    fn texts(found: &[(String, String)]) -> Vec<(&str, &str)> {
        found.iter().map(|(name, data)| (&**name, &**data)).collect()
    }

    #[test]
    fn server_sent_events_are_read_by_the_standard() {
        let keep_alive = ("", "");
        for (body, expected) in [
            ("data: a\n\n", vec![("", "a")]),
            ("data:a\r\rdata:  b\r\n\r\n", vec![("", "a"), ("", " b")]),
            ("event: x\ndata: a\ndata\ndata: b\nid: 7\nretry: 1\n\n", vec![("x", "a\n\nb")]),
            ("\u{feff}data: a\n\n", vec![("", "a")]),
            (": still here\n\n:\ndata: a\n\n", vec![keep_alive, keep_alive, ("", "a")]),
            ("event: ping\n\n\n\n", vec![("ping", "")]),
            (" data: a\ndatum: b\n\n", vec![]),
            // The caller decides whether the rest is whole.
            ("data: a", vec![("", "a")]),
            ("data: a\ndata: b", vec![("", "a\nb")]),
            ("event: x", vec![]),
            ("dat", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(texts(&events(Framing::Sse, [body.as_bytes()])), expected, "{body:?}");
        }
    }

    #[test]
    fn each_line_is_an_event() {
        let body = "{\"a\":1}\n\r\n  \n{\"b\":2}\r\n{\"c\":";
        let expected = [("", "{\"a\":1}"), ("", "{\"b\":2}"), ("", "{\"c\":")];
        assert_eq!(texts(&events(Framing::Lines, [body.as_bytes()])), expected);
    }

    /// An earlier client took the two bytes of CR LF for two line ends if both arrived apart.
    #[test]
    fn events_do_not_depend_on_how_their_bytes_are_split() {
        let lines = "\u{feff}: hi\nevent: x\ndata: wörld\ndata: 🦀\n\n\n\ndata:b\n\nevent: ping\n\ndata: c";
        for framing in [Framing::Sse, Framing::Lines] {
            for end in ["\n", "\r", "\r\n"] {
                let body = lines.replace('\n', end);
                let bytes = body.as_bytes();
                let whole = events(framing, [bytes]);
                for at in 0..=bytes.len() {
                    for then in at..=bytes.len() {
                        let pieces = [&bytes[..at], &bytes[at..then], &bytes[then..]];
                        assert_eq!(events(framing, pieces), whole, "{framing:?} {end:?} {at} {then}");
                    }
                }
                assert_eq!(events(framing, bytes.chunks(1)), whole);
            }
        }
    }

    /// Each piece was joined to all pieces before it, so an endless line was searched again and again.
    #[test]
    fn the_cost_of_a_body_is_its_length() {
        let endless = vec![b'x'; 1 << 20];
        let short = "data: {}\n\n".repeat(1 << 17);
        let long = format!("data: {}\n\n", "y".repeat(1 << 16)).repeat(16);
        let blank = "\r\n".repeat(1 << 19);
        for body in [&endless[..], short.as_bytes(), long.as_bytes(), blank.as_bytes()] {
            for piece in [1, 7, 1000, 1 << 14] {
                let mut events = Events::new(Framing::Sse);
                for piece in body.chunks(piece) {
                    events.feed(piece);
                    while events.next().is_some() {}
                }
                assert!(events.cost <= 2 * body.len(), "{} for {} in {piece}", events.cost, body.len());
                assert_eq!(events.pending(), if body == endless { body.len() } else { 0 });
            }
        }
    }
}
