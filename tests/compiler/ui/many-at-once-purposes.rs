use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        source notes;
        source rules;
        column topics(notes.context(3), user) = prompt("Go on."); //~
        column summary(user, self.context(), notes.instruction().elided()) = prompt("Go on."); //~~
        column mood(user, rules.as("law").instruction().context()) = prompt("Go on."); //~
        column tone(notes.latest.context(), rules.latest.instruction()) = prompt("Go on."); //~
        column title(user, group("facts", notes.latest, rules.latest.context())) = prompt("Go on."); //~
        column plan(user, group("facts", rules.instruction()), notes.instruction) = prompt("Go on."); //~~
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
            ChatColumn::Summary => chat.summary.messages(event.step())?,
            ChatColumn::Mood => chat.mood.messages(event.step())?,
            ChatColumn::Tone => chat.tone.messages(event.step())?,
            ChatColumn::Title => chat.title.messages(event.step())?,
            ChatColumn::Plan => chat.plan.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
