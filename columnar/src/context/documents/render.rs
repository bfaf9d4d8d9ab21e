//! The text that a model reads of documents: titles, and fenced texts with the paths.
//!
//! ``````text
//! # Working Files
//!
//! src/lib.rs
//! ```
//! mod a;
//!
//! ```
//!
//! src/a.md
//! `````
//! ```` is a fence.
//! `````
//! ``````
//!
//! A text stands there as it is. Its fence is longer than any run of backticks in it, so it cannot end the fence, and no
//! path begins like one. A line break follows the text also if the text ends with one. So the texts can be read back.

use std::iter;
use std::ops::Range;

/// A text in a section, with its path; the tree and the legend have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FencedText<'d> {
    pub(crate) path: Option<&'d str>,
    pub(crate) text: &'d str,
}

impl FencedText<'_> {
    /// The text before and after the document.
    pub(crate) fn delimiters(&self) -> [String; 2] {
        let fence = "`".repeat(fence_len(self.text));
        let path = self.path.map_or_else(String::new, |path| format!("{path}\n"));
        [format!("{path}{fence}\n"), format!("\n{fence}")]
    }
}

/// Adds a section to those before it: the title and the items, with empty lines between them. Nothing if there are no
/// items.
pub(crate) fn push_items<'d>(
    shown: &mut String,
    title: &str,
    items: impl IntoIterator<Item = FencedText<'d>>,
) {
    for (at, item) in items.into_iter().enumerate() {
        if at == 0 {
            push_title(shown, title);
        }
        let [opening, closing] = item.delimiters();
        ["\n\n", &opening, item.text, &closing].into_iter().for_each(|piece| shown.push_str(piece));
    }
}

/// Adds a section of lines.
pub(crate) fn push_lines(shown: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    for (at, line) in lines.into_iter().enumerate() {
        if at == 0 {
            push_title(shown, title);
            shown.push('\n');
        }
        shown.push('\n');
        shown.push_str(&line);
    }
}

fn push_title(shown: &mut String, title: &str) {
    if !shown.is_empty() {
        shown.push_str("\n\n");
    }
    shown.push_str(title);
}

/// The place of the text in the fence with which `shown` begins, and the end of the fence. `None` unless this is the fence
/// of that text: whole lines, and as long as [`FencedText::delimiters`] makes them.
pub(super) fn fenced(shown: &str) -> Option<(Range<usize>, usize)> {
    let (opening, rest) = shown.split_once('\n')?;
    let closing = runs(rest).find(|run| run.len() >= opening.len())?;
    let text = rest.get(..closing.start)?.strip_suffix('\n')?;
    let after = rest.get(closing.end..)?;
    let is_line = after.is_empty() || after.starts_with('\n');
    let is_fence = opening.bytes().all(|byte| byte == b'`') && closing.len() == opening.len();
    let start = opening.len() + 1;
    (is_line && is_fence && opening.len() == fence_len(text))
        .then(|| (start..start + text.len(), start + closing.end))
}

/// The number of backticks of the shortest fence around a text.
fn fence_len(text: &str) -> usize {
    runs(text).map(|run| run.len()).max().map_or(3, |longest| 3.max(longest + 1))
}

/// The runs of backticks in a text.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = 0;
    iter::from_fn(move || {
        let rest = bytes.get(from..)?;
        let start = memchr::memchr(b'`', rest)?;
        let len = rest.iter().skip(start).take_while(|byte| **byte == b'`').count();
        let run = from + start..from + start + len;
        from = run.end;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section<'d>(title: &str, items: impl IntoIterator<Item = FencedText<'d>>) -> String {
        let mut shown = String::new();
        push_items(&mut shown, title, items);
        shown
    }

    /// The items of a section, from its text alone.
    fn read(section: &str, title: &str) -> Vec<(Option<String>, String)> {
        let mut items = Vec::new();
        let mut rest = section.strip_prefix(title).expect("the title is first");
        while !rest.is_empty() {
            rest = rest.strip_prefix("\n\n").expect("an empty line is before each item");
            let mut path = None;
            if !rest.starts_with("```") {
                let (line, after) = rest.split_once('\n').expect("a path is a line");
                (path, rest) = (Some(line.to_owned()), after);
            }
            let (fence, after) = rest.split_once('\n').expect("a fence is a line");
            assert!(fence.len() >= 3 && fence.bytes().all(|byte| byte == b'`'), "{fence:?}");
            // The text and the fence may be the same place: an empty text.
            let (text, after) = after.split_once(&format!("\n{fence}")).expect("the fence is closed");
            items.push((path, text.to_owned()));
            rest = after;
        }
        items
    }

    #[test]
    fn a_section_can_be_read_back() {
        const PIECES: [&str; 8] =
            ["`", "```", "\n", "\r", "a", "\n\n# Working Files", "\n\na.rs\n```\n", "é"];
        const PATHS: [Option<&str>; 4] = [None, Some("a.rs"), Some("# Working Files"), Some("a ``` b")];
        // All texts of four pieces at most, each beside one that begins with a fence.
        for number in 0..9_usize.pow(4) {
            let pieces = (0..4).filter_map(|at| PIECES.get(number / 9_usize.pow(at) % 9));
            let text: String = pieces.copied().collect();
            let path = PATHS[number % 4];
            let items = [(path, text.as_str()), (None, "```\n"), (Some("b"), text.as_str())];
            let shown = section("# Working Files", items.map(|(path, text)| FencedText { path, text }));
            let expected = items.map(|(path, text)| (path.map(str::to_owned), text.to_owned()));
            assert_eq!(read(&shown, "# Working Files"), expected, "{shown:?}");
        }
    }

    #[test]
    fn a_section_has_a_title_and_fenced_texts() {
        let items = [
            FencedText { path: Some("src/lib.rs"), text: "mod a;\n" },
            FencedText { path: Some("a.md"), text: "```` is a fence." },
            FencedText { path: Some("empty"), text: "" },
        ];
        assert_eq!(
            section("# Working Files", items),
            "# Working Files\n\nsrc/lib.rs\n```\nmod a;\n\n```\n\na.md\n`````\n```` is a fence.\n`````\n\nempty\n```\n\n```"
        );
        assert_eq!(
            section("# Repository Files", [FencedText { path: None, text: "a\nb" }]),
            "# Repository Files\n\n```\na\nb\n```"
        );
        assert_eq!(section("# URL Context", []), "");
    }

    #[test]
    fn a_fence_is_longer_than_each_run_in_its_text() {
        for (text, length) in
            [("", 3), ("`", 3), ("``", 3), ("```", 4), ("a ```` b", 5), ("```\n`````\n``", 6), ("``` ```", 4)]
        {
            assert_eq!(fence_len(text), length, "{text:?}");
        }
    }

    #[test]
    fn a_fence_is_read_if_it_is_the_one_of_its_text() {
        for text in
            ["", "a", "\n", "a\n\n", "`", "``", "```", "a ```` b", "```\n\n```", "``` \n````", "é\r\n"]
        {
            let [opening, closing] = FencedText { path: None, text }.delimiters();
            for after in ["", "\n", "\nb\n```\n", "\n\n```````"] {
                let shown = [opening.as_str(), text, &closing, after].concat();
                let (place, end) = fenced(&shown).expect("it is the fence of the text");
                assert_eq!((&shown[place], &shown[end..]), (text, after), "{shown:?}");
            }
            for wrong in [
                format!("`{opening}{text}{closing}`"),
                format!("{opening}{text}{closing}`"),
                format!("`{opening}{text}{closing}"),
                format!(" {opening}{text}{closing}"),
                format!("{opening}{text}{closing} "),
                format!("{opening}{text}{closing}\r\n"),
                format!("{}\r\n{text}{closing}", opening.trim_end()),
                format!("{opening}{text}"),
                format!("{opening}{text}{}", closing.trim_start()),
                format!("\n{opening}{text}{closing}"),
                opening.clone(),
                opening.trim_end().to_owned(),
            ] {
                // A text may end in a line break of its own.
                let place = fenced(&wrong).map(|(place, _)| &wrong[place]);
                assert!(place.is_none() || text.strip_suffix('\n') == place, "{wrong:?}");
            }
        }
        assert!(
            ["", "`", "``\na\n``", "a\n```", "\n\n", "```", "```\n```"].iter().all(|t| fenced(t).is_none())
        );
    }
}
