//! The modifiers of views `prev`, `group`, `note`, `filter`, `sample` and `elided`, and columns that are not computed
//! at each step. Each example is written in both forms.

use std::sync::{Arc, Mutex};

use columnar::budget::Budget;
use columnar::prelude::*;
use columnar::testing::ScriptedModel;
use columnar::{Error, Event, SchemaError};
use columnar_tests::live::block_on;

flow! {
    /// Two columns that answer each other.
    pub struct Debate {
        source topic;
        column pro(topic.latest, con.prev)                        = labelled("pro");
        column con(topic.latest, pro.prev.window(2), self.latest) = labelled("con");
        column judge(group("debate", pro, con.latest), topic.latest) = labelled("judge");
    }
}

fn labelled(label: &'static str) -> impl Fn(Context) -> std::future::Ready<String> + Send + Sync {
    move |cx| std::future::ready(format!("{label}{}", cx.step()))
}

/// The messages with brackets instead of tags.
fn shown(messages: &Messages) -> String {
    let text = messages.iter().map(|(_, content)| content.into_owned()).collect::<Vec<_>>().join(" | ");
    let words = text.replace("\n\n", " ").replace('\n', "");
    words.replace("</topic>", "]").replace("<topic>", "[")
}

fn debate_at_run_time() -> Flow {
    let topic = source("topic");
    let pro = column("pro", (topic.latest(), prev("con")), labelled("pro"));
    let con = column("con", (topic.latest(), pro.prev().window(2), this().latest()), labelled("con"));
    let judge =
        column("judge", (group("debate", (pro.all(), con.latest())), topic.latest()), labelled("judge"));
    flow([judge]).unwrap()
}

#[test]
fn two_columns_read_the_previous_values_of_each_other() {
    let expected = [
        ("pro", 0, "[t0]"),
        ("pro", 2, "[t2] <con>con1</con>"),
        ("con", 0, "[t0]"),
        ("con", 1, "<elided/> | con0 | [t1] <pro>pro0</pro>"),
        ("con", 2, "<pro>pro0</pro> | con1 | [t2] <pro>pro1</pro>"),
        ("judge", 0, "<debate><pro>pro0</pro> <con>con0</con></debate> [t0]"),
        (
            "judge",
            1,
            "<debate><pro>pro0</pro></debate> <debate><pro>pro1</pro> <con>con1</con></debate> [t1]",
        ),
    ];
    let (typed, made) = (Debate::new(), debate_at_run_time());
    block_on(async {
        for step in 0..3 {
            typed.topic.push(format!("t{step}")).await.unwrap();
            made.push("topic", format!("t{step}")).await.unwrap();
        }
        typed.run().await.unwrap();
        made.run().await.unwrap();
    });
    for (column, step, expected) in expected {
        assert_eq!(shown(&typed.messages(column, step).unwrap()), expected, "{column} at {step}");
        assert_eq!(shown(&made.messages(column, step).unwrap()), expected, "{column} at {step}");
    }
}

#[test]
fn a_declaration_prints_as_it_was_written() {
    let text = "source topic\n\
                column pro(topic.latest, con.prev)\n\
                column con(topic.latest, pro.prev.window(2), self.latest)\n\
                column judge(group(\"debate\", pro, con.latest), topic.latest)\n";
    assert_eq!(Debate::GRAPH.to_string(), text);
    assert_eq!(Debate::ORDER, ["topic", "pro", "con", "judge"]);
}

/// Columns that read only earlier steps of each other are on the same level.
#[test]
fn a_lagged_view_waits_for_no_cell_of_the_same_step() {
    let outline = Debate::GRAPH.outline();
    let levels: Vec<usize> = outline.columns.iter().map(|column| column.level).collect();
    assert_eq!(levels, [0, 1, 1, 2]);
    assert_eq!(outline.columns[1].reads.iter().map(|read| read.lag).collect::<Vec<_>>(), [0, 1]);
    assert!(outline.mermaid().contains(r#"con -.->|"prev"| pro"#));
}

/// A lagged value stays in the turn that reads it, so every request is a prefix of the next.
#[test]
fn a_lagged_history_stays_in_the_same_messages() {
    let chat = flow! {
        source user;
        column coach(user.latest)                   = labelled("coach");
        column answer(coach.prev.all(), user, self) = labelled("answer");
    };
    block_on(async {
        for step in 0..4 {
            chat.user.push(format!("u{step}")).await.unwrap();
        }
        chat.run().await.unwrap();
    });
    let bodies: Vec<String> = (0..4).map(|step| chat.answer.messages(step).unwrap().to_json()).collect();
    for pair in bodies.windows(2) {
        assert!(pair[1].starts_with(pair[0].strip_suffix("\"}]").unwrap()), "{pair:#?}");
    }
    assert_eq!(chat.answer.explain_cache(3).unwrap().difference, None);
}

#[test]
fn a_column_with_only_lagged_views_is_skipped_at_step_0() {
    let chat = flow! {
        source user;
        column memory(user.prev) = labelled("memory");
    };
    block_on(async {
        chat.user.push("one").await.unwrap();
        chat.user.push("two").await.unwrap();
        chat.run().await.unwrap();
    });
    assert_eq!((chat.memory.get(0), chat.memory.get(1).as_deref()), (None, Some("memory1")));
    assert_eq!(chat.memory.messages(1).unwrap().last_text(), "<user>\none\n</user>");
    assert!(matches!(chat.memory.messages(0), Err(Error::Skipped { step: 0, .. })));
}

#[test]
fn a_lagged_view_of_an_unknown_column_is_an_error() {
    let user = source("user");
    let pro = column("pro", (user.latest(), prev("kon")), labelled("pro"));
    let Err(Error::Schema(error)) = flow([pro]) else { panic!("there is no `kon`") };
    assert!(matches!(error.errors(), [SchemaError::UnknownColumn { read, .. }] if read == "kon"));
    assert!(error.to_string().contains("`pro` reads `kon`"), "{error}");
}

#[test]
fn a_group_with_a_duplicate_tag_is_an_error() {
    let user = source("user");
    for views in [
        vec![user.latest(), group("user", user.latest().named("me"))],
        vec![group("all", user.latest()), group("all", user.latest().named("me"))],
        vec![group("all", user.latest().named("all"))],
    ] {
        let Err(Error::Schema(error)) = flow([column("pro", views, labelled("pro"))]) else {
            panic!("they clash")
        };
        assert!(matches!(error.errors(), [SchemaError::DuplicateTag { .. }]), "{error}");
    }
    let own = column("pro", (user.latest(), group("past", this())), labelled("pro"));
    let Err(Error::Schema(error)) = flow([own]) else { panic!("self history has no tag") };
    assert!(matches!(error.errors(), [SchemaError::TaggedSelf { .. }]), "{error}");
}

/// Groups nest, and a group without a shown value is not rendered.
#[test]
fn groups_nest_and_empty_groups_are_not_rendered() {
    let chat = flow! {
        source user;
        column rare(user.latest) = labelled("rare").every(2);
        column judge(group("all", group("seldom", rare.latest), user.latest), rare.latest.as("again")) =
            labelled("judge");
    };
    block_on(async {
        chat.user.push("one").await.unwrap();
        chat.user.push("</all></user>").await.unwrap();
        chat.run().await.unwrap();
    });
    assert_eq!(chat.judge.messages(0).unwrap().last_text(), "<all>\n<user>\none\n</user>\n</all>");
    assert_eq!(
        chat.judge.messages(1).unwrap().last_text(),
        "<all>\n<seldom>\n<rare>\nrare1\n</rare>\n</seldom>\n\n<user>\n&lt;/all>&lt;/user>\n</user>\n</all>\n\n\
         <again>\nrare1\n</again>"
    );
}

#[test]
fn a_filter_shows_some_values_and_skips_cells_without_new_ones() {
    let chat = flow! {
        source user;
        column faq(user.filter(|text| text.ends_with('?'))) = labelled("faq");
        column review(user.sample(|step| step % 2 == 1).as("odd"), user.latest, self.latest) =
            labelled("review");
    };
    let user = source("user");
    let faq = column("faq", user.all().filter(|text| text.ends_with('?')), labelled("faq"));
    let odd = user.all().sample(|step| step % 2 == 1).named("odd");
    let made =
        flow([faq, column("review", (odd, user.latest(), this().latest()), labelled("review"))]).unwrap();
    block_on(async {
        for text in ["Hello.", "Who?", "Me.", "Why?"] {
            chat.user.push(text).await.unwrap();
            made.push("user", text).await.unwrap();
        }
        chat.run().await.unwrap();
        made.run().await.unwrap();
    });
    let skipped = |step| (chat.faq.get(step), made.get("faq", step)) == (None, None);
    assert!(skipped(0) && skipped(2) && !skipped(1) && !skipped(3));
    let faq = "<user>Who?</user> <user>Why?</user>";
    let review = "<odd>Who?</odd> | review2 | <odd>Why?</odd> <user>Why?</user>";
    for (column, expected) in [("faq", faq), ("review", review)] {
        assert_eq!(shown(&chat.messages(column, 3).unwrap()), expected);
        assert_eq!(shown(&made.messages(column, 3).unwrap()), expected);
    }
    assert_eq!((chat.progress().skipped, chat.progress().total()), (2, 8));
    let messages = chat.faq.messages(3).unwrap();
    assert_eq!(messages.parts().map(|part| part.tokens()).sum::<usize>(), messages.tokens());
}

#[test]
fn notes_are_appended_to_the_instruction() {
    let expected = "Answer.\n\nWhat the tags in the messages hold:\n<user>: what the person typed\n\
                    <mood>: how it was said";
    let model = || ScriptedModel::new(|_| "Hi.".to_owned());
    let (typed_model, made_model) = (model(), model());
    let chat = flow! {
        source user;
        column tone(user.latest) = prompt("Name the tone.").model(typed_model.clone());
        column answer(
            user.note("what the person typed"),
            tone.latest.as("mood").note("how it was said"),
            self,
        ) = prompt("Answer.").model(typed_model.clone());
    };
    let user = source("user");
    let tone = column("tone", user.latest(), prompt("Name the tone.").model(made_model.clone()));
    let views = (
        user.all().note("what the person typed"),
        tone.latest().named("mood").note("how it was said"),
        this(),
    );
    let made = flow([column("answer", views, prompt("Answer.").model(made_model.clone()))]).unwrap();
    block_on(async {
        chat.user.push("Hello!").await.unwrap();
        chat.run().await.unwrap();
        made.push("user", "Hello!").await.unwrap();
        made.run().await.unwrap();
    });
    for model in [typed_model, made_model] {
        let instructions: Vec<_> =
            model.requests().iter().map(|request| request.system.to_string()).collect();
        assert_eq!(instructions, ["Name the tone.", expected]);
    }
}

/// A condition gets the context of the compute step, and a skipped cell costs nothing.
#[test]
fn a_column_that_is_not_due_is_skipped_with_the_columns_that_read_only_it() {
    let conditions = Arc::new(Mutex::new(Vec::new()));
    let calls = Arc::clone(&conditions);
    let never = 0;
    let chat = flow! {
        source user;
        column title(user) = labelled("title").when(move |cx| {
            calls.lock().unwrap().push(cx.step());
            cx.input("user").is_some_and(|text| text.starts_with('#'))
        });
        column shout(title.latest)    = labelled("shout");
        column digest(user.window(2)) = labelled("digest").every(2);
        column never(user.latest)     = labelled("never").every(never);
    };
    let mut events = Vec::new();
    block_on(async {
        for text in ["# One", "two", "# Three"] {
            chat.user.push(text).await.unwrap();
        }
        let mut run = chat.run();
        while let Some(event) = run.try_next().await.unwrap() {
            let column = event.column().to_string();
            events.push((column, event.step(), matches!(event, Event::Skipped { .. })));
        }
    });
    events.sort();
    let expected = [
        ("digest", [true, false, true]),
        ("never", [true, true, true]),
        ("shout", [false, true, false]),
        ("title", [false, true, false]),
    ];
    let expected = expected.map(|(column, skipped)| {
        skipped.into_iter().enumerate().map(move |(step, skipped)| (column.to_owned(), step, skipped))
    });
    assert_eq!(events, expected.into_iter().flatten().collect::<Vec<_>>());
    assert_eq!(*conditions.lock().unwrap(), [0, 1, 2]);
    let progress = chat.progress();
    assert_eq!((progress.done, progress.skipped, progress.waiting), (5, 7, 0));
    block_on(async { chat.run().await.unwrap() });
    assert_eq!(conditions.lock().unwrap().len(), 3, "no condition is evaluated twice");
}

flow! {
    /// Windows with a notice of the hidden values.
    pub struct Elided {
        source user;
        column topics(user.latest) = labelled("topics").every(2);
        column coach(user, topics.window(2).elided().as("subjects"), self.latest.elided()) =
            labelled("coach");
        column judge(group("all", user.latest, coach.prev.as("past").elided()), topics.latest.elided()) =
            labelled("judge");
        column notes(user.window(2).filter(|text| text != "u1").elided(), self.window(2).elided()) =
            labelled("notes");
    }
}

fn elided_at_run_time() -> Flow {
    let user = source("user");
    let topics = column("topics", user.latest(), labelled("topics").every(2));
    let views = (user.all(), topics.window(2).elided().named("subjects"), this().latest().elided());
    let coach = column("coach", views, labelled("coach"));
    let all = group("all", (user.latest(), coach.prev().named("past").elided()));
    let judge = column("judge", (all, topics.latest().elided()), labelled("judge"));
    let some = user.window(2).filter(|text| text != "u1").elided();
    flow([judge, column("notes", (some, this().window(2).elided()), labelled("notes"))]).unwrap()
}

/// The notice counts existing values, and is before the first shown value, inside of its group.
#[test]
fn windows_show_the_number_of_hidden_values() {
    let expected = [
        ("coach", 0, "<user>u0</user>"),
        ("coach", 1, "<user>u0</user> | coach0 | <user>u1</user> <subjects>topics1</subjects>"),
        (
            "coach",
            5,
            "<user>u0</user> <user>u1</user> <user>u2</user> \
             <user>u3</user> <elided>1 value of subjects</elided> <subjects>topics3</subjects> <user>u4</user> \
             <elided>4 values of coach</elided> | coach4 | <user>u5</user> <subjects>topics5</subjects>",
        ),
        ("judge", 0, "<all><user>u0</user></all>"),
        ("judge", 1, "<all><user>u1</user> <past>coach0</past></all> <topics>topics1</topics>"),
        (
            "judge",
            4,
            "<elided>1 value of topics</elided> <topics>topics3</topics> \
             <all><user>u4</user> <elided>3 values of past</elided> <past>coach3</past></all>",
        ),
        (
            "judge",
            5,
            "<all><user>u5</user> <elided>4 values of past</elided> <past>coach4</past></all> \
             <elided>2 values of topics</elided> <topics>topics5</topics>",
        ),
        ("notes", 2, "<elided/> | notes0 | <elided>1 value of user</elided> <user>u2</user>"),
        (
            "notes",
            4,
            "<elided>1 value of notes</elided> | notes2 | \
             <elided>2 values of user</elided> <user>u3</user> | notes3 | <user>u4</user>",
        ),
    ];
    let (typed, made) = (Elided::new(), elided_at_run_time());
    block_on(async {
        for step in 0..6 {
            typed.user.push(format!("u{step}")).await.unwrap();
            made.push("user", format!("u{step}")).await.unwrap();
        }
        typed.run().await.unwrap();
        made.run().await.unwrap();
    });
    for (column, step, expected) in expected {
        for messages in [typed.messages(column, step).unwrap(), made.messages(column, step).unwrap()] {
            assert_eq!(shown(&messages), expected, "{column} at {step}");
            assert_eq!(messages.to_json(), serde_json::to_string(&messages).unwrap());
            assert_eq!(messages.parts().map(|part| part.tokens()).sum::<usize>(), messages.tokens());
        }
    }
    assert_eq!(
        Elided::GRAPH.to_string().lines().nth(2),
        Some("column coach(user, topics.window(2).elided().as(\"subjects\"), self.latest.elided())")
    );
}

#[test]
fn a_part_has_the_number_of_hidden_values() {
    let chat = flow! {
        source user;
        column answer(user.window(2).elided(), self.latest.elided()) = labelled("answer");
    };
    block_on(async {
        for step in 0..4 {
            chat.user.push(format!("u{step}")).await.unwrap();
        }
        chat.run().await.unwrap();
    });
    let messages = chat.answer.messages(3).unwrap();
    let known = messages.parts().map(|part| {
        let hidden = part.hidden().map(|hidden| (hidden.column.to_string(), hidden.values));
        (part.role().as_str(), hidden, part.origin().map(|cell| cell.step))
    });
    let expected = [
        ("user", Some(("user".to_owned(), 2)), None),
        ("user", None, Some(2)),
        ("user", Some(("answer".to_owned(), 2)), None),
        ("assistant", None, Some(2)),
        ("user", None, Some(3)),
    ];
    assert!(known.eq(expected), "{messages:?}");
}

/// The notice of a window is where two requests diverge anyway.
#[test]
fn a_notice_of_hidden_values_does_not_shorten_the_stable_prefix() {
    let user = source("user");
    let topics = column("topics", user.latest(), labelled("topics"));
    let plain = column("plain", (&user, topics.window(2), this()), labelled("plain"));
    let counted = column("counted", (&user, topics.window(2).elided(), this()), labelled("plain"));
    let chat = flow([plain, counted]).unwrap();
    block_on(async {
        for step in 0..6 {
            chat.push("user", format!("u{step}")).await.unwrap();
        }
        chat.run().await.unwrap();
    });
    for step in 0..6 {
        let [plain, counted] = ["plain", "counted"].map(|column| chat.explain_cache(column, step).unwrap());
        assert_eq!(
            (plain.bytes == plain.total_bytes, plain.difference),
            (counted.bytes == counted.total_bytes, counted.difference)
        );
        let more = if step < 2 { 0 } else { counted.total_bytes - plain.total_bytes };
        assert_eq!(more > 0, step >= 2);
        assert!(step < 1 || plain.bytes == counted.bytes, "{} and {} at {step}", plain.bytes, counted.bytes);
    }
    let outline = chat.outline();
    assert_eq!(outline.columns[2].repeats, outline.columns[3].repeats);
}

#[test]
fn elided_on_a_view_that_hides_nothing_is_an_error() {
    let user = source("user");
    for view in [user.all().elided(), user.prev().all().elided(), user.window(3).elided().all()] {
        let Err(Error::Schema(error)) = flow([column("pro", view, labelled("pro"))]) else {
            panic!("it shows everything")
        };
        assert!(
            matches!(error.errors(), [SchemaError::NothingElided { input, .. }] if *input == "user"),
            "{error}"
        );
    }
    let own = column("pro", (user.latest(), this().elided()), labelled("pro"));
    let Err(Error::Schema(error)) = flow([own]) else { panic!("it shows its whole self history") };
    assert!(
        matches!(error.errors(), [SchemaError::NothingElided { input, .. }] if *input == "pro"),
        "{error}"
    );
    assert!(error.to_string().contains(".window(3).elided()"), "{error}");
}

/// An omitted turn takes its notice with it, and the notice is counted.
#[test]
fn a_budget_counts_a_notice_and_omits_it_with_its_turn() {
    let user = source("user");
    let views = (user.window(4).elided(), this().window(2).elided());
    let chat = flow([column(
        "answer",
        views,
        labelled("answer").budget(Budget::of(40).token_buffer(10).rolling_window()),
    )]);
    let chat = chat.unwrap();
    block_on(async {
        for step in 0..8 {
            chat.push("user", format!("u{step}")).await.unwrap();
        }
        chat.run().await.unwrap();
    });
    let messages = chat.messages("answer", 7).unwrap();
    assert_eq!(
        shown(&messages),
        "<elided>5 values of answer</elided> | answer5 | <user>u6</user> | answer6 | <user>u7</user>"
    );
    let report = messages.report().unwrap();
    assert_eq!((report.turns, report.after), (2, messages.parts().map(|part| part.tokens()).sum()));
    // Two values of six tokens with their tags, and the notice before the first of them.
    assert_eq!(report.before - report.after, 2 * 6 + 10);
}

flow! {
    /// Each view of a column once.
    pub struct AllViews {
        source user;
        column all(user)                         = labelled("all");
        column latest(user.latest)               = labelled("latest");
        column window(user.window(2))            = labelled("window");
        column prev(user.latest.as("now"), user.prev.window(2)) = labelled("prev");
        column filter(user.filter(|text| text != "u1")) = labelled("filter");
        column sample(user.sample(|step| step != 1)) = labelled("sample");
        column note(user.note("The questions.")) = labelled("note");
        column tag(user.as("person"))            = labelled("tag");
        column elided(user.latest.elided())      = labelled("elided");
    }
}

#[test]
fn columns_of_both_kinds_of_flow_have_the_same_views() {
    let user = source("user");
    let columns: [(&str, Vec<View>); 9] = [
        ("all", vec![user.all()]),
        ("latest", vec![user.latest()]),
        ("window", vec![user.window(2)]),
        ("prev", vec![user.latest().r#as("now"), user.prev().window(2)]),
        ("filter", vec![user.filter(|text| text != "u1")]),
        ("sample", vec![user.sample(|step| step != 1)]),
        ("note", vec![user.note("The questions.")]),
        ("tag", vec![user.r#as("person")]),
        ("elided", vec![user.latest().elided()]),
    ];
    let (typed, names) = (AllViews::new(), columns.each_ref().map(|(name, _)| *name));
    let dynamic = flow(columns.map(|(name, views)| column(name, views, labelled(name)))).unwrap();
    block_on(async {
        for step in 0..3 {
            typed.user.push(format!("u{step}")).await.unwrap();
            dynamic.push("user", format!("u{step}")).await.unwrap();
        }
        typed.run().await.unwrap();
        dynamic.run().await.unwrap();
    });
    for (name, step) in names.iter().flat_map(|name| [0, 2].map(|step| (*name, step))) {
        let messages = typed.messages(name, step).unwrap();
        assert_eq!(messages, dynamic.messages(name, step).unwrap(), "{name} at {step}");
    }
    assert_eq!(typed.outline(), dynamic.outline());
}
