//! The methods of views of the run-time API, and all that is taken for views.

use std::sync::Arc;

use super::column::{Column, CompactedView, IntoViews, TieredView, View};
use crate::declare::{Purpose, ViewFilter, ViewSpec, Window};

impl View {
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
        let filter = Some(ViewFilter::Text(Arc::new(shows)));
        self.with(|spec| ViewSpec { filter, ..spec })
    }

    /// Shows only the values of the steps that `shows` accepts. Otherwise it is like [`filter`](Self::filter).
    #[must_use]
    pub fn sample(self, shows: impl Fn(usize) -> bool + Send + Sync + 'static) -> Self {
        let filter = Some(ViewFilter::Step(Arc::new(shows)));
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

    /// Shows the values as reference material: before the primary inputs of the step, in any order of the views.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::testing::script;
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<()> {
    /// let (user, notes, rules) = (source("user"), source("notes"), source("rules"));
    /// let views = (&user, notes.latest().context(), rules.latest().instruction(), this());
    /// let chat = flow([column("answer", views, script(["On Monday."]))])?;
    /// for (column, text) in [("user", "When?"), ("notes", "We launch on Monday."), ("rules", "Be brief.")] {
    ///     chat.push(column, text).await?;
    /// }
    /// chat.run().await?;
    ///
    /// let messages = chat.messages("answer", 0)?;
    /// assert_eq!(messages.last_text(), "<notes>\nWe launch on Monday.\n</notes>\n\n<user>\nWhen?\n</user>");
    /// assert_eq!(messages.system("You plan."), "You plan.\n\nBe brief.");
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn context(self) -> Self {
        self.with(|spec| spec.for_purpose(Purpose::Context))
    }

    /// Shows the values at the end of the system text, and in no message. The newest one comes last. They are sent as they
    /// are, without a tag and without the white space around them, so never use text that you do not trust.
    ///
    /// A provider's cache finds nothing of a request behind a system text that changed. So an instruction that changes at
    /// every step costs the whole request at every step. See [`context`](Self::context) for an example.
    #[must_use]
    pub fn instruction(self) -> Self {
        self.with(|spec| spec.for_purpose(Purpose::Instruction))
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

    /// Shows the texts of the values without the [attachments](crate::Attachment), also in the system text and in `self`.
    ///
    /// ```
    /// use columnar::prelude::*;
    /// use columnar::{Attachment, Text};
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), columnar::BoxError> {
    /// let user = source("user");
    /// let answer = column("answer", &user, |_: Context| async { "A note." });
    /// let topics = column("topics", user.text_only(), |_: Context| async { "notes" });
    /// let chat = flow([answer, topics])?;
    /// chat.push("user", Text::new("What is this?").with(Attachment::new("Launch on Monday.")?)).await?;
    /// chat.run().await?;
    /// let attachments = |column| Ok::<_, Error>(chat.messages(column, 0)?.to_json().contains("attachments"));
    /// assert_eq!((attachments("answer")?, attachments("topics")?), (true, false));
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn text_only(self) -> Self {
        self.with(|spec| ViewSpec { text_only: true, ..spec })
    }
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

impl From<TieredView> for View {
    fn from(TieredView { column, tiering }: TieredView) -> Self {
        column.all().with(|spec| ViewSpec { tiering: Some(tiering), ..spec })
    }
}

impl From<CompactedView> for View {
    fn from(CompactedView { column, compaction }: CompactedView) -> Self {
        column.all().with(|spec| ViewSpec { compaction: Some(compaction), ..spec })
    }
}

impl From<&View> for View {
    fn from(view: &View) -> Self {
        view.clone()
    }
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
