//! Random flows under random schedules: clients that come, read slowly, leave and return, while values are pushed, cells
//! fail, runs are cancelled and the service is shut down and started again.
//!
//! ```text
//! pushes ──▶ service, in several lives ──▶ subscriptions ──▶ Client: checks every event
//!               │                                  ▲
//!               └── Worker: counts computations    └── a client that reconnects passes its position
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use columnar::compute::{IntoStep, Step};
use columnar::prelude::*;
use columnar::service::{Position, Spawned, Subscription};
use columnar::store::MemoryStore;
use columnar::{BoxError, Compute, Name, Reply};
use columnar_tests::live::columns;
use columnar_tests::naive::{self, Window};
use columnar_tests::store::on_put;
use columnar_tests::strategies::flows;
use fastrand::Rng;
use futures::stream;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use tokio::runtime::Builder;
use tokio::task::LocalSet;
use tokio::time::{sleep, timeout};

/// A cell by column and step.
type Cell = (String, usize);

/// The number of clients of a schedule.
const CLIENTS: usize = 4;

/// A schedule: one flow, whose values are known before, in a store that outlives the service.
struct World {
    described: naive::Flow,
    /// `Wait` or `Skip` by column: the policy for failures.
    policies: Vec<OnFailure>,
    store: MemoryStore,
    work: Arc<Mutex<Work>>,
    seed: u64,
    /// Whether runs are cancelled, or dropped at the end of a shutdown.
    interrupts: bool,
}

#[derive(Clone, Copy, Debug)]
enum OnFailure {
    Stop,
    Wait,
    Skip,
}

/// The computations of all lives of the service.
#[derive(Debug, Default)]
struct Work {
    rng: Rng,
    /// The number of failures that are left.
    faults: usize,
    failed: BTreeSet<Cell>,
    /// The number of times that the whole value of a cell was computed.
    computed: BTreeMap<Cell, usize>,
}

impl World {
    fn new(seed: u64) -> Self {
        let config = Config { rng_seed: RngSeed::Fixed(seed), ..Config::default() };
        let tree = flows().new_tree(&mut TestRunner::new(config)).expect("flows are never refused");
        let described = tree.current();
        let mut rng = Rng::with_seed(seed);
        let policies = described.columns.iter().map(|_| match rng.usize(0..4) {
            0 => OnFailure::Wait,
            1 => OnFailure::Skip,
            _ => OnFailure::Stop,
        });
        let policies = policies.collect();
        let (interrupts, faults) = (rng.bool(), if rng.bool() { 6 } else { 0 });
        let work = Work { rng, faults, ..Work::default() };
        let (store, work) = (MemoryStore::new(), Arc::new(Mutex::new(work)));
        Self { described, policies, store, work, seed, interrupts }
    }

    async fn open(&self) -> Spawned<Flow> {
        let declared = columns(&self.described, |at, column| {
            let worker = Worker { values: column.values.clone(), work: Arc::clone(&self.work) };
            match self.policies.get(at) {
                Some(OnFailure::Wait) => worker.or_wait(),
                Some(OnFailure::Skip) => worker.or_skip(),
                _ => IntoStep::into_step(worker) as Step<'static>,
            }
        });
        let work = Arc::clone(&self.work);
        let store = on_put(self.store.clone(), move |inner, column, step, entry| {
            let (before, after) = (delay(&work), delay(&work));
            async move {
                sleep(before).await;
                let put = inner.put(column, step, entry).await;
                sleep(after).await;
                put
            }
        });
        Flow::open(store, declared).await.expect("the earlier life has ended").spawn()
    }
}

fn delay(work: &Mutex<Work>) -> Duration {
    Duration::from_millis(lock(work).rng.u64(0..30))
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A compute step that streams the described value after random delays, and sometimes fails.
struct Worker {
    values: Vec<String>,
    work: Arc<Mutex<Work>>,
}

enum Piece {
    Text(String),
    Error,
    Panic,
}

impl Compute for Worker {
    fn compute(&self, cx: Context) -> Reply<'static> {
        let (cell, work) = ((cx.column().to_string(), cx.step()), Arc::clone(&self.work));
        let value = self.values.get(cx.step()).cloned().unwrap_or_default();
        let mut pieces: Vec<Piece> =
            value.split_inclusive(' ').map(|text| Piece::Text(text.to_owned())).collect();
        let mut state = lock(&work);
        if state.faults > 0 && state.rng.usize(0..4) == 0 {
            state.faults -= 1;
            state.failed.insert(cell.clone());
            pieces.truncate(state.rng.usize(0..=pieces.len()));
            // Another text than that of the attempt which succeeds.
            if state.rng.bool() {
                pieces.insert(0, Piece::Text("no ".into()));
            }
            let is_panic = state.rng.bool();
            pieces.push(if is_panic { Piece::Panic } else { Piece::Error });
        }
        drop(state);
        Reply::deltas(stream::unfold(pieces.into_iter(), move |mut pieces| {
            let (work, cell) = (Arc::clone(&work), cell.clone());
            async move {
                let pause = delay(&work);
                sleep(pause).await;
                let text: Result<String, BoxError> = match pieces.next() {
                    None => {
                        *lock(&work).computed.entry(cell).or_default() += 1;
                        return None;
                    }
                    Some(Piece::Text(text)) => Ok(text),
                    Some(Piece::Error) => Err("HTTP 503".into()),
                    // `panic!` would print a message for every simulated panic.
                    Some(Piece::Panic) => std::panic::resume_unwind(Box::new("a simulated panic")),
                };
                Some((text, pieces))
            }
        }))
    }
}

/// A client: everything that it has seen since step 0, over all its connections.
#[derive(Default)]
struct Client {
    /// The value of each cell; `None` for a skipped one.
    seen: BTreeMap<Cell, Option<String>>,
    /// The texts in progress of this connection.
    texts: BTreeMap<Cell, String>,
    position: Position,
}

impl Client {
    fn handle(&mut self, world: &World, event: Event) {
        let cell = (event.column().to_string(), event.step());
        assert!(!self.seen.contains_key(&cell), "{event:?} comes after the value");
        match event {
            Event::Delta { text, .. } => {
                assert!(!text.is_empty());
                self.texts.entry(cell).or_default().push_str(&text);
            }
            Event::Retry { .. } => {
                assert!(self.texts.remove(&cell).is_some(), "{cell:?}: there is nothing to discard");
            }
            Event::Failed { .. } => {
                assert!(lock(&world.work).failed.contains(&cell), "{cell:?} has not failed");
                self.texts.remove(&cell);
            }
            Event::Skipped { .. } => {
                self.texts.remove(&cell);
                self.insert(world, cell, None);
            }
            Event::Value { value, .. } => {
                if let Some(text) = self.texts.remove(&cell) {
                    assert_eq!(text, *value, "{cell:?}");
                }
                self.insert(world, cell, Some(value.to_string()));
            }
            _ => unreachable!("there are no other events"),
        }
    }

    fn insert(&mut self, world: &World, cell: Cell, value: Option<String>) {
        let (column, step) = &cell;
        for input in inputs(&world.described, column, *step) {
            assert!(self.seen.contains_key(&input), "{cell:?} comes before {input:?}, which it reads");
        }
        let later = |(known, at): &&Cell| known == column && at > step;
        if let Some(later) = self.seen.keys().find(later) {
            let has_gaps = world.interrupts || !lock(&world.work).failed.is_empty();
            assert!(has_gaps, "{cell:?} comes after {later:?}");
        }
        self.seen.insert(cell, value);
    }
}

/// The cells that a derived cell shows, without those that a filter may hide.
fn inputs(flow: &naive::Flow, column: &str, step: usize) -> Vec<Cell> {
    let reads = flow.columns.iter().find(|known| known.name == column).and_then(|known| known.reads.as_ref());
    let Some(reads) = reads else { return Vec::new() };
    let views = reads.views.iter().map(|view| {
        let window = if view.filter.is_some() { Window::Last(1) } else { view.window };
        (view.column.as_str(), window, usize::from(view.lagged))
    });
    let views = views.chain(reads.self_history.map(|window| (column, window, 1)));
    let shown = views.flat_map(|(column, window, lag)| {
        let end = (step + 1).saturating_sub(lag);
        let start = match window {
            Window::All => 0,
            Window::Last(count) => end.saturating_sub(count),
        };
        (start..end).map(move |step| (column.to_owned(), step))
    });
    shown.collect()
}

/// One connection of a client: reads for a while, slowly, and leaves. Returns whether the service has ended.
async fn connection(
    world: &World,
    client: &mut Client,
    mut events: Subscription<Name>,
    rng: &mut Rng,
) -> bool {
    let (mut left, slowness) = (rng.usize(0..60), if rng.bool() { 60 } else { 1000 });
    client.texts.clear();
    while left > 0 {
        left -= 1;
        match timeout(Duration::from_millis(500), events.next()).await {
            Ok(Some(event)) => client.handle(world, event),
            Ok(None) => return true,
            Err(_) => return false,
        }
        client.position = events.position().to_string().parse().expect("it is a position");
        if rng.bool() {
            sleep(Duration::from_millis(rng.u64(0..=slowness))).await;
        }
    }
    false
}

/// One life of the service: some more steps are pushed, and clients come and go until it is shut down.
async fn life(world: &Rc<World>, clients: &mut Vec<Client>, steps: std::ops::Range<usize>, life: u64) {
    let service = world.open().await;
    let seeds = (0..).map(|actor| world.seed.wrapping_mul(31).wrapping_add(life * 8 + actor));
    let clients_of = std::mem::take(clients).into_iter().zip(seeds.skip(1)).map(|(mut client, seed)| {
        let (world, service, mut rng) = (Rc::clone(world), service.clone(), Rng::with_seed(seed));
        tokio::task::spawn_local(async move {
            sleep(Duration::from_millis(rng.u64(0..200))).await;
            for _ in 0..rng.usize(1..6) {
                let events = service.subscribe_from(&client.position).with_sources();
                if connection(&world, &mut client, events, &mut rng).await {
                    break;
                }
            }
            client
        })
    });
    let reading: Vec<_> = clients_of.collect();
    let mut rng = Rng::with_seed(world.seed.wrapping_add(life));
    for step in steps {
        for source in world.described.columns.iter().filter(|column| column.reads.is_none()) {
            let pushed = service.push(&source.name, source.values.get(step).expect("it is described")).await;
            assert_eq!(pushed.expect("a push is never refused"), step);
            sleep(Duration::from_millis(rng.u64(0..80))).await;
        }
        match rng.usize(0..4) {
            0 if world.interrupts => service.cancel(),
            1 => service.retry(),
            2 => drop(service.settled().await),
            _ => {}
        }
    }
    if world.interrupts && rng.bool() {
        service.shutdown_timeout(Duration::from_millis(rng.u64(0..40))).await;
    } else {
        service.shutdown().await;
    }
    drop(service);
    for client in reading {
        clients.push(client.await.expect("a client that panics has found an error"));
    }
}

/// The last life: everything is computed, and each client reads to the end.
async fn last_life(world: &World, clients: Vec<Client>) {
    let service = world.open().await;
    // Each run has a failure at the most where the policy stops it, and their number is limited.
    for _ in 0..16 {
        drop(service.settled().await);
        service.retry();
    }
    service.settled().await.expect("no failure is left");
    let all = lock(&world.work).computed.clone();
    let mut now = service.subscribe();
    for mut client in clients.into_iter().chain([Client::default()]) {
        let mut events = service.subscribe_from(&client.position).with_sources();
        client.texts.clear();
        while let Ok(Some(event)) = timeout(Duration::from_secs(1), events.next()).await {
            client.handle(world, event);
        }
        assert_eq!(events.position(), service.position());
        for column in &world.described.columns {
            for (step, value) in column.values.iter().enumerate() {
                let cell = (column.name.clone(), step);
                let stored = service.get(&column.name, step);
                assert_eq!(client.seen.remove(&cell), Some(stored.as_deref().map(str::to_owned)), "{cell:?}");
                assert!(stored.is_none_or(|stored| *stored == **value), "{cell:?}");
            }
        }
        assert_eq!(client.seen, BTreeMap::new());
    }
    service.shutdown().await;
    assert!(now.next().await.is_none(), "nothing is new");
    assert_eq!(lock(&world.work).computed, all);
    if !world.interrupts {
        assert!(all.values().all(|times| *times == 1), "nothing is computed twice: {all:?}");
    }
}

#[test]
fn v3_each_client_sees_each_value_once_in_order_over_all_its_connections() {
    let first = std::env::var("COLUMNAR_SEED").ok().map(|seed| seed.parse().expect("a number"));
    let seeds = first.map_or(0..300, |seed| seed..seed + 1);
    for seed in seeds {
        let panic = std::panic::catch_unwind(|| {
            let runtime = Builder::new_current_thread().enable_time().start_paused(true).build();
            let runtime = runtime.expect("a runtime of one thread needs nothing");
            LocalSet::new().block_on(&runtime, async {
                let world = Rc::new(World::new(seed));
                let mut clients: Vec<Client> =
                    std::iter::repeat_with(Client::default).take(CLIENTS).collect();
                let steps = world.described.steps();
                life(&world, &mut clients, 0..steps / 2, 0).await;
                life(&world, &mut clients, steps / 2..steps, 1).await;
                last_life(&world, clients).await;
            });
        });
        if let Err(panic) = panic {
            eprintln!("to run this schedule again: COLUMNAR_SEED={seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
