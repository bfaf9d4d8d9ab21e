//! Flows that are parts of other flows, used as a program uses them.

#![deny(missing_docs, missing_debug_implementations, unreachable_pub, unused)]
#![deny(clippy::all, clippy::pedantic)]

use columnar::flow::{ColumnEnum, Columns, Typed};
use columnar::prelude::*;
use columnar::store::MemoryStore;

/// What the column sees of its inputs: each tag and its newest value.
async fn seen(cx: Context) -> String {
    let inputs: Vec<String> = cx.inputs().map(|(tag, value)| format!("{tag}={}", value.as_str())).collect();
    inputs.join(" ")
}

/// What a run tells of its values.
async fn values<C, I>(flow: &Typed<'_, C, I>) -> Result<Vec<(I, usize)>>
where
    I: ColumnEnum,
{
    let events = flow.run().try_collect::<Vec<Event<I>>>().await?;
    let value = |event: &Event<I>| match event {
        Event::Value { column, step, .. } => Some((*column, *step)),
        _ => None,
    };
    Ok(events.iter().filter_map(value).collect())
}

mod debate {
    use super::*;

    flow! {
        /// Two sides, and one who sums up.
        #[derive(Clone, Debug)]
        pub(crate) struct Debate {
            /// What it is about.
            source topic;
            column advocate(topic.latest, self) = seen;
            column critic(topic.latest, advocate.latest) = seen;
            column synthesis(advocate, critic) = seen;
        }
    }
}

use debate::{Debate, DebateColumn};

flow! {
    /// A chat that has a debate.
    #[derive(Clone, Debug)]
    pub(crate) struct Chat {
        /// What the person typed.
        source user;
        column verdict(debate.critic.latest.as("case"), debate.synthesis.window(2), user.latest) = seen;
        /// What was argued.
        use Debate { topic: user } as debate;
    }
}

mod a_flow_with_a_module {
    use super::*;

    #[tokio::test]
    async fn runs_as_one() -> Result<()> {
        let chat = Chat::new();
        chat.user.push("rust").await?;
        let told = values(&chat).await?;
        let debate = |column| (ChatColumn::Debate(column), 0);
        use DebateColumn::{Advocate, Critic, Synthesis};
        assert_eq!(told, [debate(Advocate), debate(Critic), debate(Synthesis), (ChatColumn::Verdict, 0)]);
        assert_eq!(chat.debate.advocate.get(0).as_deref(), Some("topic=rust"));
        let case = "topic=rust advocate=topic=rust";
        assert_eq!(chat.debate.critic.get(0).as_deref(), Some(case));
        let synthesis = format!("advocate=topic=rust critic={case}");
        let verdict = format!("case={case} synthesis={synthesis} user=rust");
        assert_eq!(chat.verdict.get(0).as_deref(), Some(&*verdict));
        Ok(())
    }

    #[test]
    fn has_all_columns_in_its_constants() {
        assert_eq!(Chat::ORDER, ["user", "debate.advocate", "debate.critic", "debate.synthesis", "verdict"]);
        let text = "source user\n\
            column verdict(debate.critic.latest.as(\"case\"), debate.synthesis.window(2), user.latest)\n\
            column debate.advocate(user.latest.as(\"topic\"), self)\n\
            column debate.critic(user.latest.as(\"topic\"), debate.advocate.latest)\n\
            column debate.synthesis(debate.advocate, debate.critic)\n";
        assert_eq!(Chat::GRAPH.to_string(), text);
    }
}
