//! A flow in a terminal: the [table](FlowTable) of the flow, [values](ValueStream) as they stream, and the
//! [progress](ProgressBars) of a run.
//!
//! Lines [break](WrapWriter) between words at the width of the terminal. The texts of models, files and people are
//! [printable]: they cannot control the terminal. Widths follow Unicode, so Chinese, Japanese and Korean, emoji, combining marks
//! and text from right to left keep their columns.

mod progress;
mod stream;
mod table;
mod text;
mod wrap;

pub use progress::ProgressBars;
pub use stream::ValueStream;
pub use table::FlowTable;
pub use text::{printable, width};
pub use wrap::WrapWriter;
