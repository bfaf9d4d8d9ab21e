//! The attempts at a typed value: a reply that does not match the type is sent back to the step with the error.

use std::borrow::Cow;
use std::sync::Arc;

use futures::stream::{BoxStream, StreamExt};

use super::column_type::{ColumnType, MismatchKind, TypeSpec};
use super::find::{Unread, find};
use super::json_scanner::JsonScanner;
use crate::compute::{Context, OutputSpec, Piece, PieceSource, Reply, Step};
use crate::context::Role;
use crate::declare::error::BoxError;
use crate::history::Value;
use crate::model::rendering::INVALID_REPLY;

impl Step<'_> {
    /// The step whose values are JSON of the type `T`.
    pub(crate) fn typed<T: ColumnType>(self) -> Self {
        let spec = TypeSpec::of::<T>();
        // A step without a model would return the same value again.
        let default = usize::from(self.settings.instruction.is_some());
        let repairs = self.settings.repairs.unwrap_or(default);
        let step = if repairs > 0 { self.attempted_by("typed") } else { self };
        // Budgets and warm-ups count the instruction in the form that is sent.
        let step = step.set(|settings| {
            let instruction = settings.instruction.as_deref();
            settings.instruction = instruction.map(|instruction| spec.output.instruct(instruction));
            settings.schema = Some(Arc::clone(&spec.output.schema));
            settings.retype = Some(typed::<T>);
            #[cfg(feature = "parquet")]
            settings.json_type.clone_from(&spec.json_type);
            if let Some(external) = &mut settings.external {
                let spec = spec.clone();
                external.read = Some(Arc::new(move |answer| {
                    let json = find(answer, &spec).map(Cow::into_owned);
                    json.map_err(|unread| spec.mismatch(unread.kind, answer).into())
                }));
            }
        });
        step.wrap(move |step, cx| {
            Reply::of(RepairLoop {
                step: step.clone(),
                cx: cx.with_output(spec.output.clone()),
                spec: spec.clone(),
                repairs,
                attempt: 1,
                pieces: None,
                reply: String::new(),
                scanner: JsonScanner::default(),
                is_done: false,
            })
        })
    }
}

/// The same as a function for steps of any lifetime.
fn typed<T: ColumnType>(step: Step<'_>) -> Step<'_> {
    step.typed::<T>()
}

/// Makes attempts until a reply matches the type or no repair is left.
struct RepairLoop<'a> {
    step: Step<'a>,
    cx: Context,
    spec: TypeSpec,
    /// The repairs that are left.
    repairs: usize,
    /// The number of the current attempt. Retries inside of the step count as well.
    attempt: usize,
    /// The reply of the current attempt; `None` before the attempt begins.
    pieces: Option<BoxStream<'a, Result<Piece, BoxError>>>,
    /// The text of that reply so far.
    reply: String,
    scanner: JsonScanner,
    is_done: bool,
}

/// The error of a value with attachments, which JSON of a type has no place for.
const WITH_ATTACHMENTS: &str = "a typed column holds JSON, which has no attachments: return the JSON alone, or drop the type of the column";

impl PieceSource for RepairLoop<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        while !self.is_done {
            let pieces = self.pieces.get_or_insert_with(|| self.step.start(self.cx.clone()).0);
            match pieces.next().await {
                Some(Ok(Piece::Text(text))) => {
                    self.reply.push_str(&text);
                    // Text around the JSON is dropped on arrival, because deltas must add up to the value.
                    let json = self.scanner.advance(&self.reply, &self.spec.openings);
                    if !json.is_empty() {
                        return Some(Ok(Piece::Text(json.to_owned())));
                    }
                }
                Some(Ok(Piece::Whole(value))) => return Some(self.finish_whole(value)),
                // The same stream continues with the step's own next attempt, so the stream is kept.
                Some(Ok(Piece::Retry { error, .. })) => return Some(Ok(self.restart(error))),
                None => return self.finish_stream().transpose(),
                other => return other,
            }
        }
        None
    }
}

impl RepairLoop<'_> {
    /// Checks a streamed reply, and returns the rest of the JSON or a repair.
    fn finish_stream(&mut self) -> Result<Option<Piece>, BoxError> {
        let rest = match find(&self.reply, &self.spec) {
            Ok(value) => match self.scanner.rest(&self.reply, &value) {
                Some(rest) => rest.to_owned(),
                // What was emitted is other JSON than what matches.
                None => return self.repair(MismatchKind::SeveralValues.into()).map(Some),
            },
            Err(unread) => return self.repair(unread).map(Some),
        };
        self.is_done = true;
        Ok((!rest.is_empty()).then_some(Piece::Text(rest)))
    }

    fn finish_whole(&mut self, value: Value) -> Result<Piece, BoxError> {
        if !value.attachments().is_empty() {
            return Err(WITH_ATTACHMENTS.into());
        }
        // Text that was streamed before is no part of a whole value.
        value.as_str().clone_into(&mut self.reply);
        match find(&self.reply, &self.spec) {
            Ok(json) => {
                self.is_done = true;
                // An unchanged value is not copied.
                Ok(Piece::Whole(if json == *value { value } else { json.into_owned().into() }))
            }
            Err(unread) => self.repair(unread),
        }
    }

    /// Discards the reply and, if a repair is left, begins another attempt with the error in the request.
    fn repair(&mut self, Unread { kind, detail }: Unread) -> Result<Piece, BoxError> {
        let mismatch = self.spec.mismatch(kind, &self.reply);
        if self.repairs == 0 {
            return Err(mismatch.into());
        }
        self.repairs -= 1;
        self.pieces = None;
        let mut output = OutputSpec { follow_up: self.cx.follow_up().to_vec(), ..self.spec.output.clone() };
        // Some providers refuse a message without text.
        if !self.reply.trim().is_empty() {
            output.follow_up.push((Role::Assistant, self.reply.as_str().into()));
        }
        let instruction = &output.instruction;
        // The words of the parser may quote the reply, so only the model gets the words.
        let detail = detail.unwrap_or_else(|| mismatch.to_string());
        let correction = format!("{INVALID_REPLY}: {detail}. {instruction}");
        output.follow_up.push((Role::User, correction.into()));
        self.cx = self.cx.clone().with_output(output);
        Ok(self.restart(mismatch.into()))
    }

    /// Reports the failed attempt and counts the next one.
    fn restart(&mut self, error: BoxError) -> Piece {
        self.reply.clear();
        self.scanner = JsonScanner::default();
        let attempt = self.attempt;
        self.attempt += 1;
        Piece::Retry { attempt, error }
    }
}
