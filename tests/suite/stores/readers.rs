//! Readers beside an owner: what they see while it writes, when it is killed, and without its program.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

use columnar::CellState;
use columnar::documents::Update;
use columnar::prelude::*;
use columnar::reopen::OpenOptions;
use columnar::service::{Follower, Position};
use columnar::store::{FileStore, MemoryStore, ReadOnly, StoreError};
use columnar_tests::live::{Live, block_on};
use columnar_tests::process::test_alone;
use columnar_tests::store::stores_on_disk;
use columnar_tests::strategies::flows;
use proptest::prelude::*;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn topics() -> Column {
    column("topics", source("user").latest(), prompt("List the topics."))
}

/// Marks the other process, and names its store and folder.
const CHILD: &str = "COLUMNAR_READERS_CHILD";

/// Pushes until it is killed, and prints what is confirmed.
async fn push_forever(folder: &Path, store: usize) -> Outcome {
    let f = Flow::open(stores_on_disk(folder).swap_remove(store), [topics()]).await?;
    for number in 0_usize.. {
        f.push("user", number.to_string()).await?;
        f.run().await?;
        println!("confirmed {}", number + 1);
    }
    Ok(())
}

/// The values that a new reader has, which are numbers from 0 on. A reader of a file of SQLite had gaps: a cell was stored
/// between two of its queries.
async fn read(folder: &Path, store: usize) -> Result<usize> {
    let reader = Flow::open_stored(stores_on_disk(folder).swap_remove(store)).await?;
    let count = reader.len("user")?;
    for step in 0..count {
        assert_eq!(reader.get("user", step).as_deref(), Some(&*step.to_string()));
    }
    assert!(reader.len("topics")? <= count);
    Ok(count)
}

#[tokio::test]
async fn s25_a_reader_has_what_was_confirmed_while_the_owner_writes_and_when_it_is_killed() -> Outcome {
    if let Ok(place) = std::env::var(CHILD) {
        let (store, folder) = place.split_once(' ').expect("a number and a folder");
        return push_forever(Path::new(folder), store.parse()?).await;
    }
    for store in 0..stores_on_disk(Path::new("")).len() {
        let folder = tempfile::tempdir()?;
        let test = "s25_a_reader_has_what_was_confirmed_while_the_owner_writes_and_when_it_is_killed";
        let mut command = test_alone(module_path!(), test);
        command.env(CHILD, format!("{store} {}", folder.path().display()));
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let mut confirmed = lines
            .map_while(Result::ok)
            .filter_map(|line| line.split_once("confirmed ")?.1.parse::<usize>().ok());
        for _ in 0..20 {
            let least = confirmed.next().expect("it pushes");
            let found = read(folder.path(), store).await?;
            assert!(found >= least, "{found} of {least}");
        }
        child.kill()?;
        child.wait()?;
        let least = confirmed.last().unwrap_or(0);
        let found = read(folder.path(), store).await?;
        assert!(found >= least, "{found} of {least}");
        // The next owner has what the reader has seen.
        let f = Flow::open(stores_on_disk(folder.path()).swap_remove(store), [topics()]).await?;
        assert!(f.len("user")? >= found);
    }
    Ok(())
}

#[tokio::test]
async fn s25_a_reader_writes_nothing_and_says_so() -> Outcome {
    let folder = tempfile::tempdir()?;
    for store in 0..stores_on_disk(Path::new("")).len() {
        let open = || stores_on_disk(folder.path()).swap_remove(store);
        let absent = Flow::open_stored(open()).await.expect_err("there is nothing");
        assert!(matches!(absent, Error::Open { .. }), "{absent:?}");
        assert!(!folder.path().join(["folder", "chats.db"][store]).exists());
        let owner = Flow::open(open(), [topics()]).await?;
        owner.push("user", "hello").await?;
        // A later program has another column, which changes nothing for the owner.
        let mood = column("mood", "user.latest", prompt("Name the mood."));
        let reader = Flow::open(ReadOnly::new(open()), [&topics(), &mood]).await?;
        let pushed = reader.push("user", "hello").await.expect_err("it only reads");
        let Error::Store { source: StoreError::ReadOnly, .. } = &pushed else { panic!("{pushed:?}") };
        let stored = Flow::open_stored(open()).await?;
        assert_eq!(stored.order(), ["user", "topics"]);
        let run = stored.run().await.expect_err("the program is elsewhere");
        assert!(run.to_string().contains("`topics` at step 0"), "{run}");
        drop((reader, stored));
        owner.run().await?;
        assert_eq!(owner.steps(), 1);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// The definition has the views of all columns, so a reader assembles each context without the program. It has no filters,
    /// which are functions.
    #[test]
    fn a_flow_without_its_program_has_the_same_values_and_contexts(mut described in flows()) {
        for reads in described.columns.iter_mut().filter_map(|column| column.reads.as_mut()) {
            reads.views.iter_mut().for_each(|view| view.filter = None);
        }
        let outcome: Result<()> = block_on(async {
            let store = MemoryStore::new();
            let live = Live::open(store.clone(), &described).await?;
            live.fill(&described).await?;
            let stored = Flow::open_stored(store).await?;
            assert_eq!(stored.outline().to_string(), live.flow.outline().to_string());
            for column in live.flow.order() {
                for step in 0..described.steps() {
                    assert_eq!(stored.get(&column, step), live.flow.get(&column, step));
                    let [of_program, of_store] = [&live.flow, &stored].map(|flow| {
                        flow.messages(&column, step).map(|messages| messages.to_json()).map_err(|error| error.to_string())
                    });
                    assert_eq!(of_store, of_program, "{column} {step}");
                }
            }
            Ok(())
        });
        prop_assert!(outcome.is_ok(), "{outcome:?}");
    }
}

/// The columns that a law with random views does not have.
#[tokio::test]
async fn a_flow_without_its_program_has_documents_renamed_columns_versions_and_filters() -> Outcome {
    let declared = |name: &str, was: Option<&str>| {
        let (files, user) = (documents("files"), source("user"));
        let views = (files.tiered(), user.filter(|value| value.len() > 3), this());
        let log = column(
            "log",
            (files.compacted(), group("filter", [user.latest(), user.prev().named("before")])),
            prompt("Describe.").version("2"),
        );
        let coder = column(name, views, prompt("You write Rust."));
        let coder = was.into_iter().fold(coder, Column::was);
        let review = column("review", coder.thread(), prompt("Review it."));
        [log, review]
    };
    let store = MemoryStore::new();
    drop(Flow::open(store.clone(), declared("coder", None)).await?);
    let owner = Flow::open(store.clone(), declared("author", Some("coder"))).await?;
    owner.push("files", Update::new().file("a.rs", "fn main() {}").to_text()?).await?;
    owner.push("user", "Explain it, please.").await?;
    owner.run().await?;
    let stored = Flow::open_stored(store).await?;
    assert_eq!(stored.order(), owner.order());
    assert_eq!(stored.get("author", 0), owner.get("author", 0));
    // A review has its instruction in the conversation that it continues, and no store has that.
    for column in ["log", "author"] {
        assert_eq!(stored.messages(column, 0)?.to_json(), owner.messages(column, 0)?.to_json(), "{column}");
    }
    Ok(())
}

/// Fails in the middle for now.
async fn uneven(cx: Context) -> Result<String, String> {
    if (3..5).contains(&cx.step()) { Err("not yet".to_owned()) } else { Ok(format!("uneven {}", cx.step())) }
}

async fn events(store: &MemoryStore, from: &Position, count: usize) -> Result<(Vec<String>, Vec<Position>)> {
    let mut follower = Follower::new(store.clone(), from);
    let (mut shown, mut positions) = (Vec::new(), vec![from.clone()]);
    for _ in 0..count {
        let event = follower.next().await?;
        shown.push(serde_json::to_string(&event).expect("it is data"));
        positions.push(follower.position().clone());
    }
    Ok((shown, positions))
}

#[tokio::test(start_paused = true)]
async fn a_follower_has_each_cell_once_from_any_position() -> Outcome {
    let store = MemoryStore::new();
    let user = source("user");
    let uneven = column("uneven", user.latest(), uneven.every(2).or_wait());
    let late =
        column("late", (uneven.latest(), user.latest()), |cx: Context| async move { cx.step().to_string() });
    let owner = Flow::open(store.clone(), [&late]).await?;
    owner.push_all("user", (0..6).map(|step| format!("user {step}"))).await?;
    owner.run().await?;
    // A cell that has no value yet holds nothing back.
    let mut cells = 0;
    for column in owner.order() {
        for step in 0..6 {
            cells += usize::from(owner.cell(&column, step)? != CellState::Waiting);
        }
    }
    assert!(cells < 18, "a cell waits");
    let all = events(&store, &Position::START, cells).await?;
    assert!(all.0[0].contains("user 0") && all.0.iter().any(|event| event.contains("skipped")), "{all:?}");
    for (at, position) in all.1.iter().enumerate() {
        assert_eq!(events(&store, position, cells - at).await?.0, all.0[at..]);
        // A text, as a client has it.
        assert_eq!(position.to_string().parse::<Position>()?, *position);
    }
    // Who waits gets what comes.
    let mut follower = Follower::new(store, all.1.last().expect("there is one"));
    let (event, pushed) = tokio::join!(follower.next(), owner.push("user", "the next"));
    assert_eq!(pushed?, 6);
    let Event::Value { column, value, step } = event? else { panic!("it is a value") };
    assert_eq!((column.as_str(), &*value, step), ("user", "the next", 6));
    assert!(follower.receipt().is_none());
    Ok(())
}

/// A damaged value hides no other one.
#[tokio::test(start_paused = true)]
async fn s25_a_follower_passes_a_cell_that_cannot_be_read() -> Outcome {
    let folder = tempfile::tempdir()?;
    let owner = Flow::open(FileStore::new(folder.path()), [topics()]).await?;
    owner.push_all("user", ["a", "b", "c"]).await?;
    owner.run().await?;
    std::fs::write(folder.path().join("user/1.txt"), "another")?;
    let mut follower = Follower::new(FileStore::new(folder.path()), &Position::START);
    let mut shown = Vec::new();
    while shown.len() < 3 {
        match follower.next().await? {
            Event::Value { column, value, .. } if column == "user" => shown.push(value.to_string()),
            Event::Failed { column, step, .. } => shown.push(format!("{column} {step} failed")),
            _ => {}
        }
    }
    assert_eq!(shown, ["a", "user 1 failed", "c"]);
    Ok(())
}

/// A follower looks at a store that has a long past in parts.
#[tokio::test(start_paused = true)]
async fn a_follower_begins_in_the_middle_of_a_long_flow() -> Outcome {
    let store = MemoryStore::new();
    let owner = Flow::open(OpenOptions::new(store.clone()), [topics()]).await?;
    owner.push_all("user", (0..5_000).map(|step| step.to_string())).await?;
    let mut follower = Follower::new(store, &Position::before(4_998));
    for step in [4_998, 4_999] {
        let Event::Value { value, .. } = follower.next().await? else { panic!("it is a value") };
        assert_eq!(&*value, &*step.to_string());
    }
    Ok(())
}
