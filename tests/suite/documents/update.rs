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
        .symbol("src/a b, 3 bytes.rs", "")
        .remove(Kind::File, "src/old.rs")
        .tree("src/lib.rs\nsrc/main.rs")
        .legend("fn: a function");
    let text = update.to_text().unwrap();
    assert_eq!(
        text,
        "documents 1\n\
         legend, 14 bytes:\nfn: a function\n\
         tree, 22 bytes:\nsrc/lib.rs\nsrc/main.rs\n\
         symbol src/a b, 3 bytes.rs, 0 bytes:\n\n\
         symbol src/lib.rs, 17 bytes, cluster 3, 12 references:\nfn answer() -> u8\n\
         removed symbol src/old.rs\n\
         file src/main.rs, 13 bytes:\nfn main() {}\n\n\
         removed file src/old.rs\n\
         url https://example.org/a?b, 7 bytes:\nA page.\n"
    );
    assert_eq!(Update::parse(text).unwrap(), update);
}

#[test]
fn an_empty_update_is_a_line() {
    let update = Update::new();
    assert!(update.is_empty());
    assert_eq!(update.to_text().unwrap(), "documents 1\n");
    assert!(Update::parse("documents 1\n").unwrap().is_empty());
    let (documents, changes) = Documents::new().apply(&update).unwrap();
    assert!(documents.is_empty() && changes.is_empty());
}

/// A copy of each text would double the memory of a repository.
#[test]
fn the_texts_of_documents_are_slices_of_the_update() {
    let long = "x".repeat(1000);
    let update = Update::new().file("a", long.as_str()).symbol("b", "outline").tree("a\nb").legend("none");
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
    let line = "documents 1\n".len();
    for (text, at, fault) in [
        ("", 0, TextFault::Title),
        ("documents 1", 0, TextFault::Title),
        ("Documents 1\n", 0, TextFault::Title),
        ("documents 01\n", 0, TextFault::Title),
        ("a secret\n", 0, TextFault::Title),
        ("documents 99999999999\n", 0, TextFault::Title),
        ("documents 1\n\n", line, TextFault::Line),
        ("documents 1\nsecret", line, TextFault::Line),
        ("documents 1\nfile a, 1 bytes\n1\n", line, TextFault::Line),
        ("documents 1\nfile a, 01 bytes:\n1\n", line, TextFault::Line),
        ("documents 1\nfile a, +1 bytes:\n1\n", line, TextFault::Line),
        ("documents 1\nfile a, -1 bytes:\n1\n", line, TextFault::Line),
        ("documents 1\nfile a, 99999999999999999999999 bytes:\n1\n", line, TextFault::Line),
        ("documents 1\nFile a, 1 bytes:\n1\n", line, TextFault::Line),
        ("documents 1\nremoved legend\n", line, TextFault::Line),
        ("documents 1\nfile a, 1 bytes, cluster 1, 1 references:\n1\n", line, TextFault::Line),
        ("documents 1\ntree, 1 bytes, cluster 1, 1 references:\n1\n", line, TextFault::Line),
        ("documents 1\nsymbol a, 1 bytes, cluster 4294967296, 1 references:\n1\n", line, TextFault::Line),
        ("documents 1\nsymbol a, 1 bytes, 1 references:\n1\n", line, TextFault::Line),
        ("documents 1\nfile a, 3 bytes:\n1\n", line, TextFault::Length(3)),
        ("documents 1\nfile a, 2 bytes:\n1\n", line, TextFault::Length(2)),
        ("documents 1\nfile a, 1 bytes:\né\n", line, TextFault::Length(1)),
        ("documents 1\nfile a, 1 bytes:\n12\n", line, TextFault::Length(1)),
        ("documents 1\nfile a, 18446744073709551615 bytes:\n1\n", line, TextFault::Length(usize::MAX)),
        ("documents 1\nfile ../secret, 1 bytes:\n1\n", line, TextFault::Key),
        ("documents 1\nfile ./a, 1 bytes:\n1\n", line, TextFault::Key),
        ("documents 1\nfile a\\b, 1 bytes:\n1\n", line, TextFault::Key),
        ("documents 1\nfile , 1 bytes:\n1\n", line, TextFault::Key),
        ("documents 1\nurl a, 1 bytes:\n1\n", line, TextFault::Key),
        ("documents 1\nremoved url https://a\n", line, TextFault::Page),
        ("documents 1\nremoved file a\nremoved file a\n", line + 15, TextFault::Order),
        ("documents 1\nremoved file a\nremoved symbol b\n", line + 15, TextFault::Order),
        ("documents 1\nremoved file a\ntree, 1 bytes:\n1\n", line + 15, TextFault::Order),
        ("documents 1\ntree, 0 bytes:\n\nlegend, 0 bytes:\n\n", line + 16, TextFault::Order),
        ("documents 1\ntree, 0 bytes:\n\ntree, 0 bytes:\n\n", line + 16, TextFault::Order),
    ] {
        let error = Update::parse(text).unwrap_err();
        assert_eq!(error.faults(), [UpdateFault::Text { at, fault }], "{text:?}");
        let message = error.to_string();
        assert!(message.contains(&format!("at byte {at}: ")) && !message.contains("secret"), "{message}");
    }
    let error = Update::parse("documents 2\nanything").unwrap_err();
    assert_eq!(error.faults(), [UpdateFault::Version { found: 2, known: 1 }]);
    let pages = ["a", "b", "c", "d"].map(|host| format!("url https://{host}, 0 bytes:\n\n")).concat();
    let error = Update::parse(format!("documents 1\n{pages}")).unwrap_err();
    assert!(matches!(error.faults(), [UpdateFault::Text { fault: TextFault::Urls, .. }]));
}

#[test]
fn an_error_of_an_update_can_be_shared() {
    fn shared<E: std::error::Error + Send + Sync + Clone + 'static>() {}
    shared::<UpdateError>();
}
