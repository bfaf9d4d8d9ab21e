//! Exact counts of texts and of messages by their parts, and the error of estimates.

use columnar::prelude::*;
use columnar::tokens::{Counter, Estimate, Exact};
use columnar_tests::corpus::{Corpus, KINDS};
use columnar_tests::figures::ratio;
use proptest::collection::vec;
use proptest::prelude::*;

const TAGS: [&str; 3] = ["user", "digest", "long_tag_of_a_column"];

#[test]
fn exact_counts_are_those_that_openai_publishes() {
    // From the notebook on counting tokens in the OpenAI cookbook.
    let published =
        [("antidisestablishmentarianism", 6, 6), ("2 + 2 = 4", 7, 7), ("お誕生日おめでとう", 9, 8)];
    for (text, cl100k, o200k) in published {
        assert_eq!((Exact::cl100k().count(text), Exact::o200k().count(text)), (cl100k, o200k), "{text}");
    }
    assert_eq!(Exact::o200k().count(""), 0);
    assert!(Exact::o200k().count("<|endoftext|>") > 1, "a value is text, also if it spells a special token");
}

#[test]
fn a_tokenizer_is_found_by_the_name_of_its_model() {
    let name = |model| Exact::by_model(model).map(|exact| format!("{exact:?}"));
    for model in ["openai/gpt-4o-mini", "gpt-5", "openrouter/openai/gpt-4.1"] {
        assert_eq!(name(model).as_deref(), Some("Exact(\"o200k_base\")"), "{model}");
    }
    assert_eq!(name("openai/gpt-4-turbo").as_deref(), Some("Exact(\"cl100k_base\")"));
    for model in ["anthropic/claude-sonnet-4-5", "gemini/gemini-2.5-flash", "offline", ""] {
        assert_eq!(name(model), None, "{model}");
    }
}

/// One message with these values: its content and its parts.
async fn message(values: &[&str]) -> Result<(String, Vec<String>)> {
    let [one, two, three] = TAGS.map(source);
    let column = column("column", (&one, &two, &three), |_: Context| async { "" });
    let f = flow([column])?;
    for values in values.chunks_exact(3) {
        for (tag, value) in TAGS.into_iter().zip(values) {
            f.push(tag, *value).await?;
        }
    }
    let messages = f.messages("column", values.len() / 3 - 1)?;
    assert_eq!(messages.len(), 1);
    let parts = messages.parts().map(|part| part.text().into_owned()).collect();
    Ok((messages.last_text().into_owned(), parts))
}

/// The parts with the separator before all but the first, and without it.
fn sums(counter: &impl Counter, parts: &[String]) -> (usize, usize) {
    let apart = |part: &String| counter.count(part.strip_prefix("\n\n").unwrap_or(part));
    (parts.iter().map(|part| counter.count(part)).sum(), parts.iter().map(apart).sum())
}

/// The end of a tag and the following separator are one token.
#[tokio::test]
async fn parts_without_their_separators_add_up_to_the_message() -> Result<()> {
    let corpus = Corpus::new();
    for kind in KINDS {
        let texts: Vec<_> = corpus.texts(kind).take(60).collect();
        let texts = &texts[..texts.len() / 3 * 3];
        let (content, parts) = message(texts).await?;
        for exact in [Exact::o200k(), Exact::cl100k()] {
            let whole = exact.count(&content);
            assert_eq!(sums(&exact, &parts), (whole + parts.len() - 1, whole), "{kind} by {exact:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn parts_of_any_text_add_up_to_the_message(values in vec(any::<String>(), 3..10)) {
        let values: Vec<_> = values.chunks_exact(3).flatten().map(|value| &**value).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("it needs nothing");
        let (content, parts) = runtime.block_on(message(&values)).expect("nothing fails");
        let exact = Exact::o200k();
        let whole = exact.count(&content);
        prop_assert_eq!(sums(&exact, &parts), (whole + parts.len() - 1, whole));
        prop_assert!(whole <= content.len());
    }
}

/// The errors that the documentation of [`Estimate`] has, in percent: the bias, and the bound for 95 of 100 texts.
const ERRORS: [(&str, f64, f64); 16] = [
    ("prose", 17.0, 32.0),
    ("chat", -4.0, 22.0),
    ("latin", -1.0, 23.0),
    ("code", -15.0, 51.0),
    ("json", -44.0, 52.0),
    ("markup", 9.0, 71.0),
    ("digits", -51.0, 57.0),
    ("cjk", 0.0, 21.0),
    ("cyrillic", 57.0, 100.0),
    ("arabic", 33.0, 62.0),
    ("scripts", 38.0, 109.0),
    ("rare", -41.0, 54.0),
    ("letters", -51.0, 54.0),
    ("base64", -62.0, 65.0),
    ("hex", -57.0, 59.0),
    ("uuid", -57.0, 62.0),
];

#[test]
fn the_estimate_has_the_documented_error_for_every_kind_of_text() {
    let corpus = Corpus::new();
    for file in &corpus.missing {
        println!("MISSING {file}: run `cargo fetch`; its texts are not tested");
    }
    let exact = Exact::o200k();
    assert_eq!(ERRORS.map(|(kind, ..)| kind), KINDS);
    for (kind, bias, bound) in ERRORS {
        let texts: Vec<_> =
            corpus.texts(kind).map(|text| (Estimate.count(text), exact.count(text))).collect();
        let (estimated, counted) = texts.iter().fold((0, 0), |(a, b), (one, other)| (a + one, b + other));
        let found = 100.0 * (ratio(estimated, counted) - 1.0);
        assert!((found - bias).abs() < 5.0, "{kind}: a bias of {found:.0} %");
        let is_near =
            |(one, other): &&(usize, usize)| (ratio(*one, *other) - 1.0).abs() * 100.0 < bound + 1.0;
        let near = texts.iter().filter(is_near).count();
        assert!(near * 100 >= texts.len() * 95, "{kind}: {near} of {} are within {bound} %", texts.len());
    }
}
