//! Binds the columns of a type to a live flow.
//!
//! The flow may have more columns than the type, in another order, or may use the type as a module. So a column is
//! found by its index in the type where that is right, and by its name otherwise.

use std::sync::Arc;

use crate::declare::Plan;
use crate::declare::graph::View;
use crate::run::SharedFlow;

/// A live flow, for the columns of a type.
#[derive(Debug)]
pub struct Bind<'s> {
    pub(super) shared: &'s Arc<SharedFlow>,
    /// The columns that the type of the flow declares.
    declared: &'static Plan,
    /// The columns of the flow.
    plan: &'s Plan,
    /// The module whose columns are bound; `None` for the flow itself.
    module: Option<ModuleScope>,
}

/// The names of a module's columns in the flow.
#[derive(Debug)]
struct ModuleScope {
    /// The name of the module.
    name: String,
    /// Each source of the module, with the column that it is bound to.
    inputs: Vec<(&'static str, String)>,
}

impl<'s> Bind<'s> {
    pub(super) fn new(shared: &'s Arc<SharedFlow>, declared: &'static Plan, plan: &'s Plan) -> Self {
        Self { shared, declared, plan, module: None }
    }

    /// The same flow for the columns of a module. `inputs` are its sources, each with the name of the column that it is
    /// bound to.
    #[must_use]
    pub fn __module(&self, name: &str, inputs: &[(&'static str, &'static str)]) -> Self {
        let inputs = inputs.iter().map(|(input, column)| (*input, self.name(column)));
        let module = ModuleScope { name: self.name(name), inputs: inputs.collect() };
        Self { module: Some(module), ..*self }
    }

    /// The name in the flow of a column of the module.
    fn name(&self, name: &str) -> String {
        let Some(ModuleScope { name: module, inputs }) = &self.module else { return name.to_owned() };
        match inputs.iter().find(|(input, _)| *input == name) {
            Some((_, column)) => column.clone(),
            None => format!("{module}.{name}"),
        }
    }

    /// The index and the name in the flow of a column of the type, which a view of it identifies.
    pub(super) fn column(&self, view: View) -> (usize, &'static str) {
        let declared = self.index(self.declared, view);
        (self.index(self.plan, view), self.declared.schema().name(declared).as_str())
    }

    fn index(&self, plan: &Plan, view: View) -> usize {
        let schema = plan.schema();
        let column = schema.columns().get(view.column);
        // Most flows are exactly of this type. A search by name for each column is the exception.
        if self.module.is_none() && column.is_some_and(|column| column.name == view.tag) {
            return view.column;
        }
        match schema.find(&self.name(view.tag)) {
            Some(column) => column,
            None => unreachable!("a flow has the columns of each of its types"),
        }
    }
}
