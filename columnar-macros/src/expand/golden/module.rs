#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        use ::columnar::__private::keywords::column as _;
    };
};
#[doc(hidden)]
#[allow(dead_code, unreachable_pub)]
pub type __ChatDebate<M> = Debate<M>;
/// The columns of a [`Chat`].
#[allow(dead_code, unreachable_pub)]
pub struct ChatColumns<Debate: ::columnar::__private::Columns> {
    /// The source `user`.
    pub user: ::columnar::__private::Source,
    /// The column `verdict`.
    pub verdict: ::columnar::__private::Derived,
    /// What was argued.
    pub debate: Debate,
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
    M: 'static,
{
    fn __verdict(model: &M) -> ::columnar::__private::Step<'static> {
        let _ = (model,);
        ::columnar::__private::Declare.column(prompt("Judge."))
    }
    fn __READS_verdict(
        here: &ChatColumns<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Columns,
        >,
    ) {
        let _ = here.debate.critic;
        let _ = here.user;
    }
    fn __debate(
        model: &M,
    ) -> ::columnar::__private::Vec<::columnar::__private::Step<'static>> {
        let _ = (model,);
        {
            #[allow(dead_code, non_snake_case)]
            trait __Otherwise {
                fn __STEPS<'a, __A0>(
                    _: __A0,
                ) -> ::columnar::__private::Vec<
                    ::columnar::__private::Option<::columnar::__private::Step<'a>>,
                > {
                    ::columnar::__private::vec![]
                }
            }
            impl<T> __Otherwise for T {}
            ::columnar::__private::lend(<Debate<M>>::__STEPS(model.clone()))
        }
    }
    fn __READS_debate(
        here: &ChatColumns<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Columns,
        >,
    ) {
        let _ = here.debate.topic;
        let _ = here.user;
    }
    const __TEXT: [u8; { ::columnar::__private::MUCH }] = {
        let () = <ChatColumns<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Columns,
        >>::__SORTED;
        Self::GRAPH
            .__text::<{ ::columnar::__private::MANY }, { ::columnar::__private::MUCH }>()
    };
    const __ORDER: [&'static str; { ::columnar::__private::MANY }] = ::columnar::__private::Graph::__names(
        &Self::__TEXT,
    );
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = ::columnar::__private::Graph::__taken(
        &Self::__ORDER,
    );
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = <<Self as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::GRAPH;
    #[doc(hidden)]
    pub fn __STEPS(
        model: M,
    ) -> ::columnar::__private::Vec<
        ::columnar::__private::Option<::columnar::__private::Step<'static>>,
    > {
        let steps: &[fn(&M) -> ::columnar::__private::Step<'static>] = &[
            Self::__verdict,
        ];
        ::columnar::__private::join(
            ::columnar::__private::steps::<
                Self,
                _,
            >(steps.iter().map(|step| step(&model))),
            [Self::__debate(&model)],
        )
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
#[allow(non_upper_case_globals, unexpected_cfgs)]
impl<Debate: ::columnar::__private::Columns> ChatColumns<Debate> {
    const __verdict: &'static [::columnar::__private::Read] = &[
        Self::__HERE_debate_DOT_critic.latest.r#as("case").__view(),
        Self::__HERE_user.latest.__view(),
    ];
    const __AT_debate: ::columnar::__private::Place = ::columnar::__private::Place::__new(
        2usize,
        &<Debate as ::columnar::__private::Columns>::GRAPH,
    );
    const __USE_debate: ::columnar::__private::Used = ::columnar::__private::Used::__new(
        "debate",
        Self::__AT_debate,
        &[(Self::__AT_debate.__source("topic"), Self::__HERE_user.__column())],
    );
    const __HERE_user: &'static ::columnar::__private::Source = &::columnar::__private::Source::__new(
        0usize,
        "user",
    );
    const __HERE_verdict: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        1usize,
        "verdict",
    );
    const __HERE_debate_DOT_critic: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__AT_debate.__column("critic"),
        "critic",
    );
    const __SORTED: () = <Self as ::columnar::__private::Columns>::GRAPH
        .__sorted::<{ ::columnar::__private::MANY }>();
}
impl<Debate: ::columnar::__private::Columns> ::columnar::__private::Columns
for ChatColumns<Debate> {
    const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
            &[("user", 0, 0usize), ("verdict", 0, 0usize)],
            &[],
            &[Self::__verdict],
            &[0usize, 1usize],
        )
        .__using(&[Self::__USE_debate.__whole()]);
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        let () = Self::__SORTED;
        Self {
            user: Self::__HERE_user.__bind(flow),
            verdict: Self::__HERE_verdict.__bind(flow),
            debate: <Debate as ::columnar::__private::Columns>::__bind(
                &flow.__module("debate", &[("topic", "user")]),
            ),
        }
    }
}
impl<Debate: ::columnar::__private::Columns> ::core::fmt::Debug for ChatColumns<Debate> {
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
pub enum ChatColumn<Debate> {
    /// The column `verdict`.
    Verdict,
    /// A column of the module `debate`.
    Debate(Debate),
}
impl<Debate: ::columnar::__private::ColumnEnum> ChatColumn<Debate> {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Debate(column) => {
                <Self as ::columnar::__private::ColumnEnum>::__name_in(
                    "debate",
                    ::columnar::__private::ColumnEnum::__name(column),
                )
            }
        }
    }
}
impl<Debate: ::columnar::__private::ColumnEnum> ::core::fmt::Display
for ChatColumn<Debate> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.name())
    }
}
impl<Debate: ::columnar::__private::ColumnEnum> ::columnar::__private::ColumnId
for ChatColumn<Debate> {
    fn __of(
        column: usize,
        name: &::columnar::__private::Name,
    ) -> ::columnar::__private::Option<Self> {
        match column {
            1usize => ::columnar::__private::Some(Self::Verdict),
            _ => {
                <Debate as ::columnar::__private::ColumnEnum>::__of_module(
                        "debate",
                        name,
                    )
                    .map(Self::Debate)
            }
        }
    }
}
impl<Debate: ::columnar::__private::ColumnEnum> ::columnar::__private::ColumnEnum
for ChatColumn<Debate> {
    type Columns = ChatColumns<<Debate as ::columnar::__private::ColumnEnum>::Columns>;
    fn __name(self) -> &'static str {
        self.name()
    }
}
/// A chat that has a debate.
///
#[cfg_attr(
    doc,
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 322 70\" width=\"322\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><path d=\"M184 14C212 14 212 14 240 14\" stroke-dasharray=\"4 3\"><title>verdict reads debate</title></path><path d=\"M240 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M56 14C84 14 84 54 112 54H184C212 54 212 14 240 14\" stroke-dasharray=\"4 3\"><title>verdict reads user</title></path><path d=\"M240 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M56 14C84 14 84 14 112 14\"><title>debate reads user</title></path><path d=\"M112 14l-7 -4v8z\" fill=\"currentColor\"/><rect x=\"0\" y=\"0\" width=\"56\" height=\"28\" rx=\"14\"/><text x=\"28\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"240\" y=\"0\" width=\"80\" height=\"28\" rx=\"4\"/><text x=\"280\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">verdict</text><rect x=\"112\" y=\"0\" width=\"72\" height=\"28\" rx=\"4\"/><text x=\"148\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">debate</text></svg>"
)]
#[cfg_attr(
    not(doc),
    doc = "```text\nlevel 0  user\nlevel 1  debate   ← user\nlevel 2  verdict  ← debate.critic.latest.as(\"case\"), user.latest\n```"
)]
pub struct Chat<M: Model> {
    __flow: ::columnar::__private::Typed<
        'static,
        ChatColumns<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Columns,
        >,
        ChatColumn<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Column,
        >,
    >,
    __marker: ::core::marker::PhantomData<fn() -> (::core::marker::PhantomData<M>,)>,
}
impl<M: Model> ::columnar::__private::Deref for Chat<M> {
    type Target = ::columnar::__private::Typed<
        'static,
        ChatColumns<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Columns,
        >,
        ChatColumn<
            <<__ChatDebate<
                M,
            > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Column,
        >,
    >;
    fn deref(&self) -> &Self::Target {
        &self.__flow
    }
}
impl<M: Model> ::columnar::__private::Base for Chat<M> {
    type Columns = ChatColumns<
        <<__ChatDebate<
            M,
        > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Columns,
    >;
    type Column = ChatColumn<
        <<__ChatDebate<
            M,
        > as ::columnar::__private::Module>::Flow as ::columnar::__private::Base>::Column,
    >;
    type Extended<__C, __I> = ::columnar::__private::Typed<'static, __C, __I>;
    type Step = ::columnar::__private::Step<'static>;
}
impl<M: Model> ::columnar::__private::Module for Chat<M> {
    type Flow = Self;
}
