//! The words of documentation and comments.

/// The words that send a reader to another sentence for their noun.
const PRONOUNS: [&str; 5] = ["it", "its", "they", "them", "their"];

/// Words in place of a noun.
const VAGUE: [&str; 4] = ["that of", "those of", "whoever", "whatever"];

#[derive(Debug, Default)]
pub(super) struct Prose {
    pub(super) words: usize,
    pub(super) pronouns: usize,
    /// The lines with vague words.
    pub(super) vague: Vec<usize>,
}

impl Prose {
    pub(super) fn new(source: &str) -> Self {
        let mut prose = Self::default();
        let mut is_example = false;
        for (at, line) in source.lines().enumerate() {
            let line = line.trim();
            let Some(text) = comment(line) else { continue };
            let is_documentation = line.starts_with("///") || line.starts_with("//!");
            if is_documentation && text.trim_start().starts_with("```") {
                is_example = !is_example;
            } else if !(is_documentation && is_example) {
                prose.count(at + 1, text);
            }
        }
        prose
    }

    fn count(&mut self, line: usize, text: &str) {
        let text = without_targets(text).to_lowercase();
        let is_between = |char: char| !char.is_ascii_alphanumeric() && char != '\'' && char != '-';
        let words: Vec<&str> = text.split(is_between).filter(|word| !word.is_empty()).collect();
        self.words +=
            words.iter().filter(|word| word.starts_with(|char: char| char.is_ascii_alphabetic())).count();
        self.pronouns += words.iter().filter(|word| PRONOUNS.contains(word)).count();
        let text = format!(" {} ", words.join(" "));
        if VAGUE.iter().any(|vague| text.contains(&format!(" {vague} "))) {
            self.vague.push(line);
        }
    }
}

/// The text of a comment that is alone on its line or behind code.
fn comment(line: &str) -> Option<&str> {
    let begins = ["///", "//!", "//"].iter().find_map(|start| line.strip_prefix(start));
    let behind =
        || [", // ", "; // ", "{ // ", "} // ", ") // "].iter().find_map(|start| line.split_once(start));
    begins.or_else(|| Some(behind()?.1))
}

/// The text without the targets of its links.
fn without_targets(text: &str) -> String {
    let mut parts = text.split("](");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once(')').map_or(part, |(_, rest)| rest))
}
