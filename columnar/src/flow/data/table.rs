//! Structs that are read from tables of data. This code replaces serde's derive, because a misspelt key gets a
//! suggestion here.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Unexpected, Visitor};

use crate::declare::error::{excerpt, list, nearest};

/// A struct whose fields are the keys of a table.
pub(super) trait DataTable: Default {
    const KEYS: &'static [&'static str];
    /// A key that each table has.
    const REQUIRED: Option<&'static str> = None;

    /// Reads the value of a known key.
    fn set<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error>;

    /// The table for which a text is short.
    fn of_text(_: String) -> Option<Self> {
        None
    }

    /// The table for which a number is short.
    fn of_number(_: usize) -> Option<Self> {
        None
    }
}

/// Declares a struct that is read from a table and written as a table. A field with the default value is not written.
macro_rules! table {
    (
        $(#[$meta:meta])*
        pub struct $Table:ident {
            $($(#[$field_meta:meta])* pub $field:ident: $Type:ty,)*
        }
        $(required: $required:literal;)?
        $(text: |$text:ident| $of_text:expr;)?
        $(number: |$number:ident| $of_number:expr;)?
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $Table {
            $($(#[$field_meta])* pub $field: $Type,)*
        }

        impl $crate::data::table::DataTable for $Table {
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];
            $(const REQUIRED: Option<&'static str> = Some($required);)?

            fn set<'de, A: serde::de::MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
                match key {
                    $(stringify!($field) => self.$field = map.next_value()?,)*
                    _ => unreachable!("the visitor passes known keys alone"),
                }
                Ok(())
            }

            $(fn of_text($text: String) -> Option<Self> {
                Some($of_text)
            })?

            $(fn of_number($number: usize) -> Option<Self> {
                Some($of_number)
            })?
        }

        impl<'de> serde::Deserialize<'de> for $Table {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any($crate::data::table::TableVisitor(std::marker::PhantomData))
            }
        }

        impl serde::Serialize for $Table {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let mut map = serializer.serialize_map(None)?;
                $(if self.$field != <$Type>::default() {
                    map.serialize_entry(stringify!($field), &self.$field)?;
                })*
                map.end()
            }
        }
    };
}

pub(super) use table;

/// Reads a table key by key.
pub(super) struct TableVisitor<T>(pub(super) PhantomData<T>);

impl<'de, T: DataTable> Visitor<'de> for TableVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = match (T::of_text(String::new()), T::of_number(0)) {
            (Some(_), _) => "a text, or ",
            (_, Some(_)) => "a number of 0 or more, or ",
            _ => "",
        };
        write!(f, "{short}a table with the keys {}", list(T::KEYS))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::of_text(text.to_owned()).ok_or_else(|| E::invalid_type(Unexpected::Str(text), &self))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        let short = usize::try_from(number).ok().and_then(T::of_number);
        short.ok_or_else(|| E::invalid_type(Unexpected::Unsigned(number), &self))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        let short = usize::try_from(number).ok().and_then(T::of_number);
        short.ok_or_else(|| E::invalid_type(Unexpected::Signed(number), &self))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<T, A::Error> {
        let mut table = T::default();
        let mut seen = Vec::new();
        while let Some(key) = map.next_key_seed(KnownKey(T::KEYS))? {
            if seen.contains(&key) {
                return Err(A::Error::duplicate_field(key));
            }
            seen.push(key);
            table.set(key, &mut map)?;
        }
        match T::REQUIRED.filter(|required| !seen.contains(required)) {
            Some(missing) => Err(A::Error::missing_field(missing)),
            None => Ok(table),
        }
    }
}

/// One of these keys.
struct KnownKey(&'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KnownKey {
    type Value = &'static str;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<&'static str, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KnownKey {
    type Value = &'static str;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "one of the keys {}", list(self.0))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<&'static str, E> {
        // The error comes from here, not from the table, so that a format knows the position of the key.
        self.0.iter().find(|known| **known == key).copied().ok_or_else(|| match nearest(key, self.0) {
            Some(near) => E::custom(format_args!("unknown key {}; did you mean `{near}`?", excerpt(key))),
            None => E::custom(format_args!("unknown key {}; possible are {}", excerpt(key), list(self.0))),
        })
    }
}
