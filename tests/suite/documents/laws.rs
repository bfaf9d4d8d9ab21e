//! Laws of updates and sets, on random documents.

use std::collections::BTreeMap;

use columnar::documents::{Documents, Key, Kind, Update, UpdateFault, urls};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A failure becomes a test with a name, not a seed in a file.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

/// Spellings of the text form, which are in paths and texts, too.
const PIECES: [&str; 16] = [
    "No document changed.",
    "# Files\n\n",
    "# Symbols\n\n",
    "# References\n\n",
    "# Removed\n\n",
    "a: cluster 1, 2 references",
    "file a",
    "\n\n",
    "\n",
    "\r\n",
    "é",
    "a",
    "https://a",
    "`",
    "```",
    "```\n",
];

/// A character that is in the texts of documents and nowhere else.
const MARK: char = '§';

fn texts() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![select(&PIECES[..]).prop_map(str::to_owned), any::<char>().prop_map(String::from)];
    vec(piece, 0..6).prop_map(|pieces| pieces.join(&MARK.to_string()))
}

fn paths() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        3 => "[a-c]",
        1 => "[ -~]{1,3}",
        1 => select(&PIECES[..]).prop_map(str::to_owned),
    ];
    vec(piece, 1..4).prop_map(|pieces| pieces.concat().replace(['\n', '\r'], "/"))
}

/// One call of an update.
#[derive(Clone, Debug)]
enum Call {
    Put(Key, String, Option<(u32, u32)>),
    Remove(Key),
    Tree(String),
    Legend(String),
}

fn calls() -> impl Strategy<Value = Call> {
    let kinds = || select(vec![Kind::Symbol, Kind::File]);
    let keys = || {
        (kinds(), paths())
            .prop_filter_map("a path is checked elsewhere", |(kind, path)| Key::new(kind, &path).ok())
    };
    prop_oneof![
        6 => (keys(), texts(), any::<Option<(u32, u32)>>()).prop_map(|(key, text, cluster)| Call::Put(key, text, cluster)),
        2 => keys().prop_map(Call::Remove),
        1 => ("https://[a-e]", texts()).prop_map(|(url, text)| Call::Put(Key::new(Kind::Url, &url).unwrap(), text, None)),
        1 => texts().prop_map(Call::Tree),
        1 => texts().prop_map(Call::Legend),
    ]
}

/// Calls without a fault of their own.
fn valid(calls: Vec<Call>) -> Vec<Call> {
    let mut seen = Vec::new();
    let mut pages = 0;
    let mut is_new = |name: String| !seen.contains(&name) && (seen.push(name), true).1;
    calls
        .into_iter()
        .filter(|call| match call {
            Call::Put(key, ..) | Call::Remove(key) => {
                pages += usize::from(key.kind() == Kind::Url);
                (key.kind() != Kind::Url || pages <= 3) && is_new(key.to_string())
            }
            Call::Tree(_) => is_new("tree".to_owned()),
            Call::Legend(_) => is_new("legend".to_owned()),
        })
        .collect()
}

fn update<'c>(calls: impl IntoIterator<Item = &'c Call>) -> Update {
    calls.into_iter().fold(Update::new(), |update, call| match call {
        Call::Put(key, text, cluster) => {
            let put = match key.kind() {
                Kind::Symbol => update.symbol(key.path(), text),
                Kind::File => update.file(key.path(), text),
                _ => update.url(key.path(), text),
            };
            match cluster.filter(|_| key.kind() == Kind::Symbol) {
                Some((id, references)) => put.cluster(id, references),
                None => put,
            }
        }
        Call::Remove(key) => update.remove(key.kind(), key.path()),
        Call::Tree(text) => update.tree(text),
        Call::Legend(text) => update.legend(text),
    })
}

/// The character boundary at an index of a text.
fn boundary(text: &str, index: Index) -> usize {
    let mut at = index.index(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// A text that can be read is the text of its update. An error has a position in the text, and nothing of it.
fn check_text(text: &str) -> Result<(), TestCaseError> {
    match Update::parse(text) {
        Ok(update) => prop_assert_eq!(update.to_text().unwrap(), text),
        Err(error) => {
            let message = error.to_string();
            prop_assert!(!message.contains(MARK), "{}", message);
            let [UpdateFault::Text { at, .. }] = error.faults() else { panic!("{error:?}") };
            prop_assert!(*at == 0 || text[..*at].ends_with('\n'), "{}", message);
        }
    }
    Ok(())
}

/// Every text with one character less, more or another one.
#[test]
fn one_wrong_character_is_an_error_or_another_update() {
    let update = Update::new()
        .legend("")
        .tree("a\n")
        .symbol("# Files", "```")
        .cluster(1, 1)
        .symbol("b", "``\n")
        .cluster(10, 22)
        .file("a", "# Files\n\nb\n````\n\n````")
        .file("b", "")
        .url("https://a", "1\n\n1")
        .remove(Kind::Symbol, "a")
        .remove(Kind::File, "d");
    let text = String::from(update.to_text().unwrap());
    assert!(text.is_ascii());
    let (mut read, mut refused) = (0, 0);
    for at in 0..=text.len() {
        let (before, after) = text.split_at(at);
        let rest = after.get(1..);
        let others = "`\n\r #01ab:/,é".chars();
        let inserted = others.clone().map(|c| format!("{before}{c}{after}"));
        let exchanged = others.filter_map(|c| Some(format!("{before}{c}{}", rest?)));
        let deleted = rest.map(|rest| format!("{before}{rest}"));
        for changed in inserted.chain(exchanged).chain(deleted) {
            check_text(&changed).unwrap();
            let other = Update::parse(changed.as_str());
            assert!(changed == text || other.as_ref() != Ok(&update), "two texts of one update: {changed:?}");
            *if other.is_ok() { &mut read } else { &mut refused } += 1;
        }
        check_text(before).unwrap();
    }
    assert!(read > 500 && refused > 5_000, "{read} {refused}");
}

/// Every short sequence of the signs of the form, so not only those that chance finds.
#[test]
fn every_short_text_is_an_error_or_the_text_of_its_update() {
    const SIGNS: [&str; 6] = ["a", "\n", "```", "`", "# Files", "# Removed"];
    let mut read = 0;
    for start in ["", "# Legend\n\n```\n", "# Files\n\n# Files\n```\n"] {
        for number in 0..7_usize.pow(6) {
            let signs = (0..6).filter_map(|at| SIGNS.get(number / 7_usize.pow(at) % 7));
            let text = signs.fold(start.to_owned(), |text, sign| text + sign);
            check_text(&text).unwrap();
            read += usize::from(Update::parse(text).is_ok());
        }
    }
    assert!(read > 100, "{read}");
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn an_update_can_be_read_back(calls in vec(calls(), 0..12)) {
        let calls = valid(calls);
        let update = update(&calls);
        let text = update.to_text().unwrap();
        prop_assert_eq!(&Update::parse(text.clone()).unwrap(), &update);
        prop_assert_eq!(self::update(calls.iter().rev()).to_text().unwrap(), text);
    }

    #[test]
    fn a_changed_text_is_an_error_or_another_update(
        calls in vec(calls(), 0..6),
        from in any::<Index>(),
        length in prop_oneof![Just(0), Just(1), 0_usize..20],
        by in prop_oneof![Just(String::new()), "[0-9]", select(&PIECES[..]).prop_map(str::to_owned), any::<char>().prop_map(String::from)],
        end in any::<bool>(),
    ) {
        let mut text = String::from(update(&valid(calls)).to_text().unwrap());
        let start = boundary(&text, from);
        let mut stop = (start + length).min(text.len());
        while !text.is_char_boundary(stop) {
            stop += 1;
        }
        text.replace_range(start..if end { text.len() } else { stop }, &by);
        check_text(&text)?;
    }

    #[test]
    fn any_text_is_an_error_or_an_update(pieces in vec(select(&PIECES[..]), 0..12), any in any::<String>()) {
        check_text(&any)?;
        check_text(&format!("# Files\n\n{any}"))?;
        check_text(&pieces.concat())?;
        check_text(&format!("# Files\n\n{}", pieces.concat()))?;
    }

    /// A map that is copied at each step.
    #[test]
    fn a_set_equals_a_map_that_is_copied(steps in vec(vec(calls(), 0..8), 1..8)) {
        let mut past: Vec<(Documents, BTreeMap<String, String>)> = vec![Default::default()];
        for calls in steps {
            let (documents, map) = past.last().unwrap();
            let calls = valid(calls).into_iter();
            let calls: Vec<Call> = calls.filter(|call| match call {
                Call::Remove(key) => map.contains_key(&key.to_string()),
                _ => true,
            }).collect();
            let mut map = map.clone();
            map.retain(|key, _| !key.starts_with("url:"));
            let (mut added, mut changed, mut removed) = (Vec::new(), Vec::new(), Vec::new());
            for call in &calls {
                match call {
                    Call::Put(key, text, _) => {
                        let before = map.insert(key.to_string(), text.clone());
                        match before {
                            _ if key.kind() == Kind::Url => {}
                            None => added.push(key.clone()),
                            Some(before) if before != *text => changed.push(key.clone()),
                            Some(_) => {}
                        }
                    }
                    Call::Remove(key) => {
                        map.remove(&key.to_string());
                        removed.push(key.clone());
                    }
                    Call::Tree(_) | Call::Legend(_) => {}
                }
            }
            [&mut added, &mut changed, &mut removed].into_iter().for_each(|keys| keys.sort());
            let stored = Update::parse(update(&calls).to_text().unwrap()).unwrap();
            let (next, changes) = documents.apply(&stored).unwrap();
            prop_assert_eq!((changes.added(), changes.changed(), changes.removed()), (&added[..], &changed[..], &removed[..]));
            prop_assert_eq!(next.apply(&stored).is_ok(), removed.is_empty());
            past.push((next, map));
        }
        // Also the earlier sets, which share their parts with the later ones.
        for (documents, map) in &past {
            let entries: Vec<_> = documents.iter().map(|(key, text)| (key.to_string(), text.to_string())).collect();
            prop_assert_eq!(&entries.iter().cloned().collect::<BTreeMap<_, _>>(), map);
            prop_assert_eq!(documents.len(), map.len());
            prop_assert!(documents.iter().map(|(key, _)| key).is_sorted());
            for (key, text) in documents.iter() {
                prop_assert_eq!(documents.get(key), Some(text));
                let is_hidden = key.kind() == Kind::Symbol && map.contains_key(&format!("file:{}", key.path()));
                prop_assert_eq!(documents.is_shown(key), !is_hidden);
            }
        }
    }

    #[test]
    fn a_normal_path_stays_as_it_is(path in any::<String>(), kind in select(vec![Kind::Symbol, Kind::File, Kind::Url])) {
        for path in [path.clone(), format!("https://{path}")] {
            if let Ok(key) = Key::new(kind, &path) {
                prop_assert_eq!(Key::new(kind, key.path()).unwrap(), key.clone());
                prop_assert!(!key.path().contains(char::is_control));
            }
        }
    }

    #[test]
    fn urls_are_keys_and_parts_of_their_text(pieces in vec(prop_oneof![
        select(vec!["https://", "http://a", ")", "(", "]", ".", " ", "é", "。", "://", "a"]).prop_map(str::to_owned),
        any::<char>().prop_map(String::from),
    ], 0..20)) {
        let text = pieces.concat();
        let found = urls(&text);
        prop_assert!(found.len() <= 3);
        for (at, url) in found.iter().enumerate() {
            prop_assert!(text.contains(url) && Key::new(Kind::Url, url).is_ok());
            prop_assert!(!found[..at].contains(url));
            prop_assert_eq!(urls(url), [*url]);
        }
    }
}
