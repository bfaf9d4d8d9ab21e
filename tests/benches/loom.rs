//! The cost of trees: an append, the request of a path of 10^5 nodes against one of 10^3, and a tree of 10^6 nodes.
//!
//! `cargo bench -p columnar-tests --bench loom` takes about a minute.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use columnar::budget::Budget;
use columnar::loom::{Agent, Author, Edge, Header, Loom, Mode, NodeId, Tree};
use columnar::store::MemoryStore;
use columnar_tests::figures::{
    Contender, bar, figure, grown, medians, micros_each, over, self_timed_medians, timed,
};
use tokio::runtime::Builder;

const SHORT: u32 = 1_000;
const LONG: u32 = 100_000;
const MILLION: u32 = 1_000_000;
/// The appends of a measurement.
const APPENDS: u32 = 10_000;
const ROUNDS: usize = 11;
/// The opening of a million nodes, which takes seconds.
const FEW_ROUNDS: usize = 3;

/// A path of nodes of 100 characters.
fn chain(count: u32) -> (Tree, NodeId) {
    let mut tree = Tree::new(Mode::Dialogue);
    let last = extend(&mut tree, None, count);
    (tree, last)
}

/// Appends nodes after this one, and returns the last one.
fn extend(tree: &mut Tree, from: Option<&NodeId>, count: u32) -> NodeId {
    let mut random = fastrand::Rng::with_seed(tree.len() as u64);
    let mut dice = || random.u64(..);
    let mut edge = from.map_or_else(Edge::root, Edge::from);
    for number in 0..count {
        let author = if number % 2 == 0 { Author::Human } else { Author::Model };
        let node = tree.append(&mut dice, edge, author, text(number)).expect("its source is in the tree");
        edge = Edge::from(&node);
    }
    let (_, last) = edge.sources().first().expect("there is a node");
    last.clone()
}

fn text(number: u32) -> String {
    format!("{number:0>100}")
}

/// The request of a path, as a program sends it.
fn ask(tree: &Tree, last: &NodeId, agent: &Agent) {
    let path = tree.path(last, &[]).expect("the node is there");
    black_box(path.dialogue(agent).expect("it fits").text().len());
}

/// The time of each node of a path of 10^5 over that of a path of 10^3.
fn paths() {
    let [(short, short_last), (long, long_last)] = [SHORT, LONG].map(chain);
    let budgets = [("path", Budget::new()), ("budgeted", Budget::of(8_000))];
    for (name, budget) in budgets {
        let agent = Agent::new("You write.").budget(budget);
        let many = || (0..LONG / SHORT).for_each(|_| ask(&short, &short_last, &agent));
        let [short, long] = medians(ROUNDS, [&mut { many }, &mut || ask(&long, &long_last, &agent)]);
        figure(&format!("{name}_1e3_us_per_node"), micros_each(short, LONG), "us");
        figure(&format!("{name}_1e5_us_per_node"), micros_each(long, LONG), "us");
        bar(&format!("{name}_1e5_over_1e3"), over(long, short), 1.5);
    }
}

/// A path of a million nodes, its memory, and appends to it against appends to an empty tree.
fn million() {
    let ((mut tree, mut last), bytes) = grown(MILLION, || chain(MILLION));
    if let Some(bytes) = bytes {
        figure("million_bytes_per_node", bytes, "bytes");
    }
    let mut few = || {
        let mut tree = Tree::new(Mode::Dialogue);
        timed(|| drop(extend(&mut tree, None, APPENDS)))
    };
    let mut many = || {
        let from = last.clone();
        timed(|| last = extend(&mut tree, Some(&from), APPENDS))
    };
    let times = self_timed_medians(ROUNDS, &mut [Box::new(&mut few) as Contender<'_>, Box::new(&mut many)]);
    let &[few, many] = &*times else { return };
    figure("append_us", micros_each(few, APPENDS), "us");
    figure("million_append_us", micros_each(many, APPENDS), "us");
    figure("million_append_over_append", over(many, few), "x");
    rebuilt(&tree);
    opened(tree);
}

/// A tree of a million nodes, made again from its headers and texts.
fn rebuilt(tree: &Tree) {
    let nodes: Vec<(Header, Arc<str>)> =
        tree.nodes().map(|node| (node.header(), node.shared_text())).collect();
    let mut rebuild = || {
        let nodes = nodes.clone();
        timed(|| drop(black_box(Tree::rebuild(Mode::Dialogue, nodes, []))))
    };
    let mut contenders: [Contender<'_>; 1] = [Box::new(&mut rebuild)];
    let seconds = self_timed_medians(FEW_ROUNDS, &mut contenders).first().map_or(0.0, Duration::as_secs_f64);
    figure("million_rebuild_s", seconds, "s");
}

/// The same tree on a store in memory.
fn opened(tree: Tree) {
    let runtime = Builder::new_current_thread().build().expect("a runtime of one thread needs nothing");
    let store = MemoryStore::new();
    let open = || runtime.block_on(Loom::open(store.clone(), Mode::Dialogue)).expect("it is closed");
    let mut loom = open();
    let stored = timed(|| {
        runtime.block_on(async {
            for change in tree.changes() {
                loom.change(change).await.expect("memory takes it");
            }
        });
    });
    figure("million_store_us", micros_each(stored, MILLION), "us");
    drop((loom, tree));
    let mut reopen = || timed(|| drop(black_box(open())));
    let mut contenders: [Contender<'_>; 1] = [Box::new(&mut reopen)];
    let seconds = self_timed_medians(FEW_ROUNDS, &mut contenders).first().map_or(0.0, Duration::as_secs_f64);
    figure("million_open_s", seconds, "s");
}

fn main() {
    // First, as memory that others freed is used again and does not count.
    million();
    paths();
}
