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
            impl ::columnar::__private::Columns for Columns {
                const GRAPH: ::columnar::__private::Graph = ::columnar::__private::Graph::__new(
                    &[
                        ::columnar::__private::Node::__source("user"),
                        ::columnar::__private::Node::__column(
                            "styled",
                            &[
                                ::columnar::__private::Read::__new(0usize, 1usize, "user"),
                                ::columnar::__private::Read::__new(1usize, 1usize, "styled"),
                            ],
                        ),
                    ],
                    &[0usize, 1usize],
                );
                fn __plan() -> &'static ::columnar::__private::TypePlan {
                    static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
                    &PLAN
                }
                fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
                    let [__user] = flow.__sources::<Self, _>();
                    let [__styled] = flow.__derived::<Self, _>();
                    Self {
                        user: __user,
                        styled: __styled,
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
            let _ = |here: &Columns| {
                let _ = (&here.user.latest, &here.styled.latest, here);
            };
            ::columnar::__private::Typed::<
                '_,
                Columns,
                ::columnar::__private::Name,
            >::__new(::columnar::__private::Vec::from(steps))
        }
    };
}
