//! Flows in a terminal. The ruler of the lines is the width of each as a whole, by the crate unicode-width.

use std::io::Write;

use columnar::Name;
use columnar::flow::LiveFlow;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::terminal::{ValueStream, WrapWriter, printable};
use columnar::testing::script;
use columnar_tests::live::block_on;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use unicode_width::UnicodeWidthStr;

/// Pieces of texts: words, wide characters, emoji of several characters, combining marks, text from right to left, characters
/// of scripts that join, characters that control a terminal, and joiners and selectors alone.
#[rustfmt::skip]
const PIECES: [&str; 36] = [
    "word", "a", " ", "  ", "\n", "\t", "\r\n", "https://example.org/a/long/address", "-", "│", "…",
    "漢字", "我们重写后端", "テスト", "한글", "\u{1112}\u{1161}\u{11ab}", "ＡＢ", "👩\u{200d}🚀",
    "👨\u{200d}👩\u{200d}👧\u{200d}👦", "🇩🇪", "☂\u{fe0f}", "1\u{fe0f}\u{20e3}", "🧑🏽", "e\u{301}", "o\u{300}\u{301}\u{302}",
    "שלום", "سلام", "لا", "हिन्दी", "क्ष", "\u{1b}[2J\u{1b}]0;title\u{7}", "\u{202e}txt", "\u{9b}31m", "\0", "\u{200d}",
    "\u{fe0f}",
];

/// The number of the last pieces that are joiners and selectors alone.
const ODD: usize = 2;

fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 256, ..ProptestConfig::default() }
}

fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![9 => select(PIECES.as_slice()).prop_map(ToOwned::to_owned), 1 => "\\PC{0,3}"];
    vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// Texts without joiners and selectors at odd places, about whose widths rulers differ.
fn usual_texts() -> impl Strategy<Value = String> {
    let usual = &PIECES[..PIECES.len() - ODD];
    vec(select(usual), 0..12).prop_map(|pieces| pieces.concat())
}

/// Whether a text could control a terminal.
fn is_hostile(text: &str) -> bool {
    text.contains(|c: char| {
        c != '\n' && c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })
}

/// A flow of sources alone. There is no flow without a source.
async fn sources(count: usize, rows: &[Vec<String>]) -> Result<Flow> {
    let names: Vec<String> = (0..count).map(|column| format!("source_{column}")).collect();
    let flow = flow(names.iter().map(source).collect::<Vec<_>>())?;
    for row in rows {
        for (name, text) in names.iter().zip(row) {
            flow.push(name, text.as_str()).await?;
        }
    }
    Ok(flow)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn no_line_of_a_table_is_wider_than_the_width(
        columns in 1..=6_usize,
        texts in vec(vec(texts(), 6), 0..4),
        width in 0..100_usize,
    ) {
        let rows: Vec<Vec<String>> = texts.into_iter().map(|row| row[..columns].to_vec()).collect();
        let flow = block_on(sources(columns, &rows)).unwrap();
        let table = flow.table().width(width).to_string();
        prop_assert_eq!(table.lines().count(), 2 + rows.len());
        for line in table.lines() {
            prop_assert!(line.width() <= width.max(1), "{} columns: {line:?}", line.width());
        }
        prop_assert!(!is_hostile(&table), "{table:?}");
        prop_assert_eq!(flow.table().width(width).to_string(), table);
    }

    /// A terminal shows the two letters of `لا` one beside the other, and the ruler of the tests counts them as one.
    #[test]
    fn the_columns_of_a_table_are_below_each_other(texts in vec(vec(usual_texts(), 3), 1..4), width in 40..100_usize) {
        let rows: Vec<Vec<String>> =
            texts.iter().map(|row| row.iter().map(|text| text.replace(['│', 'ل', 'ا'], "")).collect()).collect();
        let table = block_on(sources(3, &rows)).unwrap().table().width(width).to_string();
        let places = table.lines().map(|line| {
            let bars = line.match_indices(['│', '┼']).map(|(at, _)| line[..at].width());
            bars.collect::<Vec<_>>()
        });
        let places: Vec<_> = places.collect();
        prop_assert!(places.windows(2).all(|pair| pair[0] == pair[1]), "{table}\n{places:?}");
    }

    #[test]
    fn no_written_line_is_wider_than_the_width(text in texts(), width in 1..60_usize, indent in 0..6_usize) {
        let text = printable(text);
        let written = written(&[&text], width, indent);
        for line in written.lines() {
            // A character that is wider than the line is alone there, and none is wider than this.
            prop_assert!(line.width() <= width.max(4), "{} columns: {line:?}", line.width());
        }
        let without_spaces = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(without_spaces(&written), without_spaces(&text));
        for word in text.split([' ', '\t', '\n']) {
            // A selector makes the character before it wide, and a joiner makes one of several.
            let columns = word.chars().map(|c| c.to_string().width()).sum::<usize>().max(word.width());
            let fits = columns + indent <= width;
            let is_whole = word.is_empty() || written.lines().any(|line| line.contains(word));
            prop_assert!(is_whole || !fits, "{word:?} is broken in {written:?}");
        }
    }

    #[test]
    fn pieces_make_the_same_lines_as_the_whole(pieces in vec(texts(), 0..5), width in 1..60_usize, indent in 0..6_usize) {
        let pieces: Vec<String> = pieces.iter().map(printable).collect();
        let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
        prop_assert_eq!(written(&pieces, width, indent), written(&[&pieces.concat()], width, indent));
    }
}

/// The text that a writer makes of pieces.
fn written(pieces: &[&str], width: usize, indent: usize) -> String {
    let mut bytes = Vec::new();
    let mut out = WrapWriter::new(&mut bytes, Some(width)).indent(indent);
    for piece in pieces {
        write!(out, "{piece}").unwrap();
    }
    drop(out);
    String::from_utf8(bytes).unwrap()
}

/// A reply or a file could clear the screen, rename the window or hide a line: all characters were printed unchanged.
#[test]
fn x6_a_text_cannot_control_the_terminal() {
    for (text, shown) in [
        ("one\n\ttwo, äöü 漢字 👩\u{200d}🚀", "one\n\ttwo, äöü 漢字 👩\u{200d}🚀"),
        ("\u{1b}[2J\u{1b}]0;title\u{7}", "\\u{1b}[2J\\u{1b}]0;title\\u{7}"),
        ("paid\rfree\r\n", "paid\\u{d}free\n"),
        ("\u{9b}31m \u{202e}txt\u{2066}.\u{200b}\u{8}", "\\u{9b}31m \\u{202e}txt\\u{2066}.\\u{200b}\\u{8}"),
    ] {
        assert_eq!(printable(text), shown);
    }
}

/// A table at a width, whose lines begin where the lines of the test do.
fn table<C, I>(flow: &LiveFlow<'_, C, I>, width: usize) -> String {
    format!("\n{}\n", flow.table().width(width))
}

const ANSWERS: [&str; 4] = ["我们重写后端。", "é e\u{301} 👩\u{200d}🚀 🇩🇪 and more", "سلام", "\u{1b}[2J"];

#[test]
fn a_table_of_many_scripts() -> Result<()> {
    flow! {
        struct Chat {
            source user;
            column answer(user, self) = script(ANSWERS);
        }
    }
    let chat = Chat::new();
    block_on(async {
        for text in ["Hello,\n\tworld!", "漢字テスト한글漢字テスト한글", "שלום עולם", ""]
        {
            chat.user.push(text).await?;
        }
        chat.run().await
    })?;
    // A mark of direction keeps two texts from right to left in their columns.
    let expected = "
step │ user          │ answer
─────┼───────────────┼──────────────
   0 │ Hello, world! │ 我们重写后端…
   1 │ 漢字テスト한… │ é e\u{301} 👩\u{200d}🚀 🇩🇪 an…
   2 │ שלום עולם\u{200e}     │ سلام\u{200e}
   3 │               │ \\u{1b}[2J
";
    assert_eq!(table(&chat, 36), expected);
    let narrow =
        ["step │ user │ answ…\n─────┼──────┼──────\n   3 │      │ \\u{1…", "ste…\n───…\n   …", "…\n…\n…"];
    for (width, expected) in [19, 4, 1].into_iter().zip(narrow) {
        assert_eq!(chat.table().steps(3..).width(width).to_string(), expected);
    }
    assert_eq!(chat.table().steps(..0).to_string().lines().count(), 2);
    Ok(())
}

#[tokio::test]
async fn a_cell_without_a_value_has_a_word_for_its_state() -> Result<()> {
    let user = source("user");
    let fails = |cx: Context| async move { if cx.step() == 0 { Err("no answer") } else { Ok("yes") } };
    let often = column("often", user.latest(), fails.every(2));
    let waits = column("waits", user.latest(), fails.or_wait());
    let later = column("later", waits.latest(), fails);
    let f = flow([often, waits, later])?;
    f.push("user", "one").await?;
    f.run().await?;
    f.push("user", "two").await?;
    let mut run = f.run();
    assert!(run.try_next().await?.is_some());
    let expected = "
step │ user │ often     │ waits     │ later
─────┼──────┼───────────┼───────────┼──────────
   0 │ one  │ (skipped) │ (failed)  │ (waiting)
   1 │ two  │ (running) │ (running) │ (waiting)
";
    assert_eq!(table(&f, 80), expected);
    Ok(())
}

#[tokio::test]
async fn a_cell_that_is_not_in_memory_has_a_word_for_it() -> Result<()> {
    let store = MemoryStore::new();
    let often = column("often", source("user").latest(), (|_: Context| async { "yes" }).every(2));
    let f = Flow::open(store.clone(), [&often]).await?;
    for text in ["one", "two", "three"] {
        f.push("user", text).await?;
    }
    f.run().await?;
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(1), [&often]).await?;
    let expected = "
step │ user         │ often
─────┼──────────────┼─────────────
   0 │ (not loaded) │ (not loaded)
   1 │ two          │ (not loaded)
   2 │ three        │ (skipped)
";
    assert_eq!(table(&f, 80), expected);
    Ok(())
}

#[test]
fn colours_take_no_room() {
    let text = "\u{1b}[36mone\u{1b}[0m two three";
    assert_eq!(written(&[text], 8, 0), "\u{1b}[36mone\u{1b}[0m two\nthree");
    let long = "\u{1b}[36mhttps://example.org\u{1b}[0m";
    assert_eq!(written(&[long], 8, 0), "\u{1b}[36mhttps://\nexample.\norg\u{1b}[0m");
}

/// Shows events, and returns the output.
fn streamed(events: &[Event]) -> String {
    let mut bytes = Vec::new();
    let mut out = WrapWriter::new(&mut bytes, Some(32));
    let mut values = ValueStream::new();
    for event in events {
        values.show(&mut out, event).unwrap();
    }
    drop(out);
    format!("\n{}", String::from_utf8(bytes).unwrap())
}

fn delta(column: &str, text: &str) -> Event {
    Event::Delta { column: Name::new(column).unwrap(), step: 0, text: text.to_owned() }
}

fn value(column: &str, value: &str) -> Event {
    Event::Value { column: Name::new(column).unwrap(), step: 0, value: value.into() }
}

#[test]
fn a_column_waits_for_the_line_before_it() {
    let events = [
        delta("topics", "tea, "),
        delta("summary", "They drink "),
        delta("topics", "coffee"),
        value("topics", "tea, coffee"),
        delta("summary", "tea."),
        value("summary", "They drink tea."),
    ];
    assert_eq!(streamed(&events[..2]), "\ntopics 0     │ tea, ");
    assert_eq!(streamed(&events[..4]), "\ntopics 0     │ tea, coffee\nsummary 0    │ They drink ");
    assert_eq!(streamed(&events), "\ntopics 0     │ tea, coffee\nsummary 0    │ They drink tea.\n");
}

#[test]
fn a_text_that_is_not_stored_is_taken_back_or_marked() {
    let column = |name| Name::new(name).unwrap();
    let error = || "no answer".to_owned();
    let events = [
        delta("first", "We sh"),
        Event::Retry { column: column("first"), step: 0, attempt: 1, error: error() },
        delta("second", "We sh"),
        Event::Retry { column: column("second"), step: 0, attempt: 1, error: error() },
        delta("first", "We should rewrite the backend"),
        value("first", "We should rewrite the backend"),
        value("second", "two\nlines\u{1b}"),
        Event::Failed { column: column("third"), step: 0, error: error() },
        Event::Skipped { column: column("fourth"), step: 0, reason: None },
    ];
    let expected = "
first 0      │ We sh … (not
             │ stored)
             │ We should rewrite
             │ the backend
second 0     │ two
             │ lines\\u{1b}
third 0      │ (failed: no
             │ answer)
fourth 0     │ (skipped)
";
    assert_eq!(streamed(&events), expected);
}
