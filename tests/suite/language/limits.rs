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

/// A flow of 200 columns.
mod two_hundred {
    #![deny(clippy::pedantic, unused, unused_qualifications)]

    use super::*;

    /// The newest value that the column sees, as it is.
    async fn echo(cx: Context) -> String {
        cx.messages().last_text().into_owned()
    }

    macro_rules! wide {
        ($($name:ident)*) => {
            flow! {
                /// A wide flow.
                #[derive(Debug)]
                pub(crate) struct Wide {
                    source user;
                    $(column $name(user.latest, self) = echo;)*
                }
            }
        };
    }

    wide! {
        c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 c12 c13 c14 c15 c16 c17 c18 c19
        c20 c21 c22 c23 c24 c25 c26 c27 c28 c29 c30 c31 c32 c33 c34 c35 c36 c37 c38 c39
        c40 c41 c42 c43 c44 c45 c46 c47 c48 c49 c50 c51 c52 c53 c54 c55 c56 c57 c58 c59
        c60 c61 c62 c63 c64 c65 c66 c67 c68 c69 c70 c71 c72 c73 c74 c75 c76 c77 c78 c79
        c80 c81 c82 c83 c84 c85 c86 c87 c88 c89 c90 c91 c92 c93 c94 c95 c96 c97 c98 c99
        c100 c101 c102 c103 c104 c105 c106 c107 c108 c109 c110 c111 c112 c113 c114 c115 c116 c117 c118 c119
        c120 c121 c122 c123 c124 c125 c126 c127 c128 c129 c130 c131 c132 c133 c134 c135 c136 c137 c138 c139
        c140 c141 c142 c143 c144 c145 c146 c147 c148 c149 c150 c151 c152 c153 c154 c155 c156 c157 c158 c159
        c160 c161 c162 c163 c164 c165 c166 c167 c168 c169 c170 c171 c172 c173 c174 c175 c176 c177 c178 c179
        c180 c181 c182 c183 c184 c185 c186 c187 c188 c189 c190 c191 c192 c193 c194 c195 c196 c197 c198 c199
    }

    #[tokio::test]
    async fn two_hundred_columns_compile() -> Result<()> {
        let wide = Wide::new();
        wide.user.push("x").await?;
        wide.run().await?;
        assert_eq!((Wide::ORDER.len(), wide.c199.len()), (201, 1));
        Ok(())
    }
}
