//! Counts the items of each [`Class`] in a text, in one pass, and weighs them.
//!
//! Tokenizers split a text before they look pieces up: into words with the character before them, groups of three digits,
//! runs of punctuation, white space. The pass makes about the same splits without a table of Unicode, and counts the
//! features that make a piece more than one token.

use std::iter::Peekable;
use std::str::Chars;

/// A feature of a text that costs tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// A word after a space.
    Word,
    /// A word at the beginning of a line.
    FirstWord,
    /// A word after punctuation or anything else.
    BareWord,
    /// A word that begins in the middle of letters: the `Case` of `camelCase`.
    InnerWord,
    /// A word after a digit.
    WordAfterDigit,
    /// A letter of such a word, after the first.
    LetterAfterDigit,
    /// The letters after an apostrophe in a word.
    Contraction,
    /// The seventh to tenth letter of a word.
    LateLetter,
    /// A letter after the sixteenth: no word is that long.
    LastLetter,
    /// A capital after three others.
    Capital,
    /// A small letter after more than one capital: random, or an acronym that goes on.
    LetterAfterCapitals,
    /// A letter of a word without vowels, after the second.
    Consonant,
    /// A Latin letter with a mark.
    Accent,
    /// A letter after the third, in a word soon after one with such a letter: English has none.
    AccentedLetter,
    /// Up to three digits.
    Digits,
    /// A space that belongs to no word: one before a digit.
    LoneSpace,
    /// The spaces before the last one.
    Indent,
    /// Line ends in a row, after a word.
    LineEnd,
    /// Line ends in a row, after punctuation or at the beginning of a text, which follows the end of a tag in a context.
    LineEndAfterMark,
    /// One mark between letters, which is often part of the word after it.
    InnerMark,
    /// A run of punctuation.
    Marks,
    /// A mark in it that differs from the one before.
    OtherMark,
    /// One that is the same as the one before.
    SameMark,
    /// A run of letters of an alphabet other than the Latin one.
    ForeignWord,
    Cyrillic,
    Greek,
    Hebrew,
    Arabic,
    Indic,
    Thai,
    Hangul,
    Kana,
    Han,
    /// Punctuation of full width.
    WideMark,
    /// Punctuation and symbols beyond ASCII.
    Symbol,
    /// One that is the same as the one before.
    SameSymbol,
    Emoji,
    /// A byte of anything else.
    RareByte,
}

impl Class {
    pub(super) const COUNT: usize = Self::RareByte as usize + 1;
}

/// The number of items of each class, in order of the classes.
pub(super) type Tally = [usize; Class::COUNT];

/// Counts the classes of a text.
pub(super) fn tally(text: &str) -> Tally {
    let mut scanner =
        Scanner { rest: text.chars().peekable(), before: Kind::Start, accented: 0, tally: [0; Class::COUNT] };
    while let Some(first) = scanner.rest.next() {
        let kind = Kind::of(first);
        scanner.before = match kind {
            Kind::Small | Kind::Capital => scanner.word(first, kind),
            Kind::Digit => scanner.digits(),
            Kind::Space | Kind::End => scanner.white(kind),
            Kind::Mark => scanner.marks(first),
            Kind::Foreign(class) => scanner.foreign(first, class),
            Kind::Rare | Kind::Start => scanner.rare(first),
        };
    }
    scanner.tally
}

/// The kind of a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Small,
    Capital,
    Digit,
    Space,
    /// The end of a line, or of the text.
    End,
    Mark,
    /// A letter or a mark that is counted one by one.
    Foreign(Class),
    Rare,
    /// The beginning of the text.
    Start,
}

impl Kind {
    fn of(c: char) -> Self {
        match c {
            'a'..='z' => Self::Small,
            'A'..='Z' => Self::Capital,
            '0'..='9' => Self::Digit,
            '\n' | '\r' => Self::End,
            ' ' | '\t' => Self::Space,
            '\0'..='\x7f' => Self::Mark,
            _ => Self::beyond_ascii(c),
        }
    }

    fn beyond_ascii(c: char) -> Self {
        let class = match u32::from(c) {
            0xc0..=0x24f | 0x1e00..=0x1eff if c.is_uppercase() => return Self::Capital,
            0xc0..=0x24f | 0x1e00..=0x1eff => return Self::Small,
            0x370..=0x3ff | 0x1f00..=0x1fff => Class::Greek,
            0x400..=0x52f => Class::Cyrillic,
            0x590..=0x5ff => Class::Hebrew,
            0x600..=0x6ff | 0x750..=0x77f => Class::Arabic,
            0x900..=0xdff => Class::Indic,
            0xe00..=0xeff => Class::Thai,
            0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7af => Class::Hangul,
            0x3040..=0x30ff => Class::Kana,
            0x4e00..=0x9fff => Class::Han,
            0x3000..=0x303f | 0xff00..=0xffef => Class::WideMark,
            0xfe0f | 0x1f000..=0x1faff => Class::Emoji,
            0x80..=0xbf | 0x2000..=0x2bff => Class::Symbol,
            _ => return Self::Rare,
        };
        Self::Foreign(class)
    }

    fn is_latin(self) -> bool {
        matches!(self, Self::Small | Self::Capital)
    }

    /// Whether it is written in words with spaces between them.
    fn is_spaced(class: Class) -> bool {
        matches!(class, Class::Greek | Class::Cyrillic | Class::Hebrew | Class::Arabic | Class::Indic)
    }
}

struct Scanner<'t> {
    rest: Peekable<Chars<'t>>,
    /// The kind of the last piece.
    before: Kind,
    /// The number of further words that are assumed to have the language of the last accented one.
    accented: u8,
    tally: Tally,
}

/// The words after an accented one that are assumed to have its language.
const ACCENTED: u8 = 8;

/// Tokens of white space are no longer than about this.
const LONG_SPACES: usize = 64;
const LONG_ENDS: usize = 16;

impl Scanner<'_> {
    fn add(&mut self, class: Class, count: usize) {
        if let Some(counted) = self.tally.get_mut(class as usize) {
            *counted += count;
        }
    }

    fn next_if(&mut self, is: impl FnOnce(Kind) -> bool) -> Option<char> {
        self.rest.next_if(|c| is(Kind::of(*c)))
    }

    fn peek(&mut self) -> Kind {
        self.rest.peek().map_or(Kind::End, |c| Kind::of(*c))
    }

    /// The rest of a word: capitals, then small letters.
    fn word(&mut self, first: char, kind: Kind) -> Kind {
        let (mut capitals, mut small) = (0, 0);
        let (mut vowels, mut accents) = (0, 0);
        let mut note = |c: char| {
            accents += usize::from(!c.is_ascii());
            vowels += usize::from(
                // Any letter with a mark counts as a vowel, so that an accented word does not seem random.
                !c.is_ascii() || matches!(c.to_ascii_lowercase(), 'a' | 'e' | 'i' | 'o' | 'u' | 'y'),
            );
        };
        note(first);
        if kind == Kind::Capital {
            capitals = 1;
            while let Some(c) = self.next_if(|kind| kind == Kind::Capital) {
                note(c);
                capitals += 1;
            }
        } else {
            small = 1;
        }
        while let Some(c) = self.next_if(|kind| kind == Kind::Small) {
            note(c);
            small += 1;
        }
        let letters = capitals + small;
        self.add(Class::Accent, accents);
        self.accented = if accents > 0 { ACCENTED } else { self.accented.saturating_sub(1) };
        if self.accented > 0 {
            self.add(Class::AccentedLetter, letters.max(3) - 3);
        }
        // Letters after digits are mostly parts of ids, and the features of words do not apply to them.
        if self.before == Kind::Digit {
            self.add(Class::WordAfterDigit, 1);
            self.add(Class::LetterAfterDigit, letters - 1);
            return Kind::Small;
        }
        let begins = match self.before {
            Kind::Space => Class::Word,
            Kind::End | Kind::Start => Class::FirstWord,
            Kind::Small | Kind::Capital => Class::InnerWord,
            _ => Class::BareWord,
        };
        self.add(begins, 1);
        self.add(Class::Capital, capitals.max(3) - 3);
        if capitals > 1 {
            self.add(Class::LetterAfterCapitals, small);
        }
        self.add(Class::LateLetter, letters.clamp(6, 10) - 6);
        self.add(Class::LastLetter, letters.max(16) - 16);
        if vowels == 0 {
            self.add(Class::Consonant, letters.max(2) - 2);
        }
        Kind::Small
    }

    fn digits(&mut self) -> Kind {
        let mut count = 1_usize;
        while self.next_if(|kind| kind == Kind::Digit).is_some() {
            count += 1;
        }
        // `o200k_base` splits digits by `\p{N}{1,3}`.
        self.add(Class::Digits, count.div_ceil(3));
        Kind::Digit
    }

    /// Spaces and ends of lines. The last space belongs to the next piece.
    fn white(&mut self, first: Kind) -> Kind {
        let (mut spaces, mut ends) = (0, 0);
        let mut kind = first;
        loop {
            if kind == Kind::End {
                // Spaces before a line end are a part of its token.
                spaces = 0;
                ends += 1;
            } else {
                spaces += 1;
            }
            match self.next_if(|kind| matches!(kind, Kind::Space | Kind::End)) {
                Some(c) => kind = Kind::of(c),
                None => break,
            }
        }
        if ends > 0 {
            // Line ends after punctuation are in its piece: `[^\s\p{L}\p{N}]+[\r\n/]*` in `o200k_base`.
            let after_mark = matches!(self.before, Kind::Mark | Kind::Start);
            self.add(if after_mark { Class::LineEndAfterMark } else { Class::LineEnd }, 1);
            self.add(Class::LineEnd, ends / LONG_ENDS);
        }
        if spaces > 1 {
            self.add(Class::Indent, 1 + spaces / LONG_SPACES);
        }
        // Words and punctuation take a space before them into their piece, digits do not.
        if spaces > 0 && self.peek() == Kind::Digit {
            self.add(Class::LoneSpace, 1);
        }
        kind
    }

    fn marks(&mut self, first: char) -> Kind {
        if first == '<' {
            // A tag is not in the language of the text.
            self.accented = 0;
        }
        let follows = self.peek();
        if first == '\'' && self.before.is_latin() && follows == Kind::Small {
            self.add(Class::Contraction, 1);
            // `o200k_base` adds `'s`, `'ll` and five others to the word. Any small letters are close to that.
            while self.next_if(|kind| kind == Kind::Small).is_some() {}
            return Kind::Small;
        }
        // A word takes the mark before it, `[^\r\n\p{L}\p{N}]?`, unless a space precedes the mark.
        if follows.is_latin() && self.before != Kind::Space {
            self.add(Class::InnerMark, 1);
            return Kind::Mark;
        }
        self.add(Class::Marks, 1);
        let mut last = first;
        while let Some(c) = self.next_if(|kind| kind == Kind::Mark) {
            self.add(if c == last { Class::SameMark } else { Class::OtherMark }, 1);
            last = c;
        }
        Kind::Mark
    }

    fn foreign(&mut self, first: char, class: Class) -> Kind {
        let mut last = first;
        let (mut count, mut same) = (1, 0);
        while let Some(c) = self.next_if(|kind| kind == Kind::Foreign(class)) {
            same += usize::from(c == last);
            count += 1;
            last = c;
        }
        if class == Class::Symbol {
            self.add(Class::SameSymbol, same);
            count -= same;
        }
        self.add(class, count);
        if Kind::is_spaced(class) {
            self.add(Class::ForeignWord, 1);
        }
        Kind::Foreign(class)
    }

    fn rare(&mut self, first: char) -> Kind {
        // A byte-level tokenizer splits characters that its vocabulary lacks into bytes.
        self.add(Class::RareByte, first.len_utf8());
        Kind::Rare
    }
}

/// The cost of each class in thousandths of a token, as fitted by
/// `cargo bench -p columnar-tests --features tiktoken --bench tokens -- --fit`.
pub(super) const WEIGHTS: [(Class, usize); Class::COUNT] = [
    (Class::Word, 902),
    (Class::FirstWord, 1396),
    (Class::BareWord, 604),
    (Class::InnerWord, 1415),
    (Class::WordAfterDigit, 856),
    (Class::LetterAfterDigit, 456),
    (Class::Contraction, 0),
    (Class::LateLetter, 188),
    (Class::LastLetter, 628),
    (Class::Capital, 0),
    (Class::LetterAfterCapitals, 443),
    (Class::Consonant, 782),
    (Class::Accent, 124),
    (Class::AccentedLetter, 267),
    (Class::Digits, 917),
    (Class::LoneSpace, 1038),
    (Class::Indent, 594),
    (Class::LineEnd, 1881),
    (Class::LineEndAfterMark, 0),
    (Class::InnerMark, 726),
    (Class::Marks, 1042),
    (Class::OtherMark, 380),
    (Class::SameMark, 112),
    (Class::ForeignWord, 696),
    (Class::Cyrillic, 152),
    (Class::Greek, 291),
    (Class::Hebrew, 269),
    (Class::Arabic, 227),
    (Class::Indic, 220),
    (Class::Thai, 448),
    (Class::Hangul, 767),
    (Class::Kana, 758),
    (Class::Han, 680),
    (Class::WideMark, 1853),
    (Class::Symbol, 1330),
    (Class::SameSymbol, 137),
    (Class::Emoji, 1163),
    (Class::RareByte, 406),
];
