//! The text that a context shows of documents: a title, and fenced texts with their paths.
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

/// The title of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Title {
    Structure,
    MoreStructure,
    StableFiles,
    ReferenceFiles,
    ReferenceFilesL2,
    ReferenceFilesL3,
    Tree,
    Pages,
    WorkingFiles,
}

impl Title {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Structure => "# Repository Structure",
            Self::MoreStructure => "# Repository Structure (continued)",
            Self::StableFiles => "# Reference Files (Stable)",
            Self::ReferenceFiles => "# Reference Files",
            Self::ReferenceFilesL2 => "# Reference Files (L2)",
            Self::ReferenceFilesL3 => "# Reference Files (L3)",
            Self::Tree => "# Repository Files",
            Self::Pages => "# URL Context",
            Self::WorkingFiles => "# Working Files",
        }
    }
}

/// A text in a section, with its path; the tree and the legend have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Item<'d> {
    pub(crate) path: Option<&'d str>,
    pub(crate) text: &'d str,
}

impl Item<'_> {
    /// The text before and after the document.
    pub(crate) fn delimiters(&self) -> [String; 2] {
        let fence = "`".repeat(fence_len(self.text));
        let path = self.path.map_or_else(String::new, |path| format!("{path}\n"));
        [format!("{path}{fence}\n"), format!("\n{fence}")]
    }
}

/// The title and the items, with empty lines between them. Nothing if there are no items.
pub(crate) fn section<'d>(title: Title, items: impl IntoIterator<Item = Item<'d>>) -> String {
    let mut text = String::new();
    for item in items {
        if text.is_empty() {
            text.push_str(title.as_str());
        }
        let [opening, closing] = item.delimiters();
        ["\n\n", &opening, item.text, &closing].into_iter().for_each(|piece| text.push_str(piece));
    }
    text
}

/// The number of backticks of the shortest fence around a text.
fn fence_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut from = 0;
    let runs = iter::from_fn(|| {
        let rest = bytes.get(from..)?;
        let start = memchr::memchr(b'`', rest)?;
        let run = rest.iter().skip(start).take_while(|byte| **byte == b'`').count();
        from += start + run;
        Some(run)
    });
    runs.max().map_or(3, |longest| 3.max(longest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The items of a section, from its text alone.
    fn read(section: &str, title: Title) -> Vec<(Option<String>, String)> {
        let mut items = Vec::new();
        let mut rest = section.strip_prefix(title.as_str()).expect("the title is first");
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
    fn every_title_is_a_line_of_its_own() {
        let titles = [
            (Title::Structure, "# Repository Structure"),
            (Title::MoreStructure, "# Repository Structure (continued)"),
            (Title::StableFiles, "# Reference Files (Stable)"),
            (Title::ReferenceFiles, "# Reference Files"),
            (Title::ReferenceFilesL2, "# Reference Files (L2)"),
            (Title::ReferenceFilesL3, "# Reference Files (L3)"),
            (Title::Tree, "# Repository Files"),
            (Title::Pages, "# URL Context"),
            (Title::WorkingFiles, "# Working Files"),
        ];
        for (title, line) in titles {
            let shown = section(title, [Item { path: Some("a"), text: "b" }]);
            assert_eq!(shown, format!("{line}\n\na\n```\nb\n```"));
        }
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
            let shown = section(Title::WorkingFiles, items.map(|(path, text)| Item { path, text }));
            let expected = items.map(|(path, text)| (path.map(str::to_owned), text.to_owned()));
            assert_eq!(read(&shown, Title::WorkingFiles), expected, "{shown:?}");
        }
    }

    #[test]
    fn a_section_has_a_title_and_fenced_texts() {
        let items = [
            Item { path: Some("src/lib.rs"), text: "mod a;\n" },
            Item { path: Some("a.md"), text: "```` is a fence." },
            Item { path: Some("empty"), text: "" },
        ];
        assert_eq!(
            section(Title::WorkingFiles, items),
            "# Working Files\n\nsrc/lib.rs\n```\nmod a;\n\n```\n\na.md\n`````\n```` is a fence.\n`````\n\nempty\n```\n\n```"
        );
        assert_eq!(
            section(Title::Tree, [Item { path: None, text: "a\nb" }]),
            "# Repository Files\n\n```\na\nb\n```"
        );
        assert_eq!(section(Title::Pages, []), "");
    }

    #[test]
    fn a_fence_is_longer_than_each_run_in_its_text() {
        for (text, length) in
            [("", 3), ("`", 3), ("``", 3), ("```", 4), ("a ```` b", 5), ("```\n`````\n``", 6), ("``` ```", 4)]
        {
            assert_eq!(fence_len(text), length, "{text:?}");
        }
    }
}
