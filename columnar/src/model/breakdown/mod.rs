//! The breakdown of a request: where the tokens go.
//!
//! ```text
//! Messages, instruction ──▶ Breakdown ──▶ a table, JSON
//! ```
//!
//! Each part of the messages knows its tokens, and the breakdown adds up the tokens by tier or column. The sums are
//! the tokens of the request. A breakdown has keys, names and numbers, and no text of a document or a value.

mod json;
mod table;

use crate::context::budget::Report;
use crate::context::documents::{Key, Kind};
use crate::context::tiers::{Moves, Tier};
use crate::context::{Messages, Section, TieredDocument};
use crate::declare::Name;
use crate::history::tokens::Counter;
use crate::model::cache::{CachePlan, Reason};
use crate::model::registry::{ContextWindow, MaxTokens};
use crate::model::usage::{Receipt, Total, Usage};

impl Messages {
    /// The tokens of a request with these messages under an instruction, by tier or by column. A
    /// [`prompt`](crate::prompt) sends the instruction with which it was made.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello! My name is Ada.").await?;
    /// chat.run().await?;
    /// chat.user.push("What is my name?").await?;
    ///
    /// let messages = chat.answer.messages(1)?;
    /// let breakdown = messages.breakdown("Be brief.");
    /// assert_eq!(breakdown.tokens, breakdown.instruction + messages.tokens());
    /// assert_eq!((&*breakdown.columns[0].column, breakdown.columns[0].values), ("user", 2));
    /// # Ok(()) }
    /// ```
    pub fn breakdown(&self, instruction: &str) -> Breakdown {
        let counter = self.counter();
        let snapshot = self.snapshot();
        let [constant, without_notes] = self.overhead().system_tokens(&snapshot.reads, instruction);
        // A tokenizer may join the end of a text with the next text.
        let without_notes = without_notes.min(constant);
        let overhead = self.overhead();
        let [instruction, notes] = if overhead.is_in_message() {
            overhead.own_parts(&snapshot.reads)
        } else {
            [counter.count(instruction.trim()).min(without_notes), constant - without_notes]
        };
        let [of_thread, in_thread] = self.thread_tokens();
        let instructions = self.instruction_tokens();
        let documents = self.system_section().map_or(0, |(section, _)| section.tokens());
        let mut breakdown = Breakdown {
            column: self.column().clone(),
            step: self.step(),
            tokens: constant + instructions + documents + of_thread + self.tokens(),
            instruction,
            flow: if overhead.is_in_message() { constant } else { without_notes - instruction },
            notes,
            instructions,
            thread: of_thread + in_thread,
            tiers: Vec::new(),
            columns: Vec::new(),
            omitted: 0,
            moves: self.moves().cloned(),
            budget: self.report().cloned(),
            plan: None,
            receipt: None,
            total: None,
            window: None,
            empty_tiers: None,
        };
        if breakdown.moves.is_some() {
            breakdown.add_tiers(self);
        } else {
            breakdown.add_columns(self);
        }
        breakdown
    }
}

/// The tokens of a request, by tier or by column. Made by [`Messages::breakdown`].
///
/// The tokens are the sum of the instruction, the text of the flow, the notes, the instructions among the inputs, the
/// conversation that continues, all tiers, all columns and the marker of omitted turns. A breakdown prints as a table, and serializes as JSON whose
/// fields keep their names; later versions may add fields.
///
/// ```
/// use columnar::documents::Update;
/// use columnar::prelude::*;
/// use columnar::testing::script;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let coder = flow! {
///     source files: Documents;
///     source user;
///     column coder(files.tiered(), user, self) = script(["Done."]);
/// };
/// let update = Update::new().file("src/lib.rs", "mod a;").symbol("src/a.rs", "f a").tree("src/a.rs\nsrc/lib.rs");
/// coder.files.push(update).await?;
/// coder.user.push("Rename it.").await?;
///
/// let breakdown = coder.coder.messages(0)?.breakdown("You write Rust.");
/// let table = "\
/// request of `coder` at step 0
/// empty tiers: 2
/// part         symbols  files  pages  history  prompt  other  tokens  holds
/// instruction                                                      4
/// L0                 0      0      0        0       0      0       0  cached: nothing
/// L1                 6      0      0        0       0     13      19  cached: 1 symbol
/// L2                 0      0      0        0       0      0       0  cached: nothing
/// L3                 0      0      0        0       0      0       0  cached: nothing
/// active             0      8      0        0       8     25      41  1 file, tree, prompt
/// total              6      8      0        0       8     38      64";
/// assert_eq!(breakdown.to_string(), table);
///
/// let json = serde_json::to_value(&breakdown).expect("names and numbers");
/// assert_eq!(json["tiers"][1]["documents"][0]["key"], "symbol:src/a.rs");
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Breakdown {
    /// The column that sends the request.
    pub column: Name,
    /// The step of the request.
    pub step: usize,
    /// The tokens of the whole request, by the [counter](crate::flow::LiveFlow::set_counter) of the flow.
    pub tokens: usize,
    /// The tokens of the instruction.
    pub instruction: usize,
    /// The tokens of the [system text](crate::flow::LiveFlow::set_system) of the flow, which follows the instruction.
    pub flow: usize,
    /// The tokens of the notes on the inputs, which follow the text of the flow.
    pub notes: usize,
    /// The tokens of the [instructions](crate::View::instruction) among the inputs, which follow the notes.
    pub instructions: usize,
    /// The tokens of the conversation that the request [continues](crate::Column::thread), with the system text and the reply.
    pub thread: usize,
    /// All five tiers in order, if the column reads documents in [tiers](crate::TieredView); else empty.
    pub tiers: Vec<TierBreakdown>,
    /// The columns that the column reads, in order of declaration, the self history last; empty if there are tiers.
    pub columns: Vec<ColumnBreakdown>,
    /// The tokens of the marker of the turns that a [budget](crate::budget) omits. The marker is in no tier and no
    /// column.
    pub omitted: usize,
    /// The items that changed tiers since the previous request; `None` without tiers.
    pub moves: Option<Moves>,
    /// The report of the truncation to the budget; `None` without a budget.
    pub budget: Option<Report>,
    /// The cache marks, if [added](Self::with_plan).
    pub plan: Option<CachePlan>,
    /// The receipt of the last request, if [added](Self::with_receipt).
    pub receipt: Option<Receipt>,
    /// The sum of a session, if [added](Self::with_total).
    pub total: Option<Total>,
    /// The window of the model, if that is known from the [last request](Self::with_receipt) or [added](Self::with_model).
    pub window: Option<ContextWindow>,
    /// The sum of the empty tiers of all requests of a session, if [added](Self::with_empty_tiers).
    pub empty_tiers: Option<usize>,
}

/// The tokens of one tier in a [`Breakdown`].
///
/// The tokens of L0 are in the system text, behind the instruction and the notes, and in the messages of the exchanges
/// in L0.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TierBreakdown {
    /// The tier.
    pub tier: Tier,
    /// Whether a cache mark follows the tier; `None` without a [plan](Breakdown::with_plan).
    pub marked: Option<bool>,
    /// The sum of all other tokens in this struct.
    pub tokens: usize,
    /// The documents in order.
    pub documents: Vec<DocumentBreakdown>,
    /// The tokens of the legend of the symbols, which is in L0.
    pub legend: usize,
    /// The tokens of the tree of files, which is active.
    pub tree: usize,
    /// The exchanges in order: steps before this one whose inputs or replies are shown.
    pub exchanges: Vec<ExchangeBreakdown>,
    /// The tokens of the exchanges, with the markers of values that a view hides there.
    pub history: usize,
    /// The tokens of the inputs at this step, which are active.
    pub prompt: usize,
    /// The tokens of the titles above documents, with the empty lines around them.
    pub titles: usize,
    /// The tokens of the short replies that follow documents.
    pub acknowledgements: usize,
}

/// A document in a [`TierBreakdown`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DocumentBreakdown {
    /// The kind, and the path or URL.
    pub key: Key,
    /// The tokens, with the path and the fence.
    pub tokens: usize,
    /// The number of responses since the last change, within the limits of the tier.
    pub n: u32,
    /// The N at which the document may leave for the tier above. `None` in L0, which is the last tier, and for a page,
    /// which is shown once.
    pub next: Option<u32>,
}

/// An exchange in a [`TierBreakdown`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExchangeBreakdown {
    /// The step of the inputs and the reply.
    pub step: usize,
    /// The tokens, with the markers of values that a view hides there.
    pub tokens: usize,
    /// The number of responses since the exchange was complete, within the limits of the tier.
    pub n: u32,
    /// The N at which the exchange may leave for the tier above; `None` in L0, which is the last tier.
    pub next: Option<u32>,
}

/// The tokens of one column in a [`Breakdown`] without tiers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ColumnBreakdown {
    /// The column. The self history has the name of the column that sends the request.
    pub column: Name,
    /// The number of values that are shown.
    pub values: usize,
    /// The number of values that views [hide](crate::View::elided) and count.
    pub hidden: usize,
    /// The tokens of the values with their tags and separators, and of the markers of hidden values. The tag of a
    /// group counts for its first column that has a value.
    pub tokens: usize,
}

impl Breakdown {
    /// The same breakdown, with the cache marks of the request. The tiers know which tiers are marked.
    ///
    /// ```
    /// use columnar::cache::{CachePolicy, Pace};
    /// use columnar::documents::Update;
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let coder = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column coder(files.tiered(), user, self) = script(["Done."]);
    /// };
    /// coder.files.push(Update::new().symbol("src/a.rs", "f a\n".repeat(2_000))).await?;
    /// coder.user.push("Rename it.").await?;
    ///
    /// let policy = CachePolicy::by_model("anthropic/claude-sonnet-5");
    /// let plan = coder.coder.cache_plan(0, policy, Pace::batch())?;
    /// let breakdown = coder.coder.messages(0)?.breakdown("You write Rust.").with_plan(&plan);
    /// assert_eq!(breakdown.tiers[1].marked, Some(true));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_plan(mut self, plan: &CachePlan) -> Self {
        for tier in &mut self.tiers {
            tier.marked = Some(plan.marks.iter().any(|mark| mark.reason == Reason::Tier(tier.tier)));
        }
        self.plan = Some(plan.clone());
        self
    }

    /// The same breakdown, with the receipt of the last request: the tokens by the provider's count, the share that
    /// came from a cache, and the longest reply of the model if known.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    /// use columnar::usage::Receipt;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = script(["Hi!"]);
    /// };
    /// chat.user.push("Hello!").await?;
    /// // `chat.answer.receipt(0)` of a model.
    /// let receipt: Receipt = r#"{"model":"mine","calls":1,"input":400,"cache_read":300,"output":8}"#.parse().expect("JSON");
    ///
    /// let table = "\
    /// request of `answer` at step 0
    /// last request to `mine`: 400 tokens in (75 % cached), 8 out
    /// part         values  hidden  tokens
    /// instruction                       0
    /// user              1       0       7
    /// self              0       0       0
    /// total             1       0       7";
    /// assert_eq!(chat.answer.messages(0)?.breakdown("").with_receipt(&receipt).to_string(), table);
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_receipt(self, receipt: &Receipt) -> Self {
        let window = receipt.model.as_deref().and_then(ContextWindow::by_model);
        Self { receipt: Some(receipt.clone()), window: window.or(self.window), ..self }
    }

    /// The same breakdown, with the window of the model that gets the request; see [`ContextWindow`].
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let breakdown = chat.answer.messages(0)?.breakdown("Be brief.").with_model("anthropic/claude-opus-5-5");
    /// assert!(breakdown.to_string().contains("window: 10 of 1,000,000 tokens"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_model(self, model: &str) -> Self {
        Self { window: ContextWindow::by_model(model), ..self }
    }

    /// The same breakdown, with the sum of the [empty tiers](Moves::empty) of all requests of a session. A tier that is often
    /// empty has too small a target above, or too large a target below.
    ///
    /// ```
    /// use columnar::documents::Update;
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let coder = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column coder(files.tiered(), user, self) = script(["Done."; 2]);
    /// };
    /// for text in ["Rename it.", "And test it."] {
    ///     coder.files.push(Update::new()).await?;
    ///     coder.user.push(text).await?;
    /// }
    /// coder.run().await?;
    ///
    /// let mut empty = 0;
    /// for step in 0..coder.steps() {
    ///     empty += coder.coder.messages(step)?.moves().map_or(0, |moves| moves.empty().len());
    /// }
    /// let breakdown = coder.coder.messages(1)?.breakdown("You write Rust.").with_empty_tiers(empty);
    /// assert!(breakdown.to_string().contains("empty tiers: 3, 6 in the session"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_empty_tiers(self, session: usize) -> Self {
        Self { empty_tiers: Some(session), ..self }
    }

    /// The tokens of the map of symbols: the entries in all tiers, and the legend.
    ///
    /// ```
    /// use columnar::documents::{Kind, Update};
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let coder = flow! {
    ///     source files: Documents;
    ///     source user;
    ///     column coder(files.tiered(), user, self) = script(["Done."]);
    /// };
    /// coder.files.push(Update::new().legend("f function").symbol("src/a.rs", "f a").file("b.rs", "mod a;")).await?;
    /// coder.user.push("Rename it.").await?;
    /// let breakdown = coder.coder.messages(0)?.breakdown("You write Rust.");
    /// let symbols: usize = breakdown.tiers.iter().map(|tier| tier.tokens_of(Kind::Symbol)).sum();
    /// assert_eq!(breakdown.map_tokens(), symbols + breakdown.tiers[0].legend);
    /// # Ok(()) }
    /// ```
    pub fn map_tokens(&self) -> usize {
        self.tiers.iter().map(|tier| tier.legend + tier.tokens_of(Kind::Symbol)).sum()
    }

    /// The same breakdown, with the sum of a session, such as the [total](crate::usage::Bill::total) of a bill.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let chat = flow! {
    ///     source user;
    ///     column answer(user, self) = prompt("Be brief.");
    /// };
    /// chat.user.push("Hello!").await?;
    /// let total = chat.bill().total();
    /// let breakdown = chat.answer.messages(0)?.breakdown("Be brief.").with_total(total);
    /// assert!(breakdown.to_string().contains("session: 0 calls"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn with_total(self, total: Total) -> Self {
        Self { total: Some(total), ..self }
    }

    fn add_tiers(&mut self, messages: &Messages) {
        let counter = messages.counter();
        let mut tiers = Tier::ALL.map(TierBreakdown::empty);
        if let (Some((section, items)), [l0, ..]) = (messages.system_section(), &mut tiers) {
            l0.add_section(section, items, section.tokens(), counter);
        }
        for part in messages.parts() {
            let Some(of) = part.tier() else { continue };
            let Some(tier) = tiers.iter_mut().find(|tier| tier.tier == of) else { continue };
            let tokens = part.tokens();
            let turn = part.turn();
            if let Some(section) = part.section() {
                tier.add_section(section, part.items(), tokens, counter);
                continue;
            }
            let kind = if part.is_instruction() {
                continue;
            } else if part.is_acknowledgement() {
                &mut tier.acknowledgements
            } else if part.origin().is_none() && part.hidden().is_none() {
                self.omitted += tokens;
                continue;
            } else if turn == self.step {
                &mut tier.prompt
            } else {
                tier.add_exchange(turn, tokens, messages.exchange_age(turn));
                &mut tier.history
            };
            *kind += tokens;
            tier.tokens += tokens;
        }
        self.tiers = tiers.into();
    }

    fn add_columns(&mut self, messages: &Messages) {
        let reads = &messages.snapshot().reads;
        let itself = reads.self_view.as_ref().map(|_| &reads.column);
        for column in reads.inputs.iter().map(|input| &input.name).chain(itself) {
            if self.columns.iter().all(|known| known.column != *column) {
                let column = column.clone();
                self.columns.push(ColumnBreakdown { column, values: 0, hidden: 0, tokens: 0 });
            }
        }
        for part in messages.own_parts().filter(|part| !part.is_instruction()) {
            let origin = part.origin();
            let hidden = part.hidden();
            let name = origin.map(|origin| origin.column).or(hidden.map(|hidden| hidden.column));
            let column = name.and_then(|name| self.columns.iter_mut().find(|known| known.column == *name));
            let Some(column) = column else {
                self.omitted += part.tokens();
                continue;
            };
            column.tokens += part.tokens();
            column.values += usize::from(origin.is_some());
            column.hidden += hidden.map_or(0, |hidden| hidden.values);
        }
    }
}

impl TierBreakdown {
    fn empty(tier: Tier) -> Self {
        Self {
            tier,
            marked: None,
            tokens: 0,
            documents: Vec::new(),
            legend: 0,
            tree: 0,
            exchanges: Vec::new(),
            history: 0,
            prompt: 0,
            titles: 0,
            acknowledgements: 0,
        }
    }

    /// Adds a section that has these tokens, separators included.
    fn add_section<'m>(
        &mut self,
        section: &Section,
        documents: impl Iterator<Item = TieredDocument<'m>>,
        tokens: usize,
        counter: &dyn Counter,
    ) {
        let before = self.document_tokens();
        let documents = documents.map(|document| DocumentBreakdown::new(document, self.tier));
        self.documents.extend(documents);
        let rest = tokens.saturating_sub(self.document_tokens() - before);
        // The only text that is neither a document of the tracker nor a title is the one text without a path.
        let titles = section.title_tokens(counter) + tokens.saturating_sub(section.tokens());
        let alone = if section.has_text_alone() { rest.saturating_sub(titles) } else { 0 };
        let of_alone = if self.tier == Tier::L0 { &mut self.legend } else { &mut self.tree };
        *of_alone += alone;
        self.titles += rest - alone;
        self.tokens += tokens;
    }

    fn add_exchange(&mut self, step: usize, tokens: usize, n: u32) {
        match self.exchanges.last_mut().filter(|last| last.step == step) {
            Some(exchange) => exchange.tokens += tokens,
            None => self.exchanges.push(ExchangeBreakdown { step, tokens, n, next: self.tier.leaves_at() }),
        }
    }

    /// The tokens of the documents of a kind.
    pub fn tokens_of(&self, kind: Kind) -> usize {
        let of_kind = self.documents.iter().filter(|document| document.key.kind() == kind);
        of_kind.map(|document| document.tokens).sum()
    }

    /// The tokens of the documents.
    pub fn document_tokens(&self) -> usize {
        self.documents.iter().map(|document| document.tokens).sum()
    }
}

impl DocumentBreakdown {
    fn new(TieredDocument { key, n, tokens }: TieredDocument<'_>, tier: Tier) -> Self {
        let next = tier.leaves_at().filter(|_| key.kind() != Kind::Url);
        Self { key: key.clone(), tokens, n, next }
    }

    /// The share of the way to the next tier that the document has gone since it entered its own tier, from 0 to 1. At
    /// 1 the document waits for a change of the next tier. `None` without a next tier.
    pub fn progress(&self) -> Option<f64> {
        Some(progress(self.n, self.next?))
    }
}

impl ExchangeBreakdown {
    /// The share of the way to the next tier, as [of a document](DocumentBreakdown::progress).
    pub fn progress(&self) -> Option<f64> {
        Some(progress(self.n, self.next?))
    }
}

fn progress(n: u32, next: u32) -> f64 {
    // The distance from one tier to the next is the same everywhere.
    let distance = Tier::L3.entry();
    let left = next.saturating_sub(n).min(distance);
    f64::from(distance - left) / f64::from(distance)
}

/// The share of the input that came from a cache, from 0 to 1; `None` without input.
fn hit_rate(usage: &Usage) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a share needs few digits")]
    let share = usage.cache_read as f64 / usage.input as f64;
    // A provider may report anything.
    (usage.input > 0).then(|| share.min(1.0))
}

/// The most tokens of a reply of the model in a receipt, if the number is known.
fn longest_reply(receipt: &Receipt) -> Option<u32> {
    MaxTokens::by_model(receipt.model.as_deref()?).most
}
