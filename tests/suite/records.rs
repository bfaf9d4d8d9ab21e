//! Tests that the documents agree with the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).expect(path)
}

/// The text of the first `flow!` with a header, from its line to the brace that closes it.
fn flow_of(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.starts_with("flow! {"));
    let mut flow: Vec<&str> = lines.take_while(|line| *line != "}").collect();
    flow.push("}");
    flow
}

#[test]
fn the_flow_of_the_readme_is_that_of_the_example() {
    let (readme, example) = (read("README.md"), read("examples/chat/main.rs"));
    assert!(flow_of(&readme).len() > 5);
    assert_eq!(flow_of(&readme), flow_of(&example));
}

#[test]
fn every_dependency_of_the_library_has_its_reason_in_contributing() {
    let contributing = read("CONTRIBUTING.md");
    let (_, table) = contributing.split_once("## Dependencies").expect("there is such a section");
    for manifest in ["columnar/Cargo.toml", "columnar-macros/Cargo.toml"] {
        let text = read(manifest);
        let (_, dependencies) = text.split_once("[dependencies]").expect("it has some");
        let names = dependencies
            .lines()
            .skip(1)
            .take_while(|line| !line.starts_with('['))
            .filter_map(|line| line.split(['.', ' ']).next());
        for name in names.filter(|name| !name.is_empty() && !name.starts_with("columnar-")) {
            assert!(table.contains(name), "`{name}` of {manifest} is not in the table");
        }
    }
}

#[test]
fn links_of_other_crates_lead_to_this_version() {
    let address = format!("html_root_url = \"https://docs.rs/columnar-flow/{}\"", env!("CARGO_PKG_VERSION"));
    assert!(read("columnar/src/lib.rs").contains(&address), "{address}");
}

/// The features in the manifest of the library, each with its comment, as rows of a table.
fn features() -> Vec<String> {
    let manifest = read("columnar/Cargo.toml");
    let (_, features) = manifest.split_once("\n[features]\n").expect("it has some");
    let mut comment = "";
    let mut rows = Vec::new();
    for line in features.lines().take_while(|line| !line.starts_with('[')) {
        match (line.strip_prefix("# "), line.split_once(" = ")) {
            (Some(text), _) => comment = text.trim_end_matches('.'),
            (None, Some(("default", list))) => {
                assert_eq!(list, "[]", "the tables say that all features are off");
            }
            (None, Some((name, _))) => rows.push(format!("| `{name}` | {comment} |")),
            (None, None) => {}
        }
    }
    rows
}

/// The rows of a table in a document, or in the documentation of a file of Rust.
fn table(path: &str, header: &str) -> Vec<String> {
    let text = read(path);
    let lines = text.lines().map(|line| line.strip_prefix("//! ").unwrap_or(line));
    let rows = lines.skip_while(|line| !line.starts_with(header)).skip(2);
    rows.take_while(|line| line.starts_with('|')).map(ToOwned::to_owned).collect()
}

#[test]
fn the_tables_of_features_are_that_of_the_manifest() {
    let features = features();
    assert!(features.len() > 8, "{features:?}");
    for path in ["README.md", "columnar/src/lib.rs"] {
        let rows = table(path, "| feature |");
        assert_eq!(rows, features, "the table in {path} is not:\n{}\n", features.join("\n"));
    }
}

#[test]
fn the_readme_and_the_guide_say_alike_when_to_use_the_library() {
    let rows = table("README.md", "| you have | use |");
    assert!(rows.len() > 5, "{rows:?}");
    assert_eq!(table("columnar/src/guide/mod.rs", "| you have | use |"), rows);
}

#[test]
fn the_commands_of_the_readme_are_checked() {
    let (readme, checks) = (read("README.md"), read(".ci/run"));
    for command in ["cargo test --workspace", "cargo run --example chat"] {
        assert!(readme.contains(&format!("```sh\n{command}\n```")), "{command}");
        assert!(checks.contains(command), "{command}");
    }
}

/// bash finds a missing function only when it calls it, at the end of a long run.
#[test]
fn every_function_that_the_checks_call_is_there() {
    let checks = read(".ci/run");
    let steps = checks.lines().filter_map(|line| line.trim().strip_prefix("step '")?.split_once("' "));
    let calls: Vec<_> = steps.map(|(_, call)| call).filter(|call| !call.contains([' ', '/'])).collect();
    assert!(calls.len() >= 5, "{calls:?}");
    for call in calls {
        assert!(checks.contains(&format!("\n{call}() {{\n")), "{call} is no function of .ci/run");
    }
}

/// The text of all programs in a folder.
fn programs(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).expect("it can be read") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            text += &programs(&path);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text += &fs::read_to_string(path).expect("it is text");
        }
    }
    text
}

#[test]
fn every_row_of_the_table_of_faults_has_a_test_named_after_it() {
    let table = read("tests/FAULTS.md");
    let rows: Vec<String> = (table.lines())
        .filter_map(|line| line.strip_prefix("| ")?.split_once(" |"))
        .map(|(row, _)| row.to_lowercase())
        .filter(|row| row.len() > 1 && row.chars().skip(1).all(|digit| digit.is_ascii_digit()))
        .collect();
    // Runs, answers, services, engines, events; crashes, stores, texts, change, time; providers, batches, attachments, web pages, secrets.
    assert_eq!(rows.len(), 19 + 8 + 11 + 8 + 4 + 7 + 27 + 11 + 7 + 5 + 17 + 7 + 5 + 10 + 6);
    let folders = ["tests", "columnar/src", "columnar-macros/src", "examples"];
    let tests: String = folders.iter().map(|folder| programs(&root().join(folder))).collect();
    for row in rows {
        let named = tests.match_indices(&format!("fn {row}_")).count();
        assert!(named > 0, "{row} has no test");
    }
}

/// Compares a table of promises with the tests in some folders. A promise without a test waits for a part of the library, and
/// one with a test is not forgotten.
fn check_promises(letter: char, path: &str, folders: &[&str], parts: &[&str], count: usize) {
    let rows = table(path, "| row | promise |");
    let tests: String = folders.iter().map(|folder| programs(&root().join(folder))).collect();
    for (at, line) in rows.iter().enumerate() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let ["", row, _, tested, pending, ""] = cells[..] else { panic!("{line}") };
        assert_eq!(row, format!("{letter}{:02}", at + 1));
        let is_tested = tests.contains(&format!("fn {}_", row.to_lowercase()));
        assert_eq!(tested, if is_tested { "yes" } else { "no" }, "{row}");
        let waits = parts.iter().any(|part| pending.starts_with(part));
        assert!(waits || is_tested && pending.is_empty(), "{row} is pending, but for nothing");
    }
    assert_eq!(rows.len(), count);
}

#[test]
fn the_table_of_tiers_says_which_promises_have_tests() {
    let folders = ["tests/suite/repo", "tests/suite/tiers"];
    check_promises('T', "tests/TIERS.md", &folders, &[], 26);
}

#[test]
fn the_table_of_trees_says_which_promises_have_tests() {
    let parts = ["settings: ", "assembly: ", "budget: ", "aware: "];
    check_promises('L', "tests/LOOM.md", &["tests/suite/loom"], &parts, 27);
}

/// Rows promised for all stores what two of them kept.
#[test]
fn every_row_about_stores_has_a_test_for_each_of_them() {
    let folders = [("folder", "file"), ("SQLite", "sqlite"), ("PostgreSQL", "postgres")];
    let tests = |store: &str| {
        let suite = programs(&root().join("tests/suite/stores").join(store));
        suite + &programs(&root().join("columnar/src/store").join(store))
    };
    let (table, mut rows) = (read("tests/FAULTS.md"), 0);
    for line in table.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [row, _, _, stores] = cells[..] else { continue };
        rows += 1;
        for store in stores.split(", ").filter(|store| !["stores", "all", "---"].contains(store)) {
            let (_, folder) = folders.iter().find(|(name, _)| *name == store).expect(store);
            let named = format!("fn {}_", row.to_lowercase());
            assert!(tests(folder).contains(&named), "{row} has no test for {store}");
        }
    }
    assert_eq!(rows, 2 + 7 + 27, "two of them are heads of tables");
}

/// Whether a line of an example is the beginning or the end of the function around it.
fn is_around(line: &str, is_last: bool) -> bool {
    let begins = ["# #[tokio::main(flavor = \"current_thread\")] async fn main() ", "# fn main() "];
    let ends = ["# Ok(()) }", "# Ok::<(), "];
    begins.iter().chain(&ends).any(|start| line.starts_with(start)) || line == "# }" && is_last
}

/// Hidden lines declared flows and names, so a reader who copied an example had to guess them.
#[test]
fn an_example_hides_the_function_around_it_alone() {
    let sources = programs(&root().join("columnar/src"));
    let mut documentation = sources.lines().filter_map(|line| {
        let line = line.trim_start();
        // An example that needs a feature.
        if line.starts_with("#![cfg_attr(feature") && line.contains("```") {
            return Some("```");
        }
        let text = line.strip_prefix("//!").or_else(|| line.strip_prefix("///"))?;
        Some(text.strip_prefix(' ').unwrap_or(text))
    });
    let mut examples = 0;
    while let Some(fence) = documentation.by_ref().find(|line| line.starts_with("```")) {
        // A fence around text with fences is longer.
        let language = fence.trim_start_matches('`');
        let is_rust =
            language.is_empty() || language.starts_with("no_run") || language.starts_with("compile_fail");
        let closing = fence.strip_suffix(language).expect("it is the end of the line");
        let lines: Vec<&str> = documentation.by_ref().take_while(|line| *line != closing).collect();
        for (at, line) in lines.iter().enumerate().filter(|_| is_rust) {
            let is_hidden = line.trim_start().starts_with("# ");
            assert!(!is_hidden || is_around(line, at + 1 == lines.len()), "{line}\nin\n{}", lines.join("\n"));
        }
        examples += usize::from(is_rust);
    }
    assert!(examples > 150, "{examples}");
}

/// The chapters of the guide, in the order of its table of contents.
fn chapters() -> Vec<String> {
    let contents = read("columnar/src/guide/mod.rs");
    let row = Regex::new(r"(?m)^//! \| (\d+) \| \[`(\w+)`\] \|").expect("a pattern");
    let rows: Vec<_> = row.captures_iter(&contents).collect();
    for (number, row) in (1..).zip(&rows) {
        assert_eq!(row[1], number.to_string(), "the number of `{}` in the contents", &row[2]);
    }
    rows.iter().map(|row| row[2].to_owned()).collect()
}

/// rustdoc sorts the chapters by their names, so each has its number, and leads to its neighbours, at its beginning and at
/// its end.
#[test]
fn every_chapter_leads_to_the_ones_before_and_after_it() {
    let chapters = chapters();
    assert!(chapters.len() > 25, "{chapters:?}");
    for (at, chapter) in chapters.iter().enumerate() {
        let link = |before: &str, chapter: &String, after: &str| {
            format!("[{before}{}{after}](super::{chapter})", chapter.replace('_', " "))
        };
        let previous = at.checked_sub(1).map(|at| link("← ", &chapters[at], ""));
        let next = chapters.get(at + 1).map(|next| link("", next, " →"));
        let links = [previous, Some("[contents](super)".to_owned()), next];
        let links = links.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        let number = format!("Chapter {} of {}", at + 1, chapters.len());
        let expected = [format!("//! {number} · {links}"), format!("//! {links}")];

        let text = read(&format!("columnar/src/guide/{chapter}.rs"));
        let lines: Vec<&str> = text.lines().collect();
        let found = [lines.get(2), lines.last()].map(|line| line.copied().unwrap_or_default());
        assert_eq!(found, expected, "the third line and the last one of `{chapter}`");
    }
}

#[test]
fn the_readme_and_the_contents_list_all_chapters() {
    let (mut chapters, readme) = (chapters(), read("README.md"));
    let files = fs::read_dir(root().join("columnar/src/guide")).expect("it can be read");
    let files = files.map(|file| file.expect("an entry").path());
    // A picture is no chapter.
    let files = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let names = files.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut files: Vec<String> = names.filter(|name| name != "mod").collect();
    for chapter in &chapters {
        let link = format!("[{chapter}](columnar/src/guide/{chapter}.rs)");
        assert!(readme.contains(&link), "the README does not have {link}");
    }
    files.sort_unstable();
    chapters.sort_unstable();
    assert_eq!(chapters, files);
}

/// A setting that only a program can have is easily forgotten when another one is added.
#[test]
fn every_setting_of_a_prompt_or_policy_is_a_key_of_data() {
    let method = Regex::new(r"(?m)^    (?:pub )?fn (\w+)(?:<[^>]*>)?\((?:mut )?self\b").expect("a pattern");
    let text = read("columnar/src/compute/prompt.rs") + &read("columnar/src/compute/policy.rs");
    let settings: BTreeSet<&str> =
        method.captures_iter(&text).filter_map(|found| Some(found.get(1)?.as_str())).collect();
    assert!(settings.contains("temperature") && settings.contains("retry"), "{settings:?}");
    // Functions and types are no data, and the last two are no settings.
    let no_data = ["when", "typed", "repairs", "and", "pieces"];
    let text = read("columnar/src/flow/data/column.rs");
    let (text, _) = text.split_once("\n}\n").expect("the end of the first table");
    let keys: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub ")?.split_once(':'))
        .map(|(key, _)| key)
        .collect();
    let missing: Vec<&str> =
        settings.into_iter().filter(|name| !no_data.contains(name) && !keys.contains(name)).collect();
    assert_eq!(missing, [""; 0], "are not keys of `ColumnDeclaration`");
}

/// The value of a limit as people write it: `Duration::from_secs(20)` is 20 s.
fn as_people_write(value: &str) -> String {
    let units = [("from_millis", "ms"), ("from_secs", "s"), ("from_mins", "min"), ("from_hours", "h")];
    let unit = units.iter().find(|(function, _)| value.contains(function));
    let digits: String = value.chars().filter(char::is_ascii_digit).collect();
    match (unit, value.strip_suffix(" << 20")) {
        (Some((_, unit)), _) => format!("{digits} {unit}"),
        (None, Some(mebibytes)) => format!("{mebibytes} MiB"),
        (None, None) if value.contains('_') => value.replace('_', ","),
        (None, None) => {
            let (thousands, rest) = digits.split_at(digits.len().saturating_sub(3));
            if thousands.is_empty() { digits } else { format!("{thousands},{rest}") }
        }
    }
}

/// A newcomer who wants another timeout finds the number in one place, and a user reads the same one in the guide.
#[test]
fn the_table_of_limits_has_the_constants() {
    let text = read("columnar/src/declare/default_limits.rs");
    let constant = Regex::new(r"(?s)/// ([^.]*)\.[^;]*?const \w+: \w+ = ([^;]*);").expect("a pattern");
    let expected: Vec<String> = constant
        .captures_iter(&text)
        .map(|found| {
            let subject = found[1].replace("\n/// ", " ");
            let unit = if subject.starts_with("The text that") { " bytes" } else { "" };
            let subject = subject.replacen("The", "the", 1);
            format!("| {subject} | {}{unit} |", as_people_write(&found[2]))
        })
        .collect();
    assert!(expected.len() > 15, "{expected:?}");
    let rows = table("columnar/src/guide/limits.rs", "| limit | default |");
    assert_eq!(rows.len(), expected.len());
    for (row, expected) in rows.iter().zip(&expected) {
        assert!(row.starts_with(expected), "{row} does not begin with {expected}");
    }
}

/// The groups that a pattern captures in a text.
fn captured(text: &str, pattern: &str) -> BTreeSet<String> {
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

/// A list of words in the macro.
fn words_of_the_macro(list: &str) -> BTreeSet<String> {
    let keywords = read("columnar-macros/src/keywords.rs");
    let list = keywords.split(&format!("const {list}: ")).nth(1).and_then(|rest| rest.split("];").next());
    captured(list.expect("there is such a list"), r#""(\w+)""#)
}

/// The macro checks the names of models, and cannot depend on the library.
#[test]
fn the_macro_knows_the_providers_of_the_registry() {
    let known = words_of_the_macro("PROVIDERS");
    let registry = captured(&read("columnar/src/model/registry/providers.rs"), r#"row\(\s*"(\w+)""#);
    assert!(known.contains("openai"), "{known:?}");
    assert_eq!(known, registry);
}

/// The macro reports a word after the column of another flow that rustc would take for a method of the column.
#[test]
fn the_macro_knows_the_methods_of_handles() {
    let methods = ["answers", "handle", "read", "values"].map(|file| {
        let text = read(&format!("columnar/src/flow/{file}.rs"));
        let is_of_handle = |part: &&str| part.lines().next().is_some_and(|head| head.contains(" Handle<"));
        let impls: String = text.split("\nimpl").filter(is_of_handle).collect();
        captured(&impls, r"pub (?:async |const )*fn (?:r#)?([a-z]\w*)")
    });
    let mut methods: BTreeSet<String> = methods.into_iter().flatten().collect();
    // A further name of `as`.
    methods.remove("named");
    let (known, modifiers) = (words_of_the_macro("METHODS_OF_HANDLES"), words_of_the_macro("MODIFIERS"));
    assert!(known.is_disjoint(&modifiers), "{known:?}");
    assert_eq!(known, methods.difference(&modifiers).cloned().collect());
}

/// A message without the names of a particular flow.
fn without_names(message: &str) -> String {
    let mut quotes = message.split(['`', '"']);
    let first = quotes.next().unwrap_or_default().to_owned();
    quotes.enumerate().fold(first, |text, (at, part)| text + if at % 2 == 0 { "…" } else { part })
}

#[test]
fn every_message_of_the_macro_is_explained_in_the_guide_and_no_other() {
    let folder = root().join("tests/compiler/ui");
    let files = fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("an entry").path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "stderr"));
    let output = files.map(|path| fs::read_to_string(path).expect("it is text")).collect::<String>();
    let printed: BTreeSet<String> =
        output.lines().filter_map(|line| line.strip_prefix("error: ")).map(without_names).collect();

    let page = read("columnar/src/guide/mistakes.rs");
    let (page, _) = page.split_once("# Not your mistake").expect("there is such a section");
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | ")?.split_once(" | "));
    let explained: BTreeSet<String> =
        rows.map(|(message, _)| without_names(message)).filter(|message| message != "message").collect();

    assert!(printed.len() > 70, "{}", printed.len());
    assert_eq!(printed.difference(&explained).collect::<Vec<_>>(), [""; 0], "are not explained");
    assert_eq!(
        explained.difference(&printed).collect::<Vec<_>>(),
        [""; 0],
        "are not printed for any file in tests/compiler/ui"
    );
}

#[test]
fn every_message_of_the_compiler_in_the_guide_is_a_real_one() {
    let folder = root().join("tests/compiler/ui/rustc");
    let files = fs::read_dir(folder).expect("it can be read").map(|entry| entry.expect("an entry").path());
    let texts = files.filter(|path| path.extension().is_some_and(|extension| extension == "stderr"));
    let texts = texts.map(|path| fs::read_to_string(path).expect("it is text")).collect::<String>();
    let errors: Vec<String> =
        texts.lines().filter(|line| line.starts_with("error")).map(without_names).collect();

    let page = read("columnar/src/guide/mistakes.rs");
    let (_, page) = page.split_once("# Messages of the compiler").expect("there is such a section");
    let rows = page.lines().filter_map(|line| line.strip_prefix("//! | ")?.split_once(" | "));
    // The tests have the feature `typed`, so no file can show that it is missing.
    let messages: Vec<String> = (rows.map(|(message, _)| without_names(message)))
        .filter(|message| message != "message" && !message.starts_with("typed columns need the feature"))
        .collect();
    assert!(messages.len() > 15, "{}", messages.len());
    for message in messages {
        assert!(errors.iter().any(|error| error.contains(&message)), "no file causes this: {message}");
    }
}

#[test]
fn no_file_is_too_long_and_no_test_is_ignored() {
    let mut open =
        ["columnar", "columnar-macros", "examples", "tests"].map(|folder| root().join(folder)).to_vec();
    let mut files = 0;
    while let Some(path) = open.pop() {
        if path.ends_with("target") {
            continue;
        }
        if path.is_dir() {
            open.extend(
                fs::read_dir(&path).expect("it can be read").map(|entry| entry.expect("an entry").path()),
            );
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).expect("it is text");
            assert!(text.lines().count() <= 600, "{} has more than 600 lines", path.display());
            assert!(!text.contains(concat!("#[ign", "ore")), "{} puts a test aside", path.display());
            files += 1;
        }
    }
    assert!(files > 50, "{files} files were read");
}
