//! JSON that is read, and says where it is when it is not what it should be.

use std::path::Path;

use serde_json::Value as Json;

use super::fault::Fault;

/// What is wrong with a file. It tells places, and nothing that stands there.
#[derive(Debug)]
pub(super) enum Damage {
    Broken(String),
    Version { found: u64, known: u64 },
}

impl Damage {
    pub(super) fn json(error: &serde_json::Error) -> Self {
        Self::Broken(format!("it is no JSON from line {}, column {} on", error.line(), error.column()))
    }

    pub(super) fn of(self, path: &Path) -> Fault {
        let path = path.to_owned();
        match self {
            Self::Broken(what) => Fault::Damaged { path, what },
            Self::Version { found, known } => Fault::Version { path, found, known },
        }
    }
}

/// A value, and where it stands.
#[derive(Debug)]
pub(super) struct Node<'j> {
    json: &'j Json,
    place: String,
}

impl<'j> Node<'j> {
    pub(super) fn root(json: &'j Json) -> Self {
        Self { json, place: String::new() }
    }

    pub(super) fn damage(&self, what: &str) -> Damage {
        let place = if self.place.is_empty() { "the whole" } else { &self.place };
        Damage::Broken(format!("`{place}` {what}"))
    }

    pub(super) fn json(&self) -> &'j Json {
        self.json
    }

    pub(super) fn optional(&self, name: &str) -> Result<Option<Self>, Damage> {
        let entries = self.json.as_object().ok_or_else(|| self.damage("is no object"))?;
        let separator = if self.place.is_empty() { "" } else { "." };
        let place = || format!("{}{separator}{name}", self.place);
        Ok(entries.get(name).map(|json| Self { json, place: place() }))
    }

    pub(super) fn field(&self, name: &str) -> Result<Self, Damage> {
        self.optional(name)?.ok_or_else(|| self.damage(&format!("has no `{name}`")))
    }

    /// Sees to it that nothing is passed over: a word that is mistyped would change what is asked.
    pub(super) fn has_only(&self, names: &[&str]) -> Result<(), Damage> {
        let entries = self.json.as_object().ok_or_else(|| self.damage("is no object"))?;
        if entries.keys().all(|name| names.contains(&&**name)) {
            return Ok(());
        }
        Err(self.damage(&format!("has an entry that is none of `{}`", names.join("`, `"))))
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, Damage> {
        let items = self.json.as_array().ok_or_else(|| self.damage("is no list"))?;
        let items = items.iter().enumerate();
        Ok(items.map(|(at, json)| Self { json, place: format!("{}[{at}]", self.place) }).collect())
    }

    /// A text, or the lines of one.
    pub(super) fn text(&self) -> Result<String, Damage> {
        let line =
            |json: &'j Json| json.as_str().ok_or_else(|| self.damage("is no text and no list of lines"));
        match self.json {
            Json::Array(lines) => Ok(lines.iter().map(line).collect::<Result<Vec<_>, _>>()?.join("\n")),
            text => line(text).map(str::to_owned),
        }
    }

    pub(super) fn count(&self) -> Result<u64, Damage> {
        self.json.as_u64().ok_or_else(|| self.damage("is no whole number"))
    }

    pub(super) fn small(&self) -> Result<u32, Damage> {
        u32::try_from(self.count()?).map_err(|_| self.damage("is too large"))
    }

    pub(super) fn fraction(&self) -> Result<f32, Damage> {
        // By its digits, as it was written: on the way through `f64` it would be rounded twice.
        let number = self.json.as_number().and_then(|number| number.to_string().parse().ok());
        number.ok_or_else(|| self.damage("is no number"))
    }
}
