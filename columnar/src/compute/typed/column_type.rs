//! The type of a column: the schema, the check of a text, and the error of a text that does not match.

use std::error::Error;
use std::fmt;
use std::slice;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use serde_json::error::Category;

use crate::compute::OutputSpec;
use crate::declare::error::chain;
use crate::model::rendering::Schema;

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

/// A column type without the type parameter: the schema for the model, and the check of a reply.
#[derive(Clone)]
pub(super) struct TypeSpec {
    pub(super) output: OutputSpec,
    pub(super) check: fn(&str) -> Result<(), serde_json::Error>,
    /// The characters with which JSON of the type begins, of [`OPENINGS`].
    pub(super) openings: Arc<str>,
    /// The type of JSON of all values but null, if there is one.
    #[cfg(feature = "parquet")]
    pub(super) json_type: Option<Arc<str>>,
}

/// The first characters of lists, objects and strings.
const OPENINGS: &str = "[{\"";

impl TypeSpec {
    pub(super) fn of<T: ColumnType>() -> Self {
        // The schema is in the instruction of every request, where `$schema` would cost tokens.
        let settings = SchemaSettings::default().with(|settings| settings.meta_schema = None);
        let json = settings.into_generator().into_root_schema_for::<T>().to_value();
        let openings = openings(&json, &json, 0).into();
        #[cfg(feature = "parquet")]
        let json_type = json_type(&json).map(Arc::from);
        let schema = Arc::new(Schema { name: name_of::<T>(), json });
        let instruction = schema.instruction().into();
        Self {
            openings,
            #[cfg(feature = "parquet")]
            json_type,
            output: OutputSpec { schema, instruction, follow_up: Vec::new() },
            check: |text| serde_json::from_str::<T>(text).map(drop),
        }
    }

    /// The error of a text that does not match the type.
    pub(super) fn mismatch(&self, kind: MismatchKind, text: &str) -> SchemaMismatch {
        SchemaMismatch::new(kind, &self.output.schema.name, text)
    }
}

/// The name of a type for a provider, which allows letters, digits and `_`.
fn name_of<T: JsonSchema>() -> String {
    T::schema_name().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

/// The type of all values of a schema but null.
#[cfg(feature = "parquet")]
fn json_type(schema: &Json) -> Option<&str> {
    let kind = schema.get("type")?;
    let kinds = kind.as_array().map_or(slice::from_ref(kind), Vec::as_slice);
    let mut kinds = kinds.iter().filter_map(Json::as_str).filter(|kind| *kind != "null");
    kinds.next().filter(|_| kinds.next().is_none())
}

/// The characters with which JSON of a schema may begin. An unknown part of a schema may begin with any of them.
fn openings(schema: &Json, root: &Json, depth: usize) -> String {
    if let Some(kind) = schema.get("type") {
        let kinds = kind.as_array().map_or(slice::from_ref(kind), Vec::as_slice);
        let openings = kinds.iter().map(|kind| match kind.as_str() {
            Some("array") => "[",
            Some("object") => "{",
            Some("string") => "\"",
            Some(_) => "",
            None => OPENINGS,
        });
        return openings.collect();
    }
    // References may lead to each other without an end.
    if depth >= 8 {
        return OPENINGS.to_owned();
    }
    let named =
        schema.get("$ref").and_then(Json::as_str).and_then(|name| root.pointer(name.strip_prefix('#')?));
    let choices = ["anyOf", "oneOf"].iter().find_map(|word| schema.get(word)?.as_array());
    match named.map(slice::from_ref).or(choices.map(Vec::as_slice)) {
        Some(schemas) => schemas.iter().map(|schema| openings(schema, root, depth + 1)).collect(),
        None => OPENINGS.to_owned(),
    }
}

/// Deserializes a stored text.
pub(crate) fn read<T: ColumnType>(text: &str) -> Result<T, SchemaMismatch> {
    serde_json::from_str(text)
        .map_err(|error| SchemaMismatch::new(MismatchKind::of(&error), &name_of::<T>(), text))
}

/// A text that does not match the type of the column: a reply, or a stored value. The error prints the type and the
/// position, and nothing of the text.
///
/// ```
/// use columnar::compute::SchemaMismatch;
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
/// // A program that needs the rejected text finds it in the error.
/// let mismatch = SchemaMismatch::of(&error).expect("it is the reason");
/// assert_eq!(mismatch.reply(), "[4, \"five\"]");
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SchemaMismatch {
    type_name: Box<str>,
    kind: MismatchKind,
    reply: Arc<str>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MismatchKind {
    /// The text contains no JSON.
    NoJson,
    /// The text has more than one JSON value, or anything else after the first value.
    SeveralValues,
    /// The JSON is invalid at this position, which is in the JSON, not in the reply around it; both numbers count from
    /// 1.
    Invalid { category: Category, line: usize, column: usize },
}

impl MismatchKind {
    /// Keeps the position alone: the message of `error` may quote the text.
    pub(super) fn of(error: &serde_json::Error) -> Self {
        Self::Invalid { category: error.classify(), line: error.line(), column: error.column() }
    }
}

impl SchemaMismatch {
    pub(super) fn new(kind: MismatchKind, type_name: &str, reply: &str) -> Self {
        Self { type_name: type_name.into(), kind, reply: reply.into() }
    }

    /// Finds the first `SchemaMismatch` among an error and its sources.
    ///
    /// ```
    /// use columnar::compute::SchemaMismatch;
    ///
    /// assert!(SchemaMismatch::of(&std::fmt::Error).is_none());
    /// ```
    pub fn of<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e Self> {
        chain(error).find_map(|error| error.downcast_ref())
    }

    /// The whole text that does not match, with what is around the JSON. The text is part of the conversation, so the
    /// error itself never prints it.
    ///
    /// ```
    /// use columnar::compute::SchemaMismatch;
    ///
    /// fn to_review(error: &columnar::Error) -> Option<&str> {
    ///     SchemaMismatch::of(error).map(SchemaMismatch::reply)
    /// }
    /// ```
    pub fn reply(&self) -> &str {
        &self.reply
    }
}

impl fmt::Debug for SchemaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { type_name, kind, reply: _ } = self;
        f.debug_struct("SchemaMismatch")
            .field("type_name", type_name)
            .field("kind", kind)
            .finish_non_exhaustive()
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
                    Category::Data => write!(f, "the JSON does not match `{name}`")?,
                    Category::Eof => write!(f, "the JSON is incomplete; expected a `{name}`")?,
                    // There is no I/O: the text is in memory.
                    Category::Syntax | Category::Io => {
                        write!(f, "the JSON is invalid; expected a `{name}`")?;
                    }
                }
                write!(f, " (line {line}, column {column})")
            }
        }
    }
}

impl Error for SchemaMismatch {}
