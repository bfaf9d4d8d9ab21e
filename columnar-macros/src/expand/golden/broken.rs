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
    /// The source `user`.
    pub user: ::columnar::__private::Source,
    /// The column `topics`.
    pub topics: ::columnar::__private::Derived,
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
    fn __topics(
        model: &impl ::core::marker::Sized,
    ) -> ::columnar::__private::Step<'static> {
        let _ = (model,);
        ::columnar::__private::broken()
    }
    fn __READS_topics(here: &ChatColumns) {
        #[cfg(rust_analyzer)]
        let _ = here.usr.__view();
    }
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = &["user", "topics"];
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = ::columnar::__private::graph::<
        Self,
    >();
    #[doc(hidden)]
    pub fn __STEPS(
        model: impl ::core::marker::Sized,
    ) -> ::columnar::__private::Vec<
        ::columnar::__private::Option<::columnar::__private::Step<'static>>,
    > {
        let steps: &[::columnar::__private::Step<'static>] = &[Self::__topics(&model)];
        ::columnar::__private::steps::<Self, _>(steps.iter().map(|step| step.clone()))
    }
    /// A new flow, with its values in memory.
    pub fn new(model: impl ::core::marker::Sized) -> Self {
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
        model: impl ::core::marker::Sized,
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
        &[("user", 0, 0), ("topics", 0, 0)],
        &[],
        &[],
        &[0, 1],
    );
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        let [__topics] = flow.__derived::<Self, _>();
        Self {
            user: ::columnar::__private::Declare.source(0usize, "user").__bind(flow),
            topics: __topics,
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
}
impl ChatColumn {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    pub const fn name(self) -> &'static str {
        const NAMES: &[&str] = &["topics"];
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
        ::columnar::__private::listed(&[Self::Topics], &[0usize], column)
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
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 74 70\" width=\"74\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><rect x=\"0\" y=\"0\" width=\"72\" height=\"28\" rx=\"14\"/><text x=\"36\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"0\" y=\"40\" width=\"72\" height=\"28\" rx=\"14\"/><text x=\"36\" y=\"59\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">topics</text></svg>"
)]
#[cfg_attr(not(doc), doc = "```text\nlevel 0  user\n         topics\n```")]
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
::core::compile_error! {
    "expected `:` and the type of `model`\n\nhelp: as in `model: String`"
}
::core::compile_error! {
    "a source has no compute step: its values come from outside\n\nhelp: `column user(...) = ...` computes one"
}
::core::compile_error! {
    "expected `source`, `column` or `use`, found `colum`\n\nhelp: did you mean `column`?"
}
::core::compile_error! {
    "column `topics` has no compute step\n\nhelp: add one, as in `= prompt(\"...\")`"
}
::core::compile_error! {
    "no column or source named `usr` in this flow\n\nhelp: did you mean `user`?"
}
