//! Contexts with documents in tiers: worked examples.

use columnar::Value;
use columnar::budget::{Budget, BudgetError, FixedText, Report};
use columnar::cache::{CachePlan, CachePolicy, Difference, Pace, Position, Reason};
use columnar::documents::{Documents, Key, Kind, Update};
use columnar::prelude::*;
use columnar::rendering::Rendering;
use columnar::reopen::OpenOptions;
use columnar::store::{Entry, MemoryStore, Store};
use columnar::testing::{ScriptedModel, context_text, script};
use columnar::tiers::Tier;
use columnar::{BoxError, Name};
use futures::stream::BoxStream;

use crate::assembly::rendering::{blocks, messages_of};

/// A coder over documents with this target, whose replies are short.
fn coder(target: usize) -> Column {
    let (files, user) = (documents("files"), source("user"));
    column("coder", (files.tiered().target(target), &user, this()), script(["Done."; 60]))
}

async fn step(f: &Flow, update: Update) -> Result<usize> {
    f.push("files", update.to_text().expect("it has no fault")).await?;
    let step = f.push("user", format!("Question {}.", f.len("user")?)).await?;
    f.run().await?;
    Ok(step)
}

/// Two clusters of symbols, two files, a tree and a legend.
fn scanned() -> Update {
    let update = Update::new().legend("f function").tree("a.rs\nb.rs").file("a.rs", "a").file("b.rs", "b");
    let update = update.symbol("a.rs", "f a").cluster(0, 1).symbol("c.rs", "f c").cluster(0, 3);
    update.symbol("d.rs", "f d").cluster(0, 2).symbol("e.rs", "f e").cluster(1, 1)
}

/// A flow whose documents change at every second step.
async fn edited(steps: usize) -> Result<Flow> {
    let f = flow([coder(4)])?;
    for at in 0..steps {
        let text = format!("at {at}");
        let update = match at {
            0 => scanned(),
            2 => Update::new().symbol("c.rs", text),
            4 => Update::new().file("b.rs", text),
            6 => Update::new().symbol("e.rs", text),
            _ => Update::new(),
        };
        step(&f, update).await?;
    }
    Ok(f)
}

/// The blocks of a context as their tier, the role, and the first line of each part.
fn first_lines(messages: &Messages) -> Vec<String> {
    let parts = messages.parts().map(|part| {
        let text = part.text();
        let line = text.trim_start().lines().next().unwrap_or_default().to_owned();
        format!("{} {} {line}", part.tier().expect("there are tiers"), part.role())
    });
    parts.collect()
}

#[tokio::test]
async fn t18_tiers_are_in_order_with_titles_replies_and_the_history_between() -> Result<()> {
    let f = edited(7).await?;
    let text = context_text(&f.messages("coder", 6)?);
    let (documents, history) = text.split_once("\n\n[user]\nuser 0, L2").expect("the history begins in L2");
    assert_eq!(
        documents,
        "coder at step 6: 21 messages\n\n\
         [system]\nL0\n│ # Repository Structure\n│\n│ ```\n│ f function\n│ ```\n\n\
         [user]\nL1\n│ # Repository Structure (continued)\n│\n│ d.rs\n│ ```\n│ f d\n│ ```\n\n\
         [assistant]\nL1\n│ Ok."
    );
    let (_, active) = history.split_once("coder 2, L2\n│ Done.\n\n").expect("three exchanges are in L2");
    let (l3, active) = active.split_once("\n\n[user]\nuser 3, L3").expect("the history goes on in L3");
    assert_eq!(
        l3,
        "[user]\nL3\n│ # Repository Structure (continued)\n│\n│ c.rs\n│ ```\n│ at 2\n│ ```\n│\n\
         │ # Reference Files (L3)\n│\n│ a.rs\n│ ```\n│ a\n│ ```\n\n\
         [assistant]\nL3\n│ Ok."
    );
    let (_, active) = active.split_once("coder 5, L3\n│ Done.\n\n").expect("all but the prompt is in a tier");
    assert_eq!(
        active,
        "[user]\nactive\n│ # Repository Files\n│\n│ ```\n│ a.rs\n│ b.rs\n│ ```\n\n\
         [assistant]\nactive\n│ Ok.\n\n\
         [user]\nactive\n│ # Repository Structure (continued)\n│\n│ e.rs\n│ ```\n│ at 6\n│ ```\n│\n\
         │ # Working Files\n│\n│ b.rs\n│ ```\n│ at 4\n│ ```\n\n\
         [assistant]\nactive\n│ Ok.\n\n\
         [user]\nuser 6, active\n│ <user>\n│ Question 6.\n│ </user>"
    );
    assert!(!text.contains("f a"), "the symbols of a selected file are hidden");
    Ok(())
}

#[tokio::test]
async fn t20_pages_stand_between_the_tree_and_the_working_files_for_one_step() -> Result<()> {
    let f = flow([coder(0)])?;
    step(&f, Update::new()).await?;
    let pages = Update::new().url("https://b", "B").url("https://a", "A").tree("x").file("x", "");
    step(&f, pages).await?;
    step(&f, Update::new()).await?;
    let tree = ["active user # Repository Files", "active assistant Ok."];
    let pages = ["active user # URL Context", "active assistant Ok, I've reviewed the URL content."];
    let working = ["active user # Working Files", "active assistant Ok."];
    let turns = |count: usize| ["active user <user>", "active assistant Done."].repeat(count);
    let prompt = vec!["active user <user>"];
    let expected = [tree.to_vec(), pages.to_vec(), working.to_vec(), turns(1), prompt.clone()].concat();
    assert_eq!(first_lines(&f.messages("coder", 1)?), expected);
    let expected = [tree.to_vec(), working.to_vec(), turns(2), prompt].concat();
    assert_eq!(first_lines(&f.messages("coder", 2)?), expected);

    let messages = f.messages("coder", 1)?;
    let shown = messages.parts().find(|part| part.items().any(|item| item.key.kind() == Kind::Url));
    let text = shown.expect("there are pages").text().into_owned();
    assert_eq!(text, "# URL Context\n\nhttps://a\n```\nA\n```\n\nhttps://b\n```\nB\n```");
    assert_eq!(f.explain_cache("coder", 1)?.difference, Some(Difference::Tier(Tier::Active)));
    assert_eq!(f.explain_cache("coder", 2)?.difference, None);
    Ok(())
}

/// A provider for which every prefix is long enough.
fn eager() -> CachePolicy {
    let mut policy = CachePolicy::by_model("anthropic/claude-sonnet-4-5").clone();
    policy.minimum = 1;
    policy
}

#[tokio::test]
async fn t23_each_cached_tier_ends_with_a_mark_in_the_form_of_the_provider() -> Result<()> {
    let f = edited(7).await?;
    let messages = f.messages("coder", 6)?;
    let plan = CachePlan::of(&messages, 100, &eager(), Pace::batch());
    let tiers: Vec<_> = messages.parts().map(|part| part.tier()).collect();
    let last = |tier| tiers.iter().rposition(|of| *of == Some(tier)).expect("it has parts");
    let expected = [
        (Position::System, Reason::Tier(Tier::L0)),
        (Position::Part(last(Tier::L1)), Reason::Tier(Tier::L1)),
        (Position::Part(last(Tier::L2)), Reason::Tier(Tier::L2)),
        (Position::Part(last(Tier::L3)), Reason::Tier(Tier::L3)),
    ];
    assert_eq!(plan.marks.iter().map(|mark| (mark.position, mark.reason)).collect::<Vec<_>>(), expected);
    assert!(plan.to_string().ends_with("for the tier L3"), "{plan}");

    // Each format shows the same texts, and marks these in its own way.
    let system = messages.system("Be brief.");
    let documents =
        system.strip_prefix("Be brief.\n\n").expect("the documents of L0 are behind the instruction");
    assert_eq!(documents, "# Repository Structure\n\n```\nf function\n```");
    let parts: Vec<_> = messages.parts().map(|part| (part.role(), part.text().into_owned())).collect();
    let shown = parts.chunk_by(|(one, _), (other, _)| one == other).map(|message| {
        let text: String = message.iter().map(|(_, text)| text.as_str()).collect();
        (message[0].0.as_str(), text)
    });
    let shown: Vec<_> = shown.collect();
    let whole: Vec<_> = [("system", system.clone())].into_iter().chain(shown.clone()).collect();
    let marked = [system.as_str(), "Ok.", "Done.", "Done."];
    for provider in [eager(), CachePolicy::by_model("openai/gpt-5.6").clone()] {
        let rendering = Rendering::new(&system, &messages).marked(plan.clone(), &provider);
        let form = if provider.models == eager().models { rendering.anthropic() } else { rendering.openai() };
        for form in [form, rendering.ai_sdk()] {
            assert_eq!(messages_of(&form), whole, "{form}");
            let blocks = blocks(&form).into_iter().filter(|(.., is_marked)| *is_marked);
            assert_eq!(blocks.map(|(_, text, _)| text).collect::<Vec<_>>(), marked, "{form}");
        }
        assert_eq!(messages_of(&rendering.merged()), whole, "strings have no marks");
        let (_, first) = shown.first().expect("there are messages");
        let mut alternating = shown.clone();
        alternating[0].1 = format!("{system}\n\n{first}");
        assert_eq!(
            messages_of(&rendering.alternating()),
            alternating,
            "the system text begins the first message"
        );
    }
    Ok(())
}

/// The minimum of a provider is on the whole prefix. A tier below it stays where it is, without a mark.
#[tokio::test]
async fn t11_a_small_tier_has_no_mark() -> Result<()> {
    let f = edited(7).await?;
    let messages = f.messages("coder", 6)?;
    let up_to = |tier: Tier| {
        let parts = messages.parts().filter(|part| part.tier() <= Some(tier));
        parts.map(|part| part.tokens()).sum::<usize>()
    };
    let mut policy = eager();
    policy.minimum = up_to(Tier::L2);
    let tiers = |instruction, pace| {
        let plan = CachePlan::of(&messages, instruction, &policy, pace);
        plan.marks.iter().map(|mark| mark.reason).collect::<Vec<_>>()
    };
    assert_eq!(tiers(0, Pace::batch()), [Tier::L2, Tier::L3].map(Reason::Tier));
    let missing = policy.minimum - up_to(Tier::L1);
    assert_eq!(tiers(missing, Pace::batch()), [Tier::L1, Tier::L2, Tier::L3].map(Reason::Tier));
    assert_eq!(tiers(policy.minimum, Pace::batch()).len(), 4);
    // The change at step 6 broke L2 and L3, so the request before wrote L0 and L1.
    assert_eq!(messages.moves().expect("there are tiers").broken()[0], Tier::L2);
    assert_eq!(tiers(policy.minimum, Pace::batch().last()), [Tier::L0, Tier::L1].map(Reason::Tier));
    assert_eq!(tiers(0, Pace::batch().last()), []);
    Ok(())
}

#[tokio::test]
async fn explain_cache_names_the_first_tier_that_changes_by_itself() -> Result<()> {
    let f = flow([coder(0)])?;
    for at in 0..3 {
        step(&f, if at == 0 { Update::new().file("a.rs", "a") } else { Update::new() }).await?;
    }
    let prefix = f.explain_cache("coder", 1)?;
    assert_eq!((prefix.bytes, prefix.difference), (prefix.total_bytes, None));
    let prefix = f.explain_cache("coder", 2)?;
    assert_eq!(prefix.difference, Some(Difference::Tier(Tier::L3)), "the file goes from active to L3");
    assert!(prefix.to_string().ends_with("the first difference is the tier L3"), "{prefix}");
    Ok(())
}

/// A model with a name that the registry knows.
struct Named(&'static str, ScriptedModel);

impl columnar::model::Model for Named {
    fn name(&self) -> &str {
        self.0
    }

    fn reply(
        &self,
        request: columnar::model::Request,
    ) -> BoxStream<'static, Result<columnar::model::Chunk, BoxError>> {
        self.1.reply(request)
    }
}

/// The default target is more than the minimum of the provider, and that of a provider without a discount is the smallest.
#[tokio::test]
async fn t03_the_target_depends_on_the_model_unless_the_view_has_one() -> Result<()> {
    for (name, target, expected) in [
        ("anthropic/claude-sonnet-4-5", None, 1_536),
        ("anthropic/claude-opus-4-5", None, 6_144),
        ("somebody/something", None, 1_536),
        ("anthropic/claude-opus-4-5", Some(400), 400),
        ("anthropic/claude-opus-4-5", Some(0), usize::MAX),
    ] {
        let (files, user) = (documents("files"), source("user"));
        let tiered = files.tiered();
        let tiered = target.map_or_else(|| tiered.clone(), |tokens| tiered.clone().target(tokens));
        let f = flow([column("coder", (tiered, &user, this()), prompt("Be brief."))])?;
        f.set_model(Named(name, ScriptedModel::new(|_| "r".repeat(4 * 90))));
        for at in 0..80 {
            f.push("files", Update::new().to_text().expect("it is empty")).await?;
            f.push("user", "u".repeat(4 * 90)).await?;
            f.run().await?;
            let messages = f.messages("coder", at)?;
            let active = messages.parts().filter(|part| part.tier() == Some(Tier::Active));
            // Without the input of the step itself.
            let history = active.take_while(|part| part.origin().is_none_or(|origin| origin.step < at));
            assert!(history.map(|part| part.tokens()).sum::<usize>() <= expected, "{name} at step {at}");
        }
        let messages = f.messages("coder", 79)?;
        let cached = messages.parts().filter(|part| part.tier() != Some(Tier::Active));
        let cached: usize = cached.map(|part| part.tokens()).sum();
        assert_eq!(cached > 0, expected < messages.tokens(), "{name}: {cached}");
        assert!(cached == 0 || cached + expected + 400 > messages.tokens(), "{name}: as few as possible");
    }
    Ok(())
}

/// The documents of L0 are part of the instruction, for the request as for its tokens.
#[tokio::test]
async fn a_prompt_sends_the_documents_of_the_first_tier_behind_its_instruction() -> Result<()> {
    let model = ScriptedModel::new(|_| "Done.".to_owned());
    let (files, user) = (documents("files"), source("user"));
    let views = (files.tiered(), user.note("The words."), this());
    let f = flow([column("coder", views, prompt("Be brief.").model(model.clone()))])?;
    step(&f, scanned()).await?;
    let [request] = &model.requests()[..] else { panic!("one request") };
    let messages = f.messages("coder", 0)?;
    assert_eq!(*request.system, *messages.system("Be brief."));
    assert!(request.system.ends_with("<user>: The words.\n\n# Repository Structure\n\n```\nf function\n```"));
    assert_eq!(messages.documents().map(Documents::len), Some(6));
    let key = Key::new(Kind::File, "a.rs").expect("a path");
    assert_eq!(messages.documents().and_then(|documents| documents.get(&key)).map(|text| &**text), Some("a"));
    Ok(())
}

#[tokio::test]
async fn a_budget_takes_the_documents_off_first_and_names_the_largest_if_they_do_not_fit() -> Result<()> {
    let text = |tokens: usize| "d".repeat(4 * tokens);
    let (files, user) = (documents("files"), source("user"));
    let coder = |tokens| {
        let budget = Budget::of(tokens).token_buffer(0);
        let views = (files.tiered().target(0), &user, this());
        column("coder", views, script(vec!["r".repeat(400); 30]).budget(budget))
    };
    let f = flow([coder(2_000)])?;
    let update = Update::new().file("large.rs", text(900)).file("small.rs", text(100));
    f.push("files", update.to_text().expect("valid")).await?;
    for at in 0..10 {
        if at > 0 {
            f.push("files", Update::new().to_text().expect("valid")).await?;
        }
        f.push("user", "u".repeat(400)).await?;
    }
    f.run().await?;
    for at in 0..10 {
        let messages = f.messages("coder", at)?;
        let report = messages.report().expect("there is a budget");
        assert!(messages.tokens() <= 2_000 && report.after == messages.tokens(), "{report}");
        let items: Vec<_> =
            messages.parts().flat_map(|part| part.items()).map(|item| item.key.to_string()).collect();
        assert_eq!(items, ["file:large.rs", "file:small.rs"]);
    }
    assert!(f.messages("coder", 9)?.report().is_some_and(Report::is_truncated));

    let f = flow([coder(900)])?;
    f.push("files", update.to_text().expect("valid")).await?;
    f.push("user", "Hello!").await?;
    let error = f.run().await.expect_err("the documents do not fit");
    let text = error.to_string();
    assert!(
        text.contains("the largest are `file:large.rs` with 90") && text.contains("`file:small.rs`"),
        "{text}"
    );
    assert!(!text.contains("ddd"), "{text}");
    let error = f.messages("coder", 0).expect_err("the documents do not fit");
    let Error::Budget { source: BudgetError::NoRoomForTurns { largest, limit, .. }, .. } = error else {
        panic!("{error:?}")
    };
    let key = Key::new(Kind::File, "large.rs").expect("a path");
    assert_eq!((largest.len(), &largest[0].0, limit), (2, &FixedText::Document(key), 900));
    Ok(())
}

/// A legend that filled the budget was an error about turns of 23 tokens over a limit of 0, which named a file of 4 tokens as
/// the largest text and advised to choose another strategy.
#[tokio::test]
async fn a_legend_a_tree_or_instructions_that_fill_a_budget_are_named() -> Result<()> {
    let error = async |update: Update, rules: &str, budget: Budget| {
        let (files, user) = (documents("files"), source("user"));
        let views = (files.tiered(), source("rules").latest().instruction(), &user, this());
        let f = flow([column("coder", views, script(["Done."]).budget(budget.token_buffer(0)))])?;
        f.push("files", update.to_text().expect("valid")).await?;
        f.push("rules", rules).await?;
        f.push("user", "Hello!").await?;
        Ok::<_, Error>(f.run().await.expect_err("it does not fit").to_string())
    };
    let start = "the context of `coder` at step 0 exceeds its budget: the documents, instructions and threads that no budget omits have \
                 about ";
    let end = ": raise the budget, or show fewer or shorter texts";
    let file = || Update::new().file("a", "x");
    let long = || "t".repeat(4_000);
    for (update, rules, expected) in [
        (
            file().legend(long()),
            "R",
            "1024 tokens, and the limit is 300; the largest are the legend with 1003",
        ),
        (
            file().tree(long()),
            "R",
            "1026 tokens, and the limit is 300; the largest are the file tree with 1003",
        ),
        (
            file(),
            &*long(),
            "1013 tokens, and the limit is 300; the largest are `rules` with 1001, `file:a` with 4",
        ),
    ] {
        for budget in [Budget::of(300), Budget::of(300).rolling_window(), Budget::of(300).stop_at_limit()] {
            let error = error(update.clone(), rules, budget).await?;
            let rest = error.strip_prefix(start).and_then(|error| error.strip_suffix(end));
            assert!(rest.is_some_and(|rest| rest.starts_with(expected)), "{error}");
        }
    }
    // The texts fit, and a turn does not. The numbers are those of all, also in the system text.
    let error =
        error(file().legend("t".repeat(400)), &"u".repeat(400), Budget::of(228).stop_at_limit()).await?;
    let expected = "it has about 230 tokens, and the limit is 228; the largest columns are `files` with 122, `rules` with 101, \
                    `user` with 7: raise the budget, narrow a view, or choose a strategy that truncates";
    assert_eq!(error.strip_prefix("the context of `coder` at step 0 exceeds its budget: "), Some(expected));
    Ok(())
}

/// A budget omitted the oldest turns of L2 and L1, whose texts changed, and only L3 was broken. So the last request of a
/// conversation had marks behind text that the request before had not written.
#[tokio::test]
async fn t13_a_tier_from_which_a_budget_omits_other_turns_is_broken() -> Result<()> {
    let (files, user) = (documents("files"), source("user"));
    let budget = Budget::of(250).token_buffer(0).rolling_window();
    let reply = async |cx: Context| format!("answer {:02}", cx.step());
    let f = flow([column("coder", (files.tiered().target(30), &user, this()), reply.budget(budget))])?;
    for at in 0..40 {
        let update = if at == 0 { Update::new().file("a.rs", "a") } else { Update::new() };
        f.push("files", update.to_text().expect("valid")).await?;
        f.push("user", format!("question {at:02}{}", ".".repeat(25))).await?;
    }
    f.run().await?;
    let text = |messages: &Messages, parts| -> String {
        messages.parts().take(parts).map(|part| part.text()).collect()
    };
    let mut provider = CachePolicy::by_model("anthropic/claude-sonnet-4-5").clone();
    provider.minimum = 1;
    let (mut marks, mut omitted) = (0, 0);
    for at in 1..40 {
        let (before, now) = (f.messages("coder", at - 1)?, f.messages("coder", at)?);
        let moves = now.moves().expect("there are tiers");
        let moved =
            |tier: &&Tier| moves.promotions().iter().any(|one| one.from == **tier || one.to == **tier);
        omitted += moves.broken().iter().filter(|tier| !moved(tier)).count();
        for mark in f.cache_plan("coder", at, &provider, Pace::batch().last())?.marks {
            let Position::Part(last) = mark.position else { continue };
            assert!(text(&before, usize::MAX).starts_with(&text(&now, last + 1)), "{mark} at step {at}");
            marks += 1;
        }
    }
    assert!(marks > 3 && omitted > 0, "{marks} marks, {omitted} tiers broken by the budget alone");
    Ok(())
}

/// Each request shows the documents once, however many updates there were.
#[tokio::test]
async fn a_forecast_counts_the_documents_of_each_step() -> Result<()> {
    let (files, user) = (documents("files"), source("user"));
    let f = flow([column(
        "coder",
        (files.tiered().target(0), &user, this()),
        script(vec!["r".repeat(400); 20]),
    )])?;
    for at in 0..20 {
        let text = format!("{at:02}{}", "d".repeat(3_998));
        let update =
            Update::new().file("a.rs", text).symbol("a.rs", "hidden").url("https://a", "page".repeat(100));
        f.push("files", update.to_text().expect("valid")).await?;
        f.push("user", "Question?").await?;
    }
    let forecast = f.forecast().input_tokens;
    f.run().await?;
    let sent: usize = (0..20).map(|at| f.messages("coder", at).map_or(0, |messages| messages.tokens())).sum();
    assert!(forecast.abs_diff(sent) < sent / 20, "{forecast} of {sent}");
    Ok(())
}

#[tokio::test]
async fn a_stored_text_that_is_no_update_is_an_error_of_the_cell() -> Result<()> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [coder(0)]).await?;
    step(&f, scanned()).await?;
    drop(f);
    store.open().await.expect("it is free");
    let files = Name::new("files").expect("a name");
    store.put(files, 1, Entry::from(Value::from("a secret"))).await.expect("it is stored");

    let f = Flow::open(store, [coder(0)]).await?;
    f.push("user", "And now?").await?;
    let error = f.messages("coder", 1).expect_err("the documents are not known");
    assert!(matches!(&error, Error::Load { column, .. } if *column == "files"), "{error:?}");
    let message = format!("{error} {error:?}");
    assert!(message.contains("step 1 is no update") && !message.contains("secret"), "{message}");
    f.run().await.expect_err("the cell has no context");
    assert_eq!((f.len("files")?, f.len("coder")?), (2, 1));
    Ok(())
}

/// The tiers of a step depend on all updates and turns before it, so all of them are loaded.
#[tokio::test]
async fn a_tiered_context_needs_all_steps_in_memory() -> Result<()> {
    let store = MemoryStore::new();
    let f = Flow::open(store.clone(), [coder(4)]).await?;
    for at in 0..40 {
        step(&f, if at == 0 { scanned() } else { Update::new() }).await?;
    }
    let expected = context_text(&f.messages("coder", 39)?);
    drop(f);
    let f = Flow::open(OpenOptions::new(store).recent(2), [coder(4)]).await?;
    match f.messages("coder", 39) {
        Ok(messages) => assert_eq!(context_text(&messages), expected),
        Err(error) => assert!(matches!(error, Error::NotLoaded { .. }), "{error:?}"),
    }
    assert_eq!(step(&f, Update::new()).await?, 40);
    assert_eq!(context_text(&f.messages("coder", 39)?), expected);
    Ok(())
}

/// An update with the bytes that are there changes nothing, whatever it is compared with.
#[tokio::test]
async fn t02_equal_bytes_are_no_change() -> Result<()> {
    let f = flow([coder(0)])?;
    for at in 0..5 {
        step(&f, if at % 2 == 0 { scanned() } else { Update::new() }).await?;
    }
    let messages = f.messages("coder", 4)?;
    assert_eq!(messages.moves().map(|moves| (moves.demotions().len(), moves.broken().len())), Some((0, 0)));
    let l3 = messages.parts().find(|part| part.tier() == Some(Tier::L3)).expect("the files went to L3");
    assert_eq!(l3.items().map(|item| item.n).collect::<Vec<_>>(), [3, 3]);
    Ok(())
}
