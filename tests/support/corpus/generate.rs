//! Generated texts: logs, tables and other output of programs.

use std::fmt::Write as _;

use fastrand::Rng;

use super::{SAMPLE, Sample};

/// The number of samples of each kind.
const SAMPLES: usize = 60;

/// A generator of lines of one kind.
type Line = fn(&mut Rng) -> String;

const LINES: [(&str, Line); 16] = [
    ("markup", drawn),
    ("digits", table),
    ("digits", prices),
    ("digits", times),
    ("digits", digits),
    ("json", readings),
    ("json", records),
    ("base64", base64),
    ("base64", url_safe),
    ("hex", hex),
    ("uuid", uuid),
    ("uuid", identifiers),
    ("rare", rare),
    ("letters", genes),
    ("letters", passwords),
    ("rare", emoji),
];

/// Samples of all kinds.
pub(super) fn all() -> Vec<Sample> {
    let mut rng = Rng::with_seed(1);
    let lines = LINES.into_iter().flat_map(|line| [line; SAMPLES]);
    lines.map(|(kind, line)| Sample { kind, text: sample(&mut rng, line) }).collect()
}

fn sample(rng: &mut Rng, line: Line) -> String {
    let mut text = line(rng);
    while text.len() < SAMPLE {
        text.push('\n');
        text.push_str(&line(rng));
    }
    text
}

fn chars(rng: &mut Rng, alphabet: &str, count: usize) -> String {
    let alphabet: Vec<char> = alphabet.chars().collect();
    (0..count).filter_map(|_| rng.choice(&alphabet)).collect()
}

/// A line of a table, as programs draw tables.
fn drawn(rng: &mut Rng) -> String {
    let (corner, line) =
        *rng.choice(&[("┼", "─"), ("╪", "═"), ("+", "-"), ("|", "-")]).unwrap_or(&("+", "-"));
    let cells: Vec<_> = (0..5).map(|_| rng.usize(3..24)).collect();
    let rule = cells.iter().map(|width| line.repeat(*width)).collect::<Vec<_>>().join(corner);
    let row = cells.iter().map(|width| format!("{:>width$}", rng.u16(..))).collect::<Vec<_>>();
    format!("{rule}\n{}", row.join(if corner == "┼" { "│" } else { "|" }))
}

fn table(rng: &mut Rng) -> String {
    let cells: Vec<_> = (0..6).map(|_| format!("{:.2}", rng.f64() * 1000.0)).collect();
    cells.join(if rng.bool() { "," } else { "\t" })
}

fn prices(rng: &mut Rng) -> String {
    let (count, price) = (rng.u32(1..40), rng.u32(99..90_000));
    format!("{count} x {}.{:02} = ${}", price / 100, price % 100, count * price / 100)
}

fn times(rng: &mut Rng) -> String {
    let (month, day, hour, minute) = (rng.u8(1..13), rng.u8(1..29), rng.u8(0..24), rng.u8(0..60));
    format!("2026-{month:02}-{day:02}T{hour:02}:{minute:02}:{:06.3}Z {}", rng.f64() * 60.0, rng.u32(..))
}

fn digits(rng: &mut Rng) -> String {
    let count = rng.usize(8..60);
    chars(rng, "0123456789", count)
}

fn readings(rng: &mut Rng) -> String {
    let values: Vec<_> = (0..8).map(|_| format!("{:.4}", rng.f64() * 200.0 - 100.0)).collect();
    format!("{{\"sensor\":{},\"values\":[{}]}}", rng.u16(..), values.join(","))
}

fn records(rng: &mut Rng) -> String {
    const NAMES: [&str; 6] =
        ["Ada Lovelace", "Alan Turing", "Grace Hopper", "Kurt Gödel", "Emmy Noether", "Li Wei"];
    let name = rng.choice(NAMES).unwrap_or_default();
    let mut text =
        format!("{{\n  \"id\": {},\n  \"name\": \"{name}\",\n  \"active\": {},\n", rng.u16(..), rng.bool());
    let _ = write!(
        text,
        "  \"score\": {:.1},\n  \"tags\": [\"new\", \"team-{}\"]\n}}",
        rng.f64() * 10.0,
        rng.u8(..)
    );
    text
}

const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

fn base64(rng: &mut Rng) -> String {
    chars(rng, &format!("{BASE64}+/"), 76)
}

fn url_safe(rng: &mut Rng) -> String {
    format!("token={}", chars(rng, &format!("{BASE64}-_"), 43))
}

fn hex(rng: &mut Rng) -> String {
    let count = *rng.choice(&[8, 40, 64]).unwrap_or(&32);
    chars(rng, "0123456789abcdef", count)
}

fn uuid(rng: &mut Rng) -> String {
    let mut part = |count| chars(rng, "0123456789abcdef", count);
    [part(8), part(4), part(4), part(4), part(12)].join("-")
}

fn identifiers(rng: &mut Rng) -> String {
    format!("order {} of customer {}: shipped", uuid(rng), uuid(rng))
}

/// Sequences of letters that are no words.
fn genes(rng: &mut Rng) -> String {
    let (alphabet, count) = (*rng.choice(&["ACGT", "acgt"]).unwrap_or(&"ACGT"), rng.usize(40..120));
    chars(rng, alphabet, count)
}

fn passwords(rng: &mut Rng) -> String {
    let count = rng.usize(20..60);
    chars(rng, "abcdefghijklmnopqrstuvwxyz", count)
}

/// Letters of scripts that are rare in the training data of tokenizers.
fn rare(rng: &mut Rng) -> String {
    const ALPHABETS: [&str; 4] = [
        "აბგდევზთიკლმნოპრსტუფქღყშჩც",
        "աբգդեզէըթժիլխծկհձղճմյնշոչպ",
        "ሀለሐመሠረሰቀበተኀነአከወዐዘየደገጠጰጸ",
        "កខគឃងចឆជឈញដឋឌឍណតថទធន",
    ];
    let alphabet = rng.choice(ALPHABETS).unwrap_or_default();
    let mut words = Vec::new();
    for _ in 0..8 {
        let length = rng.usize(2..10);
        words.push(chars(rng, alphabet, length));
    }
    words.join(" ")
}

fn emoji(rng: &mut Rng) -> String {
    const WORDS: [&str; 8] = ["thanks", "so nice", "see you", "haha", "wow", "ok", "on my way", "love it"];
    let word = rng.choice(WORDS).unwrap_or_default();
    let count = rng.usize(1..4);
    format!("{word} {}", chars(rng, "😀😂🎉👍🙏🔥✅🚀🤔💡😅🥳📌🌍🍕🦀⚠❤", count))
}
