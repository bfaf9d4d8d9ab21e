//! The name of a column. It is parsed once, so a [`Name`] is always valid.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Serialize, Serializer};

/// The name of a column or the tag that shows it to a model: `[a-z][a-z0-9_]{0,63}`. A column of a module has
/// the name of the module before its own: `debate.critic`. Its tag is the last part, `critic`.
///
/// Such a name is safe as a file name and as a database key, on every system, and one of a single part as a tag.
/// Cloning one is a reference count.
///
/// ```
/// use columnar::Name;
///
/// let name = Name::new("running_summary")?;
/// assert_eq!(name, "running_summary");
/// assert!(Name::new("Running Summary").is_err());
/// assert_eq!(Name::new("debate.critic")?.tag(), "critic");
/// # Ok::<(), columnar::NameError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The length of the longest part of a name, in bytes.
    pub const MAX_LEN: usize = 64;

    /// The length of the longest name, in bytes. With an ending such a name is a file name on every system.
    pub const MAX_LEN_IN_ALL: usize = 200;

    /// Parses a name.
    ///
    /// # Errors
    ///
    /// [`NameError`] if the text does not consist of parts of the form `[a-z][a-z0-9_]{0,63}`, with dots between them.
    pub fn new(text: &str) -> Result<Self, NameError> {
        if is_name(text) { Ok(Self(text.into())) } else { Err(NameError::of(text)) }
    }

    /// Parses a tag: a name of a single part.
    pub(crate) fn new_tag(text: &str) -> Result<Self, NameError> {
        if is_tag(text) { Ok(Self(text.into())) } else { Err(NameError::of(text)) }
    }

    /// The tag of the column's values, unless a view has another one: the last part of the name.
    #[must_use]
    pub fn tag(&self) -> Self {
        let last = last_part(self);
        // Most names have one part, and a clone of the name copies no text.
        if last.len() == self.len() { self.clone() } else { Self(last.into()) }
    }

    /// Parses the name of a column that is declared. No part of it is `self`, which is the self history in a view.
    pub(crate) fn of_column(text: &str) -> Result<Self, NameError> {
        let name = Self::new(text)?;
        let is_self = name.split('.').any(|part| part == "self");
        if is_self { Err(NameError { shown: format!("`{name}`"), is_self }) } else { Ok(name) }
    }

    /// The modules that the column is in, from the outside: `a` and `a.b` for `a.b.c`.
    pub(crate) fn modules(&self) -> impl Iterator<Item = &str> {
        self.match_indices('.').filter_map(|(dot, _)| self.get(..dot))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A name that the library itself chooses.
    pub(crate) fn known(text: &str) -> Self {
        debug_assert!(is_name(text), "each caller has a name");
        Self(text.into())
    }
}

/// The rule for names: tags with dots between them.
fn is_name(text: &str) -> bool {
    text.len() <= Name::MAX_LEN_IN_ALL && text.split('.').all(is_tag)
}

/// The rule for one part of a name. The compiler evaluates it for tags inside `flow!`.
pub(crate) const fn is_tag(text: &str) -> bool {
    let mut rest = text.as_bytes();
    if rest.len() > Name::MAX_LEN || !matches!(rest, [b'a'..=b'z', ..]) {
        return false;
    }
    while let [first, tail @ ..] = rest {
        if !matches!(first, b'a'..=b'z' | b'0'..=b'9' | b'_') {
            return false;
        }
        rest = tail;
    }
    true
}

/// The part of a name after the last dot.
pub(crate) fn last_part(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, last)| last)
}

/// A text that cannot name a column.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{shown} cannot be a name: {}", self.rule())]
pub struct NameError {
    shown: String,
    is_self: bool,
}

impl NameError {
    /// Shows the beginning of the text, escaped so that it cannot forge a line of a log.
    fn of(text: &str) -> Self {
        let start: String = text.chars().take(40).collect();
        let more = if start.len() < text.len() { "…" } else { "" };
        Self { shown: format!("`{}{more}`", start.escape_debug()), is_self: false }
    }

    fn rule(&self) -> String {
        if self.is_self {
            return "`self` in a view is the self history, so no column is named that".to_owned();
        }
        format!("use at most {} lowercase letters, digits and `_`, beginning with a letter", Name::MAX_LEN)
    }
}

impl Deref for Name {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Name {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        (&*name).into()
    }
}

impl From<&Name> for String {
    fn from(name: &Name) -> Self {
        (&**name).into()
    }
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl TryFrom<&str> for Name {
    type Error = NameError;

    fn try_from(text: &str) -> Result<Self, NameError> {
        Self::new(text)
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Serialize for Name {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_consist_of_lower_case_letters_digits_and_underscores() {
        for good in ["a", "user", "a1", "a_b_", "r2_d2", &"x".repeat(64)] {
            assert!(Name::new(good).is_ok() && Name::new_tag(good).is_ok(), "{good:?}");
        }
        for good in
            ["a.b", "debate.inner.critic", &["x".repeat(64), "y".repeat(64), "z".repeat(64)].join(".")]
        {
            assert!(Name::new(good).is_ok() && Name::new_tag(good).is_err(), "{good:?}");
        }
        let bad = [
            "",
            "..",
            "a/b",
            "CON",
            "-rf",
            "a\0b",
            "a b",
            "x><y",
            "é",
            "e\u{301}",
            "User",
            "_a",
            "1a",
            "a-b",
            "a.",
            ".a",
            "a..b",
            "a.B",
            &"x".repeat(65),
            &"x.".repeat(100),
            &["x"; 101].join("."),
        ];
        for bad in bad {
            assert!(Name::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn the_last_part_is_the_tag() {
        let name = Name::new("debate.inner.critic").expect("a name");
        assert_eq!(name.tag(), "critic");
        assert_eq!(name.modules().collect::<Vec<_>>(), ["debate", "debate.inner"]);
        let name = Name::new("critic").expect("a name");
        assert_eq!((name.tag(), name.modules().count()), (name.clone(), 0));
    }

    #[test]
    fn a_bad_name_is_shown_escaped_and_cut() {
        let error = Name::new(&format!("a\nb{}", "x".repeat(300))).expect_err("holds a line feed");
        let shown = error.to_string();
        assert!(shown.starts_with(r"`a\nbxxx"), "{shown}");
        assert!(shown.len() < 250 && shown.contains('…'), "{shown}");
    }
}
