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
                    &[("user", 0, 0), ("styled", 0, 0)],
                    &[(0, 1, false, "user"), (1, 1, false, "styled")],
                    &[],
                    &[0, 1],
                );
                fn __plan() -> &'static ::columnar::__private::TypePlan {
                    static PLAN: ::columnar::__private::TypePlan = ::columnar::__private::TypePlan::new();
                    &PLAN
                }
                fn __bind(flow: &::columnar::__private::Bind<'_>) -> Self {
                    let [__styled] = flow.__derived::<Self, _>();
                    Self {
                        user: ::columnar::__private::Declare
                            .source(0usize, "user")
                            .__bind(flow),
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
            #[allow(unexpected_cfgs)]
            let _ = |here: &Columns| {
                let _ = here.user.latest;
                let _ = here.styled.latest;
            };
            ::columnar::__private::Typed::<
                '_,
                Columns,
                ::columnar::__private::Name,
            >::__new(::columnar::__private::Vec::from(steps))
        }
    };
}
