#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        use ::columnar::__private::keywords::column as _;
    };
};
/// The columns of a [`Chat`].
#[allow(dead_code, unreachable_pub)]
pub struct ChatColumns {
    /// What the person typed.
    pub user: ::columnar::__private::Source,
    /// The column `topics`.
    pub topics: ::columnar::__private::Derived,
    /// The column `assistant`.
    pub assistant: ::columnar::__private::Derived,
}
#[allow(
    dead_code,
    non_snake_case,
    unexpected_cfgs,
    unreachable_pub,
    clippy::needless_pass_by_value,
    clippy::new_without_default,
    clippy::ptr_arg,
    clippy::too_many_arguments,
    clippy::trivially_copy_pass_by_ref,
)]
impl<M: Model> Chat<M>
where
    M: Clone,
    M: 'static,
{
    fn __topics(model: &M) -> ::columnar::__private::Step<'static> {
        let _ = (model,);
        ::columnar::__private::Declare
            .column(prompt("List the topics.").with(model.clone()))
    }
    fn __assistant(model: &M) -> ::columnar::__private::Step<'static> {
        let _ = (model,);
        ::columnar::__private::Declare.column(prompt("Answer.").with(model.clone()))
    }
    fn __READS_topics(here: &ChatColumns) {
        let _ = here.user.latest;
    }
    fn __READS_assistant(here: &ChatColumns) {
        let _ = here.user;
        let _ = here.topics.window(2).r#as("subjects");
        let _ = here.assistant;
    }
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = &["user", "topics", "assistant"];
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = ::columnar::__private::graph::<
        Self,
    >();
    #[doc(hidden)]
    pub fn __STEPS(
        model: M,
    ) -> ::columnar::__private::Vec<
        ::columnar::__private::Option<::columnar::__private::Step<'static>>,
    > {
        let steps: &[fn(&M) -> ::columnar::__private::Step<'static>] = &[
            Self::__topics,
            Self::__assistant,
        ];
        ::columnar::__private::steps::<Self, _>(steps.iter().map(|step| step(&model)))
    }
    /// A new flow, with its values in memory.
    pub fn new(model: M) -> Self {
        let flow = ::columnar::__private::Typed::__new(Self::__STEPS(model));
        Self {
            __flow: flow,
            __marker: ::core::marker::PhantomData,
        }
    }
    /// A flow on top of a store: it goes on with what the store holds.
    ///
    /// # Errors
    ///
    /// When the store cannot be opened or read, or holds what cannot be; when columns have changed of
    /// which it holds values.
    pub async fn open(
        store: impl ::columnar::__private::IntoOpening,
        model: M,
    ) -> ::columnar::__private::Result<Self> {
        let steps = Self::__STEPS(model);
        let flow = ::columnar::__private::Typed::__open(store, steps).await?;
        ::columnar::__private::Result::Ok(Self {
            __flow: flow,
            __marker: ::core::marker::PhantomData,
        })
    }
    /// Another flow with the past of this one: its steps before `step`. Both go on independently.
    ///
    /// # Errors
    ///
    /// When a source has no value for the step before.
    pub fn fork(&self, step: usize) -> ::columnar::__private::Result<Self> {
        let flow = self.__flow.fork(step)?;
        ::columnar::__private::Result::Ok(Self {
            __flow: flow,
            __marker: ::core::marker::PhantomData,
        })
    }
}
impl ::columnar::__private::Columns for ChatColumns {
    const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
        &[("user", 0, 0), ("topics", 0, 0), ("assistant", 1, 0)],
        &[
            (0, 1, false, "user"),
            (0, 0, false, "user"),
            (1, 2, false, "subjects"),
            (2, 0, false, "assistant"),
        ],
        &[],
        &[0, 1, 2],
    );
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        let [__topics, __assistant] = flow.__derived::<Self, _>();
        Self {
            user: ::columnar::__private::Declare.source(0usize, "user").__bind(flow),
            topics: __topics,
            assistant: __assistant,
        }
    }
}
impl ::core::fmt::Debug for ChatColumns {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("ChatColumns").finish_non_exhaustive()
    }
}
/// The computed columns of a [`Chat`], as its events name them.
#[derive(
    ::core::clone::Clone,
    ::core::marker::Copy,
    ::core::cmp::PartialEq,
    ::core::cmp::Eq,
    ::core::cmp::PartialOrd,
    ::core::cmp::Ord,
    ::core::hash::Hash,
)]
#[allow(non_camel_case_types, unreachable_pub)]
pub enum ChatColumn {
    /// The column `topics`.
    Topics,
    /// The column `assistant`.
    Assistant,
}
impl ChatColumn {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    pub const fn name(self) -> &'static str {
        const NAMES: &[&str] = &["topics", "assistant"];
        NAMES[self as usize]
    }
}
impl ::core::fmt::Debug for ChatColumn {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        ::columnar::__private::fmt_variant(self.name(), f)
    }
}
impl ::core::fmt::Display for ChatColumn {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.name())
    }
}
impl ::columnar::__private::ColumnId for ChatColumn {
    fn __of(
        column: usize,
        _: &::columnar::__private::Name,
    ) -> ::columnar::__private::Option<Self> {
        ::columnar::__private::listed(
            &[Self::Topics, Self::Assistant],
            &[0usize],
            column,
        )
    }
}
impl ::columnar::__private::ColumnEnum for ChatColumn {
    type Columns = ChatColumns;
    fn __name(self) -> &'static str {
        self.name()
    }
}
/// A chat.
///
#[cfg_attr(
    doc,
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 354 70\" width=\"354\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><path d=\"M56 14C84 14 84 14 112 14\" stroke-dasharray=\"4 3\"><title>topics reads user</title></path><path d=\"M112 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M56 14C84 14 84 54 112 54H184C212 54 212 14 240 14\"><title>assistant reads user</title></path><path d=\"M240 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M184 14C212 14 212 14 240 14\" stroke-dasharray=\"4 3\"><title>assistant reads topics</title></path><path d=\"M240 14l-7 -4v8z\" fill=\"currentColor\"/><rect x=\"0\" y=\"0\" width=\"56\" height=\"28\" rx=\"14\"/><text x=\"28\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"112\" y=\"0\" width=\"72\" height=\"28\" rx=\"4\"/><text x=\"148\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">topics</text><rect x=\"240\" y=\"0\" width=\"112\" height=\"28\" rx=\"4\"/><text x=\"296\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">assistant ↻</text></svg>"
)]
#[cfg_attr(
    not(doc),
    doc = "```text\nlevel 0  user\nlevel 1  topics     ← user.latest\nlevel 2  assistant  ← user, topics.window(2).as(\"subjects\"), self\n```"
)]
pub struct Chat<M: Model>
where
    M: Clone,
{
    __flow: ::columnar::__private::Typed<'static, ChatColumns, ChatColumn>,
    __marker: ::core::marker::PhantomData<fn() -> (::core::marker::PhantomData<M>,)>,
}
impl<M: Model> ::columnar::__private::Deref for Chat<M>
where
    M: Clone,
{
    type Target = ::columnar::__private::Typed<'static, ChatColumns, ChatColumn>;
    fn deref(&self) -> &Self::Target {
        &self.__flow
    }
}
impl<M: Model> ::columnar::__private::Base for Chat<M>
where
    M: Clone,
{
    type Columns = ChatColumns;
    type Column = ChatColumn;
    type Extended<__C, __I> = ::columnar::__private::Typed<'static, __C, __I>;
    type Step = ::columnar::__private::Step<'static>;
}
impl<M: Model> ::columnar::__private::Module for Chat<M>
where
    M: Clone,
{
    type Flow = Self;
}
