//! The exclusions of a flow in the store: a separate column, an entry for each, in order. No column of a flow can
//! have the name of that column.

use serde_json::{Value as Json, json};

use crate::context::Exclusion;
use crate::declare::Name;
use crate::store::Entry;

/// The name under which a store has the exclusions.
pub(crate) fn exclusions_key() -> Name {
    Name::known("self.exclusions")
}

/// The entry of an exclusion. `key` is the key of the column.
pub(crate) fn exclusion_entry(exclusion: &Exclusion, key: &Name) -> Entry {
    let Exclusion { step, since, is_excluded, .. } = exclusion;
    // Stored exclusions have always been written in this order.
    json!({ "column": key.as_str(), "excluded": is_excluded, "since": since, "step": step })
        .to_string()
        .into()
}

/// The exclusion in an entry, with the key of the column as the name; `None` if there is none.
pub(crate) fn parse_exclusion(entry: &Entry) -> Option<Exclusion> {
    let json: Json = serde_json::from_str(entry.value.as_deref()?).ok()?;
    let number = |field| json.get(field).and_then(Json::as_u64).and_then(|it| it.try_into().ok());
    let (step, since): (usize, usize) = (number("step")?, number("since")?);
    let column = Name::new(json.get("column")?.as_str()?).ok()?;
    let is_excluded = json.get("excluded")?.as_bool()?;
    (since > step).then_some(Exclusion { column, step, since, is_excluded })
}
