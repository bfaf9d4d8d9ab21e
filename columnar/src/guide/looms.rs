//! Keep conversations and stories that branch, as trees.
//!
//! Chapter 31 of 37 · [← rehearsals](super::rehearsals) · [contents](super) · [import export →](super::import_export)
//!
//! A [`Loom`](crate::loom::Loom) is a tree of texts on a store. A *node* has an author, a person or a model, and a text
//! that never changes. A node continues another node, and several nodes may continue the same one. A *path* leads from
//! a root to a node, and is what a model is asked about. You call the model and append the reply: a tree computes
//! nothing by itself.
//!
//! ```
//! use std::time::Instant;
//!
//! use columnar::loom::{Agent, Author, Edge, Loom, Mode, NodeId};
//! use columnar::model::{Chunk, End, Finish, Model};
//! use columnar::store::MemoryStore;
//! use columnar::testing::ScriptedModel;
//! use futures::TryStreamExt;
//! use serde_json::{json, to_value};
//!
//! /// Asks a model with the path to a node, and appends its reply with the receipt.
//! async fn ask(loom: &mut Loom, node: &NodeId, agent: &Agent, model: &impl Model) -> Result<NodeId, columnar::BoxError> {
//!     let asked = loom.path(node, &[])?.dialogue(agent)?;
//!     let begun = Instant::now();
//!     let mut chunks = model.reply(asked.request(agent));
//!     let mut reply = String::new();
//!     let mut end = End::new(Finish::Stop);
//!     while let Some(chunk) = chunks.try_next().await? {
//!         match chunk {
//!             Chunk::Text(text) => reply += &text,
//!             Chunk::End(last) => end = last,
//!             _ => {}
//!         }
//!     }
//!     Ok(loom.append_reply(node, reply, &end.receipt("scripted", begun.elapsed())).await?)
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let model = ScriptedModel::new(|request| format!("reply to {}", request.messages.last_text()));
//! let agent = Agent::new("You tell stories.");
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//!
//! let who = loom.append(Edge::root(), Author::Human, "Who lives there?").await?;
//! let first = ask(&mut loom, &who, &agent, &model).await?;
//! let again = ask(&mut loom, &who, &agent, &model).await?;        // another reply, beside the first one
//! let why = loom.append(&first, Author::Human, "Why?").await?;
//! assert_eq!(loom.continuations(&who).len(), 2);
//! assert_eq!(loom.node(&again).map(|node| node.text()), Some("reply to Who lives there?"));
//! assert_eq!(loom.usage().calls, 2);                              // what the tree has cost
//!
//! let asked = loom.path(&why, &[])?.dialogue(&agent)?;
//! assert_eq!(asked.system(), Some("You tell stories."));
//! assert_eq!(to_value(asked.messages())?, json!([
//!     { "role": "user",      "content": "Who lives there?" },
//!     { "role": "assistant", "content": "reply to Who lives there?" },
//!     { "role": "user",      "content": "Why?" },
//! ]));
//! # Ok(()) }
//! ```
//!
//! Texts have no tags and are not escaped, because the texts are the conversation itself. An
//! [`Agent`](crate::loom::Agent) has the settings of the requests: system text, budget, length of the reply,
//! temperature. [`Tree`](crate::loom::Tree) is the same without a store; a `Loom` reads like a tree.
//! [Flows](super::first) are for work that has the same columns at each step, and a tree is for texts that people and
//! models write in any order.
//!
//! # Edits, versions and the two modes
//!
//! An edit is a new node, and the original stays. The mode of the tree, which never changes, decides what follows the
//! edit:
//!
//! | mode | an edited node | a request |
//! |---|---|---|
//! | `Dialogue` | is a sibling, and the conversation goes on from either | [`path.dialogue(&agent)`](crate::loom::Path::dialogue): messages |
//! | `Buffer` | is a version: all that follows the original follows it, too | [`path.buffer(text, &agent)`](crate::loom::Path::buffer): one text |
//!
//! ```
//! use columnar::loom::{Agent, Author, Edge, Loom, Mode};
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let agent = Agent::new("");
//! let mut text = Vec::new();
//! for mode in [Mode::Dialogue, Mode::Buffer] {
//!     let mut loom = Loom::open(MemoryStore::new(), mode).await?;
//!     let fox = loom.append(Edge::root(), Author::Human, "A fox").await?;
//!     let slept = loom.append(&fox, Author::Model, " slept").await?;
//!     let wolf = loom.edit(&fox, Author::Human, "A wolf").await?;
//!     assert_eq!(loom.versions(&fox).len(), 2);
//!     assert_eq!(loom.continuations(&wolf).len(), if mode == Mode::Buffer { 1 } else { 0 });
//!
//!     text.push(loom.path(&slept, &[])?.buffer(" until", &agent)?.text().into_owned());
//!     if mode == Mode::Buffer {
//!         let path = loom.path(&slept, &[fox])?;                  // the version is chosen
//!         assert_eq!(path.buffer("", &agent)?.text(), "A fox slept");
//!     }
//! }
//! assert_eq!(text, ["A fox slept until", "A wolf slept until"]);
//! # Ok(()) }
//! ```
//!
//! Both requests exist in both modes: a story may be sent as messages, and a conversation read as one text. `buffer`
//! puts nothing between the texts. The first argument of `buffer` is text that is no node yet. The request has no
//! system text, unless [`set_system_in_buffer`](crate::loom::Loom::set_system_in_buffer) says so; the text of the agent
//! that is not sent is [`asked.unsent_system()`](crate::loom::Assembled::unsent_system).
//!
//! # Sources
//!
//! A node may be made from several others, by an [`Edge`](crate::loom::Edge). A *context* source is shown before the
//! node that is continued, and an *instruction* source ends the system text, as for the [views](super::purposes) of a
//! flow. Never use text that you do not trust as an instruction. An annotation is a remark about a node, which a path
//! shows if it is included.
//!
//! ```
//! use columnar::loom::{Agent, Author, Edge, Loom, Mode};
//! use columnar::store::MemoryStore;
//! use serde_json::{json, to_value};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! loom.set_system(Some("The house is at the sea.")).await?;
//! let who = loom.append(Edge::root(), Author::Human, "Who lives there?").await?;
//! let photo = loom.aside(Author::Human, "A woman with a telescope.").await?;
//! let rule = loom.aside(Author::Human, "Answer in one word.").await?;
//! let note = loom.annotate(&who, Author::Human, "I ask for my book.").await?;
//!
//! let edge = Edge::from(&who).context(&photo).instruction(&rule);
//! let mut path = loom.path(&edge, &[])?;
//! path.include(&note)?;
//! let asked = path.dialogue(&Agent::new("You tell stories."))?;
//! assert_eq!(asked.system(), Some("You tell stories.\n\nThe house is at the sea.\n\nAnswer in one word."));
//! assert_eq!(to_value(asked.messages())?, json!([
//!     { "role": "user", "content": "A woman with a telescope.\n\nWho lives there?\n\nI ask for my book." },
//! ]));
//! loom.append(edge, Author::Model, "Caroline.").await?;           // later paths have the same sources
//! # Ok(()) }
//! ```
//!
//! # Images
//!
//! A [`Text`](crate::Text) with attachments can be the text of any node. In a dialogue the attachments stand behind that
//! text, so the image of a context source stands before the question. No provider takes media in a reply or in a system
//! text, and a buffer is one text: words stand in their place there.
//!
//! ```
//! use columnar::loom::{Agent, Author, Edge, Loom, Mode};
//! use columnar::rendering::Rendering;
//! use columnar::store::MemoryStore;
//! use columnar::{Attachment, Text};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! let plan = Attachment::new(*b"GIF89a\x01\0\x01\0\0\0\0;")?;           // or `Attachment::open("plan.gif").await?`
//! let plan = plan.alt("A plan of the house.");
//! let plan = loom.aside(Author::Human, Text::new("").with(plan)).await?;
//! let who = loom.append(Edge::root(), Author::Human, "Where is the kitchen?").await?;
//!
//! let edge = Edge::from(&who).context(&plan);
//! let asked = loom.path(&edge, &[])?.dialogue(&Agent::new(""))?;
//! let request = Rendering::new("", asked.messages()).anthropic();
//! assert_eq!(request["messages"], json!([{ "role": "user", "content": [
//!     { "type": "image", "source": {
//!         "type": "base64", "media_type": "image/gif", "data": "R0lGODlhAQABAAAAADs=",
//!     } },
//!     { "type": "text", "text": "\n\nWhere is the kitchen?" },
//! ] }]));
//! assert_eq!(loom.path(&edge, &[])?.buffer("", &Agent::new(""))?.text(), "[A plan of the house.]Where is the kitchen?");
//! # Ok(()) }
//! ```
//!
//! # Marks, and requests as they were
//!
//! A request leaves out an *excluded* node; what follows the node stays. *Pruned* does the same for a node and
//! everything that follows it at that time. *Bookmarked* changes no request. All marks can be removed, and
//! [`asked`](crate::loom::Tree::asked) is the path to the request for a node, with the marks of that moment.
//!
//! ```
//! use columnar::loom::{Agent, Author, Edge, Loom, Mark, Mode};
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let agent = Agent::new("");
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! let who = loom.append(Edge::root(), Author::Human, "Who?").await?;
//! let ada = loom.append(&who, Author::Model, "Ada.").await?;
//! let why = loom.append(&ada, Author::Human, "Why?").await?;
//! let reply = loom.append(&why, Author::Model, "She likes it.").await?;
//!
//! loom.mark(&ada, Mark::Excluded, true).await?;
//! let now = loom.path(&why, &[])?;
//! assert_eq!(now.dialogue(&agent)?.text(), "Who?\n\nWhy?");       // one message of the user
//! assert_eq!(now.dropped().map(|turn| turn.id()).collect::<Vec<_>>(), [&ada]);
//!
//! let before = loom.asked(&reply, &[])?;
//! assert_eq!(before.turns().map(|turn| turn.text()).collect::<Vec<_>>(), ["Who?", "Ada.", "Why?"]);
//! # Ok(()) }
//! ```
//!
//! # Costs and branches
//!
//! A node of a reply keeps the [receipt](crate::usage::Receipt) of the call. `usage()` adds up the receipts of a path or of
//! a tree, as the [bill](super::costs) of a flow does. [`compare`](crate::loom::Path::compare) puts two paths beside each
//! other: the node after which they part, and the nodes, tokens and receipts that only one of them has.
//!
//! ```
//! use columnar::loom::{Author, Edge, Loom, Mode};
//! use columnar::store::MemoryStore;
//! use columnar::tokens::Estimate;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! let who = loom.append(Edge::root(), Author::Human, "Who lives there?").await?;
//! let receipt = r#"{"model":"openai/gpt-5.4-mini","calls":1,"input":120,"output":8,"ms":640}"#.parse()?;
//! let ada = loom.append_reply(&who, "Ada.", &receipt).await?;
//! let caroline = loom.append(&who, Author::Human, "Say it in French.").await?;
//!
//! let compared = loom.path(&ada, &[])?.compare(&loom.path(&caroline, &[])?, &Estimate);
//! assert_eq!(compared.to_string(), format!("\
//! both: {who} human  Who lives there?
//! left: 1 node, 1 tokens
//!   1 call, 120 tokens in, 8 out, $0.000126, 0.6 s
//!   {ada} model  Ada.
//! right: 1 node, 5 tokens
//!   {caroline} human  Say it in French."));
//! assert_eq!(loom.path(&ada, &[])?.usage(), loom.usage());
//! # Ok(()) }
//! ```
//!
//! # Budgets
//!
//! A [budget](super::budgets) omits whole nodes. A field that the agent leaves open comes from the budget of the tree,
//! then from the budget of the program. The result has a report, and the nodes that were omitted.
//!
//! ```
//! use columnar::budget::Budget;
//! use columnar::loom::{Agent, Author, Edge, Loom, Mode, NodeId};
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! loom.set_budget(Budget::of(45).token_buffer(0)).await?;        // no reserve for the reply
//! let mut nodes: Vec<NodeId> = Vec::new();
//! for (step, author) in [Author::Human, Author::Model].into_iter().cycle().take(10).enumerate() {
//!     let from = nodes.last().map_or_else(Edge::root, Edge::from);
//!     nodes.push(loom.append(from, author, format!("{step:036}")).await?);     // ten tokens with the separator
//! }
//! let asked = loom.path(&nodes[9], &[])?.dialogue(&Agent::new("").budget(Budget::new().rolling_window()))?;
//! assert!(asked.elided().eq(&nodes[..6]));
//! assert!(asked.report().is_some_and(|report| (report.before, report.after) == (100, 40)));
//! # Ok(()) }
//! ```
//!
//! # Agents that know the tree
//!
//! With [`Aware`](crate::loom::Aware) a model sees the id and the author of each node, the position in the tree, and
//! what you [remember](crate::loom::Memory) for that model. The same tree leads to the same text, unless ages are
//! shown.
//!
//! ```
//! use columnar::loom::{Agent, Author, Aware, Edge, Loom, Memory, Mode};
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! let who = loom.append(Edge::root(), Author::Human, "Who lives there?").await?;
//! let aware = Aware::new("The house").memory(Memory::new().pin_text("name", "She is Ada."));
//! let asked = loom.path(&who, &[])?.dialogue(&Agent::new("").aware(aware))?;
//! assert_eq!(asked.text(), format!("\
//! === Loom Context ===
//! Tree: \"The house\" (dialogue mode)
//! 1 node · 1 branch · depth: 0
//! Position: [{who}]*
//! ===
//!
//! [{who}] human
//! ---
//! Who lives there?"));
//! assert!(asked.system().is_some_and(|system| system.contains("name: \"She is Ada.\"")));
//! # Ok(()) }
//! ```
//!
//! # Stores, import and export
//!
//! A tree is kept in any [store](super::stores), and each change is stored before the tree makes it. In a folder each
//! node is a file with the text of the node. A store has one owner at a time, and holds a flow or a tree.
//! [`export`](crate::loom::export) writes JSON in the format Open Loom 2.0 for other programs, without budgets and the
//! history of marks. [`import`](crate::loom::import) reads that format.
//!
//! ```
//! use columnar::loom::{Author, Edge, Loom, Mode, export, import};
//! use columnar::store::MemoryStore;
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let store = MemoryStore::new();
//! let mut loom = Loom::open(store.clone(), Mode::Dialogue).await?;
//! let who = loom.append(Edge::root(), Author::Human, "Who lives there?").await?;
//! loom.append(&who, Author::Model, "Ada.").await?;
//! drop(loom);
//!
//! let loom = Loom::open(store, Mode::Dialogue).await?;
//! let imported = &import(&export(&loom, "house", "The house"))?[0];
//! let mut copy = Loom::open(MemoryStore::new(), imported.tree.mode()).await?;
//! for change in imported.tree.changes() {
//!     copy.change(change).await?;
//! }
//! assert_eq!(copy.node(&who).map(|node| node.text()), Some("Who lives there?"));
//! # Ok(()) }
//! ```
//!
//! # From a flow
//!
//! The turns of a flow and the turns of all [forks](super::forks) become one tree. Each column that has a place in the
//! conversation is an author; the other columns stay in the flow.
//!
//! ```
//! use columnar::loom::{Agent, Author, Edge, Loom, Mode, NodeId};
//! use columnar::prelude::*;
//! use columnar::store::MemoryStore;
//! use columnar::testing::script;
//!
//! flow! {
//!     struct Chat {
//!         source user;
//!         column answer(user, self) = script(["Ada.", "She likes it."]);
//!     }
//! }
//!
//! /// Appends the steps after those that have a reply in `replies`.
//! async fn add(loom: &mut Loom, chat: &Chat, replies: &mut Vec<NodeId>) -> Result<(), columnar::BoxError> {
//!     for step in replies.len()..chat.user.len() {
//!         let (Some(user), Some(answer)) = (chat.user.get(step), chat.answer.get(step)) else { break };
//!         let from = replies.last().map_or_else(Edge::root, Edge::from);
//!         let question = loom.append(from, Author::Human, &*user).await?;
//!         replies.push(loom.append(&question, Author::Model, &*answer).await?);
//!     }
//!     Ok(())
//! }
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
//! let chat = Chat::new();
//! chat.user.push("Who?").await?;
//! chat.user.push("Why?").await?;
//! let fork = chat.fork(1)?;                                       // it has step 0
//! fork.user.push("Since when?").await?;
//! chat.run().await?;
//! fork.run().await?;
//!
//! let mut loom = Loom::open(MemoryStore::new(), Mode::Dialogue).await?;
//! let mut replies = Vec::new();
//! add(&mut loom, &chat, &mut replies).await?;
//! let mut replies_of_fork = replies[..1].to_vec();
//! add(&mut loom, &fork, &mut replies_of_fork).await?;
//! assert_eq!((loom.len(), loom.continuations(&replies[0]).len()), (6, 2));
//! let text = loom.path(&replies_of_fork[1], &[])?.buffer("", &Agent::new(""))?.text().into_owned();
//! assert_eq!(text, "Who?Ada.Since when?She likes it.");
//! # Ok(()) }
//! ```
//!
//! # Mistakes
//!
//! Errors name nodes, and never show texts. A refused operation changes and stores nothing.
//!
//! | mistake | error | instead |
//! |---|---|---|
//! | an id of another tree | [`TreeError::UnknownNode`](crate::loom::TreeError::UnknownNode) | ids that this tree returned |
//! | `loom.link(&late, &early)`, if `late` follows `early` | [`TreeError::Cycle`](crate::loom::TreeError::Cycle) | a new node with that text |
//! | a path to a node that several edges lead to | [`TreeError::Ambiguous`](crate::loom::TreeError::Ambiguous) | `loom.path(&node, &[source])` |
//! | a choice that is not on the path | [`TreeError::NotOnPath`](crate::loom::TreeError::NotOnPath) | a source or a version on the way |
//! | a path whose nodes are all excluded, pruned or blank | [`LoomError::Empty`](crate::loom::LoomError::Empty) | include at least one node |
//! | a budget that never truncates, and a long path | [`LoomError::OverLimit`](crate::loom::LoomError::OverLimit), with the largest nodes | exclude some nodes, or truncate |
//! | no budget, and a path far over the window of the agent's model | [`LoomError::Window`](crate::loom::LoomError::Window) | a budget, or fewer nodes |
//! | a stored tree that is opened in the other mode | [`LoomError::Mode`](crate::loom::LoomError::Mode) | the mode of the stored tree |
//! | a store of a flow | [`LoomError::Store`](crate::loom::LoomError::Store) | a store for each |
//!
//! `cargo run --example loom -- FOLDER` is a conversation that branches, in the terminal.
//!
//! [← rehearsals](super::rehearsals) · [contents](super) · [import export →](super::import_export)
