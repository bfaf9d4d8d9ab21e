#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        use ::columnar::__private::keywords::column as _;
        type __1 = Score;
    };
};
#[doc(hidden)]
#[allow(dead_code, unreachable_pub)]
pub type __ChatOthers<T> = Vec<T>;
/// The columns of a [`Chat`].
#[allow(dead_code, unreachable_pub)]
pub struct ChatColumns<__Others: 'static> {
    /// The source `user`.
    pub user: ::columnar::__private::Source,
    /// The column `score`.
    pub score: ::columnar::__private::Derived<Score>,
    /// The column `others`.
    pub others: ::columnar::__private::Derived<__Others>,
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
impl<T: Tell + 'static> Chat<T>
where
    T: 'static,
{
    fn __score() -> ::columnar::__private::Step<'static> {
        ::columnar::__private::Declare
            .column(prompt("Rate it."))
            .__typed(|here: &ChatColumns<__ChatOthers<T>>| { &here.score })
    }
    fn __others() -> ::columnar::__private::Step<'static> {
        ::columnar::__private::Declare
            .column(prompt("Go on."))
            .__typed(|here: &ChatColumns<__ChatOthers<T>>| { &here.others })
    }
    fn __READS_score(here: &ChatColumns<__ChatOthers<T>>) {
        let _ = here.user.latest;
    }
    fn __READS_others(here: &ChatColumns<__ChatOthers<T>>) {
        let _ = here.score;
    }
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = &["user", "score", "others"];
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = ::columnar::__private::graph::<
        Self,
    >();
    #[doc(hidden)]
    pub fn __STEPS() -> ::columnar::__private::Vec<
        ::columnar::__private::Option<::columnar::__private::Step<'static>>,
    > {
        let steps: &[fn() -> ::columnar::__private::Step<'static>] = &[
            Self::__score,
            Self::__others,
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
impl<__Others: 'static> ::columnar::__private::Columns for ChatColumns<__Others> {
    const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
            &[("user", 0, 0), ("score", 0, 0), ("others", 1, 0)],
            &[(0, 1, false, "user"), (1, 0, false, "score")],
            &[],
            &[0, 1, 2],
        )
        .__formers(&[::columnar::__private::Former::was(2usize, "more")]);
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        let [__score, __others] = flow.__derived::<Self, _>();
        Self {
            user: ::columnar::__private::Declare.source(0usize, "user").__bind(flow),
            score: __score.__typed(),
            others: __others.__typed(),
        }
    }
}
impl<__Others: 'static> ::core::fmt::Debug for ChatColumns<__Others> {
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
    /// The column `score`.
    Score,
    /// The column `others`.
    Others,
}
impl ChatColumn {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    pub const fn name(self) -> &'static str {
        const NAMES: &[&str] = &["score", "others"];
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
        ::columnar::__private::listed(&[Self::Score, Self::Others], &[0usize], column)
    }
}
impl ::columnar::__private::ColumnEnum for ChatColumn {
    type Columns = ChatColumns<()>;
    fn __name(self) -> &'static str {
        self.name()
    }
}
/// The flow `Chat`.
///
#[cfg_attr(
    doc,
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 306 30\" width=\"306\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><path d=\"M56 14C84 14 84 14 112 14\" stroke-dasharray=\"4 3\"><title>score reads user</title></path><path d=\"M112 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M176 14C204 14 204 14 232 14\"><title>others reads score</title></path><path d=\"M232 14l-7 -4v8z\" fill=\"currentColor\"/><rect x=\"0\" y=\"0\" width=\"56\" height=\"28\" rx=\"14\"/><text x=\"28\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"112\" y=\"0\" width=\"64\" height=\"28\" rx=\"4\"/><text x=\"144\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">score</text><rect x=\"232\" y=\"0\" width=\"72\" height=\"28\" rx=\"4\"/><text x=\"268\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">others</text></svg>"
)]
#[cfg_attr(
    not(doc),
    doc = "```text\nlevel 0  user\nlevel 1  score   ← user.latest\nlevel 2  others  ← score\n```"
)]
pub struct Chat<T: Tell + 'static> {
    __flow: ::columnar::__private::Typed<
        'static,
        ChatColumns<__ChatOthers<T>>,
        ChatColumn,
    >,
    __marker: ::core::marker::PhantomData<fn() -> (::core::marker::PhantomData<T>,)>,
}
impl<T: Tell + 'static> ::columnar::__private::Deref for Chat<T> {
    type Target = ::columnar::__private::Typed<
        'static,
        ChatColumns<__ChatOthers<T>>,
        ChatColumn,
    >;
    fn deref(&self) -> &Self::Target {
        &self.__flow
    }
}
impl<T: Tell + 'static> ::columnar::__private::Base for Chat<T> {
    type Columns = ChatColumns<__ChatOthers<T>>;
    type Column = ChatColumn;
    type Extended<__C, __I> = ::columnar::__private::Typed<'static, __C, __I>;
    type Step = ::columnar::__private::Step<'static>;
}
impl<T: Tell + 'static> ::columnar::__private::Module for Chat<T> {
    type Flow = Self;
}
impl<T: Tell + 'static> ::columnar::__private::Default for Chat<T>
where
    T: 'static,
{
    fn default() -> Self {
        Self::new()
    }
}
