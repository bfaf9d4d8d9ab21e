//! The requests of a path: messages in dialogue mode, one text in buffer mode.
//!
//! ```text
//! Path ──▶ turns ──▶ context::Transcript ──▶ Assembled ──▶ Request
//! ```

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::sync::Arc;

use super::agent::Agent;
use super::error::LoomError;
use crate::context::budget::{Report, program_default};
use crate::context::tree::{Author, NodeId, Path};
use crate::context::{
    ContextForm, ContextSettings, Messages, Origin, Role, Transcript, TranscriptError, TranscriptOptions,
    join,
};
use crate::declare::{Name, Purpose};
use crate::history::Value;
use crate::model::rendering::Request;
use crate::model::{ContextWindow, MaxTokens, MediaRules};

/// A request for a path: a system text and messages. Made by [`Path::dialogue`](super::Path::dialogue) and
/// [`Path::buffer`](super::Path::buffer).
#[derive(Clone)]
pub struct Assembled {
    transcript: Transcript,
    system: String,
    /// The system text that a request in buffer mode leaves out.
    unsent_system: String,
    /// The node of each turn; `None` for text that is no node yet.
    nodes: Vec<Option<NodeId>>,
}

/// The turns of a request before the assembly.
#[derive(Default)]
struct RequestDraft {
    turns: Vec<(Role, Value)>,
    nodes: Vec<Option<NodeId>>,
    instructions: Vec<Arc<str>>,
    unsent_system: String,
}

impl Path<'_> {
    /// The request of the path as messages: the texts of people are messages of the user, the texts of models messages
    /// of the assistant.
    ///
    /// - The system text is the text of the agent, then the text of the tree, then the instruction sources of the path.
    ///   Blank ones are omitted.
    /// - Context sources come before the primary source of the same edge, as text of the user.
    /// - Attachments stand behind the text of the node. In the system text and in texts of models they are words, because no
    ///   provider takes media there.
    /// - Blank nodes without attachments are omitted. Neighbours of the same role are one message, with an empty line between the texts.
    ///   Texts are sent as stored: without tags, and not escaped.
    /// - An array that would begin with the assistant begins with the message `<elided/>` of the user.
    /// - A [budget](crate::budget) omits whole nodes. The newest one stays in any case.
    ///
    /// ```
    /// use columnar::loom::{Agent, Author, Edge, Mode, Tree};
    /// use serde_json::{json, to_value};
    ///
    /// let mut next = 0_u64;
    /// let mut dice = || {
    ///     next += 1;
    ///     next << 44
    /// };
    /// let mut tree = Tree::new(Mode::Dialogue);
    /// tree.set_system(Some("The house is at the sea."))?;
    /// let question = tree.append(&mut dice, Edge::root(), Author::Human, "Who lives there?")?;
    /// let photo = tree.aside(&mut dice, Author::Human, "A woman with a telescope.")?;
    /// let rule = tree.aside(&mut dice, Author::Human, "Answer in one word.")?;
    ///
    /// let edge = Edge::from(&question).context(&photo).instruction(&rule);
    /// let agent = Agent::new("You tell stories.");
    /// let asked = tree.path(edge, &[])?.dialogue(&agent)?;
    /// assert_eq!(asked.system(), Some("You tell stories.\n\nThe house is at the sea.\n\nAnswer in one word."));
    /// assert_eq!(to_value(asked.messages())?, json!([
    ///     { "role": "user", "content": "A woman with a telescope.\n\nWho lives there?" },
    /// ]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`LoomError::Empty`] if no node of the path is shown.
    /// - [`LoomError::OverLimit`] if the budget never truncates and the path is longer, [`LoomError::NoRoom`] if the
    ///   reply and the system text leave no tokens for a message.
    /// - [`LoomError::Window`] if the request has far more tokens than the window of the agent's model, and no budget.
    pub fn dialogue(&self, agent: &Agent) -> Result<Assembled, LoomError> {
        let mut draft = RequestDraft::default();
        for turn in self.turns().filter(|turn| !turn.is_blank()) {
            let text = turn.node().value();
            let role = match (turn.purpose(), turn.author()) {
                (Purpose::Instruction, _) => {
                    draft.instructions.push(text.in_words().into());
                    continue;
                }
                (Purpose::Primary, Author::Model) => Role::Assistant,
                _ => Role::User,
            };
            let text = match &agent.aware {
                Some(aware) => aware.with_header(&turn, &text),
                None => text,
            };
            draft.turns.push((role, text));
            draft.nodes.push(Some(turn.id().clone()));
        }
        let mut system = Cow::Borrowed(agent.system.as_str());
        if let Some(aware) = &agent.aware {
            aware.add_position(self, &mut draft.turns, &mut draft.nodes);
            system = aware.with_addendum(&agent.system).into();
            draft.instructions.extend(aware.memory.block(self.tree()).map(Arc::from));
        }
        let settings = ContextSettings {
            form: ContextForm::Conversation,
            instruction: Some(&system),
            is_after: false,
            system: self.system().map(Arc::from),
            media: MediaRules::by_model(&agent.model),
        };
        draft.assemble(self, agent, settings)
    }

    /// The request of the path as one text: the texts of all nodes as stored, one after another, and at the end a text
    /// that is no node yet. One text has no media, so words stand in place of attachments, behind an empty line. The request stays the same when that end becomes a node.
    ///
    /// The request has no system text unless the [tree](super::Tree::set_system_in_buffer) says so:
    /// [`Assembled::unsent_system`] is the text that is left out. A
    /// [budget](crate::budget) omits whole nodes. The newest text stays in any case.
    ///
    /// ```
    /// use columnar::loom::{Agent, Author, Edge, Mode, Tree};
    ///
    /// let mut next = 0_u64;
    /// let mut dice = || {
    ///     next += 1;
    ///     next << 44
    /// };
    /// let mut tree = Tree::new(Mode::Buffer);
    /// let start = tree.append(&mut dice, Edge::root(), Author::Human, "Once there was")?;
    /// let fox = tree.append(&mut dice, &start, Author::Model, " a fox")?;
    /// let asked = tree.path(&fox, &[])?.buffer(" who", &Agent::new("You write."))?;
    /// assert_eq!((&*asked.text(), asked.system()), ("Once there was a fox who", None));
    ///
    /// tree.edit(&mut dice, &fox, Author::Human, " a wolf")?;
    /// let next = tree.append(&mut dice, &fox, Author::Human, " who")?;
    /// assert_eq!(tree.path(&next, &[])?.buffer("", &Agent::new(""))?.text(), "Once there was a wolf who");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`dialogue`](Self::dialogue).
    pub fn buffer(&self, working: &str, agent: &Agent) -> Result<Assembled, LoomError> {
        let mut draft = RequestDraft::default();
        let has_system = self.is_system_in_buffer();
        for turn in self.turns() {
            let text = turn.node().value().in_words();
            if turn.purpose() == Purpose::Instruction {
                draft.instructions.push(text.into());
                continue;
            }
            let role = if turn.author() == Author::Model { Role::Assistant } else { Role::User };
            draft.turns.push((role, text));
            draft.nodes.push(Some(turn.id().clone()));
        }
        if !working.is_empty() {
            draft.turns.push((Role::User, working.into()));
            draft.nodes.push(None);
        }
        if !has_system {
            let texts = [Some(agent.system.as_str()), self.system()].into_iter().flatten();
            let instructions = std::mem::take(&mut draft.instructions);
            draft.unsent_system = join(texts.chain(instructions.iter().map(|text| &**text)));
        }
        let settings = ContextSettings {
            form: ContextForm::Document,
            instruction: Some(if has_system { &agent.system } else { "" }),
            is_after: false,
            system: self.system().filter(|_| has_system).map(Arc::from),
            media: MediaRules::by_model(&agent.model),
        };
        draft.assemble(self, agent, settings)
    }
}

impl RequestDraft {
    fn assemble(
        self,
        path: &Path<'_>,
        agent: &Agent,
        settings: ContextSettings<'_>,
    ) -> Result<Assembled, LoomError> {
        let Self { turns, nodes, instructions, unsent_system } = self;
        if turns.is_empty() {
            return Err(LoomError::Empty { node: path.all().last().map(|turn| turn.id().clone()) });
        }
        let budget = agent.budget.or(&path.budget()).or(&program_default());
        let budget = ContextWindow::limit(&agent.model, budget);
        let instructions: Vec<&str> = instructions.iter().map(|text| &**text).collect();
        let instruction = settings.instruction.unwrap_or_default();
        let options = TranscriptOptions {
            user: Name::known("human"),
            assistant: Name::known("model"),
            instructions: &instructions,
            settings,
            budget: &budget,
            counter: Arc::clone(&agent.counter),
        };
        // A path is assembled as a column is, so that budgets, marks, renderings and breakdowns exist once.
        let transcript = Transcript::new(&turns, options);
        let transcript = transcript.map_err(|error| match error {
            TranscriptError::NoRoom(source) => LoomError::NoRoom { source },
            TranscriptError::OverLimit { tokens, limit, sizes } => {
                let by_node = nodes.iter().cloned().zip(sizes).filter_map(|(node, size)| Some((node?, size)));
                let mut contributors: Vec<_> = by_node.collect();
                contributors.sort_by_key(|(_, tokens)| Reverse(*tokens));
                let others = tokens - contributors.iter().map(|(_, tokens)| tokens).sum::<usize>();
                LoomError::OverLimit { tokens, limit, contributors, others }
            }
        })?;
        let messages = &transcript.messages;
        let tokens = messages.system_tokens() + messages.tokens();
        let window = ContextWindow::by_model(&agent.model);
        if let Some(window) = window.filter(|window| window.is_exceeded_by(tokens)) {
            let model = agent.model.clone();
            return Err(LoomError::Window { model, tokens, window: window.most_input });
        }
        let system = messages.system(instruction);
        Ok(Assembled { transcript, system, unsent_system, nodes })
    }
}

impl Assembled {
    /// The system text; `None` if there is none. A provider without a field for system texts gets the text as the
    /// convention of the model demands: see [`Rendering`](crate::rendering::Rendering).
    pub fn system(&self) -> Option<&str> {
        Some(self.system.as_str()).filter(|system| !system.is_empty())
    }

    /// The system text that the request leaves out, because it is one of buffer mode and the
    /// [tree](super::Tree::set_system_in_buffer) does not say otherwise: the text of the agent, of the tree, and the
    /// instructions of the path. `None` if nothing is left out.
    ///
    /// ```
    /// use columnar::loom::{Agent, Author, Edge, Mode, Tree};
    ///
    /// let mut tree = Tree::new(Mode::Buffer);
    /// let start = tree.append(&mut || 7, Edge::root(), Author::Human, "Once there was")?;
    /// let agent = Agent::new("You write in old English.");
    /// let asked = tree.path(&start, &[])?.buffer("", &agent)?;
    /// assert_eq!((asked.system(), asked.unsent_system()), (None, Some("You write in old English.")));
    ///
    /// tree.set_system_in_buffer(true)?;
    /// let asked = tree.path(&start, &[])?.buffer("", &agent)?;
    /// assert_eq!((asked.system(), asked.unsent_system()), (Some("You write in old English."), None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn unsent_system(&self) -> Option<&str> {
        Some(self.unsent_system.as_str()).filter(|text| !text.is_empty())
    }

    /// The messages. In buffer mode there is one message, with the whole text.
    pub fn messages(&self) -> &Messages {
        &self.transcript.messages
    }

    /// The text of the last message. In buffer mode that is the whole text.
    pub fn text(&self) -> Cow<'_, str> {
        self.messages().last_text()
    }

    /// The report of the truncation to the budget; `None` without a budget.
    pub fn report(&self) -> Option<&Report> {
        self.messages().report()
    }

    /// The nodes that the budget omits, in order.
    pub fn elided(&self) -> impl Iterator<Item = &NodeId> {
        let omitted = self.nodes.get(self.transcript.omitted.clone()).unwrap_or_default();
        omitted.iter().flatten()
    }

    /// The nodes that the messages show, in order.
    pub fn nodes(&self) -> impl Iterator<Item = &NodeId> {
        let omitted = &self.transcript.omitted;
        let shown = self.nodes.iter().enumerate().filter(|(turn, _)| !omitted.contains(turn));
        shown.filter_map(|(_, node)| node.as_ref())
    }

    /// The node that a [part](crate::Part::origin) of the messages shows. `None` for text that is no node yet, and for a
    /// part of other messages.
    ///
    /// ```
    /// use columnar::loom::{Agent, Author, Edge, Mode, Tree};
    ///
    /// let mut tree = Tree::new(Mode::Dialogue);
    /// let question = tree.append(&mut || 7, Edge::root(), Author::Human, "Why?")?;
    /// let asked = tree.path(&question, &[])?.dialogue(&Agent::new(""))?;
    /// let first = asked.messages().parts().next().and_then(|part| part.origin()).expect("it shows a node");
    /// assert_eq!(asked.node(&first), Some(&question));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn node(&self, origin: &Origin<'_>) -> Option<&NodeId> {
        let role = if origin.column == self.messages().column() { Role::Assistant } else { Role::User };
        self.nodes.get(self.transcript.turn(role, origin.step)?)?.as_ref()
    }

    /// A request for any [`Model`](crate::model::Model), by the settings of an agent.
    pub fn request(&self, agent: &Agent) -> Request {
        Request {
            system: self.system.as_str().into(),
            messages: self.messages().clone(),
            follow_up: Vec::new(),
            max_tokens: agent.max_tokens.unwrap_or_else(|| MaxTokens::by_model(&agent.model).default),
            settings: agent.settings.clone(),
            schema: None,
            pace: agent.pace,
            media: MediaRules::by_model(&agent.model).unwrap_or(&MediaRules::ANY),
            may_wait: true,
        }
    }
}

/// Ids and numbers only. The texts would fill a screen.
impl fmt::Debug for Assembled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Assembled")
            .field("nodes", &self.nodes)
            .field("omitted", &self.transcript.omitted)
            .field("report", &self.report())
            .field("unsent_system", &self.unsent_system.len())
            .finish_non_exhaustive()
    }
}
