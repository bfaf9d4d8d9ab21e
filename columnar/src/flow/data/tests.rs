//! The mistakes of files, which people write who do not program.

use proptest::prelude::*;

use super::table::DataTable as _;
use super::*;

/// The mistakes of a file in TOML.
fn mistakes_in(file: &str) -> Vec<String> {
    let declaration = Declaration::read(file, toml::from_str).expect("it is TOML");
    mistakes_of(&declaration)
}

fn mistakes_of(declaration: &Declaration) -> Vec<String> {
    let steps = [("count", Step::new(crate::prompt("Count.")))];
    match crate::flow(declaration.to_columns(steps)) {
        Ok(_) => Vec::new(),
        Err(errors) => errors.to_string().lines().map(str::to_owned).collect(),
    }
}

/// A person was shown the first mistake alone, in words of Rust, and the rest one by one after each correction.
#[test]
fn i11_a_file_tells_all_of_its_mistakes_with_their_lines() {
    let file = r#"colour = "red"
sources = ["user", 3, { was = "said" }]
documents = "files"

[[columns]]
name = "topics"
views = ["usr.latest", 7]
promt = "List them."
retry = "three"
every = 0
rate = { per_minute = 0, per_hour = 6 }

[[columns]]
views = ["user"]
prompt = ["Answer."]
lenient = "yes"

[[columns]]
name = "egg"
views = ["hen.latest", "user.latest", "user.latest"]
prompt = " "
pace = 75
budget = { tokens = "many", strategy = "forget" }

[[columns]]
name = "hen"
views = ["egg"]
temperature = 9.5
prompt = "Answer."
retry = -1

[[columns]]
name = "late"
was = "egg"
views = ["user"]
step = "cuont"
timeout = "soon"
"#;
    assert_eq!(mistakes_in(file), EXPECTED.lines().collect::<Vec<_>>());
}

const EXPECTED: &str = r#"line 1, column 1: unknown key `colour`; possible are `sources`, `documents`, `columns`
line 2, column 1: entry 2 of `sources` is the number `3`: write a text, or a table with the keys `name`, `was`
line 2, column 25: the key `name` is missing
line 3, column 14: `documents` is the text `files`: write a list in which each entry is a text, or a table with the keys `name`, `was`
line 6, column 1: `topics` reads `usr`, but the flow has no such column: did you mean `user`?
line 7, column 1: entry 2 of `views` is the number `7`: write a text
line 8, column 1: unknown key `promt`; did you mean `prompt`?
line 9, column 10: `retry` is the text `three`: write a whole number, 0 or more
line 10, column 1: `topics` has a wrong `every`: it is a whole number above 0
line 11, column 10: `topics` has a wrong `per_minute`: it is a whole number above 0
line 11, column 26: unknown key `per_hour`; possible are `per_minute`, `per_second`, `tokens_per_minute`
line 14, column 1: the key `name` is missing
line 15, column 1: `prompt` is a list: write a text
line 16, column 12: `lenient` is the text `yes`: write `true` or `false`
line 19, column 1: two inputs of `egg` have the tag `user`: give one of them another tag, as in `.named("digest")`
line 21, column 1: `egg` has a wrong `prompt`: it is a text that is not blank
line 22, column 1: `pace` is the number `75`: write a table with the keys `every`, `think`
line 23, column 22: `tokens` is the text `many`: write a whole number, 0 or more
line 23, column 29: `egg` has a wrong `strategy`: it is `truncate_middle`, `rolling_window` or `stop_at_limit`
line 26, column 1: these columns wait for each other, so none of them can run first: `hen`, which `egg` reads, which `hen` reads
line 28, column 1: `hen` has a wrong `temperature`: it is a number from 0 to 2
line 30, column 1: `retry` is the number `-1`: write a whole number, 0 or more
line 33, column 1: `late` has the earlier name `egg`, which is the name or the earlier name of another column: correct or drop one of them, because the values stored under a name belong to one column
line 36, column 1: `late` has the compute step `cuont`, which the program does not have; did you mean `count`?
line 37, column 12: `timeout` is the text `soon`: write a number"#;

/// The same entries, without a text to find them in.
#[test]
fn a_value_of_serde_tells_all_of_its_mistakes_with_their_names() {
    let value = serde_json::json!({
        "sources": ["user", 3],
        "columns": [
            { "name": "a", "views": "user", "rate": { "per_hour": 60 }, "seed": -1.5 },
            { "retry": true, "stop": [null], "was": {} },
            "x",
        ],
    });
    let keys = crate::declare::error::list(ColumnDeclaration::KEYS);
    let errors = serde_json::from_value::<Declaration>(value).expect_err("it has mistakes").to_string();
    assert_eq!(errors.lines().collect::<Vec<_>>(), PATHS.replace("KEYS", &keys).lines().collect::<Vec<_>>());
}

const PATHS: &str = "\
entry 2 of `sources` is the number `3`: write a text, or a table with the keys `name`, `was`
`views` is the text `user`: write a list in which each entry is a text (entry 1 of `columns`)
unknown key `per_hour`; possible are `per_minute`, `per_second`, `tokens_per_minute` (`rate` of entry 1 of `columns`)
`seed` is the number `-1.5`: write a whole number, 0 or more (entry 1 of `columns`)
`retry` is `true`: write a whole number, 0 or more (entry 2 of `columns`)
entry 1 of `stop` is empty: write a text (entry 2 of `columns`)
`was` is a table: write a text (entry 2 of `columns`)
the key `name` is missing (entry 2 of `columns`)
entry 3 of `columns` is the text `x`: write a table with the keys KEYS";

/// A long line, escapes and letters of several bytes.
#[test]
fn json_has_positions_as_toml_has() {
    let file = "\u{feff}{\n  \"sources\": [\"user\"],\n  \"columns\": [{\"name\": \"é\", \"views\": [\"user\"], \"prompt\": \"é\", \
                \"retry\": \"x\"},\n {\"name\": \"b\", \"name\": \"c\", \"views\": null, \"n\\u00e9\": 1}]\n}";
    let declaration = Declaration::read(file, serde_json::from_str).expect("it is JSON");
    let keys = crate::declare::error::list(ColumnDeclaration::KEYS);
    assert_eq!(
        mistakes_of(&declaration),
        [
            // A key with an escape is not in the file as it is, and has the position of the list.
            &format!("line 3, column 4: unknown key `né`; possible are {keys}"),
            "line 3, column 17: `é` cannot be a name: use at most 64 lowercase letters, digits and `_`, beginning with a letter",
            "line 3, column 73: `retry` is the text `x`: write a whole number, 0 or more",
            "line 4, column 17: `name` is there twice: drop one of the two",
            "line 4, column 30: `views` is empty: write a list in which each entry is a text",
        ]
    );
    let error = Declaration::read("{\"sources\": [}", serde_json::from_str::<FileEntries<'_>>);
    assert_eq!(error.expect_err("it is no JSON").to_string(), "expected value at line 1 column 14");
    let list = Declaration::read("[]", serde_json::from_str).expect("it is JSON");
    assert_eq!(
        mistakes_of(&list),
        ["the file is a list: write a table with the keys `sources`, `documents`, `columns`"]
    );
}

#[test]
fn a_file_without_mistakes_is_the_value_that_serde_reads() {
    let file = r#"{ "sources": ["user"], "columns": [{ "name": "c", "views": ["user"], "prompt": "p", "budget": 8 }] }"#;
    let read = Declaration::read(file, serde_json::from_str).expect("it is JSON");
    assert_eq!(read, serde_json::from_str::<Declaration>(file).expect("a declaration"));
    assert!(mistakes_of(&read).is_empty());
}

/// Words that no person knows who does not program in Rust.
const WORDS_OF_RUST: [&str; 14] = [
    "usize",
    "u32",
    "u64",
    "i64",
    "f64",
    "i128",
    "bool",
    "invalid type",
    "invalid value",
    "string",
    "sequence",
    "map",
    "struct",
    "unit",
];

fn entries() -> impl Strategy<Value = serde_json::Value> {
    let keys = || {
        prop_oneof![
            prop::sample::select(
                [Declaration::KEYS, ColumnDeclaration::KEYS, RateDeclaration::KEYS].concat()
            )
            .prop_map(str::to_owned),
            "[a-d]{1,3}",
        ]
    };
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "[a-d ]{0,4}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((keys(), inner), 0..6)
                .prop_map(|entries| serde_json::Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn i11_no_message_has_words_of_rust(root in entries()) {
        let text = root.to_string();
        let read = Declaration::read(&text, serde_json::from_str).expect("it is JSON");
        let messages = mistakes_of(&read).join("\n");
        let by_serde = serde_json::from_str::<Declaration>(&text).map_or_else(|error| error.to_string(), |_| String::new());
        for word in WORDS_OF_RUST {
            prop_assert!(!messages.contains(word) && !by_serde.contains(word), "{messages}\n{by_serde}");
        }
        prop_assert!(by_serde.is_empty() || !messages.is_empty(), "{by_serde}");
    }
}

/// The words of a file were shown raw and whole, and a key of a megabyte was compared with every known one.
#[test]
fn x6_errors_show_the_beginning_of_a_key_and_of_a_view_and_escape_it() {
    for start in ["\u{1b}[2J\u{202e}key\n", "columns"] {
        let long = start.repeat(100_000);
        let file = serde_json::json!({ long.as_str(): 1 }).to_string();
        let unknown = serde_json::from_str::<Declaration>(&file).expect_err("no such key").to_string();
        let views = [
            "user. latest".to_owned(),
            format!("user{long}"),
            format!("user.latest{long}"),
            format!("user.latest.{long}"),
            format!("user.{}.", "a".repeat(100_000)),
            long.clone(),
        ];
        let declared = views.map(|view| {
            let file = serde_json::json!({
                "sources": ["user"],
                "columns": [{ "name": "a", "views": [view], "step": long, "model": long }],
            });
            let declaration: Declaration = serde_json::from_str(&file.to_string()).expect("it is a table");
            let wrong = crate::flow(declaration.to_columns([("words", Step::new(crate::prompt("")))]));
            wrong.map(drop).expect_err("it is wrong").to_string()
        });
        for message in declared.into_iter().chain([unknown]) {
            let is_harmless = message.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}');
            assert!(is_harmless && message.len() < 1000, "{} bytes: {message:.900}", message.len());
        }
    }
}
