//! Laws of tiered contexts, on random flows.

use std::collections::BTreeSet;
use std::sync::Arc;

use columnar::budget::{Budget, Strategy as Cut};
use columnar::documents::{Key, Kind, Update};
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::store::MemoryStore;
use columnar::tiers::Tier;
use columnar::{Column, Messages, Text};
use columnar_tests::pictures::picture;
use proptest::collection::vec;
use proptest::prelude::*;

use super::composed::{Composed, Edit, Set, Turn, composed};

/// One step of a flow.
#[derive(Clone, Debug)]
struct Random {
    edits: Vec<Edit>,
    /// Whether there is a hint, and a response.
    hint: bool,
    reply: bool,
    /// Whether there is a picture beside the question.
    picture: bool,
    /// An earlier cell, of `user` or of the column, that is excluded from here on, or included again.
    toggled: Option<(bool, prop::sample::Index)>,
}

/// The views of the column beside the documents and its own history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Views {
    /// `user`
    User,
    /// `user.latest`
    Latest,
    /// `hint`, which is skipped at some steps.
    Hint,
    /// `user, hint.window(2)`
    Both,
}

impl Views {
    fn windows(self) -> &'static [Option<usize>] {
        match self {
            Self::User | Self::Hint => &[None],
            Self::Latest => &[Some(1)],
            Self::Both => &[None, Some(2)],
        }
    }
}

fn key() -> impl Strategy<Value = Key> {
    let kind = prop_oneof![4 => Just(Kind::Symbol), 4 => Just(Kind::File), 1 => Just(Kind::Url)];
    (kind, 0..5_usize).prop_map(|(kind, path)| {
        let path = if kind == Kind::Url { format!("https://p{path}") } else { format!("p{path}.rs") };
        Key::new(kind, &path).unwrap()
    })
}

pub(super) fn edit() -> impl Strategy<Value = Edit> {
    let text = prop_oneof![Just(String::new()), "[a-z`\n]{1,12}", "[a-z]{100,200}"];
    prop_oneof![
        8 => (key(), text).prop_map(|(key, text)| Edit::Put(key, text)),
        3 => (key(), 0..3_u32, 0..3_u32).prop_map(|(key, id, references)| Edit::Cluster(key, id, references)),
        3 => key().prop_map(Edit::Remove),
        1 => "[a-c\n]{0,3}".prop_map(Edit::Tree),
        1 => "[a-c]{0,2}".prop_map(Edit::Legend),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Random>> {
    let edits = prop_oneof![5 => Just(Vec::new()), 3 => vec(edit(), 1..3), 1 => vec(edit(), 1..12)];
    let toggled = prop::option::weighted(0.1, any::<(bool, prop::sample::Index)>());
    let step =
        (edits, prop::bool::weighted(0.7), prop::bool::weighted(0.9), prop::bool::weighted(0.1), toggled);
    let step = step.prop_map(|(edits, hint, reply, picture, toggled)| Random {
        edits,
        hint,
        reply,
        picture,
        toggled,
    });
    vec(step, 1..48)
}

fn views() -> impl Strategy<Value = Views> {
    prop_oneof![Just(Views::User), Just(Views::Latest), Just(Views::Hint), Just(Views::Both)]
}

/// `hints` and `replies` have the steps at which the columns `hint` and `coder` have a value.
fn columns(views: Views, target: usize, budget: &Budget, random: &[Random]) -> [Column; 4] {
    let (files, user) = (documents("files"), source("user"));
    let hints: Arc<[bool]> = random.iter().map(|step| step.hint).collect();
    let replies: Arc<[bool]> = random.iter().map(|step| step.reply).collect();
    let hint = move |cx: Context| {
        let value = if hints[cx.step()] { Ok(hint_at(cx.step())) } else { Err("no hint") };
        async move { value }
    };
    let step = move |cx: Context| {
        let value = if replies[cx.step()] { Ok(reply_at(cx.step())) } else { Err("no reply") };
        async move { value }
    };
    let hint = column("hint", user.latest(), hint.or_skip());
    let (tiered, step) = (files.tiered().target(target), step.budget(budget.clone()).or_skip());
    let coder = match views {
        Views::User => column("coder", (tiered, &user, this()), step),
        Views::Latest => column("coder", (tiered, user.latest(), this()), step),
        Views::Hint => column("coder", (tiered, &hint, this()), step),
        Views::Both => column("coder", (tiered, &user, hint.window(2), this()), step),
    };
    [files, user, hint, coder]
}

fn user_at(step: usize) -> String {
    format!("question {step:02}")
}

/// The value of `user` at a step.
fn question(random: &Random, step: usize) -> Text {
    let question = Text::new(user_at(step));
    if random.picture { question.with(picture(150, 100)) } else { question }
}

/// Stands for a picture in the other implementation.
const PICTURE: &str = "\n[picture]";

fn hint_at(step: usize) -> String {
    format!("because of {step:02}")
}

fn reply_at(step: usize) -> String {
    format!("answer {step:02}")
}

/// The texts of a step, as a context shows them.
fn turn(views: Views, documents: Set, random: &Random, step: usize) -> Turn {
    let tag = |tag: &str, text: String| format!("<{tag}>\n{text}\n</{tag}>");
    let hint = random.hint.then(|| tag("hint", hint_at(step)));
    let picture = if random.picture { PICTURE } else { "" };
    let user = || Some(tag("user", user_at(step)) + picture);
    let inputs = match views {
        Views::User | Views::Latest => vec![user()],
        Views::Hint => vec![hint],
        Views::Both => vec![user(), hint],
    };
    // A cell whose inputs are all skipped is skipped.
    let reply = (random.reply && inputs.iter().any(Option::is_some)).then(|| reply_at(step));
    Turn { documents, inputs, reply, tokens: 0 }
}

/// A context of the library, in the form of the other implementation.
fn shown(messages: &Messages) -> Composed {
    let mut last = None;
    let texts = messages.parts().map(|part| {
        let text = part.text().into_owned() + &PICTURE.repeat(part.attachments().len());
        // A part that continues a message begins with an empty line.
        let is_first = last.replace(part.role()) != Some(part.role());
        let text = if is_first { text } else { text.strip_prefix("\n\n").unwrap().to_owned() };
        (part.role().as_str().to_owned(), part.tier().unwrap(), text)
    });
    let (messages_of, broken) = (texts.collect(), messages.moves().unwrap().broken().to_vec());
    Composed { system: messages.system(""), messages: messages_of, broken }
}

/// The bytes of a request in their order.
fn bytes(messages: &Messages) -> String {
    messages.parts().map(|part| part.text().into_owned()).collect()
}

fn tier_text(context: &Composed, tier: Tier) -> Vec<&str> {
    let system = (tier == Tier::L0).then_some(context.system.as_str());
    let texts = context.messages.iter().filter(|(_, of, _)| *of == tier).map(|(.., text)| text.as_str());
    system.into_iter().chain(texts).collect()
}

/// A tier has the text that it had in the last request with a response, unless it is broken. Then the texts differ.
fn same_text_unless_broken(before: &Composed, now: &Composed, step: usize) -> Result<(), TestCaseError> {
    for tier in Tier::CACHED {
        let texts = (tier_text(before, tier), tier_text(now, tier));
        prop_assert_eq!(
            texts.0 != texts.1,
            now.broken.contains(&tier),
            "{} at step {}: {:?}",
            tier,
            step,
            texts
        );
    }
    Ok(())
}

/// Runs a flow step by step, and checks the context of each step when it is the newest one. Returns them all.
async fn run(
    f: &Flow,
    (views, target): (Views, usize),
    random: &[Random],
) -> Result<Vec<Option<Composed>>, TestCaseError> {
    let (mut contexts, mut turns): (Vec<Option<Composed>>, Vec<Turn>) = (Vec::new(), Vec::new());
    let mut previous: Option<(Composed, bool)> = None;
    let mut predicted: Option<(String, usize, bool)> = None;
    for (step, of_step) in random.iter().enumerate() {
        let before = turns.last().map_or_else(Set::default, |turn: &Turn| turn.documents.clone());
        let (documents, update) = before.apply(&of_step.edits);
        f.push("files", update.to_text().unwrap()).await.unwrap();
        f.push("user", question(of_step, step)).await.unwrap();
        f.run().await.unwrap();
        turns.push(turn(views, documents, of_step, step));
        let has_inputs = turns[step].inputs.iter().any(Option::is_some);
        prop_assert_eq!(f.get("coder", step).is_some(), turns[step].reply.is_some());
        let messages = match f.messages("coder", step) {
            Ok(messages) => messages,
            Err(error) => {
                prop_assert!(!has_inputs, "{}", error);
                contexts.push(None);
                predicted = None;
                continue;
            }
        };
        // The tokens of the parts that the column itself shows are those of its turns.
        for (at, turn) in turns.iter_mut().enumerate().take(step) {
            let of = messages.parts().filter(|part| part.origin().is_some_and(|origin| origin.step == at));
            turn.tokens = of.map(|part| part.tokens()).sum();
        }
        let context = shown(&messages);
        let expected = composed(&turns, views.windows(), target);
        prop_assert_eq!(&context, &expected, "at step {}", step);
        let tokens: usize = messages.parts().map(|part| part.tokens()).sum();
        prop_assert_eq!(tokens, messages.tokens());

        if let Some((before, true)) = &previous {
            same_text_unless_broken(before, &context, step)?;
        }
        // What was predicted of this request holds, if nothing was updated.
        if let Some((before, repeated, is_whole)) = &predicted
            && update == Update::new()
        {
            let now = bytes(&messages);
            let common = before.bytes().zip(now.bytes()).take_while(|(one, other)| one == other).count();
            prop_assert!(*repeated <= common, "{} bytes of {} at step {}", repeated, common, step);
            prop_assert!(!is_whole || common == before.len());
        }
        let prefix = f.explain_cache("coder", step).unwrap();
        let is_answered = turns[step].reply.is_some();
        predicted = is_answered.then(|| (bytes(&messages), prefix.bytes, prefix.difference.is_none()));
        previous = Some((context.clone(), is_answered));
        contexts.push(Some(context));
    }
    Ok(contexts)
}

/// Compares the contexts of a flow with those that were computed.
fn check(
    f: &Flow,
    steps: impl Iterator<Item = usize>,
    contexts: &[Option<Composed>],
) -> Result<(), TestCaseError> {
    for step in steps {
        let context = f.messages("coder", step).ok().map(|messages| shown(&messages));
        prop_assert_eq!(&context, &contexts[step], "at step {}", step);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(if cfg!(debug_assertions) { 60 } else { 2_000 })
    })]

    /// Every context is the one that a second implementation composes; a flow that is reopened or forked has the same.
    #[test]
    fn t14_every_context_is_a_function_of_the_steps(
        random in steps(),
        views in views(),
        target in prop_oneof![Just(0), Just(30), Just(100), 0..400_usize],
        fork in any::<prop::sample::Index>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = MemoryStore::new();
            let declared = || columns(views, target, &Budget::new(), &random);
            let f = Flow::open(store.clone(), declared()).await.unwrap();
            let contexts = run(&f, (views, target), &random).await?;
            check(&f, (0..random.len()).rev(), &contexts)?;

            let at = fork.index(random.len());
            let forked = f.fork(at).unwrap();
            let mut documents = Set::default();
            for (step, of_step) in random.iter().enumerate() {
                let (next, update) = documents.apply(&of_step.edits);
                documents = next;
                if step >= at {
                    forked.push("files", update.to_text().unwrap()).await.unwrap();
                    forked.push("user", question(of_step, step)).await.unwrap();
                    forked.run().await.unwrap();
                }
            }
            check(&forked, 0..random.len(), &contexts)?;
            check(&f, 0..random.len(), &contexts)?;
            drop((f, forked));

            let f = Flow::open(store.clone(), declared()).await.unwrap();
            check(&f, 0..random.len(), &contexts)?;
            drop(f);
            let f = Flow::open(OpenOptions::new(store).recent(1), declared()).await.unwrap();
            f.load(0).await.unwrap();
            check(&f, (0..random.len()).rev(), &contexts)?;
            Ok::<(), TestCaseError>(())
        })?;
    }

    /// A budget omits whole turns, and no document. A flow that is reopened omits the same. A tier from which it omits other
    /// turns than before was not broken. Excluded cells are no other.
    #[test]
    fn t11_a_budget_omits_turns_and_no_document(
        random in steps(),
        views in views(),
        target in prop_oneof![Just(0), Just(30), 0..400_usize],
        tokens in 20..400_usize,
        low_water in prop_oneof![Just(1.0), Just(0.5), Just(0.8)],
        cut in prop_oneof![Just(Cut::TruncateMiddle), Just(Cut::RollingWindow)],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let store = MemoryStore::new();
            let budget = Budget::of(tokens).token_buffer(0).strategy(cut).low_water(low_water);
            let f = Flow::open(store.clone(), columns(views, target, &budget, &random)).await.unwrap();
            let mut documents = Set::default();
            let (mut contexts, mut answered, mut excluded) = (Vec::new(), None, BTreeSet::new());
            for (step, of_step) in random.iter().enumerate() {
                if let Some((of_user, index)) = of_step.toggled.filter(|_| step > 0) {
                    let cell = (if of_user { "user" } else { "coder" }, index.index(step));
                    if excluded.remove(&cell) {
                        f.include(cell.0, cell.1).await.unwrap();
                    } else if f.get(cell.0, cell.1).is_some() {
                        f.exclude(cell.0, cell.1).await.unwrap();
                        excluded.insert(cell);
                    }
                }
                let (next, update) = documents.apply(&of_step.edits);
                documents = next;
                f.push("files", update.to_text().unwrap()).await.unwrap();
                f.push("user", question(of_step, step)).await.unwrap();
                f.run().await.unwrap();
                contexts.push(match f.messages("coder", step) {
                    Ok(messages) => {
                        within_budget(&messages)?;
                        let context = shown(&messages);
                        if let Some(before) = &answered {
                            same_text_unless_broken(before, &context, step)?;
                        }
                        if f.get("coder", step).is_some() {
                            answered = Some(context.clone());
                        }
                        Some(context)
                    }
                    Err(error) => {
                        let is_expected = matches!(error, Error::Skipped { .. } | Error::Budget { .. });
                        prop_assert!(is_expected, "{}", error);
                        None
                    }
                });
            }
            check(&f, (0..random.len()).rev(), &contexts)?;
            drop(f);
            let f = Flow::open(store, columns(views, target, &budget, &random)).await.unwrap();
            check(&f, 0..random.len(), &contexts)
        })?;
    }
}

/// The documents are whole, the tiers are in order, and the tokens are those of the parts.
fn within_budget(messages: &Messages) -> Result<(), TestCaseError> {
    let report = messages.report().unwrap();
    let tokens: usize = messages.parts().map(|part| part.tokens()).sum();
    prop_assert_eq!((tokens, report.after), (messages.tokens(), messages.tokens()));
    let newest = messages.parts().last().and_then(|part| Some(part.origin()?.step));
    let turns =
        messages.parts().filter_map(|part| part.origin()).filter(|origin| Some(origin.step) != newest);
    prop_assert!(tokens <= report.limit || turns.count() == 0, "{}", report);
    let tiers: Vec<_> = messages.parts().map(|part| part.tier()).collect();
    prop_assert!(tiers.is_sorted(), "{:?}", tiers);
    let mut items: Vec<_> =
        messages.parts().flat_map(|part| part.items()).map(|item| item.key.clone()).collect();
    let documents = messages.documents().unwrap();
    let shown = documents.iter().map(|(key, _)| key).filter(|key| documents.is_shown(key));
    let system = messages.system("");
    let shown: Vec<_> =
        shown.filter(|key| !system.contains(&format!("\n\n{}\n```", key.path()))).cloned().collect();
    items.sort();
    // Documents of L0 are in the system text.
    prop_assert!(shown.iter().all(|key| items.binary_search(key).is_ok()), "{:?} of {:?}", items, shown);
    prop_assert!(items.windows(2).all(|pair| pair[0] != pair[1]));
    Ok(())
}
