//! Images and other attachments of nodes. The name of a test begins with its row of `tests/LOOM.md`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use columnar::budget::{Budget, Strategy};
use columnar::loom::{
    Agent, Assembled, Author, Aware, Change, Edge, Imported, Loom, LoomError, Memory, Mode, NodeId, Tree,
    TreeError, export, import,
};
use columnar::model::MediaRules;
use columnar::rendering::Rendering;
use columnar::store::{FileStore, MemoryStore, Store, StoreError};
use columnar::testing::{LayeredStore, StoreLayer};
use columnar::tokens::Estimate;
use columnar::usage::Receipt;
use columnar::{Attachment, Text};
use columnar_tests::pictures::picture;
use columnar_tests::sample_files::pdf;
use futures::future::{BoxFuture, FutureExt};
use serde_json::{Value as Json, json};
use tokio::sync::Semaphore;

use super::long::dice;

fn agent() -> Agent {
    Agent::new("").model("anthropic/claude-sonnet-4-5")
}

fn note() -> Attachment {
    Attachment::new("Be brief.").unwrap()
}

/// A question about a photo, a reply with a sketch, and a rule with a note.
struct Album {
    tree: Tree,
    dice: Box<dyn FnMut() -> u64>,
    question: NodeId,
    photo: NodeId,
    rule: NodeId,
    reply: NodeId,
}

fn album(mode: Mode) -> Album {
    let mut tree = Tree::new(mode);
    let mut dice: Box<dyn FnMut() -> u64> = Box::new(dice(4));
    let question = tree.append(&mut dice, Edge::root(), Author::Human, "Who is it?").unwrap();
    let photo = Text::new("").with(picture(300, 300).alt("A woman."));
    let photo = tree.aside(&mut dice, Author::Model, photo).unwrap();
    let rule = tree.aside(&mut dice, Author::Human, Text::new("Look.").with(note())).unwrap();
    let reply = Text::new("Ada.").with(picture(8, 8).alt("A sketch."));
    let from = Edge::from(&question).context(&photo).instruction(&rule);
    let reply = tree.append(&mut dice, from, Author::Model, reply).unwrap();
    Album { tree, dice, question, photo, rule, reply }
}

fn messages(asked: &Assembled) -> Json {
    serde_json::to_value(asked.messages()).unwrap()
}

/// The contents of the messages to Claude.
fn anthropic(asked: &Assembled) -> Vec<Json> {
    let mut request = Rendering::new("", asked.messages()).anthropic();
    let messages = request["messages"].as_array_mut().unwrap();
    messages.iter_mut().map(|message| message["content"].take()).collect()
}

fn text(text: &str) -> Json {
    json!({ "type": "text", "text": text })
}

fn image(attachment: &Attachment) -> Json {
    let data = STANDARD.encode(attachment.bytes());
    json!({ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } })
}

#[test]
fn l27_an_image_of_a_source_stands_before_the_question() {
    let Album { mut tree, mut dice, question, photo, rule, reply } = album(Mode::Dialogue);
    let node = tree.node(&photo).unwrap();
    assert_eq!((node.text(), node.attachments()), ("", &[picture(300, 300).alt("A woman.")][..]));
    assert_eq!(node.value().attachments(), node.attachments());

    let edge = Edge::from(&question).context(&photo).instruction(&rule);
    let path = tree.path(&edge, &[]).unwrap();
    assert_eq!(path.attachments().count(), 2);
    let asked = path.dialogue(&agent()).unwrap();
    assert_eq!(asked.system(), Some("Look.\n\n[text/plain, 9 bytes]"));
    let photo = picture(300, 300).alt("A woman.");
    let expected = json!([{ "role": "user", "content": "\n\nWho is it?", "attachments": [photo] }]);
    assert_eq!(messages(&asked), expected);
    assert_eq!(anthropic(&asked), [json!([image(&photo), text("\n\nWho is it?")])]);
    assert_eq!(asked.nodes().count(), 2);

    // No provider takes media in a reply.
    let why = Text::new("And here?").with(picture(16, 16)).with(note());
    let why = tree.append(&mut dice, &reply, Author::Human, why).unwrap();
    let asked = tree.path(&why, &[]).unwrap().dialogue(&agent()).unwrap();
    let document = json!({ "type": "text", "media_type": "text/plain", "data": "Be brief." });
    let expected = [
        json!([image(&photo), text("\n\nWho is it?")]),
        json!([text("Ada.\n\n[A sketch.]")]),
        json!([text("And here?"), image(&picture(16, 16)), { "type": "document", "source": document }]),
    ];
    assert_eq!(anthropic(&asked), expected);
}

#[test]
fn l27_a_buffer_shows_words_in_place_of_images() {
    let Album { mut tree, question, photo, rule, reply, .. } = album(Mode::Buffer);
    let asked = tree.path(&reply, &[]).unwrap().buffer(" and", &agent()).unwrap();
    let expected = "[A woman.]Who is it?Ada.\n\n[A sketch.] and";
    assert_eq!((&*asked.text(), asked.unsent_system()), (expected, Some("Look.\n\n[text/plain, 9 bytes]")));
    assert_eq!(messages(&asked), json!([{ "role": "user", "content": expected }]));
    let edge = Edge::from(&question).context(&photo).instruction(&rule);
    tree.set_system_in_buffer(true).unwrap();
    let asked = tree.path(&edge, &[]).unwrap().buffer("", &agent()).unwrap();
    assert_eq!(asked.system(), Some("Look.\n\n[text/plain, 9 bytes]"));
}

#[test]
fn l27_budgets_count_images_by_the_rule_of_the_model() {
    let Album { tree, question, photo, reply, .. } = album(Mode::Dialogue);
    let path = tree.path(&reply, &[]).unwrap();
    let asked = path.dialogue(&agent()).unwrap();
    let parts: Vec<usize> = asked.messages().parts().map(|part| part.tokens()).collect();
    // 11 x 11 squares and a separator; a text; a text, and `[A sketch.]` in words.
    assert_eq!(parts, [122, 4, 5]);
    assert_eq!(asked.messages().tokens(), 131);
    let rules = MediaRules::by_model("anthropic/claude-sonnet-4-5").unwrap();
    assert_eq!(rules.tokens(&picture(300, 300)), 121);

    // The note of the system text has 8 tokens and a separator.
    let budget = |tokens| agent().budget(Budget::of(tokens).token_buffer(0).strategy(Strategy::StopAtLimit));
    assert!(path.dialogue(&budget(140)).is_ok());
    let error = path.dialogue(&budget(139)).err().unwrap();
    let LoomError::OverLimit { tokens, limit, contributors, others } = error else { panic!("{error}") };
    assert_eq!((tokens, limit, others), (131, 130, 0));
    assert_eq!(contributors, [(photo.clone(), 122), (reply, 5), (question, 4)]);
    let budget = Budget::of(139).token_buffer(0).strategy(Strategy::RollingWindow);
    let asked = path.dialogue(&agent().budget(budget)).unwrap();
    assert_eq!(asked.elided().collect::<Vec<_>>(), [&photo]);
    assert_eq!(asked.report().map(|report| (report.before, report.after)), Some((131, 9)));
    assert_eq!(asked.messages().parts().flat_map(|part| part.attachments()).count(), 1);
}

#[test]
fn l27_headers_memory_and_comparisons_keep_images() {
    let Album { mut tree, mut dice, question, photo, reply, .. } = album(Mode::Dialogue);
    let memory = Memory::new().pin(&photo);
    let agent = agent().aware(Aware::new("Album").memory(memory));
    let asked = tree.path(Edge::from(&question).context(&photo), &[]).unwrap().dialogue(&agent).unwrap();
    let blocks = asked.messages().parts().map(|part| (part.text().into_owned(), part.attachments().len()));
    let blocks: Vec<(String, usize)> = blocks.collect();
    assert_eq!(blocks[0], (format!("[{photo}] model\n---\n"), 1));
    assert!(blocks[1].0.contains("=== Loom Context ==="), "{blocks:?}");
    assert!(asked.system().unwrap().contains(&format!("  [{photo}] \"[A woman.]\"")), "{:?}", asked.system());
    let last = tree.append(&mut dice, &question, Author::Human, Text::new("").with(note())).unwrap();
    let asked = tree.path(&last, &[]).unwrap().dialogue(&agent).unwrap();
    let last_part = asked.messages().parts().last().unwrap();
    assert!(last_part.text().contains("=== Loom Context ==="));
    assert_eq!(last_part.attachments(), [note()]);

    let [left, right] = [&reply, &last].map(|node| tree.path(node, &[]).unwrap());
    let compared = left.compare(&right, &Estimate);
    // The photo, the rule with its note, the reply with its sketch, all as media; and the note.
    assert_eq!((compared.left.tokens, compared.right.tokens), (121 + 2 + 3 + 1 + 1, 3));
    let printed = compared.to_string();
    assert!(printed.contains(&format!("{reply} model  Ada. [A sketch.]\n")), "{printed}");
    assert!(printed.ends_with(&format!("{last} human  [text/plain, 9 bytes]")), "{printed}");
}

#[test]
fn l27_the_json_of_a_change_has_the_bytes_or_is_damaged() {
    let Album { tree, .. } = album(Mode::Dialogue);
    let json: Vec<String> = tree.changes().map(|change| change.to_json()).collect();
    assert!(json[2].ends_with(r#","text":"Look.","attachments":[{"data":"QmUgYnJpZWYu"}]}"#), "{}", json[2]);
    let read = json.iter().map(|json| Change::parse(json).unwrap());
    assert_eq!(Tree::replay(Mode::Dialogue, read).as_ref(), Ok(&tree));
    for (attachments, part) in [
        ("[]", "attachments"),
        ("{}", "attachments"),
        ("[3]", "attachments"),
        (r#"[{}]"#, "data"),
        (r#"[{"data":""}]"#, "data"),
        (r#"[{"data":"QmUgYnJpZWYu="}]"#, "data"),
        (r#"[{"data":"iVBORw0KGgo="}]"#, "data"),
        (r#"[{"data":"QmUgYnJpZWYu","alt":3}]"#, "alt"),
        (r#"[{"data":"QmUgYnJpZWYu","more":3}]"#, "an unknown key"),
    ] {
        let json = format!(r#"{{"id":"a","author":"human","text":"","attachments":{attachments}}}"#);
        assert_eq!(Change::parse(&json), Err(TreeError::Damaged { part }), "{json}");
    }
}

#[test]
fn l27_a_document_has_the_media_of_nodes_in_blocks() {
    let Album { mut tree, mut dice, reply, photo, rule, .. } = album(Mode::Dialogue);
    let sound = Attachment::new(*b"OggS\0\x02 a song").unwrap().alt("La la.");
    let pdf = Attachment::new(pdf("Ada")).unwrap();
    let song = Text::new("Listen.").with(sound.clone()).with(pdf.clone());
    let song = tree.append(&mut dice, &reply, Author::Human, song).unwrap();
    let document = export(&tree, "t", "");
    let json: Json = serde_json::from_str(&document).unwrap();
    let content = |node: &NodeId| json["trees"][0]["nodes"][node.as_str()]["content"].clone();
    let uri = |attachment: &Attachment| {
        format!("data:{};base64,{}", attachment.media_type(), STANDARD.encode(attachment.bytes()))
    };
    let picture = picture(300, 300);
    let expected = json!([{ "type": "image", "ref": uri(&picture), "mimeType": "image/png", "width": 300, "height": 300, "altText": "A woman." }]);
    assert_eq!(content(&photo), expected);
    assert_eq!(
        content(&rule),
        json!([text("Look."), { "type": "file", "ref": "data:text/plain;base64,QmUgYnJpZWYu", "mimeType": "text/plain" }])
    );
    let expected = json!([
        text("Listen."),
        { "type": "audio", "ref": uri(&sound), "mimeType": "audio/ogg", "transcript": "La la." },
        { "type": "file", "ref": uri(&pdf), "mimeType": "application/pdf" },
    ]);
    assert_eq!(content(&song), expected);
    let Imported { tree: again, .. } = import(&document).unwrap().remove(0);
    assert_eq!(again, tree);
    assert_eq!(export(&again, "t", ""), document);
}

/// A document of another program, with these blocks in the node `a`.
fn document(blocks: &Json) -> String {
    let node = json!({ "id": "a", "content": blocks, "author": { "role": "human" } });
    let tree = json!({ "id": "t", "title": "", "rootNodeIds": ["a"], "nodes": { "a": node }, "edges": [] });
    json!({ "format": "open-loom", "version": "2.0", "trees": [tree] }).to_string()
}

#[test]
fn l27_media_of_other_programs_are_read_where_the_document_has_the_bytes() {
    let picture = picture(8, 9);
    let data = STANDARD.encode(picture.bytes());
    let image = |reference: String, more: Json| {
        let mut block = json!({ "type": "image", "ref": reference, "mimeType": "image/png" });
        block.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        block
    };
    let read = |blocks: Json| {
        let tree = import(&document(&blocks)).unwrap().remove(0).tree;
        let node = tree.nodes().next().unwrap();
        (node.text().to_owned(), node.attachments().to_vec())
    };
    let alone = image(format!("DATA:image/png;charset=x;base64,{data}"), json!({ "altText": "A fox." }));
    // The type that a document says is not that of the bytes.
    let other = image(format!("data:image/webp;base64,{data}"), json!({ "mimeType": "image/jpeg" }));
    let drawing =
        image("data:image/svg+xml;base64,PHN2Zy8+".to_owned(), json!({ "mimeType": "image/svg+xml" }));
    let (words, attachments) = read(json!([alone, text("What is it?"), other, drawing, text("Tell.")]));
    assert_eq!(words, "What is it?\n\nTell.");
    let svg = Attachment::new("<svg/>").unwrap();
    assert_eq!(attachments, [picture.clone().alt("A fox."), picture.clone(), svg]);
    // Bytes that are elsewhere, or in another form, are the text.
    for reference in ["fox.png", "https://a.example/fox.png", "data:image/svg+xml,<svg/>", "data:;base64"] {
        let block = image(reference.to_owned(), json!({ "altText": "A fox." }));
        assert_eq!(read(json!([text("See"), block])), ("See\n\nA fox.".to_owned(), Vec::new()));
        let error =
            import(&document(&json!([text("See"), image(reference.to_owned(), json!({}))]))).unwrap_err();
        assert!(matches!(&error, LoomError::Unreadable { node } if *node == "a"), "{error}");
        assert!(!error.to_string().contains("fox"), "{error}");
    }
}

#[test]
fn i13_bad_media_of_a_document_name_the_node_and_the_block() {
    let data = STANDARD.encode(picture(8, 9).bytes());
    let cut = &data[..data.len() - 8];
    for (kind, reference, fault) in [
        ("image", "data:image/png;base64,%%%".to_owned(), "its `ref` is no base64"),
        ("image", format!("data:image/png;base64,{}", &data[1..]), "its `ref` is no base64"),
        ("image", "data:image/png;base64,".to_owned(), "the attachment is empty"),
        ("image", format!("data:image/png;base64,{cut}"), "a damaged or truncated `image/png`"),
        ("image", "data:image/png;base64,QmUgYnJpZWYu".to_owned(), "it is no image, but `text/plain`"),
        ("image", "data:image/png;base64,gICA".to_owned(), "it is no image, but `application/octet-stream`"),
        ("audio", format!("data:audio/ogg;base64,{cut}"), "a damaged or truncated `image/png`"),
        (
            "file",
            "data:application/pdf;base64,JVBERi0xLjc=".to_owned(),
            "a damaged or truncated `application/pdf`",
        ),
    ] {
        let block = json!({ "type": kind, "ref": reference, "altText": "secret", "transcript": "secret" });
        let error = import(&document(&json!([text("secret"), block]))).unwrap_err();
        assert!(matches!(&error, LoomError::Import { .. }), "{error}");
        let error = error.to_string();
        assert!(
            error.contains("`content[1]` of the node `a` cannot be read: ") && error.contains(fault),
            "{error}"
        );
        assert!(!error.contains("secret"), "{error}");
    }
}

/// A tree in a folder: a photo, a question with the same photo and a note, and a reply with a sketch.
async fn stored(folder: &Path) -> Loom {
    let mut loom = Loom::open(FileStore::new(folder), Mode::Dialogue).await.unwrap().with_dice(dice(3));
    let photo = Text::new("").with(picture(300, 300).alt("A \"woman\"."));
    loom.aside(Author::Human, photo).await.unwrap();
    let question = Text::new("Who is it?").with(note()).with(picture(300, 300));
    let question = loom.append(Edge::root(), Author::Human, question).await.unwrap();
    let receipt: Receipt = r#"{"model":"m","calls":1,"input":7}"#.parse().unwrap();
    let reply = Text::new("Ada.").with(picture(8, 8));
    let reply = loom.append_reply(&question, reply, &receipt).await.unwrap();
    assert_eq!(loom.node(&reply).unwrap().receipt(), Some(receipt));
    loom.annotate(&question, Author::Human, Text::new("").with(note())).await.unwrap();
    loom.edit(&question, Author::Human, "Who is she?").await.unwrap();
    loom
}

/// The files with the bytes of attachments.
fn kept(folder: &Path) -> Vec<std::path::PathBuf> {
    let files = fs::read_dir(folder.join("_attachments")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort_by_key(|file| fs::metadata(file).unwrap().len());
    files
}

#[tokio::test]
async fn l27_the_attachments_of_nodes_are_stored_once_and_found_again() {
    let folder = tempfile::tempdir().unwrap();
    let tree = stored(folder.path()).await.tree().clone();
    let loom = Loom::open(FileStore::new(folder.path()), Mode::Dialogue).await.unwrap();
    assert_eq!(*loom.tree(), tree);
    let [photo, question, ..] = &tree.nodes().collect::<Vec<_>>()[..] else { panic!("there are five") };
    assert_eq!(photo.attachments(), [picture(300, 300).alt("A \"woman\".")]);
    // In memory, too, nodes with the same bytes share them.
    let [photo, question] = [photo, question].map(|node| loom.node(node.id()).unwrap().attachments());
    assert_eq!(photo[0].bytes().as_ptr(), question[1].bytes().as_ptr());
    assert_eq!(kept(folder.path()).len(), 3);
}

#[tokio::test]
async fn l27_a_stored_attachment_that_is_gone_or_damaged_is_named_with_its_node() {
    let note = "its attachment `text/plain ";
    for (bytes, fault) in [(None, "is gone"), (Some("Be long!!"), "was changed or damaged")] {
        let folder = tempfile::tempdir().unwrap();
        drop(stored(folder.path()).await);
        let file = &kept(folder.path())[0];
        assert_eq!(fs::read_to_string(file).unwrap(), "Be brief.");
        match bytes {
            None => fs::remove_file(file).unwrap(),
            Some(bytes) => fs::write(file, bytes).unwrap(),
        }
        let error = Loom::open(FileStore::new(folder.path()), Mode::Dialogue).await.unwrap_err();
        assert!(matches!(&error, LoomError::Store(_)), "{error}");
        let error = error.to_string();
        assert!(error.contains("node") && error.contains(note) && error.contains(fault), "{error}");
    }
}

/// A store in memory that holds attachments until it may store one, or refuses them.
struct Reluctant(Option<Arc<Semaphore>>);

impl StoreLayer for Reluctant {
    fn put_blob(
        self: &Arc<Self>,
        inner: &Arc<dyn Store>,
        digest: String,
        bytes: Arc<[u8]>,
    ) -> BoxFuture<'static, Result<(), StoreError>> {
        let Some(gate) = self.0.clone() else { return async { Err(StoreError::NoAttachments) }.boxed() };
        let stored = inner.put_blob(digest, bytes);
        async move {
            gate.acquire().await.unwrap().forget();
            stored.await
        }
        .boxed()
    }
}

/// A store without attachments would keep a node that is another one.
#[tokio::test]
async fn l27_a_store_without_attachments_refuses_the_node_and_keeps_the_tree() {
    let memory = MemoryStore::new();
    let store = LayeredStore::new(memory.clone(), Reluctant(None));
    let mut loom = Loom::open(store, Mode::Dialogue).await.unwrap();
    let error = loom.append(Edge::root(), Author::Human, Text::new("What?").with(note())).await.unwrap_err();
    assert!(matches!(&error, LoomError::Store(StoreError::NoAttachments)), "{error}");
    assert_eq!(loom.len(), 0);
    loom.append(Edge::root(), Author::Human, "What?").await.unwrap();
    drop(loom);
    assert_eq!(Loom::open(memory, Mode::Dialogue).await.unwrap().len(), 1);
}

#[tokio::test]
async fn l27_a_dropped_node_with_attachments_comes_before_the_next_one() {
    let memory = MemoryStore::new();
    let gate = Arc::new(Semaphore::new(0));
    let store = LayeredStore::new(memory.clone(), Reluctant(Some(Arc::clone(&gate))));
    let mut loom = Loom::open(store, Mode::Dialogue).await.unwrap();
    let question = Text::new("What?").with(note()).with(picture(8, 8));
    assert!(loom.append(Edge::root(), Author::Human, question).now_or_never().is_none());
    assert_eq!(loom.len(), 0);
    gate.add_permits(2);
    loom.append(Edge::root(), Author::Human, "And?").await.unwrap();
    let tree = loom.tree().clone();
    let nodes: Vec<_> = tree.nodes().map(|node| (node.text(), node.attachments().len())).collect();
    assert_eq!(nodes, [("What?", 2), ("And?", 0)]);
    drop(loom);
    assert_eq!(*Loom::open(memory, Mode::Dialogue).await.unwrap().tree(), tree);
}
