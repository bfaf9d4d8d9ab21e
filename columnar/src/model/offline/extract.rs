//! The text engine of the offline model, a stand-in for an LLM that needs no download and no key.
//!
//! The engine understands nothing: a reply is made of phrases and sentences of the messages, selected by counting
//! words. The word lists are English. Other text works as well, with poorer results.

use std::collections::{BTreeMap, BTreeSet};

const NOTHING: &str = "(nothing to extract)";

const REPLY_CUES: &str = "answer the user,answer the question,answer question,reply to,respond to";

/// Answers `instruction`, the system prompt, with extracts of the texts, and adds no facts.
///
/// `current` are the `(tag, value)` pairs of the last user message, `past` the earlier user messages, the oldest first,
/// and `last_reply` is the model's last reply. Cue words of the instruction select key phrases, a summary or a critical
/// question. Without a cue the result is a reply with quotes.
pub(super) fn answer(
    instruction: &str,
    current: &[(String, String)],
    past: &[String],
    last_reply: Option<&str>,
) -> String {
    let values = speaking(current.iter().map(|(_, value)| value.as_str()));
    let latest = values.last().copied();
    let current = values.join("\n");
    let past = speaking(past.iter().map(String::as_str)).join("\n");
    let instruction = instruction.to_lowercase().replace(['-', '\n'], " ");
    // Clear orders are tested before nouns such as "summary", which may be names of inputs.
    let extract = if mentions(&instruction, "comma separat,keyword,key phrase,keyphrase") {
        key_phrases(&current, 5)
    } else if mentions(&instruction, "criticis,criticiz, weak,objection") {
        critique(&current)
    } else if mentions(&instruction, REPLY_CUES) {
        reply(latest, &current, &past)
    } else if mentions(&instruction, "summar,digest") {
        summary(&[speaking(last_reply).concat(), past].join("\n"), &current)
    } else if mentions(&instruction, "topic,tags") {
        key_phrases(&current, 5)
    } else if mentions(&instruction, "critic,critiqu,question") {
        critique(&current)
    } else {
        reply(latest, &current, &past)
    };
    extract.unwrap_or_else(|| NOTHING.to_owned())
}

fn mentions(instruction: &str, cues: &str) -> bool {
    cues.split(',').any(|cue| instruction.contains(cue))
}

/// Splits a user message of `<tag>\nvalue\n</tag>` blocks into `(tag, value)` pairs.
///
/// A block ends at the first closing line; text outside closed blocks gets the tag `""`.
pub(super) fn sections(content: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut tag = "";
    let mut opening = "";
    let mut text = String::new();
    for line in content.split_inclusive('\n') {
        let mark = line.trim_end().strip_prefix('<');
        let mark = mark.and_then(|mark| mark.strip_suffix('>')).unwrap_or("");
        let closes = !tag.is_empty() && mark.strip_prefix('/') == Some(tag);
        if closes || (tag.is_empty() && !mark.is_empty() && !mark.starts_with('/')) {
            let value = text.strip_suffix('\n').unwrap_or(&text);
            found.push((tag.to_owned(), value.to_owned()));
            text.clear();
            (tag, opening) = if closes { ("", "") } else { (mark, line) };
        } else {
            text.push_str(line);
        }
    }
    // A block that is never closed is plain text, with the opening line.
    found.push((String::new(), format!("{opening}{text}")));
    found.retain(|(tag, text)| !tag.is_empty() || !text.trim().is_empty());
    found
}

/// Splits `text` into the pieces of a stream: words with the white space before them, without a loss.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut chars = rest.char_indices().skip_while(|(_, c)| c.is_whitespace());
        let end = chars.find(|(_, c)| c.is_whitespace());
        let (piece, tail) = rest.split_at_checked(end.map_or(rest.len(), |(at, _)| at))?;
        rest = tail;
        (!piece.is_empty()).then_some(piece)
    })
}

/// Key phrases by RAKE: runs of content words, scored by the lengths of the runs in which the words occur.
fn key_phrases(text: &str, limit: usize) -> Option<String> {
    let phrases = phrases(text);
    let mut tallies = BTreeMap::<String, (usize, usize)>::new();
    for phrase in &phrases {
        for word in phrase {
            let tally = tallies.entry(key(word)).or_default();
            *tally = (tally.0 + phrase.len(), tally.1 + 1);
        }
    }
    let mut seen = BTreeSet::new();
    let mut ranked = Vec::new();
    for phrase in phrases {
        let known = phrase.iter().filter_map(|word| tallies.get(&key(word)));
        // Scores are in thousandths, because floats are not `Ord`.
        let score: usize = known.map(|(degree, count)| degree * 1000 / count).sum();
        if seen.insert(phrase.join(" ").to_lowercase()) {
            ranked.push((score, phrase.join(" ")));
        }
    }
    // The sort is stable, so of equal scores the earlier phrase is the first.
    ranked.sort_by(|(a, _), (b, _)| b.cmp(a));
    let best = ranked.into_iter().take(limit).map(|(_, phrase)| phrase);
    best.reduce(|a, b| format!("{a}, {b}"))
}

/// Runs of content words, cut to three words at most; punctuation ends a run.
fn phrases(text: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    for fragment in text.split(|c| c != ' ' && !is_word_char(c)) {
        let words: Vec<&str> = fragment.split(' ').map(trimmed).collect();
        for run in words.split(|word| is_stop_word(word)) {
            found.extend(run.chunks(3).map(<[_]>::to_vec));
        }
    }
    found
}

fn summary(earlier: &str, current: &str) -> Option<String> {
    let all = format!("{earlier}\n{current}");
    let weighed = weighed(&all);
    let mut chosen = BTreeMap::new();
    let mut covered = BTreeSet::new();
    // The first sentence is always from the current message, which is short beside a long past.
    for skipped in [split_sentences(earlier).len(), 0, 0] {
        let candidates = weighed.iter().enumerate().skip(skipped).collect();
        let next = best(candidates, |(_, (sentence, weight))| {
            let words: BTreeSet<String> = content_words(sentence).collect();
            weight * words.difference(&covered).count() / words.len().max(1)
        });
        if let Some((at, (sentence, _))) = next {
            chosen.insert(at, closed(sentence));
            covered.extend(content_words(sentence));
        }
    }
    chosen.into_values().reduce(|a, b| format!("{a} {b}"))
}

fn critique(current: &str) -> Option<String> {
    let (claim, _) = best(weighed(current), |(sentence, weight)| {
        let keys = words(sentence).map(key);
        (keys.filter(|word| CLAIM_WORDS.split(' ').any(|claim| claim == word)).count(), *weight)
    })?;
    Some(format!("Which evidence supports this: {}?", quoted(claim)))
}

fn reply(latest: Option<&str>, current: &str, past: &str) -> Option<String> {
    let (sentence, _) = best(weighed(latest?), |(_, weight)| *weight)?;
    let mut reply = format!("You said: {}.", quoted(sentence));
    if let Some(points) = key_phrases(current, 3) {
        reply = format!("{reply} Key points: {points}.");
    }
    let topic: BTreeSet<String> = content_words(current).collect();
    let earlier = best(split_sentences(past), |sentence| {
        content_words(sentence).filter(|word| topic.contains(word)).count()
    });
    if let Some(earlier) = earlier {
        reply = format!("{reply} Earlier: {}.", quoted(earlier));
    }
    Some(reply)
}

/// The sentences, each with a weight: the frequency of the words, damped by the length, never zero.
fn weighed(text: &str) -> Vec<(&str, usize)> {
    let mut counts = BTreeMap::<String, usize>::new();
    for word in content_words(text) {
        *counts.entry(word).or_default() += 1;
    }
    let weighed = split_sentences(text).into_iter().map(|sentence| {
        let words: BTreeSet<String> = content_words(sentence).collect();
        let sum: usize = words.iter().filter_map(|word| counts.get(word)).sum();
        // The sum is divided by the root of the length: a sum prefers long sentences, an average short ones.
        (sentence, (1 + sum) * 10_000 / (words.len().max(1) * 10_000).isqrt())
    });
    weighed.collect()
}

/// The first item with the highest score, if any score is above zero.
fn best<T, S: Ord + Default>(items: Vec<T>, score: impl Fn(&T) -> S) -> Option<T> {
    // `max_by_key` returns the last maximum, which is the first maximum in reverse.
    let first_best = items.into_iter().rev().max_by_key(&score);
    first_best.filter(|item| score(item) > S::default())
}

fn split_sentences(text: &str) -> Vec<&str> {
    const ABBREVIATIONS: [&str; 6] = ["Dr.", "Mr.", "Mrs.", "Ms.", "e.g.", "i.e."];
    let mut found = Vec::new();
    let mut start = 0;
    let mut last = ' ';
    for (at, c) in text.char_indices() {
        let so_far = text.get(start..at).unwrap_or_default();
        let is_short = ABBREVIATIONS.iter().any(|short| so_far.ends_with(short));
        let is_closing = "\"')]”’»」".contains(c);
        let is_spaced = ".!?".contains(last) && c.is_whitespace() && !is_short;
        // No white space follows `。！？`. White space must follow `.`, which may also be inside a number.
        if c == '\n' || is_spaced || ("。！？".contains(last) && !is_closing) {
            found.push(so_far);
            start = at;
        }
        // A closing quote belongs to the sentence before.
        last = if is_closing { last } else { c };
    }
    found.push(text.get(start..).unwrap_or_default());
    let bare = found.into_iter().map(|s| s.trim().trim_start_matches("- "));
    bare.filter(|s| words(s).next().is_some()).collect()
}

/// The texts that contain a word, without [`NOTHING`].
fn speaking<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // This model's replies may be the input of another column, and `NOTHING` is no text to quote.
    let texts = texts.into_iter().filter(|text| text.trim() != NOTHING && words(text).next().is_some());
    texts.collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c| !is_word_char(c)).map(trimmed);
    words.filter(|word| !word.is_empty())
}

fn content_words(text: &str) -> impl Iterator<Item = String> {
    words(text).filter(|word| !is_stop_word(word)).map(key)
}

fn is_word_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '\'' | '’' | '_' | '-' | '\u{300}'..='\u{36f}')
}

fn trimmed(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

/// The key under which a word is counted: in lower case, without endings such as `'s` and `'ve`.
fn key(word: &str) -> String {
    let stem = word.split(['\'', '’']).next();
    stem.unwrap_or(word).to_lowercase()
}

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&key(word).as_str()).is_ok()
}

fn quoted(sentence: &str) -> String {
    format!("\"{}\"", sentence.trim_end_matches('.').replace('"', "'"))
}

fn closed(sentence: &str) -> String {
    let is_open = sentence.ends_with(char::is_alphanumeric);
    format!("{sentence}{}", if is_open { "." } else { "" })
}

/// Words that hedge a claim or make it absolute.
const CLAIM_WORDS: &str = "absolutely all always because believe certainly clearly definitely every \
    everyone guess maybe must never nobody none obviously only perhaps probably should surely think";

/// Words without content, sorted. Contractions end at the apostrophe, and the empty word stands for lone punctuation.
static STOP_WORDS: &[&str] = &[
    "", "a", "about", "after", "again", "also", "am", "an", "and", "any", "are", "as", "at", "be", "because",
    "been", "before", "being", "but", "by", "can", "could", "did", "didn", "do", "does", "doesn", "doing",
    "don", "each", "even", "for", "from", "get", "had", "has", "have", "having", "he", "her", "here", "him",
    "his", "how", "i", "if", "in", "into", "is", "isn", "it", "its", "just", "let", "like", "may", "me",
    "might", "more", "most", "much", "must", "my", "no", "not", "now", "of", "off", "on", "once", "one",
    "only", "or", "other", "our", "out", "over", "own", "please", "rather", "really", "she", "should", "so",
    "some", "still", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "think", "this", "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "wasn",
    "we", "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "won", "would",
    "you", "your",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "I think we should rewrite the backend in Rust because Python is slow. \
        Memory safety matters to us.";
    const ODD: [&str; 4] = ["👩‍👧 é. e\u{301}!", "我们重写。为什么？", "…\"'. -<", "İ'ß"];

    fn ask(instruction: &str, past: &str, text: &str) -> String {
        let current = [("user".to_owned(), text.to_owned())];
        answer(instruction, &current, &[past.into()], Some("Rust wins."))
    }

    #[test]
    fn topics_are_the_best_key_phrases_in_their_own_casing() {
        let got = ask("Answer with key phrases, comma-separated", "", TEXT);
        assert_eq!(got, "Memory safety matters, rewrite, backend, Rust, Python");
    }

    #[test]
    fn summary_keeps_order_skips_repeats_and_includes_the_current_text() {
        let past = "Rust wins. Rust wins\nRust helps memory safety";
        let summary = ask("Keep a running summary", past, "Lunch?");
        assert_eq!(summary, "Rust wins. Rust helps memory safety. Lunch?");
    }

    #[test]
    fn critique_questions_the_boldest_sentence_else_the_most_central() {
        assert!(ask("Find weak reasoning", "", TEXT).contains("this: \"I think we"));
        let plain = ask("Raise an objection", "", "Hi. Meet \"Dr. Who\".");
        assert_eq!(plain, "Which evidence supports this: \"Meet 'Dr. Who'\"?");
    }

    #[test]
    fn reply_quotes_the_latest_text_and_recalls_a_related_earlier_one() {
        let task = "Given a running summary, answer the question.";
        let reply = ask(task, "I like tea. Python crashed.", "Is Python slow?");
        let start = "You said: \"Is Python slow?\". Key points: Python slow.";
        assert_eq!(reply, format!("{start} Earlier: \"Python crashed\"."));
    }

    #[test]
    fn answers_repeat_and_use_only_words_of_the_input() {
        let fixed = "which evidence supports this you said key points earlier nothing extract";
        let known = format!("{fixed} {TEXT} {} Rust wins.", ODD.concat()).to_lowercase();
        for task in ["Topics", "Summarise", "Criticise", "Chat"] {
            assert_eq!(answer(task, &sections("?! 🚀"), &[], None), NOTHING);
            for text in ODD.iter().chain([&TEXT]) {
                let reply = ask(task, TEXT, text);
                assert_eq!(reply, ask(task, TEXT, text));
                assert!(content_words(&reply).all(|word| known.contains(&word)));
            }
        }
    }

    #[test]
    fn pieces_join_to_the_text() {
        for text in ODD.iter().chain(&["", " a  b\u{3000}c\n", TEXT]) {
            assert_eq!(pieces(text).collect::<String>(), **text);
        }
        assert!(pieces(" a  b\n").eq([" a", "  b", "\n"]));
    }

    #[test]
    fn sections_keep_nested_blocks_and_return_other_text_untagged() {
        let found = sections("é\n</a>\n<a>\n<b>\nx\n</b>\n</a>\n\n<c>\n\n</c>\n<>\n<d>\ny");
        let pairs = found.iter().map(|(t, v)| (t.as_str(), v.as_str()));
        let nested = ("a", "<b>\nx\n</b>");
        let unclosed = ("", "<d>\ny");
        assert!(pairs.eq([("", "é\n</a>"), nested, ("c", ""), ("", "<>"), unclosed]));
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
