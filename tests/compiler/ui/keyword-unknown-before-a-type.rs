use columnar::prelude::*;

flow! {
    pub struct Coder {
        stream files: Documents;
        source user;
        column coder(files.tiered(), user, self) = prompt("You write Rust.");
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
            CoderColumn::Coder => coder.coder.messages(event.step())?,
        };
    }
    Ok(Coder::ORDER.len() + Coder::GRAPH.names().len() + coder.files.len())
}
