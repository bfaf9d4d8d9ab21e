//! The prefix that a request shares with the previous one.

use columnar::prelude::*;
use columnar::testing::script;

/// A flow with a column `bot` that reads `user`, after four steps whose values have two letters.
async fn bot(views: impl Fn(&Column) -> Vec<View>) -> Result<Flow> {
    let user = source("user");
    let f = flow([column("bot", views(&user), script(["b0", "b1", "b2", "b3"]))])?;
    for step in 0..4 {
        f.push("user", format!("u{step}")).await?;
    }
    f.run().await?;
    Ok(f)
}

/// `<user>`, a line break, two letters, a line break, `</user>`.
const SHOWN: usize = 17;

/// An empty line.
const BREAK: usize = 2;

#[tokio::test]
async fn each_pattern_has_its_stable_prefix() -> Result<()> {
    type Views = fn(&Column) -> Vec<View>;
    let patterns: [(Views, usize, &str); 6] = [
        (|user| vec![user.all(), this()], 4 * SHOWN + 3 * 2, ""),
        (|user| vec![user.all(), this().latest()], 3 * SHOWN + 2 * BREAK, "`self.latest` at step 2"),
        (
            |user| vec![user.latest(), this()],
            "<elided/>".len() + 3 * 2 + 2 * BREAK,
            "`user.latest` at step 3",
        ),
        (|user| vec![user.latest()], 0, "`user.latest` at step 3"),
        (|user| vec![user.window(2)], 0, "`user.window(2)` at step 2"),
        (|user| vec![user.window(4), this()], 0, "`user.window(4)` at step 0"),
    ];
    for (views, bytes, first) in patterns {
        let stable = bot(views).await?.explain_cache("bot", 3)?;
        let difference = stable.difference.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!((stable.bytes, difference.as_str()), (bytes, first), "{stable}");
    }
    Ok(())
}

/// A window that is not full yet loses no value at the next step.
#[tokio::test]
async fn a_window_is_stable_until_it_is_full() -> Result<()> {
    let f = bot(|user| vec![user.window(3)]).await?;
    for (step, is_stable) in [(0, true), (1, true), (2, false), (3, false)] {
        let stable = f.explain_cache("bot", step)?;
        assert_eq!(stable.difference.is_none(), is_stable, "step {step}: {stable}");
    }
    Ok(())
}

#[tokio::test]
async fn the_explanation_is_a_sentence() -> Result<()> {
    let all = bot(|user| vec![user.all(), this()]).await?.explain_cache("bot", 1)?;
    assert_eq!(all.to_string(), "the next request repeats all 36 bytes, about 14 tokens");
    let some = bot(|user| vec![user.all(), this().latest()]).await?.explain_cache("bot", 3)?;
    assert_eq!(
        some.to_string(),
        "the next request repeats 55 of 74 bytes, about 18 of 26 tokens; the first difference is `self.latest` at \
         step 2"
    );
    let f = bot(|user| vec![user.all()]).await?;
    assert!(matches!(f.explain_cache("bot", 9), Err(Error::Missing { step: 9, .. })));
    assert!(matches!(f.explain_cache("user", 0), Err(Error::NotDerived { .. })));
    Ok(())
}
