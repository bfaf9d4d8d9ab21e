//! One stored text.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::borrow::Borrow;
use core::fmt;
use core::ops::Deref;

use serde::{Serialize, Serializer};

/// The text in one cell of a flow: immutable, shared, cheap to clone.
///
/// It derefs to [`str`], and every text converts into it.
///
/// ```
/// use columnar::Value;
///
/// let value = Value::from("a text");
/// assert_eq!(value.len(), 6);
/// assert_eq!(value, "a text");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(Arc<str>);

impl Value {
    /// The value as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Deref for Value {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for Value {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Value {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<&String> for Value {
    fn from(text: &String) -> Self {
        Self(text.as_str().into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl From<Arc<str>> for Value {
    fn from(text: Arc<str>) -> Self {
        Self(text)
    }
}

impl From<Cow<'_, str>> for Value {
    fn from(text: Cow<'_, str>) -> Self {
        Self(text.into())
    }
}

impl From<Value> for String {
    fn from(value: Value) -> Self {
        value.0.as_ref().into()
    }
}

impl From<Value> for Arc<str> {
    fn from(value: Value) -> Self {
        value.0
    }
}

impl PartialEq<str> for Value {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Value {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl PartialEq<String> for Value {
    fn eq(&self, other: &String) -> bool {
        &*self.0 == other.as_str()
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}
