use columnar::prelude::*;

flow! {
    pub struct Coder {
        source files: Documents;
        source user;
        column coder(files.tiered(), user, self) = prompt("You write Rust.");
    }
}

flow! {
    pub struct Reviewed: Coder {
        column review(files.tiered(), files, user, self) = prompt("Review the code.");
    }
}

fn main() {
    drop(talk(Coder::new()));
}

async fn talk(coder: Coder) -> Result<usize> {
    let reviewed = Reviewed::extend(coder).await?;
    reviewed.user.push("hello").await?;
    let mut run = reviewed.run();
    while let Some(event) = run.try_next().await? {
        let _ = match event.column() {
            ReviewedColumn::Coder(CoderColumn::Coder) => reviewed.coder.len(),
            ReviewedColumn::Review => reviewed.review.len(),
        };
    }
    Ok(Reviewed::ORDER.len() + Reviewed::GRAPH.names().len())
}
