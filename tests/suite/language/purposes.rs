//! Views with a purpose in `flow!`: context and instructions, in each form of a declaration.

use columnar::data::Declaration;
use columnar::flow::Source;
use columnar::model::Model;
use columnar::prelude::*;
use columnar::reopen::{ColumnChange, OpenOptions};
use columnar::store::MemoryStore;
use columnar::testing::{ScriptedModel, script};
use columnar::{Outline, Purpose, Repeats};

const LAST: usize = 2;

flow! {
    pub struct Chat {
        source user;
        source docs;
        source rules;
        column answer(docs.latest.context(), rules.latest.instruction(), user, self) = script(["one", "two"]);
        // In any order with other modifiers, and at any place in the list.
        #[deny(unstable_prefix)]
        column check(answer, docs.context().as("facts").note("what is known"), self) = script(["ok", "ok"]);
        column recent(
            user.latest,
            rules.window(LAST).filter(|text| text.ends_with('!')).instruction(),
            rules.prev.instruction(),
            docs.prev.window(2).elided().context(),
            group("past", docs.prev.all().as("old").context(), answer.prev.context()),
        ) = script(["a", "b"]);
    }
}

const GRAPH: &str = "source user\n\
    source docs\n\
    source rules\n\
    column answer(docs.latest.context(), rules.latest.instruction(), user, self)\n\
    column check(answer, docs.context().as(\"facts\").note(\"what is known\"), self)\n\
    column recent(user.latest, rules.window(2).instruction().filter(…), rules.prev.instruction(), \
    docs.prev.window(2).context().elided(), group(\"past\", docs.prev.all().context().as(\"old\"), answer.prev.context()))\n";

/// The columns of [`Chat`], declared at run time.
fn columns() -> [Column; 3] {
    let (user, docs, rules) = (source("user"), source("docs"), source("rules"));
    let views = (docs.latest().context(), rules.latest().instruction(), &user, this());
    let answer = column("answer", views, script(["one", "two"]));
    let facts = docs.all().context().named("facts").note("what is known");
    let check = column("check", (&answer, facts, this()), script(["ok", "ok"]));
    let past = [docs.prev().all().named("old").context(), answer.prev().context()];
    let views = (
        user.latest(),
        rules.window(LAST).filter(|text| text.ends_with('!')).instruction(),
        rules.prev().instruction(),
        docs.prev().window(2).elided().context(),
        group("past", past),
    );
    [column("recent", views, script(["a", "b"])), check, answer]
}

/// The outline without the order of the columns.
fn sorted(mut outline: Outline) -> Outline {
    outline.columns.sort_by(|one, other| one.name.cmp(&other.name));
    outline
}

async fn push(user: &Source, docs: &Source, rules: &Source) -> Result<()> {
    for (question, fact, rule) in [("When?", "On Monday.", "Be brief!"), ("Why?", "It was late.", "Be kind.")]
    {
        user.push(question).await?;
        docs.push(fact).await?;
        rules.push(rule).await?;
    }
    Ok(())
}

const LATER: &str = r#"[{"role":"user","content":"<user>\nWhen?\n</user>"},{"role":"assistant","content":"one"},{"role":"user","content":"<docs>\nIt was late.\n</docs>\n\n<user>\nWhy?\n</user>"}]"#;

#[test]
fn a_graph_prints_the_purposes_as_they_were_declared() {
    assert_eq!(Chat::GRAPH.to_string(), GRAPH);
    assert_eq!(Chat::ORDER, ["user", "docs", "rules", "answer", "check", "recent"]);
    let outline = Chat::GRAPH.outline();
    let answer = outline.columns.iter().find(|column| column.name == "answer").unwrap();
    assert_eq!(answer.repeats, Repeats::Instruction);
    let purposes: Vec<Purpose> = answer.reads.iter().map(|view| view.purpose).collect();
    assert_eq!(purposes, [Purpose::Context, Purpose::Primary, Purpose::Instruction]);
    let mermaid = outline.mermaid();
    for line in [r#"docs -->|"latest.context()"| answer"#, r#"rules -->|"latest.instruction()"| answer"#] {
        assert!(mermaid.contains(line), "{mermaid}");
    }
}

#[test]
fn purposes_mean_the_same_in_every_form() -> Result<(), columnar::BoxError> {
    assert_eq!(sorted(flow(columns())?.outline()), sorted(Chat::GRAPH.outline()));
    let data: Declaration = toml::from_str(
        r#"
        sources = ["user", "docs", "rules"]

        [[columns]]
        name = "answer"
        views = ["docs.latest.context()", "rules.latest.instruction()", "user", "self"]
        step = "a"
        "#,
    )?;
    let read = flow(data.to_columns([("a", Step::new(script(["one"])))]))?;
    let inline = flow! {
        source user;
        source docs;
        source rules;
        column answer(docs.latest.context(), rules.latest.instruction(), user, self) = script(["one"]);
    };
    assert_eq!(sorted(read.outline()), sorted(inline.outline()));
    assert_eq!(inline.user.len() + inline.docs.len() + inline.rules.len() + inline.answer.len(), 0);
    Ok(())
}

#[tokio::test]
async fn contexts_and_system_texts_have_them() -> Result<()> {
    let chat = Chat::new();
    chat.set_system("Write French.");
    push(&chat.user, &chat.docs, &chat.rules).await?;
    chat.run().await?;
    assert_eq!(chat.answer.messages(1)?.to_json(), LATER);
    assert_eq!(chat.answer.system(1)?, "Write French.\n\nBe kind.");
    assert_eq!(
        chat.check.messages(0)?.last_text(),
        "<facts>\nOn Monday.\n</facts>\n\n<answer>\none\n</answer>"
    );
    let notes = "What the tags in the messages hold:\n<facts>: what is known";
    assert_eq!(chat.check.system(0)?, format!("Write French.\n\n{notes}"));
    // All values of a context are repeated by the next request.
    assert_eq!(chat.check.explain_cache(1)?.difference, None);
    assert_eq!(
        chat.recent.messages(1)?.last_text(),
        "<docs>\nOn Monday.\n</docs>\n\n<past>\n<old>\nOn Monday.\n</old>\n\n<answer>\none\n</answer>\n</past>\n\n\
         <user>\nWhy?\n</user>"
    );
    assert_eq!(chat.recent.system(1)?, "Write French.\n\nBe brief!\n\nBe brief!");
    Ok(())
}

#[tokio::test]
async fn an_inline_flow_has_them() -> Result<()> {
    let chat = flow! {
        source user;
        source docs;
        source rules;
        column answer(user, rules.latest.instruction(), docs.latest.context(), self) = script(["one", "two"]);
    };
    push(&chat.user, &chat.docs, &chat.rules).await?;
    chat.run().await?;
    assert_eq!(chat.answer.messages(1)?.to_json(), LATER);
    assert_eq!(chat.answer.system(0)?, "Be brief!");
    Ok(())
}

/// The parentheses tell a purpose from a column of the same name.
#[tokio::test]
async fn columns_may_have_these_names() -> Result<()> {
    let chat = flow! {
        source context;
        source instruction;
        column answer(context, instruction.latest.instruction(), context.latest.context().as("now"), self) =
            script(["one"]);
    };
    chat.context.push("Hello").await?;
    chat.instruction.push("Be brief.").await?;
    chat.run().await?;
    assert_eq!(chat.answer.messages(0)?.last_text(), "<now>\nHello\n</now>\n\n<context>\nHello\n</context>");
    assert_eq!(chat.answer.system(0)?, "Be brief.");
    Ok(())
}

mod another_flow {
    use super::*;

    flow! {
        pub struct Debate<M: Model + Clone>(model: M) {
            source topic;
            source law;
            column context(topic.latest) = script(["The facts.", "More facts."]);
            column critic(topic, context.latest.context(), law.latest.instruction(), self) =
                prompt("Name a flaw.").model(model.clone());
        }
    }

    flow! {
        pub struct Court<M: Model + Clone>(model: M) {
            source user;
            source rules;
            use Debate<M>(model.clone()) { topic: user, law: rules } as debate;
            column verdict(
                user.latest,
                debate.context.latest.context(),
                debate.critic.latest.as("case").context(),
                debate.critic.prev.instruction(),
            ) = prompt("Judge.").model(model.clone());
        }
    }

    flow! {
        pub struct Felt: Chat {
            column mood(answer, docs.latest.context(), rules.instruction(), self) = script(["calm", "glad"]);
        }
    }

    #[tokio::test]
    async fn uses_them_as_a_module() -> Result<()> {
        let court = Court::new(ScriptedModel::new(|request| format!("said {}", request.messages.len())));
        let graph = court.outline().mermaid();
        for line in [
            r#"debate.context -->|"latest.context()"| verdict"#,
            r#"debate.critic -.->|"prev.instruction()"| verdict"#,
            r#"rules -->|"latest.instruction()"| debate.critic"#,
        ] {
            assert!(graph.contains(line), "{graph}");
        }
        for (topic, law) in [("Shall we?", "Be fair."), ("And now?", "Be quick.")] {
            court.user.push(topic).await?;
            court.rules.push(law).await?;
        }
        court.run().await?;
        assert_eq!(
            court.verdict.messages(1)?.last_text(),
            "<context>\nMore facts.\n</context>\n\n<case>\nsaid 3\n</case>\n\n<user>\nAnd now?\n</user>"
        );
        assert_eq!(court.verdict.system(1)?, "Judge.\n\nsaid 1");
        assert_eq!(court.debate.critic.system(1)?, "Name a flaw.\n\nBe quick.");
        Ok(())
    }

    #[tokio::test]
    async fn extends_one_that_has_them() -> Result<()> {
        let added = "column mood(answer, docs.latest.context(), rules.instruction(), self)\n";
        assert_eq!(Felt::GRAPH.to_string(), format!("{GRAPH}{added}"));
        let felt = Felt::extend(Chat::new()).await?;
        push(&felt.user, &felt.docs, &felt.rules).await?;
        felt.run().await?;
        assert_eq!(felt.outline(), Felt::GRAPH.outline());
        assert_eq!(
            felt.mood.messages(1)?.last_text(),
            "<docs>\nIt was late.\n</docs>\n\n<answer>\ntwo\n</answer>"
        );
        assert_eq!(felt.mood.system(1)?, "Be brief!\n\nBe kind.");
        Ok(())
    }
}

mod a_purpose_that_changed {
    use super::*;

    flow! {
        struct Before {
            source user;
            source docs;
            column answer(docs.latest.context(), user, self) = script(["one"; 3]);
        }
    }

    flow! {
        struct After {
            source user;
            source docs;
            column answer(docs.latest, user, self) = script(["one"; 3]);
        }
    }

    #[tokio::test]
    async fn is_drift() -> Result<()> {
        let store = MemoryStore::new();
        let before = Before::open(store.clone()).await?;
        before.user.push("When?").await?;
        before.docs.push("On Monday.").await?;
        before.run().await?;
        drop(before);
        let same = Before::open(store.clone()).await?;
        assert_eq!((same.answer.len(), same.docs.len(), same.user.len()), (1, 1, 1));
        drop(same);
        let error = After::open(OpenOptions::new(store)).await.map(drop).unwrap_err();
        let Error::Drift(drift) = &error else { panic!("{error}") };
        assert!(matches!(drift.changes(), [ColumnChange::Reads { .. }]), "{drift:?}");
        let change =
            "computed from (docs.latest.context(), user, self), and it now reads (docs.latest, user, self)";
        assert!(error.to_string().contains(change), "{error}");
        Ok(())
    }
}

/// A mistake in the purposes of a column with a tiered view was two errors.
#[test]
fn a_tiered_view_beside_instructions_alone_is_one_error() {
    for other in ["rules.latest.instruction()", "rules.latest.context()"] {
        let coder = column("coder", ["files.tiered()", other, "self"], script(["a"]));
        let error = flow([coder, documents("files"), source("rules")]).map(drop).unwrap_err();
        let Error::Schema(errors) = &error else { panic!("{error}") };
        assert!(matches!(errors.errors(), [columnar::SchemaError::NoPrimaryInput { .. }]), "{error}");
    }
}
