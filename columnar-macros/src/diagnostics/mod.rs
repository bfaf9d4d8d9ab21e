//! The wording of every error, one file per subject, and their collection.
//!
//! A message is a headline in lower case, then a fix after `help:`. The headline is about the tokens that are
//! underlined; the help shows the tokens to write there.

pub(crate) mod columns;
pub(crate) mod declarations;
mod errors;
pub(crate) mod flow;
pub(crate) mod inputs;
pub(crate) mod modules;
pub(crate) mod reads;
pub(crate) mod steps;
pub(crate) mod views;

pub(crate) use errors::Errors;
