//! The type of a column: its schema, the check of a text, and the error of a text that does not match.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use crate::compute::OutputSpec;
use crate::rendering::Schema;

/// The type of the values of a column: any type that is deserialized from JSON and has a JSON Schema.
///
/// ```
/// use columnar::compute::ColumnType;
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Score {
///     /// From 1 to 5.
///     stars: u8,
/// }
///
/// fn is_column_type<T: ColumnType>() {}
/// is_column_type::<Score>();
/// is_column_type::<Vec<String>>();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the type of a column: it needs `serde::Deserialize` and `schemars::JsonSchema`",
    label = "not read from JSON, or without a schema",
    note = "for a type of yours: `#[derive(serde::Deserialize, schemars::JsonSchema)]`",
    note = "documents come from outside: `source name: Documents;`"
)]
pub trait ColumnType: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ColumnType for T {}

/// A column type without its type parameter: the schema for the model, and the check of a reply.
#[derive(Clone)]
pub(super) struct TypeSpec {
    pub(super) output: OutputSpec,
    pub(super) check: fn(&str) -> Result<(), serde_json::Error>,
}

impl TypeSpec {
    pub(super) fn of<T: ColumnType>() -> Self {
        // The schema is in the instruction of every request, where its `$schema` would cost tokens.
        let settings = SchemaSettings::default().with(|settings| settings.meta_schema = None);
        let json = settings.into_generator().into_root_schema_for::<T>().to_value();
        let schema = Arc::new(Schema { name: name_of::<T>(), json });
        let instruction = schema.instruction().into();
        Self {
            output: OutputSpec { schema, instruction, follow_up: Vec::new() },
            check: |text| serde_json::from_str::<T>(text).map(drop),
        }
    }
}

/// The name of a type for a provider, which allows letters, digits and `_`.
fn name_of<T: JsonSchema>() -> String {
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    T::schema_name().chars().map(allowed).collect()
}

/// Deserializes a stored text.
pub(crate) fn read<T: ColumnType>(text: &str) -> Result<T, SchemaMismatch> {
    serde_json::from_str(text).map_err(|error| SchemaMismatch::at(&error, &name_of::<T>()))
}

/// A text that does not match the type of its column. It names the type and the position, and quotes nothing of the
/// text.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let chat = flow! {
///     source user;
///     column score(user.latest): Vec<u8> = |_: Context| async { "[4, \"five\"]" };
/// };
/// chat.user.push("How was it?").await?;
/// let error = chat.run().await.unwrap_err();
/// assert!(error.to_string().contains("the JSON does not match `Array_of_uint8` (line 1, column 10)"), "{error}");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaMismatch {
    type_name: String,
    kind: MismatchKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MismatchKind {
    /// The text contains no JSON.
    NoJson,
    /// More than one JSON value, or anything else after the first one.
    SeveralValues,
    /// The position is that in the JSON, not in the reply around it; both numbers count from 1.
    Invalid { category: InvalidJson, line: usize, column: usize },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InvalidJson {
    Syntax,
    Truncated,
    OtherType,
}

impl SchemaMismatch {
    pub(super) fn no_json(type_name: &str) -> Self {
        Self { type_name: type_name.to_owned(), kind: MismatchKind::NoJson }
    }

    pub(super) fn several_values(type_name: &str) -> Self {
        Self { type_name: type_name.to_owned(), kind: MismatchKind::SeveralValues }
    }

    /// Keeps the position alone: the message of `error` may quote the text.
    pub(super) fn at(error: &serde_json::Error, type_name: &str) -> Self {
        let category = match error.classify() {
            Category::Data => InvalidJson::OtherType,
            Category::Eof => InvalidJson::Truncated,
            // There is no I/O: the text is in memory.
            Category::Syntax | Category::Io => InvalidJson::Syntax,
        };
        let kind = MismatchKind::Invalid { category, line: error.line(), column: error.column() };
        Self { type_name: type_name.to_owned(), kind }
    }
}

impl fmt::Display for SchemaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.type_name;
        match self.kind {
            MismatchKind::NoJson => write!(f, "there is no JSON; expected a `{name}`"),
            MismatchKind::SeveralValues => {
                write!(f, "there is more than one JSON value; expected one `{name}`")
            }
            MismatchKind::Invalid { category, line, column } => {
                match category {
                    InvalidJson::Syntax => write!(f, "the JSON is invalid; expected a `{name}`")?,
                    InvalidJson::Truncated => write!(f, "the JSON is incomplete; expected a `{name}`")?,
                    InvalidJson::OtherType => write!(f, "the JSON does not match `{name}`")?,
                }
                write!(f, " (line {line}, column {column})")
            }
        }
    }
}

impl std::error::Error for SchemaMismatch {}
