//! Columns whose values are JSON of a type: the reply is read while it arrives, held against the type, and asked for
//! once more if it does not fit.

mod json_text;
mod mismatch;
mod repair;

use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;

use super::{Kind, OutputSpec, Reply, Step};
use crate::rendering::Schema;

pub use mismatch::SchemaMismatch;

use repair::attempts;

/// What the values of a column can be: all that is read from JSON and has a schema.
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
    note = "for a type of yours: `#[derive(serde::Deserialize, schemars::JsonSchema)]`"
)]
pub trait ColumnType: DeserializeOwned + JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema> ColumnType for T {}

/// A type, as far as a text can be held against it.
#[derive(Clone)]
struct Shape {
    output: OutputSpec,
    check: fn(&str) -> Result<(), serde_json::Error>,
}

impl Shape {
    fn of<T: ColumnType>() -> Self {
        let settings = SchemaSettings::default().with(|settings| settings.meta_schema = None);
        let json = settings.into_generator().into_root_schema_for::<T>().to_value();
        let order =
            format!("Answer with JSON alone, which fits this JSON Schema and has nothing around it:\n{json}");
        let schema = Arc::new(Schema { name: name_of::<T>(), json });
        Self {
            output: OutputSpec { schema, order: order.into(), follow_up: Vec::new() },
            check: |text| serde_json::from_str::<T>(text).map(drop),
        }
    }
}

/// What a type is called: letters, digits and `_`.
fn name_of<T: JsonSchema>() -> String {
    let allowed = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    T::schema_name().chars().map(allowed).collect()
}

/// Reads a text that is stored.
///
/// # Errors
///
/// What is wrong with it.
pub(crate) fn read<T: ColumnType>(text: &str) -> Result<T, SchemaMismatch> {
    serde_json::from_str(text).map_err(|error| SchemaMismatch::of(&error, &name_of::<T>()))
}

impl Step<'_> {
    /// The step whose values are JSON of a type.
    pub(crate) fn typed<T: ColumnType>(self) -> Self {
        let shape = Shape::of::<T>();
        // Who asks no model would say the same once more.
        let usual = usize::from(self.settings().instruction.is_some());
        let repairs = self.settings().repairs.unwrap_or(usual);
        self.instructed(|instruction| shape.output.instruct(instruction))
            .around(move |step, cx| Reply(Kind::Pieces(attempts(step.clone(), cx, shape.clone(), repairs))))
    }
}
