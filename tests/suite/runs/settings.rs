//! Settings of prompts, before and after policies.

use columnar::prelude::*;
use columnar::testing::ScriptedModel;

/// Only a prompt had `model` and `temperature`, so a policy before them was a compile error.
#[tokio::test]
async fn settings_of_a_prompt_and_policies_come_in_any_order() -> Result<()> {
    flow! {
        struct Chat(model: ScriptedModel, other: ScriptedModel, style: String, name: String) {
            source user;
            column first(user.latest) = prompt("1").model(model.clone()).temperature(0.5).retry(3).limit(4);
            column last(user.latest) =
                prompt("2").retry(3).model(model.clone()).temperature(0.5).limit(4).stop(["."]);
            column twice(user.latest) =
                prompt(style).model(model.clone()).timeout(secs(9)).model(other.clone());
            column named(user.latest)     = prompt(style).model(name).or_wait().or_model(name);
            column score(user.latest): u8 = prompt("3").repairs(2).model(model.clone()).max_tokens(9);
        }
    }
    let scripted = ScriptedModel::new(|_| "7".to_owned());
    let other = ScriptedModel::new(|_| "other".to_owned());
    let chat = Chat::new(scripted.clone(), other, "Be loud.".to_owned(), "offline".to_owned());
    chat.user.push("x").await?;
    chat.run().await?;
    assert_eq!((chat.twice.get(0).as_deref(), chat.score.read(0)?), (Some("other"), Some(7)));
    assert!(chat.named.get(0).is_some_and(|text| text.starts_with("You said")), "{:?}", chat.named.get(0));
    assert_eq!(scripted.requests().len(), 3);
    for request in scripted.requests() {
        let expected = match &*request.system {
            "1" => (Some(0.5), 0, 4096),
            "2" => (Some(0.5), 1, 4096),
            _ => (None, 0, 9),
        };
        let settings = &request.settings;
        assert_eq!((settings.temperature, settings.stop.len(), request.max_tokens), expected);
    }
    Ok(())
}

/// A step without a prompt has no such setting. The macro sees that of a closure alone.
#[tokio::test]
async fn a_setting_of_prompts_after_another_step_is_an_error_before_anything_is_computed() -> Result<()> {
    async fn count(cx: Context) -> String {
        cx.messages().len().to_string()
    }
    let chat = flow! {
        source user;
        column words(user.latest) = count.retry(3).model("offline");
    };
    chat.user.push("x").await?;
    let error = chat.run().await.expect_err("a function has no model");
    assert!(
        error.to_string().ends_with(
            "`words` has the setting `model`, which only prompts have: drop it, or set it in the program"
        ),
        "{error}"
    );
    let error = flow([column("words", source("user").latest(), count.retry(3).temperature(0.1))]);
    let error = error.map(drop).expect_err("a function has no temperature").to_string();
    assert!(error.starts_with("`words` has the setting `temperature`, which only prompts have"), "{error}");
    Ok(())
}
