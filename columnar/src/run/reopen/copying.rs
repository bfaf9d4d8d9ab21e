//! A copy of a flow in another store, which is no flow until it is whole.
//!
//! Until then the definition of the store is a mark that names the copy, so that no flow is opened on a part of the
//! values. The definition of the flow is written in place of the mark, last of all.

use serde_json::{Value as Json, json};

use crate::store::{Store, StoreError};

/// The format of the mark.
const FORMAT: u32 = 1;
const FIELD: &str = "columnar_copy";

/// Begins to copy into a store that has this definition, or resumes the same copy. `definition` is the one that the copy
/// will have, and `part` tells which values are copied.
pub(crate) async fn begin_copy(
    into: &dyn Store,
    found: Option<&str>,
    definition: &str,
    part: &str,
) -> Result<(), StoreError> {
    let mark = json!({ FIELD: FORMAT, "part": part, "definition": definition }).to_string();
    match found {
        None => into.define(mark).await,
        Some(found) if found == mark => Ok(()),
        Some(found) if is_unfinished(found) => Err(StoreError::other(
            "the store to copy into holds a part of another copy: delete it, or use an empty one",
        )),
        Some(_) => Err(StoreError::other("the store to copy into holds a flow already: use an empty one")),
    }
}

/// Whether a definition is the mark of a copy that is not whole.
pub(crate) fn is_unfinished(definition: &str) -> bool {
    serde_json::from_str::<Json>(definition).is_ok_and(|json| has_mark(&json))
}

/// Whether this definition is a mark.
pub(super) fn has_mark(definition: &Json) -> bool {
    definition.get(FIELD).is_some()
}
