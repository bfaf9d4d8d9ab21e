fn around() {
    let chat = match [
        ::columnar::__private::None,
        ::columnar::__private::Some(::columnar::__private::Declare.column(prompt(style))),
    ] {
        steps => {
            #[allow(unexpected_cfgs)]
            const _: () = {
                #[cfg(rust_analyzer)]
                const _: () = {
                    use ::columnar::__private::keywords::column as _;
                };
            };
            /// The columns of this flow.
            #[allow(dead_code, unreachable_pub)]
            struct Columns {
                /// The source `user`.
                pub user: ::columnar::__private::Source,
                /// The column `styled`.
                pub styled: ::columnar::__private::Derived,
            }
            #[allow(non_upper_case_globals, unexpected_cfgs)]
            impl Columns {
                const __styled: &'static [::columnar::__private::Read] = &[
                    Self::__HERE.user.latest.__view(),
                    Self::__HERE.styled.latest.__view(),
                ];
                const __HERE: &'static Self = &Self {
                    user: ::columnar::__private::Declare.source(0usize, "user"),
                    styled: ::columnar::__private::Derived::__new(1usize, "styled"),
                };
            }
            impl ::columnar::__private::Columns for Columns {
                const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
                    &[
                        ::columnar::__private::Node::__source("user"),
                        ::columnar::__private::Node::__column("styled", Self::__styled),
                    ],
                    &[0usize, 1usize],
                );
                fn __plan() -> &'static ::columnar::__private::TypePlan {
                    static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
                    &PLAN
                }
                fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
                    Self {
                        user: Self::__HERE.user.__bind(flow),
                        styled: Self::__HERE.styled.__bind(flow),
                    }
                }
            }
            impl ::core::fmt::Debug for Columns {
                fn fmt(
                    &self,
                    f: &mut ::core::fmt::Formatter<'_>,
                ) -> ::core::fmt::Result {
                    f.debug_struct("Columns").finish_non_exhaustive()
                }
            }
            ::columnar::__private::Typed::<
                '_,
                Columns,
                ::columnar::__private::Name,
            >::__new(::columnar::__private::Vec::from(steps))
        }
    };
}
