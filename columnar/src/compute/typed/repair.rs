//! Attempts at a value of a type: one, and further ones that are told what is wrong with those before.

use futures::stream::{self, BoxStream, StreamExt};

use super::json_text::{Found, JsonText};
use super::{SchemaMismatch, Shape};
use crate::compute::OutputSpec;
use crate::compute::{Context, Piece, Step};
use crate::context::Role;
use crate::error::BoxError;
use crate::history::Value;

struct Attempts<'a> {
    step: Step<'a>,
    cx: Context,
    shape: Shape,
    /// How often it may be asked again.
    repairs: usize,
    /// Which attempt goes on, those included that the step makes by itself.
    attempt: usize,
    /// What the attempt that goes on says; `None` before it begins.
    pieces: Option<BoxStream<'a, Result<Piece, BoxError>>>,
    /// All that it has said, and where the JSON is in that.
    said: String,
    json: JsonText,
    is_over: bool,
}

/// Attempt after attempt, until a reply is of the type or there are no more repairs.
pub(super) fn attempts(
    step: Step<'_>,
    cx: Context,
    shape: Shape,
    repairs: usize,
) -> BoxStream<'_, Result<Piece, BoxError>> {
    let attempts = Attempts {
        cx: cx.with_output(shape.output.clone()),
        step,
        shape,
        repairs,
        attempt: 1,
        pieces: None,
        said: String::new(),
        json: JsonText::default(),
        is_over: false,
    };
    stream::unfold(attempts, |mut attempts| async move {
        let piece = attempts.next().await?;
        attempts.is_over |= piece.is_err();
        Some((piece, attempts))
    })
    .boxed()
}

impl Attempts<'_> {
    async fn next(&mut self) -> Option<Result<Piece, BoxError>> {
        while !self.is_over {
            let pieces = self.pieces.get_or_insert_with(|| self.step.start(self.cx.clone()).pieces());
            match pieces.next().await {
                Some(Ok(Piece::Text(text))) => {
                    self.said.push_str(&text);
                    let told = self.json.go_on(&self.said);
                    if !told.is_empty() {
                        return Some(Ok(Piece::Text(told.to_owned())));
                    }
                }
                Some(Ok(Piece::Whole(value))) => return Some(self.judge_whole(value)),
                Some(Ok(Piece::Retry { error, .. })) => return Some(Ok(self.again(error))),
                None => return self.judge().transpose(),
                other => return other,
            }
        }
        None
    }

    /// What is told at the end of a reply that has been told already, as far as it is JSON.
    fn judge(&mut self) -> Result<Option<Piece>, BoxError> {
        match self.found() {
            Ok(_) => {
                self.is_over = true;
                let rest = self.json.untold(&self.said).to_owned();
                Ok((!rest.is_empty()).then_some(Piece::Text(rest)))
            }
            Err(wrong) => self.repair(wrong).map(Some),
        }
    }

    fn judge_whole(&mut self, value: Value) -> Result<Piece, BoxError> {
        value.as_str().clone_into(&mut self.said);
        self.json = JsonText::default();
        self.json.go_on(&self.said);
        match self.found() {
            Ok(json) => {
                self.is_over = true;
                Ok(Piece::Whole(if json == *value { value } else { json.into() }))
            }
            Err(wrong) => self.repair(wrong),
        }
    }

    /// The JSON that was said, if it is of the type.
    fn found(&mut self) -> Result<String, Wrong> {
        let name = &self.shape.output.schema.name;
        match self.json.finish(&self.said) {
            Found::One(json) => match (self.shape.check)(json) {
                Ok(()) => Ok(json.to_owned()),
                Err(error) => {
                    Err(Wrong { mismatch: SchemaMismatch::of(&error, name), detail: error.to_string() })
                }
            },
            Found::None => Err(SchemaMismatch::none(name).into()),
            Found::More => Err(SchemaMismatch::more(name).into()),
        }
    }

    /// Tells that what was said counts for nothing, and lets the step be asked once more, if it may be.
    fn repair(&mut self, Wrong { mismatch, detail }: Wrong) -> Result<Piece, BoxError> {
        if self.repairs == 0 {
            return Err(mismatch.into());
        }
        self.repairs -= 1;
        self.pieces = None;
        let mut output = OutputSpec { follow_up: self.cx.follow_up().to_vec(), ..self.shape.output.clone() };
        // There are providers that refuse a message without text.
        if !self.said.trim().is_empty() {
            output.follow_up.push((Role::Assistant, self.said.as_str().into()));
        }
        let order = &output.order;
        let wrong = format!("That is not what is wanted: {detail}. {order}");
        output.follow_up.push((Role::User, wrong.into()));
        self.cx = self.cx.clone().with_output(output);
        Ok(self.again(mismatch.into()))
    }

    /// A further attempt, which counts on from those before.
    fn again(&mut self, error: BoxError) -> Piece {
        self.said.clear();
        self.json = JsonText::default();
        let attempt = self.attempt;
        self.attempt += 1;
        Piece::Retry { attempt, error }
    }
}

/// What is wrong with a reply: for whoever runs the flow, and for the model, which may hear its own words.
struct Wrong {
    mismatch: SchemaMismatch,
    detail: String,
}

impl From<SchemaMismatch> for Wrong {
    fn from(mismatch: SchemaMismatch) -> Self {
        let detail = mismatch.to_string();
        Self { mismatch, detail }
    }
}
