//! A backfill: computes four columns for a thousand messages. The program prints a forecast of the cost, shows the
//! progress, can be interrupted at any time, and continues with the missing cells.
//!
//! ```text
//! cargo run --example backfill                       progress bars, then the results
//! cargo run --example backfill -- --interrupt 300    drops the run after 300 values, then continues
//! cargo run --example backfill -- --help             the options
//! ```

mod shop;
mod terminal;

use std::io::Write;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use columnar::BoxError;
use columnar::model::{self, Chunk, Model, Offline, Request};
use columnar::prelude::*;
use columnar::terminal::ProgressBars;
use columnar_examples::{exit_code, printable};
use futures::stream::BoxStream;
use tokio::signal::ctrl_c;

use terminal::{Command, Options};

flow! {
    /// Messages to a shop, and the answers.
    pub struct Inbox<M: Model + Clone>(model: M) {
        /// A message of a customer.
        source message;

        column order(message.latest)  = order_number.or_skip();
        column topics(message.latest) = prompt("List the topics.").model(model.clone()).retry(3).or_wait();
        column trend(topics.window(5)) =
            prompt("Summarise what people write about.").model(model.clone()).retry(3).or_wait();
        column reply(order.latest, topics.latest, message.latest) =
            prompt("Reply to the message.").model(model.clone()).retry(3).or_wait();
    }
}

type Shop = Inbox<Counted>;

/// A model that counts calls; clones share the count.
#[derive(Clone)]
struct Counted {
    model: Arc<dyn Model>,
    calls: Arc<AtomicUsize>,
}

impl Counted {
    fn new(model: Arc<dyn Model>) -> Self {
        Self { model, calls: Arc::default() }
    }

    fn calls(&self) -> usize {
        // A count alone, which orders no other memory.
        self.calls.load(Ordering::Relaxed)
    }
}

impl Model for Counted {
    fn name(&self) -> &str {
        self.model.name()
    }

    // Forwarded, so that a missing key is an error before the run computes anything.
    fn ready(&self) -> Result<(), BoxError> {
        self.model.ready()
    }

    fn reply(&self, request: Request) -> BoxStream<'static, Result<Chunk, BoxError>> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.model.reply(request)
    }
}

/// A compute step without a model. The cell stays empty where no order is named.
async fn order_number(cx: Context) -> Result<String, &'static str> {
    let message = cx.input("message").ok_or("`order` reads `message`")?;
    shop::order(message).map(str::to_owned).ok_or("no order is named")
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match start(&mut columnar_examples::stdout()).await {
        // The exit code of a shell for an interrupted program.
        Ok(Ended::Interrupted) => ExitCode::from(130),
        result => exit_code(result.map(drop)),
    }
}

async fn start(out: &mut impl Write) -> Result<Ended, BoxError> {
    let options = match Options::parse(std::env::args_os().skip(1))? {
        Command::Help => {
            out.write_all(terminal::HELP.as_bytes())?;
            return Ok(Ended::Done);
        }
        Command::Run(options) => options,
    };
    let model = Counted::new(chosen(&options)?);
    let inbox = Shop::new(model.clone());
    for number in 0..options.rows {
        inbox.message.push(shop::message(number)).await?;
    }
    anstream::eprintln!("model: {}\n", printable(model.name()));
    let mut ended = compute(&inbox, options.interrupt).await?;
    while ended == Ended::LimitReached {
        anstream::eprintln!("{}", terminal::interrupted(&inbox, model.calls()));
        ended = compute(&inbox, None).await?;
    }
    if ended == Ended::Interrupted {
        anstream::eprintln!("{}", terminal::interrupted(&inbox, model.calls()));
    }
    anstream::eprintln!("{} calls of the model in all\n", model.calls());
    terminal::results(out, &inbox)?;
    Ok(ended)
}

/// The model that the environment names; the offline one with a pause before each word.
fn chosen(options: &Options) -> Result<Arc<dyn Model>, BoxError> {
    let model = model::from_env()?;
    let is_offline = model.name() == Offline::NAME;
    Ok(if is_offline { Arc::new(Offline::new().delay(options.pace)) } else { model })
}

/// The reason why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Done,
    /// The values of `--interrupt` are computed.
    LimitReached,
    /// Ctrl-C was pressed.
    Interrupted,
}

/// Computes the missing cells, at most `limit` values, and shows the progress.
async fn compute(inbox: &Shop, limit: Option<usize>) -> Result<Ended, BoxError> {
    let forecast = inbox.forecast();
    anstream::eprintln!("The next run:\n{}\n", printable(&forecast));
    let mut progress = ProgressBars::new(&forecast);
    let ended = watch(inbox, limit, &mut progress).await;
    progress.finish();
    ended
}

async fn watch(inbox: &Shop, limit: Option<usize>, progress: &mut ProgressBars) -> Result<Ended, BoxError> {
    // One `ctrl_c` for the whole run: a new one in each round would miss a signal between two rounds.
    let (mut run, mut values, mut pressed) = (inbox.run(), 0, pin!(ctrl_c()));
    // To interrupt a run is to drop the run, as every return does.
    loop {
        let event = tokio::select! {
            // Ctrl-C first, because a fast model may have the next event ready every time.
            biased;
            pressed = &mut pressed => return Ok(pressed.map(|()| Ended::Interrupted)?),
            event = run.try_next() => event?,
        };
        let Some(event) = event else { return Ok(Ended::Done) };
        progress.update(&event);
        values += usize::from(matches!(event, Event::Value { .. }));
        if limit.is_some_and(|limit| values >= limit) {
            return Ok(Ended::LimitReached);
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
        assert_eq!(compute(&inbox, Some(50)).await?, Ended::LimitReached);
        let (paid, missing) = (model.calls(), inbox.forecast().calls);
        assert!(missing < 120);
        assert_eq!(compute(&inbox, None).await?, Ended::Done);
        assert_eq!(model.calls(), paid + missing);
        assert_eq!(inbox.steps(), 40);
        Ok(())
    }
}
