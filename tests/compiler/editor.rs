//! Completion, hover, definition and rename in a flow, valid or half typed, with rust-analyzer.
//!
//! `rustup component add rust-analyzer rust-src` installs it.

use std::path::Path;

use columnar_compiler_tests::lsp::{Editor, Position, mentions};

use crate::editor_composed::{composed_flows_are_explained, parameters_are_renamed, signatures_and_colours};

/// The number of completions of a field, in the protocol.
const FIELD: u64 = 5;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    Item,
    Inline,
    Extension,
}

const FORMS: [Form; 3] = [Form::Item, Form::Inline, Form::Extension];

/// A program with a flow. `line` is among its declarations.
fn program(form: Form, line: &str) -> String {
    let sources = "/// What the person typed.\nsource user;";
    let topics = "/// What it is about.\ncolumn topics(user.latest) = prompt(\"List the topics.\");";
    let mood = "/// How it felt.\ncolumn mood(topics, user.window(2), self) = prompt(\"Name the mood.\");";
    let uses = "let _ = (chat.user.len(), chat.topics.len(), chat.mood.len());";
    let start = "use columnar::prelude::*;\n/// From 1 to 5.\npub struct Felt { pub depth: u8 }\n";
    match form {
        Form::Item => format!(
            "{start}flow! {{\npub struct Chat {{\n{sources}\n{topics}\n{line}\n{mood}\n}}\n}}\n\
             pub fn outside(chat: &Chat) {{\n{uses}\n}}\n"
        ),
        Form::Inline => format!(
            "{start}pub fn around(style: &str) {{\n\
             let chat = flow! {{\n{sources}\n{topics}\n{line}\n{mood}\n}};\n{uses}\n}}\n"
        ),
        Form::Extension => format!(
            "{start}flow! {{\npub struct Talk {{\n{sources}\n{topics}\n}}\n}}\n\
             flow! {{\npub struct Chat: Talk {{\n{line}\n{mood}\n}}\n}}\n\
             pub fn outside(chat: &Chat) {{\n{uses}\n}}\n"
        ),
    }
}

/// The program with the cursor at the end of the first `before` in it.
fn program_at(form: Form, line: &str, before: &str) -> String {
    let program = program(form, line);
    let at = program.find(before).expect("the program has this text") + before.len();
    format!("{}¦{}", &program[..at], &program[at..])
}

#[test]
fn an_editor_helps_in_a_flow() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
    let Some(mut editor) = Editor::open(&folder) else {
        eprintln!("SKIPPED editor: there is no rust-analyzer (rustup component add rust-analyzer rust-src)");
        return;
    };
    for form in FORMS {
        columns_are_completed(&mut editor, form);
        views_are_completed(&mut editor, form);
        purposes_are_completed_and_explained(&mut editor, form);
        steps_are_completed(&mut editor, form);
        types_are_completed_and_found(&mut editor, form);
        documents_are_completed_and_found(&mut editor, form);
        keywords_are_completed(&mut editor, form);
        words_are_explained(&mut editor, form);
        columns_are_found_and_renamed(&mut editor, form);
    }
    composed_flows_are_explained(&mut editor);
    parameters_are_renamed(&mut editor);
    signatures_and_colours(&mut editor);
}

fn labels(editor: &mut Editor, program: &str) -> Vec<(String, u64)> {
    let at = editor.write(program);
    editor.completions(at)
}

fn columns_are_completed(editor: &mut Editor, form: Form) {
    for line in [
        "column tone(¦) = prompt(\"\");",
        "column tone(to¦) = prompt(\"\");",
        "column tone(to¦)",
        "column tone(user, ¦) = prompt(\"\");",
        "column tone(user, to¦) = ",
        "column tone(user¦) = prompt(\"\");",
        "column tone(user, ¦, self) = prompt(\"\");",
    ] {
        let found = labels(editor, &program(form, line));
        let mut fields: Vec<&str> =
            found.iter().filter(|(_, kind)| *kind == FIELD).map(|(label, _)| label.as_str()).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["mood", "tone", "topics", "user"], "{form:?}: {line}\n{found:?}");
        assert!(!found.iter().any(|(label, _)| label.contains("prompt") || label == "style"), "{found:?}");
        // rust-analyzer itself offers the methods of every value, as in `user.into()`, but none of a reference is there.
        let is_typed = form != Form::Extension && line.contains("user¦");
        assert!(
            is_typed || !found.iter().any(|(label, _)| label.contains("clone")),
            "{form:?}: {line}\n{found:?}"
        );
    }
}

fn views_are_completed(editor: &mut Editor, form: Form) {
    for line in [
        "column tone(user.¦) = prompt(\"\");",
        "column tone(user.¦)",
        "column tone(topics, user.la¦) = ;",
        "column tone(user, self.¦) = prompt(\"\");",
        "column tone(user.window¦) = prompt(\"\");",
        "column tone(user.latest¦) = prompt(\"\");",
    ] {
        let found = labels(editor, &program(form, line));
        for view in ["latest", "window", "as", "named"] {
            let is_there = found.iter().any(|(label, _)| label.trim_start_matches("r#").starts_with(view));
            assert!(is_there, "no `{view}`, {form:?}: {line}\n{found:?}");
        }
    }
    // Only a lagged view has this modifier: without it, a column shows all values. rust-analyzer offered it.
    for (line, is_lagged) in [
        ("column tone(user.¦) = prompt(\"\");", false),
        ("column tone(topics, user.al¦) = ;", false),
        ("column tone(user.prev.¦) = prompt(\"\");", true),
    ] {
        let found = labels(editor, &program(form, line));
        let is_there = found.iter().any(|(label, _)| label.starts_with("all"));
        assert_eq!(is_there, is_lagged, "{form:?}: {line}\n{found:?}");
    }
    // Only a view that hides values has this one.
    for (line, is_windowed) in [
        ("column tone(user.latest.¦) = prompt(\"\");", true),
        ("column tone(topics, user.window(2).eli¦) = ;", true),
        ("column tone(user, self.latest.elided¦()) = prompt(\"\");", true),
        ("column tone(user.¦) = prompt(\"\");", false),
    ] {
        let found = labels(editor, &program(form, line));
        let is_there = found.iter().any(|(label, _)| label.starts_with("elided"));
        assert_eq!(is_there, is_windowed, "{form:?}: {line}\n{found:?}");
    }
}

/// A column and each view of it can have a purpose, and documents in tiers have none.
fn purposes_are_completed_and_explained(editor: &mut Editor, form: Form) {
    for line in [
        "column tone(topics, user.¦) = prompt(\"\");",
        "column tone(topics, user.¦)",
        "column tone(topics, user.con¦) = prompt(\"\");",
        "column tone(topics, user.latest.¦) = prompt(\"\");",
        "column tone(topics, user.prev.window(2).ins¦) = ;",
        "column tone(topics, user.context¦()) = prompt(\"\");",
        "column tone(topics, user.latest.as(\"said\").¦) = prompt(\"\");",
        "column tone(topics, user.latest.text_only().¦) = prompt(\"\");",
    ] {
        let found = labels(editor, &program(form, line));
        for purpose in ["context", "instruction", "text_only"] {
            let is_there = found.iter().any(|(label, _)| label.starts_with(purpose));
            assert!(is_there, "no `{purpose}`, {form:?}: {line}\n{found:?}");
        }
    }
    if form != Form::Extension {
        let line = "source files: Documents; column tone(files.tiered().¦, user, self) = prompt(\"\");";
        let found = labels(editor, &program(form, line));
        for purpose in ["context", "text_only"] {
            assert!(
                !found.iter().any(|(label, _)| label.starts_with(purpose)),
                "{form:?}: {line}\n{found:?}"
            );
        }
    }
    let line =
        "column tone(user, topics.latest.instruction(), user.prev.as(\"old\").context()) = prompt(\"\");";
    for (before, text) in [
        ("topics.latest.instruction", "Shows the values at the end of the system text"),
        ("user.prev.as(\"old\").context", "Shows the values as reference material"),
    ] {
        let at = editor.write(&program_at(form, line, before));
        let shown = editor.hover(Position { column: at.column - 1, ..at });
        assert!(shown.contains(text), "{form:?}: {before}\n{shown}");
    }
}

fn steps_are_completed(editor: &mut Editor, form: Form) {
    for line in [
        "column tone(user) = ¦;",
        "column tone(user) = ¦",
        "column tone(user) = pro¦",
        "column tone(user) = pro¦;",
        "column tone(usr) = pro¦;",
        "column tone() = prompt(\"\").or(pro¦);",
        "column tone = pro¦;",
    ] {
        let found = labels(editor, &program(form, line));
        assert!(found.iter().any(|(label, _)| label.starts_with("prompt")), "{form:?}: {line}\n{found:?}");
        let has_local = found.iter().any(|(label, _)| label == "style");
        assert_eq!(has_local, form == Form::Inline, "{form:?}: {line}\n{found:?}");
    }
    // A policy returns a step, which had no settings of prompts.
    // `mod` is a keyword, so the beginning of `model` completes nothing.
    for line in
        ["column tone(user) = prompt(\"\").retry(3).¦;", "column tone(user) = prompt(\"\").retry(3).mode¦;"]
    {
        let found = labels(editor, &program(form, line));
        assert!(found.iter().any(|(label, _)| label.starts_with("model")), "{form:?}: {line}\n{found:?}");
    }
    let line = "column tone(user) = |cx: Context| async move { cx.¦ };";
    let found = labels(editor, &program(form, line));
    assert!(found.iter().any(|(label, _)| label.starts_with("input")), "{form:?}: {line}\n{found:?}");
}

fn types_are_completed_and_found(editor: &mut Editor, form: Form) {
    for line in [
        "column tone(user): ¦ = prompt(\"\");",
        "column tone(user): Fe¦ = prompt(\"\");",
        "column tone(user): Fe¦",
        "column tone(user): Fe¦;",
        "column tone(user.latest, self): Option<Fe¦> was \"sound\" = prompt(\"\");",
        "column tone(user): crate::¦ = prompt(\"\");",
        "column tone(user): crate::Fe¦ = prompt(\"\");",
    ] {
        let found = labels(editor, &program(form, line));
        assert!(found.iter().any(|(label, _)| label == "Felt"), "{form:?}: {line}\n{found:?}");
    }
    let line = "column tone(user): Felt = prompt(\"\");";
    let program = program_at(form, line, "column tone(user): Felt");
    let declared = mentions(&program, "Felt").first().copied().into_iter().collect::<Vec<_>>();
    let at = editor.write(&program);
    let at = Position { column: at.column - 1, ..at };
    assert_eq!(editor.definition(at), declared, "definition, {form:?}");
    assert_eq!(editor.rename(at), mentions(&program, "Felt"), "rename, {form:?}");
    let shown = editor.hover(at);
    assert!(shown.contains("From 1 to 5."), "{form:?}: {shown}");
}

fn documents_are_completed_and_found(editor: &mut Editor, form: Form) {
    // An extension has no sources.
    if form == Form::Extension {
        return;
    }
    for (line, label) in [
        ("source files: ¦;", "Documents"),
        ("source files: Docu¦;", "Documents"),
        ("source files: Docu¦", "Documents"),
        ("source files: Fe¦ was \"code\";", "Felt"),
        ("source files: Documents; column tone(files.¦) = prompt(\"\");", "tiered"),
        ("source files: Documents; column tone(files.ti¦, user, self) = prompt(\"\");", "tiered"),
        ("source files: Documents; column tone(files.tiered().¦, user, self) = prompt(\"\");", "target"),
        ("source files: Documents; column tone(files.tiered().ta¦, user, self) = prompt(\"\");", "target"),
    ] {
        let found = labels(editor, &program(form, line));
        assert!(found.iter().any(|(found, _)| found.starts_with(label)), "{form:?}: {line}\n{found:?}");
    }
    // Neither text nor `self` has tiers, and documents have no windows.
    for (line, label) in [
        ("column tone(user.¦) = prompt(\"\");", "tiered"),
        ("column tone(user, self.¦) = prompt(\"\");", "tiered"),
        ("source files: Documents; column tone(files.¦) = prompt(\"\");", "window"),
        ("source files: Documents; column tone(files.tiered().¦, user, self) = prompt(\"\");", "latest"),
    ] {
        let found = labels(editor, &program(form, line));
        assert!(!found.iter().any(|(found, _)| found.starts_with(label)), "{form:?}: {line}\n{found:?}");
    }
    let line = "source files: Felt; column tone(files.tiered(), user, self) = prompt(\"\");";
    let program = program_at(form, line, "source files: Felt");
    let declared = mentions(&program, "Felt").first().copied().into_iter().collect::<Vec<_>>();
    let at = editor.write(&program);
    let at = Position { column: at.column - 1, ..at };
    assert_eq!(editor.definition(at), declared, "definition, {form:?}");
    assert_eq!(editor.rename(at), mentions(&program, "Felt"), "rename, {form:?}");
    let line = "source files: Documents; column tone(files.tiered().target(3), user, self) = prompt(\"\");";
    for (before, text) in [
        ("source files: Documents", "pub struct Documents"),
        ("files.tiered", "A view of the documents in tiers"),
        ("files.tiered().target", "Sets the tokens that each cached tier should have"),
    ] {
        let at = editor.write(&program_at(form, line, before));
        let shown = editor.hover(Position { column: at.column - 1, ..at });
        assert!(shown.contains(text), "{form:?}: {before}\n{shown}");
    }
}

fn keywords_are_completed(editor: &mut Editor, form: Form) {
    for line in ["¦", "col¦", "colum¦", "s¦", "column¦"] {
        let found = labels(editor, &program(form, line));
        let mut found: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
        found.sort_unstable();
        assert_eq!(found, ["column", "source", "use"], "{form:?}: {line}");
    }
    for line in ["col¦ tone(user) = prompt(\"\");", "column¦ tone(user) = prompt(\"\");"] {
        let found = labels(editor, &program(form, line));
        assert!(found.iter().any(|(label, _)| label.starts_with("column")), "{form:?}: {line}\n{found:?}");
    }
}

fn words_are_explained(editor: &mut Editor, form: Form) {
    if form != Form::Inline {
        let line = "column tone(user, topics.latest) = prompt(\"\");";
        let at = editor.write(&program_at(form, line, "outside(chat: &Chat"));
        let shown = editor.hover(Position { column: at.column - 1, ..at });
        assert!(shown.contains("tone    ← user, topics.latest"), "{form:?}: {shown}");
    }
    let line = "column tone(user, topics.window(3).elided()) = prompt(\"\");";
    let at = editor.write(&program_at(form, line, "topics.window(3).elided"));
    let shown = editor.hover(Position { column: at.column - 1, ..at });
    assert!(shown.contains("Shows the number of values that the window hides"), "{form:?}: {shown}");
    let valid = "column tone(user, topics.latest) = prompt(\"\");";
    let half_typed = "column tone(usr, topics.) = ;";
    for line in [valid, half_typed] {
        for (before, text) in [
            ("column mood(topics", "What it is about."),
            ("column mood(topics, user", "What the person typed."),
            ("column mood(topics, user.window", "A view of the last"),
            ("column mood(topics, user.window(2), self", "How it felt."),
            ("column mood", "How it felt."),
            ("column tone", "The column `tone`."),
            ("/// How it felt.\ncolumn", "Declares a computed column"),
            ("column topics(user.latest", "A view of the newest value."),
            ("source", "Declares a source"),
        ] {
            let at = editor.write(&program_at(form, line, before));
            let shown = editor.hover(Position { column: at.column - 1, ..at });
            assert!(shown.contains(text), "{form:?}: {before} in {line}\n{shown}");
        }
    }
}

fn columns_are_found_and_renamed(editor: &mut Editor, form: Form) {
    for line in ["column tone(user, topics.latest, self) = prompt(\"\");", "column tone(usr, topics.) = ;"] {
        for (before, word) in [
            ("column topics(user", "user"),
            ("source user", "user"),
            ("(chat.user", "user"),
            ("column mood(topics", "topics"),
            ("column topics", "topics"),
            ("chat.topics", "topics"),
            ("column mood", "mood"),
            ("chat.mood", "mood"),
        ] {
            let program = program_at(form, line, before);
            let mentioned = mentions(&program, word);
            let at = editor.write(&program);
            let at = Position { column: at.column - 1, ..at };
            let declared = mentions(&program, word).first().copied().into_iter().collect::<Vec<_>>();
            assert_eq!(editor.definition(at), declared, "definition, {form:?}: {before} in {line}");
            assert_eq!(editor.rename(at), mentioned, "rename, {form:?}: {before} in {line}");
            let references = editor.references(at);
            let missing = mentioned.iter().find(|position| !references.contains(position));
            assert_eq!(missing, None, "references, {form:?}: {before} in {line}\n{references:?}");
        }
    }
}
