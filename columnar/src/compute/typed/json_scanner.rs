//! Finds the JSON at the beginning of a reply during the arrival, so that the pieces are emitted early.
//!
//! Thoughts and the first line of a fence may be before the JSON. In any other reply, `find.rs` finds the JSON when the
//! reply is complete: sentences have brackets, too, and nothing that was emitted can be taken back.

use memchr::memmem;

use crate::compute::thoughts::{CLOSING, OPENING};

/// Scans a growing reply. Each call takes the whole reply so far.
#[derive(Debug, Default)]
pub(super) struct JsonScanner {
    state: ScanState,
    /// The next byte to be scanned.
    position: usize,
    start: usize,
    /// The end of the JSON so far.
    end: usize,
    /// The end of the JSON that has been returned.
    read: usize,
}

/// The state at the position of the scanner.
#[derive(Clone, Copy, Debug, Default)]
enum ScanState {
    /// The scanner has seen white space, thoughts and the first line of a fence alone.
    #[default]
    Blank,
    /// The scanner is in thoughts.
    Thoughts,
    /// The scanner is in the first line of a fence.
    Fence,
    /// The scanner is after this bracket. The next character shows whether JSON begins: `[see below]` is none.
    Opened(u8),
    /// The scanner is inside a list or an object, with this number of open brackets.
    Nested { depth: usize },
    /// The scanner is in a string, inside brackets or, at depth 0, without brackets.
    Quoted { depth: usize, escaped: bool },
    /// The scanner is after the JSON, or in a reply that is read only as a whole.
    End,
}

impl JsonScanner {
    /// Scans the new part of the reply and returns the JSON in it. `openings` are the characters with which JSON of the
    /// type begins.
    pub(super) fn advance<'t>(&mut self, reply: &'t str, openings: &str) -> &'t str {
        // Bytes are enough: all that are compared are ASCII, which are never part of another character.
        while let Some(rest @ [byte, ..]) = reply.as_bytes().get(self.position..)
            && !matches!(self.state, ScanState::End)
        {
            let Some(state) = self.after(*byte, rest, openings) else { break };
            self.state = state;
        }
        let unread = self.read..self.end;
        self.read = self.end;
        reply.get(unread).unwrap_or_default()
    }

    /// The value without the part that was returned already; `None` if something else was returned.
    pub(super) fn rest<'v>(&self, reply: &str, value: &'v str) -> Option<&'v str> {
        value.strip_prefix(reply.get(self.start..self.read)?)
    }

    /// The state after the first byte of the rest; `None` if the rest is too short to tell.
    fn after(&mut self, byte: u8, rest: &[u8], openings: &str) -> Option<ScanState> {
        let [begin, end] = [OPENING, CLOSING].map(str::as_bytes);
        let mut length = 1;
        let state = match (self.state, byte) {
            (ScanState::Blank, b'<') if rest.len() < begin.len() && begin.starts_with(rest) => return None,
            (ScanState::Blank, b'<') if rest.starts_with(begin) => ScanState::Thoughts,
            (ScanState::Blank, b'`') => ScanState::Fence,
            (ScanState::Blank | ScanState::Opened(_), byte) if byte.is_ascii_whitespace() => self.state,
            (ScanState::Blank, b'"') if openings.contains('"') => {
                self.begin();
                ScanState::Quoted { depth: 0, escaped: false }
            }
            (ScanState::Blank, b'{' | b'[') if openings.contains(char::from(byte)) => {
                self.begin();
                ScanState::Opened(byte)
            }
            (ScanState::Thoughts, _) => {
                let found = memmem::find(rest, end);
                // The end mark may be split between two pieces.
                length = found.map_or(rest.len().saturating_sub(end.len() - 1), |at| at + end.len());
                if length == 0 {
                    return None;
                }
                if found.is_some() { ScanState::Blank } else { ScanState::Thoughts }
            }
            (ScanState::Fence, b'\n') => ScanState::Blank,
            (ScanState::Fence, _) => ScanState::Fence,
            (ScanState::Opened(b'{'), b'"' | b'}')
            | (
                ScanState::Opened(b'['),
                b'"' | b']' | b'{' | b'[' | b'-' | b'0'..=b'9' | b't' | b'f' | b'n',
            ) => {
                // The byte is scanned again, inside of the brackets.
                length = 0;
                ScanState::Nested { depth: 1 }
            }
            (ScanState::Nested { depth }, b'"') | (ScanState::Quoted { depth, escaped: true }, _) => {
                ScanState::Quoted { depth, escaped: false }
            }
            (ScanState::Nested { depth }, b'{' | b'[') => ScanState::Nested { depth: depth + 1 },
            // Whether brackets match in kind is checked when the JSON is parsed.
            (ScanState::Nested { depth: 1 }, b'}' | b']')
            | (ScanState::Quoted { depth: 0, escaped: false }, b'"') => ScanState::End,
            (ScanState::Nested { depth }, b'}' | b']') => {
                ScanState::Nested { depth: depth.saturating_sub(1) }
            }
            (ScanState::Quoted { depth, .. }, b'\\') => ScanState::Quoted { depth, escaped: true },
            (ScanState::Quoted { depth, .. }, b'"') => ScanState::Nested { depth },
            (ScanState::Nested { .. } | ScanState::Quoted { .. }, _) => self.state,
            (ScanState::Blank | ScanState::Opened(_) | ScanState::End, _) => return Some(ScanState::End),
        };
        self.position += length;
        let states = [self.state, state];
        if states.iter().any(|state| matches!(state, ScanState::Nested { .. } | ScanState::Quoted { .. })) {
            self.end = self.position;
        }
        Some(state)
    }

    fn begin(&mut self) {
        (self.start, self.end, self.read) = (self.position, self.position, self.position);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The JSON that is returned of a reply, scanned at once and byte by byte.
    fn scan(reply: &str) -> String {
        let mut whole = JsonScanner::default();
        let at_once = whole.advance(reply, "{[").to_owned();
        let mut scanner = JsonScanner::default();
        let ends = (1..=reply.len()).filter(|&end| reply.is_char_boundary(end));
        let pieces: String = ends.map(|end| scanner.advance(&reply[..end], "{[")).collect();
        assert_eq!(pieces, at_once, "{reply}");
        assert_eq!(whole.rest(reply, &at_once), Some(""));
        at_once
    }

    #[test]
    fn json_at_the_beginning_is_returned_as_it_arrives() {
        for json in [r#"{"a": "}\"{"}"#, "[1, [2]]", "{\n}", "[ \"ü\", [", "[1, \"]"] {
            for before in
                ["", " \n", "```json\n", "<think>[1] {\"a\": 1} </thin</think>\n\n", "<think></think>```\n"]
            {
                assert_eq!(scan(&format!("{before}{json}")), json);
            }
        }
        assert_eq!(scan("{\"a\": 1}\n\nNote [1]: see {x}"), "{\"a\": 1}");
    }

    #[test]
    fn what_may_be_a_sentence_is_held_back() {
        for reply in [
            "",
            " ",
            "[see] {}",
            "{x}",
            "So: {}",
            "<b>{}",
            "<thi",
            "<think>{}",
            "4",
            "true",
            "\"a\"",
            "```{}```",
        ] {
            assert_eq!(scan(reply), "", "{reply}");
        }
        assert_eq!(JsonScanner::default().advance("[1] {}", "{"), "");
        assert_eq!(JsonScanner::default().advance("\"a\" b", "\""), "\"a\"");
    }
}
