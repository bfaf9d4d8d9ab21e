#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        use ::columnar::__private::keywords::col as _;
        use ::columnar::__private::keywords::column as _;
    };
};
/// The columns of a [`Chat`].
#[allow(dead_code, unreachable_pub)]
pub struct ChatColumns {
    /// The source `user`.
    pub user: ::columnar::__private::Source,
    /// The column `topics`.
    pub topics: ::columnar::__private::Derived,
    /// The column `summary`.
    pub summary: ::columnar::__private::Derived,
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
impl Chat {
    fn __topics() -> ::columnar::__private::Step<'static> {
        ::columnar::__private::Declare.column(::columnar::__private::broken())
    }
    fn __summary() -> ::columnar::__private::Step<'static> {
        ::columnar::__private::Declare.column(prompt(sty))
    }
    fn __READS_topics(here: &ChatColumns) {
        #[cfg(rust_analyzer)]
        let _ = here.user.__view();
    }
    fn __READS_summary(here: &ChatColumns) {
        let _ = here.user;
        #[cfg(rust_analyzer)]
        let _ = here.to.__view();
        #[cfg(rust_analyzer)]
        let _ = here.summary.window().__view();
        #[cfg(rust_analyzer)]
        let _ = here.summary.__view();
    }
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = &["user", "topics", "summary"];
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = ::columnar::__private::graph::<
        Self,
    >();
    #[doc(hidden)]
    pub fn __STEPS() -> ::columnar::__private::Vec<
        ::columnar::__private::Option<::columnar::__private::Step<'static>>,
    > {
        let steps: &[fn() -> ::columnar::__private::Step<'static>] = &[
            Self::__topics,
            Self::__summary,
        ];
        ::columnar::__private::steps::<Self, _>(steps.iter().map(|step| step()))
    }
    /// A new flow, with its values in memory.
    pub fn new() -> Self {
        let flow = ::columnar::__private::Typed::__new(Self::__STEPS());
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
    ) -> ::columnar::__private::Result<Self> {
        let steps = Self::__STEPS();
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
        &[("user", 0, 0), ("topics", 0, 0), ("summary", 0, 0)],
        &[(0, 0, false, "user")],
        &[],
        &[0, 1, 2],
    );
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        let [__topics, __summary] = flow.__derived::<Self, _>();
        Self {
            user: ::columnar::__private::Declare.source(0usize, "user").__bind(flow),
            topics: __topics,
            summary: __summary,
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
    /// The column `summary`.
    Summary,
}
impl ChatColumn {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    pub const fn name(self) -> &'static str {
        const NAMES: &[&str] = &["topics", "summary"];
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
        ::columnar::__private::listed(&[Self::Topics, Self::Summary], &[0usize], column)
    }
}
impl ::columnar::__private::ColumnEnum for ChatColumn {
    type Columns = ChatColumns;
    fn __name(self) -> &'static str {
        self.name()
    }
}
/// The flow `Chat`.
///
#[cfg_attr(
    doc,
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 210 70\" width=\"210\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><path d=\"M56 14C84 14 84 14 112 14\"><title>topics reads user</title></path><path d=\"M112 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M56 14C84 14 84 54 112 54\"><title>summary reads user</title></path><path d=\"M112 54l-7 -4v8z\" fill=\"currentColor\"/><rect x=\"0\" y=\"0\" width=\"56\" height=\"28\" rx=\"14\"/><text x=\"28\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"112\" y=\"0\" width=\"96\" height=\"28\" rx=\"4\"/><text x=\"160\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">topics</text><rect x=\"112\" y=\"40\" width=\"96\" height=\"28\" rx=\"4\"/><text x=\"160\" y=\"59\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">summary ↻</text></svg>"
)]
#[cfg_attr(
    not(doc),
    doc = "```text\nlevel 0  user\nlevel 1  topics   ← user.\n         summary  ← user, self.window()\n```"
)]
pub struct Chat {
    __flow: ::columnar::__private::Typed<'static, ChatColumns, ChatColumn>,
    __marker: ::core::marker::PhantomData<fn() -> ()>,
}
impl ::columnar::__private::Deref for Chat {
    type Target = ::columnar::__private::Typed<'static, ChatColumns, ChatColumn>;
    fn deref(&self) -> &Self::Target {
        &self.__flow
    }
}
impl ::columnar::__private::Base for Chat {
    type Columns = ChatColumns;
    type Column = ChatColumn;
    type Extended<__C, __I> = ::columnar::__private::Typed<'static, __C, __I>;
    type Step = ::columnar::__private::Step<'static>;
}
impl ::columnar::__private::Module for Chat {
    type Flow = Self;
}
impl ::columnar::__private::Default for Chat {
    fn default() -> Self {
        Self::new()
    }
}
::core::compile_error! {
    "expected an expression that computes `topics` after this\n\nhelp: as in `= prompt(\"...\")`"
}
::core::compile_error! {
    "expected a view of `user` after the dot: `latest`, `window(n)` or `prev`"
}
::core::compile_error! {
    "expected how many values to show\n\nhelp: as in `window(3)`"
}
::core::compile_error! {
    "expected `source`, `column` or `use`, found `col`\n\nhelp: did you mean `column`?"
}
::core::compile_error! {
    "no column or source named `to` in this flow\n\nhelp: declared here: `user`, `topics`, `summary`"
}
