//! Mistakes of flows from data.

use super::*;

#[test]
fn are_reported_all_at_once_each_with_its_column() {
    let found = errors(&declared(
        r#"
        [[columns]]
        name = "chicken"
        views = ["egg.latest"]
        prompt = "Answer."

        [[columns]]
        name = "egg"
        views = ["chicken.latest", "user"]
        prompt = "Answer."

        [[columns]]
        name = "twins"
        views = ["user.latest", "user.window(3)", "usr", "user.window(0)", "user.elided()"]
        prompt = "Answer."
        step = "count"
        or_skip = true
        or_wait = true
        timeout = -1
        rate = {}
        pace = { every = 1, think = 2 }
        budget = { strategy = "forget", low_water = 2.0 }

        [[columns]]
        name = "Alone"
        views = ["self.as(\"me\")", "self"]
        step = "cuont"
        model = "offline"
        allow_empty = true

        [[columns]]
        name = "idle"

        [[columns]]
        name = "egg"
        views = ["group(\"a b\", user)"]
        was = "chicken"
        step = "elephant"
        "#,
    ));
    let expected = [
        "these columns wait for each other, so none of them can run first: `egg`, which `chicken` reads, which `egg` reads",
        "`Alone` cannot be a name: use at most 64 lowercase letters, digits and `_`, beginning with a letter",
        "`egg` is declared twice: rename one of the two",
        "`egg` has the earlier name `chicken`, which is the name or the earlier name of another column: correct or drop one of them, because the values stored under a name belong to one column",
    ];
    assert_eq!(found[..4], expected, "{found:#?}");
    for error in [
        "two inputs of `twins` have the tag `user`: give one of them another tag, as in `.named(\"digest\")`",
        "`twins` reads `usr`, but the flow has no such column: did you mean `user`?",
        "`twins` reads `user` with a window of 0, which shows nothing: drop the view, or show at least 1 value",
        "`twins` shows all values of `user`, so it hides nothing: drop `.elided()`, or show fewer, as in `.window(3).elided()`",
        "`twins` has both `prompt` and `step`: drop one of the two",
        "`twins` has both `or_skip` and `or_wait`: drop one of the two",
        "`twins` has a wrong `timeout`: it is a number of seconds, 0 or more",
        "`unnamed` has the setting `allow_empty`, which only prompts have: drop it, or set it in the program",
        "`twins` has a wrong `rate`: it has at least one of the keys `per_minute` and `per_second`",
        "`twins` has a wrong `strategy`: it is `truncate_middle`, `rolling_window` or `stop_at_limit`",
        "`twins` has a wrong `low_water`: it is a share of the limit, above 0 and at most 1",
        "`unnamed` reads itself twice: drop one of the two views",
        "`unnamed` reads only itself, so no new value can reach it: add a view, as in `user.latest()`",
        "`unnamed` has the setting `model`, which only prompts have: drop it, or set it in the program",
        "`unnamed` has the compute step `cuont`, which the program does not have; did you mean `count`?",
        "`idle` reads nothing, so no new value can reach it: add a view, as in `user.latest()`",
        "`idle` has no compute step: add a `prompt`, or the name of a `step` of the program",
        "`egg` has the compute step `elephant`, which the program does not have; there are `count`, `words`",
    ] {
        assert!(found.iter().any(|found| found == error), "{error}\n{found:#?}");
    }
    assert_eq!(found.len(), 25, "{found:#?}");
}

/// `every = 0` was taken for `every = 1`, and a temperature of 9.5 failed at the provider, after the first push.
#[test]
fn are_also_numbers_that_nobody_means() {
    let found = errors(&declared(
        r#"
        [[columns]]
        name = "a"
        views = ["user"]
        prompt = " "
        every = 0
        limit = 0
        max_tokens = 0
        temperature = 9.5
        top_p = 0
        rate = { per_minute = 0, per_second = 0, tokens_per_minute = 0 }
        budget = 0
        "#,
    ));
    let above = |setting: &str| format!("`a` has a wrong `{setting}`: it is a whole number above 0");
    let zeros = ["max_tokens", "limit", "every", "per_minute", "per_second", "tokens_per_minute", "tokens"]
        .map(above);
    assert_eq!(found[..7], zeros);
    let others = [
        "`a` has a wrong `prompt`: it is a text that is not blank",
        "`a` has a wrong `temperature`: it is a number from 0 to 2",
        "`a` has a wrong `top_p`: it is a share above 0 and at most 1",
    ];
    assert_eq!(found[7..], others);
    // A document goes on with the text, and needs no instruction.
    let story = r#"
        [[columns]]
        name = "story"
        views = ["user", "self"]
        prompt = ""
        document = true
        temperature = 0
    "#;
    assert!(flow(declared(story).to_columns([])).is_ok());
}

#[test]
fn are_values() {
    let declaration = declared("[[columns]]\nname = \"a\"\nviews = [\"user.latst()\"]\nstep = \"cuont\"");
    let Err(Error::Schema(errors)) = flow(declaration.to_columns([])) else { panic!("two mistakes") };
    let [SchemaError::BadView { column, view, error }, SchemaError::BadStep { error: step, .. }] =
        errors.errors()
    else {
        panic!("{errors:?}")
    };
    assert_eq!((column.as_str(), view.as_str(), error.at()), ("a", "user.latst()", 6));
    assert_eq!(*step, StepError::Unknown { step: "cuont".into(), suggestion: None, steps: Vec::new() });
    assert_eq!(
        step.to_string(),
        "has the compute step `cuont`, which the program does not have: it has none"
    );
}

#[test]
fn of_a_flow_without_a_source_or_a_column_are_one_error() {
    assert_eq!(
        errors(&Declaration::default()),
        ["this flow has no source: declare one, and a column that reads it"]
    );
    let no_source: Declaration =
        toml::from_str("[[columns]]\nname = \"a\"\nviews = [\"user\"]\nprompt = \"Answer.\"")
            .expect("a declaration");
    assert_eq!(
        errors(&no_source),
        ["`a` reads `user`, but the flow has no such column: declare it, or correct the name"]
    );
}

#[test]
fn two_cycles_are_two_errors_and_a_lagged_view_closes_none() {
    let column = |name: &str, views: &[&str]| {
        format!("[[columns]]\nname = {name:?}\nviews = {views:?}\nprompt = \"Answer.\"\n")
    };
    let text = [
        column("a", &["b", "b.latest.as(\"again\")"]),
        column("b", &["a"]),
        column("c", &["d.latest"]),
        column("d", &["e"]),
        column("e", &["c", "user"]),
        column("f", &["g", "user"]),
        column("g", &["f.prev"]),
    ];
    let start = "these columns wait for each other, so none of them can run first:";
    assert_eq!(
        errors(&declared(&text.concat())),
        [
            format!("{start} `b`, which `a` reads, which `b` reads"),
            format!("{start} `e`, which `d` reads, which `c` reads, which `e` reads"),
        ]
    );
}

/// A key that is misspelt would be a setting that is silently not applied.
#[test]
fn in_keys_and_types_are_refused_by_serde_all_at_once() {
    let refused = |text: &str| toml::from_str::<Declaration>(text).expect_err(text).to_string();
    let error =
        refused("source = [\"user\"]\ncolumns = [{ name = \"a\", temprature = 1, budget = { token = 1 } }]");
    for message in [
        "unknown key `source`; did you mean `sources`?",
        "unknown key `temprature`; did you mean `temperature`? (entry 1 of `columns`)",
        "unknown key `token`; did you mean `tokens`? (`budget` of entry 1 of `columns`)",
    ] {
        assert!(error.contains(message), "{error}");
    }
    let twice =
        serde_json::from_str::<Declaration>(r#"{ "sources": [], "sources": [] }"#).expect_err("twice");
    assert!(twice.to_string().starts_with("`sources` is there twice: drop one of the two"), "{twice}");
}

#[test]
fn have_a_place_in_no_default() -> Result<(), BoxError> {
    let declaration: Declaration = serde_json::from_str(
        r#"{ "sources": ["user", { "name": "b", "was": "a" }], "columns": [{ "name": "c", "retry": null, "budget": 8 }] }"#,
    )?;
    let mut source = SourceDeclaration::default();
    source.name = "user".into();
    assert_eq!(declaration.sources[0], source);
    assert_eq!(declaration.sources[1].was.as_deref(), Some("a"));
    let mut column = ColumnDeclaration::default();
    column.name = "c".into();
    column.budget = declaration.columns[0].budget.clone();
    assert_eq!(declaration.columns, [column]);
    assert_eq!(
        serde_json::to_string(&declaration)?,
        r#"{"sources":[{"name":"user"},{"name":"b","was":"a"}],"columns":[{"name":"c","budget":{"tokens":8}}]}"#
    );
    Ok(())
}
