//! Declarations at run time, for flows whose shape is not known when the program is compiled.
//!
//! They say the same things as `flow!` and obey the same rules; what is wrong with them is told, all
//! at once, by [`flow`](crate::flow()).

use std::fmt;
use std::mem;
use std::sync::Arc;

use crate::compute::{IntoStep, Step};
use crate::declare::{Filter, ViewSpec, Window};

/// The declaration of a column. Cloning it is a reference count, and the clone is the same column.
///
/// A function from column to column is a definition that can be used again:
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
/// Where it makes several columns, dots in their names keep them together, as in the modules of `flow!`. The tag of
/// such a column is the last part of its name:
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
pub struct Column(Arc<Declaration>);

#[derive(Clone)]
struct Declaration {
    name: String,
    /// What it was named before.
    renamed_from: Option<String>,
    derived: Option<Derived>,
}

#[derive(Clone)]
struct Derived {
    views: Vec<View>,
    step: Step<'static>,
}

/// Declares a column whose values come from outside.
pub fn source(name: impl Into<String>) -> Column {
    Column(Arc::new(Declaration { name: name.into(), renamed_from: None, derived: None }))
}

/// Declares a column that is computed from what it reads.
///
/// The views are one view or column, or several as a tuple, an array or a vector:
/// `(&user, this())`, `[user.latest(), topics.all()]`. In a message they stand in that order.
pub fn column<Form>(
    name: impl Into<String>,
    views: impl IntoViews,
    compute: impl IntoStep<'static, Form>,
) -> Column {
    let mut flat = Vec::new();
    let (mut groups, mut count) = (Vec::new(), 0);
    views.into_views().into_iter().for_each(|view| view.flatten(&mut groups, &mut count, &mut flat));
    let derived = Derived { views: flat, step: compute.into_step() };
    Column(Arc::new(Declaration { name: name.into(), renamed_from: None, derived: Some(derived) }))
}

/// The own past of the column that declares it, written `self` inside `flow!`. It is shown as what
/// the assistant said.
///
/// `this()` is all of it, `this().latest()` the step before, `this().window(3)` the three before.
pub fn this() -> View {
    View::new(Of::This)
}

/// What the column of this name said at the step before, written `name.prev` inside `flow!`; `.all()` and
/// `.window(3)` behind it show more of the past. Within a step nothing waits for it, so two columns may read
/// what the other one said before, though one of them is not declared yet.
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
    View::new(Of::Named(name.into())).latest().with(lagged)
}

/// Some views inside a tag of their own, as a view for the list of a [`column`](column()); groups can stand in
/// groups. Where none of its views has a value, the tag is not there.
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
    View::new(Of::Group(views.into_views())).named(tag)
}

impl Column {
    /// The name, as it was given.
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
        View::new(Of::Column(self.clone()))
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

    /// A view of all values under another tag than the column's name.
    pub fn named(&self, tag: impl Into<String>) -> View {
        self.all().named(tag)
    }

    /// The same as [`named`](Self::named), by its name inside `flow!`.
    pub fn r#as(&self, tag: impl Into<String>) -> View {
        self.named(tag)
    }

    /// A view that shows the number of values that it hides. It must hide some: [`flow`](crate::flow()) returns an
    /// error for a view of all values. See [`View::elided`].
    pub fn elided(&self) -> View {
        self.all().elided()
    }

    /// What the column reads; `None` for a source.
    pub(crate) fn views(&self) -> Option<&[View]> {
        self.0.derived.as_ref().map(|derived| derived.views.as_slice())
    }

    pub(crate) fn step(&self) -> Option<Step<'static>> {
        self.0.derived.as_ref().map(|derived| derived.step.clone())
    }

    /// Says what the column was named before, for flows that keep their values in a [store](crate::store): what
    /// is stored under that name is this column's. Written `was "subjects"` inside `flow!`.
    ///
    /// To be said where the column is declared: others that read it as it was before read another column.
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

    /// What it was named before.
    pub(crate) fn renamed_from(&self) -> Option<&str> {
        self.0.renamed_from.as_deref()
    }

    /// Tells declarations apart, for as long as this one lives.
    pub(crate) fn id(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.0.derived.is_some() { "column" } else { "source" };
        write!(f, "{kind} {}", self.0.name)
    }
}

/// A chain of thousands of columns would otherwise be dropped by as many nested calls.
impl Drop for Declaration {
    fn drop(&mut self) {
        let mut views = self.derived.take().map_or_else(Vec::new, |derived| derived.views);
        while let Some(view) = views.pop() {
            if let Of::Column(column) = view.of
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
    of: Of,
    spec: ViewSpec,
}

/// What a view shows.
#[derive(Clone, Debug)]
pub(crate) enum Of {
    /// The own past.
    This,
    Column(Column),
    /// A column that is declared elsewhere.
    Named(String),
    /// Other views, until they are listed one by one.
    Group(Vec<View>),
}

impl View {
    fn new(of: Of) -> Self {
        Self { of, spec: ViewSpec::all() }
    }

    fn with(self, change: impl FnOnce(ViewSpec) -> ViewSpec) -> Self {
        Self { spec: change(self.spec), ..self }
    }

    /// The views that it consists of, each with the groups around it.
    fn flatten(mut self, groups: &mut Vec<(usize, String)>, count: &mut usize, flat: &mut Vec<Self>) {
        if let Of::Group(views) = &mut self.of {
            *count += 1;
            groups.push((*count, self.spec.tag.take().unwrap_or_default()));
            mem::take(views).into_iter().for_each(|view| view.flatten(groups, count, flat));
            groups.pop();
        } else {
            self.spec.groups.clone_from(groups);
            flat.push(self);
        }
    }

    /// Shows the newest value.
    #[must_use]
    pub fn latest(self) -> Self {
        self.with(|spec| spec.windowed(Some(Window::LATEST)))
    }

    /// Shows the last `count` values. [`flow`](crate::flow()) returns an error if the count is 0.
    #[must_use]
    pub fn window(self, count: usize) -> Self {
        self.with(|spec| spec.windowed(Window::last(count)))
    }

    /// Shows all values.
    #[must_use]
    pub fn all(self) -> Self {
        self.with(|spec| spec.windowed(Some(Window::All)))
    }

    /// Shows only the values that `shows` accepts. The others are shown nowhere, as if they were
    /// [skipped](crate::compute::Policy::or_skip), and a column whose inputs have no new value is skipped.
    ///
    /// Windows count all values. `shows` must be a pure function of the text. A second filter replaces the first.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let user = source("user");
    /// let questions = user.filter(|text| text.ends_with('?'));
    /// let faq = column("faq", questions, |cx: Context| async move { cx.messages().last_text().into_owned() });
    /// let chat = flow([faq])?;
    /// for text in ["Hello.", "How are you?"] {
    ///     chat.push("user", text).await?;
    /// }
    /// chat.run().await?;
    /// assert_eq!(chat.get("faq", 0), None);
    /// assert_eq!(chat.get("faq", 1).as_deref(), Some("<user>\nHow are you?\n</user>"));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn filter(self, shows: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        let filter = Some(Filter::new(move |_, text| shows(text)));
        self.with(|spec| ViewSpec { filter, ..spec })
    }

    /// Shows only the values of the steps that `shows` accepts. Otherwise it is like [`filter`](Self::filter).
    #[must_use]
    pub fn sample(self, shows: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        let filter = Some(Filter::new(move |step, _| shows(step)));
        self.with(|spec| ViewSpec { filter, ..spec })
    }

    /// Describes the values to the model. The notes of all inputs are listed once, at the end of the instruction of a
    /// [`prompt`](crate::prompt).
    #[must_use]
    pub fn note(self, note: impl Into<String>) -> Self {
        self.with(|spec| ViewSpec { note: Some(note.into()), ..spec })
    }

    /// Shows the values under another tag than the column's name, written `.as("tag")` inside `flow!`.
    #[must_use]
    pub fn named(self, tag: impl Into<String>) -> Self {
        self.with(|spec| ViewSpec { tag: Some(tag.into()), ..spec })
    }

    /// The same as [`named`](Self::named), by its name inside `flow!`.
    #[must_use]
    pub fn r#as(self, tag: impl Into<String>) -> Self {
        self.named(tag)
    }

    /// Shows the number of values that the window hides, directly before the first value:
    /// `<elided>4 values of topics</elided>`. [`flow`](crate::flow()) returns an error for a view of all values.
    ///
    /// ```
    /// use columnar::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let user = source("user");
    /// let mood = column("mood", user.latest().elided(), |_: Context| async { "calm" });
    /// let chat = flow([mood])?;
    /// for text in ["Hello.", "How are you?"] {
    ///     chat.push("user", text).await?;
    /// }
    /// chat.run().await?;
    /// assert_eq!(
    ///     chat.messages("mood", 1)?.last_text(),
    ///     "<elided>1 value of user</elided>\n\n<user>\nHow are you?\n</user>"
    /// );
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn elided(self) -> Self {
        self.with(|spec| ViewSpec { elided: true, ..spec })
    }

    pub(crate) fn of(&self) -> &Of {
        &self.of
    }

    pub(super) fn spec(&self) -> &ViewSpec {
        &self.spec
    }
}

/// The same values, each shown a step later.
fn lagged(spec: ViewSpec) -> ViewSpec {
    ViewSpec { lag: 1, ..spec }
}

impl From<Column> for View {
    fn from(column: Column) -> Self {
        column.all()
    }
}

impl From<&Column> for View {
    fn from(column: &Column) -> Self {
        column.all()
    }
}

impl From<&View> for View {
    fn from(view: &View) -> Self {
        view.clone()
    }
}

/// What [`column`](column()) takes as the views of a column: one, or a tuple, an array or a vector of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no list of views",
    label = "expected columns or views",
    note = "write one view, as in `user.latest()`, or several as a tuple, as in `(&user, this().latest())`"
)]
pub trait IntoViews {
    /// Converts.
    fn into_views(self) -> Vec<View>;
}

impl<V: Into<View>> IntoViews for V {
    fn into_views(self) -> Vec<View> {
        vec![self.into()]
    }
}

impl<V: Into<View>, const N: usize> IntoViews for [V; N] {
    fn into_views(self) -> Vec<View> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<V: Into<View>> IntoViews for Vec<V> {
    fn into_views(self) -> Vec<View> {
        self.into_iter().map(Into::into).collect()
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        tuples!(@ $($name)*);
    };
    (@ $first:ident $($rest:ident)*) => {
        impl<$first: Into<View>, $($rest: Into<View>),*> IntoViews for ($first, $($rest,)*) {
            fn into_views(self) -> Vec<View> {
                #[allow(non_snake_case)]
                let ($first, $($rest,)*) = self;
                vec![$first.into(), $($rest.into()),*]
            }
        }
        tuples!(@ $($rest)*);
    };
    (@) => {};
}

tuples!(A B C D E F G H I J K L);
