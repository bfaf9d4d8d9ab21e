//! Incremental compilation after edits of a file with a flow.

use std::path::Path;

use columnar_compiler_tests::rustc::Rustc;

const ITEM: &str = r#"
mod inner {
    use super::*;
    flow! {
        /// Declared from the end to the beginning.
        #[derive(Debug)]
        pub(crate) struct Backwards<M: Clone + Send + Sync>(model: M) {
            column last(middle.window(N).as("before"), first.latest, self) = { let _ = model.clone(); echo };
            column middle(first) = prompt("instruction").when(|_| { let _ = model.clone(); true });
            column kept(first.latest) = async |first| { let _ = model.clone(); first };
            column first(user) = |cx: Context| async move { cx.messages().last_text().to_uppercase() };
            source user;
        }
    }
    flow! {
        #[derive(Clone, Debug)]
        pub(crate) struct Further<M: Clone + Send + Sync>(model: M): Backwards<M> {
            column beyond(last.latest, further.window(N).as("before"), self) = { let _ = model.clone(); echo };
            column further(user.window(N), middle) = echo;
        }
    }
    flow! {
        #[derive(Clone, Debug)]
        pub(crate) struct Again: Further<u8> {
            column again(further.latest, last) = async |further, last| format!("{further} {}", last.len());
        }
    }
    flow! {
        #[derive(Clone, Debug)]
        pub(crate) struct Host<M: Clone + Send + Sync>(model: M) {
            source said;
            use Backwards<M>(model.clone()) { user: said } as backwards;
            use Plain { topic: backwards.last } as plain;
            column end(backwards.first.latest, plain.critic.window(N), self) = echo;
            column named(plain.marks.latest, said, self.latest) = (|marks, said, named| {
                let sizes = (marks.len(), said.len(), named.is_some());
                async move { format!("{sizes:?}") }
            }).retry(1);
        }
    }
    flow! {
        pub(crate) struct Plain { source topic; column critic(topic) = echo; column marks(critic): Vec<u8> = echo; }
    }
    flow! {
        pub(crate) struct Coder {
            source files: Documents;
            source user;
            column coder(files.tiered().target(N), user, self) = echo;
        }
    }
    flow! {
        pub(crate) struct Reviewed: Coder {
            column review(files.tiered().target(N), coder.latest, self) = echo;
            column log(user, files) = echo;
        }
    }
    pub fn host() {
        let flow = Host::new(7);
        drop(IntoFuture::into_future(flow.run()));
        let _ = (HostColumn::<BackwardsColumn>::End.name(), Host::<u8>::ORDER, flow.plain.critic.len());
    }
    pub async fn extended() -> Result<usize> {
        let again = Again::extend(Further::extend(Backwards::new(7), 8).await?).await?;
        drop(IntoFuture::into_future(again.run()));
        let _ = (FurtherColumn::<BackwardsColumn>::Beyond.name(), Further::<u8>::ORDER, Again::ORDER);
        Ok(again.first.len() + again.beyond.len() + again.again.len())
    }
    pub fn run() {
        let flow = Backwards::new(7);
        drop(IntoFuture::into_future(flow.run()));
        let _ = BackwardsColumn::First.name();
    }
}
"#;

const INLINE: &str = r#"
pub fn inline(style: &str) {
    let flow = flow! {
        source user;
        column first(user.latest, self.window(N)) = prompt(style.to_owned());
        column second(first) = |cx: Context| async move { format!("{style} {}", cx.step()) };
        column third(second.latest): Option<bool> = echo;
        column fourth(second.latest, third) = async |second, third: Vec<_>, cx: Context| {
            format!("{second} {third:?} {style} {}", cx.step())
        };
    };
    drop(IntoFuture::into_future(flow.run()));
    let flow = flow! {
        source user;
        use inner::Plain { topic: user } as plain;
        column end(plain.critic.latest) = prompt(style.to_owned());
    };
    drop(IntoFuture::into_future(flow.run()));
    let flow = flow! {
        source files: Documents;
        source user;
        column coder(files.tiered(), user, self) = prompt(style.to_owned());
    };
    drop(IntoFuture::into_future(flow.run()));
}
"#;

/// Generated code had positions among the user's lines. After lines above the flow were deleted, rustc failed: it
/// reused a cached function, whose position was then after the end of the file. Only a clean build helped.
#[test]
fn lines_above_a_flow_may_be_added_and_removed() {
    for emit in ["--emit=metadata", "--emit=obj"] {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("incremental");
        let rustc = Rustc::new(&folder);
        let cache = format!("-Cincremental={}", folder.join("cache").display());
        for lines in [300, 0, 100, 1, 200] {
            let above = "// a line above\n".repeat(lines);
            let text = format!(
                "use columnar::prelude::*;\nconst N: usize = 2;\n\
                 async fn echo(cx: Context) -> String {{ cx.messages().last_text().into_owned() }}\n\
                 {above}{ITEM}{above}{INLINE}"
            );
            let source = rustc.write("edited", &text);
            let compiled = rustc.compile(&source, &[emit, "-Cdebuginfo=2", &cache]);
            assert_eq!(compiled, Ok(()), "{emit} with {lines} lines above");
        }
    }
}
