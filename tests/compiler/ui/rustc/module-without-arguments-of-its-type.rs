use columnar::model::{Model, Offline};
use columnar::prelude::*;

flow! {
    pub struct Debate<M: Model + Clone>(model: M) {
        source topic;
        column critic(topic.latest) = prompt("Name the weak points.").model(model.clone());
    }
}

flow! {
    pub struct Chat {
        source user;
        use Debate(Offline::new()) { topic: user } as debate;
        column verdict(debate.critic, user.latest) = prompt("Judge.");
    }
}

fn main() {}
