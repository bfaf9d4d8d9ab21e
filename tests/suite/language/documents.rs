//! Sources of documents and tiered views, in each form of a declaration.

use columnar::data::Declaration;
use columnar::flow::{Handle, Source, kind};
use columnar::prelude::*;
use columnar::reopen::{ColumnChange, OpenOptions};
use columnar::store::MemoryStore;
use columnar::testing::script;
use columnar::{IntoViews, Outline, Pattern, Repeats};

flow! {
    pub struct Coder {
        source files: Documents;
        source user;
        column coder(files.tiered(), user, self)                       = script(["a"]);
        column small(files.tiered().target(TOKENS), user.latest, self) = script(["a"]);
        #[deny(unstable_prefix)]
        column any(files.tiered().target(0), small.prev, self)       = script(["a"]);
        column log(files.as("code").note("each change"), user, self) = script(["a"]);
    }
}

const TOKENS: usize = 1_000 + 536;

const GRAPH: &str = "source files: Documents\n\
                     source user\n\
                     column coder(files.tiered(), user, self)\n\
                     column small(files.tiered().target(1536), user.latest, self)\n\
                     column any(files.tiered().target(0), small.prev, self)\n\
                     column log(files.as(\"code\").note(\"each change\"), user, self)\n";

/// The columns of [`Coder`], declared at run time.
fn columns() -> [Column; 4] {
    let (files, user) = (documents("files"), source("user"));
    let step = || script(["a"]);
    let small = column("small", (files.tiered().target(TOKENS), user.latest(), this()), step());
    [
        column("coder", (files.tiered(), &user, this()), step()),
        column("any", (files.tiered().target(0), small.prev(), this()), step()),
        column("log", (files.named("code").note("each change"), &user, this()), step()),
        small,
    ]
}

/// The outline without the order of the columns.
fn sorted(mut outline: Outline) -> Outline {
    outline.columns.sort_by(|one, other| one.name.cmp(&other.name));
    outline
}

mod a_declaration {
    use super::*;

    #[test]
    fn prints_as_it_was_written() {
        assert_eq!(Coder::GRAPH.to_string(), GRAPH);
        assert_eq!(Coder::ORDER, ["files", "user", "coder", "small", "any", "log"]);
    }

    #[test]
    fn means_the_same_in_every_form() -> Result<(), columnar::BoxError> {
        let typed = sorted(Coder::GRAPH.outline());
        assert_eq!(sorted(flow(columns())?.outline()), typed);
        let data: Declaration = toml::from_str(
            r#"
            sources = ["user"]
            documents = ["files"]

            [[columns]]
            name = "coder"
            views = ["files.tiered()", "user", "self"]
            step = "a"

            [[columns]]
            name = "small"
            views = ["files.tiered().target(1_536)", "user.latest", "self"]
            step = "a"

            [[columns]]
            name = "any"
            views = ["files.tiered().target(0)", "small.prev", "self"]
            step = "a"

            [[columns]]
            name = "log"
            views = ['files.as("code").note("each change")', "user", "self"]
            step = "a"
            "#,
        )?;
        assert_eq!(toml::from_str::<Declaration>(&toml::to_string(&data)?)?, data);
        let read = flow(data.to_columns([("a", Step::new(script(["a"])))]))?;
        assert_eq!(sorted(read.outline()), typed);
        let inline = flow! {
            source files: Documents;
            source user;
            column coder(files.tiered(), user, self) = script(["a"]);
        };
        let coder = |outline: &Outline| outline.columns.iter().find(|column| column.name == "coder").cloned();
        assert_eq!(coder(&inline.outline()), coder(&typed));
        assert_eq!(inline.files.len() + inline.user.len(), 0);
        Ok(())
    }

    #[test]
    fn shows_documents_in_its_outline() {
        let outline = Coder::GRAPH.outline();
        let table = "\
files  level 0  source of documents
user   level 0  source
coder  level 1  accumulator  grows every step   repeats the tiers before the first change
small  level 1  journal      grows every step   repeats the tiers before the first change
any    level 1  journal      grows every step   repeats the tiers before the first change
log    level 1  accumulator  grows every step   repeats everything
";
        assert_eq!(outline.to_string(), table);
        let [files, user, coder, .., log] = &outline.columns[..] else { panic!("{outline:?}") };
        assert!(files.is_documents && !user.is_documents && !coder.is_documents);
        assert!(coder.reads[0].is_tiered && !coder.reads[1].is_tiered && !log.reads[0].is_tiered);
        assert_eq!((coder.pattern, coder.repeats), (Some(Pattern::Accumulator), Repeats::Tiers));
        let mermaid = outline.mermaid();
        for line in ["files[(files)]", "user([user])", r#"files -->|"tiered()"| coder"#, "files --> log"] {
            assert!(mermaid.contains(line), "{mermaid}");
        }
    }

    #[test]
    fn has_a_type_for_its_handles() {
        fn files(coder: &Coder) -> &Source<Documents> {
            &coder.files
        }
        fn name<K>(handle: &Handle<K>) -> &'static str {
            handle.name()
        }
        fn windowed<K: kind::Windowed>(_: &Handle<K>) {}
        let coder = Coder::new();
        windowed(&coder.user);
        windowed(&coder.log);
        assert_eq!((name(files(&coder)), files(&coder).get(0)), ("files", None));
    }
}

mod another_flow {
    use super::*;

    flow! {
        pub struct Reviewed: Coder {
            column review(files, coder.latest)           = script(["a"]);
            column rewrite(files.tiered(), review, self) = script(["a"]);
            column smaller(review, files.tiered().target(TOKENS), self) = script(["a"]);
        }
    }

    flow! {
        pub struct Team {
            source code: Documents was "files";
            source user;
            use Coder { files: code, user } as coder;
            use Coder { files: code, user: summary } as other;
            column summary(code.tiered(), coder.log, self) = script(["a"]);
        }
    }

    #[tokio::test]
    async fn extends_one_with_documents() -> Result<()> {
        let added = "column review(files, coder.latest)\n\
                     column rewrite(files.tiered(), review, self)\n\
                     column smaller(review, files.tiered().target(1536), self)\n";
        assert_eq!(Reviewed::GRAPH.to_string(), format!("{GRAPH}{added}"));
        let reviewed = Reviewed::extend(Coder::new()).await?;
        assert_eq!(reviewed.files.name(), "files");
        assert_eq!(reviewed.outline(), Reviewed::GRAPH.outline());
        Ok(())
    }

    #[test]
    fn binds_them_to_the_inputs_of_a_module() {
        let graph = Team::GRAPH.to_string();
        for line in [
            "source code: Documents was \"files\"\n",
            "column coder.coder(code.tiered(), user, self)\n",
            "column other.coder(code.tiered(), summary.as(\"user\"), self)\n",
            "column summary(code.tiered(), coder.log, self)\n",
        ] {
            assert!(graph.contains(line), "{graph}");
        }
        assert_eq!(Team::new().other.files.name(), "code");
    }
}

mod a_mistake {
    use super::*;

    fn errors<const N: usize>(columns: [Column; N]) -> Vec<String> {
        match flow(columns) {
            Err(Error::Schema(errors)) => errors.errors().iter().map(ToString::to_string).collect(),
            other => panic!("{:?}", other.map(drop)),
        }
    }

    /// The errors of a column `coder` beside `files`, `notes` and `user`.
    fn of(views: impl IntoViews) -> Vec<String> {
        let coder = column("coder", views, script(["a"]));
        errors([coder, documents("files"), documents("notes"), source("user")])
    }

    #[test]
    fn in_a_view_is_one_error() {
        const PART: &str = "`coder` reads a part of `files`, and documents are a set, which has no window: read \
                            `files.compacted()`, `files.tiered()` or `files`";
        for view in
            ["files.latest", "files.window(3)", "files.prev", "files.prev.all()", "files.window(2).elided()"]
        {
            assert_eq!(of([view, "user", "self"]), [PART]);
        }
        let files = documents("files");
        for view in [
            files.latest(),
            files.prev(),
            files.filter(|_| true),
            files.sample(|_| true),
            files.all().elided(),
        ] {
            assert_eq!(errors([column("coder", (view, this()), script(["a"]))]), [PART]);
        }
        let tiered = View::from(files.tiered());
        for view in [tiered.clone().latest(), tiered.clone().elided(), tiered.clone().filter(|_| true)] {
            assert_eq!(errors([column("coder", (view, source("user"), this()), script(["a"]))]), [PART]);
        }
        let tagged = "`coder` has a tag, a note, a group, a purpose or `.text_only()` for `files` in tiers, which stand before the \
                      messages and take none: drop it";
        let [named, noted] = [tiered.clone().named("code"), tiered.clone().note("the code")];
        let views = [named, noted, tiered.clone().text_only(), group("all", tiered)];
        for view in views {
            assert_eq!(errors([column("coder", (view, source("user"), this()), script(["a"]))]), [tagged]);
        }
        assert_eq!(
            of(["user.tiered()", "self"]),
            [
                "`coder` reads `user` in tiers, and `user` holds text: declare it as documents, or drop `.tiered()`"
            ]
        );
        let topics = column("topics", source("user"), script(["a"]));
        assert_eq!(
            errors([column("coder", (topics.tiered(), this()), script(["a"]))]),
            ["`coder` reads `topics` in tiers, and `topics` holds text: drop `.tiered()`"]
        );
    }

    #[test]
    fn in_the_views_of_a_column_is_one_error() {
        let other = "`coder` reads `files` in tiers, so it can read no other documents: put all of them into one source, or drop \
                     one of the views";
        assert_eq!(of(["files.tiered()", "notes.tiered()", "user", "self"]), [other]);
        // The advice was to put all documents into one source, which they are in.
        let twice = "`coder` reads `files` twice, and once in tiers: drop one of the views";
        assert_eq!(of(["files.tiered()", "files.tiered().target(0)", "user", "self"]), [twice]);
        assert_eq!(of(["files.tiered()", "files", "user", "self"]), [twice]);
        assert_eq!(of(["files.tiered()", "notes", "user", "self"]), [other]);
        let history =
            "`coder` reads `files` in tiers, so it must read all of `self`: add `self`, without a window";
        assert_eq!(of(["files.tiered()", "user"]), [history]);
        assert_eq!(of(["files.tiered()", "user", "self.latest"]), [history]);
        assert_eq!(of(["files.tiered()", "user", "self.window(3).elided()"]), [history]);
        assert_eq!(
            of(["files.tiered()", "self"]),
            ["`coder` reads `files` in tiers, so it must read text, too: add a view of text, as in `user`"]
        );
        // A text under the name of the documents is no mistake: documents in tiers are in no tag.
        let files = documents("files");
        let views = (files.tiered(), source("user").named("files"), this());
        assert!(flow([column("coder", views, script(["a"]))]).is_ok());
    }

    #[test]
    fn in_a_text_is_an_error_with_its_position() {
        for (view, at, reason) in [
            ("self.tiered()", 6, "`self` is shown as messages, so it has no tiers: drop this"),
            ("files.tiered(3)", 14, "`tiered` takes no arguments: write `.tiered().target(1_536)`"),
            ("files.tiered().tiered()", 16, "a view is tiered once: drop this"),
            ("files.target(3)", 7, "`target` is for a tiered view, as in `files.tiered().target(1_536)`"),
            ("files.tiered().target(3).target(4)", 26, "a tiered view has one target: drop this"),
            (
                "files.tiered().target(\"x\")",
                23,
                "expected the number of tokens that a cached tier should have",
            ),
            ("files.tiered().target", 22, "expected the number of tokens that a cached tier should have"),
            ("files.tiered().latest", 16, "documents are a set, which has no window: drop this"),
            ("files.latest.tiered()", 14, "`tiered` comes right after the column, as in `files.tiered()`"),
            (
                "files.tiered().as(\"x\")",
                16,
                "a tiered view stands before the messages, and has no tag and no note",
            ),
            ("files.tierd()", 7, "no view is named `tierd`; did you mean `tiered`?"),
        ] {
            let found = of([view, "user", "self"]);
            let [error] = &found[..] else { panic!("{view}: {found:?}") };
            let start = format!("`coder` has the view `{view}`, which is wrong at character {at}: {reason}");
            assert!(error.starts_with(&start), "{error}\n{start}");
        }
        assert_eq!(
            of(["files.tiered", "user", "self"]),
            ["`coder` reads `files.tiered`, but the flow has no such column: did you mean `files.tiered()`?"]
        );
    }
}

/// A text in the place of documents would be wrong for good.
#[tokio::test]
async fn a_text_is_no_document() -> Result<()> {
    let f = flow(columns())?;
    assert_eq!(f.push("user", "hello").await?, 0);
    let error = f.push("files", "fn main() {}").await.expect_err("it is no document");
    assert!(matches!(&error, Error::Update { column, .. } if *column == "files"), "{error:?}");
    assert!(!error.to_string().contains("main"), "{error}");
    f.run().await?;
    assert_eq!((f.len("files")?, f.len("user")?, f.len("coder")?), (0, 1, 0));
    Ok(())
}

/// A source whose values are text cannot become one of documents, whatever is kept, and a view that became tiered is drift
/// like any other.
#[tokio::test]
async fn stored_texts_do_not_become_documents() -> Result<()> {
    let store = MemoryStore::new();
    let (files, user) = (source("files"), source("user"));
    let before = column("coder", (&files, &user, this()), script(["a"]));
    let f = Flow::open(store.clone(), [before]).await?;
    f.push("files", "fn main() {}").await?;
    f.push("user", "hello").await?;
    f.run().await?;
    drop(f);

    let tiered = || column("coder", (documents("files").tiered().target(3), &user, this()), script(["a"]));
    for (options, count) in [
        (OpenOptions::new(store.clone()), 2),
        (OpenOptions::new(store.clone()).keep("files").keep("coder"), 1),
    ] {
        let error = Flow::open(options, [tiered()]).await.map(drop).expect_err("the values are text");
        let Error::Drift(drift) = &error else { panic!("{error:?}") };
        assert_eq!(drift.changes().len(), count, "{error}");
        assert!(
            matches!(&drift.changes()[0], ColumnChange::Documents { column, was_documents: false } if *column == "files"),
            "{error:?}"
        );
        assert!(
            error.to_string().contains(
                "the stored values of `files` are text, and the column now holds documents: give it another name"
            ),
            "{error}"
        );
        if count == 2 {
            let change = "the stored values of `coder` were computed from (files, user, self), and it now reads \
                          (files.tiered().target(3), user, self)";
            assert!(error.to_string().contains(change), "{error}");
        }
    }
    Ok(())
}
