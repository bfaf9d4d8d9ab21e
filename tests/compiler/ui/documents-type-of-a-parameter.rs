use columnar::prelude::*;

flow! {
    pub struct Coder<T> {
        source files: T;
        source user;
        column coder(files.tiered(), user, self) = prompt("You write Rust.");
    }
}

fn main() {
    drop(talk(&Coder::<u8>::new()));
}

async fn talk<T>(coder: &Coder<T>) -> Result<usize> {
    coder.user.push("hello").await?;
    let mut run = coder.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            CoderColumn::Coder => coder.coder.messages(event.step())?,
        };
    }
    Ok(coder.files.len())
}
