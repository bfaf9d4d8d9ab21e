use columnar::prelude::*;

flow! {
    pub struct Coder {
        source files: Documents;
        source task;
        column coder(files.tiered(), task, self) = prompt("You write Rust.");
    }
}

flow! {
    pub struct Chat {
        source code: Documents;
        source user;
        use Coder { files: user, task: user } as coder;
        column summary(coder.coder, user) = prompt("Summarise.");
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
            ChatColumn::Summary => chat.summary.messages(event.step())?,
            ChatColumn::Coder(_) => chat.coder.coder.messages(event.step())?,
        };
    }
    Ok(Chat::ORDER.len() + Chat::GRAPH.names().len())
}
