//! The rule that compute steps borrow no parameter of the flow.

use crate::diagnostics::{Errors, steps};
use crate::syntax::{Capture, Flow, Form};

/// A compute step lives as long as the flow, and the declaration has each parameter by reference. An async closure gets
/// a clone; any other closure needs its own value. Wrong, where `style` is a parameter of the flow:
///
/// ```text
/// column shout(user.latest) = |_: Context| ready(style.clone());
/// ```
///
/// rustc would report the lifetime of the reference at the whole flow.
pub(super) fn check_captures(flow: &mut Flow, errors: &mut Errors) {
    let Form::Item(header) = &flow.form else { return };
    for derived in flow.columns.iter_mut().filter_map(|column| column.derived.as_mut()) {
        let closure = derived.closure.as_ref().filter(|closure| closure.as_async().is_none());
        if let Some(Capture { param, at }) =
            closure.and_then(|closure| closure.certain_capture(&header.params))
        {
            errors.on(at, steps::borrowed_param(&param.name, param.is_copied_by_deref()));
            derived.is_step_for_editors = true;
        }
    }
}
