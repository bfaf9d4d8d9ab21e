//! The rules of a declaration that only rustc can check: they are about columns of other flows, or about constants.
//!
//! `flow!` gives the condition of a rule to its trait, as a constant. If it is false, no type has the trait, and rustc
//! prints the message. Where the condition depends on parameters of the flow, a constant asserts it.

macro_rules! rules {
    ($($(#[$docs:meta])+ $rule:ident: $message:literal;)*) => {$(
        $(#[$docs])+
        pub mod $rule {
            /// All types have it if the rule holds.
            #[diagnostic::on_unimplemented(message = $message, label = "")]
            pub trait Rule<const HOLDS: bool> {
                /// Exists if the rule holds. With a parameter, the last token of its path is no name, which an editor would
                /// take for the user's at the position of an error.
                type Checked<U>;
            }

            impl<T> Rule<true> for T {
                type Checked<U> = ();
            }

            /// The rule as an assertion.
            #[derive(Debug)]
            pub struct Assertion;

            impl Assertion {
                /// # Panics
                ///
                /// If the rule does not hold. The compiler shows the message as an error.
                #[track_caller]
                pub const fn check(holds: bool) {
                    assert!(holds, $message);
                }
            }
        }
    )*};
}

rules! {
    /// A column, or a module, of an extension has a name of its own.
    new_name:
        "the flow that this one extends has a column of this name\n\nhelp: rename this one";
    /// A view of a part of a column shows text.
    whole_documents:
        "documents are a set, which has no window\n\nhelp: read all of the column, or write `compacted()` after it";
    /// A view with a layout shows documents.
    tiered_documents:
        "a tiered or compacted view shows documents, and this column holds text\n\nhelp: drop `tiered()` or `compacted()`";
    /// No view beside a tiered one shows documents.
    one_source_of_documents:
        "a column with a tiered view can read no other documents\n\n\
         help: put all of them into one source, or drop this";
    /// A window shows a value at least.
    some_values:
        "a window of 0 shows nothing\n\nhelp: drop the view, or show at least 1 value";
    /// Modules are not too deep inside each other.
    few_levels:
        "this module has modules nested 16 deep, which is the most\n\n\
         help: use a module of it directly, beside it";
    /// A word after a column is a view, or that column is a module.
    known_view:
        "no view and no column is named so\n\n\
         help: after a column come `latest`, `window(n)` or `prev`, as in `answer.latest`";
    /// A view of a module shows one of its columns.
    column_of_module:
        "this is a module, not a column\n\nhelp: read one of its columns, as in `debate.verdict`";
    /// A view of a module shows none of its inputs.
    no_input:
        "this is an input of the module, not one of its columns\n\nhelp: read the column that is bound to it";
    /// Each input of a module has a column.
    all_inputs:
        "an input of this module has no column\n\nhelp: add it in the braces, as in `topic: user`";
    /// An input that is bound to documents takes documents.
    takes_documents:
        "this input takes text, and the column holds documents\n\nhelp: bind it to a column of text";
    /// An input that is bound to text takes text.
    takes_text:
        "this input takes documents, and the column holds text\n\nhelp: bind it to a source of documents";
    /// No column waits for itself. `flow!` has a drawing of the cycle where no parameters are.
    acyclic:
        "these columns wait for each other through a module, so none of them can run first\n\n\
         help: drop one of the views, or read the value of the step before, as in `verdict.prev`";
}
