//! All messages of `flow!`, and what to do about them.
//!
//! A message says what is wrong at the place that is underlined, then the way out:
//!
//! ```text
//! error: these columns wait for each other, so none of them can run first
//!
//!          ┌→ topics   reads `summary`  (line 6)
//!          │  summary  reads `topics`  (line 7)
//!          └─┘
//!
//!        help: drop one of these reads, or read what was said a step before: `summary.prev`
//!  --> src/main.rs:6:29
//!   |
//! 6 |         column topics(user, summary.latest) = prompt("...");
//!   |                             ^^^^^^^
//! ```
//!
//! All mistakes are told at once, and each of them once: a flow with a mistake in it still has its fields and
//! methods, so nothing that uses it is an error. What is wrong *inside* a compute step, or with a view's
//! argument, is told by the compiler in its own words; some of those stand at the end.
//!
//! # The header
//!
//! | message | what to do |
//! |---|---|
//! | expected `struct`, found `enum` | a flow is declared as a struct, whatever it looks like inside: `pub struct Chat { … }` |
//! | expected `struct` and the name of the flow after this | go on with `struct Chat { … }` |
//! | expected the name of the flow after this | name it: `pub struct Chat { … }` |
//! | expected the declarations of the flow, in braces, after this | put braces around them |
//! | the declarations of a flow stand in braces | write `{ … }` in place of `( … )` |
//! | a flow without a header needs no braces of its own | drop the inner braces: `flow! { source user; … }` |
//! | expected the end of the flow: one `flow!` declares one | give the second flow a `flow!` of its own |
//! | a flow cannot depend on `cfg` from the inside | put `#[cfg(…)]` before `flow!` |
//! | expected a parameter of the flow | parameters are names with types, as in `pub struct Chat(model: Model)` |
//! | expected `:` and the type of `model` | give the parameter its type |
//! | expected `,` before this | separate the parameters |
//! | expected `,` | something is wrong in the list of generics at this place |
//! | two parameters are named `style` | rename one |
//!
//! # A flow that extends another
//!
//! | message | what to do |
//! |---|---|
//! | expected `:` before this | the flow that is extended stands behind a colon: `struct Felt: Chat { … }` |
//! | expected `:`, found `extends` | the same |
//! | expected the flow that `Felt` extends after this | name it, or drop the colon |
//! | expected the name of a flow | a path to a flow that is a struct, as in `chat::Chat<M>` |
//! | `Felt` extends itself | name the flow that there is already |
//! | a flow extends one other | extend one, and the result with the next |
//! | the parameters of a flow stand behind its name | `struct Felt(model: Model): Chat { … }` |
//! | this adds nothing to `Chat` | declare a column |
//! | a source cannot join a flow that has begun: the steps of `Chat` have no value for it | declare it in the flow that is extended, or compute it |
//!
//! # Declarations
//!
//! | message | what to do |
//! |---|---|
//! | this flow is empty | begin with a source: `source user;` |
//! | nothing enters this flow | declare a source; without one there is never a step |
//! | expected `source`, `column` or `use` | each declaration begins with one of the three |
//! | expected `source`, `column` or `use`, found `colum` | the same; what was probably meant is told |
//! | expected a name after `column` | name it |
//! | the keyword stands before the name | write `source user;` |
//! | expected `;` after this | end the declaration |
//! | declarations end with `;` | write `;` in place of `,` |
//! | a flow holds declarations only | `let`, constants, items, loops and macros go before `flow!`, where compute steps see them. Columns that are made in a loop are declared [at run time](super::dynamic_flows) |
//! | a flow has columns in place of functions | `column topics(user.latest) = …;`; the function itself can stand outside, and its name behind the `=` |
//! | expected the flow to use after this | as in `use Debate { topic: user } as debate;` |
//! | expected the inputs of `Debate`, in braces, before this | name the sources of the module, each with a column: `{ topic: user }` |
//! | expected the inputs of `Debate` in braces | write `{ … }`; parentheses before them hold arguments |
//! | expected `as` and a name after this | a module is a field: `as debate` |
//! | expected the column that `topic` is after this | as in `topic: user` |
//! | expected the column that `topic` is | name a column of this flow or of another module |
//! | expected `:` or `,` after `topic`, found `=` | an input is bound as a field is: `topic: user` |
//! | an input is a column: the module says how much of it it shows | drop the view |
//! | an input is a column, and `self` is the past of one | name a column |
//! | the input `topic` is bound twice | drop one of the two |
//! | `debate` is a module, and a view shows a column | name one of its columns: `debate.critic` |
//! | `topic` is an input of `debate` | read the column that it is bound to |
//! | a module denies nothing: its columns may, where they are declared | drop the attribute |
//! | a declaration takes no `async` | drop it: compute steps are asynchronous as they are, and columns neither `mut` nor `const` |
//! | the columns of a flow are as public as the flow | drop `pub` |
//! | a column cannot depend on `cfg`: the graph must be the same in every build | declare two flows, and put `#[cfg(…)]` before each `flow!` |
//! | a column takes doc comments and `#[deny(...)]` only | drop the attribute |
//! | this comment documents nothing | put it before a declaration, or write `//` |
//! | a comment stands before what it documents | write `///` before the declaration |
//!
//! # A column that had another name
//!
//! | message | what to do |
//! |---|---|
//! | expected what `topics` was named before, in quotes | write it: `was "subjects"` |
//! | a name that is no more stands in quotes | write `was "subjects"` |
//! | no column was ever named `Subjects` | write the name as it was declared |
//! | `user` is named so now | drop `was`, or write another name |
//! | `mood` is a column of this flow, so what is stored under that name is its own | drop one of the two |
//! | two columns say that they were `feeling` | one of them was |
//!
//! # Names
//!
//! | message | what to do |
//! |---|---|
//! | `RunningSummary` cannot name a column: write at most 64 lower case letters, digits and `_`, beginning with a letter | a name is a tag in messages and a key in stores, so the rule is strict; a better one is told |
//! | a hyphen cannot stand in the name of a column | write `_` |
//! | a column is named without quotes | drop them |
//! | a column cannot be named `self`: that is how a column reads its own past | choose another name |
//! | `type` is a keyword of Rust | write `r#type`; the tag stays `type` |
//! | `user` is declared twice | rename one, or drop it |
//! | no column or source named `usr` in this flow | the nearest name is told, or those that there are |
//!
//! # Sources and compute steps
//!
//! | message | what to do |
//! |---|---|
//! | a source has no compute step: its values come from outside | drop what stands behind the name, or make it a `column` |
//! | a source is declared by its name alone | `source user;`, each with its own `;` |
//! | a source holds text and takes no type | drop the type |
//! | a column of text takes no type | drop it: `: Score` says that the values are [JSON](super::columns#text-and-types) of that |
//! | expected the type of `score` after this | name it, or drop the colon |
//! | expected the type of `score`, found `Vec < Score` | what stands there is no type, or not all of one |
//! | the type of `score` stands behind `:` | `column score(user.latest): Score = …` |
//! | the type of `score` stands behind its views | the same |
//! | the type of `score` stands before `was` | `column score(user.latest): Score was "rating" = …` |
//! | column `topics` has no compute step | add one: `= prompt("…")` |
//! | expected an expression that computes `topics` after this | the same |
//! | expected `=` and the compute step of `topics` | put `=` before the step |
//! | expected `=`, found `==` | write `=` |
//!
//! # Views
//!
//! | message | what to do |
//! |---|---|
//! | expected the views that `topics` reads, in parentheses | `column topics(user.latest) = …` |
//! | expected a column name or `self` | a view begins with a name: no quotes, no `&`, no brackets |
//! | expected a view before this comma | drop the comma |
//! | a view names a column of this flow | write the name alone, without a path |
//! | expected `,` or `.` before `self` | separate the views, or say more of one: `user.latest`, `user.window(3)` |
//! | a view stands behind what it shows | write `user.window(3)` in place of `window(user, 3)` |
//! | expected a view of `user` after the dot: `latest`, `window(n)` or `prev` | finish the view, or drop the dot |
//! | no view is named `last` | see [the views](super::views) |
//! | `latest` takes no parentheses | drop them |
//! | expected parentheses after `window` | write `window(3)` |
//! | expected how many values to show | the same |
//! | a window of 0 shows nothing | drop the view, or show at least one value |
//! | a view shows one window | drop the second |
//! | `user` alone shows all of its history | drop `.all()`, which stands behind `prev` only |
//! | `prev` stands right behind the column | `user.prev.window(3)`; see [the step before](super::previous_values) |
//! | the own past ends with the step before as it is | `self.latest` |
//! | `topics` reads its own past by name | `self.latest` |
//! | expected a function that says what to show | `filter(\|text\| text.ends_with('?'))`; see [filters](super::groups) |
//! | a view has one filter | say both in one function |
//! | the own past is shown as it was said | drop the filter, or show less: `self.latest` |
//! | all of `user` is shown here, so nothing is hidden | drop `.elided()`, or show less; see [the views](super::views) |
//! | how many values are hidden is counted | write `.elided()` |
//! | a view tells once how much it hides | drop the second |
//!
//! # Groups and notes
//!
//! | message | what to do |
//! |---|---|
//! | expected the tag of the group | `group("debate", pro.latest, con.latest)` |
//! | expected `,` before `user` | put a comma behind the tag |
//! | this group shows nothing | add views |
//! | a group shows its views as they are | say it of the views inside |
//! | the own past is shown as the assistant's words, so it stands in no group | put `self` behind the group |
//! | expected what the model is told of this after this | `note("what the person typed")` |
//! | a note is text written out | a string in quotes |
//! | a view has one note | drop the second |
//! | the own past has no tag that a note could explain | say it in the instruction |
//!
//! # Tags
//!
//! | message | what to do |
//! |---|---|
//! | expected a tag after this | `as("digest")` |
//! | a tag is text written out | a string in quotes, so that the compiler can check it |
//! | "my tag" cannot be a tag: write at most 64 lower case letters, digits and `_`, beginning with a letter | a tag is a name; a better one is told |
//! | a tag stands behind what it is for | `summary.as("digest")` |
//! | a view has one tag | drop the second |
//! | the own past is shown as the assistant's words, so it has no tag | drop it |
//! | two views reach `topics` as `user` | give one of them [another tag](super::tags) |
//!
//! # What a column reads
//!
//! | message | what to do |
//! |---|---|
//! | `joke` reads nothing, so nothing can reach it | name what it reads, as in `(user.latest)` |
//! | `journal` reads only itself, so nothing new can reach it | add what it follows, as in `(user, self)` |
//! | `summary` reads itself in the same step | for its own past, write `self` |
//! | `assistant` reads its own past twice | one `self` is enough |
//! | `self` is what a column said in earlier steps, and has no columns | write the column's name without `self.` |
//! | `user.latest` is read twice by `topics` | drop one |
//! | these columns wait for each other, so none of them can run first | drop one of the reads that are drawn, or read [the step before](super::previous_values): `summary.prev` |
//!
//! # Refusals
//!
//! | message | what to do |
//! |---|---|
//! | `user` grows with every step, and `topics` denies that its context does | `user.latest` or `user.window(3)`, or drop `#[deny(unbounded)]` |
//! | `topics` shows no history as a whole, so its requests have nothing but the instruction in common, which it denies | read a column as a whole before the others, or drop `#[deny(unstable_prefix)]` |
//! | a column cannot deny `unbound` | there are `unbounded` and `unstable_prefix` |
//! | this denies nothing | name what is denied: `#[deny(unbounded)]` |
//! | a source reads nothing, so there is nothing to deny | drop the attribute |
//!
//! # Not your mistake
//!
//! | message | what to do |
//! |---|---|
//! | `flow!` panicked, which is a bug in columnar: … | please report it, with the flow |
//!
//! # What the compiler says itself
//!
//! | message | what it means |
//! |---|---|
//! | `…` cannot compute a column | what stands behind the `=` is no [compute step](super::compute_steps): a closure takes one `Context` and returns a future of text |
//! | `…` cannot be the type of a column | derive `serde::Deserialize` and `schemars::JsonSchema` for it |
//! | typed columns need the feature `typed` of columnar | switch it on: `columnar = { features = ["typed"], … }` |
//! | the method `read` exists for struct `Handle<Derived>` | the column is text: `get` has it |
//! | type annotations needed | write the type of the argument: `\|cx: Context\|` |
//! | future cannot be sent between threads safely | something that is not `Send`, such as an `Rc`, is held over an `.await`; the note points at it |
//! | async block may outlive the current function, but it borrows `cx` | write `async move` |
//! | no field `lastest` on type `Handle<…>` | a view is misspelt; the nearest is told |
//! | attempt to use a non-constant value in a constant | the number in `window(n)` is a `const`; see [views](super::views) |
//! | evaluation panicked: a window of 0 shows nothing | that constant is 0 |
//! | evaluation panicked: `topics` is a column of `Chat` already | a flow that extends another gives its columns other names |
//! | use of moved value: `style` | two compute steps take the same value: clone it for one |
//! | cannot find function `prompt` in this scope | `use columnar::prelude::*;` |
//! | macro expansion ignores keyword `match` and any tokens following | a flow without a header is an expression and stands in a function; give it a `pub struct Chat { … }` |
//! | expected expression, found keyword `impl` | a flow with a header is an item and stands by itself; drop the header, or the `let` |
//! | the `?` operator can only be used in a method that returns `Result` | only the steps of a flow without a header may return from the function around it |
