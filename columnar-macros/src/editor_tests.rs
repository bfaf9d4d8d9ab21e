//! The expansion with a marker at the cursor of an editor and the one without it have the same text up to the marker.
//! rust-analyzer maps positions between the two by that.
//!
//! In the flows below `¦` is the cursor.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;

use crate::diagnostics::Errors;
use crate::ident::MARKER;
use crate::tests::{Chance, declarations, flow};

const ITEM: &str = r#"
    /// A chat.
    pub struct Chat<M: Model>(model: M) where M: Clone {
        /// What the person typed.
        source user;
        column topics(user.latest) = prompt("List the topics.").model(model.clone());
        /// What was said.
        column summary(user.window(N).as("said"), topics, self.latest) = |cx: Context| async move { cx.text() };
        column assistant(
            user,
            summary.latest.named("digest"),
        ) = prompt("Answer.");
        column loud(user.latest, topics.as("subjects"), self) =
            async |user, mut subjects: Vec<Value>, loud, cx: Context| user.to_uppercase();
        source r#type;
    }
"#;

const EXTENSION: &str = r#"
    pub struct Felt<'a>(style: &'a str): other::Chat<'a> {
        column mood(tone, user.latest, summary.window(2).as("digest"), self.latest) = prompt(style);
        column tone(user) = prompt("Name the tone.");
    }
"#;

/// Whether a position in a flow must be found, or need not be.
#[derive(Clone, Copy, PartialEq)]
enum Found {
    Certainly,
    Perhaps,
}

/// The expansion, token by token. The errors come last.
fn expand(source: &str) -> Option<Vec<String>> {
    let tokens: TokenStream = source.parse().ok()?;
    let mut text = Vec::new();
    flatten(crate::expand(quote!([::columnar] #tokens), &mut Errors::default()), &mut text);
    Some(text)
}

fn flatten(tokens: TokenStream, text: &mut Vec<String>) {
    for tree in tokens {
        if let TokenTree::Group(group) = tree {
            let brackets = proc_macro2::Group::new(group.delimiter(), TokenStream::new()).to_string();
            let mut brackets = brackets.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            if brackets.len() == 1 {
                brackets = brackets.concat().chars().map(String::from).collect();
            }
            text.extend(brackets.first().cloned());
            flatten(group.stream(), text);
            text.extend(brackets.get(1).cloned());
        } else {
            text.push(tree.to_string());
        }
    }
}

fn is_sign(letter: char) -> bool {
    letter != '_' && !letter.is_alphanumeric()
}

/// Checks the flow at the cursor, and returns whether there is anything for an editor to find.
fn check(flow: &str, found: Found) -> bool {
    let (before, after) = flow.split_once('¦').expect("there is a cursor");
    let start = before.rfind(is_sign).map_or(0, |at| at + 1);
    let end = after.find(is_sign).unwrap_or(after.len());
    let word = [&before[start..], &after[..end]].concat();

    let marked = expand(&format!("{before}{MARKER}{after}"));
    let (Some(plain), Some(marked)) = (expand(&[before, after].concat()), marked) else {
        assert!(found == Found::Perhaps, "no tokens: {flow}");
        return false;
    };
    let Some(at) = marked.iter().position(|token| token.contains(MARKER)) else {
        assert!(found == Found::Perhaps, "no marker in the expansion of {flow}\n\n{}", marked.join(" "));
        return false;
    };
    let other = marked[..at].iter().zip(&plain).position(|(marked, plain)| marked != plain);
    let shown =
        |tokens: &[String], at: usize| tokens[at.saturating_sub(20)..(at + 5).min(tokens.len())].join(" ");
    if let Some(other) = other {
        panic!("another shape: {flow}\n\n{}\n\n{}", shown(&marked, other), shown(&plain, other));
    }
    if found == Found::Certainly && !word.is_empty() {
        let is_word =
            plain[at].trim_start_matches("r#") == marked[at].trim_start_matches("r#").replace(MARKER, "");
        assert!(is_word, "`{}` instead of `{word}`: {flow}", plain[at]);
    }
    true
}

/// The flow with the cursor at the beginning, inside and at the end of every word of its body.
fn at_every_word(flow: &str) -> Vec<String> {
    let body = flow.find('{').map_or(0, |brace| brace + 1);
    let mut cursors = Vec::new();
    let is_letter =
        |letter: Option<char>| letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_');
    let mut is_text = false;
    let mut end = 0;
    for line in flow.split_inclusive('\n') {
        let start = end;
        end += line.len();
        if line.trim_start().starts_with("///") {
            continue;
        }
        for (at, letter) in line.char_indices() {
            let at = start + at;
            let (before, after) = flow.split_at(at);
            let is_word = is_letter(before.chars().last()) || is_letter(Some(letter));
            let is_prefix = before.ends_with("r#")
                || before.ends_with('r') && after.starts_with('#')
                || after.starts_with("r#");
            if at >= body && !is_text && is_word && !is_prefix {
                cursors.push(format!("{before}¦{after}"));
            }
            is_text ^= letter == '"';
        }
    }
    cursors
}

fn body_of_item() -> &'static str {
    let (_, body) = ITEM.split_once('{').expect("there is a body");
    body.rsplit_once('}').expect("it ends").0
}

#[test]
fn every_word_of_a_valid_flow_is_found() {
    for flow in [ITEM, EXTENSION, body_of_item()] {
        let cursors = at_every_word(flow);
        assert!(cursors.len() > 60, "{}", cursors.len());
        for cursor in cursors {
            check(&cursor, Found::Certainly);
        }
    }
}

/// Columns that are being typed, below the sources `user` and `topics` and above a valid column.
const HALF_TYPED: &[&str] = &[
    "column summary(¦) = prompt(\"\");",
    "column summary(¦)",
    "column summary(to¦)",
    "column summary(to¦) = prompt(\"\");",
    "column summary(to¦, self) = prompt(\"\")",
    "column summary(user, ¦) = prompt(\"\");",
    "column summary(user, ¦",
    "column summary(user, ¦, self) = prompt(\"\");",
    "column summary(user, to¦) = prompt(\"\");",
    "column summary(user, sel¦) = prompt(\"\");",
    "column summary(¦, user) = prompt(\"\");",
    "column summary(user.¦) = prompt(\"\");",
    "column summary(user.¦)",
    "column summary(user.¦, topics) = prompt(\"\");",
    "column summary(user.¦, to) = ;",
    "column summary(user.la¦) = prompt(\"\");",
    "column summary(user.window¦) = prompt(\"\");",
    "column summary(user.window(¦)) = prompt(\"\");",
    "column summary(user.window(CO¦)) = prompt(\"\");",
    "column summary(user.latest.¦) = prompt(\"\");",
    "column summary(user.latest.as¦) = prompt(\"\");",
    "column summary(user.latest.window¦) = prompt(\"\");",
    "column summary(user.as¦) = prompt(\"\");",
    "column summary(user.as(\"said\").la¦) = prompt(\"\");",
    "column summary(use¦.latest, usr.latest) = prompt(\"\");",
    "column summary(summary¦) = prompt(\"\");",
    "column summary(self¦) = prompt(\"\");",
    "column summary(self.¦) = prompt(\"\");",
    "column summary(user, self.la¦) = ",
    "column summary(type¦) = prompt(\"\");",
    "source files: ¦;",
    "source files: Doc¦;",
    "source files: Doc¦",
    "source files: other::¦;",
    "source files: other::Doc¦ was \"code\";",
    "source files: Documents; column summary(files.¦) = prompt(\"\");",
    "source files: Documents; column summary(files.ti¦, user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered¦(), user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().¦, user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().ta¦, user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().target¦(3), user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().target(¦), user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().target(TO¦), user, self) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered(), us¦, self) = prompt(\"\");",
    "source files: Documents; column summary(fi¦.tiered(), user, self) = prompt(\"\");",
    "column summary(user.ti¦) = prompt(\"\");",
    "column summary(user.tiered¦()) = prompt(\"\");",
    "column summary[user¦] = prompt(\"\");",
    "column summary(user, topics.pr¦) = prompt(\"\");",
    "column summary(user.prev.¦) = prompt(\"\");",
    "column summary(user.prev.win¦) = prompt(\"\");",
    "column summary(user.prev¦.all()) = prompt(\"\");",
    "column summary(user.no¦) = prompt(\"\");",
    "column summary(user.note(\"said\").¦) = prompt(\"\");",
    "column summary(user.fil¦) = prompt(\"\");",
    "column summary(user.filter(|text| text.is_¦)) = prompt(\"\");",
    "column summary(user.latest.eli¦) = prompt(\"\");",
    "column summary(user.window(2).elided¦()) = prompt(\"\");",
    "column summary(user.elided¦) = prompt(\"\");",
    "column summary(user.latest.elided().¦) = prompt(\"\");",
    "column summary(user, topics.con¦) = prompt(\"\");",
    "column summary(user, topics.context¦) = prompt(\"\");",
    "column summary(user, topics.context¦()) = prompt(\"\");",
    "column summary(user, topics.context(¦)) = prompt(\"\");",
    "column summary(user, topics.context().¦) = prompt(\"\");",
    "column summary(user, topics.latest.ins¦) = prompt(\"\");",
    "column summary(user, topics.text_on¦) = prompt(\"\");",
    "column summary(user, topics.text_only¦()) = prompt(\"\");",
    "column summary(user.latest.text_only().¦, self.text_only()) = prompt(\"\");",
    "column summary(user, topics.latest.instruction¦) = prompt(\"\");",
    "column summary(user, topics.latest.instruction¦(), self) = prompt(\"\");",
    "column summary(user, topics.prev.instruction().¦) = prompt(\"\");",
    "column summary(user.context¦()) = prompt(\"\");",
    "column summary(user, self.context¦()) = prompt(\"\");",
    "column summary(user, group(\"all\", topics.instruction¦())) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().context¦(), user, self) = prompt(\"\");",
    "column summary(gro¦up(\"all\", user)) = prompt(\"\");",
    "column summary(group(\"all\", us¦)) = prompt(\"\");",
    "column summary(group(\"all\", user, ¦)) = prompt(\"\");",
    "column summary(group(\"all\", user.¦, topics.latest)) = prompt(\"\");",
    "column summary(gr¦) = prompt(\"\");",
    "column topics(user¦) = prompt(\"\");",
    "column topics(user) = prompt(sty¦);",
    "column topics¦(user) = prompt(\"\");",
    "column summary(user): ¦ = prompt(\"\");",
    "column summary(user): Sum¦ = prompt(\"\");",
    "column summary(user): Vec<Sum¦> = prompt(\"\");",
    "column summary(user): Sum¦",
    "column summary(user): Sum¦;",
    "column summary(user): other::Sum¦ = prompt(\"\");",
    "column summary(user): other::¦ = prompt(\"\");",
    "column summary(user): other::¦",
    "column summary(user): (u8, Sum¦) was \"digest\" = prompt(\"\");",
    "column summary(user) -> Sum¦ = prompt(\"\");",
    "column summary(us¦): Summary = prompt(\"\");",
    "column summary(user): Summary = prompt(sty¦);",
    "column summary(user) = ¦",
    "column summary(user) = ¦;",
    "column summary(user) = pro¦",
    "column summary(user) = pro¦;",
    "column summary(user) = prompt(\"\").¦",
    "column summary(user) = prompt(sty¦)",
    "column summary(user) = |cx: Context| async move { cx.¦ };",
    "column summary(user) = |cx: Context| async move { let said = cx.¦ said };",
    "column summary(user) == pro¦;",
    "column summary(user) = prompt(\"\") ¦;",
    "column summary(user) = prompt(sty¦) retry(3);",
    "column summary(user) = pro¦, retry(3);",
    "column summary(user) = |cx: Context| async move { cx.¦ }, retry(3);",
    "column summary(user) = async |cx: Context| cx.¦;",
    "column summary(user) = async |user| { let said = style.len(); user.¦ };",
    "column summary(user) = async |user| { let said = user.¦ said + style.len() };",
    "column summary(user) = |user| async move { style.len(); user.¦ };",
    "column summary(user) = { let said = style.clone(); async move |user| user.¦ };",
    "column summary(user) = (async |user| style.len() + user.¦).retry(3);",
    "column summary(user) = (async |user| format!(\"{style}\")).retry(3).¦;",
    "column summary(user) = prompt(\"\").when(|cx| cx.step() < style.len()).¦;",
    "column summary(user) = prompt(\"\").when(|cx| cx.¦ < style.len());",
    "column summary(user) = { let step = prompt(\"\").when(|cx| cx.step() < style.len()); step.¦ };",
    "column summary(user) = todo!().¦;",
    "column summary(user): pro¦(\"\");",
    "column summary(mut us¦) = prompt(\"\");",
    "column summary(user.as(\"said\").latest¦) = prompt(\"\");",
    "column summary(usr) = pro¦;",
    "column summary = pro¦;",
    "column sum¦",
    "column sum¦(user)",
    "column sum¦;",
    "col¦ summary(user) = prompt(\"\");",
    "colum¦ summary(user) = prompt(\"\");",
    "col¦",
    "column¦",
    "sourc¦",
    "sourc¦;",
    "s¦;",
    "¦",
];

/// Cursors before a number, which the marker makes an identifier.
const BEFORE_A_NUMBER: &[&str] = &[
    "column summary(¦3) = prompt(\"\");",
    "column summary(user, ¦3) = prompt(\"\");",
    "column summary(user.¦3) = prompt(\"\");",
    "column summary(user.latest.¦3) = prompt(\"\");",
    "column summary(user.window(¦3)) = prompt(\"\");",
    "column summary(user.prev.window(¦3)) = prompt(\"\");",
    "column summary(user.window(¦0)) = prompt(\"\");",
    "source files: Documents; column summary(files.tiered().target(¦3), user, self) = prompt(\"\");",
    "source files: ¦3;",
    "column summary(user ¦3) = prompt(\"\");",
    "column ¦3(user) = prompt(\"\");",
    "column summary(user) = ¦3;",
    "column summary(user): ¦3 = prompt(\"\");",
    "column summary ¦3",
    "source ¦3;",
    "¦3",
    "¦3;",
    "use ¦3 { topic: user } as debate;",
    "use Debate { ¦3 } as debate;",
    "use Debate { topic: ¦3 } as debate;",
    "use Debate { topic: user } as ¦3;",
];

/// Some of them panicked, because what remains without the marker was made an identifier.
#[test]
fn a_cursor_before_a_number_keeps_the_shape() {
    for column in BEFORE_A_NUMBER {
        for flow in around(column) {
            check(&flow, Found::Perhaps);
        }
    }
}

/// The column, in the item form, the inline form and an extension.
fn around(column: &str) -> [String; 3] {
    // The bracket around the cursor may not be closed yet; an editor closes it.
    let missing = column.matches('(').count() - column.matches(')').count();
    let column = format!("{column}{}", ")".repeat(missing));
    let after = "column after(user.latest, self) = prompt(\"Valid.\");";
    let body = format!("source user; source topics;\n{column}\n{after}");
    [
        format!("pub struct Chat(style: String) {{ {body} }}"),
        body,
        format!("pub struct Felt: Chat {{ column topics(user) = prompt(\"\");\n{column}\n{after} }}"),
    ]
}

#[test]
fn every_word_of_a_half_typed_flow_is_found() {
    for column in HALF_TYPED {
        for flow in around(column) {
            check(&flow, Found::Certainly);
        }
    }
}

/// The same of types that name a parameter of the flow.
const WITH_PARAMETERS: &[&str] = &[
    "column topics(user): T¦ = prompt(\"\");",
    "column topics(user): Vec<T¦> = prompt(\"\");",
    "column topics(us¦): Vec<T> = prompt(\"\");",
    "column topics(user): Vec<T> = prompt(sty¦);",
    "column topics(user): Vec<T> = prompt(\"\"); column after(topics.¦): Option<T> = prompt(\"\");",
    "column topics(user): T::¦ = prompt(\"\");",
];

#[test]
fn every_word_about_a_parameter_is_found() {
    for columns in WITH_PARAMETERS {
        check(
            &format!("pub struct Chat<T: Tell>(style: String) {{ source user; {columns} }}"),
            Found::Certainly,
        );
    }
}

/// The same of another flow that is used.
const WITH_MODULES: &[&str] = &[
    "use De¦ { topic: user } as debate;",
    "use other::De¦bate<Script>(topics.clone()) { topic: user } as debate;",
    "use Debate(topics.cl¦) { topic: user } as debate;",
    "use Debate { ¦ } as debate;",
    "use Debate { topic: user, ¦ } as debate;",
    "us¦e Debate { topic: user } as debate;",
    "use Debate { to¦ } as debate;",
    "use Debate { topi¦c: user } as debate;",
    "use Debate { topic: us¦ } as debate;",
    "use Debate { topic: us¦er } as debate;",
    "use Debate { topic: user.¦ } as debate;",
    "use Debate { topic: user.la¦ } as debate;",
    "use Debate { topic: user, fa¦ } as debate;",
    "use Debate { topic: user } as de¦bate;",
    "use Debate { topic: user } as topics; column summary(topics.¦) = prompt(\"\");",
    "column topics(¦) = x; column topics(user); use Debate { topic: user } as debate;",
    "use Debate { topic: user } as debate; column summary(deb¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate¦, user) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.cr¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.cr¦itic, user) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.critic.¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.critic.la¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.critic.window¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(debate.critic.window(CO¦)) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(user, debate.context¦) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(user, debate.critic.context¦()) = prompt(\"\");",
    "use Debate { topic: user } as debate; column summary(user, debate.critic.latest.ins¦) = prompt(\"\");",
];

#[test]
fn every_word_about_a_module_is_found() {
    for declarations in WITH_MODULES {
        for flow in around(declarations) {
            check(&flow, Found::Certainly);
        }
    }
}

#[test]
fn at_the_end_of_a_flow_there_may_be_more() {
    for flow in ["source user; ¦", "source user; col¦", "source user;\ncolumn topics(us¦", "¦ source user;"]
    {
        let missing = flow.matches('(').count();
        let body = format!("{flow}{}", ")".repeat(missing));
        check(&body, Found::Certainly);
        check(&format!("struct Chat {{ {body} }}"), Found::Certainly);
    }
}

#[test]
fn whatever_is_written_around_the_cursor_keeps_its_shape() {
    let mut chance = Chance::new(4);
    let mut found = 0;
    for _ in 0..600 {
        let declarations = declarations(&mut chance);
        let flow = flow(&mut chance, &declarations).to_string();
        let declarations = declarations.to_string();
        // Behind the header, if there is one.
        let body = if flow == declarations {
            Some(0)
        } else {
            flow.find(&format!("{{ {declarations}")).map(|at| at + 2)
        };
        let Some(body) = body.filter(|_| !declarations.is_empty()) else { continue };
        for _ in 0..4 {
            let at = body + chance.below(declarations.len() + 1);
            if !flow.is_char_boundary(at) {
                continue;
            }
            let (before, after) = flow.split_at(at);
            // Where a word is, or may begin.
            let is_word = before.ends_with(char::is_alphabetic) || after.starts_with(char::is_alphabetic);
            let is_raw = before.ends_with("r#") || after.starts_with("r#") || after.starts_with('#');
            let is_text = before.matches('"').count() % 2 == 1;
            let is_place = before.trim_end().ends_with(['(', ',', '.', '=', ';'])
                && after.trim_start().starts_with([')', ',', ';']);
            let is_place = is_word || is_place;
            if is_place && !is_raw && !is_text {
                found += usize::from(check(&format!("{before}¦{after}"), Found::Perhaps));
            }
        }
    }
    assert!(found > 500, "{found}");
}
