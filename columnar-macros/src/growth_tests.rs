//! Flows with many mistakes: an editor expands a flow at each key.

use proc_macro2::{Span, TokenStream};
use quote::quote;

use crate::check::check;
use crate::diagnostics::Errors;
use crate::syntax;

/// The kinds of mistakes. The part between two `$` is repeated, with a number for each `~`, the number of the next repetition
/// for `@`, and half of the number for `%`.
const KINDS: &[&str] = &[
    "source user; $column a~(user) = x;$",
    // Names.
    "source user; $column a~(usr) = x;$",
    "source user; $column topics_~(topiks_~, user) = x;$",
    "source user; $column a~(history~, user) = x;$",
    "source user; $column topics(user) = x;$",
    "source user; $column topics_%(user) = x;$",
    "$source user;$",
    "source user; $column Topics~(user) = x;$",
    "source user; $column Topics~(user) = x; column b~(topics~) = x;$",
    "source user; $column a~(user) was \"a\" = x;$",
    "source user; $column a~(user) was \"a@\" = x;$",
    // Views.
    "source user; $column a~(user.lastest) = x;$",
    "source user; $column a~(user.window(0)) = x;$",
    "source user; $column a~(self) = x;$",
    "source user; $column a~() = x;$",
    "source user; $column a~(user, user) = x;$",
    "source user; $column a~(a~, user) = x;$",
    "source user; $#[deny(unbounded)] column a~(user) = x;$",
    "source user; column a($user.lastest~,$) = x;",
    "source user; column a($usr~,$) = x;",
    "source user; column a($user.as(\"t%\"),$) = x;",
    "source user; column a($group(\"g%\", user.as(\"x~\")),$) = x;",
    // Cycles.
    "source user; $column a~(b~, user) = x; column b~(a~) = x;$",
    "source user; $column a~(a@, user) = x;$",
    "source user; $column a~(a@, user) = x; column b~(b@, a~) = x;$",
    // Steps.
    "source user; $column a~(user) = prompt(\"x\").model(\"opnai/x\");$",
    "source user; $column a~(user) = prompt(\"{user}\");$",
    "source user; $column a~(user) = prompt(\"x\").every(0);$",
    "source user; $column a~(user.latest) = async |usr| usr;$",
    "source user; column a(user) = async |$usr~, $| x;",
    "source user; column a(user) = async |cx: Context| { $cx.input(\"usr~\");$ };",
    "source user; column a(user) = prompt(\"x\")$.every(0)$;",
    "source user; column a(user) = prompt(\"${user}$\");",
    // Declarations.
    "source user; $column a~(user);$",
    "source user; $column a~ = x;$",
    "source user; $column (user) = x;$",
    "source user; $column a~(user) = x $",
    "source user; $column a~(user) = prompt(\"a\"), $",
    "source user; $column a~(user) -> T = x;$",
    "source user; $#[cfg(x)] column a~(user) = x;$",
    "source user; $colum a~(user) = x;$",
    "source user; $let a~ = 3;$",
    "source user; $a~: x,$",
    "source user; $fn a~() {}$",
    "source user; $a~ $",
    "source user; $/// doc\n;$",
    // Modules.
    "source user; $use Debate { topic: usr } as a~;$",
    "source user; $use Debate { topic: user } as debate;$",
    "source user; $use Debate { topic: user } as m~; column a~(m~) = x;$",
    "source user; $use Debate { topic: a~ } as m~; column a~(m~.x, user) = x;$",
    "source user; $column a~(user) = x; use Debate { topic: user } as a~;$",
    "source user; use Debate { $topic: usr~, $} as debate;",
    "source user; use Debate { $topic_~: usr~, $} as debate;",
];

/// The kinds of mistakes in the parameters, before the braces of the flow.
const KINDS_OF_PARAMS: &[&str] = &["($a: u8,$)", "($a~: &'l~ u8,$)", "($a~: str,$)", "($a~ $)"];

fn repeated(kind: &str, count: usize) -> String {
    let mut parts = kind.split('$');
    let before = parts.next().unwrap();
    let part = parts.next().unwrap();
    let after = parts.next().unwrap();
    let numbered = (0..count).map(|at| {
        let next = (at + 1) % count;
        part.replace('~', &at.to_string()).replace('@', &next.to_string()).replace('%', &(at / 2).to_string())
    });
    format!("{before}{}{after}", numbered.collect::<String>())
}

/// The work of an expansion: the bytes that it allocates. Nothing here works on a name, a token or a message without a copy
/// of one, and no clock is asked.
fn cost(flow: &str) -> u64 {
    let measured = allocation_counter::measure(|| {
        let mut errors = Errors::default();
        let mut parsed = syntax::parse(flow.parse::<TokenStream>().unwrap(), &mut errors);
        let plan = check(&mut parsed, &mut errors);
        drop(crate::expand::expand(&quote!(::columnar), &parsed, Span::call_site(), &plan, &errors));
    });
    measured.bytes_total
}

/// A thousand columns of one name cost seconds, because each was compared with all others under all names that it might get.
/// So did a thousand unknown names, and parameters of one name, which had half a million errors.
#[test]
fn i12_twice_the_mistakes_cost_at_most_2_3_times_as_much() {
    let flows = KINDS.iter().map(|kind| (kind, "struct Chat { ", " }"));
    let flows = flows.chain(KINDS_OF_PARAMS.iter().map(|kind| (kind, "struct Chat", " { source user; }")));
    let mut wrong = Vec::new();
    for (kind, before, after) in flows {
        let costs = [125, 250, 500].map(|count| cost(&format!("{before}{}{after}", repeated(kind, count))));
        if costs[2] * 10 > costs[1] * 23 {
            wrong.push(format!("{kind}: {costs:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
