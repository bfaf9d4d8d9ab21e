use columnar::prelude::*;

struct Score {
    stars: u8,
}

flow! {
    pub struct Coder {
        source files: Score;
        source user;
        column log(files, user, self) = prompt("Describe each change.");
    }
}

fn main() {
    drop(talk(&Coder::new()));
}

async fn talk(coder: &Coder) -> Result<usize> {
    coder.user.push("hello").await?;
    let mut run = coder.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            CoderColumn::Log => coder.log.messages(event.step())?,
        };
    }
    Ok(Coder::ORDER.len() + Coder::GRAPH.names().len() + coder.files.len())
}
