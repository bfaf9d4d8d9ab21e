//! Thoughts in front of the text of a reply.

/// The marks around thoughts that a model writes into a reply.
pub(super) const OPENING: &str = "<think>";
pub(super) const CLOSING: &str = "</think>";

/// A filter that separates thoughts from the text behind them, while both arrive.
#[derive(Debug, Default)]
pub(super) struct ThoughtFilter {
    /// Text whose meaning is not known yet: the beginning of a mark, or white space around one.
    held: String,
    place: FilterState,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum FilterState {
    #[default]
    Before,
    Inside,
    /// The filter is behind a thought, and before the text.
    Behind,
    Text,
}

impl ThoughtFilter {
    /// The thoughts and the text in the next piece of a reply.
    pub(super) fn split(&mut self, piece: &str) -> (String, String) {
        self.held.push_str(piece);
        let mut thoughts = String::new();
        loop {
            match self.place {
                FilterState::Before => {
                    let begin = self.held.trim_start();
                    if let Some(rest) = begin.strip_prefix(OPENING) {
                        (self.held, self.place) = (rest.to_owned(), FilterState::Inside);
                    } else if OPENING.starts_with(begin) {
                        return (thoughts, String::new());
                    } else {
                        self.place = FilterState::Text;
                    }
                }
                FilterState::Inside => {
                    if let Some((inside, rest)) = self.held.split_once(CLOSING) {
                        thoughts.push_str(inside);
                        (self.held, self.place) = (rest.to_owned(), FilterState::Behind);
                    } else {
                        let held = self.held.len() - overlap(&self.held, CLOSING);
                        let rest = self.held.split_off(held);
                        thoughts.push_str(&self.held);
                        self.held = rest;
                        return (thoughts, String::new());
                    }
                }
                FilterState::Behind => {
                    self.held = self.held.trim_start().to_owned();
                    if self.held.is_empty() {
                        return (thoughts, String::new());
                    }
                    self.place = FilterState::Text;
                }
                FilterState::Text => return (thoughts, std::mem::take(&mut self.held)),
            }
        }
    }

    /// The text that was held back, at the end of the reply. A thought without an end is no text.
    pub(super) fn finish(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        if self.place == FilterState::Before { rest } else { String::new() }
    }
}

/// The bytes at the end of a text with which a mark may begin.
fn overlap(text: &str, mark: &str) -> usize {
    (1..mark.len())
        .rev()
        .find(|length| mark.get(..*length).is_some_and(|begin| text.ends_with(begin)))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The thoughts and the text of a reply that arrives in pieces of this length.
    fn split(reply: &str, length: usize) -> (String, String) {
        let mut filter = ThoughtFilter::default();
        let mut thoughts = String::new();
        let mut text = String::new();
        let chars: Vec<char> = reply.chars().collect();
        for piece in chars.chunks(length) {
            let (more_thoughts, more_text) = filter.split(&piece.iter().collect::<String>());
            thoughts += &more_thoughts;
            text += &more_text;
        }
        (thoughts, text + &filter.finish())
    }

    /// Some servers do not separate the thoughts of a model, so thoughts were stored, and sent again with the history.
    #[test]
    fn thoughts_in_front_of_the_text_are_separated() {
        for (reply, thoughts, text) in [
            ("Hi", "", "Hi"),
            ("<think>Hm < 2.</think>\n\nHi", "Hm < 2.", "Hi"),
            ("\n<think>\nHm.\n</think> Hi </think>", "\nHm.\n", "Hi </think>"),
            ("<think></think>Hi", "", "Hi"),
            ("<thin", "", "<thin"),
            (" ", "", " "),
            ("<b>Hi</b>", "", "<b>Hi</b>"),
            ("Use <think> here", "", "Use <think> here"),
            ("<think>Hm", "Hm", ""),
            ("<think>Hm.</think>", "Hm.", ""),
        ] {
            for length in 1..=reply.len() {
                assert_eq!(split(reply, length), (thoughts.to_owned(), text.to_owned()), "{reply}, {length}");
            }
        }
    }
}
