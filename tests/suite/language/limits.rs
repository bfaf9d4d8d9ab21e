//! Declarations that are very large, or nested very deep.

use columnar::SchemaError;
use columnar::prelude::*;

/// Views of one column that are in this number of groups, one inside the other.
fn nested(depth: usize, innermost: View) -> View {
    (0..depth).fold(innermost, |view, at| group(format!("g{at}"), view))
}

/// Views are read and dropped by recursion, so twenty thousand groups overflowed the stack, which ends the program.
#[tokio::test]
async fn i8_groups_that_are_nested_too_deep_are_an_error() -> Result<()> {
    let user = source("user");
    for depth in [33, 34, 100, 20_000] {
        let views = [nested(depth, user.latest()), user.window(2).named("before")];
        let error = flow([column("deep", views, prompt("Answer."))]).expect_err("it is too deep");
        let Error::Schema(errors) = &error else { panic!("{error}") };
        assert!(
            matches!(errors.errors(), [SchemaError::DeepGroups { column }] if column == "deep"),
            "{depth}: {error}"
        );
        assert!(error.to_string().contains("more than 32 deep"), "{error}");
    }
    let text = (0..33).fold("user".to_owned(), |view, at| format!("group(\"g{at}\", {view})"));
    let error = flow([column("deep", text, prompt("Answer.")), user.clone()]).expect_err("it is too deep");
    assert!(error.to_string().contains("more than 32 deep"), "{error}");

    let f = flow([column("deep", nested(32, user.latest()), async |_: Context| "")])?;
    f.push("user", "x").await?;
    f.run().await?;
    let text = f.messages("deep", 0)?.last_text().into_owned();
    assert!(text.starts_with("<g31>\n<g30>\n") && text.ends_with("\n</g30>\n</g31>"), "{text}");
    assert_eq!(text.matches("<g").count(), 32);
    Ok(())
}

/// Each view and each added column was compared with all others, which took half a minute for these.
#[tokio::test]
async fn i8_a_column_has_any_number_of_inputs() -> Result<()> {
    const INPUTS: usize = 100_000;
    let user = source("user");
    let views: Vec<_> = (0..INPUTS).map(|at| user.latest().named(format!("t{at}"))).collect();
    let f = flow([column("wide", views, async |cx: Context| cx.inputs().len().to_string())])?;
    f.push("user", "x").await?;
    f.run().await?;
    assert_eq!(f.get("wide", 0).as_deref(), Some("100000"));
    Ok(())
}

/// A flow grows by one column at a time, in memory and in a store.
#[tokio::test]
async fn i8_a_flow_grows_by_any_number_of_columns() -> Result<()> {
    const COLUMNS: usize = 1_000;
    let user = source("user");
    for is_stored in [false, true] {
        let first = [column("c0", user.latest(), async |_: Context| "")];
        let f = if is_stored {
            Flow::open(columnar::store::MemoryStore::new(), &first).await?
        } else {
            flow(&first)?
        };
        for at in 1..COLUMNS {
            f.add_column(column(format!("c{at}"), user.latest(), async |_: Context| "")).await?;
        }
        f.push("user", "x").await?;
        f.run().await?;
        assert_eq!((f.order().len(), f.steps()), (COLUMNS + 1, 1));
    }
    Ok(())
}

/// Thousands of misspelt names were each compared with all names.
#[test]
fn i8_thousands_of_unknown_names_are_reported() {
    let sources = (0..3_000).map(|at| source(format!("source_{at}")));
    let views: Vec<_> = (0..3_000).map(|at| format!("sorce_{at}")).collect();
    let columns: Vec<_> = sources.chain([column("bad", views, prompt("Answer."))]).collect();
    let error = flow(&columns).expect_err("no column has these names");
    let Error::Schema(errors) = &error else { panic!("{error}") };
    assert_eq!(errors.errors().len(), 3_000);
    assert!(error.to_string().contains("did you mean `source_7`?"));
}

/// A column named `self` was declared, and no text could read it.
#[test]
fn i8_self_is_no_name_of_a_column() {
    for name in ["self", "self.user", "debate.self"] {
        let error = flow([source(name), source("user")]).expect_err("it is no name");
        assert!(
            error.to_string().contains(&format!("`{name}` cannot be a name: `self` in a view is")),
            "{error}"
        );
    }
}
