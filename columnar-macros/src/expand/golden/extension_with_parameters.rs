#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        use ::columnar::__private::keywords::column as _;
    };
};
/// The flow that a [`Felt`] extends.
#[allow(dead_code, unreachable_pub)]
type FeltBase<M> = Chat<M>;
/// The columns of a [`Felt`].
#[allow(dead_code, unreachable_pub)]
struct FeltColumns<Base: ::columnar::__private::Columns> {
    __base: Base,
    /// The column `mood`.
    pub mood: ::columnar::__private::Derived,
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
impl<M: Model, const N: usize> Felt<M, N>
where
    M: 'static,
{
    fn __mood() -> <FeltBase<M> as ::columnar::__private::Base>::Step {
        ::columnar::__private::Declare.column(prompt("Name the mood."))
    }
    fn __READS_mood(
        here: &FeltColumns<<FeltBase<M> as ::columnar::__private::Base>::Columns>,
    ) {
        let _ = here.user;
    }
    const __TEXT: [u8; { ::columnar::__private::MUCH }] = {
        Self::GRAPH
            .__text::<{ ::columnar::__private::MANY }, { ::columnar::__private::MUCH }>()
    };
    const __ORDER: [&'static str; { ::columnar::__private::MANY }] = ::columnar::__private::Graph::__names(
        &Self::__TEXT,
    );
    /// The names of the columns in topological order.
    const ORDER: &'static [&'static str] = ::columnar::__private::Graph::__taken(
        &Self::__ORDER,
    );
    /// The columns and what each of them reads.
    const GRAPH: ::columnar::__private::Graph = <<Self as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::GRAPH;
    #[doc(hidden)]
    fn __STEPS() -> ::columnar::__private::Vec<
        ::columnar::__private::Option<<FeltBase<M> as ::columnar::__private::Base>::Step>,
    > {
        let steps: &[fn() -> <FeltBase<M> as ::columnar::__private::Base>::Step] = &[
            Self::__mood,
        ];
        ::columnar::__private::steps::<Self, _>(steps.iter().map(|step| step()))
    }
    /// Goes on with a `Chat`: with what it holds and where it is stored, and with these columns on top.
    ///
    /// The next run, or the one that goes on, computes the new columns from step 0 as if they had
    /// always been there; the others are untouched. The flow that is extended stays another door to
    /// the same flow.
    ///
    /// # Errors
    ///
    /// When the flow has been extended by a column of one of these names already, or the store cannot be
    /// read. The flow is then as it was.
    async fn extend(
        base: impl ::columnar::__private::Borrow<FeltBase<M>>,
    ) -> ::columnar::__private::Result<Self> {
        let extended = {
            let base = base;
            ::columnar::__private::extend(
                ::columnar::__private::Deref::deref(
                    ::columnar::__private::Borrow::<FeltBase<M>>::borrow(&base),
                ),
                Self::__STEPS(),
            )
        };
        let flow = extended.await?;
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
    fn fork(&self, step: usize) -> ::columnar::__private::Result<Self> {
        let flow = self.__flow.fork(step)?;
        ::columnar::__private::Result::Ok(Self {
            __flow: flow,
            __marker: ::core::marker::PhantomData,
        })
    }
}
#[allow(non_upper_case_globals, unexpected_cfgs)]
impl<Base: ::columnar::__private::Columns> FeltColumns<Base> {
    const __mood: &'static [::columnar::__private::Read] = &[
        Self::__HERE_user.latest.__view(),
    ];
    const __BASE: ::columnar::__private::Graph = <Base as ::columnar::__private::Columns>::GRAPH;
    const __HERE_mood: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__BASE.__len() + 0usize,
        "mood",
    );
    const __HERE_user: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__BASE.__find("user"),
        "user",
    );
    const __NAME_mood: &'static str = Self::__BASE
        .__new_name(
            "mood",
            "`mood` is a column of `Chat` already\n\nhelp: give this one another name",
        );
}
impl<Base: ::columnar::__private::Columns> ::columnar::__private::Columns
for FeltColumns<Base> {
    const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
            &[(Self::__NAME_mood, 0, 0usize)],
            &[],
            &[Self::__mood],
            &[0usize],
        )
        .__extending(&<Base as ::columnar::__private::Columns>::GRAPH);
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        Self {
            __base: <Base as ::columnar::__private::Columns>::__bind(flow),
            mood: Self::__HERE_mood.__bind(flow),
        }
    }
}
impl<Base: ::columnar::__private::Columns> ::columnar::__private::Deref
for FeltColumns<Base> {
    type Target = Base;
    fn deref(&self) -> &Self::Target {
        &self.__base
    }
}
impl<Base: ::columnar::__private::Columns> ::core::fmt::Debug for FeltColumns<Base> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.debug_struct("FeltColumns").finish_non_exhaustive()
    }
}
/// The computed columns of a [`Felt`], as its events name them.
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
enum FeltColumn<Base> {
    /// A column of the `Chat` that is extended.
    Chat(Base),
    /// The column `mood`.
    Mood,
}
impl<Base: ::columnar::__private::ColumnEnum> FeltColumn<Base> {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    fn name(self) -> &'static str {
        match self {
            Self::Chat(column) => ::columnar::__private::ColumnEnum::__name(column),
            Self::Mood => "mood",
        }
    }
}
impl<Base: ::columnar::__private::ColumnEnum> ::core::fmt::Display for FeltColumn<Base> {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.name())
    }
}
impl<Base: ::columnar::__private::ColumnEnum> ::columnar::__private::ColumnId
for FeltColumn<Base> {
    fn __of(
        column: usize,
        name: &::columnar::__private::Name,
    ) -> ::columnar::__private::Option<Self> {
        if let ::columnar::__private::Some(column) = <Base as ::columnar::__private::ColumnId>::__of(
            column,
            name,
        ) {
            return ::columnar::__private::Some(Self::Chat(column));
        }
        match name.as_str() {
            "mood" => ::columnar::__private::Some(Self::Mood),
            _ => ::columnar::__private::None,
        }
    }
}
impl<Base: ::columnar::__private::ColumnEnum> ::columnar::__private::ColumnEnum
for FeltColumn<Base> {
    type Columns = FeltColumns<<Base as ::columnar::__private::ColumnEnum>::Columns>;
    fn __name(self) -> &'static str {
        self.name()
    }
}
/// The flow `Felt`.
///
#[cfg_attr(
    doc,
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 170 30\" width=\"170\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><path d=\"M56 14C84 14 84 14 112 14\" stroke-dasharray=\"4 3\"><title>mood reads user</title></path><path d=\"M112 14l-7 -4v8z\" fill=\"currentColor\"/><rect x=\"0\" y=\"0\" width=\"56\" height=\"28\" rx=\"14\"/><text x=\"28\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"112\" y=\"0\" width=\"56\" height=\"28\" rx=\"4\"/><text x=\"140\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">mood</text></svg>"
)]
#[cfg_attr(
    not(doc),
    doc = "```text\nlevel 0  user\nlevel 1  mood  ← user.latest\n```"
)]
struct Felt<M: Model, const N: usize> {
    __flow: <FeltBase<
        M,
    > as ::columnar::__private::Base>::Extended<
        FeltColumns<<FeltBase<M> as ::columnar::__private::Base>::Columns>,
        FeltColumn<<FeltBase<M> as ::columnar::__private::Base>::Column>,
    >,
    __marker: ::core::marker::PhantomData<fn() -> (::core::marker::PhantomData<M>,)>,
}
impl<M: Model, const N: usize> ::columnar::__private::Deref for Felt<M, N> {
    type Target = <FeltBase<
        M,
    > as ::columnar::__private::Base>::Extended<
        FeltColumns<<FeltBase<M> as ::columnar::__private::Base>::Columns>,
        FeltColumn<<FeltBase<M> as ::columnar::__private::Base>::Column>,
    >;
    fn deref(&self) -> &Self::Target {
        &self.__flow
    }
}
impl<M: Model, const N: usize> ::columnar::__private::Base for Felt<M, N> {
    type Columns = FeltColumns<<FeltBase<M> as ::columnar::__private::Base>::Columns>;
    type Column = FeltColumn<<FeltBase<M> as ::columnar::__private::Base>::Column>;
    type Extended<__C, __I> = <FeltBase<
        M,
    > as ::columnar::__private::Base>::Extended<__C, __I>;
    type Step = <FeltBase<M> as ::columnar::__private::Base>::Step;
}
