use columnar::prelude::*;

flow! {
    pub struct Chat::Inner(style: String) {
        source user;
        column topics(user.latest) = prompt(style.clone());
    }
}

fn main() {
    drop(talk(&Inner::new("formal".to_owned())));
}

async fn talk(chat: &Inner) -> Result<usize> {
    chat.user.push("hello").await?;
    let mut run = chat.run();
    while let Some(event) = run.try_next().await? {
        match event.column() {
            InnerColumn::Topics => chat.topics.messages(event.step())?,
        };
    }
    Ok(Inner::ORDER.len() + Inner::GRAPH.names().len())
}
