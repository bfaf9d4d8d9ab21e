use columnar::model::Model;
use columnar::prelude::*;

flow! {
    pub struct Chat<M: Model + Clone>(model: M) {
        source user;
        column topics(user.latest) = prompt("List the topics.").model(model.clone());
    }
}

flow! {
    pub struct Felt: Chat {
        column mood(topics, user.latest) = prompt("Name the mood.");
    }
}

fn main() {}
