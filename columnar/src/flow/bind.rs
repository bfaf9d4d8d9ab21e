//! The columns of a flow's type, found in a live flow, which may have more columns and may use the type as a module.

use std::sync::Arc;

use crate::declare::Plan;
use crate::declare::graph::View;
use crate::run::Shared;

/// The flow that columns are bound to.
#[doc(hidden)]
#[derive(Debug)]
pub struct Bind<'s> {
    shared: &'s Arc<Shared>,
    /// What the type of the flow declares.
    declared: &'static Plan,
    /// What the flow has, which may be more.
    plan: &'s Plan,
    /// The module whose columns are bound.
    module: Option<Scope>,
}

/// The names inside a module, as its flow has them.
#[derive(Debug)]
struct Scope {
    name: String,
    inputs: Vec<(&'static str, String)>,
}

impl<'s> Bind<'s> {
    pub(super) fn new(shared: &'s Arc<Shared>, declared: &'static Plan, plan: &'s Plan) -> Self {
        Self { shared, declared, plan, module: None }
    }

    /// The same flow for the columns of a module, whose sources are bound to the columns of these names.
    #[doc(hidden)]
    #[must_use]
    pub fn __module(&self, name: &str, inputs: &[(&'static str, &'static str)]) -> Self {
        let inputs = inputs.iter().map(|(input, column)| (*input, self.name(column)));
        let module = Scope { name: self.name(name), inputs: inputs.collect() };
        Self { module: Some(module), ..*self }
    }

    /// What goes by this name where the columns are declared that are bound.
    fn name(&self, name: &str) -> String {
        let Some(Scope { name: module, inputs }) = &self.module else { return name.to_owned() };
        match inputs.iter().find(|(input, _)| *input == name) {
            Some((_, column)) => column.clone(),
            None => format!("{module}.{name}"),
        }
    }

    pub(super) fn shared(&self) -> &'s Arc<Shared> {
        self.shared
    }

    /// Where the column is, and its name.
    pub(super) fn column(&self, here: View) -> (usize, &'static str) {
        let is_here = |plan: &Plan| {
            let column = plan.schema().columns().get(here.column());
            self.module.is_none() && column.is_some_and(|column| column.name == here.tag())
        };
        let place = |plan: &Plan, name: &str| match plan.schema().find(name) {
            Some(column) => column,
            None => unreachable!("a flow has the columns of each of its types"),
        };
        let declared =
            if is_here(self.declared) { here.column() } else { place(self.declared, &self.name(here.tag())) };
        let name = self.declared.schema().name(declared).as_str();
        (if is_here(self.plan) { here.column() } else { place(self.plan, name) }, name)
    }
}
