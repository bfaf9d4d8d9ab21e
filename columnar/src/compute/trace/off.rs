//! The stand-in for all spans without the feature `tracing`: of zero size, and without effect.
#![allow(clippy::unused_self, reason = "the methods have the signatures of the real spans")]

use std::error::Error;

use crate::declare::Name;
use crate::model::End;
use crate::model::rendering::Request;

pub(crate) use self::{NoSpan as CallSpan, NoSpan as CellSpan, NoSpan as RunSpan};

#[derive(Default)]
pub(crate) struct NoSpan(());

impl NoSpan {
    pub(crate) fn begin() -> Self {
        Self(())
    }

    pub(crate) fn new(_: &Name, _: usize) -> Self {
        Self(())
    }

    pub(crate) fn of_request(_: &str, _: &Request) -> Self {
        Self(())
    }

    pub(crate) fn enter(&self) -> Self {
        Self(())
    }

    pub(crate) fn within<F: Future>(&self, future: F) -> F {
        future
    }

    pub(crate) fn attempt(&mut self, _: usize) {}

    pub(crate) fn retry(&self, _: usize, _: &(dyn Error + 'static)) {}

    pub(crate) fn text(&mut self, _: &str) {}

    pub(crate) fn end(&mut self, _: &End) {}

    pub(crate) fn stored(&mut self, _: bool) {}

    pub(crate) fn cell_failed(&mut self) {}

    pub(crate) fn failed(&mut self, _: &(dyn Error + 'static), _: Option<&'static str>) {}

    pub(crate) fn done(self) {}
}
