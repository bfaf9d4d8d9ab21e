#[allow(unexpected_cfgs)]
const _: () = {
    #[cfg(rust_analyzer)]
    const _: () = {
        use ::columnar::__private::keywords::column as _;
    };
};
/// The flow that a [`Felt`] extends.
#[allow(dead_code, unreachable_pub)]
pub type FeltBase<'a> = other::Chat<'a>;
/// The columns of a [`Felt`].
#[allow(dead_code, unreachable_pub)]
pub struct FeltColumns {
    __base: <FeltBase<'static> as ::columnar::__private::Base>::Columns,
    /// The column `mood`.
    pub mood: ::columnar::__private::Derived,
    /// How it was said.
    pub tone: ::columnar::__private::Derived,
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
impl<'a> Felt<'a> {
    fn __mood(style: &&'a str) -> <FeltBase<'a> as ::columnar::__private::Base>::Step {
        let _ = (style,);
        ::columnar::__private::Declare.column(prompt("Name the mood."))
    }
    fn __tone(style: &&'a str) -> <FeltBase<'a> as ::columnar::__private::Base>::Step {
        let _ = (style,);
        ::columnar::__private::Declare.column(prompt(style))
    }
    fn __READS_mood(here: &FeltColumns) {
        let _ = here.tone;
        let _ = here.user;
        let _ = here.summary;
        let _ = here.mood;
    }
    fn __READS_tone(here: &FeltColumns) {
        let _ = here.user;
    }
    const __TEXT: [u8; {
        <FeltColumns as ::columnar::__private::Columns>::GRAPH.__text_len()
    }] = {
        Self::GRAPH
            .__text::<
                { <FeltColumns as ::columnar::__private::Columns>::GRAPH.__len() },
                { <FeltColumns as ::columnar::__private::Columns>::GRAPH.__text_len() },
            >()
    };
    const __ORDER: [&'static str; {
        <FeltColumns as ::columnar::__private::Columns>::GRAPH.__len()
    }] = ::columnar::__private::Graph::__names(&Self::__TEXT);
    /// The names of the columns in topological order.
    pub const ORDER: &'static [&'static str] = ::columnar::__private::Graph::__taken(
        &Self::__ORDER,
    );
    /// The columns and what each of them reads.
    pub const GRAPH: ::columnar::__private::Graph = <<Self as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::GRAPH;
    #[doc(hidden)]
    fn __STEPS(
        style: &'a str,
    ) -> ::columnar::__private::Vec<
        ::columnar::__private::Option<
            <FeltBase<'a> as ::columnar::__private::Base>::Step,
        >,
    > {
        let steps: &[fn(
            &&'a str,
        ) -> <FeltBase<'a> as ::columnar::__private::Base>::Step] = &[
            Self::__mood,
            Self::__tone,
        ];
        ::columnar::__private::steps::<Self, _>(steps.iter().map(|step| step(&style)))
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
    pub async fn extend(
        base: impl ::columnar::__private::Borrow<FeltBase<'a>>,
        style: &'a str,
    ) -> ::columnar::__private::Result<Self> {
        let extended = {
            let base = base;
            ::columnar::__private::extend(
                ::columnar::__private::Deref::deref(
                    ::columnar::__private::Borrow::<FeltBase<'a>>::borrow(&base),
                ),
                Self::__STEPS(style),
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
    pub fn fork(&self, step: usize) -> ::columnar::__private::Result<Self> {
        let flow = self.__flow.fork(step)?;
        ::columnar::__private::Result::Ok(Self {
            __flow: flow,
            __marker: ::core::marker::PhantomData,
        })
    }
}
#[allow(non_upper_case_globals, unexpected_cfgs)]
impl FeltColumns {
    const __mood: &'static [::columnar::__private::Read] = &[
        Self::__HERE_tone.__view(),
        Self::__HERE_user.latest.__view(),
        Self::__HERE_summary.window(2).r#as("digest").__view(),
        Self::__HERE_mood.latest.__view(),
    ];
    const __tone: &'static [::columnar::__private::Read] = &[Self::__HERE_user.__view()];
    const __BASE: ::columnar::__private::Graph = <<FeltBase<
        'static,
    > as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::GRAPH;
    const __HERE_mood: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__BASE.__len() + 0usize,
        "mood",
    );
    const __HERE_tone: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__BASE.__len() + 1usize,
        "tone",
    );
    const __HERE_user: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__BASE.__find("user"),
        "user",
    );
    const __HERE_summary: &'static ::columnar::__private::Derived = &::columnar::__private::Derived::__new(
        Self::__BASE.__find("summary"),
        "summary",
    );
    const __NAME_mood: &'static str = Self::__BASE
        .__new_name(
            "mood",
            "`mood` is a column of `Chat` already\n\nhelp: give this one another name",
        );
    const __NAME_tone: &'static str = Self::__BASE
        .__new_name(
            "tone",
            "`tone` is a column of `Chat` already\n\nhelp: give this one another name",
        );
}
impl ::columnar::__private::Columns for FeltColumns {
    const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
            &[(Self::__NAME_mood, 0, 0usize), (Self::__NAME_tone, 0, 1usize)],
            &[],
            &[Self::__mood, Self::__tone],
            &[1usize, 0usize],
        )
        .__extending(
            &<<FeltBase<
                'static,
            > as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::GRAPH,
        );
    fn __plan() -> &'static ::columnar::__private::TypePlan {
        static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
        &PLAN
    }
    fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
        Self {
            __base: <<FeltBase<
                'static,
            > as ::columnar::__private::Base>::Columns as ::columnar::__private::Columns>::__bind(
                flow,
            ),
            mood: Self::__HERE_mood.__bind(flow),
            tone: Self::__HERE_tone.__bind(flow),
        }
    }
}
impl ::columnar::__private::Deref for FeltColumns {
    type Target = <FeltBase<'static> as ::columnar::__private::Base>::Columns;
    fn deref(&self) -> &Self::Target {
        &self.__base
    }
}
impl ::core::fmt::Debug for FeltColumns {
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
pub enum FeltColumn {
    /// A column of the `Chat` that is extended.
    Chat(<FeltBase<'static> as ::columnar::__private::Base>::Column),
    /// The column `mood`.
    Mood,
    /// How it was said.
    Tone,
}
impl FeltColumn {
    /// The name of the column.
    #[allow(dead_code, unreachable_pub)]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat(column) => ::columnar::__private::ColumnEnum::__name(column),
            Self::Mood => "mood",
            Self::Tone => "tone",
        }
    }
}
impl ::core::fmt::Display for FeltColumn {
    fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
        f.pad(self.name())
    }
}
impl ::columnar::__private::ColumnId for FeltColumn {
    fn __of(
        column: usize,
        name: &::columnar::__private::Name,
    ) -> ::columnar::__private::Option<Self> {
        if let ::columnar::__private::Some(column) = <<FeltBase<
            'static,
        > as ::columnar::__private::Base>::Column as ::columnar::__private::ColumnId>::__of(
            column,
            name,
        ) {
            return ::columnar::__private::Some(Self::Chat(column));
        }
        match name.as_str() {
            "mood" => ::columnar::__private::Some(Self::Mood),
            "tone" => ::columnar::__private::Some(Self::Tone),
            _ => ::columnar::__private::None,
        }
    }
}
impl ::columnar::__private::ColumnEnum for FeltColumn {
    type Columns = FeltColumns;
    fn __name(self) -> &'static str {
        self.name()
    }
}
/// A chat, and what was felt.
///
#[cfg_attr(
    doc,
    doc = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-1 -1 322 110\" width=\"322\" style=\"max-width:100%\" role=\"img\" aria-label=\"Who reads whom\" fill=\"none\" stroke=\"currentColor\" font-family=\"monospace\" font-size=\"13\"><path d=\"M192 14C220 14 220 14 248 14\"><title>mood reads tone</title></path><path d=\"M248 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M80 14C108 14 108 54 136 54H192C220 54 220 14 248 14\" stroke-dasharray=\"4 3\"><title>mood reads user</title></path><path d=\"M248 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M80 54C108 54 108 94 136 94H192C220 94 220 14 248 14\" stroke-dasharray=\"4 3\"><title>mood reads summary</title></path><path d=\"M248 14l-7 -4v8z\" fill=\"currentColor\"/><path d=\"M80 14C108 14 108 14 136 14\"><title>tone reads user</title></path><path d=\"M136 14l-7 -4v8z\" fill=\"currentColor\"/><rect x=\"0\" y=\"0\" width=\"80\" height=\"28\" rx=\"14\"/><text x=\"40\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">user</text><rect x=\"0\" y=\"40\" width=\"80\" height=\"28\" rx=\"14\"/><text x=\"40\" y=\"59\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">summary</text><rect x=\"248\" y=\"0\" width=\"72\" height=\"28\" rx=\"4\"/><text x=\"284\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">mood ↻</text><rect x=\"136\" y=\"0\" width=\"56\" height=\"28\" rx=\"4\"/><text x=\"164\" y=\"19\" text-anchor=\"middle\" stroke=\"none\" fill=\"currentColor\">tone</text></svg>"
)]
#[cfg_attr(
    not(doc),
    doc = "```text\nlevel 0  user\n         summary\nlevel 1  tone     ← user\nlevel 2  mood     ← tone, user.latest, summary.window(2).as(\"digest\"), self.latest\n```"
)]
pub struct Felt<'a> {
    __flow: <FeltBase<
        'a,
    > as ::columnar::__private::Base>::Extended<FeltColumns, FeltColumn>,
    __marker: ::core::marker::PhantomData<fn() -> (&'a (),)>,
}
impl<'a> ::columnar::__private::Deref for Felt<'a> {
    type Target = <FeltBase<
        'a,
    > as ::columnar::__private::Base>::Extended<FeltColumns, FeltColumn>;
    fn deref(&self) -> &Self::Target {
        &self.__flow
    }
}
impl<'a> ::columnar::__private::Base for Felt<'a> {
    type Columns = FeltColumns;
    type Column = FeltColumn;
    type Extended<__C, __I> = <FeltBase<
        'a,
    > as ::columnar::__private::Base>::Extended<__C, __I>;
    type Step = <FeltBase<'a> as ::columnar::__private::Base>::Step;
}
