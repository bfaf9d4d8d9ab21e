//! Sets of documents.

use columnar::documents::{Cluster, Documents, Key, Kind, Update};

fn key(kind: Kind, path: &str) -> Key {
    Key::new(kind, path).unwrap()
}

fn after(documents: &Documents, update: &Update) -> Documents {
    documents.apply(update).unwrap().0
}

fn shown(documents: &Documents) -> Vec<String> {
    documents.iter().filter(|(key, _)| documents.is_shown(key)).map(|(key, _)| key.to_string()).collect()
}

#[test]
fn documents_are_in_the_order_in_which_they_are_shown() {
    let update =
        Update::new().file("b", "").url("https://a", "").file("a/c", "").symbol("z", "").file("a", "");
    let documents = after(&Documents::new(), &update);
    let keys: Vec<String> = documents.iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(keys, ["symbol:z", "file:a", "file:a/c", "file:b", "url:https://a"]);
}

#[test]
fn a_selected_file_hides_its_symbols() {
    let start = Update::new().symbol("a", "1").symbol("b", "2");
    let documents = after(&Documents::new(), &start);
    assert_eq!(shown(&documents), ["symbol:a", "symbol:b"]);

    let selected = after(&documents, &Update::new().file("a", "text"));
    assert_eq!(shown(&selected), ["symbol:b", "file:a"]);
    assert!(selected.get(&key(Kind::Symbol, "a")).is_some(), "the symbols are kept");

    let deselected = after(&selected, &Update::new().remove(Kind::File, "a"));
    assert_eq!(shown(&deselected), ["symbol:a", "symbol:b"]);
    assert!(!deselected.is_shown(&key(Kind::File, "a")));
}

#[test]
fn a_change_is_another_text() {
    let first =
        Update::new().file("a", "1").file("b", "2").symbol("c", "3").cluster(1, 1).tree("t").legend("l");
    let (documents, changes) = Documents::new().apply(&first).unwrap();
    assert_eq!(changes.added(), [key(Kind::Symbol, "c"), key(Kind::File, "a"), key(Kind::File, "b")]);
    assert!(changes.tree() && changes.legend() && changes.changed().is_empty());

    let (again, changes) = documents.apply(&first).unwrap();
    assert!(changes.is_empty());
    assert_eq!(again, documents);

    let update = Update::new().file("a", "1").file("b", "3").remove(Kind::Symbol, "c").legend("m");
    let (_, changes) = documents.apply(&update).unwrap();
    assert_eq!(changes.changed(), [key(Kind::File, "b")]);
    assert_eq!(changes.removed(), [key(Kind::Symbol, "c")]);
    assert!(changes.added().is_empty() && changes.legend() && !changes.tree());
}

#[test]
fn another_cluster_alone_is_no_change() {
    let symbols = || Update::new().symbol("a", "1");
    let documents = after(&Documents::new(), &symbols().cluster(1, 5));
    assert_eq!(documents.cluster(&key(Kind::Symbol, "a")), Some(Cluster { id: 1, references: 5 }));
    let (documents, changes) = documents.apply(&symbols().cluster(2, 6)).unwrap();
    assert!(changes.is_empty());
    assert_eq!(documents.cluster(&key(Kind::Symbol, "a")), Some(Cluster { id: 2, references: 6 }));
    assert_eq!(after(&documents, &symbols()).cluster(&key(Kind::Symbol, "a")), None);
}

#[test]
fn pages_are_there_for_one_step() {
    let page = || Update::new().url("https://a", "text");
    let (first, changes) = Documents::new().apply(&page()).unwrap();
    assert!(changes.is_empty(), "a page is no document that changes");
    assert_eq!(first.get(&key(Kind::Url, "https://a")).unwrap(), "text");
    assert!(first.is_shown(&key(Kind::Url, "https://a")) && first.len() == 1);
    let second = after(&first, &Update::new());
    assert!(second.is_empty() && second.get(&key(Kind::Url, "https://a")).is_none());
    assert_eq!(shown(&after(&second, &page())), ["url:https://a"]);
}

#[test]
fn tree_and_legend_stay_until_they_are_replaced() {
    let first = after(&Documents::new(), &Update::new().tree("a").legend("b"));
    let second = after(&first, &Update::new().tree("c"));
    assert_eq!((second.tree().unwrap().as_str(), second.legend().unwrap().as_str()), ("c", "b"));
    let (third, changes) = second.apply(&Update::new().legend("")).unwrap();
    assert!(changes.legend() && third.legend().is_none());
    assert!(third.apply(&Update::new().legend("")).unwrap().1.is_empty());
}

#[test]
fn an_empty_file_is_a_document() {
    let documents = after(&Documents::new(), &Update::new().file("a", ""));
    assert_eq!(documents.get(&key(Kind::File, "a")).unwrap(), "");
    assert_eq!(shown(&documents), ["file:a"]);
}

#[test]
fn a_set_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<Documents>();
    shared::<Update>();
}
