use columnar::prelude::*;

pub struct Person {
    pub name: String,
}

flow! {
    pub struct Felt: Person {
        column mood(user.latest) = prompt("Name the mood.");
    }
}

async fn felt(person: Person) -> Result<Felt> {
    let felt = Felt::extend(person).await?;
    felt.run().await?;
    Ok(felt)
}

fn main() {
    let _ = felt(Person { name: String::new() });
}
