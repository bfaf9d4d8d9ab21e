//! The messages of `flow!`, and how to fix each mistake.
//!
//! Chapter 37 of 37 · [← testing](super::testing) · [contents](super)
//!
//! A message says what is wrong with the underlined code. The line `help` shows what to write instead:
//!
//! ```text
//! error: these columns wait for each other, so none of them can run first
//!
//!          ┌→ topics   reads `summary`  (line 6)
//!          │  summary  reads `topics`  (line 7)
//!          └─┘
//!
//!        help: drop one of these views, or read the value of the step before: `summary.prev`
//!  --> src/main.rs:6:29
//!   |
//! 6 |         column topics(user, summary.latest) = prompt("...");
//!   |                             ^^^^^^^
//! ```
//!
//! `flow!` reports all mistakes at once, and each one once. A flow with a mistake still has its fields and methods, so
//! the code that uses it causes no further errors. The compiler itself reports errors inside a compute step or in the
//! argument of a view; the [last section](#messages-of-the-compiler) has the most frequent ones.
//!
//! # The header
//!
//! | message | what to do |
//! |---|---|
//! | expected `struct`, found `enum` | declare the flow as a struct: `pub struct Chat { … }` |
//! | expected `struct` and the name of the flow after this | continue with `struct Chat { … }` |
//! | expected the name of the flow after this | name it: `pub struct Chat { … }` |
//! | expected a visibility, found `pub(crat)` | write `pub`, `pub(crate)` or another one of Rust |
//! | expected the declarations of the flow, in braces, after this | put braces around them |
//! | expected the declarations of the flow, in braces, found `=` | write nothing else before the braces: `struct Chat(style: String) { … }`, or `struct Felt: Chat { … }` for a flow that extends another |
//! | a flow without a header has no inner braces | drop the inner braces: `flow! { source user; … }` |
//! | expected the end of `flow!`, which declares one flow | put the second flow into another `flow!` |
//! | `#[cfg(...)]` cannot be inside `flow!` | put `#[cfg(…)]` before `flow!` |
//! | a parameter is a name, a colon and a type | write `style: String` |
//! | expected the type of `count` | write a type, as in `count: usize` |
//! | `'b` is not declared | declare the lifetime after the name of the flow, or write one that is there |
//! | expected `,` before this | separate the parameters |
//! | expected `,` | correct the list of generics here |
//! | two parameters are named `style` | rename one |
//! | `type` is a keyword of Rust | write `r#type` |
//! | a parameter has no type of unknown size | write `String`, `Vec<u8>` or a `Box` |
//! | a closure keeps `style`, so this reference needs a lifetime | write `String`, or `struct Chat<'a>(style: &'a str)` |
//! | a parameter has no other attribute than its documentation | drop it |
//! | expected the name of a parameter, found `mut` | drop `mut`, `pub` or `&`: compute steps have each parameter by reference |
//! | a flow has no `self` | drop it; the parameters are the ones of `new` |
//! | the parameters of a flow are in parentheses | write `struct Chat(style: String) { … }` |
//! | a flow has no return type | drop it; each column may have a type of its own |
//! | a flow cannot derive `PartialEq` | drop the trait: a flow is a handle. One without parameters has a `Default` |
//! | `unbounded` has no other level than `deny` | write `#[deny(unbounded)]`, or drop the attribute; `literal_braces` can only be allowed |
//!
//! # A flow that extends another
//!
//! | message | what to do |
//! |---|---|
//! | expected the flow that `Felt` extends after this | name it, or drop the colon |
//! | expected the name of a flow | write the path of a flow that is declared as a struct, such as `chat::Chat<M>` |
//! | `Felt` extends itself | name another flow |
//! | this flow adds no column to `Chat` | declare a column |
//! | a flow cannot add a source to the flow that it extends: earlier steps of `Chat` have no value for it | declare the source in the flow that is extended, or compute its values |
//!
//! # Declarations
//!
//! | message | what to do |
//! |---|---|
//! | this flow is empty | begin with a source: `source user;` |
//! | this flow has no source | declare one; a flow without a source has no steps |
//! | expected `source`, `column` or `use` | begin each declaration with one of the three |
//! | expected `source`, `column` or `use`, found `colum` | the same; the message suggests the nearest word |
//! | expected a name after `column` | name the column |
//! | expected `;` after this | end the declaration |
//! | declarations end with `;` | write `;`, not `,` |
//! | a flow contains only declarations | put `let`, constants, items, loops and macros before `flow!`, where compute steps can use them. To declare columns in a loop, declare them [at run time](super::dynamic_flows) |
//! | a flow contains columns, not functions | write `column topics(user.latest) = …;`. The function can be outside, and its name after the `=` |
//! | a declaration takes no `async` | drop it: all compute steps may be asynchronous, and columns are never `mut` or `const` |
//! | the columns of a flow are as public as the flow | drop `pub` |
//! | a column cannot depend on `cfg`: the graph must be the same in every build | declare two flows, with `#[cfg(…)]` before each `flow!` |
//! | a column has no attributes except doc comments and the lints of columnar | drop the attribute |
//! | no declaration follows this doc comment | put it before a declaration, or write `//` |
//! | no declaration follows this attribute | put it before a column, or before `pub struct` |
//! | an attribute comes before its declaration, without `!` | write `#[deny(unbounded)]` before a column, or before `pub struct` for all columns |
//! | a doc comment comes before its declaration | write `///` before the declaration |
//!
//! # Modules
//!
//! | message | what to do |
//! |---|---|
//! | expected the name of a flow after this | name the flow, as in `use Debate { topic: user } as debate;` |
//! | expected the inputs of `Debate`, in braces, before this | give each source of the module a column: `{ topic: user }` |
//! | expected the inputs of `Debate` in braces | write `{ … }`; parentheses before them contain arguments |
//! | a module is the flow itself, without a function | drop `::new()`; arguments come right after the name |
//! | `Chat` cannot be a module of itself | name another flow |
//! | expected `as` and a name, found `(model.clone())` | write the name after the inputs; arguments come before them |
//! | expected `as` and a name after this | name the field of the module: `as debate` |
//! | expected the column for the input `topic` after this | write `topic: user` |
//! | expected the column for the input `topic` | name a column of this flow or of another module |
//! | expected `:` or `,` after `topic`, found `=` | write `topic: user`, as in a struct |
//! | expected an input and its column | write `topic: user` |
//! | expected an input before this comma | drop the comma |
//! | an input is a column, not a view of one | drop the view: the columns of the module have views of their inputs |
//! | an input is a column, not `self` | name a column |
//! | an input is a column, not a value | pass values as arguments, before the inputs: `use Debate(model) { … } as debate;` |
//! | the input `topic` is bound twice | drop one of the two |
//! | `debate` is a module, not a column | read one of its columns: `debate.critic` |
//! | lints apply to columns, not to modules | put the attribute on the columns of the other flow |
//!
//! # A column that had another name
//!
//! | message | what to do |
//! |---|---|
//! | expected the earlier name of `topics`, in quotes | write it: `was "subjects"` |
//! | expected `was`, found `as` | write `was "subjects"` for an earlier name, and a tag where the column is read: `topics.as("digest")` |
//! | `Subjects` cannot be the earlier name of a column | write the name exactly as it was declared |
//! | `user` is the current name of this column | drop `was`, or write the earlier name |
//! | `mood` is another column of this flow, so the values stored as `mood` belong to it | drop `was`, or the other column |
//! | two columns have the earlier name `feeling` | drop `was` from one of them |
//!
//! # Names
//!
//! | message | what to do |
//! |---|---|
//! | `RunningSummary` cannot name a column: use at most 64 lowercase letters, digits and `_`, beginning with a letter | rename the column. The rule is strict because a name is also a tag in messages and a key in stores; the message suggests a valid name |
//! | a column cannot be named `self`: as a view, `self` is the history of the column itself | choose another name |
//! | `type` is a keyword of Rust | write `r#type`; the tag is still `type` |
//! | `user` is declared twice | rename or drop one of the two |
//! | no column or source named `usr` in this flow | correct the name; the message suggests the nearest one, or lists the declared names |
//!
//! # Sources and compute steps
//!
//! | message | what to do |
//! |---|---|
//! | a source has no compute step: your program pushes its values | drop the compute step, or declare a `column` |
//! | a source without a type holds text | drop `: String`; a source with a type has documents: `source files: Documents;` |
//! | a source holds text or documents, and `usize` is neither | drop the type: a source of text has none |
//! | `topics` reads `user` as text, and a source of text has no type | write `source user;`; documents have no window, and are no parameter of a compute step |
//! | a source holds text or documents, so its type has no parameters of the flow | write `: Documents`, or drop the type |
//! | expected `;` before this | end the declaration: a source has a name and perhaps a type |
//! | a column without a type holds text | drop `: String`; a type such as `: Score` means that the values are [JSON](super::columns#text-and-types) |
//! | expected the type of `score` after this | write the type, or drop the colon |
//! | expected the type of `score`, found `Vec < Score` | complete or correct the type |
//! | the type of `score` comes after `:` | write `column score(user.latest): Score = …`, or `source files: Documents;` |
//! | column `topics` has no compute step | add one: `= prompt("…")` |
//! | expected the compute step of `topics` after this | the same |
//! | a compute step cannot borrow the parameter `style` | write an `async` closure, or give the closure a clone: see [a parameter in a closure](super::compute_steps#a-parameter-in-a-closure) |
//! | `topics` reads nothing with the tag `usr` | a parameter of a compute step, and the text in `cx.input("usr")`, is the tag of a view. So is that in the condition of `.when(…)` |
//! | `topics` reads nothing with the tag `cx` | the context needs its type: `cx: Context` |
//! | `style` is a parameter of the flow | drop it from the closure, which uses it by its name |
//! | a parameter of a compute step is the tag of a view | write `\|user\|` for the view `user.latest`, and `\|user, topics\|` for two views |
//! | `files` are documents, which cannot be a parameter of a compute step | take the context: `cx.messages().documents()` has them |
//! | expected `=` and the compute step of `topics` | put `=` before the compute step |
//! | expected `=`, found `==` | write `=` |
//! | a value has no type of unknown size | write `Vec<String>`, not `[String]` |
//!
//! # After a compute step
//!
//! A compute step is one expression, and its settings are methods of it: `prompt("…").retry(3);`.
//!
//! | message | what to do |
//! |---|---|
//! | expected `.` before `retry` | write `.retry(3)` |
//! | expected parentheses after `retry` | write `.retry(3)`, not `.retry 3` or `.retry: 3` |
//! | a setting of a compute step is a method of it | write `.retry(3)` after the step, not `, retry = 3` |
//! | expected `;` before `for`: the compute step of `topics` is complete | drop what follows the step |
//! | expected one expression as the compute step of `topics` | write a prompt, a closure or the name of a function |
//! | `was` comes before the `=` | write `column topics(user.latest) was "subjects" = …` |
//! | the type of `topics` comes before the `=` | write `column topics(user.latest): Vec<String> = …` |
//! | a compute step has no `if` | write `.when(\|cx\| …)` after the step; see [skipping](super::skipping) |
//! | a compute step has no tag | write the tag where the column is read: `topics.as("subjects")` |
//! | expected parentheses around this text | write `prompt("…")` |
//! | a prompt is one text | write one string, or `format!("…")` |
//! | the arguments of a closure are between `\|` and `\|` | write `async \|cx: Context\| …` |
//! | a closure has no `=>` before its body | drop `=>` |
//! | a condition is not async | write `.when(\|cx\| …)` without `async`; it returns whether to compute a value |
//! | a closure has no `model`, which only prompts have | drop the setting, or write a prompt |
//! | an interval of 0 computes nothing | write the number of steps from one value to the next, `.every(5)`, or drop the column |
//! | no model is named `opnai/gpt-5.4-mini` | write a [provider](super::models) and its model, `openai/gpt-5.4-mini`, or `offline` |
//!
//! # Views
//!
//! | message | what to do |
//! |---|---|
//! | expected the views that `topics` reads, in parentheses | write `column topics(user.latest) = …` |
//! | expected a column name or `self` | begin the view with a name, without quotes, `&` or brackets |
//! | expected a view before this comma | drop the comma |
//! | a view names a column of this flow | write the name without a path |
//! | a view takes no `mut` | drop it |
//! | expected `,` or `.` before `self` | separate the views, or add a modifier: `user.latest`, `user.window(3)` |
//! | expected a view of `user` after the dot: `latest`, `window(n)` or `prev` | complete the view, or drop the dot |
//! | no view is named `last` | see [the views](super::views) |
//! | `latest` takes no parentheses | drop them; a number of values is `window(3)` or `prev.window(2)` |
//! | expected parentheses after `window` | write `window(3)` |
//! | expected the number of values to show | the same |
//! | views are constants, and the parameter `n` is none | write a constant, or declare the flow with a constant parameter: `struct Chat<const N: usize>` |
//! | `window` takes one number | write `window(3)` |
//! | a window of 0 shows nothing | drop the view, or show at least one value |
//! | a view has one window | drop the second |
//! | `user` already shows all of its history | drop `.all()`, which is only for `prev` |
//! | `window` comes right after the column | write the range before other modifiers: `user.window(3).as("said")` |
//! | `prev` comes right after the column | write `user.prev.window(3)`; see [previous values](super::previous_values) |
//! | `self` already ends at the step before | drop `.prev`, or write `self.latest` |
//! | `topics` reads its own history by name | write `self.latest` |
//! | expected a function that selects the values to show | write `filter(\|text\| text.ends_with('?'))`; see [filters](super::groups) |
//! | a view has one filter | combine both filters in one function |
//! | a filter is not async | drop the `async` |
//! | `filter` takes one function | write a closure: `filter(\|text\| text.ends_with('?'))` |
//! | `self` has no filter | drop the filter, or show less: `self.latest` |
//! | this view shows all of `user`, so it hides nothing | drop `.elided()`, or show less; see [the views](super::views) |
//! | `elided` counts the hidden values itself | write `.elided()` |
//! | a view has one `elided()` | drop the second |
//! | a view has one `text_only()` | drop the second |
//!
//! # Purposes
//!
//! The [purpose](super::purposes) of a view has parentheses, so that a column may be named `context` or `instruction`:
//! `notes.latest.context()`, `rules.latest.instruction()`.
//!
//! | message | what to do |
//! |---|---|
//! | `self` is shown as assistant messages, so it has no purpose | drop `.context()` or `.instruction()` |
//! | a view has one purpose | drop one of the two |
//! | `context` takes no arguments | write `.context()` |
//! | `topics` reads nothing but context and instructions | add a view of the column that it follows, as in `user.latest` |
//! | an instruction ends the system text as it is, so it has no tag, no note and no count | drop `.as(…)`, `.note(…)` and `.elided()`, or write `.context()` |
//! | an instruction is in the system text, so it cannot be in a group | put it after the group |
//! | the group `facts` has views with and without `context()`, and context comes first in a message | make two groups of them |
//! | a tiered view stands before the messages, so it has no purpose | drop `.context()` or `.instruction()` |
//!
//! # Threads
//!
//! A column [continues](super::caches) the conversation of another one as its first view: `assistant.thread()`.
//!
//! | message | what to do |
//! |---|---|
//! | `user` is a source, which sends no messages to continue | read `user`, or continue a computed column |
//! | a thread continues the conversation of another column | write `assistant.thread()`, and not `self.thread()` |
//! | a thread is continued as it was sent, so it takes no other modifiers | write `.thread()` alone after the column |
//! | a thread is a conversation, so it cannot be in a group | put it before the group, as the first view |
//! | a column continues one thread, which stands first | put the thread before the other views, or drop it |
//! | a thread has the system text and the replies of another column, so it takes no others | drop `self`, the tiered view or the instruction |
//!
//! # Documents
//!
//! A source of documents, `source files: Documents;`, is read as `files`, as the log `files.compacted()`, or in tiers as
//! `files.tiered()`.
//!
//! | message | what to do |
//! |---|---|
//! | documents are a set, which has no window | read `files.compacted()` or `files.tiered()`, without `latest`, `window`, `prev`, a filter or `elided` |
//! | a tiered view shows documents, and `user` holds text | drop `.tiered()`, or declare `source user: Documents;` |
//! | a tiered view shows documents, and `summary` is computed, so it holds text | drop `.tiered()` |
//! | a tiered view shows documents, and `self` is the history of the column | the same |
//! | a tiered view shows documents, which have no attachments | drop `.text_only()` |
//! | documents have one layout | drop the second `.tiered()` or `.compacted()` |
//! | a compacted view shows documents, and `user` holds text | drop `.compacted()`, or declare `source user: Documents;` |
//! | a compacted view shows documents, and `summary` is computed, so it holds text | drop `.compacted()` |
//! | a compacted view shows documents, and `self` is the history of the column | the same |
//! | a compacted view shows documents, which have no attachments | drop `.text_only()` |
//! | `compacted` takes no arguments | write `.compacted().at_most(2.0)` for a bound of the request |
//! | only a compacted view has edits and a bound | write `files.compacted().edits().at_most(2.0)` |
//! | a compacted view has one `edits` | drop the second |
//! | expected the largest request over the documents, 1.0 or more | write the factor: `at_most(2.0)` |
//! | a compacted view has its own titles, so it has no tag and no note | drop `.as(…)` or `.note(…)` |
//! | a compacted view has its own titles, so it has no purpose | drop `.context()` or `.instruction()` |
//! | a compacted view has its own titles, so it cannot be in a group | put it before the group |
//! | a column reads documents in one layout | put all documents into one source, or drop one of the views |
//! | a column with a compacted view must read text, too | add a view of text: `(files.compacted(), user, self)` |
//! | `tiered` takes no arguments | write `.tiered().target(1_536)` for tiers of a number of tokens |
//! | only a tiered view has a target | write `files.tiered().target(1_536)` |
//! | a tiered view has one target | drop the second |
//! | expected the number of tokens that a tier should have | write a number: `target(1_536)`, or `target(0)` for tiers of any size |
//! | a tiered view stands before the messages, so it has no tag and no note | drop `.as(…)` or `.note(…)` |
//! | a tiered view stands before the messages, so it cannot be in a group | put it before the group |
//! | a column with a tiered view can read no other documents | put all documents into one source, or drop the other view |
//! | a column with a tiered view must read all of `self` | add `self`, without a window |
//! | a column with a tiered view must read text, too | add a view of text: `(files.tiered(), user, self)` |
//!
//! # Groups and notes
//!
//! | message | what to do |
//! |---|---|
//! | expected the tag of the group | write `group("debate", pro.latest, con.latest)` |
//! | expected `,` before `user` | put a comma after the tag |
//! | expected parentheses after `group` | write `group("debate", …)` |
//! | no view begins with `groups` and a text | write `group("debate", pro.latest, con.latest)` |
//! | this group has no views | add views |
//! | this group is inside 32 others, which is the most | put its views into one of those around it |
//! | a group takes no modifiers | put the modifier on the views inside |
//! | `self` is shown as assistant messages, so it cannot be in a group | put `self` after the group |
//! | expected the text of the note after this | write `note("what the person typed")` |
//! | a note has a text | write it, or drop `.note("")` |
//! | `note` takes one text | write one literal: `.note("…")` |
//! | a note is a string literal | write the text in quotes |
//! | a view has one note | drop the second |
//! | `self` has no tag, so it has no note | explain it in the instruction |
//!
//! # Tags
//!
//! | message | what to do |
//! |---|---|
//! | expected a tag after this | write `as("digest")` |
//! | a tag is a string literal | write the tag in quotes, so that the compiler can check it |
//! | "my tag" cannot be a tag: use at most 64 lowercase letters, digits and `_`, beginning with a letter | write a valid tag; the message suggests one |
//! | a view has one tag | drop the second |
//! | `self` is shown as assistant messages, so it has no tag | drop the tag |
//! | two inputs of `topics` have the tag `user` | give one of them [another tag](super::tags) |
//!
//! # The columns that a column reads
//!
//! | message | what to do |
//! |---|---|
//! | `joke` reads nothing, so no value can reach it | add a view, as in `(user.latest)` |
//! | `journal` reads only itself, so no new value can reach it | add a view, as in `(user, self)` |
//! | `summary` reads itself in the same step | write `self` for its values at earlier steps |
//! | `assistant` reads itself twice | drop one of the two views of `self` |
//! | `self` is the history of this column, and has no columns | write the name of the other column without `self.` |
//! | `topics` reads `user.latest` twice | drop one of the two |
//! | these columns wait for each other, so none of them can run first | drop one of the views in the drawing, or read [the value of the step before](super::previous_values): `summary.prev` |
//!
//! # Lints
//!
//! | message | what to do |
//! |---|---|
//! | `user` grows with every step, and `topics` denies `unbounded` | write `user.latest` or `user.window(3)`, or drop `#[deny(unbounded)]` |
//! | `files` shows each update of the documents, which grows with every step, and `log` denies `unbounded` | drop the view, or `#[deny(unbounded)]` |
//! | a tiered view needs all of `self`, which grows with every step, and `coder` denies `unbounded` | drop `#[deny(unbounded)]` |
//! | `topics` shows no whole history, so its requests share only the instruction, and it denies `unstable_prefix` | read a whole column before the others, or drop `#[deny(unstable_prefix)]` |
//! | the instruction `rules` changes the system text, so requests share nothing, and `answer` denies `unstable_prefix` | write `.context()`, or drop `#[deny(unstable_prefix)]` |
//! | with another `model` the request shares nothing with the thread, and `critic` denies `unshared` | write the model, the effort or the type of the column whose thread it is, or drop `#[deny(unshared)]` |
//! | no lint is named `unbound` | write `unbounded`, `unstable_prefix`, `unshared` or `literal_braces` |
//! | a prompt is sent as it is written, with no value in place of `{user}` | the model sees each value that the column reads: read `user.latest`, and drop the braces. To send the braces, put `#[allow(literal_braces)]` before the column |
//! | expected a lint in `#[deny(...)]` | name one: `#[deny(unbounded)]` |
//! | a source reads nothing, so no lint applies to it | drop the attribute |
//!
//! # Not your mistake
//!
//! | message | what to do |
//! |---|---|
//! | `flow!` panicked, which is a bug in columnar: … | please report it, with the flow |
//!
//! # Messages of the compiler
//!
//! | message | what it means |
//! |---|---|
//! | `…` cannot compute a column | the expression after the `=` is not a [compute step](super::compute_steps): a closure takes one `Context` and returns a future of text |
//! | the result of this compute step is no text | the closure returns text or `Json(value)`: write `user.len().to_string()`, write `.await` after a future, and end a block without `;` |
//! | the result of this compute step is no future | write an `async` closure: `async \|user\| user.to_uppercase()` |
//! | type annotations needed | `Ok(…)` alone does not tell the type of its error: write `Ok::<_, columnar::BoxError>(…)`, or the text without `Ok`; an error alone is `Err::<String, _>(…)` |
//! | this input is `columnar::Value`, not `String` | write the type of the input, or drop it. `user.latest` is a `Value`, a view of several values is a `Vec<Value>`, and an input that may be missing an `Option<Value>` |
//! | `…` cannot be the type of a column | derive `serde::Deserialize` and `schemars::JsonSchema` for it |
//! | typed columns need the feature `typed` of columnar | add the feature: `columnar-flow = { features = ["typed"], … }` |
//! | `Score` cannot be the type of a source | a source holds text, `source user;`, or documents, `source files: Documents;` |
//! | this input takes documents, and the column holds text | bind it to a source of documents |
//! | this input takes text, and the column holds documents | bind it to a column of text |
//! | this is an input of the module, not one of its columns | read the column that is bound to it |
//! | no view and no column is named so | after a column come `latest`, `window(n)` or `prev`: `answer.latest`, not `answer.last` |
//! | this is a module, not a column | read one of its columns: `debate.inner.critic` |
//! | this module has modules nested 16 deep, which is the most | use a module of it directly |
//! | the flow that this one extends has a column of this name | rename the column |
//! | the method `read` exists for struct `Handle<Derived>` | the column has no type; use `get` |
//! | future cannot be sent between threads safely | a value that is not `Send`, such as an `Rc`, is held across an `.await`; the note points at it |
//! | async block may outlive the current function, but it borrows `cx` | write `async move` |
//! | the trait bound `Key: Clone` is not satisfied | a closure has a clone of each [parameter](super::compute_steps#a-parameter-in-a-closure) that it uses: derive `Clone`, or make the parameter an `Arc` |
//! | lifetime may not live long enough | the compute step of the column, or the result of its closure, borrows from a parameter of the flow; give it a value of its own, such as `style.clone()` |
//! | attempt to use a non-constant value in a constant | the number in `window(n)` must be a `const`; see [views](super::views) |
//! | missing field `facts` in initializer of `DebateInputs` | the module has an input without a column; add it in the braces: `facts: user` |
//! | struct `DebateInputs` has no field named `critic` | the module has no source of this name; the message suggests the nearest one |
//! | missing generics for struct `Chat` | a flow with type parameters is extended or used with types for them: `struct Felt<M: Model>(model: M): Chat<M> { … }` |
//! | private type `Chat` in public interface | a public flow extends a private one; declare both with `pub`, or neither |
//! | struct `Chat` is private | declare the flow with `pub`: `flow! { pub struct Chat { … } }` |
//! | `&str` is not a column of this flow, whose columns are fields | write `chat.topics.get(0)`, not `chat.get("topics", 0)`; for a name that is known only when the program runs, `chat.try_get(name, 0)?` |
//! | `…` is not a flow that can be a module | name a flow that is declared as a struct and extends no other flow |
//! | use of moved value: `style` | two compute steps take the same value; clone it for one |
//! | character literal may only contain one codepoint | write text in double quotes: `"digest"` |
//! | cannot find function `prompt` in this scope | add `use columnar::prelude::*;` |
//! | macro expansion ignores `"a flow without a header is an expression: write pub struct Chat { ... } around it, or let chat = flow! { ... }; in a function"` | put it into a function, `let chat = flow! { … };`, or give it a header, `pub struct Chat { … }` |
//! | `{integer}` is not the text of a value | push text: `value.to_string()`, or `serde_json::to_string(&value)?` |
//! | `&usize` is not the text of a prompt | pass text: `format!("Answer in {count} words.")` |
//! | the model of a prompt is set by `.model(...)` | write `.model("openai/gpt-5.4-mini")` directly after the prompt |
//! | `&Other` is not a `Chat`, the flow that this one extends | pass a flow of the type after the `:` of the header to `extend` |
//! | no function or associated item named `new` found for struct `Felt` | a flow that extends another has no `new`: write `Felt::extend(&chat).await?` |
//! | `Person` is not a flow, so it cannot be extended | name a flow that is declared as a struct after the `:` |
//! | expected expression, found keyword `const` | a flow with a header is an item, so it cannot be an expression; drop the header, or the `let` |
//! | the `?` operator can only be used in a method that returns `Result` | only in a flow without a header can `?` return from the function around it; handle the error before `flow!`, or give it to the flow as a parameter |
//!
//! `get` returns the JSON text of a typed column, so rustc finds a [`Value`](crate::Value) where a `Score` is expected:
//! `read`, as in `chat.score.read(0)?`, returns the type.
//!
//! [← testing](super::testing) · [contents](super)
