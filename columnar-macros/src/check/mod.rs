//! The rules of a flow that rustc cannot know.
//!
//! Each check repairs the tree: a part that is wrong is reported and taken out, so that one mistake is one error.

mod columns;
mod cycles;
mod declarations;
mod inputs;
mod prompts;
mod reads;
mod references;
mod shared;
mod steps;

use std::collections::HashSet;

use crate::diagnostics::Errors;
use crate::ident::ident_text;
use crate::syntax::{ColumnDecl, FlowDecl, Lint};

pub(crate) use cycles::ExpansionPlan;

pub(crate) fn check(flow: &mut FlowDecl, errors: &mut Errors) -> ExpansionPlan {
    // First, because this check renames columns and removes modules, and views are resolved by these names.
    declarations::check_not_itself(flow, errors);
    let clashes = declarations::check_names(flow, errors);
    declarations::check_source_types(flow, errors);
    let unknown = reads::check_views(flow, clashes, errors);
    if declarations::check_sources(flow, &unknown, errors) {
        reads::check_unknown(flow, &unknown, errors);
    }
    let documents = flow.documents();
    let params = flow.params();
    let names: HashSet<String> = flow.columns.iter().map(|column| ident_text(&column.name)).collect();
    let may_have_braces = flow.lints().contains(&Lint::LiteralBraces);
    for column in &mut flow.columns {
        let ColumnDecl { name, lints, derived: Some(derived), .. } = column else { continue };
        let text = ident_text(name);
        columns::check_reads_other(&text, derived, errors);
        columns::check_tags(&text, derived, errors);
        columns::check_layouts(&text, derived, &documents, errors);
        columns::check_threads(derived, errors);
        columns::check_purposes(&text, derived, errors);
        inputs::check_inputs(name, derived, &documents, &params, errors);
        steps::check_settings(name, derived, errors);
        if !may_have_braces && !lints.contains(&Lint::LiteralBraces) {
            prompts::check_braces(name, derived, &names, errors);
        }
    }
    references::check_lifetimes(flow, errors);
    references::check_closures(flow, errors);
    references::check_captures(flow, errors);
    declarations::check_renames(flow, errors);
    for column in &flow.columns {
        columns::check_lints(column, flow.lints(), &documents, errors);
    }
    shared::check_shared(flow, errors);
    cycles::check_cycles(flow, errors)
}
