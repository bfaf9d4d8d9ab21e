//! Show a model documents that change, such as the files that a person edits.
//!
//! Chapter 21 of 37 · [← caches](super::caches) · [contents](super) · [renderings →](super::renderings)
//!
//! A source of documents holds a set of texts with names. A value of the source is an *update*: the documents that a
//! step puts and removes. So a step costs the documents that changed, and the set of every past step is known.
//!
//! ```
//! use columnar::documents::{Kind, Update};
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files, user, self) = script(["Monday.", "Ada.", "Friday."]);
//! };
//! desk.files.push(Update::new().file("plan.md", "We launch on Monday.").file("team.md", "Ada, Bob")).await?;
//! desk.user.push("When?").await?;
//! desk.files.push(Update::new()).await?;                          // nothing changed
//! desk.user.push("Who?").await?;
//! desk.files.push(Update::new().file("plan.md", "We launch on Friday.").remove(Kind::File, "team.md")).await?;
//! desk.user.push("When?").await?;
//! desk.run().await?;
//!
//! assert_eq!(to_value(desk.answer.messages(2)?)?, json!([
//!     { "role": "user", "content":
//!         "<files>\n# Files\n\nplan.md\n```\nWe launch on Monday.\n```\n\nteam.md\n```\nAda, Bob\n```\n</files>\n\n\
//!          <user>\nWhen?\n</user>" },
//!     { "role": "assistant", "content": "Monday." },
//!     { "role": "user", "content": "<files>\nNo document changed.\n</files>\n\n<user>\nWho?\n</user>" },
//!     { "role": "assistant", "content": "Ada." },
//!     { "role": "user", "content":
//!         "<files>\n# Files\n\nplan.md\n```\nWe launch on Friday.\n```\n\n# Removed\n\nfile team.md\n</files>\n\n\
//!          <user>\nWhen?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! An [`Update`](crate::documents::Update) puts or removes files, entries of a map and pages; the module has the
//! [rules](mod@crate::documents#rules). Each step needs an update; `Update::new()` changes nothing. A put with the
//! bytes that are there is no change.
//!
//! A flow that is declared at run time has `documents("files")`, and [`push`](crate::Flow::push) takes the
//! [text of an update](crate::documents::Update::to_text).
//!
//! # The append-only layout
//!
//! The view `files` above shows each update in the turn of the same step, like a value of text. Nothing that was sent
//! changes, so the next request repeats all of this one. A document that changed three times is in the context three
//! times, and the model must take the last text for the present one.
//!
//! # The compacted layout
//!
//! The view `files.compacted()` begins like the append-only one: a changed document stands in the turn of its step, the text
//! before stays where it is, and the new text says that it replaces the one above. A step without a change shows nothing. Old
//! texts are cheap to carry, because the provider's cache serves them, but not free. When a part of the log has cost as much as
//! it would cost to write that part anew, the valid texts move into the turn of the step, and the old ones are gone:
//!
//! ```
//! use columnar::documents::Update;
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.compacted(), user, self) = script(["Monday.", "Friday.", "Sunday."]);
//! };
//! let minutes = "We talked about the launch. ".repeat(200);
//! desk.files.push(Update::new().file("minutes.md", minutes.as_str()).file("plan.md", "We launch on Monday.")).await?;
//! desk.files.push(Update::new().file("plan.md", "We launch on Friday.")).await?;
//! desk.files.push(Update::new().file("plan.md", "We launch on Sunday.").laid_anew()).await?;
//! desk.user.push_all(["When?"; 3]).await?;
//! desk.run().await?;
//!
//! let files = |step| -> Result<Vec<String>> {
//!     let messages = desk.answer.messages(step)?;
//!     let parts = messages.parts().filter(|part| part.origin().is_some_and(|of| of.column.as_str() == "files"));
//!     Ok(parts.map(|part| part.text().replace(&minutes, "…")).collect())
//! };
//! let first = "<files>\n# Files\n\nminutes.md\n```\n…\n```\n\nplan.md\n```\nWe launch on Monday.\n```\n</files>";
//! let second = "<files>\n# Files (each replaces its text above)\n\nplan.md\n```\nWe launch on Friday.\n```\n</files>";
//! assert_eq!(files(1)?, [first, second]);
//! let laid = "<files>\n# Files\n\nminutes.md\n```\n…\n```\n\nplan.md\n```\nWe launch on Sunday.\n```\n</files>";
//! assert_eq!(files(2)?, [laid]);
//! # Ok(()) }
//! ```
//!
//! [`laid_anew`](crate::documents::Update::laid_anew) is what a program may say; usually the flow says it, when an update is
//! pushed, by the prices of the column's model and the turns so far. The decision is stored in the text of the update, so the
//! context of a step is the same after a restart, in a fork and with other prices. A column that reads the same source as
//! plain `files` sees it there, in a section `# Laid Anew`. Documents that have not changed for three
//! steps are laid before the others, in a part that later decisions need not touch. After a pause that is longer than the
//! provider keeps the prefix, by the [lifetime](super::caches) that the column has learnt, everything is laid anew, because
//! everything has to be written in any case: push the update when the message of the step comes, and not before the pause.
//!
//! - **`.edits()`** shows a diff in place of the whole text, where that is shorter. The model must apply it, as models for code
//!   do; at the next decision the text is whole again.
//! - **`.at_most(2.0)`** bounds a request: at most so many times the tokens that it would have without old texts. That is the
//!   default, except for models whose cache is read for a twentieth of the price or less, which have no bound.
//!   `at_most(1.0)` shows each document once: a changed document stays in the last turn until it was unchanged for a step, and
//!   what stood behind it is laid anew at once.
//!
//! [`explain_cache`](crate::flow::Handle::explain_cache) says one request ahead when documents will be laid anew, if nothing
//! changes until then. A prompt marks the end of the documents that seldom change, and the end of the request.
//!
//! # The tiered layout
//!
//! The view `files.tiered()` shows each document once, with the present text, before the turns:
//!
//! ```
//! use columnar::documents::Update;
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = script(["Monday.", "Friday."]);
//! };
//! desk.files.push(Update::new().file("plan.md", "We launch on Monday.").file("team.md", "Ada, Bob")).await?;
//! desk.user.push("When?").await?;
//! desk.files.push(Update::new().file("plan.md", "We launch on Friday.")).await?;
//! desk.user.push("And now?").await?;
//! desk.run().await?;
//!
//! assert_eq!(to_value(desk.answer.messages(1)?)?, json!([
//!     { "role": "user", "content":
//!         "# Working Files\n\nplan.md\n```\nWe launch on Friday.\n```\n\nteam.md\n```\nAda, Bob\n```" },
//!     { "role": "assistant", "content": "Ok." },
//!     { "role": "user", "content": "<user>\nWhen?\n</user>" },
//!     { "role": "assistant", "content": "Monday." },
//!     { "role": "user", "content": "<user>\nAnd now?\n</user>" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! If all documents stayed together, each change would end the prefix that a provider's cache serves. So documents are
//! sorted into [tiers](crate::tiers) by N, the number of responses since the last change. Stable documents come first:
//!
//! | tier | N on entry | leaves at N | place | cached |
//! |---|---|---|---|---|
//! | L0 | 12 | never | the end of the system text | yes |
//! | L1 | 9 | 12 | the beginning of the messages | yes |
//! | L2 | 6 | 9 | after L1 | yes |
//! | L3 | 3 | 6 | after L2 | yes |
//! | active | 0 | 3 | before the newest turns | no |
//!
//! A document begins in the active tier, and a change brings the document back there at once. After three responses
//! without a change the document enters L3. From then on N grows only when the tier, or the tier above, changes anyway;
//! a document that has reached the threshold then goes up. So nothing moves while nothing changes. A
//! [skipped](super::skipping) step had no response, so N does not count it.
//!
//! The history goes up as well, in exchanges: the inputs and the reply of a step, the oldest first. Turns stay in
//! order, and the first turn of a tier follows the documents of the tier. Empty tiers are not shown. The first symbols
//! get tiers at once, by clusters of files that refer to each other. [`tiers`](crate::tiers#the-rules) has all rules.
//!
//! ```
//! use columnar::documents::{Key, Kind, Update};
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use columnar::tiers::Tier;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered().target(0), user, self) = script(["Yes."; 9]);
//! };
//! for step in 0..9 {
//!     desk.files.push(match step {
//!         0 => Update::new().file("plan.md", "Monday").file("team.md", "Ada, Bob"),
//!         5 => Update::new().file("plan.md", "Friday"),
//!         _ => Update::new(),
//!     }).await?;
//!     desk.user.push("Is that all?").await?;
//! }
//! desk.run().await?;
//!
//! let tiers = |step, path: &'static str| -> Result<Option<(Tier, u32)>> {
//!     let (messages, key) = (desk.answer.messages(step)?, Key::new(Kind::File, path).expect("a path"));
//!     let found = messages.parts().find_map(|part| {
//!         let item = part.items().find(|item| *item.key == key)?;
//!         Some((part.tier()?, item.n))
//!     });
//!     Ok(found)
//! };
//! assert_eq!(tiers(2, "plan.md")?, Some((Tier::Active, 2)));
//! assert_eq!(tiers(3, "plan.md")?, Some((Tier::L3, 3)));          // three responses later
//! assert_eq!(tiers(4, "plan.md")?, Some((Tier::L3, 3)));          // nothing changed, so nothing moves
//! assert_eq!(tiers(5, "plan.md")?, Some((Tier::Active, 0)));      // it changed
//! assert_eq!(tiers(5, "team.md")?, Some((Tier::L3, 4)));          // L3 changed, so N goes on
//! assert_eq!(tiers(8, "plan.md")?, Some((Tier::L3, 3)));
//!
//! let messages = desk.answer.messages(5)?;
//! let moves = messages.moves().expect("there are tiers");
//! assert_eq!((moves.demotions()[0].from, moves.broken()), (Tier::L3, &[Tier::L3][..]));
//! # Ok(()) }
//! ```
//!
//! [`Part::tier`](crate::Part::tier) is the tier of a part of a context, and [`Part::items`](crate::Part::items) are
//! the documents of the part with N and tokens. [`Messages::moves`](crate::Messages::moves) says which items moved, and
//! which tiers differ from the request before. [`Messages::documents`](crate::Messages::documents) is the set of the
//! step. [`Messages::breakdown`](crate::Messages::breakdown) prints the tokens of a request by tier, L0 included.
//!
//! # The target
//!
//! A provider caches a prefix only if it is long enough. So L1 to L3 keep the first items, by N, up to a number of
//! tokens, and only the others go up. `files.tiered().target(n)` sets that number. The default is the minimum of the
//! provider times 1.5:
//!
//! | model of the column | minimum | target |
//! |---|---|---|
//! | `anthropic/claude-sonnet-5` | 1,024 | 1,536 |
//! | `anthropic/claude-opus-4-5` | 4,096 | 6,144 |
//! | one of an unknown provider | | 1,536 |
//!
//! With `target(0)`, tiers may have any size, and turns stay active. The default follows the model: with another model, the
//! contexts of past steps may have other tiers, too.
//!
//! # Choose a layout
//!
//! | | `files.compacted()` | `files` | `files.tiered()` |
//! |---|---|---|---|
//! | a document that changed | the new text is added at the end | the new text is added at the end | the new text replaces the old one |
//! | after a change, the provider's cache serves | the whole request before, apart from rewrites | the whole request before | the tiers before the one that the document left |
//! | old texts of a document | stay until they have cost as much as a rewrite | stay in the context | are gone |
//! | a request grows by | each turn, and by changes up to a bound | each turn and each change | each turn |
//!
//! These are the bills of simulated coding sessions at the prices of `anthropic/claude-sonnet-4-5`, over the bills of the same
//! sessions without a cache, with lifetimes of marks that are learnt. The first figure is with pauses of ten seconds between
//! steps, the second with pauses as long as a person thinks. The last six sessions have the sizes of commits and files in the
//! history of a project:
//!
//! | session | all files first | all files last | `files` | `files.tiered()` | `files.compacted()` | with `.edits()` |
//! |---|---|---|---|---|---|---|
//! | 12 files, most edits in two | 0.64, 0.71 | 0.34, 0.45 | 0.18, 0.22 | 0.40, 0.54 | 0.18, 0.20 | 0.18, 0.20 |
//! | 12 files, edits in any | 0.65, 0.74 | 0.32, 0.46 | 0.18, 0.21 | 0.47, 0.63 | 0.18, 0.20 | 0.18, 0.20 |
//! | 100 files, the work moves on | 0.69, 0.78 | 0.74, 0.79 | 0.14, 0.17 | 0.32, 0.45 | 0.14, 0.16 | 0.14, 0.16 |
//! | 4 long documents, replaced again and again | 0.65, 0.73 | 0.59, 0.68 | 0.49, 0.58 | 0.52, 0.70 | 0.27, 0.34 | 0.27, 0.34 |
//! | history of this repository | 1.22, 1.23 | 0.66, 0.72 | 0.57, 0.87 | 1.01, 1.02 | 0.48, 0.60 | 0.34, 0.46 |
//! | of Aider | 1.20, 1.20 | 0.79, 0.83 | 0.73, 1.12 | 0.85, 0.91 | 0.52, 0.63 | 0.28, 0.38 |
//! | of ripgrep | 1.20, 1.20 | 0.73, 0.78 | 0.74, 1.03 | 0.91, 0.95 | 0.56, 0.66 | 0.31, 0.43 |
//! | of rust-analyzer | 1.23, 1.23 | 0.64, 0.71 | 0.88, 1.41 | 0.88, 0.93 | 0.58, 0.68 | 0.41, 0.52 |
//! | of redb, by an agent | 0.79, 0.79 | 0.74, 0.75 | 0.54, 0.61 | 0.94, 0.94 | 0.31, 0.34 | 0.22, 0.24 |
//! | of quinn, with a map | 1.22, 1.22 | 0.78, 0.82 | 0.61, 0.94 | 0.94, 0.99 | 0.48, 0.58 | 0.29, 0.38 |
//!
//! The medians of all sessions, with pauses of a person:
//!
#![cfg_attr(doc, doc = include_str!("bills.svg"))]
//!
//! All files first or last is what other programs do: the current files go in front of the conversation or behind it.
//! These are no measurements at a provider. The benchmark `cost` prints the bills of eight models, with the sizes of the
//! largest requests.
//!
//! - **`files.compacted()`** is for most programs: it costs least, or about as little as `files` where documents seldom change.
//!   With `.edits()` it costs still less, if the model can apply a diff.
//! - **`files`** is cheaper than tiers as long as the old texts are short beside the rest, as with edits of code.
//! - **Tiers** are cheaper when old texts pile up, because documents change often or are long: as soon as the requests
//!   of `files` are about twice as long as the requests of tiers, or four times with short pauses. With
//!   four long documents that are replaced again and again, the requests become five times as long, which is more than most
//!   models take.
//! - **Tiers** are needed if a request must hold each document exactly once, because the model must not see text that is
//!   out of date, or if the context window is tight.
//! - **Files last** cost less than tiers if documents change often beside a long conversation. `files.compacted()` costs less
//!   than either in all of these sessions.
//!
//! Under a [budget](super::budgets), `files` shows each update in a turn, and a turn may be omitted: also the one that put a
//! document which is still there. `files.tiered()` shows every document of the step.
//!
//! # Cache marks
//!
//! A prompt marks the end of each cached tier whose prefix is as long as the provider's minimum, so four marks at most. The
//! active tier has none. [`cache_plan`](crate::flow::Handle::cache_plan) shows the marks, and
//! [`explain_cache`](crate::flow::Handle::explain_cache) the tier that changes first if the next step changes no document:
//!
//! ```
//! use columnar::cache::{CachePolicy, Pace};
//! use columnar::documents::Update;
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = script(["Yes."; 4]);
//! };
//! desk.files.push(Update::new().file("plan.md", "We launch on Monday. ".repeat(300))).await?;
//! desk.user.push("When?").await?;
//! for _ in 1..4 {
//!     desk.files.push(Update::new()).await?;
//!     desk.user.push("Really?").await?;
//! }
//! desk.run().await?;
//!
//! let provider = CachePolicy::by_model("anthropic/claude-sonnet-5");
//! let plan = |step| desk.answer.cache_plan(step, provider, Pace::batch()).map(|plan| plan.to_string());
//! let difference = |step| -> Result<_> {
//!     Ok(desk.answer.explain_cache(step)?.difference.map(|first| first.to_string()))
//! };
//! assert_eq!(plan(2)?, "no marks");                               // the file is active
//! assert_eq!(difference(2)?.as_deref(), Some("the tier L3"));     // it enters L3 at the next step
//! assert_eq!(plan(3)?, "after part 7, short lifetime, for the tier L3");
//! assert_eq!(difference(3)?, None);
//! # Ok(()) }
//! ```
//!
//! # Budgets
//!
//! A [budget](super::budgets) omits turns, never documents in tiers: these come off the limit first. Documents that alone
//! are over the limit are an error of the cell,
//! [`BudgetError::NoRoomForTurns`](crate::budget::BudgetError::NoRoomForTurns), which names the largest ones, and also a
//! legend or a tree:
//!
//! ```
//! use columnar::budget::Budget;
//! use columnar::documents::Update;
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = script(["Yes."]).budget(Budget::of(500).token_buffer(0));
//! };
//! let update = Update::new().file("plan.md", "We launch on Monday. ".repeat(100)).file("team.md", "Ada, Bob");
//! desk.files.push(update).await?;
//! desk.user.push("When?").await?;
//! let error = desk.run().await.expect_err("the documents have more than 500 tokens").to_string();
//! assert!(error.contains("the largest are `file:plan.md` with 5"), "{error}");
//! # Ok(()) }
//! ```
//!
//! # A client of your own
//!
//! The documents of L0 are in the system text, behind the instruction and the notes.
//! [`Messages::system`](crate::Messages::system) is that whole text. Without this text, a request of your own client
//! lacks the documents of L0:
//!
//! ```
//! use columnar::documents::Update;
//! use columnar::prelude::*;
//! use columnar::rendering::Rendering;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = script(["Monday."]);
//! };
//! desk.files.push(Update::new().file("plan.md", "We launch on Monday.").legend("f: a function")).await?;
//! desk.user.push("When?").await?;
//! desk.run().await?;
//!
//! let messages = desk.answer.messages(0)?;
//! let system = messages.system("Answer from the documents.");
//! assert_eq!(system, "Answer from the documents.\n\n# Repository Structure\n\n```\nf: a function\n```");
//! let body = Rendering::new(&system, &messages).anthropic();
//! assert_eq!(body["system"][0]["text"], system.as_str());
//! # Ok(()) }
//! ```
//!
//! Each text of a document is sent verbatim, in a fence that is longer than any run of backticks in the text. No text
//! ends the fence. A text can still persuade a model: a fence is no security boundary.
//!
//! # Forks and reopening
//!
//! The tiers of a step follow from the updates and the values up to that step, so tiers are never stored. A flow that
//! is opened again has the same contexts, and a fork continues with the documents and tiers of the last shared step. A
//! flow that was opened with [`recent`](crate::reopen::OpenOptions::recent) loads the earlier steps of a tiered column
//! during a run, because the tiers depend on all steps.
//!
//! # Repositories
//!
//! A request about code needs a few files in full, and of all other files only the names and symbols. With the feature
//! `repo`, a `Repository` makes the updates: the files that are selected, an entry for each other file of a known
//! language, and the tree of all files, which names each file unless `tree_limit` says less. An entry has the imports of the
//! file, the symbols with their parameters, and the files that use these symbols:
//!
#![cfg_attr(feature = "repo", doc = "```")]
#![cfg_attr(not(feature = "repo"), doc = "```ignore")]
//! use columnar::documents::{Key, Kind};
//! use columnar::prelude::*;
//! use columnar::repo::Repository;
//! use columnar::testing::script;
//! use std::fs;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let folder = tempfile::tempdir()?;
//! let root = folder.path();
//! fs::write(root.join("lexer.py"), "class Token(str):\n    pass\n\ndef lex(text: str) -> list[Token]:\n    return []\n")?;
//! fs::write(root.join("main.py"), "from lexer import lex\n\nlex(\"1 + 2\")\n")?;
//!
//! let coder = flow! {
//!     source files: Documents;
//!     source user;
//!     column reply(files.tiered(), user, self) = script(["It returns tokens.", "Done."]);
//! };
//! let mut repo = Repository::open(root)?.limit(16_000);            // tokens
//! coder.files.push(repo.select(["main.py"]).scan()?).await?;
//! coder.user.push("What does lex return?").await?;
//!
//! fs::write(root.join("main.py"), "from lexer import lex\n\nprint(lex(\"1 + 2\"))\n")?;
//! coder.files.push(repo.changed(["main.py"])?).await?;             // `scan` finds changes by itself
//! coder.user.push("Print it.").await?;
//! coder.run().await?;
//!
//! let messages = coder.reply.messages(1)?;
//! let entry = messages.documents().and_then(|all| all.get(&Key::new(Kind::Symbol, "lexer.py").ok()?));
//! assert_eq!(entry.map(|text| &**text), Some("\
//!     ← 1 file\n\
//!     c Token(str)\n\
//!     f lex(text: str) -> list[Token] ← main.py"));
//! assert!(messages.to_json().contains("print(lex"));
//! # Ok(()) }
//! ```
//!
//! An edit changes the entry of the edited file and few others. In simulated sessions of fifty edits in three
//! repositories, with a map of 32,000 tokens and a tree of 1,000, `files` costs 0.17 to 0.26 of the bill without a cache, and
//! `files.tiered()` 0.35 to 0.43, at requests that are 0.4 to 0.8 times as long. The map and the selected files in
//! front of the conversation, without tiers, cost 0.26 to 0.36: tiers write less into the cache, but the tree, the
//! files of the last edits and the newest turns are never read from the cache. The benchmark `repo` prints these bills,
//! also the bills at the pace of a person.
//!
//! A selected file that is
//! missing, binary or too large is an error that names all such files, before anything is pushed.
//! `repo.resume(&coder.files.documents().await?)` goes on with a flow that is opened again. The module `repo` has all rules.
//!
//! # Web pages
//!
//! A page is a document that is shown at one step only, the step that puts the page. A step has at most three pages.
//! With the feature `web`, a client reads the pages that a prompt names, as Markdown. A page that cannot be read is a
//! note with the reason, so the chat goes on:
//!
#![cfg_attr(feature = "web", doc = "```")]
#![cfg_attr(not(feature = "web"), doc = "```ignore")]
//! use columnar::prelude::*;
//! use columnar::testing::script;
//! use columnar::web::{Fetch, Page, WebError, WebFault};
//!
//! /// Known pages, for this test. A program has `Web::new()`.
//! struct Shelf;
//!
//! impl Fetch for Shelf {
//!     async fn fetch(&self, url: &str) -> Result<Page, WebError> {
//!         match url {
//!             "https://a.example/plan" => Ok(Page::new(url, "We launch on Monday.").with_title("The plan")),
//!             _ => Err(WebError::new(url, WebFault::Status(404))),
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = script(["On Monday.", "You are welcome."]);
//! };
//! for prompt in ["When do we launch? See https://a.example/plan and https://a.example/team.", "Thanks."] {
//!     let pages = Shelf.pages(prompt).await;
//!     pages.errors().for_each(|error| eprintln!("{error}"));      // for the person
//!     desk.files.push(pages.update()).await?;                     // `Shelf.update(prompt)` is short for both
//!     desk.user.push(prompt).await?;
//! }
//! desk.run().await?;
//!
//! let first = desk.answer.messages(0)?.to_json();
//! assert!(first.contains("# The plan") && first.contains("This page could not be read"));
//! assert!(!desk.answer.messages(1)?.to_json().contains("# The plan"));
//! # Ok(()) }
//! ```
//!
//! The client reads from the public internet alone, no matter what a URL or a redirect says, and has limits of time,
//! bytes and text. The module `web` has all limits.
//!
//! # Mistakes
//!
//! These are compile errors in `flow!`, and errors of [`flow`](crate::flow()) at run time:
//!
//! | mistake | instead |
//! |---|---|
//! | `files.latest`, `files.window(3)`, `files.prev`, `files.filter(…)`, `files.elided()` | `files` or `files.tiered()`: a set has no window |
//! | a tiered view without `self`, or with a window of `self` | all of `self`, because turns are in tiers as well |
//! | a tiered view and no view of text | add one: `(files.tiered(), user, self)` |
//! | two views of documents, one of which is tiered | one source with all documents |
//! | `files.tiered().as("code")`, a note, a group | nothing: documents in tiers are in no tag |
//! | `user.tiered()` where `user` holds text | declare `source user: Documents;` |
//!
//! [`Error::Update`](crate::Error::Update) refuses a push: a path that leads out of the folder, a document that is
//! there twice, the removal of a document that is not there, more than three pages.
//!
//! ```
//! use columnar::documents::{Kind, Update};
//! use columnar::prelude::*;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
//! let desk = flow! {
//!     source files: Documents;
//!     source user;
//!     column answer(files.tiered(), user, self) = script(["Yes."]);
//! };
//! let error = desk.files.push(Update::new().file("../up.md", "").remove(Kind::File, "old.md")).await;
//! let Err(Error::Update { step: 0, source, .. }) = error else { panic!("it has two faults") };
//! assert_eq!(source.faults().len(), 2);
//! assert!(desk.files.is_empty());                                 // nothing was stored
//! # Ok(()) }
//! ```
//!
//! `cargo run --example files -- FOLDER` is a chat over your own files that prints the tiers of each request.
//! `cargo run --example coder --features repo -- FOLDER` edits your files, and prints the costs as well.
//!
//! [← caches](super::caches) · [contents](super) · [renderings →](super::renderings)
