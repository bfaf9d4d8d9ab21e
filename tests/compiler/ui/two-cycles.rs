use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column a(user, b) = prompt("A."); //~
        column b(a) = prompt("B.");
        column c(user, d) = prompt("C."); //~
        column d(c, a) = prompt("D.");
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
            ChatColumn::A => chat.a.messages(event.step())?,
            ChatColumn::B => chat.b.messages(event.step())?,
            ChatColumn::C => chat.c.messages(event.step())?,
            ChatColumn::D => chat.d.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
