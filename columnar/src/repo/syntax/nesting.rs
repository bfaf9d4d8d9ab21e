//! An estimate of the depth of a text: the tokens that a parser may still have on the stack.
//!
//! A parser that meets an error looks through all of its stack for a way out. In code the stack is shallow, and an error costs
//! little. A text such as `-)-)-)` has an error at each token and one more open operator each time: the work and the memory
//! grow with the square of the length, and the parser reports neither. So errors may be as many as code has, as long as the
//! text around them is as shallow as code.
//!
//! The estimate knows no grammar. It counts the tokens since the last end of a statement, in all brackets around a place. An
//! operator that nothing follows counts until the bracket around it is closed, since no statement ends there.

/// The words that need another word after them, as an operator does.
const OPERATORS: [&str; 21] = [
    "await", "chan", "co_await", "defer", "delete", "go", "keyof", "lambda", "new", "not", "range", "sizeof",
    "throw", "typename", "typeof", "unique", "void", "yield", "infer", "asserts", "case",
];
/// The number of brackets among which a closing one finds the one that it closes.
const LOOKED_AT: usize = 64;

/// The depth of a text up to a place that moves on.
pub(super) struct Nesting<'t> {
    text: &'t [u8],
    at: usize,
    /// Whether a line may end a statement.
    by_line: bool,
    open: Vec<OpenBracket>,
    /// The depth at which a statement begins here.
    base: usize,
    depth: usize,
    last: TokenEnd,
    is_line_start: bool,
    /// The state before a directive of the preprocessor, which is no part of the code around.
    before_directive: Option<(usize, TokenEnd)>,
}

struct OpenBracket {
    closer: u8,
    /// The depth at which a statement begins outside.
    base: usize,
}

/// The last token before a place.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenEnd {
    Boundary,
    Operand,
    Operator,
}

impl<'t> Nesting<'t> {
    pub(super) const fn new(text: &'t str, by_line: bool) -> Self {
        Self {
            text: text.as_bytes(),
            at: 0,
            by_line,
            open: Vec::new(),
            base: 0,
            depth: 0,
            last: TokenEnd::Boundary,
            is_line_start: true,
            before_directive: None,
        }
    }

    /// The depth at an offset, or where the place is if that is behind it.
    pub(super) fn at(&mut self, offset: usize) -> usize {
        while let Some(byte) = self.text.get(self.at).filter(|_| self.at < offset) {
            self.pass(*byte);
        }
        self.depth
    }

    /// Passes the token that begins with a byte.
    fn pass(&mut self, byte: u8) {
        let start = self.at;
        self.at += 1;
        match byte {
            b' ' | b'\t' | b'\r' => return,
            b'\n' => return self.end_line(start),
            b'(' | b'[' | b'{' => self.open(byte),
            b')' | b']' | b'}' => self.close(byte),
            b';' | b',' => self.end_statement(),
            b'#' if self.is_line_start && !self.by_line => {
                self.before_directive.get_or_insert((self.depth, self.last));
            }
            _ if is_word(byte) => {
                let rest = self.text.get(start..).unwrap_or_default();
                let word = rest.split(|byte| !is_word(*byte)).next().unwrap_or_default();
                self.at = start + word.len();
                let is_operator = OPERATORS.iter().any(|operator| operator.as_bytes() == word);
                self.push(if is_operator { TokenEnd::Operator } else { TokenEnd::Operand });
            }
            // Types end with it.
            b'>' => self.push(TokenEnd::Operand),
            _ => self.push(TokenEnd::Operator),
        }
        self.is_line_start = false;
    }

    fn push(&mut self, last: TokenEnd) {
        self.depth += 1;
        self.last = last;
    }

    fn end_statement(&mut self) {
        self.base += usize::from(self.last == TokenEnd::Operator);
        self.depth = self.base;
        self.last = TokenEnd::Boundary;
    }

    fn end_line(&mut self, at: usize) {
        let goes_on = at.checked_sub(1).and_then(|before| self.text.get(before)) == Some(&b'\\');
        if !goes_on && let Some((depth, last)) = self.before_directive.take() {
            self.depth = depth.max(self.base);
            self.last = last;
        } else if self.by_line && self.last == TokenEnd::Operand {
            self.end_statement();
        }
        self.is_line_start = true;
    }

    fn open(&mut self, opener: u8) {
        let closer = match opener {
            b'(' => b')',
            b'[' => b']',
            _ => b'}',
        };
        self.open.push(OpenBracket { closer, base: self.base });
        self.push(TokenEnd::Boundary);
        self.base = self.depth;
    }

    /// Closes a bracket, with those in it that are not closed. A closing bracket without an opening one stays.
    fn close(&mut self, closer: u8) {
        let level = self.open.iter().rev().take(LOOKED_AT).position(|open| open.closer == closer);
        let Some(level) = level else {
            self.base += 1;
            return self.push(TokenEnd::Operand);
        };
        self.end_statement();
        for open in self.open.drain(self.open.len() - level - 1..).rev() {
            self.depth = self.base;
            self.base = open.base;
        }
        if closer == b'}' {
            self.depth = self.base;
        }
        self.last = TokenEnd::Operand;
    }
}

/// Whether a byte is part of a word or a string. What stands in a string counts as well: the quotes of one language are no
/// quotes in the next.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | b'\'' | b'`') || !byte.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::Nesting;

    fn depth(text: &str) -> usize {
        Nesting::new(text, false).at(text.len())
    }

    #[test]
    fn statements_and_brackets_end() {
        for (text, expected) in [
            ("", 0),
            ("a = b", 3),
            ("a = b; c", 1),
            ("f(a, b)", 2),
            ("f { a; b; } c", 1),
            ("f(a, [b, (c", 5),
            // What nobody closed ends with the bracket around.
            ("f { a(b [c } d", 1),
            ("#define a (b)\nc", 1),
            ("a +\n#if b\n-", 3),
            // No statement ends at an operator.
            ("- , - , -", 3),
            ("new ; new ; new", 3),
            (") - ) -", 4),
        ] {
            assert_eq!(depth(text), expected, "{text}");
        }
        assert_eq!(Nesting::new("a\nb\nc +\nd", true).at(100), 3);
    }

    #[test]
    fn the_depth_of_a_storm_grows_with_the_storm() {
        for unit in ["->", ")-", ",-", "(<a", "}-", ")*", "{~", "->delete ;", "\n#else\n-", "sizeof ::"] {
            let text = unit.repeat(1_000);
            assert!(depth(&text) >= 900, "{unit:?} {}", depth(&text));
        }
    }
}
