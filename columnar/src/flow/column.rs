//! Declarations at run time, for flows whose columns are not known when the program is compiled.
//!
//! They have the same meaning as in `flow!` and follow the same rules. Nothing is checked here:
//! [`flow`](crate::flow()) reports all errors at once.

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::compute::{IntoStep, Step};
use crate::declare::{
    Compaction, DEEPEST_GROUP, FileOrigin, Purpose, StepError, Tiering, ViewSpec, ViewTextError,
};

/// The declaration of a column. A clone is the same column, and costs a reference count.
///
/// A function that takes and returns columns is a reusable definition:
///
/// ```
/// use columnar::prelude::*;
///
/// fn summarizer(name: &str, input: &Column) -> Column {
///     column(name, (input, this().latest()), prompt("Maintain a running summary of the input."))
/// }
///
/// let user = source("user");
/// let topics = column("topics", user.latest(), prompt("List the topics."));
/// let chat_summary = summarizer("chat_summary", &user);
/// let topic_summary = summarizer("topic_summary", &topics);
/// let f = flow([chat_summary, topic_summary])?;
/// # Ok::<(), columnar::Error>(())
/// ```
///
/// If such a function makes several columns, their names can share a prefix with a dot, as the columns of a module in
/// `flow!` do. The tag of such a column is the last part of its name:
///
/// ```
/// use columnar::prelude::*;
///
/// fn debate(module: &str, topic: &Column) -> Column {
///     let topic = topic.named("topic");
///     let advocate = column(format!("{module}.advocate"), (&topic, this()), prompt("Speak for it."));
///     column(format!("{module}.critic"), (&topic, advocate.latest()), prompt("Name the weak points."))
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let f = flow([debate("debate", &source("user"))])?;
/// f.push("user", "Shall we rewrite it in Rust?").await?;
/// f.run().await?;
/// assert_eq!(f.order(), ["user", "debate.advocate", "debate.critic"]);
/// assert!(f.messages("debate.critic", 0)?.to_json().contains("<advocate>"));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Column(pub(super) Arc<ColumnParts>);

#[derive(Clone)]
pub(super) struct ColumnParts {
    name: String,
    /// The earlier name, under which values are stored.
    pub(super) renamed_from: Option<String>,
    derived: Option<DerivedParts>,
    /// Whether it is a source of documents.
    pub(super) is_documents: bool,
    /// The entry of the column in a file.
    pub(super) origin: FileOrigin,
}

#[derive(Clone)]
struct DerivedParts {
    views: Vec<View>,
    /// The mistakes in the step of a column that is declared as data.
    step: Result<Step<'static>, Vec<StepError>>,
}

/// Declares a column whose values come from outside, by [`push`](crate::Flow::push).
pub fn source(name: impl Into<String>) -> Column {
    Column::new(name.into(), None, false)
}

/// Declares a source of documents: its values are changes of a set of documents, such as the files of a repository.
/// Written `source files: Documents;` in `flow!`.
///
/// [`push`](crate::Flow::push) takes the text of an [`Update`](crate::documents::Update). A view of the source shows these
/// texts, and a [tiered](Column::tiered) one the documents themselves.
///
/// ```
/// use columnar::prelude::*;
///
/// let (files, user) = (documents("files"), source("user"));
/// let coder = column("coder", (files.tiered(), &user, this()), prompt("You write Rust."));
/// let log = column("log", (&files, &user, this()), prompt("Describe each change."));
/// let f = flow([coder, log])?;
/// # Ok::<(), columnar::Error>(())
/// ```
pub fn documents(name: impl Into<String>) -> Column {
    Column::new(name.into(), None, true)
}

/// Declares a derived column: `compute` computes its values from its views.
///
/// `views` is one view or column, or a tuple, an array or a vector of them: `(&user, this())`,
/// `[user.latest(), topics.all()]`. Messages show them in this order. A view may be a [text](View#impl-From<%26str>-for-View)
/// as in `flow!`: `["user.latest", "self"]`.
pub fn column<Form>(
    name: impl Into<String>,
    views: impl IntoViews,
    compute: impl IntoStep<'static, Form>,
) -> Column {
    let step = compute.into_step();
    let placed = step.settings.check_place().map_err(|error| vec![error]);
    Column::derived(name.into(), views.into_views(), placed.map(|()| step))
}

/// A view of the self history of the column that declares it: its values at earlier steps. Written `self` in `flow!`.
/// They are shown as messages of the assistant.
///
/// `this()` shows all of them, `this().latest()` the newest one, `this().window(3)` the newest three.
pub fn this() -> View {
    View::new(ViewTarget::SelfHistory)
}

/// A view of the value of a column at the previous step. Written `name.prev` in `flow!`.
///
/// `.all()` and `.window(3)` after it show more of the earlier values. Within a step no column waits for this view, so
/// two columns can read each other's previous values. The column is found by its name, because one of the two is not
/// declared yet.
///
/// ```
/// use columnar::prelude::*;
///
/// let user = source("user");
/// let pro = column("pro", (user.latest(), prev("con")), prompt("Argue for it."));
/// let con = column("con", (user.latest(), pro.prev()), prompt("Argue against it."));
/// let debate = flow([pro, con])?;
/// # Ok::<(), columnar::Error>(())
/// ```
pub fn prev(name: impl Into<String>) -> View {
    View::new(ViewTarget::Named(name.into())).latest().with(lagged)
}

/// A group: several views inside a tag of their own, as one view of a [`column`](column()). A group can contain groups.
/// At a step at which none of its views has a value, its tag is omitted. Groups may be nested 32 deep.
///
/// ```
/// use columnar::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
/// let user = source("user");
/// let pro = column("pro", user.latest(), |_: Context| async { "Yes." });
/// let con = column("con", user.latest(), |_: Context| async { "No." });
/// let judge = column("judge", group("debate", (pro.latest(), con.latest())), |_: Context| async { "Perhaps." });
/// let debate = flow([judge])?;
/// debate.push("user", "Is it so?").await?;
/// debate.run().await?;
/// assert_eq!(
///     debate.messages("judge", 0)?.last_text(),
///     "<debate>\n<pro>\nYes.\n</pro>\n\n<con>\nNo.\n</con>\n</debate>"
/// );
/// # Ok(()) }
/// ```
pub fn group(tag: impl Into<String>, views: impl IntoViews) -> View {
    let mut views = views.into_views();
    match views.iter().position(|view| view.depth() > DEEPEST_GROUP) {
        // The flow refuses it. It grows no further, because views are read and dropped by recursion.
        Some(deep) => views.swap_remove(deep),
        None => View::new(ViewTarget::Group(views)).named(tag),
    }
}

impl Column {
    fn new(name: String, derived: Option<DerivedParts>, is_documents: bool) -> Self {
        let origin = FileOrigin::default();
        Self(Arc::new(ColumnParts { name, renamed_from: None, derived, is_documents, origin }))
    }

    /// The same column, with its entry in a file.
    pub(crate) fn in_file(self, origin: FileOrigin) -> Self {
        let mut declaration = Arc::unwrap_or_clone(self.0);
        declaration.origin = origin;
        Self(Arc::new(declaration))
    }

    /// A derived column, whose step may have mistakes. [`flow`](crate::flow()) reports them.
    pub(crate) fn derived(
        name: String,
        views: Vec<View>,
        step: Result<Step<'static>, Vec<StepError>>,
    ) -> Self {
        let mut flat = Vec::new();
        let mut groups = Vec::new();
        let mut count = 0;
        views.into_iter().for_each(|view| view.flatten(&mut groups, &mut count, &mut flat));
        Self::new(name, Some(DerivedParts { views: flat, step }), false)
    }

    /// The name, as it was declared. [`flow`](crate::flow()) checks it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A view of the newest value.
    pub fn latest(&self) -> View {
        self.all().latest()
    }

    /// A view of the value of the previous step. Within a step nothing waits for it, so two columns may read each
    /// other's previous values. After it, [`window`](View::window) and [`all`](View::all) show more of the past. See
    /// also the function [`prev`].
    pub fn prev(&self) -> View {
        self.latest().with(lagged)
    }

    /// A view of the last `count` values. [`flow`](crate::flow()) returns an error if the count is 0.
    pub fn window(&self, count: usize) -> View {
        self.all().window(count)
    }

    /// A view of all values.
    pub fn all(&self) -> View {
        View::new(ViewTarget::Column(self.clone()))
    }

    /// A view of documents in tiers: those that have not changed for long come first, so that the next request repeats them.
    /// [`flow`](crate::flow()) returns an error if the column holds text, or if the reader does not read text and all of
    /// [`this`] as well.
    pub fn tiered(&self) -> TieredView {
        TieredView { column: self.clone(), tiering: Tiering { target: None } }
    }

    /// A view of documents as a log of changes, which is compacted when carrying old texts has cost as much as writing the
    /// new ones. [`flow`](crate::flow()) returns an error if the column holds text, or if the reader reads no text.
    pub fn compacted(&self) -> CompactedView {
        CompactedView { column: self.clone(), compaction: Compaction::default() }
    }

    /// Continues the conversation of a computed column: its system text, its messages as they were sent at the step, and its
    /// reply. The instruction of the reader follows as a message of the user, with the values of its other inputs. So the
    /// reader pays the cached price for what the request of this column wrote into the provider's cache.
    ///
    /// A thread stands first among the views, and takes no `self`. Where the column skipped the step, the conversation ends
    /// with its last value.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let user = source("user");
    /// let assistant = column("assistant", (&user, this()), script(["On Monday."]));
    /// let critic = column("critic", assistant.thread(), prompt("Is the answer right?"));
    /// let f = flow([critic])?;
    /// f.push("user", "When?").await?;
    /// f.run().await?;
    /// let messages: Vec<_> = f.messages("critic", 0)?.iter().map(|(_, text)| text.into_owned()).collect();
    /// assert_eq!(messages, ["<user>\nWhen?\n</user>", "On Monday.", "Is the answer right?"]);
    /// # Ok(()) }
    /// ```
    pub fn thread(&self) -> View {
        self.all().with(|spec| ViewSpec { thread: true, ..spec })
    }

    /// A view of the values that `shows` accepts; see [`View::filter`].
    pub fn filter(&self, shows: impl Fn(&str) -> bool + Send + Sync + 'static) -> View {
        self.all().filter(shows)
    }

    /// A view of the values of the steps that `shows` accepts; see [`View::sample`].
    pub fn sample(&self, shows: impl Fn(usize) -> bool + Send + Sync + 'static) -> View {
        self.all().sample(shows)
    }

    /// A view of all values, described to the model; see [`View::note`].
    pub fn note(&self, note: impl Into<String>) -> View {
        self.all().note(note)
    }

    /// A view of all values as reference material; see [`View::context`].
    pub fn context(&self) -> View {
        self.all().context()
    }

    /// A view of all values at the end of the system text; see [`View::instruction`].
    pub fn instruction(&self) -> View {
        self.all().instruction()
    }

    /// A view of the texts of all values, without the attachments; see [`View::text_only`].
    pub fn text_only(&self) -> View {
        self.all().text_only()
    }

    /// A view of all values under another tag than the column's name.
    pub fn named(&self, tag: impl Into<String>) -> View {
        self.all().named(tag)
    }

    /// The same as [`named`](Self::named), by its name inside `flow!`.
    pub fn r#as(&self, tag: impl Into<String>) -> View {
        self.named(tag)
    }

    /// The views of the column; `None` for a source.
    pub(crate) fn views(&self) -> Option<&[View]> {
        self.0.derived.as_ref().map(|derived| derived.views.as_slice())
    }

    /// The same declaration with another step.
    pub(super) fn with_step(&self, step: Step<'static>) -> Self {
        let mut parts = (*self.0).clone();
        if let Some(derived) = &mut parts.derived {
            derived.step = Ok(step);
        }
        Self(Arc::new(parts))
    }

    pub(crate) fn step(&self) -> Option<Step<'static>> {
        self.0.derived.as_ref()?.step.clone().ok()
    }

    pub(crate) fn step_errors(&self) -> &[StepError] {
        let step = self.0.derived.as_ref().map(|derived| &derived.step);
        step.and_then(|step| step.as_ref().err()).map_or(&[], Vec::as_slice)
    }

    /// Sets the earlier name of a renamed column: values that a [store](crate::store) has under that name belong to
    /// this column. Written `was "subjects"` in `flow!`.
    ///
    /// It returns another column. So call it where the column is declared: a column that reads the original reads
    /// another column.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::store::MemoryStore;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let store = MemoryStore::new();
    /// let length = |cx: Context| async move { cx.messages().last_text().len().to_string() };
    /// let f = Flow::open(store.clone(), [column("size", source("user").latest(), length)]).await?;
    /// f.push("user", "hello").await?;
    /// f.run().await?;
    /// drop(f);
    ///
    /// let renamed = column("length", source("said").was("user").latest(), length).was("size");
    /// let f = Flow::open(store, [renamed]).await?;
    /// assert_eq!(f.get("said", 0).as_deref(), Some("hello"));
    /// assert_eq!((f.steps(), f.forecast().cells), (1, 0));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn was(self, name: impl Into<String>) -> Self {
        let mut declaration = Arc::unwrap_or_clone(self.0);
        declaration.renamed_from = Some(name.into());
        Self(Arc::new(declaration))
    }

    /// Identifies the declaration as long as it lives.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.0.derived.is_some() { "column" } else { "source" };
        let ty = if self.0.is_documents { ": Documents" } else { "" };
        write!(f, "{kind} {}{ty}", self.0.name)
    }
}

/// Iterative, because nested drops of a chain of thousands of columns would overflow the stack.
impl Drop for ColumnParts {
    fn drop(&mut self) {
        let mut views = self.derived.take().map_or_else(Vec::new, |derived| derived.views);
        while let Some(view) = views.pop() {
            if let ViewTarget::Column(column) = view.target
                && let Some(mut last) = Arc::into_inner(column.0)
            {
                views.extend(last.derived.take().into_iter().flat_map(|derived| derived.views));
            }
        }
    }
}

/// How one column reads another one, or its self history: the values that it shows, and how.
///
/// The methods of a [`Column`], [`this`], [`prev`] and [`group`] make views. [`graph::View`](crate::graph::View) is the
/// same for columns that `flow!` declares.
#[derive(Clone, Debug)]
pub struct View {
    pub(super) target: ViewTarget,
    pub(super) spec: ViewSpec,
}

/// The column or the group that a view shows.
#[derive(Clone, Debug)]
pub(crate) enum ViewTarget {
    /// The column that has the view.
    SelfHistory,
    Column(Column),
    /// The column of this name in the same flow.
    Named(String),
    /// A text that is no view.
    Invalid(String, ViewTextError),
    /// Removed when the views of a column are flattened.
    Group(Vec<View>),
}

impl View {
    pub(super) fn new(target: ViewTarget) -> Self {
        Self { target, spec: ViewSpec::all() }
    }

    pub(super) fn with(self, change: impl FnOnce(ViewSpec) -> ViewSpec) -> Self {
        Self { spec: change(self.spec), ..self }
    }

    /// The number of groups that are nested in it, with itself.
    fn depth(&self) -> usize {
        match &self.target {
            ViewTarget::Group(views) => 1 + views.iter().map(Self::depth).max().unwrap_or(0),
            _ => 0,
        }
    }

    /// Adds the views of a group to `flat`, each with the groups around it; any other view is added as it is.
    fn flatten(mut self, groups: &mut Vec<(usize, String)>, count: &mut usize, flat: &mut Vec<Self>) {
        if let ViewTarget::Group(views) = &mut self.target {
            *count += 1;
            // The number tells apart two groups with one tag, which may be neighbours.
            groups.push((*count, self.spec.tag.take().unwrap_or_default()));
            let purpose = self.spec.purpose;
            for view in mem::take(views) {
                // A group has the purpose of the views inside.
                let view = if purpose == Purpose::Primary {
                    view
                } else {
                    view.with(|spec| spec.for_purpose(purpose))
                };
                view.flatten(groups, count, flat);
            }
            groups.pop();
        } else {
            self.spec.groups.clone_from(groups);
            flat.push(self);
        }
    }
}

/// The same view of the values of the previous step.
pub(super) fn lagged(spec: ViewSpec) -> ViewSpec {
    ViewSpec { lag: 1, ..spec }
}

/// A view of documents in tiers. [`Column::tiered`] makes it, and it becomes a [`View`].
#[derive(Clone, Debug)]
pub struct TieredView {
    pub(super) column: Column,
    pub(super) tiering: Tiering,
}

impl TieredView {
    /// Sets the tokens that each cached tier should have: a tier with fewer is filled from the one below. 0 means that a
    /// tier may have any size. The default is one and a half times the least that the provider caches.
    #[must_use]
    pub fn target(self, tokens: usize) -> Self {
        Self { tiering: Tiering { target: Some(tokens) }, ..self }
    }
}

/// A view of documents as a log. [`Column::compacted`] makes it, and it becomes a [`View`].
#[derive(Clone, Debug)]
pub struct CompactedView {
    pub(super) column: Column,
    pub(super) compaction: Compaction,
}

impl CompactedView {
    /// Shows a changed document as a diff, where that is shorter than the document. The model must apply the diff, as
    /// models for code do.
    #[must_use]
    pub fn edits(self) -> Self {
        Self { compaction: Compaction { edits: true, ..self.compaction }, ..self }
    }

    /// Sets the most tokens of a request, as a multiple of the tokens that it has without old texts: 1.0 shows each document
    /// once. The default is 2.0, and no bound for a model whose cache is read for a twentieth of the price or less.
    /// [`flow`](crate::flow()) returns an error for a factor below 1.
    #[must_use]
    pub fn at_most(self, factor: f64) -> Self {
        Self { compaction: Compaction { at_most: Some(factor), ..self.compaction }, ..self }
    }
}

/// The views of a [`column`](column()): one view, column or text, or a tuple, an array or a vector of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of views",
    label = "expected columns or views",
    note = "write one view, as in `user.latest()`, or several as a tuple, as in `(&user, this().latest())`"
)]
pub trait IntoViews {
    /// The views, in order.
    fn into_views(self) -> Vec<View>;
}
