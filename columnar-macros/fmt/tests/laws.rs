//! Laws of formatting, on all flows of this repository and on flows with random spaces and comments.

use std::path::{Path, PathBuf};

use super::{format_all, snippets};
use crate::document::SourceText;
use crate::same::{Strictness, brackets, words};
use crate::source::{NodeKind, SyntaxNode, nodes_of};

/// Random numbers that are the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((mixed ^ (mixed >> 31)) >> 33).unwrap() % end
    }

    fn of<'c>(&mut self, choices: &[&'c str]) -> &'c str {
        choices[self.below(choices.len())]
    }
}

/// The Rust files in a folder.
fn files(folder: &Path, files: &mut Vec<PathBuf>) {
    // The files in `ui` have mistakes on purpose.
    if folder.ends_with("ui") || folder.ends_with("target") {
        return;
    }
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            self::files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "md") {
            files.push(path);
        }
    }
}

#[test]
fn formatted_flows_of_this_repository_stay_as_they_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut paths = vec![root.join("README.md")];
    ["columnar", "examples", "tests"].iter().for_each(|folder| files(&root.join(folder), &mut paths));
    paths.retain(|path| std::fs::read_to_string(path).unwrap().contains("flow!"));
    let text = |path: &PathBuf| {
        let is_markdown = path.extension().unwrap() == "md";
        let source = if is_markdown { SourceText::Markdown } else { SourceText::File };
        (std::fs::read_to_string(path).unwrap(), source)
    };
    let mut texts: Vec<_> = paths.iter().map(text).collect();
    let mut snippets = snippets();
    let once = format_all(&texts, &mut snippets);
    for (path, once) in paths.iter().zip(&once) {
        assert_eq!(once.problems, [], "{path:?}");
    }
    texts.iter_mut().zip(&once).for_each(|((text, _), once)| text.clone_from(&once.text));
    for ((path, once), twice) in paths.iter().zip(&once).zip(format_all(&texts, &mut snippets)) {
        assert_eq!(once.text, twice.text, "{path:?}");
    }
    let flows: usize = once.iter().map(|once| once.flows).sum();
    assert!(flows > 300, "{flows}");
}

const FLOWS: [&str; 5] = [
    "source user; column topics(user.latest) = prompt(\"List the topics.\").model(model.clone());\
     column critique(summary.latest.as(\"digest\"), user.window(3)) = count;\
     column assistant(user, self) = |cx: Context| async move { cx.text() };",
    "/// A chat.\n#[derive(Clone, Debug)] pub(crate) struct Chat<M: Model, const N: usize>(model: M, f: fn() -> u8) \
     where M: Clone { /// What was typed.\n source user; source files: Documents was \"code\"; #[deny(unbounded)] \
     column coder(files.tiered().target(1_536), user.latest, self.latest): Vec<Option<Score>> was \"reply\" = script([\"a\", \"b\"]); }",
    "pub struct Felt<'a, M: Model>(model: &'a M): chat::Chat<'a, M> { column mood(user.filter(|text| text.ends_with('?')), \
     group(\"all\", a.latest, group(\"b\", c, d.prev.window(2)))) = if a { x } else { y }; column b(a) = y; }",
    "source user; use Debate { topic: user } as debate; use chat::Debate<M>(model.clone(), 3) { topic: user, facts: \
     debate.critic, user } as other; column end(debate.critic.latest.as(\"case\"), self) = seen;",
    "column a(b) = async |cx: Context| format!(\"{} {}\", cx.step(), r#\"a  // b\"#); source b; \
     column answer(user.note(\"what the person typed\"), tone.latest.as(\"mood\").note(\"how it was said\"), self) \
     = (|_: Context| async { let x = 1; x.to_string() }).retry(3);",
];

/// The tokens of a flow with other spaces, and perhaps comments, in between.
fn respaced(
    chance: &mut Chance,
    flow: &str,
    nodes: &[SyntaxNode],
    comments: &mut Option<usize>,
    text: &mut String,
) {
    for (at, node) in nodes.iter().enumerate() {
        match &node.kind {
            NodeKind::Group(delimiter, nodes) => {
                let (open, close) = brackets(*delimiter);
                text.push_str(open);
                space(chance, comments, text);
                respaced(chance, flow, nodes, comments, text);
                text.push_str(close);
            }
            NodeKind::Doc => text.extend([node.text(flow), "\n"]),
            _ => text.push_str(node.text(flow)),
        }
        // Nothing is between the characters of `::`, and after a `#`.
        let next = nodes.get(at + 1);
        let is_joint =
            next.is_some_and(|next| next.range.start == node.range.end && is_punct(node.text(flow)));
        if !is_joint {
            space(chance, comments, text);
        }
    }
}

fn is_punct(text: &str) -> bool {
    text.len() == 1 && text.chars().all(|character| character.is_ascii_punctuation() && character != '_')
}

fn space(chance: &mut Chance, comments: &mut Option<usize>, text: &mut String) {
    text.push_str(chance.of(&[" ", " ", "  ", "\n", "\n\n\n", "\t", "\n        "]));
    if let Some(count) = comments
        && chance.below(25) == 0
    {
        *count += 1;
        let comment = chance.of(&["// c", "// c", "/* c", "/* c\n      and"]);
        let end = if comment.starts_with("//") { "\n" } else { " */ " };
        text.extend([comment, " ", &count.to_string(), end]);
        space(chance, comments, text);
    }
}

/// A flow in a file, with other spaces and perhaps comments.
fn file(chance: &mut Chance, flow: &str, comments: &mut Option<usize>) -> String {
    let mut body = String::new();
    respaced(chance, flow, &nodes_of(flow).unwrap(), comments, &mut body);
    match chance.below(3) {
        0 => format!("columnar::flow! {{{body}\n}}\n"),
        1 => format!("fn f() {{\n    let chat = flow!({body}\n);\n}}\n"),
        _ => format!("mod m {{\n    flow! [\n{body}\n]\n}}\n"),
    }
}

#[test]
fn spaces_do_not_matter() {
    let mut chance = Chance(1);
    let mut snippets = snippets();
    for flow in FLOWS {
        // At one level, since the width decides where lines are broken.
        let mut texts = vec![(format!("flow! {{{flow}}}\n"), SourceText::File)];
        for _ in 0..20 {
            let mut body = String::new();
            respaced(&mut chance, flow, &nodes_of(flow).unwrap(), &mut None, &mut body);
            texts.push((format!("flow! {{{body}}}\n"), SourceText::File));
        }
        let formatted = format_all(&texts, &mut snippets);
        for ((text, _), found) in texts.iter().zip(&formatted) {
            assert_eq!(found.problems, [], "{text}");
            // Blank lines are kept, so a text with more of them has another form.
            let [found, expected] =
                [found, &formatted[0]].map(|formatted| formatted.text.replace("\n\n", "\n"));
            assert_eq!(unaligned(&found), unaligned(&expected), "{text}");
        }
    }
}

/// Blank lines between columns separate what is aligned.
fn unaligned(text: &str) -> String {
    text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ") + "\n").collect()
}

#[test]
fn no_token_and_no_comment_is_lost() {
    let mut chance = Chance(2);
    let mut snippets = snippets();
    let mut comments = Some(0);
    let file = |turn: usize| (file(&mut chance, FLOWS[turn % FLOWS.len()], &mut comments), SourceText::File);
    let texts: Vec<_> = (0..300).map(file).collect();
    let once = format_all(&texts, &mut snippets);
    for ((text, _), once) in texts.iter().zip(&once) {
        assert_eq!(once.problems, [], "{text}");
        let [before, after] = [text, &once.text].map(|text| words(text, Strictness::Rust).unwrap());
        assert_eq!(before, after, "{text}");
    }
    let again: Vec<_> = once.iter().map(|once| (once.text.clone(), SourceText::File)).collect();
    for (((text, _), once), twice) in texts.iter().zip(&once).zip(format_all(&again, &mut snippets)) {
        assert_eq!(once.text, twice.text, "{text}");
    }
    assert!(comments.unwrap() > 500, "{comments:?}");
}
