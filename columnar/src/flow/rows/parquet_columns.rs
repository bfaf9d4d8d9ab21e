//! The columns of Parquet: texts, and the numbers and booleans of typed columns.
//!
//! JSON has many texts for one number: `0.5`, `0.50`, `5e-1`. A value whose text differs from the one that is read back has
//! its text in the column `_json` as well. So a table is read as it was written.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt32Type, UInt64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray};
use arrow_schema::DataType;
use serde_json::{Number, Value as Json};

use super::ingest::RowMembers;
use super::table::{EXACT, InvalidRow, STEP};
use crate::declare::Name;
use crate::flow::Row;
use crate::history::Value;

/// A column of the file.
pub(super) struct ParquetColumn {
    name: Name,
    pub(super) data: DataType,
}

impl ParquetColumn {
    /// A column whose values are JSON of a type, or texts.
    pub(super) fn new(name: &Name, json_type: Option<&str>) -> Self {
        let data = match json_type {
            Some("boolean") => DataType::Boolean,
            Some("integer") => DataType::Int64,
            Some("number") => DataType::Float64,
            // With offsets of 32 bits the texts of a batch would end at 2 GiB.
            _ => DataType::LargeUtf8,
        };
        Self { name: name.clone(), data }
    }

    pub(super) fn is_typed(&self) -> bool {
        self.data != DataType::LargeUtf8
    }

    /// The values of the column at an index. A value of a typed column that does not match the type is a null.
    pub(super) fn array(&self, rows: &[Row], column: usize) -> ArrayRef {
        let texts = rows.iter().map(|row| row.at(column).map(Value::as_str));
        match self.data {
            DataType::Boolean => Arc::new(texts.map(|text| typed(text?)).collect::<BooleanArray>()),
            DataType::Int64 => Arc::new(texts.map(|text| typed(text?)).collect::<Int64Array>()),
            DataType::Float64 => Arc::new(texts.map(|text| float(text?)).collect::<Float64Array>()),
            _ => Arc::new(texts.collect::<LargeStringArray>()),
        }
    }
}

fn typed<T: serde::de::DeserializeOwned>(text: &str) -> Option<T> {
    serde_json::from_str(text).ok()
}

// The parser of serde_json may miss the nearest number.
fn float(text: &str) -> Option<f64> {
    text.parse().ok().filter(|value: &f64| value.is_finite())
}

/// The column `_json`: an object with the texts of a row that these arrays of the columns change, or null.
pub(super) fn exact_array(rows: &[Row], columns: &[ParquetColumn], arrays: &[ArrayRef]) -> ArrayRef {
    let rows = rows.iter().enumerate().map(|(at, row)| {
        let mut texts = BTreeMap::new();
        for (index, (column, array)) in columns.iter().zip(arrays).enumerate() {
            if let Some(text) = row.at(index).map(Value::as_str)
                && column.is_typed()
                && cell_value(column.name.as_str(), array, at) != *text
            {
                texts.insert(column.name.as_str(), text);
            }
        }
        (!texts.is_empty()).then(|| Json::from_iter(texts).to_string())
    });
    Arc::new(rows.collect::<LargeStringArray>())
}

/// Puts the texts of `_json` in the places of the values that they belong to.
pub(super) fn restore_exact(members: &mut RowMembers) -> Result<(), InvalidRow> {
    let Some(at) = members.iter().position(|(member, _)| member == EXACT) else { return Ok(()) };
    let (_, texts) = members.swap_remove(at);
    let texts: BTreeMap<String, String> = match &texts {
        Json::Null => return Ok(()),
        texts => texts.as_str().and_then(typed).ok_or(InvalidRow::Exact)?,
    };
    for (member, value) in members {
        let Some(text) = texts.get(member) else { continue };
        // Another program may have changed the number.
        if value.as_str().is_none_or(|found| float(found) == float(text)) {
            *value = Json::from(text.as_str());
        }
    }
    Ok(())
}

/// The value of a cell. Numbers and booleans are texts of JSON, as in a typed column.
pub(super) fn cell_value(name: &str, column: &ArrayRef, row: usize) -> Json {
    if column.is_null(row) {
        return Json::Null;
    }
    let number: Number = match column.data_type() {
        DataType::Null => return Json::Null,
        // Short texts cannot occur: the reader has declared all texts long.
        DataType::LargeUtf8 => return column.as_string::<i64>().value(row).into(),
        DataType::List(_) => {
            let texts = column.as_list::<i32>().value(row);
            return texts.as_string_opt::<i32>().map_or(OTHER, |texts| texts.iter().collect());
        }
        DataType::Boolean => return column.as_boolean().value(row).to_string().into(),
        DataType::Float64 => match Number::from_f64(column.as_primitive::<Float64Type>().value(row)) {
            Some(number) => number,
            None => return OTHER,
        },
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).into(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).into(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).into(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).into(),
        _ => return OTHER,
    };
    if name == STEP { Json::Number(number) } else { number.to_string().into() }
}

/// Any value that no column of a row can have.
const OTHER: Json = Json::Bool(true);
