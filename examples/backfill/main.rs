//! A backfill: a thousand messages are there, and columns are computed for all of them. It says what
//! that will cost before it begins, shows how far it is, can be interrupted at any time, and goes on
//! from where it was.
//!
//! ```text
//! cargo run --example backfill                       bars at a terminal, results at the end
//! cargo run --example backfill -- --interrupt 300    drops the run after 300 values, then goes on
//! cargo run --example backfill -- --help             the options
//! ```

mod counted;
mod options;
mod progress;
mod report;
mod shop;

use std::io::Write;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;

use columnar::BoxError;
use columnar::model::{self, Model, Offline};
use columnar::prelude::*;
use columnar_examples::exit_code;
use tokio::signal::ctrl_c;

use counted::Counted;
use options::{Options, Request};
use progress::Progress;

flow! {
    /// What is made of each message to a shop.
    pub struct Inbox<M: Model + Clone>(model: M) {
        /// A message, as it came in.
        source message;

        column order(message.latest)          = order_number.or_skip();
        column topics(message.latest)         = prompt("List the topics.").with(model.clone()).retry(3).or_wait();
        column trend(topics.window(5))        = prompt("Summarise what people write about.").with(model.clone()).retry(3).or_wait();
        column reply(order.latest, topics.latest, message.latest) = prompt("Reply to the message.").with(model.clone()).retry(3).or_wait();
    }
}

/// The flow of this program.
type Shop = Inbox<Counted>;

/// A column needs no model; and where there is nothing to say, it may be empty.
async fn order_number(cx: Context) -> Result<String, &'static str> {
    let message = cx.input("message").ok_or("`order` reads `message`")?;
    shop::order(message).map(str::to_owned).ok_or("no order is named")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match start(&mut anstream::stdout()).await {
        // As a shell has it for a program that was interrupted.
        Ok(Ended::ByHand) => ExitCode::from(130),
        result => exit_code(result.map(drop)),
    }
}

async fn start(out: &mut impl Write) -> Result<Ended, BoxError> {
    let options = match Options::parse(std::env::args_os().skip(1))? {
        Request::Help => {
            out.write_all(options::HELP.as_bytes())?;
            return Ok(Ended::Done);
        }
        Request::Run(options) => options,
    };
    let model = Counted::new(chosen(&options)?);
    let inbox = Shop::new(model.clone());
    for number in 0..options.rows {
        inbox.message.push(shop::message(number)).await?;
    }
    anstream::eprintln!("model: {}\n", model.name());
    let mut ended = compute(&inbox, options.interrupt).await?;
    while ended == Ended::AfterEnough {
        anstream::eprintln!("{}", report::interrupted(&inbox, model.calls()));
        ended = compute(&inbox, None).await?;
    }
    if ended == Ended::ByHand {
        anstream::eprintln!("{}", report::interrupted(&inbox, model.calls()));
    }
    anstream::eprintln!("{} calls of the model in all\n", model.calls());
    report::results(out, &inbox)?;
    Ok(ended)
}

/// The model that the environment names; the offline one takes its time.
fn chosen(options: &Options) -> Result<Arc<dyn Model>, BoxError> {
    let model = model::from_env()?;
    let is_offline = model.name() == Offline::NAME;
    Ok(if is_offline { Arc::new(Offline::new().pace(options.pace)) } else { model })
}

/// How a run came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    /// It had as many values as were asked for.
    AfterEnough,
    /// Somebody pressed Ctrl-C.
    ByHand,
}

/// Computes what is missing and shows how far that is; up to so many values, if that is said.
async fn compute(inbox: &Shop, enough: Option<usize>) -> Result<Ended, BoxError> {
    let forecast = inbox.forecast();
    anstream::eprintln!("{}", report::forecast(&forecast));
    let mut progress = Progress::new(&forecast);
    let ended = watch(inbox, enough, &mut progress).await;
    progress.end();
    ended
}

async fn watch(inbox: &Shop, enough: Option<usize>, progress: &mut Progress) -> Result<Ended, BoxError> {
    let (mut run, mut values, mut pressed) = (inbox.run(), 0, pin!(ctrl_c()));
    // Dropping the run, as every return does, is all there is to an interruption.
    loop {
        let event = tokio::select! {
            biased;
            pressed = &mut pressed => return Ok(pressed.map(|()| Ended::ByHand)?),
            event = run.try_next() => event?,
        };
        let Some(event) = event else { return Ok(Ended::Done) };
        progress.hear(&event);
        values += usize::from(matches!(event, Event::Value { .. }));
        if enough.is_some_and(|enough| values >= enough) {
            return Ok(Ended::AfterEnough);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_second_run_pays_only_for_what_is_missing() -> Result<(), BoxError> {
        let model = Counted::new(Arc::new(Offline::new()));
        let inbox = Shop::new(model.clone());
        for number in 0..40 {
            inbox.message.push(shop::message(number)).await?;
        }
        assert_eq!(compute(&inbox, Some(50)).await?, Ended::AfterEnough);
        let (paid, missing) = (model.calls(), inbox.forecast().calls);
        assert!(missing < 120);
        assert_eq!(compute(&inbox, None).await?, Ended::Done);
        assert_eq!(model.calls(), paid + missing);
        assert_eq!(inbox.steps(), 40);
        Ok(())
    }
}
