//! The attempts at a typed value: a reply that does not match the type is sent back to the step with the error.

use futures::stream::{self, BoxStream, StreamExt};

use super::column_type::{ColumnType, SchemaMismatch, TypeSpec};
use super::json_scanner::{JsonScanner, Scanned};
use crate::compute::{Context, Kind, OutputSpec, Piece, Reply, Step};
use crate::context::Role;
use crate::error::BoxError;
use crate::history::Value;
use crate::rendering::INVALID_REPLY;

impl Step<'_> {
    /// The step with JSON of the type `T` as its values.
    pub(crate) fn typed<T: ColumnType>(self) -> Self {
        let spec = TypeSpec::of::<T>();
        // A step without a model would return the same value again.
        let default = usize::from(self.settings().instruction.is_some());
        let repairs = self.settings().repairs.unwrap_or(default);
        let step = if repairs > 0 { self.with_attempts_by("typed") } else { self };
        // Budgets and warm-ups count the instruction as it is sent.
        step.map_instruction(|instruction| spec.output.instruct(instruction))
            .wrap(move |step, cx| Reply(Kind::Pieces(repair_loop(step.clone(), cx, spec.clone(), repairs))))
    }
}

struct RepairLoop<'a> {
    step: Step<'a>,
    cx: Context,
    spec: TypeSpec,
    /// The repairs that are left.
    repairs: usize,
    /// The number of the current attempt. Retries inside of the step count as well.
    attempt: usize,
    /// The reply of the current attempt; `None` before it begins.
    pieces: Option<BoxStream<'a, Result<Piece, BoxError>>>,
    /// The text of that reply so far.
    reply: String,
    scanner: JsonScanner,
    is_done: bool,
}

/// Makes attempts until a reply matches the type or no repair is left.
fn repair_loop(
    step: Step<'_>,
    cx: Context,
    spec: TypeSpec,
    repairs: usize,
) -> BoxStream<'_, Result<Piece, BoxError>> {
    let state = RepairLoop {
        cx: cx.with_output(spec.output.clone()),
        step,
        spec,
        repairs,
        attempt: 1,
        pieces: None,
        reply: String::new(),
        scanner: JsonScanner::default(),
        is_done: false,
    };
    stream::unfold(state, |mut state| async move {
        let piece = state.next().await?;
        state.is_done |= piece.is_err();
        Some((piece, state))
    })
    .boxed()
}

impl RepairLoop<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        while !self.is_done {
            let pieces = self.pieces.get_or_insert_with(|| self.step.start(self.cx.clone()).pieces());
            match pieces.next().await {
                Some(Ok(Piece::Text(text))) => {
                    self.reply.push_str(&text);
                    let json = self.scanner.advance(&self.reply);
                    if !json.is_empty() {
                        return Some(Ok(Piece::Text(json.to_owned())));
                    }
                }
                Some(Ok(Piece::Whole(value))) => return Some(self.finish_whole(value)),
                // The same stream continues with the step's own next attempt, so it is kept.
                Some(Ok(Piece::Retry { error, .. })) => return Some(Ok(self.restart(error))),
                None => return self.finish_stream().transpose(),
                other => return other,
            }
        }
        None
    }

    /// Checks a streamed reply, and returns the rest of its JSON or a repair.
    fn finish_stream(&mut self) -> Result<Option<Piece>, BoxError> {
        match self.check() {
            Ok(_) => {
                self.is_done = true;
                // Only the end of the reply shows that a lone `true` or `null` is the value.
                let rest = self.scanner.take_unread(&self.reply).to_owned();
                Ok((!rest.is_empty()).then_some(Piece::Text(rest)))
            }
            Err(invalid) => self.repair(invalid).map(Some),
        }
    }

    fn finish_whole(&mut self, value: Value) -> Result<Piece, BoxError> {
        value.as_str().clone_into(&mut self.reply);
        // Text that was streamed before is no part of a whole value.
        self.scanner = JsonScanner::default();
        self.scanner.advance(&self.reply);
        match self.check() {
            Ok(json) => {
                self.is_done = true;
                // An unchanged value is not copied.
                Ok(Piece::Whole(if json == *value { value } else { json.into() }))
            }
            Err(invalid) => self.repair(invalid),
        }
    }

    /// The JSON of the reply, if it matches the type.
    fn check(&mut self) -> Result<String, InvalidReply> {
        let type_name = &self.spec.output.schema.name;
        match self.scanner.finish(&self.reply) {
            Scanned::One(json) => match (self.spec.check)(json) {
                Ok(()) => Ok(json.to_owned()),
                Err(error) => Err(InvalidReply {
                    mismatch: SchemaMismatch::at(&error, type_name),
                    detail: error.to_string(),
                }),
            },
            Scanned::None => Err(SchemaMismatch::no_json(type_name).into()),
            Scanned::Several => Err(SchemaMismatch::several_values(type_name).into()),
        }
    }

    /// Discards the reply and begins another attempt with the error in its request, if a repair is left.
    fn repair(&mut self, InvalidReply { mismatch, detail }: InvalidReply) -> Result<Piece, BoxError> {
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

/// A reply that does not match. The detail may quote the reply, so only the model gets it, never an error.
struct InvalidReply {
    mismatch: SchemaMismatch,
    detail: String,
}

impl From<SchemaMismatch> for InvalidReply {
    fn from(mismatch: SchemaMismatch) -> Self {
        let detail = mismatch.to_string();
        Self { mismatch, detail }
    }
}
