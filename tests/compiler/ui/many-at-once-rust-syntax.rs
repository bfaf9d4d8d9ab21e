use columnar::prelude::*;

flow! {
    pub struct Chat {
        const COUNT: usize = 3; //~
        pub user: String, //~
        let style = "formal"; //~
        async column topics(user.latest) = prompt("List the topics."); //~
        fn summary(user, self.latest) = prompt("Summarise."); //~
        fn length(user: &str) -> usize { user.len() } //~
        async fn mood(user: &str) -> String { String::from("calm") } //~
        column answer(&user) = prompt("Answer."); //~
        column title("user") = prompt("Name it."); //~
        column recent(user[3]) = prompt("Sum up."); //~
        column last(user.last(3)) = prompt("Sum up."); //~
        column everything(user.all()) = prompt("Sum up."); //~
        column digest(user as "said") = prompt("Sum up."); //~
        column echo(self.user) = prompt("Repeat."); //~
        column own(user, this) = prompt("Go on."); //~
        struct Other { text: String } //~
        if true { column more(user) = prompt("More."); } //~
        println!("These are all."); //~
        flow! { source other; column reply(other) = prompt("Reply."); } //~
        column closing(user) => prompt("Close."); //~
        col //~
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
            ChatColumn::Length => chat.length.messages(event.step())?,
            ChatColumn::Mood => chat.mood.messages(event.step())?,
            ChatColumn::Answer => chat.answer.messages(event.step())?,
            ChatColumn::Title => chat.title.messages(event.step())?,
            ChatColumn::Recent => chat.recent.messages(event.step())?,
            ChatColumn::Last => chat.last.messages(event.step())?,
            ChatColumn::Everything => chat.everything.messages(event.step())?,
            ChatColumn::Digest => chat.digest.messages(event.step())?,
            ChatColumn::Echo => chat.echo.messages(event.step())?,
            ChatColumn::Own => chat.own.messages(event.step())?,
            ChatColumn::Closing => chat.closing.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
