//! A file of Rust, and its symbols.

pub(super) const TEXT: &str = r#"
//! Views.

use std::fmt::{self, Display};

use crate::declare::{
    Name, // the name of a view
    ViewSpec as Spec,
};
pub use super::shown::*;

mod parts;

/// The longest name.
pub const MAX: usize = 64;
static TABLE: [Part; 2] = [Part::new("a long text for the first"), Part::new("and the second")];

#[derive(Clone, Debug)]
pub struct View<'a, T: Clone> where T: Part {
    name: Name,
    parts: &'a [T],
}

pub struct Id(pub u32);

/// How a view is shown.
pub enum Shown<T> {
    Never,
    /// With a cause.
    Always(T),
    Maybe { cause: Cause },
}

pub type Views = Vec<View<'static, Text>>;

pub trait Show: Display + Send {
    type Output: Part;
    const DEPTH: usize = 1;

    fn show(&self, depth: usize) -> Self::Output;

    fn hide(&self) {
        drop(Hidden::of(self));
    }
}

impl<'a, T: Clone> View<'a, T> {
    #[traced]
    pub fn new(
        spec: &'a Spec, // the declaration
        name: impl Into<Name>,
    ) -> Result<Self, Error> {
        const LOCAL: usize = 3;
        let parse = parse(spec);
        let Some(found) = spec.parts.iter().find(|part| part.is_shown()) else { return Err(Error::Empty) };
        fn inner(cause: Cause) -> Cause {
            cause
        }
        let text = format!("{}", render(found, parse.len, name.size()));
        match text.as_str() {
            EMPTY => inner(parse),
            other => other.checked::<Strict>(LOCAL),
        }
    }
}

impl<'a, T> fmt::Display for View<'a, T>
where
    T: Clone,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)
    }
}

macro_rules! view {
    ($name:ident) => { View::new(stringify!($name)) };
    () => {};
}

unsafe extern "C" {
    fn show_view(view: *const Id) -> i32;
}

view!(main);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_is_shown() {
        assert_eq!(View::new(&spec(), "a").unwrap().to_string(), "a");
    }
}
"#;

pub(super) const SYMBOLS: &str = r"
import std::fmt::{self, Display}
import crate::declare::{ Name, ViewSpec as Spec }
import super::shown::*
import super::*
Module parts
Constant MAX : usize = 64
Constant TABLE : [Part; 2]
Class View <'a, T: Clone> where T: Part
Class Id (pub u32)
Enum Shown <T> { Never, Always, Maybe }
Type Views = Vec<View<'static, Text>>
Trait Show : Display + Send
  Type Output : Part
  Constant DEPTH : usize = 1
  Function show (&self, depth: usize) -> Self::Output
  Function hide (&self)
Impl View<'a, T>
  Function new (spec: &'a Spec, name: impl Into<Name>) -> Result<Self, Error>
Impl View<'a, T> fmt::Display for View<'a, T> where T: Clone
  Function fmt (&self, f: &mut fmt::Formatter<'_>) -> fmt::Result
Macro view ($name:ident)
Function show_view (view: *const Id) -> i32
Module tests
  Function a_view_is_shown ()
";
