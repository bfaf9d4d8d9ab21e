//! Where the JSON is in a reply: found while that arrives, so that nothing but the JSON is told and stored.
//!
//! Models without structured output like to put a fence around it, or a sentence before it. The JSON begins with the
//! first bracket then, and ends with its counterpart; what is no list and no object may stand in a fence, but not in a
//! sentence.

/// What is known of a reply so far.
#[derive(Debug, Default)]
pub(super) struct JsonText {
    stage: Stage,
    /// How much of the reply has been looked at.
    at: usize,
    start: Option<usize>,
    end: Option<usize>,
    /// How much of it has been told.
    told: usize,
}

/// What stands where the reply is looked at.
#[derive(Clone, Copy, Debug, Default)]
enum Stage {
    /// Nothing but blanks yet.
    #[default]
    Opening,
    /// The first line of a fence.
    Fence,
    /// A sentence.
    Prose,
    /// A list or an object, so many brackets deep.
    Nested {
        depth: usize,
    },
    /// A string inside of such, or by itself at a depth of 0.
    Quoted {
        depth: usize,
        escaped: bool,
    },
    Number,
    /// `true`, `false` or `null`, if it is no sentence.
    Word,
    /// Behind a list or an object.
    Behind,
    /// Behind anything else, which nothing but the end of a fence may follow.
    BehindScalar,
    /// There is more than one value.
    More,
}

/// What a whole reply holds.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found<'t> {
    One(&'t str),
    None,
    More,
}

impl JsonText {
    /// Goes on with a reply, of which `said` is all so far, and returns what is known to be JSON and was not before.
    pub(super) fn go_on<'t>(&mut self, said: &'t str) -> &'t str {
        while let Some(byte) = said.as_bytes().get(self.at).copied() {
            self.look(byte, said);
        }
        // What may be the first word of a sentence is not told yet.
        if matches!(self.stage, Stage::Word) {
            return "";
        }
        self.untold(said)
    }

    /// What the reply holds, now that this is all.
    pub(super) fn finish<'t>(&mut self, said: &'t str) -> Found<'t> {
        if matches!(self.stage, Stage::Word) {
            self.end_word(said);
        }
        match (self.stage, self.start) {
            (Stage::More, _) => Found::More,
            (_, Some(start)) => {
                Found::One(said.get(start..self.end.unwrap_or(said.len())).unwrap_or_default())
            }
            (_, None) => Found::None,
        }
    }

    /// What of the JSON has not been told yet.
    pub(super) fn untold<'t>(&mut self, said: &'t str) -> &'t str {
        let Some(start) = self.start else { return "" };
        let (from, to) = (self.told.max(start), self.end.unwrap_or(self.at));
        self.told = to;
        said.get(from..to).unwrap_or_default()
    }

    fn look(&mut self, byte: u8, said: &str) {
        match (self.stage, byte) {
            (Stage::Opening, b'"') => self.begin(Stage::Quoted { depth: 0, escaped: false }),
            (Stage::Opening, b'-' | b'0'..=b'9') => self.begin(Stage::Number),
            (Stage::Opening, b't' | b'f' | b'n') => self.begin(Stage::Word),
            (Stage::Opening, b'`') => self.stage = Stage::Fence,
            (Stage::Fence, b'\n') => self.stage = Stage::Opening,
            (Stage::Opening | Stage::Fence | Stage::Prose, b'{' | b'[') => {
                self.begin(Stage::Nested { depth: 1 });
            }
            (Stage::Opening, byte) if !byte.is_ascii_whitespace() => self.stage = Stage::Prose,
            (Stage::Nested { depth }, b'"') => self.stage = Stage::Quoted { depth, escaped: false },
            (Stage::Nested { depth }, b'{' | b'[') => self.stage = Stage::Nested { depth: depth + 1 },
            (Stage::Nested { depth: 1 }, b'}' | b']') => self.end(self.at + 1, Stage::Behind),
            (Stage::Nested { depth }, b'}' | b']') => self.stage = Stage::Nested { depth: depth - 1 },
            (Stage::Quoted { depth, escaped }, byte) => self.look_quoted(byte, depth, escaped),
            (Stage::Number, byte) if !matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E') => {
                // Looked at once more, as what follows.
                return self.end(self.at, Stage::BehindScalar);
            }
            (Stage::Word, byte) if !byte.is_ascii_alphabetic() => return self.end_word(said),
            (Stage::Behind, b'{' | b'[') => self.stage = Stage::More,
            (Stage::BehindScalar, byte) if !byte.is_ascii_whitespace() && byte != b'`' => {
                self.stage = Stage::More;
            }
            _ => {}
        }
        self.at += 1;
    }

    fn look_quoted(&mut self, byte: u8, depth: usize, escaped: bool) {
        match byte {
            _ if escaped => self.stage = Stage::Quoted { depth, escaped: false },
            b'\\' => self.stage = Stage::Quoted { depth, escaped: true },
            b'"' if depth == 0 => self.end(self.at + 1, Stage::BehindScalar),
            b'"' => self.stage = Stage::Nested { depth },
            _ => {}
        }
    }

    fn begin(&mut self, stage: Stage) {
        self.start = Some(self.at);
        self.stage = stage;
    }

    fn end(&mut self, end: usize, stage: Stage) {
        self.end = Some(end);
        self.stage = stage;
    }

    /// A word has ended: a value, or the first one of a sentence.
    fn end_word(&mut self, said: &str) {
        let word = self.start.and_then(|start| said.get(start..self.at));
        if matches!(word, Some("true" | "false" | "null")) {
            self.end(self.at, Stage::BehindScalar);
        } else {
            (self.start, self.stage) = (None, Stage::Prose);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, JsonText};

    /// What a reply holds, by itself and piece by piece; and what was told of it.
    fn found(reply: &str) -> Result<&str, bool> {
        let mut whole = JsonText::default();
        let told = whole.go_on(reply).to_owned();
        let at_once = whole.finish(reply);
        assert!(at_once != Found::One(""), "{reply}");
        let told = told + whole.untold(reply);

        let (mut pieces, mut by_piece) = (JsonText::default(), String::new());
        for end in (1..=reply.len()).filter(|&end| reply.is_char_boundary(end)) {
            by_piece += pieces.go_on(&reply[..end]);
        }
        assert_eq!(pieces.finish(reply), at_once, "{reply}");
        by_piece += pieces.untold(reply);
        assert_eq!(by_piece, told, "{reply}");

        match at_once {
            Found::One(text) => {
                assert_eq!(told, text, "{reply}");
                Ok(text)
            }
            Found::None => Err(false),
            Found::More => Err(true),
        }
    }

    #[test]
    fn json_alone_is_itself_without_blanks_around_it() {
        for json in [r#"{"a": "}\"{"}"#, "[1, [2]]", "\"a \\\" b\"", "-1.5e+3", "true", "null", "{\n}"] {
            assert_eq!(found(json), Ok(json));
            assert_eq!(found(&format!(" \n{json}\n ")).map(str::len), Ok(json.len()));
        }
    }

    #[test]
    fn a_fence_is_left_out() {
        for json in [r#"{"a": 1}"#, "[1]", "\"`\"", "4", "false"] {
            assert_eq!(found(&format!("```json\n{json}\n```")).map(str::len), Ok(json.len()));
        }
        assert_eq!(found("```json {\"a\": 1} ```"), Ok("{\"a\": 1}"));
    }

    #[test]
    fn sentences_around_an_object_are_left_out() {
        assert_eq!(found("That is it: {\"a\": \"ü\"}, I think."), Ok("{\"a\": \"ü\"}"));
        assert_eq!(found("Here:\n\n```json\n[1]\n```\n\nDone!"), Ok("[1]"));
        assert_eq!(found("nothing but {}"), Ok("{}"));
    }

    #[test]
    fn what_is_not_one_value_is_refused() {
        for nothing in ["", " ", "I do not know.", "```\n```", "truly"] {
            assert_eq!(found(nothing), Err(false), "{nothing}");
        }
        for more in ["{} {}", "[1] or [2]", "4 of 5", "1 2", "\"a\" \"b\"", "true or false"] {
            assert_eq!(found(more), Err(true), "{more}");
        }
    }

    #[test]
    fn what_breaks_off_is_all_there_is() {
        for broken in ["{\"a\": 1", "[1, \"]", "\"a"] {
            assert_eq!(found(broken), Ok(broken));
        }
    }
}
