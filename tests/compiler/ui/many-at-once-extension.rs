use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

flow! {
    pub struct Felt(style): Chat { //~
        source weather; //~
        column mood(user.latest, topics.as("user")) = prompt("Name the mood."); //~
        column tone(tone.latest, user) = prompt("Name the tone."); //~
        column grief(self) = prompt("Grieve."); //~
        column joy(user.latest, grief.window(0)) = ; //~~
        colum hope(user, joy.latest) = prompt("Hope."); //~
        column fear(hate.latest) = prompt("Fear."); //~
        column hate(fear.latest, Weather) = prompt("Hate."); //~
    }
}

fn main() {
    drop(talk(Chat::new()));
}

async fn talk(chat: Chat) -> Result<usize> {
    let felt = Felt::extend(chat, 3).await?;
    felt.user.push("hello").await?;
    felt.weather.push("rain").await?;
    let mut run = felt.run();
    while let Some(event) = run.try_next().await? {
        let _ = match event.column() {
            FeltColumn::Chat(ChatColumn::Topics) => felt.topics.len(),
            FeltColumn::Mood | FeltColumn::Tone | FeltColumn::Grief | FeltColumn::Joy => felt.mood.len(),
            FeltColumn::Hope | FeltColumn::Fear | FeltColumn::Hate => felt.hate.len(),
        };
    }
    Ok(Felt::ORDER.len() + Felt::GRAPH.names().len())
}
