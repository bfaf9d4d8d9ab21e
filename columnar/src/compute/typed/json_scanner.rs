//! Finds the JSON in a reply while it arrives, so that only the JSON is streamed and stored.
//!
//! Models without structured output often put a fence around the JSON, or a sentence before it. A list or an object
//! is found in both: it begins at the first bracket and ends with the matching one. A scalar is found in a fence only.

/// Scans a growing reply. Each call takes the whole reply so far.
#[derive(Debug, Default)]
pub(super) struct JsonScanner {
    state: State,
    /// The next byte to be scanned.
    position: usize,
    start: Option<usize>,
    end: Option<usize>,
    /// The end of the JSON that has been returned.
    read: usize,
}

/// The state at the position of the scanner.
#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// White space alone so far.
    #[default]
    Blank,
    /// The first line of a fence.
    Fence,
    /// A sentence.
    Prose,
    /// A list or an object, with the number of its open brackets.
    Nested {
        depth: usize,
    },
    /// A string, inside brackets or, at depth 0, by itself.
    Quoted {
        depth: usize,
        escaped: bool,
    },
    Number,
    /// Letters: `true`, `false`, `null`, or the first word of a sentence.
    Word,
    /// After a list or an object. Prose may follow.
    AfterNested,
    /// After a scalar. Only the end of a fence may follow.
    AfterScalar,
    /// There is more than one value.
    Several,
}

/// The JSON in a complete reply.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Scanned<'t> {
    One(&'t str),
    None,
    Several,
}

impl JsonScanner {
    /// Scans the new part of the reply and returns the JSON that was found in it.
    pub(super) fn advance<'t>(&mut self, reply: &'t str) -> &'t str {
        // Bytes are enough: all that are compared are ASCII, which are never part of another character.
        while let Some(byte) = reply.as_bytes().get(self.position).copied() {
            self.scan(byte, reply);
        }
        // This may be the first word of a sentence.
        if matches!(self.state, State::Word) {
            return "";
        }
        self.take_unread(reply)
    }

    /// The JSON in the reply, which is complete now.
    pub(super) fn finish<'t>(&mut self, reply: &'t str) -> Scanned<'t> {
        if matches!(self.state, State::Word) {
            self.end_word(reply);
        }
        match (self.state, self.start) {
            (State::Several, _) => Scanned::Several,
            (_, Some(start)) => {
                // Truncated JSON is returned as well, so that the error is about its position.
                Scanned::One(reply.get(start..self.end.unwrap_or(reply.len())).unwrap_or_default())
            }
            (_, None) => Scanned::None,
        }
    }

    /// The JSON that has been found and not returned yet.
    pub(super) fn take_unread<'t>(&mut self, reply: &'t str) -> &'t str {
        let Some(start) = self.start else { return "" };
        let (from, to) = (self.read.max(start), self.end.unwrap_or(self.position));
        self.read = to;
        reply.get(from..to).unwrap_or_default()
    }

    fn scan(&mut self, byte: u8, reply: &str) {
        match (self.state, byte) {
            (State::Blank, b'"') => self.begin(State::Quoted { depth: 0, escaped: false }),
            (State::Blank, b'-' | b'0'..=b'9') => self.begin(State::Number),
            (State::Blank, b't' | b'f' | b'n') => self.begin(State::Word),
            (State::Blank, b'`') => self.state = State::Fence,
            (State::Fence, b'\n') => self.state = State::Blank,
            (State::Blank | State::Fence | State::Prose, b'{' | b'[') => {
                self.begin(State::Nested { depth: 1 });
            }
            (State::Blank, byte) if !byte.is_ascii_whitespace() => self.state = State::Prose,
            (State::Nested { depth }, b'"') => self.state = State::Quoted { depth, escaped: false },
            (State::Nested { depth }, b'{' | b'[') => self.state = State::Nested { depth: depth + 1 },
            // Whether brackets match in kind is checked when the JSON is parsed.
            (State::Nested { depth: 1 }, b'}' | b']') => self.end(self.position + 1, State::AfterNested),
            // Depth 1 is matched above, so the difference is at least 1.
            (State::Nested { depth }, b'}' | b']') => self.state = State::Nested { depth: depth - 1 },
            (State::Quoted { depth, escaped }, byte) => self.scan_quoted(byte, depth, escaped),
            (State::Number, byte) if !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => {
                // The byte is scanned again, as the first one after the number.
                return self.end(self.position, State::AfterScalar);
            }
            (State::Word, byte) if !byte.is_ascii_alphabetic() => return self.end_word(reply),
            (State::AfterNested, b'{' | b'[') => self.state = State::Several,
            (State::AfterScalar, byte) if !byte.is_ascii_whitespace() && byte != b'`' => {
                self.state = State::Several;
            }
            _ => {}
        }
        self.position += 1;
    }

    fn scan_quoted(&mut self, byte: u8, depth: usize, escaped: bool) {
        match byte {
            _ if escaped => self.state = State::Quoted { depth, escaped: false },
            b'\\' => self.state = State::Quoted { depth, escaped: true },
            b'"' if depth == 0 => self.end(self.position + 1, State::AfterScalar),
            b'"' => self.state = State::Nested { depth },
            _ => {}
        }
    }

    fn begin(&mut self, state: State) {
        self.start = Some(self.position);
        self.state = state;
    }

    fn end(&mut self, end: usize, state: State) {
        self.end = Some(end);
        self.state = state;
    }

    /// Ends a word: a literal is a value, any other word begins a sentence.
    fn end_word(&mut self, reply: &str) {
        let word = self.start.and_then(|start| reply.get(start..self.position));
        if matches!(word, Some("true" | "false" | "null")) {
            self.end(self.position, State::AfterScalar);
        } else {
            // Nothing of the word was returned yet, so it can still become prose.
            (self.start, self.state) = (None, State::Prose);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonScanner, Scanned};

    /// The JSON of a reply, scanned at once and byte by byte; `Err(true)` for several values.
    fn scan(reply: &str) -> Result<&str, bool> {
        let mut whole = JsonScanner::default();
        let streamed = whole.advance(reply).to_owned();
        let at_once = whole.finish(reply);
        assert!(at_once != Scanned::One(""), "{reply}");
        let streamed = streamed + whole.take_unread(reply);

        let (mut pieces, mut by_piece) = (JsonScanner::default(), String::new());
        for end in (1..=reply.len()).filter(|&end| reply.is_char_boundary(end)) {
            by_piece += pieces.advance(&reply[..end]);
        }
        assert_eq!(pieces.finish(reply), at_once, "{reply}");
        by_piece += pieces.take_unread(reply);
        assert_eq!(by_piece, streamed, "{reply}");

        match at_once {
            Scanned::One(text) => {
                assert_eq!(streamed, text, "{reply}");
                Ok(text)
            }
            Scanned::None => Err(false),
            Scanned::Several => Err(true),
        }
    }

    #[test]
    fn plain_json_is_returned_without_surrounding_white_space() {
        for json in [r#"{"a": "}\"{"}"#, "[1, [2]]", "\"a \\\" b\"", "-1.5e+3", "true", "null", "{\n}"] {
            assert_eq!(scan(json), Ok(json));
            assert_eq!(scan(&format!(" \n{json}\n ")).map(str::len), Ok(json.len()));
        }
    }

    #[test]
    fn a_fence_is_removed() {
        for json in [r#"{"a": 1}"#, "[1]", "\"`\"", "4", "false"] {
            assert_eq!(scan(&format!("```json\n{json}\n```")).map(str::len), Ok(json.len()));
        }
        assert_eq!(scan("```json {\"a\": 1} ```"), Ok("{\"a\": 1}"));
    }

    #[test]
    fn prose_around_an_object_is_removed() {
        assert_eq!(scan("That is it: {\"a\": \"ü\"}, I think."), Ok("{\"a\": \"ü\"}"));
        assert_eq!(scan("Here:\n\n```json\n[1]\n```\n\nDone!"), Ok("[1]"));
        assert_eq!(scan("nothing but {}"), Ok("{}"));
    }

    #[test]
    fn none_and_several_values_are_refused() {
        for nothing in ["", " ", "I do not know.", "```\n```", "truly"] {
            assert_eq!(scan(nothing), Err(false), "{nothing}");
        }
        for more in ["{} {}", "[1] or [2]", "4 of 5", "1 2", "\"a\" \"b\"", "true or false"] {
            assert_eq!(scan(more), Err(true), "{more}");
        }
    }

    #[test]
    fn truncated_json_is_returned_as_it_is() {
        for broken in ["{\"a\": 1", "[1, \"]", "\"a"] {
            assert_eq!(scan(broken), Ok(broken));
        }
    }
}
