//! The symbols of a file: its imports, its definitions and the names that it uses.

/// The imports and definitions of a file, and the names that it uses. No text in it has a line break or a control character.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::repo) struct Symbols {
    /// The imports in their order, each once: a path, and after a colon the names that it is imported by.
    ///
    /// Rust: `std::fmt`, `crate::view::{View, self}`. Python: `numpy as np`, `.view: View, show as s`. JavaScript: `react`,
    /// `react: React, { useState }`. C: `<stdio.h>`, `"view.h"`. Go: `fmt`, `v "example.org/view"`.
    pub(in crate::repo) imports: Vec<Box<str>>,
    /// The definitions in the order of the file. Those inside another one follow it, with a greater depth.
    pub(in crate::repo) defined: Vec<Symbol>,
    /// The names that the file imports, or uses outside of all its symbols, sorted, each once.
    pub(in crate::repo) uses: Vec<Box<str>>,
}

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::repo) struct Symbol {
    pub(in crate::repo) kind: SymbolKind,
    /// The name as it is written: `show`, `View::show` for a function that C++ defines outside of its class. The type of an
    /// implementation.
    pub(in crate::repo) name: Box<str>,
    /// The text after the name, on one line: parameters and return type, bases, or variants. It may be empty.
    ///
    /// For an implementation, the trait and the type: `Display for View<T>`.
    pub(in crate::repo) signature: Box<str>,
    /// Whether it is a function that its language calls asynchronous.
    pub(in crate::repo) is_async: bool,
    /// The number of definitions around it.
    pub(in crate::repo) depth: usize,
    /// The names that it uses and the definitions inside it do not, sorted, each once.
    pub(in crate::repo) uses: Vec<Box<str>>,
}

/// The kind of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::repo) enum SymbolKind {
    Module,
    /// A class, a struct or a union.
    Class,
    Enum,
    /// A trait, an interface or a concept.
    Trait,
    /// An implementation of a type, or of a trait for it.
    Impl,
    /// Another name for a type.
    Type,
    Function,
    Macro,
    /// A constant, or a variable outside of all functions.
    Constant,
}

impl SymbolKind {
    /// The kind by the name of its capture.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "module" => Self::Module,
            "class" => Self::Class,
            "enum" => Self::Enum,
            "trait" => Self::Trait,
            "impl" => Self::Impl,
            "type" => Self::Type,
            "function" => Self::Function,
            "macro" => Self::Macro,
            "constant" => Self::Constant,
            _ => return None,
        })
    }
}
