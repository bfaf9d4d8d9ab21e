//! Stop sequences that the client applies, where a provider takes no stop sequences.

/// A filter that passes the text before the first stop sequence, while it arrives.
#[derive(Debug, Default)]
pub(super) struct StopFilter {
    stops: Vec<String>,
    /// Text with which a stop sequence may begin.
    held: String,
    /// Whether a stop sequence was found.
    pub(super) has_stopped: bool,
}

impl StopFilter {
    pub(super) fn new(stops: &[&str]) -> Self {
        Self { stops: stops.iter().map(|stop| (*stop).to_owned()).collect(), ..Self::default() }
    }

    /// The part of the next piece, and of what was held back, that is surely before a stop sequence.
    pub(super) fn pass(&mut self, text: String) -> String {
        if self.stops.is_empty() {
            return text;
        }
        if self.has_stopped {
            return String::new();
        }
        self.held.push_str(&text);
        // The stop sequence that ends first counts, as if the text arrived letter by letter.
        let ends = self.stops.iter().filter_map(|stop| Some((self.held.find(stop.as_str())?, stop.len())));
        if let Some((at, _)) = ends.min_by_key(|(at, length)| (at + length, *at)) {
            self.has_stopped = true;
            self.held.truncate(at);
            return std::mem::take(&mut self.held);
        }
        let rest = self.held.split_off(self.held.len() - self.open());
        std::mem::replace(&mut self.held, rest)
    }

    /// The text that was held back, at the end of the reply.
    pub(super) fn finish(&mut self) -> String {
        std::mem::take(&mut self.held)
    }

    /// The number of bytes at the end with which a stop sequence may begin.
    fn open(&self) -> usize {
        let open = self.stops.iter().filter_map(|stop| {
            let mut ends = stop.char_indices().map(|(at, _)| at).rev();
            ends.find(|at| stop.get(..*at).is_some_and(|begin| self.held.ends_with(begin)))
        });
        open.max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_ends_before_the_first_stop_sequence_however_it_arrives() {
        for (stops, reply, expected) in [
            (&["\n"][..], "one\ntwo", "one"),
            (&["END"], "the EN ENDS", "the EN "),
            (&["abc", "b"], "xabc", "xa"),
            (&["ééx"], "aéé", "aéé"),
            (&["ééx"], "aééxb", "a"),
            (&[], "all", "all"),
            (&["aab"], "aaab", "a"),
        ] {
            let chars: Vec<char> = reply.chars().collect();
            for length in 1..=chars.len() {
                let mut filter = StopFilter::new(stops);
                let pieces = chars.chunks(length).map(|piece| filter.pass(piece.iter().collect()));
                let text: String = pieces.collect();
                assert_eq!(text + &filter.finish(), expected, "{reply} by {length}");
                assert_eq!(filter.has_stopped, expected != reply, "{reply}");
            }
        }
    }
}
