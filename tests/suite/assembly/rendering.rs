//! The formats of a context: by example, and their laws on random flows.

use std::sync::Arc;

use columnar::budget::Budget;
use columnar::cache::{CachePlan, CachePolicy, Mark, Pace, Reason};
use columnar::rendering::Rendering;
use columnar::testing::script;
use columnar::{Column, Flow, Messages, Role, View, column, flow, source, this};
use columnar_tests::live::{Live, block_on, push_all};
use columnar_tests::naive;
use columnar_tests::strategies::flows;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};

const CLAUDE: &str = "anthropic/claude-sonnet-4-5";
const GPT: &str = "openai/gpt-5.6";

type FollowUp = Vec<(Role, Arc<str>)>;

/// A provider for which every prefix is long enough.
fn eager(model: &str) -> CachePolicy {
    let mut row = CachePolicy::by_model(model).clone();
    row.minimum = 1;
    row
}

/// A flow with a column `bot` that replied to these values of `user`, all but the last.
async fn flow_of(views: impl Fn(&Column) -> Vec<View>, user_values: &[&str], replies: &[&str]) -> Flow {
    let user = source("user");
    let f = flow([column("bot", views(&user), script(replies.to_vec()))]).unwrap();
    push_all(&f, "user", user_values.iter().copied()).await.unwrap();
    f.run().await.expect_err("the script ends");
    f
}

fn chat(user: &Column) -> Vec<View> {
    vec![user.all(), this()]
}

mod worked_examples {
    use super::*;

    const ONE: &str = "<user>\none\n</user>";
    const TWO: &str = "<user>\ntwo\n</user>";

    fn text(text: &str) -> Json {
        json!({ "type": "text", "text": text })
    }

    #[tokio::test]
    async fn a_chat_in_all_formats() {
        let f = flow_of(chat, &["one", "two"], &["1"]).await;
        let messages = f.messages("bot", 1).unwrap();
        let rendering = Rendering::new("Count.", &messages);
        let strings = json!([
            { "role": "system", "content": "Count." },
            { "role": "user", "content": "<user>\none\n</user>" },
            { "role": "assistant", "content": "1" },
            { "role": "user", "content": "<user>\ntwo\n</user>" },
        ]);
        let listed = json!([
            { "role": "user", "content": [{ "type": "text", "text": "<user>\none\n</user>" }] },
            { "role": "assistant", "content": [{ "type": "text", "text": "1" }] },
            { "role": "user", "content": [{ "type": "text", "text": "<user>\ntwo\n</user>" }] },
        ]);
        assert_eq!(rendering.merged(), strings);
        assert_eq!(rendering.openai(), json!({ "messages": strings }));
        assert_eq!(
            rendering.anthropic(),
            json!({ "system": [{ "type": "text", "text": "Count." }], "messages": listed })
        );
        assert_eq!(
            rendering.ai_sdk(),
            json!({ "instructions": { "role": "system", "content": "Count." }, "messages": listed })
        );
        assert_eq!(
            rendering.alternating(),
            json!([
                { "role": "user", "content": "Count.\n\n<user>\none\n</user>" },
                { "role": "assistant", "content": "1" },
                { "role": "user", "content": "<user>\ntwo\n</user>" },
            ])
        );
    }

    #[tokio::test]
    async fn without_an_instruction_there_is_no_system_message() {
        let f = flow_of(chat, &["one"], &[]).await;
        let messages = f.messages("bot", 0).unwrap();
        let rendering = Rendering::new("", &messages);
        let array = json!([{ "role": "user", "content": ONE }]);
        let listed = json!({ "messages": [{ "role": "user", "content": [text(ONE)] }] });
        assert_eq!((rendering.merged(), rendering.alternating()), (array.clone(), array.clone()));
        assert_eq!((rendering.anthropic(), rendering.ai_sdk()), (listed.clone(), listed));
        assert_eq!(rendering.openai(), json!({ "messages": array }));
    }

    #[tokio::test]
    async fn values_of_one_message_are_separate_blocks_in_formats_with_blocks() {
        let f = flow_of(|user| vec![user.all()], &["one", "two"], &[]).await;
        let messages = f.messages("bot", 1).unwrap();
        let rendering = Rendering::new("", &messages);
        let parts = json!([{ "role": "user", "content": [text(ONE), text(&format!("\n\n{TWO}"))] }]);
        assert_eq!(rendering.anthropic()["messages"], parts);
        assert_eq!(rendering.ai_sdk()["messages"], parts);
        let whole = json!([{ "role": "user", "content": format!("{ONE}\n\n{TWO}") }]);
        assert_eq!(rendering.openai()["messages"], whole);
        assert_eq!((rendering.merged(), rendering.alternating()), (whole.clone(), whole));
    }

    #[tokio::test]
    async fn a_blank_reply_is_a_message_only_in_the_merged_format() {
        let f = flow_of(chat, &["one", "two"], &[" \n"]).await;
        let messages = f.messages("bot", 1).unwrap();
        let rendering = Rendering::new("", &messages);
        assert_eq!(rendering.merged()[1], json!({ "role": "assistant", "content": " \n" }));
        let joined = format!("\n\n{TWO}");
        let parts = json!([{ "role": "user", "content": [text(ONE), text(&joined)] }]);
        assert_eq!(rendering.anthropic()["messages"], parts);
        assert_eq!(rendering.ai_sdk()["messages"], parts);
        let whole = json!([{ "role": "user", "content": format!("{ONE}{joined}") }]);
        assert_eq!((&rendering.openai()["messages"], rendering.alternating()), (&whole, whole.clone()));
    }

    #[tokio::test]
    async fn marks_are_rendered_in_the_format_of_each_provider() {
        let f = flow_of(chat, &["one", "two"], &["1"]).await;
        let messages = f.messages("bot", 1).unwrap();
        let marked = |model: &str, pace: Pace| {
            let provider = eager(model);
            let mut plan = CachePlan::of(&messages, 3, &provider, pace);
            plan.marks.retain(|mark| mark.reason != Reason::Forks && mark.reason != Reason::Previous);
            Rendering::new("Count.", &messages).marked(plan, &provider)
        };
        let array = |system: Json, last: Json| {
            let content = [json!([text(ONE)]), json!([text("1")]), json!([last])];
            let roles = ["user", "assistant", "user"].into_iter().zip(content);
            let rest = roles.map(|(role, content)| json!({ "role": role, "content": content }));
            [Some(system).filter(|system| !system.is_null())]
                .into_iter()
                .flatten()
                .chain(rest)
                .collect::<Json>()
        };
        for (pace, mark) in [
            (Pace::batch(), json!({ "type": "ephemeral" })),
            (Pace::every(std::time::Duration::from_mins(10)), json!({ "type": "ephemeral", "ttl": "1h" })),
        ] {
            let rendering = marked(CLAUDE, pace);
            assert_eq!(
                rendering.anthropic(),
                json!({
                    "system": [{ "type": "text", "text": "Count.", "cache_control": mark }],
                    "messages": array(Json::Null, json!({ "type": "text", "text": TWO, "cache_control": mark })),
                })
            );
            let options = json!({ "anthropic": { "cacheControl": mark } });
            let last = json!({ "type": "text", "text": TWO, "providerOptions": options });
            assert_eq!(
                rendering.ai_sdk(),
                json!({
                    "instructions": { "role": "system", "content": "Count.", "providerOptions": options },
                    "messages": array(Json::Null, last),
                })
            );
        }
        let rendering = marked(GPT, Pace::batch());
        let mark = json!({ "mode": "explicit" });
        let part = |text: &str| json!({ "type": "text", "text": text, "prompt_cache_breakpoint": mark });
        assert_eq!(
            rendering.openai(),
            json!({
                "messages": array(json!({ "role": "system", "content": [part("Count.")] }), part(TWO)),
                "prompt_cache_options": { "mode": "explicit", "ttl": "30m" },
            })
        );
        let options = json!({ "openai": { "promptCacheBreakpoint": mark } });
        let last = json!({ "type": "text", "text": TWO, "providerOptions": options });
        assert_eq!(
            rendering.ai_sdk(),
            json!({
                "instructions": { "role": "system", "content": "Count.", "providerOptions": options },
                "messages": array(Json::Null, last),
                "providerOptions": { "openai": { "promptCacheOptions": { "mode": "explicit", "ttl": "30m" } } },
            })
        );
        let unmarked = Rendering::new("Count.", &messages);
        let strings = |rendering: &Rendering<'_>| (rendering.merged(), rendering.alternating());
        assert_eq!(strings(&rendering), strings(&unmarked), "a string has no field for a mark");
    }

    /// Without marks the provider caches the end of each request by itself.
    #[tokio::test]
    async fn an_empty_plan_disables_caching_where_marks_are_supported() {
        let f = flow_of(chat, &["one"], &[]).await;
        let messages = f.messages("bot", 0).unwrap();
        let options = |model: &str| {
            let rendering =
                Rendering::new("", &messages).marked(CachePlan::default(), CachePolicy::by_model(model));
            (
                rendering.openai()["prompt_cache_options"].clone(),
                rendering.ai_sdk()["providerOptions"].clone(),
            )
        };
        let explicit = json!({ "mode": "explicit" });
        assert_eq!(options(GPT), (explicit.clone(), json!({ "openai": { "promptCacheOptions": explicit } })));
        for model in ["openai/gpt-4o", CLAUDE, "groq/test"] {
            assert_eq!(options(model), (Json::Null, Json::Null), "{model}");
        }
    }

    /// The next request diverges at the end of the first step, whose reply is empty.
    #[tokio::test]
    async fn a_mark_on_a_blank_part_moves_to_the_preceding_block() {
        let f = flow_of(|user| vec![user.latest(), this()], &["one", "two", "three"], &["1", " "]).await;
        let messages = f.messages("bot", 2).unwrap();
        let provider = eager(CLAUDE);
        let mut plan = CachePlan::of(&messages, 0, &provider, Pace::batch());
        plan.marks.retain(|mark| mark.reason == Reason::Next);
        let blank = messages.parts().position(|part| part.text().trim().is_empty());
        let places: Vec<_> = plan.marks.iter().map(|mark| mark.position).collect();
        assert_eq!(places, [columnar::cache::Position::Part(blank.unwrap())]);
        let rendering = Rendering::new("", &messages).marked(plan, &provider);
        let one = json!({ "type": "text", "text": "1", "cache_control": { "type": "ephemeral" } });
        assert_eq!(
            rendering.anthropic()["messages"],
            json!([
                { "role": "user", "content": [text("<elided/>")] },
                { "role": "assistant", "content": [one] },
                { "role": "user", "content": [text("<user>\nthree\n</user>")] },
            ])
        );
    }

    #[tokio::test]
    async fn follow_up_messages_come_after_the_messages() {
        let f = flow_of(chat, &["one"], &[]).await;
        let messages = f.messages("bot", 0).unwrap();
        let follow_up = |reply: &str| -> FollowUp {
            vec![(Role::Assistant, reply.into()), (Role::User, "In digits.".into())]
        };
        let (reply, empty) = (follow_up("One."), follow_up(""));
        let provider = eager(CLAUDE);
        let plan = CachePlan::of(&messages, 0, &provider, Pace::batch());
        let rendering = Rendering::new("", &messages).marked(plan, &provider);
        let first = json!({ "type": "text", "text": ONE, "cache_control": { "type": "ephemeral" } });
        assert_eq!(
            rendering.clone().follow_up(&reply).anthropic()["messages"],
            json!([
                { "role": "user", "content": [first] },
                { "role": "assistant", "content": [text("One.")] },
                { "role": "user", "content": [text("In digits.")] },
            ])
        );
        let empty = rendering.follow_up(&empty);
        assert_eq!(
            empty.anthropic()["messages"],
            json!([{ "role": "user", "content": [first, text("\n\nIn digits.")] }])
        );
        assert_eq!(
            empty.alternating(),
            json!([{ "role": "user", "content": format!("{ONE}\n\nIn digits.") }])
        );
        assert_eq!(empty.merged().as_array().unwrap().len(), 3);
    }
}

/// The blocks of a format: the role, the text, and whether it is marked.
pub(crate) fn blocks(form: &Json) -> Vec<(String, String, bool)> {
    let system = form.get("system").map(|content| json!({ "role": "system", "content": content }));
    let instructions = form.get("instructions").cloned();
    let messages = form.get("messages").unwrap_or(form).as_array().unwrap();
    let is_marked = |block: &Json| {
        let marks = ["cache_control", "prompt_cache_breakpoint", "providerOptions"];
        marks.iter().any(|mark| block.get(mark).is_some())
    };
    let of_message = |message: &Json| {
        let role = message["role"].as_str().unwrap().to_owned();
        let content = match &message["content"] {
            Json::String(text) => vec![(text.clone(), is_marked(message))],
            content => content
                .as_array()
                .unwrap()
                .iter()
                .map(|block| (block["text"].as_str().unwrap().to_owned(), is_marked(block)))
                .collect(),
        };
        content.into_iter().map(move |(text, is_marked)| (role.clone(), text, is_marked)).collect::<Vec<_>>()
    };
    system.iter().chain(&instructions).chain(messages).flat_map(of_message).collect()
}

/// The blocks joined into messages by their roles.
pub(crate) fn messages_of(form: &Json) -> naive::Messages {
    let blocks = blocks(form);
    let role = |role: &str| ["system", "user", "assistant"].into_iter().find(|known| *known == role).unwrap();
    let messages = blocks.chunk_by(|(one, ..), (other, ..)| one == other);
    messages
        .map(|blocks| (role(&blocks[0].0), blocks.iter().map(|(_, text, _)| text.as_str()).collect()))
        .collect()
}

/// The expected texts of all parts, blank ones included.
fn texts(messages: &Messages, follow_up: &FollowUp) -> Vec<(Role, Vec<String>)> {
    let mut all: Vec<(Role, Vec<String>)> = Vec::new();
    let parts = messages.parts().map(|part| (part.role(), part.text().into_owned(), ""));
    let follow_up = follow_up.iter().map(|(role, text)| (*role, text.to_string(), "\n\n"));
    for (role, text, separator) in parts.chain(follow_up) {
        match all.last_mut().filter(|(last, _)| *last == role) {
            Some((_, texts)) => texts.push(separator.to_owned() + &text),
            None => all.push((role, vec![text])),
        }
    }
    all
}

/// The naive rule: blank parts at the end of a message are omitted, and adjacent parts are joined.
fn without_blanks(texts: Vec<(Role, Vec<String>)>) -> naive::Messages {
    let mut all: naive::Messages = Vec::new();
    for (role, mut texts) in texts {
        while texts.pop_if(|text| text.trim().is_empty()).is_some() {}
        match all.last_mut().filter(|(last, _)| *last == role.as_str()) {
            _ if texts.is_empty() => {}
            Some((_, text)) => *text += &("\n\n".to_owned() + &texts.concat()),
            None => all.push((role.as_str(), texts.concat())),
        }
    }
    all
}

fn follow_ups() -> impl Strategy<Value = FollowUp> {
    let text = || select(&["", " ", "\n\n", "No.", "In JSON, please."][..]).prop_map(Arc::from);
    let turn = (text(), text()).prop_map(|(reply, why)| vec![(Role::Assistant, reply), (Role::User, why)]);
    let any = (select(&[Role::User, Role::Assistant][..]), text());
    prop_oneof![Just(Vec::new()), vec(turn, 1..3).prop_map(|turns| turns.concat()), vec(any, 1..4)]
}

fn filled(described: &naive::Flow) -> Live {
    let live = Live::declare(described, &[0]).unwrap();
    block_on(live.fill(described)).unwrap();
    live
}

fn cells(described: &naive::Flow) -> impl Iterator<Item = (&str, usize)> {
    described
        .derived()
        .flat_map(|(column, _)| (0..described.steps()).map(|step| (column.name.as_str(), step)))
}

const SYSTEM: &str = "Be brief.";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_formats_have_the_same_content(
        described in flows(),
        follow_up in follow_ups(),
        limit in option::of(8..80_usize),
        system in select(&["", SYSTEM][..]),
        model in select(&[CLAUDE, GPT, "openai/gpt-4o"][..]),
        marks in vec(any::<Index>(), 0..5),
    ) {
        let live = filled(&described);
        if let Some(limit) = limit {
            live.flow.set_budget(Budget::of(limit).token_buffer(0));
        }
        for (column, step) in cells(&described) {
            // A budget may be too small for anything.
            let Ok(messages) = live.flow.messages(column, step) else { continue };
            let texts = texts(&messages, &follow_up);
            let instruction = (!system.is_empty()).then(|| ("system", system.to_owned()));
            let rendering = Rendering::new(system, &messages).follow_up(&follow_up);

            let merged = texts.iter().map(|(role, texts)| (role.as_str(), texts.concat()));
            prop_assert_eq!(messages_of(&rendering.merged()), instruction.clone().into_iter().chain(merged).collect::<Vec<_>>());
            if follow_up.is_empty() {
                let array: Json = serde_json::from_str(&messages.to_json()).unwrap();
                let skipped = usize::from(instruction.is_some());
                let merged = rendering.merged();
                prop_assert_eq!(&merged.as_array().unwrap()[skipped..], &array.as_array().unwrap()[..]);
            }

            let expected = without_blanks(texts);
            let mut plan = live.flow.cache_plan(column, step, &eager(CLAUDE), Pace::batch()).unwrap();
            let known: Vec<Mark> = plan.marks.clone();
            plan.marks.retain(|mark| marks.iter().any(|index| index.get(&known) == mark));
            let most = plan.marks.len();
            let rendering = rendering.marked(plan, CachePolicy::by_model(model));
            let whole: Vec<_> = instruction.into_iter().chain(expected.clone()).collect();
            for form in [rendering.anthropic(), rendering.openai(), rendering.ai_sdk()] {
                prop_assert_eq!(&messages_of(&form), &whole, "{}", form);
                let blocks = blocks(&form);
                prop_assert!(blocks.iter().all(|(_, text, _)| !text.trim().is_empty()), "{}", form);
                prop_assert!(blocks.iter().filter(|(.., is_marked)| *is_marked).count() <= most);
                let roles = form["messages"].as_array().unwrap().windows(2);
                prop_assert!(roles.into_iter().all(|pair| pair[0]["role"] != pair[1]["role"]), "{}", form);
            }

            let mut alternating = messages_of(&rendering.alternating());
            prop_assert_eq!(alternating.len(), rendering.alternating().as_array().unwrap().len());
            if !system.is_empty() {
                let first = &mut alternating[0].1;
                *first = first.strip_prefix(&format!("{system}\n\n")).unwrap().to_owned();
            }
            prop_assert_eq!(&alternating, &expected);
            prop_assert_eq!(alternating[0].0, "user");
            if follow_up.iter().all(|(role, _)| *role == Role::User) {
                prop_assert_eq!(alternating.last().unwrap().0, "user");
            }
        }
    }

    /// The next request has the same blocks up to the mark that is for it, and so has a request that repeats this one
    /// with follow-up messages.
    #[test]
    fn the_next_request_begins_with_the_marked_prefix(
        described in flows(),
        follow_up in follow_ups(),
        model in select(&[CLAUDE, GPT][..]),
    ) {
        let live = filled(&described);
        let provider = eager(model);
        let rendered = |messages: &Messages, plan: CachePlan, follow_up: &FollowUp| {
            let rendering = Rendering::new(SYSTEM, messages).follow_up(follow_up).marked(plan, &provider);
            [rendering.ai_sdk(), if model == GPT { rendering.openai() } else { rendering.anthropic() }]
                .map(|form| blocks(&form))
        };
        for (column, step) in cells(&described) {
            let messages = live.flow.messages(column, step).unwrap();
            let plan = CachePlan::of(&messages, 3, &provider, Pace::batch());
            let mut for_next = plan.clone();
            for_next.marks.retain(|mark| [Reason::Next, Reason::Instruction].contains(&mark.reason));

            let now = rendered(&messages, for_next.clone(), &Vec::new());
            let again = rendered(&messages, for_next.clone(), &follow_up);
            for (now, again) in now.iter().zip(&again) {
                prop_assert_eq!(now, &again[..now.len()]);
            }
            if step + 1 == described.steps() {
                continue;
            }
            let next = live.flow.messages(column, step + 1).unwrap();
            let next_plan = CachePlan::of(&next, 3, &provider, Pace::batch());
            for (now, then) in now.iter().zip(rendered(&next, next_plan, &follow_up)) {
                let last = now.iter().rposition(|(.., is_marked)| *is_marked).expect("the instruction at least");
                let texts = |blocks: &[(String, String, bool)]| -> Vec<_> {
                    blocks.iter().take(last + 1).map(|(role, text, _)| (role.clone(), text.clone())).collect()
                };
                prop_assert_eq!(texts(now), texts(&then));
            }
        }
    }
}
