//! Updates of documents: their text, and their faults.

use columnar::Value;
use columnar::documents::{Documents, Key, KeyFault, Kind, TextFault, Update, UpdateError, UpdateFault};

fn key(kind: Kind, path: &str) -> Key {
    Key::new(kind, path).unwrap()
}

fn faults(update: &Update) -> Vec<UpdateFault> {
    update.to_text().unwrap_err().faults().to_vec()
}

#[test]
fn a_person_can_read_the_text_of_an_update() {
    let update = Update::new()
        .url("https://example.org/a?b", "A page.")
        .remove(Kind::Symbol, "src/old.rs")
        .file(r"src\main.rs", "fn main() {}\n")
        .symbol("src/lib.rs", "fn answer() -> u8")
        .cluster(3, 12)
        .symbol("src/a: cluster 0, 1 reference", "")
        .cluster(0, 1)
        .symbol("src/none.rs", "mod none")
        .remove(Kind::File, "src/old.rs")
        .tree("src/lib.rs\nsrc/main.rs")
        .legend("fn: a function");
    let text = update.to_text().unwrap();
    assert_eq!(
        text,
        "# Legend\n\n```\nfn: a function\n```\n\n\
         # File Tree\n\n```\nsrc/lib.rs\nsrc/main.rs\n```\n\n\
         # Symbols\n\n\
         src/a: cluster 0, 1 reference\n```\n\n```\n\n\
         src/lib.rs\n```\nfn answer() -> u8\n```\n\n\
         src/none.rs\n```\nmod none\n```\n\n\
         # References\n\n\
         src/a: cluster 0, 1 reference: cluster 0, 1 reference\n\
         src/lib.rs: cluster 3, 12 references\n\n\
         # Files\n\nsrc/main.rs\n```\nfn main() {}\n\n```\n\n\
         # URLs\n\nhttps://example.org/a?b\n```\nA page.\n```\n\n\
         # Removed\n\nsymbol src/old.rs\nfile src/old.rs"
    );
    assert_eq!(Update::parse(text).unwrap(), update);
}

/// The line after it tells a path from a title.
#[test]
fn paths_and_texts_may_look_like_the_form() {
    let hostile = "```\n\n# Removed\n\nfile a\n\n# Files\n\nb\n````\nc\n````\n";
    let update = Update::new()
        .file("# Files", hostile)
        .file("# Removed", "\n")
        .file("No document changed.", "``")
        .symbol("# References", "No document changed.")
        .cluster(0, 0)
        .symbol("# URLs", hostile)
        .remove(Kind::Symbol, "# Removed")
        .remove(Kind::File, "file a");
    let text = update.to_text().unwrap();
    assert_eq!(Update::parse(text.clone()).unwrap(), update);
    assert!(text.ends_with("\n\n# Removed\n\nsymbol # Removed\nfile file a"), "{text}");
    assert!(text.contains(
        "\n\n# References\n\n# References: cluster 0, 0 references\n\n# Files\n\n# Files\n`````\n"
    ));

    let again = Update::new().file("text", text.as_str()).legend(text.as_str()).url("https://a", text);
    assert_eq!(Update::parse(again.to_text().unwrap()).unwrap(), again);
}

#[test]
fn an_empty_update_is_a_line() {
    let update = Update::new();
    assert!(update.is_empty());
    assert_eq!(update.to_text().unwrap(), "No document changed.");
    assert!(Update::parse("No document changed.").unwrap().is_empty());
    let (documents, changes) = Documents::new().apply(&update).unwrap();
    assert!(documents.is_empty() && changes.is_empty());
}

/// A copy of each text would double the memory of a repository.
#[test]
fn the_texts_of_documents_are_slices_of_the_update() {
    let long = "x".repeat(1000);
    let update = Update::new().file("a", long.as_str()).symbol("b", "entry").tree("a\nb").legend("none");
    let text = update.to_text().unwrap();
    let bytes = text.as_bytes().as_ptr_range();
    let (documents, _) = Documents::new().apply(&Update::parse(text.clone()).unwrap()).unwrap();
    let texts = documents.iter().map(|(_, text)| text);
    let texts: Vec<&Value> = texts.chain(documents.tree()).chain(documents.legend()).collect();
    assert_eq!(texts.len(), 4);
    for text in texts {
        assert!(bytes.contains(&text.as_ptr()), "a text was copied");
    }
}

#[test]
fn all_faults_are_reported_at_once() {
    let update = Update::new()
        .cluster(0, 0)
        .file("../a", "secret")
        .file("b", "secret")
        .cluster(1, 1)
        .file("./b", "secret")
        .symbol("/c", "secret")
        .cluster(2, 2)
        .tree("secret")
        .tree("secret")
        .legend("secret")
        .legend("secret")
        .remove(Kind::Url, "https://a")
        .remove(Kind::File, "b")
        .url("https://b", "secret")
        .url("https://c", "secret")
        .url("https://d", "secret")
        .url("https://e", "secret");
    let found = faults(&update);
    let of = |at: usize, fault: KeyFault| {
        let UpdateFault::Key { number, error } = &found[at] else { panic!("{:?}", found[at]) };
        (*number, error.fault()) == (at, fault)
    };
    assert_eq!(found[0], UpdateFault::Cluster { number: 0 });
    assert!(of(1, KeyFault::Parent));
    assert_eq!(found[2], UpdateFault::Cluster { number: 2 });
    assert_eq!(found[3], UpdateFault::Repeated(key(Kind::File, "b")));
    assert!(of(4, KeyFault::Absolute), "and its cluster is no second fault");
    assert_eq!(found[5..7], [UpdateFault::RepeatedTree, UpdateFault::RepeatedLegend]);
    assert_eq!(found[7], UpdateFault::Page(key(Kind::Url, "https://a")));
    assert_eq!(found[8], UpdateFault::Repeated(key(Kind::File, "b")));
    assert_eq!(found[9..], [UpdateFault::Urls(4)]);
    assert_eq!(Documents::new().apply(&update).unwrap_err().faults(), found);
    assert!(!update.is_empty());

    let message = update.to_text().unwrap_err().to_string();
    assert_eq!(message.lines().count(), found.len());
    assert!(!message.contains("secret"), "{message}");
    assert!(!format!("{update:?}").contains("secret"));
}

#[test]
fn a_cluster_belongs_to_the_symbols_just_before_it() {
    for update in [
        Update::new().symbol("a", "").file("b", ""),
        Update::new().symbol("a", "").url("https://b", ""),
        Update::new().symbol("a", "").remove(Kind::File, "b"),
    ] {
        assert_eq!(faults(&update.cluster(1, 1)), [UpdateFault::Cluster { number: 2 }]);
    }
    assert!(Update::new().symbol("a", "").tree("t").cluster(1, 1).to_text().is_ok());
    // The message was about a document 0.
    let error = Update::new().cluster(1, 1).symbol("a", "").to_text().unwrap_err();
    assert_eq!(error.faults(), [UpdateFault::Cluster { number: 0 }]);
    assert_eq!(error.to_string(), "the update begins with a cluster: call `.cluster` after `.symbol`");
}

#[test]
fn a_message_does_not_list_a_thousand_faults() {
    let update = (0..1000).fold(Update::new(), |update, at| update.file(format!("../{at}"), ""));
    let error = update.to_text().unwrap_err();
    assert_eq!(error.faults().len(), 1000);
    let message = error.to_string();
    assert_eq!(message.lines().count(), 21);
    assert!(message.ends_with("\nand 980 more"), "{message}");
}

#[test]
fn a_missing_document_cannot_be_removed() {
    let (documents, _) = Documents::new().apply(&Update::new().file("a", "1").symbol("b", "2")).unwrap();
    let update =
        Update::new().remove(Kind::File, "b").remove(Kind::Symbol, "a").remove(Kind::File, "a").file("c", "");
    let error = documents.apply(&update).unwrap_err();
    let missing = |kind, path| UpdateFault::Missing(key(kind, path));
    assert_eq!(error.faults(), [missing(Kind::Symbol, "a"), missing(Kind::File, "b")]);
    assert!(error.to_string().contains("`symbol:a` cannot be removed, because it is not there"), "{error}");
    assert_eq!(documents.len(), 2, "nothing was applied");
}

#[test]
fn a_damaged_text_is_an_error_with_its_position() {
    use TextFault::{Fence, Key, Line, Order, Title, Urls};
    // The position of the fault is that of the `§`.
    for (marked, fault) in [
        ("§", Title),
        ("§\n", Title),
        ("§No document changed", Title),
        ("§No document changed.\n", Title),
        ("§documents 1\n", Title),
        ("§a secret\n", Title),
        ("§# files\n\na\n```\n1\n```", Title),
        ("§# Files \n\na\n```\n1\n```", Title),
        ("§\n# Files\n\na\n```\n1\n```", Title),
        ("§# Files", Title),
        ("# Files\n§", Line),
        ("# Files\n§a\n```\n1\n```", Line),
        ("# Files\n\n§", Key),
        ("# Files\n\n§a", Fence),
        ("# Files\n\na\n§", Fence),
        ("# Files\n\na\n§1", Fence),
        ("# Files\n\na\n§```", Fence),
        ("# Files\n\na\n§```\n", Fence),
        ("# Files\n\na\n§```\n```", Fence),
        ("# Files\n\na\n§```\n1", Fence),
        ("# Files\n\na\n§```\n1```", Fence),
        ("# Files\n\na\n§```\n1\n``", Fence),
        ("# Files\n\na\n§```\n1\n````", Fence),
        ("# Files\n\na\n§```\n1\n```secret", Fence),
        ("# Files\n\na\n§```\n1\n```\r\n", Fence),
        ("# Files\n\na\n§``\n1\n``", Fence),
        ("# Files\n\na\n§````\n1\n````", Fence),
        ("# Files\n\na\n§~~~\n1\n~~~", Fence),
        ("# Files\n\na\n§```rust\n1\n```", Fence),
        ("# Files\n\na\n```\n1\n```\n§", Line),
        ("# Files\n\na\n```\n1\n```\n§b\n```\n1\n```", Line),
        ("# Files\n\na\n```\n1\n```\n\n§", Key),
        ("# Files\n\na\n```\n1\n```\n\n§secret", Fence),
        ("# Files\n\na\n```\n1\n```\n\n§secret\n\n", Title),
        ("# Files\n\na\n```\n1\n```\n\n§# Symbols\n\nb\n```\n1\n```", Title),
        ("# Files\n\na\n```\n1\n```\n\n§# Files\n\nb\n```\n1\n```", Title),
        ("# Files\n\na\n```\n1\n```\n\n§a\n```\n1\n```", Order),
        ("# Files\n\nb\n```\n1\n```\n\n§a\n```\n1\n```", Order),
        ("# Files\n\n§../secret\n```\n1\n```", Key),
        ("# Files\n\n§./a\n```\n1\n```", Key),
        ("# Files\n\n§a\\b\n```\n1\n```", Key),
        ("# Files\n\n§a\r\n```\n1\n```", Key),
        ("# Files\n\n§```\n1\n```", Key),
        ("# URLs\n\n§a\n```\n1\n```", Key),
        ("# Files\n\n# Removed\n§\nfile a", Fence),
        ("# Legend\n\n§a\n```\n1\n```", Fence),
        ("# Legend\n\n```\n1\n```\n\n§```\n1\n```", Title),
        ("# Legend\n\n```\n1\n```\n\n§a\n```\n1\n```", Title),
        ("# File Tree\n\n```\n1\n```\n\n§# Legend\n\n```\n1\n```", Title),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§# Files\n\nb\n```\n1\n```", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§b: cluster 0, 2 references", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§a: cluster 0, 1 references", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§a: cluster 0, 2 reference", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§a: cluster 00, 2 references", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§a: cluster +1, 2 references", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§a: cluster 4294967296, 2 references", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§a: cluster 0,  2 references", Line),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\n§./a: cluster 0, 2 references", Key),
        ("# Symbols\n\na\n```\n1\n```\n\n# References\n\na: cluster 0, 0 references\n§", Line),
        (
            "# Symbols\n\na\n```\n1\n```\n\n# References\n\na: cluster 0, 0 references\n§a: cluster 0, 0 references",
            Order,
        ),
        ("# References\n\n§a: cluster 0, 2 references", Line),
        ("# Files\n\na\n```\n1\n```\n\n§# References\n\na: cluster 0, 2 references", Title),
        ("# Removed\n\n§legend", Line),
        ("# Removed\n\n§page https://a", Line),
        ("# Removed\n\n§url https://a", Line),
        ("# Removed\n\n§file ", Key),
        ("# Removed\n\nfile a\n§", Line),
        ("# Removed\n\nfile a\n\n§", Title),
        ("# Removed\n\nfile a\n§file a", Order),
        ("# Removed\n\nfile a\n§symbol b", Order),
        ("# Files\n\na\n```\n1\n```\n\n# Removed\n\n§file a", Order),
        ("# Removed\n\nfile a\n\n§# Files\n\nb\n```\n1\n```", Title),
    ] {
        check_fault(marked, fault);
    }
    let pages = ["a", "b", "c", "§d"].map(|host| format!("https://{host}\n```\n\n```"));
    let pages = pages.join("\n\n").replace("https://§", "§https://");
    check_fault(&format!("# URLs\n\n{pages}"), Urls);
}

fn check_fault(marked: &str, fault: TextFault) {
    let (at, text) = (marked.find('§').unwrap(), marked.replace('§', ""));
    let error = Update::parse(text).unwrap_err();
    assert_eq!(error.faults(), [UpdateFault::Text { at, fault }], "{marked:?}");
    let message = error.to_string();
    assert!(message.contains(&format!("at byte {at}: ")) && !message.contains("secret"), "{message}");
}

/// Reading again from each fence, or from each line, would take hours here.
#[test]
fn a_hostile_text_costs_its_length() {
    const MANY: usize = 1_000_000;
    let fault = |text: String| match Update::parse(text).unwrap_err().faults() {
        [UpdateFault::Text { fault, .. }] => fault.clone(),
        faults => panic!("{faults:?}"),
    };
    let file = |rest: String| format!("# Files\n\na\n{rest}");
    assert_eq!(fault(file("```\n".repeat(MANY))), TextFault::Fence);
    assert_eq!(fault(file(format!("````\n{}", "```\n\n".repeat(MANY)))), TextFault::Fence);
    assert_eq!(fault(file("`".repeat(MANY))), TextFault::Fence);
    assert_eq!(fault(file(format!("{}\n{}", "`".repeat(MANY), "` ".repeat(MANY)))), TextFault::Fence);
    assert_eq!(fault("# Files\n\n".repeat(MANY)), TextFault::Fence);
    assert_eq!(fault("\n".repeat(MANY)), TextFault::Title);
    assert_eq!(fault(file("b".repeat(MANY))), TextFault::Fence);
    assert_eq!(fault(format!("# Removed\n\nfile {}", "a".repeat(MANY))), TextFault::Key);
    let many = |line: fn(usize) -> String| (0..MANY / 4).map(line).collect::<Vec<_>>().concat();
    let lines = many(|at| format!("\nfile {at:07}"));
    assert_eq!(fault(format!("# Removed\n{lines}\n\n\n")), TextFault::Title);
    let items = many(|at| format!("\n\n{at:07}\n```\n\n```"));
    assert_eq!(fault(format!("# Files{items}\n")), TextFault::Line);

    let fences = "```\n".repeat(MANY);
    let update = Update::new().file("a", fences.as_str());
    assert_eq!(Update::parse(update.to_text().unwrap()).unwrap(), update);
}

#[test]
fn an_error_of_an_update_can_be_shared() {
    fn shared<E: std::error::Error + Send + Sync + Clone + 'static>() {}
    shared::<UpdateError>();
}
