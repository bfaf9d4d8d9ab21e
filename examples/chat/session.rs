//! A chat that goes on: messages in, a step of the flow for each, and all of it shown.

use std::io::{self, BufRead, IsTerminal, Write};

use columnar::prelude::*;

use crate::command::{Command, HINT};
use crate::failure::Failure;
use crate::options::Options;
use crate::screen::Screen;
use crate::transcript::Transcript;
use crate::{Chat, ChatColumn};

pub(crate) struct Session<W> {
    chat: Chat,
    screen: Screen<W>,
    options: Options,
}

impl<W: Write> Session<W> {
    pub(crate) fn new(screen: Screen<W>, options: Options) -> Self {
        Self { chat: Chat::new(), screen, options }
    }

    /// Plays a transcript, message by message, to its end or its first error.
    pub(crate) async fn play(&mut self, transcript: Transcript<impl BufRead>) -> Result<(), Failure> {
        self.screen.note(&format!("input: {}\n\n", transcript.name()))?;
        let mut is_empty = true;
        for message in transcript.take(self.left()) {
            let message = message?;
            is_empty = false;
            self.screen.user(self.chat.user.len(), &message)?;
            self.step(message).await?;
        }
        if is_empty && self.left() > 0 {
            self.screen.note("There is no message in it.\n")?;
        }
        Ok(())
    }

    /// Talks with a person; errors are shown, and the talk goes on.
    pub(crate) async fn converse(
        &mut self,
        mut lines: Transcript<impl BufRead>,
        included: Transcript<impl BufRead>,
    ) -> Result<(), Failure> {
        let mut included = Some(included);
        self.screen.note(&format!("{HINT}\n"))?;
        while self.left() > 0 {
            self.screen.prompt(self.chat.user.len())?;
            let Some(line) = lines.line().transpose()? else {
                return Ok(self.screen.note("\n")?);
            };
            let done = match Command::parse(&line) {
                Ok(Command::Quit) => break,
                Ok(command) => self.obey(command, &mut included).await,
                Err(problem) => Err(Failure::Usage(problem)),
            };
            match done {
                Err(Failure::Output(error)) => return Err(error.into()),
                Err(failure) => self.screen.error(&failure.to_string())?,
                Ok(()) => {}
            }
        }
        Ok(())
    }

    async fn obey(
        &mut self,
        command: Command<'_>,
        included: &mut Option<Transcript<impl BufRead>>,
    ) -> Result<(), Failure> {
        match command {
            Command::Say(message) => {
                // At a terminal the message is on the screen already, as it was typed.
                if !io::stdout().is_terminal() {
                    self.screen.note(&format!("{message}\n"))?;
                }
                self.step(message.to_owned()).await?;
            }
            Command::PlayIncluded => match included.take() {
                Some(included) => self.play(included).await?,
                None => self.screen.note("The included conversation has been played.\n\n")?,
            },
            Command::Messages(column) => match self.chat.user.len().checked_sub(1) {
                Some(last) => {
                    self.messages(column, last)?;
                    self.screen.note("\n")?;
                }
                None => self.screen.note("There is no step yet; type a message first.\n\n")?,
            },
            Command::Help => self.screen.note(&format!("{HINT}\n"))?,
            Command::Quit => {}
        }
        Ok(())
    }

    /// Computes a step and shows it while it is computed.
    async fn step(&mut self, message: String) -> Result<(), Failure> {
        let step = self.chat.user.push(message).await?;
        let mut run = self.chat.run();
        while let Some(event) = run.next().await {
            match event {
                Ok(event) => self.screen.show(event)?,
                Err(error) => {
                    self.screen.cut_off()?;
                    return Err(error.into());
                }
            }
        }
        for column in self.options.messages.clone() {
            self.messages(column, step)?;
        }
        Ok(self.screen.note("\n")?)
    }

    fn messages(&mut self, column: ChatColumn, step: usize) -> Result<(), Failure> {
        let seen = self.chat.messages(column.name(), step)?;
        let shown = if self.options.json {
            self.screen.json(&seen)
        } else {
            self.screen.messages(column, step, &seen)
        };
        Ok(shown?)
    }

    /// How many messages may still come.
    fn left(&self) -> usize {
        self.options.steps.map_or(usize::MAX, |steps| steps.saturating_sub(self.chat.user.len()))
    }
}
