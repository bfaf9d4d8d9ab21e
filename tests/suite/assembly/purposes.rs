//! Views with a purpose: context, which comes first in a message, and instructions, which end the system text.

use std::sync::Arc;

use columnar::budget::{Budget, Strategy};
use columnar::cache::{CachePolicy, Pace};
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::testing::{context_text, script};
use columnar::{Column, Purpose, View};

async fn echo(cx: Context) -> String {
    format!("answer {}", cx.step())
}

/// An answer from notes and rules.
fn columns(rules: impl FnOnce(&Column) -> View) -> [Column; 1] {
    let (user, notes, all) = (source("user"), source("notes"), source("rules"));
    [column("answer", (&user, notes.latest().context(), rules(&all).instruction(), this()), echo)]
}

async fn push(f: &Flow, step: usize, rule: &str) {
    f.push("user", format!("question {step}")).await.unwrap();
    f.push("notes", format!("note {step}")).await.unwrap();
    f.push("rules", rule).await.unwrap();
}

#[tokio::test]
async fn context_comes_first_in_the_message_of_its_step() {
    let f = flow(columns(Column::latest)).unwrap();
    for step in 0..2 {
        push(&f, step, "Be brief.").await;
    }
    f.run().await.unwrap();
    assert_eq!(
        f.messages("answer", 1).unwrap().to_json(),
        r#"[{"role":"user","content":"<user>\nquestion 0\n</user>"},{"role":"assistant","content":"answer 0"},{"role":"user","content":"<notes>\nnote 1\n</notes>\n\n<user>\nquestion 1\n</user>"}]"#
    );
}

#[tokio::test]
async fn instructions_end_the_system_text_in_order_of_their_steps() {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), columns(|rules| rules.window(2))).await.unwrap();
    f.set_system("  Write French. \n");
    for (step, rule) in ["Be brief.\n", "  ", "Be kind.", "<user>"].into_iter().enumerate() {
        push(&f, step, rule).await;
    }
    f.run().await.unwrap();
    let system = |f: &Flow, step| f.messages("answer", step).unwrap().system("You plan. ");
    let expected = [
        "You plan.\n\nWrite French.\n\nBe brief.",
        "You plan.\n\nWrite French.\n\nBe brief.",
        "You plan.\n\nWrite French.\n\nBe kind.",
        "You plan.\n\nWrite French.\n\nBe kind.\n\n<user>",
    ];
    for (step, expected) in expected.into_iter().enumerate() {
        assert_eq!(system(&f, step), expected);
        // No message shows it, and the column that calls no model has no instruction of its own.
        assert!(!f.messages("answer", step).unwrap().to_json().contains("Be "));
        assert_eq!(f.system("answer", step).unwrap(), expected.replacen("You plan.\n\n", "", 1));
    }
    let fork = f.fork(2).unwrap();
    assert_eq!(system(&fork, 1), expected[1]);
    f.set_system("");
    assert_eq!(system(&f, 0), "You plan.\n\nBe brief.");
    drop((f, fork));

    let f = Flow::open(OpenOptions::new(store).recent(1), columns(|rules| rules.window(2))).await.unwrap();
    f.set_system("Write French.");
    let error = f.messages("answer", 2).unwrap_err();
    assert!(matches!(error, Error::NotLoaded { .. }), "{error}");
    f.load(0).await.unwrap();
    assert_eq!(system(&f, 3), expected[3]);
}

#[tokio::test]
async fn prompts_send_the_whole_system_text() {
    let model = columnar::testing::ScriptedModel::new(|_| "Oui.".to_owned());
    let (user, rules) = (source("user"), source("rules"));
    let views = (&user, rules.latest().instruction(), this());
    let f = flow([column("answer", views, prompt("You plan.").model(model.clone()))]).unwrap();
    f.set_system("Write French.");
    for (text, rule) in [("Shall I?", "Be brief."), ("Shall we?", "Be kind.")] {
        f.push("user", text).await.unwrap();
        f.push("rules", rule).await.unwrap();
    }
    f.run().await.unwrap();
    let sent: Vec<String> = model.requests().iter().map(|request| String::from(&*request.system)).collect();
    let expected = ["You plan.\n\nWrite French.\n\nBe brief.", "You plan.\n\nWrite French.\n\nBe kind."];
    assert_eq!(sent, expected);
    let messages = f.messages("answer", 1).unwrap();
    assert_eq!(Rendering::new(expected[1], &messages).anthropic()["system"][0]["text"], expected[1]);
    assert_eq!(f.system("answer", 1).unwrap(), expected[1]);
}

#[tokio::test]
async fn a_cell_waits_for_its_instruction() {
    let (user, rules) = (source("user"), source("rules"));
    let hint = column("hint", rules.latest(), |cx: Context| async move { format!("hint {}", cx.step()) });
    let f = flow([column("answer", (&user, hint.latest().instruction(), this()), echo)]).unwrap();
    assert_eq!(f.order(), ["user", "rules", "hint", "answer"]);
    f.push("user", "Hi").await.unwrap();
    f.push("rules", "r").await.unwrap();
    f.run().await.unwrap();
    assert_eq!(f.messages("answer", 0).unwrap().system(""), "hint 0");
    assert_eq!(f.dependents("hint").unwrap(), ["answer"]);
}

#[tokio::test]
async fn the_text_of_a_view_has_its_purpose() {
    let [answer] = columns(Column::latest);
    let f = flow([answer]).unwrap();
    let outline = f.outline();
    let reads = &outline.columns.iter().find(|column| &*column.name == "answer").unwrap().reads;
    let purposes: Vec<Purpose> = reads.iter().map(|view| view.purpose).collect();
    assert_eq!(purposes, [Purpose::Context, Purpose::Primary, Purpose::Instruction]);
    assert!(
        outline.mermaid().contains(r#"rules -->|"latest.instruction()"| answer"#),
        "{}",
        outline.mermaid()
    );
    for text in ["rules.latest.instruction()", "notes.window(3).context().as(\"facts\")"] {
        assert_eq!(View::from(text).to_string(), text);
    }
    let text = context_text(&{
        push(&f, 0, "Be brief.").await;
        f.messages("answer", 0).unwrap()
    });
    assert!(text.contains("\n\n[system]\nrules 0\n│ Be brief.\n\n[user]\nnotes 0\n"), "{text}");
}

#[tokio::test]
async fn a_budget_keeps_instructions_and_omits_turns() {
    let (user, rules) = (source("user"), source("rules"));
    let budget = Budget::of(120).token_buffer(0).strategy(Strategy::RollingWindow);
    let views = (&user, rules.latest().instruction(), this());
    let f = flow([column("answer", views, echo.budget(budget))]).unwrap();
    for step in 0..20 {
        f.push("user", format!("question {step}")).await.unwrap();
        f.push("rules", "Be brief. ".repeat(if step % 2 == 0 { 1 } else { 30 })).await.unwrap();
    }
    f.run().await.unwrap();
    let turns: Vec<usize> = (10..20)
        .map(|step| {
            let messages = f.messages("answer", step).unwrap();
            let breakdown = messages.breakdown("");
            assert_eq!(breakdown.tokens, breakdown.instructions + messages.tokens());
            assert!(breakdown.tokens <= 120, "{breakdown}");
            assert!(messages.system("").starts_with("Be brief."));
            2 * step + 1 - messages.report().unwrap().turns
        })
        .collect();
    // More turns have room beside a short instruction than beside a long one.
    assert!(turns.chunks(2).all(|pair| pair[0] > 2 * pair[1]), "{turns:?}");
    f.push("rules", "Be brief. ".repeat(100)).await.unwrap();
    f.push("user", "more").await.unwrap();
    let error = f.run().await.unwrap_err().to_string();
    assert!(error.contains("the largest are `rules` with 25"), "{error}");
}

#[tokio::test]
async fn only_instructions_that_did_not_change_are_cached() {
    let (user, rules) = (source("user"), source("rules"));
    let views = (&user, rules.latest().instruction(), this());
    let f = flow([column("answer", views, script(["Yes."; 4]))]).unwrap();
    for rule in ["Be brief.", "Be kind.", "Be kind.", "Be brief."] {
        f.push("user", "What do you think of this? ".repeat(200)).await.unwrap();
        f.push("rules", rule).await.unwrap();
    }
    f.run().await.unwrap();
    let policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5");
    let marks: Vec<usize> =
        (0..4).map(|step| f.cache_plan("answer", step, policy, Pace::batch()).unwrap().marks.len()).collect();
    assert!(marks[0] == 0 && marks[1] == 0 && marks[2] > 0 && marks[3] == 0, "{marks:?}");
    let prefix = f.explain_cache("answer", 2).unwrap();
    assert_eq!(prefix.bytes, 0);
    assert_eq!(prefix.difference.unwrap().to_string(), "the instruction `rules.latest`");
}

#[test]
fn wrong_purposes_are_errors_of_the_flow() {
    let (user, notes, rules) = (source("user"), source("notes"), source("rules"));
    let reported = |views: Vec<View>| {
        let error = flow([column("answer", views, echo), rules.clone(), user.clone()]).map(drop);
        let error = error.unwrap_err();
        let Error::Schema(errors) = error else { panic!("{error}") };
        errors.errors().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let rule = || rules.latest().instruction();
    for (views, expected) in [
        (vec![user.all(), this().context()], "`answer` has `.context()` or `.instruction()` for `self`"),
        (vec![user.all(), notes.all().context().instruction()], "`answer` reads `notes` for two purposes"),
        (vec![notes.latest().context(), rule()], "`answer` reads nothing but context and instructions"),
        (
            vec![user.all(), rule().named("law")],
            "`answer` has a tag, a note or `.elided()` for the instruction `rules`",
        ),
        (
            vec![user.all(), rule().elided()],
            "`answer` has a tag, a note or `.elided()` for the instruction `rules`",
        ),
        (vec![user.all(), group("g", [rule()])], "`answer` reads the instruction `rules` in a group"),
        (
            vec![group("g", [user.all(), notes.latest().context()])],
            "`answer` has views with and without `.context()` in the group `g`",
        ),
        (
            "user, files".split(", ").map(View::from).collect(),
            "`answer` reads `files`, but the flow has no such column",
        ),
        (vec![user.all(), "rules.instruction".into()], "did you mean `rules.instruction()`?"),
        (vec![user.all(), "rules.latest.context".into()], "expected parentheses"),
        (
            vec![user.all(), "rules.latest.instruction().as(\"law\")".into()],
            "an instruction ends the system text as it is",
        ),
        (vec![user.all(), "rules.context().instruction()".into()], "a view has one purpose"),
        (vec![user.all(), "self.context()".into()], "has no purpose"),
    ] {
        let errors = reported(views);
        assert!(errors.len() == 1 && errors[0].contains(expected), "{expected}: {errors:?}");
    }
    // A group of context is whole, and comes first.
    let views = vec![user.latest(), group("facts", [notes.latest(), rules.latest()]).context()];
    let f = flow([column("answer", views, echo)]).unwrap();
    let answer = f.outline().columns.into_iter().find(|column| &*column.name == "answer").unwrap();
    assert_eq!(
        answer.reads.iter().map(|view| view.column.to_string()).collect::<Vec<_>>(),
        ["notes", "rules", "user"]
    );
}

#[tokio::test]
async fn a_filtered_instruction_shows_what_passes() {
    let (user, rules) = (source("user"), source("rules"));
    let views = (&user, rules.filter(|rule| rule.ends_with('!')).instruction(), this());
    let f = flow([column("answer", views, echo)]).unwrap();
    for rule in ["One!", "two", "Three!"] {
        f.push("user", "Hi").await.unwrap();
        f.push("rules", rule).await.unwrap();
    }
    f.run().await.unwrap();
    assert_eq!(f.messages("answer", 2).unwrap().system(""), "One!\n\nThree!");
    assert_eq!(f.forecast().cells, 0);
}

#[tokio::test]
async fn a_shared_flow_text_is_the_same_for_all_columns() {
    let user = source("user");
    let one = column("one", user.latest(), prompt("One."));
    let other = column("other", user.latest(), prompt(""));
    let f = Arc::new(flow([one, other]).unwrap());
    f.set_system("Write French.");
    f.push("user", "Hi").await.unwrap();
    assert_eq!(f.system("one", 0).unwrap(), "One.\n\nWrite French.");
    assert_eq!(f.system("other", 0).unwrap(), "Write French.");
    let before = f.forecast().input_tokens;
    f.set_system("");
    assert!(f.forecast().input_tokens < before);
    assert!(matches!(f.system("user", 0), Err(Error::NotDerived { .. })));
    assert!(matches!(f.system("usr", 0), Err(Error::UnknownColumn { .. })));
}
