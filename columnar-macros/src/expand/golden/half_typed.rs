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
#[allow(dead_code, unreachable_pub)]
impl Chat {
    #[allow(clippy::ptr_arg, clippy::trivially_copy_pass_by_ref)]
    fn __topics() -> ::columnar::__private::Step<'static> {
        ::columnar::__private::Declare.column(::columnar::__private::broken())
    }
    #[allow(clippy::ptr_arg, clippy::trivially_copy_pass_by_ref)]
    fn __summary() -> ::columnar::__private::Step<'static> {
        ::columnar::__private::Declare.column(prompt(sty))
    }
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = &["user", "topics", "summary"];
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = <<Self as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::GRAPH;
    #[doc(hidden)]
    #[allow(non_snake_case, clippy::needless_pass_by_value, clippy::too_many_arguments)]
    pub fn __STEPS() -> ::columnar::__private::Vec<
        ::columnar::__private::Option<::columnar::__private::Step<'static>>,
    > {
        let steps: &[::columnar::__private::Option<
            fn() -> ::columnar::__private::Step<'static>,
        >] = &[
            ::columnar::__private::None,
            ::columnar::__private::Some(Self::__topics),
            ::columnar::__private::Some(Self::__summary),
        ];
        steps.iter().map(|step| step.map(|step| step())).collect()
    }
    /// A new flow, with its values in memory.
    #[allow(clippy::new_without_default, clippy::too_many_arguments)]
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
    #[allow(clippy::too_many_arguments)]
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
#[allow(non_upper_case_globals, unexpected_cfgs)]
impl ChatColumns {
    const __topics: &'static [::columnar::__private::Read] = &[
        #[cfg(rust_analyzer)]
        Self::__HERE.user.__view(),
    ];
    const __summary: &'static [::columnar::__private::Read] = &[
        Self::__HERE.user.__view(),
        #[cfg(rust_analyzer)]
        Self::__HERE.to.__view(),
        #[cfg(rust_analyzer)]
        Self::__HERE.summary.window().__view(),
        #[cfg(rust_analyzer)]
        Self::__HERE.summary.__view(),
    ];
    const __HERE: &'static Self = &Self {
        user: ::columnar::__private::Declare.source(0usize, "user"),
        topics: ::columnar::__private::Derived::__new(1usize, "topics"),
        summary: ::columnar::__private::Derived::__new(2usize, "summary"),
    };
}
impl ::columnar::__private::Columns for ChatColumns {
    const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
        &[
            ::columnar::__private::Node::__source("user"),
            ::columnar::__private::Node::__column("topics", Self::__topics),
            ::columnar::__private::Node::__column("summary", Self::__summary),
        ],
        &[0usize, 1usize, 2usize],
    );
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        Self {
            user: Self::__HERE.user.__bind(flow),
            topics: Self::__HERE.topics.__bind(flow),
            summary: Self::__HERE.summary.__bind(flow),
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
    ::core::fmt::Debug,
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
        match self {
            Self::Topics => "topics",
            Self::Summary => "summary",
        }
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
        match column {
            1usize => ::columnar::__private::Some(Self::Topics),
            2usize => ::columnar::__private::Some(Self::Summary),
            _ => ::columnar::__private::None,
        }
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
