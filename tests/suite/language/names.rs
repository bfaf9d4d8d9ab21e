//! Names: of columns, of the user's types beside those of the library, and of the macro.
#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused, unused_qualifications)]
#![deny(clippy::all, clippy::pedantic)]

use columnar::prelude::*;

/// The newest value that the column sees, as it is.
async fn echo(cx: Context) -> String {
    cx.messages().last_text().into_owned()
}

mod names_of_columns {
    use super::*;

    flow! {
        /// Columns with the names of keywords and generated items.
        #[derive(Clone, Debug)]
        pub(crate) struct Names {
            source r#type;
            source user;
            column flow(r#type, user.as("as")) = echo;
            column store(flow)                 = echo;
            column steps(store)                = echo;
            column run(steps.latest)           = echo;
            column columns(run.window(2), self.latest) = echo;
            column self_(columns)              = echo;
            column new(self_)                  = echo;
            column open(new)                   = echo;
            column vec(open)                   = echo;
            column a_b(vec)                    = echo;
            column ab(a_b)                     = echo;
            column a__b(a_b, ab)               = echo;
            column name(ab)                    = echo;
            column r#match(name)               = echo;
            column shared(r#match.latest)      = echo;
            column id(shared)                  = echo;
            column some(id)                    = echo;
            column here(some)                  = echo;
            column plan(here)                  = echo;
            column bind(plan)                  = echo;
            column latest(bind.latest)         = echo;
            column source(latest.latest)       = echo;
            column column(source)              = echo;
            column missing(column)             = echo;
            column get(missing)                = echo;
            column marker(get)                 = echo;
            column x_(marker)                  = echo;
            column deref(x_)                   = echo;
        }
    }

    #[tokio::test]
    async fn may_be_any() -> Result<()> {
        let flow = Names::new();
        flow.r#type.push("x").await?;
        flow.user.push("y").await?;
        let last = flow.run().try_fold(None, |_, event| async move { Ok(Some(*event.column())) }).await?;
        assert_eq!(last, Some(NamesColumn::Deref));
        assert_eq!((flow.steps.len(), flow.steps()), (1, 1));
        assert_eq!((flow.columns.len(), flow.shared.len(), flow.id.len(), flow.run.len()), (1, 1, 1, 1));
        assert_eq!(NamesColumn::Match.to_string(), "match");
        assert_eq!(NamesColumn::Name.name(), "name");
        assert_eq!(
            [NamesColumn::AB, NamesColumn::Ab, NamesColumn::AB_].map(NamesColumn::name),
            ["a_b", "ab", "a__b"]
        );
        assert_eq!(NamesColumn::Self_.to_string(), "self_");
        // The spelling stays where two names would become equal and where a name is reserved.
        assert_eq!(format!("{:?} {:?}", NamesColumn::AB_, NamesColumn::Self_), "AB_ Self_");
        Ok(())
    }

    #[tokio::test]
    async fn may_be_any_inline() -> Result<()> {
        let flow = flow! {
            source r#type;
            column flow(r#type.latest)    = echo;
            column store(flow)            = echo;
            column steps(store)           = echo;
            column columns(steps)         = echo;
            column private(columns, self) = echo;
            column vec(private)           = echo;
        };
        flow.r#type.push("x").await?;
        flow.run().await?;
        assert_eq!((flow.vec.len(), flow.steps.len(), flow.steps()), (1, 1, 1));
        Ok(())
    }
}

/// Types of the user with the names of types of the library or of std.
#[allow(dead_code)]
mod names_of_types {
    use columnar::{Context, flow};

    struct Columns;
    struct View;
    struct Source;
    struct Derived;
    struct Step;
    struct Name;
    struct Typed;
    struct Graph;
    struct Result;
    struct Option;
    struct Vec;
    struct Some;
    struct None;
    struct Ok;
    struct Box;
    struct Self_;
    trait Clone {}
    trait Default {}
    trait Deref {}

    impl Columns {
        fn text() -> String {
            "mine".to_owned()
        }
    }

    flow! {
        struct Chat {
            source user;
            column mine(user) = |_: Context| async { Columns::text() };
            column some(mine) = |_: Context| async {
                let _ = (Some, Name, Option, View);
                Columns::text()
            };
        }
    }

    #[tokio::test]
    async fn may_be_any() {
        let chat = Chat::default();
        chat.user.push("x").await.unwrap();
        chat.run().await.unwrap();
        assert_eq!(chat.some.get(0).as_deref(), std::option::Option::Some("mine"));

        let chat = flow! {
            source user;
            column mine(user) = |_: Context| async {
                let _ = (Some, Name, Option, View, Source, Step);
                Columns::text()
            };
        };
        chat.user.push("x").await.unwrap();
        chat.run().await.unwrap();
        assert_eq!(chat.mine.get(0).as_deref(), std::option::Option::Some("mine"));
    }
}

mod the_macro {
    extern crate columnar as c;
    use columnar as renamed;

    c::flow! {
        struct Path {
            source user;
            column topics(user) = super::echo;
        }
    }

    /// A macro of the user that declares flows.
    macro_rules! make {
        ($vis:vis $name:ident, $first:ident, $second:ident($view:ident), $window:literal, $tag:literal, $step:expr) => {
            ::columnar::flow! {
                $vis struct $name {
                    source $first;
                    column $second($view.window($window).as($tag)) = $step;
                }
            }
        };
    }

    make!(pub(super) Made, user, topics(user), 3, "said", super::echo);

    #[tokio::test]
    async fn may_be_called_by_any_path() {
        let inline = renamed::flow! {
            source user;
            column topics(user) = super::echo;
        };
        inline.user.push("x").await.unwrap();
        inline.run().await.unwrap();
        assert_eq!(inline.topics.len(), 1);
        assert_eq!(Path::ORDER, ["user", "topics"]);
    }

    #[test]
    fn may_be_called_by_a_macro() {
        assert_eq!(Made::GRAPH.to_string(), "source user\ncolumn topics(user.window(3).as(\"said\"))\n");
        assert_eq!(Made::new().user.len(), 0);
    }
}

/// A denied lint that does not fire changes nothing, and lints of Rust stay enabled.
mod denials {
    use columnar::testing::script;

    use super::*;

    flow! {
        #[deny(unstable_prefix)]
        #[deny(missing_docs)]
        /// A flow to which no denied lint applies.
        pub struct Strict {
            /// From outside.
            source user;
            /// Everything stays.
            #[deny(unstable_prefix)]
            column all(user, self) = script(["a"]);
            /// It begins with everything.
            column reduced(user, self.latest) = script(["r"]);
        }
    }

    // It would lose its comma at the end of the list.
    #[rustfmt::skip]
    flow! {
        #[deny(unbounded)]
        struct Small {
            source user;
            #[deny(unbounded,)]
            column few(user.window(3), self.latest) = script(["f"]);
        }
    }

    #[test]
    fn denied_lints_do_not_fire_in_generated_code() {
        assert_eq!(Strict::ORDER, ["user", "all", "reduced"]);
        assert_eq!(Small::ORDER, ["user", "few"]);
    }
}

#[allow(non_camel_case_types, reason = "the name of a flow")]
mod raw_names_of_flows {
    use super::*;

    flow! {
        /// A flow with the name of a keyword.
        pub(crate) struct r#type {
            source user;
            column heard(user.latest) = echo;
        }
    }

    flow! {
        /// An extension of it.
        pub(crate) struct Felt: r#type {
            column mood(heard) = echo;
        }
    }

    // The variant for the columns of the base was written without its `r#`, and the macro panicked.
    #[tokio::test]
    async fn may_be_those_of_bases() -> Result<()> {
        let felt = Felt::extend(r#type::new()).await?;
        felt.user.push("x").await?;
        let events: Vec<_> = felt.run().map_ok(|event| *event.column()).try_collect().await?;
        assert!(events.contains(&FeltColumn::r#type(typeColumn::Heard)), "{events:?}");
        Ok(())
    }
}

mod names_of_methods {
    use super::*;

    flow! {
        /// A flow with columns that are named as methods of handles.
        pub(crate) struct Inner {
            source text;
            column last(text.latest) = echo;
            column len(last.latest)  = echo;
        }
    }

    flow! {
        /// A flow around it.
        pub(crate) struct Middle {
            source text;
            use Inner { text } as inner;
        }
    }

    flow! {
        /// An extension that reads them in its base.
        pub(crate) struct Felt: Middle {
            column mood(inner.last, inner.len.latest.as("count")) = echo;
        }
    }

    flow! {
        /// A flow that reads them two levels down.
        pub(crate) struct Outer {
            source text;
            use Middle { text } as middle;
            column end(middle.inner.last.window(2), middle.inner.len) = echo;
        }
    }

    // The macro takes such a word for a misspelt view only where it is no column.
    #[tokio::test]
    async fn are_columns_in_modules_of_other_flows() -> Result<()> {
        assert_eq!(Felt::ORDER, ["text", "inner.last", "inner.len", "mood"]);
        let outer = Outer::new();
        outer.text.push("x").await?;
        outer.run().await?;
        let text = outer.end.messages(0)?.last_text().into_owned();
        assert!(text.contains("<last>") && text.contains("<len>"), "{text}");
        Ok(())
    }
}
