//! The names of spans, fields and outcomes. The conventions for generative AI may still change, so no other module spells these
//! names.

pub(super) const TARGET: &str = "columnar";

pub(super) const RUN: &str = "columnar.run";
pub(super) const CELLS_STORED: &str = "columnar.cells.stored";
pub(super) const CELLS_SKIPPED: &str = "columnar.cells.skipped";
pub(super) const CELLS_FAILED: &str = "columnar.cells.failed";

pub(super) const CELL: &str = "columnar.cell";
pub(super) const COLUMN: &str = "columnar.column";
pub(super) const STEP: &str = "columnar.step";
pub(super) const ATTEMPTS: &str = "columnar.attempts";
/// A field of the event for a failed attempt.
pub(super) const ATTEMPT: &str = "columnar.attempt";

pub(super) const OUTCOME: &str = "columnar.outcome";
pub(super) const OK: &str = "ok";
pub(super) const FAILED: &str = "failed";
pub(super) const SKIPPED: &str = "skipped";
pub(super) const CANCELLED: &str = "cancelled";
pub(super) const ERROR_TYPE: &str = "error.type";
pub(super) const ERROR_TEXT: &str = "exception.message";

/// The fields from which the bridge to OpenTelemetry takes the name, the kind and the status of a span.
pub(super) const OTEL_NAME: &str = "otel.name";
pub(super) const OTEL_KIND: &str = "otel.kind";
pub(super) const OTEL_STATUS: &str = "otel.status_code";

/// The operation of a call, and the first word in the name of the span.
pub(super) const CHAT: &str = "chat";
pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const PROVIDER: &str = "gen_ai.provider.name";
pub(super) const MODEL: &str = "gen_ai.request.model";
pub(super) const MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(super) const STREAM: &str = "gen_ai.request.stream";
pub(super) const FIRST_CHUNK: &str = "gen_ai.response.time_to_first_chunk";
pub(super) const FINISH: &str = "gen_ai.response.finish_reasons";
pub(super) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const CACHE_READ: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const CACHE_WRITE: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(super) const SYSTEM: &str = "gen_ai.system_instructions";
pub(super) const INPUT: &str = "gen_ai.input.messages";
pub(super) const OUTPUT: &str = "gen_ai.output.messages";
