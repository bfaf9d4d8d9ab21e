//! A repository as documents: the files that a person selected in full, and a map of the symbols of all others.
//!
//! ```text
//!  files ──▶ symbols ──▶ references ──▶ entries ──▶ limit ──▶ Update
//!  walk      syntax       index          entry       map       repository
//! ```
//!
//! A [`Repository`] makes the [`Update`](crate::documents::Update)s of a source of documents: the first one has everything,
//! and each later one the changes on disk.
//!
//! ```
//! use columnar::prelude::*;
//! use columnar::repo::Repository;
//! use columnar::testing::script;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let folder = tempfile::tempdir()?;
//! let root = folder.path();
//! std::fs::write(root.join("parser.rs"), "pub struct Parser;\nimpl Parser { pub fn parse(&self, text: &str) {} }\n")?;
//! std::fs::write(root.join("main.rs"), "mod parser;\nfn main() { parser::Parser.parse(\"\") }\n")?;
//!
//! let coder = flow! {
//!     source files: Documents;
//!     source user;
//!     column reply(files.tiered(), user, self) = script(["It calls `Parser::parse`.", "Done."]);
//! };
//! let mut repo = Repository::open(root)?;
//! coder.files.push(repo.select(["main.rs"]).scan()?).await?;
//! coder.user.push("Does `main` parse anything?").await?;
//!
//! std::fs::write(root.join("main.rs"), "fn main() {}\n")?;        // a person edits
//! coder.files.push(repo.scan()?).await?;
//! coder.user.push("And now?").await?;
//! coder.run().await?;
//!
//! let shown = coder.reply.messages(1)?.to_json();
//! assert!(shown.contains("fn main() {}") && !shown.contains("Parser.parse"));
//! assert!(shown.contains("parse(&self, text: &str)"));             // the map of the other file
//! # Ok(()) }
//! ```
//!
//! # Which files
//!
//! The files that git would add: `.gitignore` and its relatives count, in a folder without git as well. Those above the
//! folder count up to the top of its repository; a folder in no repository has its own alone. The folders of version control
//! are left out, and other hidden files are not. Links are not followed.
//!
//! - A [selected](Repository::select) file is shown in full, also if it is ignored. One that cannot be shown is an error, and
//!   [`RepoError`] names all of them: missing, binary, not UTF-8, larger than [`MAX_FILE_BYTES`], outside of the repository, a
//!   link, changing while it is read.
//! - Every other file is in the file tree, unless the program sets a [limit](Repository::tree_limit) of the tree. A file of a
//!   known language has an entry in the map.
//! - Files that cannot be read, and names that no document can have, are left out.
//!   [`Repository::skipped`] lists them.
//!
//! # The map
//!
//! The languages are Rust, Python, JavaScript, TypeScript, C, C++ and Go, by the extension of a file. An entry has the
//! imports of the file, its symbols with parameters and types, the files that each symbol uses, and those that use it.
//! A file with errors of syntax has the symbols that its grammar finds. One without any is in the file tree alone.
//!
//! A parse has a bound in work and memory, by counts that are the same on every machine. Code is far below the bound. A text
//! that is not has no entry: the legend counts it among the files without one, and [`Repository::skipped`] names it as
//! [`FileFault::Tangled`].
//!
//! References go by name: a name refers to the file that defines it outside of any class, trait or implementation, if an
//! import has the name, or an import or a path in the text has the name of the file or its folder. In Go, an import ends with
//! the last two parts of the folder. If several files are possible, the imports decide, then the folders in common; a name
//! that more than eight files define refers to none. Tests count separately, and no other file refers to them.
//!
//! The map has a [limit](Repository::limit). The files to which most others refer have entries, and the legend says how many
//! have none. An entry enters when its file is among the first 90 % of the limit, and leaves when it is not in the limit.
//! No entry names lines, and long lists have rounded counts, so an edit changes few entries besides its own.
//!
//! # Cost
//!
//! A scan reads the status of each file, and the text of those that changed. [`Repository::changed`] looks at some files
//! only. Both read and parse on the thread of the caller, and many files on all processors, so call them in
//! `tokio::task::spawn_blocking` where a thread must not wait. A [handle](Repository::handle) stops them when it is dropped.

mod entry;
mod error;
mod index;
mod life;
mod map;
mod parse;
mod paths;
mod read;
mod repository;
mod syntax;
mod tree;
mod walk;

pub use error::{FileFault, RepoError};
pub use life::ScanHandle;
pub use repository::Repository;

/// The size of the largest file that is read, in bytes.
pub const MAX_FILE_BYTES: u64 = 1_000_000;
