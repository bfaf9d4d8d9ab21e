//! Contexts with documents in tiers.

use columnar::documents::Update;
use columnar::prelude::*;
use columnar::testing::{context_text, script};

flow! {
    pub struct Coder {
        source files: Documents;
        source user;
        column coder(files.tiered().target(0), user, self) = script(["Done."; 40]);
    }
}

#[tokio::test]
async fn a_print() -> Result<()> {
    let coder = Coder::new();
    for step in 0..14 {
        let update = match step {
            0 => Update::new()
                .file("a.rs", "a")
                .file("b.rs", "b")
                .tree("a.rs\nb.rs")
                .legend("f function")
                .symbol("c.rs", "f c")
                .cluster(0, 3)
                .symbol("d.rs", "f d")
                .cluster(0, 2),
            5 => Update::new().file("b.rs", "b 5").url("https://a", "A page."),
            7 => Update::new().file("b.rs", "b 7"),
            _ => Update::new(),
        };
        coder.files.push(update).await?;
        coder.user.push(format!("question {step}")).await?;
        coder.run().await?;
        let messages = coder.coder.messages(step)?;
        println!(
            "=== {step}\nSYSTEM {}\n{}\n{:?}",
            messages.system("Be."),
            context_text(&messages),
            messages.moves()
        );
        println!("{}", coder.coder.explain_cache(step)?);
        let parts: usize = messages.parts().map(|part| part.tokens()).sum();
        assert_eq!(parts, messages.tokens());
    }
    Ok(())
}
