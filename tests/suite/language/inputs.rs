//! Compute steps that name their inputs: the types that views give them, in all forms of a flow.

use std::borrow::Cow;

use columnar::compute::Reply;
use columnar::documents::Update;
use columnar::flow::{Derived, Source};
use columnar::prelude::*;
use columnar::{BoxError, Json, Value};

flow! {
    struct Reviews {
        source review;
        column words(review.latest): usize = async |review| Json(review.split_whitespace().count());
        column title(review.latest) = async |review| review.split('.').next().unwrap_or_default().to_owned();
    }
}

flow! {
    struct Longer: Reviews {
        column all(words, title.window(2)) =
            async |words, title| format!("{} words; {}", words.iter().sum::<usize>(), title.join("+"));
    }
}

flow! {
    struct Desk(separator: String) {
        source text;
        use Reviews { review: text } as reviews;
        column line(reviews.words.latest, reviews.title.latest.as("named")) = {
            let separator = separator.clone();
            move |words: usize, named| {
                let line = format!("{words}{separator}{named}");
                async move { line }
            }
        };
    }
}

async fn push(source: &Source, texts: &[&str]) -> Result<()> {
    for text in texts {
        source.push(*text).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_view_decides_the_type_of_its_parameter() -> Result<()> {
    let flow = flow! {
        source a;
        source b;
        column one(a.latest)              = async |a| a.to_uppercase();
        column list(a, b.window(2))       = async |a, b| format!("{}|{}", a.join(","), b.join(","));
        column before(a.latest, one.prev) = async |a, one| format!("{a}{one:?}");
        column own(a.latest, self.latest) =
            async |own: Option<Value>| own.map_or(0, |own| own.len() + 1).to_string();
        column whole(a.latest, self) = async |mut whole: Vec<Value>| {
            whole.reverse();
            whole.len().to_string()
        };
        column shown(a.latest, b.filter(|text| text != "y")) = async |b| b.join(",");
        column last(a.latest, b.latest.filter(|text| text != "y").as("kept")) =
            async |kept| kept.is_some().to_string();
        column at(a.latest) = async |_a, cx: Context| format!("{} {}", cx.step(), cx.column());
    };
    push(&flow.a, &["p", "q", "r"]).await?;
    push(&flow.b, &["x", "y", "z"]).await?;
    flow.run().await?;
    let last = |column: &Derived| column.get(2).map(|value| value.to_string());
    assert_eq!(last(&flow.one).as_deref(), Some("R"));
    assert_eq!(last(&flow.list).as_deref(), Some("p,q,r|y,z"));
    assert_eq!(flow.before.get(0).as_deref(), Some("pNone"));
    assert_eq!(last(&flow.before).as_deref(), Some(r#"rSome("Q")"#));
    assert_eq!(last(&flow.own).as_deref(), Some("2"));
    assert_eq!(last(&flow.whole).as_deref(), Some("2"));
    assert_eq!(last(&flow.shown).as_deref(), Some("x,z"));
    assert_eq!(flow.last.get(1).as_deref(), Some("false"));
    assert_eq!(last(&flow.at).as_deref(), Some("2 at"));
    Ok(())
}

#[tokio::test]
async fn inputs_have_the_types_of_columns_of_other_flows() -> Result<()> {
    let longer = Longer::extend(Reviews::new()).await?;
    push(&longer.review, &["Good. But late.", "Bad."]).await?;
    longer.run().await?;
    assert_eq!(longer.all.get(1).as_deref(), Some("4 words; Good+Bad"));

    let desk = Desk::new(String::from(": "));
    push(&desk.text, &["Good. But late."]).await?;
    desk.run().await?;
    assert_eq!(desk.line.get(0).as_deref(), Some("3: Good"));

    let inline = flow! {
        source text;
        use Reviews { review: text } as reviews;
        column sum(reviews.words): usize     = async |words| Json(words.iter().sum::<usize>());
        column twice(sum.latest): Vec<usize> = async |sum| Json(vec![sum, sum]);
    };
    push(&inline.text, &["Good. But late.", "Bad."]).await?;
    inline.run().await?;
    assert_eq!(inline.twice.read(1)?, Some(vec![4, 4]));
    Ok(())
}

#[tokio::test]
async fn a_skipped_input_is_an_error_or_none() -> Result<()> {
    let flow = flow! {
        source user;
        column odd(user.latest) = (async |user| match &*user {
            "one" => Ok(user),
            _ => Err("it is no number that counts"),
        })
        .or_skip();
        column needs(user.latest, odd.latest)   = async |odd| odd;
        column accepts(user.latest, odd.latest) = async |odd: Option<Value>| odd.unwrap_or_default();
        column listed(user.latest, odd)         = async |odd| odd.len().to_string();
    };
    push(&flow.user, &["two"]).await?;
    let error = flow.run().await.expect_err("`needs` has no input");
    let message = "computing `needs` at step 0 failed: its input `odd` was skipped; as `odd: Option<_>`";
    assert!(error.to_string().contains(message), "{error}");
    assert_eq!(flow.accepts.get(0).as_deref(), Some(""));
    assert_eq!(flow.listed.get(0).as_deref(), Some("0"));
    Ok(())
}

#[tokio::test]
async fn values_and_named_inputs_are_the_same() -> Result<(), BoxError> {
    let flow = flow! {
        source user;
        source files: Documents;
        column named(user.window(2), files, self.window(1)) = async |user, named, cx: Context| {
            let values = |tag: &str| cx.values(tag).collect::<Vec<_>>();
            let is_same = values("user") == user && values("named") == named && values("none").is_empty();
            format!("{is_same} {}", values("files").len())
        };
    };
    for text in ["a", "b", "c"] {
        flow.user.push(text).await?;
        flow.files.push(Update::new().file("a.md", text)).await?;
    }
    flow.run().await?;
    assert_eq!(flow.named.get(2).as_deref(), Some("true 3"));
    Ok(())
}

// Only a type of the user could return a reply, and so skip a step without an error.
#[tokio::test]
async fn a_closure_may_return_a_reply() -> Result<(), BoxError> {
    let flow = flow! {
        source user;
        column loud(user.latest) =
            |user| if user.is_empty() { Reply::skip() } else { Reply::text(user.to_uppercase()) };
        column later(user.latest) = async |user| {
            tokio::task::yield_now().await;
            if user.is_empty() { Reply::skip() } else { Reply::text(user.to_lowercase()) }
        };
        column whole(user.latest) = async |cx: Context| Reply::text(cx.step().to_string());
    };
    for text in ["One", ""] {
        flow.user.push(text).await?;
    }
    flow.run().await?;
    assert_eq!((flow.loud.get(0).as_deref(), flow.loud.get(1)), (Some("ONE"), None));
    assert_eq!((flow.later.get(0).as_deref(), flow.later.get(1)), (Some("one"), None));
    assert_eq!(flow.whole.get(1).as_deref(), Some("1"));
    Ok(())
}

fn is_due(cx: &Context, most: usize) -> bool {
    cx.step() < most
}

flow! {
    /// Every way in which a closure uses a parameter.
    pub(crate) struct Styled<T: Clone + Send + Sync + Into<u32>>(
        style: String,
        most: usize,
        rank: T,
        tone: &'static str,
        answer: impl Fn(&str) -> String + Clone + Send + Sync + 'static,
    ) {
        source user;
        column named(user.latest) = async |user| format!("{style}: {user}");
        column block(user.latest) = |user| async move {
            tokio::task::yield_now().await;
            answer(&user) + style + tone
        };
        column context(user.latest) = async |cx: Context| {
            cx.input("user").map(|user| user.len().min(*most).to_string()).unwrap_or_default()
        };
        column typed(user.latest) = async |user| -> Result<String, BoxError> {
            let rank: u32 = rank.clone().into();
            let style = style.to_uppercase();
            Ok(format!("{style}{rank}{user}"))
        };
        column limited(user.latest) =
            (async |user| format!("{user}{most}")).retry(1).when(|cx| cx.step() < *most);
        column asked(user.latest) = prompt("Answer.")
            .model("offline")
            .when(|cx| cx.input("user").is_some_and(|user| user.contains(tone)));
        column own(user.latest) = {
            let style = style.to_lowercase();
            async move |user| format!("{style}{}{user}", answer("x"))
        };
        column widths(user.latest) = async |user| format!("{user:>most$}{style:.most$}");
        column ended(user.latest) = |user| {
            let words = user.len() + style.len();
            async move { format!("{words}{style}") }
        };
        column nested(user.latest) = ({
            if *most > 9 {
                return Step::new(prompt("Too many.").model("offline"));
            }
            let text = Some(*most).map_or_else(String::new, |most| format!("{most}"));
            (async move |user| format!("{user}{text}{most}")).when(|cx| cx.step() < *most)
        })
        .retry(1);
        column due(user.latest) = (prompt("D.").model("offline").when(|cx| is_due(cx, *most))).retry(1);
        column hidden(user.latest) = match *most {
            most if most > 9 => prompt("A.").model("offline").when(move |cx| cx.step() < most),
            _ => prompt("B.").model("offline").when(|cx| cx.step() < *most),
        };
        column blocks(user.latest) = async |user| match async { user.len() }.await {
            3 => {
                if style.is_empty() {
                    "a".to_owned()
                } else {
                    "b".to_owned()
                }
            }
            most if most > 9 => Cow::<'static, str>::Owned(style.clone()).into_owned(),
            _ => style.clone(),
        };
        column locals(user.latest) = |user| {
            let rc = std::rc::Rc::new(user.len());
            let len = *rc;
            async move { format!("{len}{style}") }
        };
        column guarded(user.latest) = {
            let step = prompt("Answer.").model("offline");
            if *most > 9 { step.when(|_| true) } else { step.when(|cx| cx.step() >= *most) }
        };
        column other(user.latest) = async |user| {
            let tone = user.to_uppercase();
            tone.chars().rev().collect::<String>()
        };
    }
}

#[tokio::test]
async fn a_closure_uses_parameters_by_name() -> Result<()> {
    let flow = Styled::new("Loud".to_owned(), 1, 7_u8, "!", |text: &str| format!("({text})"));
    push(&flow.user, &["hi!", "ho"]).await?;
    flow.run().await?;
    let row = |step| {
        [&flow.named, &flow.block, &flow.context, &flow.typed, &flow.limited, &flow.own]
            .map(|column| column.get(step))
    };
    let is = |step, texts: [Option<&str>; 6]| assert_eq!(row(step).each_ref().map(Option::as_deref), texts);
    is(
        0,
        [
            Some("Loud: hi!"),
            Some("(hi!)Loud!"),
            Some("1"),
            Some("LOUD7hi!"),
            Some("hi!1"),
            Some("loud(x)hi!"),
        ],
    );
    is(1, [Some("Loud: ho"), Some("(ho)Loud!"), Some("1"), Some("LOUD7ho"), None, Some("loud(x)ho")]);
    assert_eq!(flow.asked.get(1), None);
    assert!(flow.asked.get(0).is_some());
    assert_eq!(flow.other.get(1).as_deref(), Some("OH"));
    assert_eq!(flow.widths.get(1).as_deref(), Some("hoL"));
    assert_eq!(flow.ended.get(1).as_deref(), Some("6Loud"));
    assert_eq!((flow.nested.get(0).as_deref(), flow.nested.get(1)), (Some("hi!11"), None));
    assert_eq!((flow.guarded.get(0), flow.guarded.get(1).is_some()), (None, true));
    assert_eq!((flow.hidden.get(0).is_some(), flow.hidden.get(1)), (true, None));
    assert_eq!((flow.due.get(0).is_some(), flow.due.get(1)), (true, None));
    assert_eq!((flow.blocks.get(0).as_deref(), flow.blocks.get(1).as_deref()), (Some("b"), Some("Loud")));
    assert_eq!(flow.locals.get(1).as_deref(), Some("2Loud"));
    Ok(())
}

// An async closure that owns values is no `Fn`, so it could be no compute step.
#[tokio::test]
async fn an_async_closure_may_own_values() -> Result<()> {
    let style = String::from("loud");
    let flow = flow! {
        source user;
        column named(user.latest) = async move |user| format!("{style}: {user}");
        column context(user.latest) = {
            let style = String::from("formal");
            async move |cx: Context| {
                cx.input("user").map(|user| format!("{style}: {user}")).unwrap_or_default()
            }
        };
    };
    push(&flow.user, &["hi"]).await?;
    flow.run().await?;
    assert_eq!(flow.named.get(0).as_deref(), Some("loud: hi"));
    assert_eq!(flow.context.get(0).as_deref(), Some("formal: hi"));
    Ok(())
}
