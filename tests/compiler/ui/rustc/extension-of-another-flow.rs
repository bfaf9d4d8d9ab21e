use columnar::prelude::*;

flow! {
    pub struct Chat {
        source user;
        column topics(user.latest) = prompt("List the topics.");
    }
}

flow! {
    pub struct Other {
        source user;
        column title(user.latest) = prompt("Find a title.");
    }
}

flow! {
    pub struct Felt: Chat {
        column mood(topics.latest) = prompt("Name the mood.");
    }
}

async fn felt(other: Other) -> Result<Felt> {
    Felt::extend(&other).await
}

fn main() {
    let _ = felt(Other::new());
}
