use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(group("g1", group("g2", group("g3", group("g4", group("g5", group("g6", group("g7", group("g8", group("g9", group("g10", group("g11", group("g12", group("g13", group("g14", group("g15", group("g16", group("g17", group("g18", group("g19", group("g20", group("g21", group("g22", group("g23", group("g24", group("g25", group("g26", group("g27", group("g28", group("g29", group("g30", group("g31", group("g32", group("g33", user.latest)))))))))))))))))))))))))))))))))) = prompt("List the topics.");
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
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
