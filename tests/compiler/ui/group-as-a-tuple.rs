use columnar::prelude::*;

flow! {
    pub struct Panel {
        source topic;
        column pro(topic.latest) = prompt("Argue for it.");
        column con(topic.latest) = prompt("Argue against it.");
        column judge(topic.latest, debate: (pro.latest, con.window(2))) = prompt("Judge.");
    }
}

fn main() {
    drop(talk(&Panel::new()));
}

async fn talk(panel: &Panel) -> Result<usize> {
    panel.topic.push("tea").await?;
    panel.run().await?;
    panel.judge.messages(0)?;
    Ok(Panel::ORDER.len() + Panel::GRAPH.names().len())
}
