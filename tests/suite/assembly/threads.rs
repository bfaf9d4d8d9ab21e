//! Requests with one beginning: columns that continue the conversation of another one, and instructions after the messages.

use std::time::Duration;

use columnar::budget::{Budget, Strategy as Cut};
use columnar::cache::{CachePolicy, Pace, Position, observed};
use columnar::compute::Policy;
use columnar::data::Declaration;
use columnar::documents::Update;
use columnar::model::Request;
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::testing::{ScriptedModel, context_text, script};
use columnar::{Column, Pattern, Repeats, View};
use columnar_tests::cost::cached_model::CachedModel;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value as Json;
use tokio::time::advance;

/// A model whose reply has the number of the messages and the last letters.
fn echo() -> ScriptedModel {
    ScriptedModel::new(|request| {
        let last = request.messages.last_text().into_owned();
        format!("{} messages, the last one with {} bytes", request.messages.len(), last.len())
    })
}

/// An assistant with a system text of the flow and a note, and two columns that continue its conversation.
fn commented(assistant: &ScriptedModel, critic: &ScriptedModel) -> [Column; 2] {
    continued(assistant, critic, Column::thread)
}

/// The same, where the critic reads the assistant by another view.
fn continued(
    assistant: &ScriptedModel,
    critic: &ScriptedModel,
    view: impl FnOnce(&Column) -> View,
) -> [Column; 2] {
    let (user, mood) = (source("user"), source("mood"));
    let views = (user.note("The words of the user."), this());
    let assistant = column("assistant", views, prompt("You plan.").model(assistant.clone()));
    let ask = prompt("Is it right?").model(critic.clone());
    let critic = column("critic", (view(&assistant), mood.latest().note("A guess.")), ask);
    let answer = column("answer", critic.thread(), prompt("Answer the critic.").model(echo()));
    [critic, answer]
}

async fn push(f: &Flow, step: usize) {
    f.push("user", format!("question {step}")).await.unwrap();
    f.push("mood", format!("mood {step}")).await.unwrap();
}

#[tokio::test]
async fn a_thread_continues_what_was_sent_with_one_message_of_its_own() {
    let (assistant, critic) = (echo(), echo());
    let f = flow(commented(&assistant, &critic)).unwrap();
    f.set_system("Write French.");
    for step in 0..2 {
        push(&f, step).await;
    }
    f.run().await.unwrap();

    let system =
        "You plan.\n\nWrite French.\n\nWhat the tags in the messages hold:\n<user>: The words of the user.";
    for step in 0..2 {
        assert_eq!(f.system("critic", step).unwrap(), system);
        assert_eq!(f.system("answer", step).unwrap(), system);
        assert_eq!((&*assistant.requests()[step].system, &*critic.requests()[step].system), (system, system));
    }
    assert_eq!(
        context_text(&f.messages("critic", 1).unwrap()),
        "critic at step 1: 5 messages\n\n[user]\nuser 0\n│ <user>\n│ question 0\n│ </user>\n\n[assistant]\nassistant 0\n│ 1 \
         messages, the last one with 25 bytes\n\n[user]\nuser 1\n│ <user>\n│ question 1\n│ </user>\n\n[assistant]\nassistant \
         1\n│ 3 messages, the last one with 25 bytes\n\n[user]\ninstruction\n│ Is it right?\n│\n│ What the tags in the \
         messages hold:\n│ <mood>: A guess.\n│\nmood 1\n│ <mood>\n│ mood 1\n│ </mood>"
    );
    let messages: Vec<String> =
        f.messages("answer", 1).unwrap().iter().map(|(_, text)| text.into_owned()).collect();
    assert_eq!(messages.len(), 7);
    assert_eq!(messages[5], f.get("critic", 1).unwrap().to_string());
    assert_eq!(messages[6], "Answer the critic.");
}

/// The messages, by role and text.
fn texts(f: &Flow, column: &str, step: usize) -> Vec<String> {
    f.messages(column, step).unwrap().iter().map(|(_, text)| text.into_owned()).collect()
}

#[tokio::test]
async fn r19_a_skipped_step_continues_the_last_value_and_nothing_is_skipped() {
    let user = source("user");
    let answers = script(["zero", "one", "two", "three"]);
    let assistant = column("assistant", (&user, this()), Step::new(answers).every(2));
    let critic = column("critic", (assistant.thread(), user.latest()), script(["a", "b", "c", "d"]));
    let alone = column("alone", assistant.thread(), script(["a", "b", "c", "d"]));
    let f = flow([critic, alone]).unwrap();
    for step in 0..4 {
        f.push("user", format!("question {step}")).await.unwrap();
    }
    f.run().await.unwrap();
    let values = |column: &str| (0..4).map(|step| f.get(column, step).is_some()).collect::<Vec<_>>();
    assert_eq!(values("assistant"), [false, true, false, true]);
    // There is no conversation at step 0. Where nothing but the thread is read, a skipped step is skipped.
    assert_eq!(values("critic"), [false, true, true, true]);
    assert_eq!(values("alone"), [false, true, false, true]);
    let continued = texts(&f, "assistant", 1);
    let later = texts(&f, "critic", 2);
    assert_eq!(later[..continued.len()], continued[..]);
    assert_eq!(later[continued.len()..], ["one", "<user>\nquestion 2\n</user>"]);
}

#[tokio::test]
async fn a_closure_reads_the_reply_and_the_conversation() {
    let chat = flow! {
        source user;
        column assistant(user, self) = script(["On Monday.", "At ten."]);
        column length(assistant.thread(), user.latest) =
            async |assistant, user| format!("{} {}", assistant.len(), user.len());
        column count(assistant.thread()) = |cx: Context| async move { cx.messages().len().to_string() };
    };
    for text in ["When?", "At what time?"] {
        chat.user.push(text).await.unwrap();
    }
    chat.run().await.unwrap();
    assert_eq!((chat.length.get(1).as_deref(), chat.count.get(1).as_deref()), (Some("7 13"), Some("4")));
}

#[tokio::test]
async fn r19_a_thread_is_under_the_budget_of_its_column_and_takes_of_the_reader_first() {
    let user = source("user");
    let step = |replies: [&'static str; 3]| Step::new(script(replies));
    let assistant = step(["zero", "one", "two"]).budget(Budget::of(26).token_buffer(0).rolling_window());
    let assistant = column("assistant", (&user, this()), assistant);
    let critic = column("critic", (assistant.thread(), user.window(3)), step(["a", "b", "c"]));
    let f = flow([critic.clone()]).unwrap();
    for step in 0..3 {
        f.push("user", format!("a question with some words {step}")).await.unwrap();
    }
    f.run().await.unwrap();
    let continued = f.messages("assistant", 2).unwrap();
    assert!(continued.report().unwrap().is_truncated());
    assert_eq!(texts(&f, "critic", 2)[..continued.len()], texts(&f, "assistant", 2)[..]);

    // The reader omits its own inputs, and never a part of the thread.
    let whole = f.messages("critic", 2).unwrap().tokens();
    f.set_budget(Budget::of(whole - 5).token_buffer(0).strategy(Cut::RollingWindow));
    let cut = f.messages("critic", 2).unwrap();
    assert!(cut.report().unwrap().is_truncated() && cut.tokens() <= whole - 5);
    assert_eq!(texts(&f, "critic", 2)[..continued.len()], texts(&f, "assistant", 2)[..]);
    assert_eq!(cut.tokens(), cut.parts().map(|part| part.tokens()).sum::<usize>());

    f.set_budget(Budget::of(20).token_buffer(0).strategy(Cut::RollingWindow));
    let error = f.messages("critic", 2).unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("the thread of `assistant` with"), "{cause}");
    assert!(cause.contains("raise the budget"), "{cause}");
}

#[tokio::test]
async fn an_instruction_after_the_messages_is_in_budgets_and_breakdowns() {
    let chat = flow! {
        source user;
        column topics(user.note("The words."), self) = prompt("List the topics.").after();
        column later(user) = prompt("List the topics.").retry(2).after();
    };
    chat.set_system("Write French.");
    for text in ["Hello!", "And now?"] {
        chat.user.push(text).await.unwrap();
    }
    chat.run().await.unwrap();
    let messages = chat.topics.messages(1).unwrap();
    let instruction = "List the topics.\n\nWhat the tags in the messages hold:\n<user>: The words.";
    assert_eq!(messages.last_text(), format!("<user>\nAnd now?\n</user>\n\n{instruction}"));
    assert!(chat.later.messages(1).unwrap().last_text().ends_with("</user>\n\nList the topics."));
    assert_eq!(chat.topics.system(1).unwrap(), "Write French.");
    let breakdown = messages.breakdown("List the topics.");
    let parts = breakdown.instruction + breakdown.flow + breakdown.notes + breakdown.omitted;
    let columns: usize = breakdown.columns.iter().map(|column| column.tokens).sum();
    assert_eq!(breakdown.tokens, parts + columns);
    assert!(breakdown.instruction > 0 && breakdown.notes > 0 && breakdown.flow > 0 && breakdown.omitted == 0);

    chat.set_budget(Budget::of(8).token_buffer(0));
    let error = chat.topics.messages(1).unwrap_err();
    assert!(matches!(error, Error::BudgetTooSmall { .. }), "the instruction alone has more tokens: {error}");
}

#[tokio::test]
async fn the_marks_of_a_thread_read_what_its_column_wrote() {
    let policy = CachePolicy::by_model("anthropic/claude-sonnet-5-5");
    let f = flow(commented(&echo(), &echo())).unwrap();
    for step in 0..2 {
        f.push("user", "All of it. ".repeat(1000)).await.unwrap();
        f.push("mood", format!("{step}")).await.unwrap();
    }
    f.run().await.unwrap();
    let marks = |column: &str| -> Vec<Position> {
        let plan = f.cache_plan(column, 1, policy, Pace::batch()).unwrap();
        plan.marks.iter().map(|mark| mark.position).collect()
    };
    // The assistant's parts are a question, a reply and a question. The reply behind them is what its next request repeats.
    assert_eq!(marks("assistant").last(), Some(&Position::Part(2)));
    assert!(marks("critic").contains(&Position::Part(3)), "{:?}", marks("critic"));
    assert!(marks("critic").iter().all(|mark| *mark <= Position::Part(3)));
    let explained = f.explain_cache("critic", 1).unwrap();
    let last = f.messages("critic", 1).unwrap().iter().last().unwrap().1.len();
    assert_eq!(explained.bytes + last, explained.total_bytes);
    assert_eq!(explained.difference.unwrap().to_string(), "the message of the column");
    // The last request of a conversation writes nothing, and reads what was written.
    let last = f.cache_plan("critic", 1, policy, Pace::batch().last()).unwrap();
    assert_eq!(last.marks.last().unwrap().position, Position::Part(2));
}

/// The assistant writes the conversation anew after each long pause. Its threads follow at once: the first writes the reply
/// alone, and the second reads that as well. So they read after any pause, which tells nothing about the provider.
#[tokio::test(start_paused = true)]
async fn threads_read_what_was_just_written_and_tell_nothing_about_lifetimes() {
    const NAME: &str = "anthropic/claude-sonnet-5-5-20990104";
    let model = CachedModel::new(NAME, "Well. ".repeat(200).leak());
    let ask = |instruction: &str| prompt(instruction).model(model.clone());
    let assistant = column("assistant", (&source("user"), this()), ask("You plan."));
    let threads = ["critic", "tone"].map(|name| column(name, assistant.thread(), ask(name)));
    let f = flow(threads).unwrap();
    for step in 0..4 {
        model.wait(600.0);
        advance(Duration::from_mins(10)).await;
        f.push("user", format!("{step} {}", "All of it. ".repeat(1000))).await.unwrap();
        f.run().await.unwrap();
        let usage = |column: &str| f.receipt(column, step).unwrap().usage;
        let cached = |column: &str| usage(column).cache_read + usage(column).cache_write;
        assert_eq!(usage("critic").cache_read, cached("assistant"), "{step}");
        assert_eq!((usage("tone").cache_read, usage("tone").cache_write), (cached("critic"), 0), "{step}");
    }
    assert_eq!(observed(NAME).short.late_reads + observed(NAME).short.misses, 0, "{}", observed(NAME));
}

#[tokio::test]
async fn r19_outline_forecast_and_definition_know_threads() {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), commented(&echo(), &echo())).await.unwrap();
    push(&f, 0).await;
    let forecast = f.forecast();
    let input =
        |column: &str| forecast.columns.iter().find(|part| *part.column == *column).unwrap().input_tokens;
    assert!(input("answer") > input("critic") && input("critic") > input("assistant"), "{forecast}");
    f.run().await.unwrap();
    let outline = f.outline();
    let critic = outline.columns.iter().find(|column| *column.name == *"critic").unwrap();
    assert_eq!((critic.pattern, critic.repeats), (Some(Pattern::Thread), Repeats::Thread));
    assert!(critic.reads[0].is_thread && outline.mermaid().contains(r#"assistant -->|"thread()"| critic"#));
    drop(f);

    let other = continued(&echo(), &echo(), Column::all);
    let error = Flow::open(store.clone(), other).await.unwrap_err().to_string();
    assert!(error.contains("thread()"), "{error}");
    let f = Flow::open(OpenOptions::new(store).recent(0), commented(&echo(), &echo())).await.unwrap();
    assert!(matches!(f.messages("critic", 0).unwrap_err(), Error::NotLoaded { .. }));
    push(&f, 1).await;
    f.run().await.unwrap();
    assert_eq!(texts(&f, "answer", 1).len(), 7);
}

#[tokio::test]
async fn r19_a_fork_continues_the_same_conversation() {
    let f = flow(commented(&echo(), &echo())).unwrap();
    for step in 0..3 {
        push(&f, step).await;
    }
    f.run().await.unwrap();
    let fork = f.fork(2).unwrap();
    fork.push("user", "another question").await.unwrap();
    fork.push("mood", "mood 2").await.unwrap();
    fork.run().await.unwrap();
    assert_eq!(texts(&fork, "answer", 1), texts(&f, "answer", 1));
    assert!(texts(&fork, "critic", 2)[4].contains("another question"));
    assert_eq!(texts(&fork, "critic", 2).len(), 7);
}

#[tokio::test]
async fn documents_stand_where_they_were_sent() {
    let (files, user) = (documents("files"), source("user"));
    let coder = column("coder", (files.tiered(), &user, this()), script(["Done.", "Done again."]));
    let review = column("review", coder.thread(), prompt("Review it."));
    let f = flow([review]).unwrap();
    for text in ["mod a;", "mod b;"] {
        f.push("files", Update::new().file("src/lib.rs", text).to_text().unwrap()).await.unwrap();
        f.push("user", "Change it.").await.unwrap();
    }
    f.run().await.unwrap();
    for step in 0..2 {
        let continued = texts(&f, "coder", step);
        assert_eq!(texts(&f, "review", step)[..continued.len()], continued[..]);
        assert_eq!(f.system("review", step).unwrap(), f.system("coder", step).unwrap());
        let messages = f.messages("review", step).unwrap();
        assert_eq!(messages.tokens(), messages.parts().map(|part| part.tokens()).sum::<usize>());
    }
}

#[test]
fn wrong_threads_are_errors_that_say_what_to_do() {
    let user = source("user");
    let assistant = || column("assistant", (&user, this()), script(["a"]));
    let error = |views: Vec<View>| flow([column("critic", views, script(["b"]))]).unwrap_err().to_string();
    for (views, word) in [
        (vec![user.thread()], "is a source"),
        (vec![assistant().thread().latest()], "drop its window"),
        (vec![assistant().thread().named("said")], "drop its window"),
        (vec![assistant().thread().context()], "drop its window"),
        (vec![user.all(), assistant().thread()], "which stands first"),
        (vec![assistant().thread(), this()], "drop `self`"),
        (vec![assistant().thread(), user.instruction()], "drop `self`"),
    ] {
        let message = error(views);
        assert!(message.contains(word), "{message}");
    }
    let mut deep = assistant();
    for depth in 0..40 {
        deep = column(format!("c{depth}"), deep.thread(), script(["b"]));
    }
    let message = flow([deep]).unwrap_err().to_string();
    assert!(message.contains("`c32` continues more than 32 threads"), "{message}");
    for (text, word) in [
        ("assistant.thread().latest", "drop this"),
        ("assistant.latest.thread()", "right after the column"),
        ("assistant.thread(3)", "takes no arguments"),
        ("self.thread()", "another column"),
    ] {
        let views = vec![View::from(text)];
        let message = flow([assistant(), column("critic", views, script(["b"]))]).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    }
}

#[tokio::test]
async fn an_instruction_after_the_messages_is_a_setting_of_data() {
    let toml = "sources = ['user']\n[[columns]]\nname = 'mood'\nviews = ['user']\nprompt = 'Name the mood.'\nafter = true";
    let declaration: Declaration = toml::from_str(toml).unwrap();
    let f = flow(declaration.to_columns([])).unwrap();
    f.push("user", "Hello!").await.unwrap();
    assert_eq!(f.messages("mood", 0).unwrap().last_text(), "<user>\nHello!\n</user>\n\nName the mood.");
}

#[tokio::test]
async fn what_columns_share_is_shown_before_a_run_and_by_its_bytes() {
    const MODEL: &str = "anthropic/claude-sonnet-5-5";
    let user = source("user");
    let assistant = column("assistant", (&user, this()), prompt("You plan.").model(MODEL));
    let critic = column("critic", assistant.thread(), prompt("Is it right?").model(MODEL));
    let other =
        column("other", assistant.thread(), prompt("Is it kind?").model("anthropic/claude-haiku-4-5"));
    let deep = column("deep", assistant.thread(), prompt("Is it true?").model(MODEL).effort(Effort::High));
    let mood = column("mood", &user, prompt("Name the mood.").model(MODEL).after());
    let topics = column("topics", &user, prompt("List the topics.").model(MODEL).after());
    let tagged = column("tagged", user.named("said"), prompt("List the topics.").model(MODEL).after());
    let f = flow([critic, other, deep, mood, topics, tagged]).unwrap();
    let shares = |f: &Flow, column: &str| -> String {
        let outline = f.outline();
        let column = outline.columns.iter().find(|outline| *outline.name == *column).unwrap();
        column.shares.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(
        shares(&f, "critic"),
        "shares with `assistant`, shares nothing with `other`, by another model, shares nothing with `deep`, by another effort"
    );
    assert_eq!(
        (shares(&f, "mood"), shares(&f, "tagged")),
        ("shares with `topics`".to_owned(), String::new())
    );
    assert!(f.outline().to_string().contains("repeats what the thread repeats, shares with `assistant`"));

    f.push("user", "All of it. ".repeat(1000)).await.unwrap();
    let forecast = f.forecast();
    let shared = |column: &str| {
        let part = forecast.columns.iter().find(|part| *part.column == *column).unwrap();
        part.shared.as_ref().map(ToString::to_string).unwrap_or_default()
    };
    assert!(shared("critic").starts_with("shares 2,7"), "{}", shared("critic"));
    assert!(
        shared("critic").ends_with("tokens with `assistant`, which saves $0.01 where they are cached"),
        "{forecast}"
    );
    assert!(shared("other").ends_with(", and another model caches them separately"), "{forecast}");
    assert!(shared("topics").contains("with `mood`, which saves"), "{forecast}");
    assert_eq!((shared("assistant"), shared("mood")), (String::new(), String::new()));

    let short = flow(commented(&echo(), &echo())).unwrap();
    push(&short, 0).await;
    assert!(short.forecast().to_string().ends_with("and its model has no discount for cached tokens"));
    short.run().await.unwrap();
    let explained = short.explain_cache("answer", 0).unwrap();
    let of_critic = &explained.shared[0];
    let critic = short.messages("critic", 0).unwrap();
    let bytes: usize = critic.iter().map(|(_, text)| text.len()).sum();
    assert_eq!(
        (&*of_critic.column, of_critic.bytes),
        ("critic", bytes + short.system("critic", 0).unwrap().len())
    );
    assert!(explained.to_string().contains("; the request of `critic` begins with the same"), "{explained}");
}

/// The roles and texts of a form or a body, in the order in which a model reads them.
fn flat(json: &Json) -> String {
    fn walk(json: &Json, flat: &mut String, role: &mut String) {
        match json {
            Json::Array(items) => items.iter().for_each(|item| walk(item, flat, role)),
            Json::Object(members) => {
                if let Some(Json::String(next)) = members.get("role")
                    && next != role
                {
                    role.clone_from(next);
                    flat.extend(["\u{1}", next.as_str(), "\u{2}"]);
                }
                for key in [
                    "system",
                    "instructions",
                    "systemInstruction",
                    "system_instruction",
                    "messages",
                    "input",
                    "contents",
                    "content",
                    "parts",
                    "text",
                ] {
                    match members.get(key) {
                        Some(Json::String(text)) => *flat += text,
                        Some(inside) => walk(inside, flat, role),
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
    let mut all = String::new();
    walk(json, &mut all, &mut String::new());
    all
}

/// A request in every form, without marks.
fn forms(request: &Request) -> Vec<String> {
    let rendering = Rendering::new(&request.system, &request.messages);
    let forms = [
        rendering.merged(),
        rendering.alternating(),
        rendering.anthropic(),
        rendering.openai(),
        rendering.ai_sdk(),
    ];
    forms.iter().map(flat).collect()
}

/// A pattern of views, by number.
fn views(user: &Column, notes: &Column, pattern: usize) -> Vec<View> {
    match pattern {
        0 => vec![user.all(), this()],
        1 => vec![user.window(2), this().latest()],
        2 => vec![user.all(), notes.latest().context(), this().window(2)],
        3 => vec![user.latest(), notes.latest().instruction(), this()],
        4 => vec![user.all().filter(|text| text.len() % 3 != 1), notes.all()],
        _ => vec![group("said", (user.window(3), notes.latest())), this()],
    }
}

fn values() -> impl Strategy<Value = Vec<(String, String)>> {
    let text = || {
        select(&["", " ", "one", "two words", "<user>", "</notes>\n\n", "a longer text of several words"][..])
    };
    vec((text().prop_map(str::to_owned), text().prop_map(str::to_owned)), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Each request of a thread begins with the request of its column, byte for byte, in every form; and requests with an
    /// instruction after the same views are equal up to it.
    #[test]
    fn requests_of_sharing_columns_are_equal_up_to_the_instruction(
        values in values(),
        pattern in 0..6_usize,
        is_after in any::<bool>(),
        every in select(&[1, 1, 2][..]),
        limit in proptest::option::of(20..60_usize),
        excluded in proptest::option::of(0..4_usize),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let models: Vec<ScriptedModel> = (0..4).map(|_| echo()).collect();
            let (user, notes) = (source("user"), source("notes"));
            let ask = |at: usize, text: &str| prompt(text).model(models[at].clone());
            let first = if is_after { ask(0, "You plan.").after() } else { ask(0, "You plan.") };
            let mut first = first.every(every);
            if let Some(limit) = limit {
                first = first.budget(Budget::of(limit).token_buffer(0).rolling_window());
            }
            let assistant = column("assistant", views(&user, &notes, pattern), first);
            let critic = column("critic", (assistant.thread(), notes.latest().named("said")), ask(1, "Is it right?"));
            let one = column("one", views(&user, &notes, pattern)[..1].to_vec(), ask(2, "Name the mood.").after());
            let two = column("two", views(&user, &notes, pattern)[..1].to_vec(), ask(3, "List all of it.").after());
            let f = flow([critic, one, two]).unwrap();
            f.set_system("Write French.");
            for (step, (said, noted)) in values.iter().enumerate() {
                f.push("user", said.clone()).await.unwrap();
                f.push("notes", noted.clone()).await.unwrap();
                // A budget may be too small for anything.
                if f.run().await.is_err() {
                    return Ok(());
                }
                if excluded == Some(step) {
                    f.exclude("user", step).await.unwrap();
                }
            }
            let requests: Vec<Vec<Request>> = models.iter().map(ScriptedModel::requests).collect();
            for thread in &requests[1] {
                let step = thread.messages.parts().last().unwrap();
                let continued = requests[0].iter().rfind(|sent| {
                    forms(thread).iter().zip(forms(sent)).all(|(thread, sent)| thread.starts_with(&sent))
                });
                prop_assert!(continued.is_some(), "{thread:?}");
                prop_assert_eq!(&thread.system, &continued.unwrap().system);
                prop_assert_eq!(step.role(), Role::User);
                let messages = &thread.messages;
                prop_assert_eq!(messages.tokens(), messages.parts().map(|part| part.tokens()).sum::<usize>());
            }
            prop_assert_eq!(requests[2].len(), requests[3].len());
            for (one, two) in requests[2].iter().zip(&requests[3]) {
                for (one, two) in forms(one).iter().zip(forms(two)) {
                    let beginning = one.strip_suffix("Name the mood.");
                    prop_assert!(beginning.is_some());
                    prop_assert_eq!(beginning, two.strip_suffix("List all of it."));
                }
            }
            // What was sent is what can be read later.
            for step in 0..values.len() {
                if let Ok(messages) = f.messages("critic", step) {
                    let sent = requests[1].iter().any(|sent| sent.messages == messages);
                    prop_assert!(sent, "step {step}");
                }
            }
            Ok(())
        })?;
    }
}

/// The bodies that eight providers get of a thread and of the column that it continues.
#[cfg(feature = "providers")]
#[tokio::test]
async fn a_thread_begins_with_the_bytes_of_its_column_on_every_wire() {
    use columnar::model::Provider;
    use columnar_tests::server::{Server, answer};

    for name in [
        "openai/x",
        "openai_resp/x",
        "anthropic/x",
        "gemini/x",
        "ollama/x",
        "cohere/x",
        "mistral/x",
        "deepseek/x",
    ] {
        let server = Server::always(answer("400 Bad Request", "{}")).await;
        let model =
            Provider::new(&format!("{name}@{}/v1", server.url().replace("127.0.0.1", "localhost"))).unwrap();
        let user = source("user");
        let assistant = column("assistant", (&user, this()), script(["On Monday."]));
        let critic =
            column("critic", assistant.thread(), prompt("Is it right?").model(model.clone()).or_skip());
        let one = column("one", &user, prompt("Name the mood.").model(model.clone()).after().or_skip());
        let two = column("two", &user, prompt("List all of it.").model(model.clone()).after().or_skip());
        let f = flow([critic, one, two]).unwrap();
        f.set_system("Write French.");
        f.push("user", "When?").await.unwrap();
        f.run().await.unwrap();
        let bodies: Vec<String> = server
            .requests()
            .iter()
            .map(|request| flat(&serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()))
            .collect();
        let find = |end: &str| {
            bodies.iter().find(|body| body.ends_with(end)).unwrap_or_else(|| panic!("{name}: {bodies:#?}"))
        };
        let beginning = find("Name the mood.").strip_suffix("Name the mood.").unwrap();
        assert_eq!(Some(beginning), find("List all of it.").strip_suffix("List all of it."), "{name}");
        assert!(beginning.contains("Write French.") && beginning.contains("When?"), "{name}: {beginning}");
        let critic = find("Is it right?");
        // The column of the thread has no instruction, and the same views.
        assert!(
            critic.starts_with(beginning.trim_end()) && critic.contains("On Monday."),
            "{name}: {critic}"
        );
    }
}
