//! An editor in flows with parameters, modules and extensions.

use columnar_compiler_tests::lsp::{Editor, Position, mentions};

/// A flow that uses another one, and its extension. `line` is among its declarations.
fn program(line: &str) -> String {
    format!(
        r#"use columnar::prelude::*;
/// The prompt in a style.
pub(crate) fn styled(style: &str, strength: u32) -> columnar::Prompt {{ prompt(format!("{{style}} {{strength}}")) }}
flow! {{
pub struct Debate(manner: String) {{
/// The question.
source topic;
source venue;
column pro(topic.latest, venue.latest) = prompt(manner);
}}
}}
flow! {{
pub struct Chat(tone: String, strength: u32) {{
source user;
column topics(user.latest, topics.window(MANY)) = prompt(tone);
column mood(user, topics) = styled(tone, *strength);
column toned(user.latest) = async |user| tone.clone() + &user;
column loud(user.latest, topics.prev) = async |user: Value, topics| user.to_uppercase();
use Debate(tone.clone()) {{ topic: topics, venue: user }} as debate;
column verdict(group("all", debate.pro.latest, user), self) = {{
let tone = tone.to_uppercase();
prompt(tone).model("offline")
}};
{line}
}}
}}
flow! {{
pub struct Felt(): Chat {{ column felt(topics.latest) = prompt(""); }}
}}
pub const MANY: usize = 2;
pub(crate) fn outside(column: FeltColumn) -> bool {{ matches!(column, FeltColumn::Chat(ChatColumn::Topics)) }}
"#
    )
}

/// The program with the cursor after this text in it.
fn program_at(line: &str, before: &str) -> String {
    let program = program(line);
    let at = program.find(before).expect("the program has this text") + before.len();
    format!("{}¦{}", &program[..at], &program[at..])
}

/// Opens the program at the last letter of a text in it.
fn at_end_of(editor: &mut Editor, before: &str) -> Position {
    let at = editor.write(&program_at("", before));
    Position { column: at.column - 1, ..at }
}

/// The definition of a parameter was in the sources of this macro, and a rename edited them.
pub(crate) fn parameters_are_renamed(editor: &mut Editor) {
    // In the last compute step a variable has this name, too.
    let mut uses = mentions(&program(""), "tone");
    let shadowed = uses.split_off(uses.len() - 3);
    let [variable, parameter, use_of_variable] = shadowed[..] else {
        unreachable!("three words were split off")
    };
    uses.push(parameter);
    for before in ["Chat(tone", "= prompt(tone", "styled(tone", "|user| tone", "Debate(tone"] {
        let at = at_end_of(editor, before);
        let renamed = editor.rename(at);
        let missing = uses.iter().find(|position| !renamed.contains(position));
        assert_eq!(missing, None, "rename at {before}: {renamed:?}");
        let variables = [variable, use_of_variable];
        assert!(!variables.iter().any(|other| renamed.contains(other)), "rename at {before}: {renamed:?}");
        assert_eq!(Some(&*editor.definition(at)), uses.get(..1), "definition at {before}");
    }
    let at = at_end_of(editor, "let tone");
    assert_eq!(editor.rename(at), [variable, use_of_variable]);
    // A closure's parameter has the name of a column, and is a variable.
    for (before, to) in [
        ("async |user: Value, topics", "topics"),
        ("async |user", "user"),
        ("topics| user", "user: Value, topics| user"),
    ] {
        let at = at_end_of(editor, before);
        assert_eq!(editor.definition(at), [Position { column: at.column + 1 - to.len(), ..at }], "{before}");
    }
    // rust-analyzer finds no variant by the name of its column, and must not edit the column instead.
    for variant in ["ChatColumn::Topics", "FeltColumn::Chat"] {
        let at = at_end_of(editor, variant);
        assert!(editor.refuses_to_rename(at), "{variant}");
    }
}

/// The words of a module had the meaning of generated names at their positions.
pub(crate) fn composed_flows_are_explained(editor: &mut Editor) {
    for (before, shown) in [
        ("{ topic", "The question."),
        ("column mood", "The column `mood`."),
        ("verdict(group", "Puts a tag around several views"),
        ("debate.pro", "The column `pro`."),
        ("strength: u32) {\nsource", "Declares a source"),
        ("use Debate", "pub struct Debate"),
        ("async |user: Value", "pub struct Value"),
        ("|user| tone", "tone: &"),
        ("tone.clone() + &user", "user: Value"),
        ("topics| user.to_uppercase", "pub fn to_uppercase"),
        ("Felt(): Chat", "pub struct Chat"),
        ("use", "Uses another flow as a module"),
    ] {
        // The first `use` of the program is an import.
        let before = if before == "use" { "to_uppercase();\nuse" } else { before };
        let at = at_end_of(editor, before);
        let hover = editor.hover(at);
        assert!(hover.contains(shown), "{before}\n{hover}");
        for generated in ["__step", "__source", "__column", "__new", "Graph", "is_module", "is_base"] {
            assert!(!hover.contains(generated), "`{generated}` at {before}\n{hover}");
        }
    }
    for (line, fields) in [
        ("use Debate(tone.clone()) { ¦} as other;", &["topic", "venue"][..]),
        ("use Debate(tone.clone()) { to¦ } as other;", &["topic", "venue"]),
        ("use Debate(tone.clone()) { topic: user, v¦ } as other;", &["topic", "venue"]),
        ("column late(debate.¦) = prompt(\"\");", &["pro", "topic", "venue"]),
    ] {
        let at = editor.write(&program(line));
        let found = editor.completions(at);
        let mut found: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
        // rust-analyzer itself offers them after every dot.
        found.retain(|label| !label.contains("into"));
        found.sort_unstable();
        assert_eq!(found, fields, "{line}");
    }
}

/// Help for a call showed a function of this library, and brackets had the colour of types.
pub(crate) fn signatures_and_colours(editor: &mut Editor) {
    for (before, signature) in [
        ("= prompt(", "fn prompt"),
        ("styled(", "fn styled(style: &str, strength: u32)"),
        ("styled(tone, ", "fn styled(style: &str, strength: u32)"),
        (".model(", "fn model"),
    ] {
        // The function is declared before it is used.
        let before = if before == "styled(" { "= styled(" } else { before };
        let at = editor.write(&program_at("", before));
        let shown = editor.signature(at);
        assert!(shown.starts_with(signature), "{before}: {shown}");
    }
    let program = program("");
    editor.write(&format!("{program}¦"));
    let colours = editor.colours();
    let body = program.find("pub struct Chat").expect("the program has this flow");
    let first = program[..body].matches('\n').count();
    for (line, text) in program.lines().enumerate().skip(first).take(6) {
        for (column, sign) in text.char_indices() {
            let allowed: &[&str] = match sign {
                '(' | ')' => &["parenthesis"],
                ',' => &["comma"],
                '{' | '}' => &["brace"],
                ':' => &["colon"],
                _ => continue,
            };
            let kind = colours.get(&Position { line, column }).map(String::as_str);
            let is_punctuation = kind.is_some_and(|kind| allowed.contains(&kind));
            // A text has one colour.
            let is_text = text.get(..column).is_some_and(|before| before.matches('"').count() % 2 == 1);
            assert!(is_punctuation || is_text, "`{sign}` is {kind:?}: {line}: {text}");
        }
    }
}
