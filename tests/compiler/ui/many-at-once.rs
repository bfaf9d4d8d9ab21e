use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user //~
        Source extra; //~
        source mood = prompt("Which mood is this?"); //~
        colum topics(user.latest) = prompt("List the topics."); //~
        column summary(usr, self.latest) = prompt("Summarise."); //~
        column history(history.latest) = prompt("Tell."); //~
        column journal(self) = prompt("Go on."); //~
        column joke() = prompt("Tell a joke."); //~
        column list[user] = prompt("List."); //~
        column plan = prompt("Plan."); //~
        column answer(user); //~
        column question(user) = ; //~
        column doubt(user) == prompt("Doubt."); //~
        column fact(user.) = prompt("State."); //~
        column view(user latest) = prompt("View."); //~
        column number(user, 3) = prompt("Count."); //~
        column none(user.window(0)) = prompt("Say nothing."); //~
        column label(user.as("a b")) = prompt("Label."); //~
        column same(user, mood.as("user")) = prompt("Compare."); //~
        column twice(user.latest, user.latest) = prompt("Repeat."); //~
        column first(user, second) = prompt("Begin."); //~
        column second(first) = prompt("End.");
        column topics(user) = prompt("List them again."); //~
        let style = "formal"; //~
        #[cfg(unix)] //~
        column words(user) -> usize = prompt("Count the words."), //~~
        column last(user.latest()) = prompt("Say goodbye.") //~~
        /// Nothing follows. //~
    }
}

fn main() {
    drop(talk(&Chat::new()));
}

async fn talk(chat: &Chat) -> Result<usize> {
    chat.user.push("hello").await?;
    chat.extra.push("hello").await?;
    chat.mood.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            ChatColumn::Topics => chat.topics.messages(event.step())?,
            ChatColumn::Summary => chat.summary.messages(event.step())?,
            ChatColumn::History => chat.history.messages(event.step())?,
            ChatColumn::Journal => chat.journal.messages(event.step())?,
            ChatColumn::Joke => chat.joke.messages(event.step())?,
            ChatColumn::List => chat.list.messages(event.step())?,
            ChatColumn::Plan => chat.plan.messages(event.step())?,
            ChatColumn::Answer => chat.answer.messages(event.step())?,
            ChatColumn::Question => chat.question.messages(event.step())?,
            ChatColumn::Doubt => chat.doubt.messages(event.step())?,
            ChatColumn::Fact => chat.fact.messages(event.step())?,
            ChatColumn::View => chat.view.messages(event.step())?,
            ChatColumn::Number => chat.number.messages(event.step())?,
            ChatColumn::None => chat.none.messages(event.step())?,
            ChatColumn::Label => chat.label.messages(event.step())?,
            ChatColumn::Same => chat.same.messages(event.step())?,
            ChatColumn::Twice => chat.twice.messages(event.step())?,
            ChatColumn::First => chat.first.messages(event.step())?,
            ChatColumn::Second => chat.second.messages(event.step())?,
            ChatColumn::Words => chat.words.messages(event.step())?,
            ChatColumn::Last => chat.last.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
