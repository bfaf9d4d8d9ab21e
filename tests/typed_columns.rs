//! Columns whose values are JSON of a type.

use columnar::prelude::*;
use columnar::testing::ScriptedModel;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;

#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
struct Score {
    /// From 1 to 5.
    stars: u8,
}

flow! {
    struct Chat<T: DeserializeOwned + JsonSchema + 'static>(model: ScriptedModel) {
        source user;
        column score(user.latest): Score = prompt("Rate it.").with(model.clone());
        column other(score.latest, user.window({ 1 + 1 })): Vec<T> was "some" = prompt("Go on.").with(model.clone());
    }
}

flow! {
    struct More: Chat<u8> {
        column mood(user.latest): Option<Score> = |_: Context| async { columnar::Json(None::<u8>) };
    }
}

flow! {
    struct Uses<T: DeserializeOwned + JsonSchema + 'static>(model: ScriptedModel) {
        source said;
        use Chat<T>(model.clone()) { user: said } as chat;
        column mood(chat.score.latest): Option<T> = |_: Context| async { columnar::Json(None::<u8>) };
    }
}

#[tokio::test]
async fn first() -> Result<()> {
    let model = ScriptedModel::new(|_| r#"{"stars": 4}"#.to_owned());
    let chat = flow! {
        source user;
        column score(user.latest): Score = prompt("Rate it.").with(model.clone());
    };
    chat.user.push("It was fine.").await?;
    chat.run().await?;
    assert_eq!(chat.score.read(0)?, Some(Score { stars: 4 }));
    assert_eq!(chat.score.get(0).as_deref(), Some(r#"{"stars": 4}"#));
    let chat: Chat<u8> = Chat::new(model.clone());
    assert_eq!(chat.other.read(0)?, None);
    let more = More::extend(&chat).await?;
    assert_eq!(more.mood.read(0)?, None);
    assert_eq!(more.score.read(0)?, None);
    let uses: Uses<u8> = Uses::new(model);
    assert_eq!(uses.chat.other.read(0)?, None);
    assert_eq!(uses.mood.read(0)?, None);
    Ok(())
}
