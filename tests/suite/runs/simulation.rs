//! Random flows under random schedules with fault injection: every cell gets exactly one value, and is computed
//! successfully once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use columnar::Name;
use columnar::prelude::*;
use columnar::simulation::{Fault, Simulation, World};
use columnar::store::{Entry, MemoryStore, Put, Store};
use columnar::testing::script;
use columnar_tests::live::{Live, push_all};
use columnar_tests::naive;
use columnar_tests::store::{on_load, on_put};
use columnar_tests::strategies::flows;
use futures::future::join;
use futures::stream;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use tokio::time::sleep;

/// The random flow of a schedule, which depends on the seed.
fn described(world: &World) -> naive::Flow {
    let config = Config { rng_seed: RngSeed::Fixed(world.seed()), ..Config::default() };
    let tree = flows().new_tree(&mut TestRunner::new(config)).expect("flows are never refused");
    tree.current()
}

/// Asserts that every cell has the described value.
fn assert_as_described(flow: &Flow, described: &naive::Flow) {
    assert_eq!(flow.steps(), described.steps());
    for column in &described.columns {
        for (step, value) in column.values.iter().enumerate() {
            assert_eq!(
                flow.get(&column.name, step).as_deref(),
                Some(value.as_str()),
                "{} {step}",
                column.name
            );
        }
    }
}

/// 1,000 schedules with faults. The simulation checks that each cell is stored once and computed successfully once, unless
/// it was interrupted.
#[test]
fn in_a_thousand_schedules_every_cell_has_its_one_value() {
    Simulation::new().schedules(1000).run(|world| async move {
        let described = described(&world);
        let store = world.store();
        let live = Live::open(store.clone(), &described).await?;
        world.enter(&live.flow);
        for step in 0..described.steps() {
            live.push(&described, step).await?;
            if step % 2 == 1 {
                world.drive(&live.flow).await;
            }
        }
        world.drive(&live.flow).await;
        assert_as_described(&live.flow, &described);

        let again = Live::open(store, &described).await?;
        assert_as_described(&again.flow, &described);
        assert!(again.seen().is_empty(), "nothing is computed again");
        Ok(())
    });
}

#[test]
fn one_seed_gives_one_schedule() {
    let log_of = |seed: u64| {
        let shared = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&shared);
        Simulation::new().seed(seed).schedules(1).run(move |world| {
            let log = Arc::clone(&log);
            async move {
                let described = described(&world);
                let live = Live::open(world.store(), &described).await?;
                world.enter(&live.flow);
                for step in 0..described.steps() {
                    live.push(&described, step).await?;
                }
                world.drive(&live.flow).await;
                *log.lock().unwrap_or_else(PoisonError::into_inner) = world.log();
                Ok(())
            }
        });
        shared.lock().unwrap_or_else(PoisonError::into_inner).clone()
    };
    for seed in 0..20 {
        assert_eq!(log_of(seed), log_of(seed), "seed {seed}");
    }
    assert_ne!(log_of(1), log_of(2));
}

/// Each fault can be scripted at a cell.
#[test]
fn faults_can_be_scripted() {
    let faults = [
        Fault::Error,
        Fault::BreaksOff,
        Fault::Panic,
        Fault::Silence,
        Fault::Dropped,
        Fault::NotStored,
        Fault::StoredUnknown,
    ];
    for fault in faults {
        Simulation::new().schedules(3).faults(0).run(|world| async move {
            let user = source("user");
            let words = column("words", user.latest(), |cx: Context| {
                deltas(stream::iter([format!("word {}, ", cx.step()), "and another".to_owned()]))
            });
            let f = Flow::open(world.store(), [words]).await?;
            world.enter(&f);
            world.script("words", 1, fault);
            push_all(&f, "user", ["a", "b", "c"]).await?;
            world.drive(&f).await;
            assert_eq!(f.get("words", 1).as_deref(), Some("word 1, and another"));
            let computes = world.log().matches("computes words 1").count();
            assert_eq!(computes, 2, "{fault:?}: it went wrong once\n{}", world.log());
            // A dropped run cancels the other cells in progress.
            if !matches!(fault, Fault::Dropped | Fault::Silence) {
                assert_eq!(world.log().matches("computes words 0").count(), 1);
            }
            Ok(())
        });
    }
}

/// A push that failed, or whose outcome is unknown: a reopened flow knows whether it is stored.
#[test]
fn after_a_failed_push_the_flow_is_reopened() {
    for fault in [Fault::NotStored, Fault::StoredUnknown] {
        Simulation::new().schedules(3).run(|world| async move {
            let store = world.store();
            let open = || Flow::open(store.clone(), [column("map", source("user").latest(), echo)]);
            world.script("user", 1, fault);
            let f = open().await?;
            f.push("user", "a").await?;
            assert!(matches!(f.push("user", "b").await, Err(Error::Store { step: 1, .. })));
            let f = open().await?;
            let arrived = f.get("user", 1).is_some();
            assert_eq!(arrived, fault == Fault::StoredUnknown);
            if !arrived {
                f.push("user", "b").await?;
            }
            world.enter(&f);
            world.drive(&f).await;
            assert_eq!((f.steps(), f.get("user", 1).as_deref()), (2, Some("b")));
            Ok(())
        });
    }
}

/// Columns that may fail, in the same simulation: a failed cell is skipped, or waits for the next run.
#[test]
fn columns_with_or_skip_fail_without_stopping_the_others() {
    Simulation::new().schedules(200).run(|world| async move {
        let user = source("user");
        let maybe = column("maybe", user.latest(), echo.or_skip());
        let later = column("later", user.latest(), echo.or_wait());
        let both = column("both", (&maybe, &later, this()), echo.or_skip());
        let only = column("only", maybe.latest(), echo);
        let f = flow([both, only])?;
        world.enter(&f);
        push_all(&f, "user", ["a", "b", "c", "d"]).await?;
        world.drive(&f).await;
        assert_eq!(f.steps(), 4);
        for step in 0..4 {
            assert_eq!(f.get("maybe", step).is_none(), f.get("only", step).is_none(), "{step}");
            assert!(f.get("later", step).is_some());
        }
        Ok(())
    });
}

async fn echo(cx: Context) -> String {
    cx.messages().last_text().into_owned()
}

/// A push and a new column from another task during a run.
#[test]
fn r10_a_push_during_a_run_is_neither_lost_nor_partly_visible() {
    Simulation::new().schedules(200).run(|world| async move {
        let user = source("user");
        let shown = column("shown", user.latest(), echo);
        let own = column("own", (&shown, this()), echo);
        let f = flow([&own])?;
        world.enter(&f);
        f.push("user", "0").await?;
        let pushes = async {
            for step in 1..5 {
                sleep(std::time::Duration::from_millis(world.seed() % 7 * 20)).await;
                assert_eq!(f.push("user", step.to_string()).await?, step);
            }
            f.add_column(column("late", (&shown, &own), echo)).await
        };
        let (pushed, ()) = join(pushes, world.drive(&f)).await;
        pushed?;
        world.drive(&f).await;
        assert_eq!(f.steps(), 5);
        for step in 0..5 {
            let shown = f.get("shown", step);
            assert_eq!(shown.as_deref(), Some(format!("<user>\n{step}\n</user>").as_str()));
        }
        Ok(())
    });
}

/// The panic message of a test that must fail.
fn must_fail<T: Future<Output = Result<()>>>(test: impl Fn(World) -> T) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(|| Simulation::new().schedules(300).run(test)));
    let panic = outcome.expect_err("the simulation must detect it");
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_store_that_loses_receipts_is_caught() {
    let panic = must_fail(|world| async move {
        let without_receipts = on_load(MemoryStore::new(), async |inner, column, steps| {
            let mut entries = inner.load(column, steps).await?;
            entries.iter_mut().for_each(|(_, entry)| entry.receipt = None);
            Ok(entries)
        });
        let store = world.store_over(without_receipts);
        store.open().await.expect("the store is free");
        let user = Name::new("user").expect("a name");
        // The simulation may inject a failure.
        for step in 0..8 {
            let entry = Entry::from("text").with_receipt("{}");
            store.put(user.clone(), step, entry).await.ok();
            store.load(user.clone(), step..step + 1).await.ok();
        }
        Ok(())
    });
    assert!(panic.contains("has changed in the store"), "{panic}");
}

#[test]
fn a_store_that_loses_confirmed_entries_is_caught() {
    let panic = must_fail(|world| async move {
        let puts = AtomicUsize::new(0);
        let loses_one = on_put(MemoryStore::new(), move |inner, column, step, entry| {
            let is_lost = puts.fetch_add(1, Ordering::SeqCst) == 5;
            async move { if is_lost { Ok(Put::Stored) } else { inner.put(column, step, entry).await } }
        });
        let store = world.store_over(loses_one);
        let chat = |store| async { Flow::open(store, [column("map", source("user").latest(), echo)]).await };
        let f = chat(store.clone()).await?;
        world.enter(&f);
        push_all(&f, "user", ["a", "b", "c", "d"]).await?;
        world.drive(&f).await;
        drop(f);
        world.drive(&chat(store).await?).await;
        Ok(())
    });
    assert!(panic.contains("was stored and is lost"), "{panic}");
}

#[test]
fn a_store_in_which_the_last_writer_wins_is_caught() {
    let panic = must_fail(|world| async move {
        let attempts = Arc::new(AtomicUsize::new(0));
        let user = source("user");
        let map = column("map", user.latest(), move |_: Context| {
            std::future::ready(format!("attempt {}", attempts.fetch_add(1, Ordering::SeqCst)))
        });
        let confirms_all = on_put(MemoryStore::new(), async |inner, column, step, entry| {
            inner.put(column, step, entry).await.map(|_| Put::Stored)
        });
        let f = Flow::open(world.store_over(confirms_all), [map]).await?;
        world.enter(&f);
        world.script("map", 0, Fault::StoredUnknown);
        f.push("user", "a").await?;
        world.drive(&f).await;
        Ok(())
    });
    assert!(panic.contains("stored again with another value"), "{panic}");
}

#[test]
fn a_fault_of_an_unknown_column_fails_the_simulation() {
    let panic = must_fail(|world| async move {
        let f = Flow::open(world.store(), [column("map", source("user").latest(), echo)]).await?;
        world.enter(&f);
        world.script("maps", 0, Fault::Error);
        f.push("user", "a").await?;
        world.drive(&f).await;
        Ok(())
    });
    assert_eq!(panic, "no column is named `maps`; did you mean `map`?");
}

/// The error of pairing replies with requests in the order of their arrival.
#[test]
fn a_compute_step_that_depends_on_the_order_of_arrival_is_caught() {
    let panic = must_fail(|world| async move {
        let arrived = AtomicUsize::new(0);
        let chat = flow! {
            source user;
            column reply(user.latest) = |_: Context| {
                let number = arrived.fetch_add(1, Ordering::SeqCst);
                async move { number.to_string() }
            };
        };
        world.enter(&chat);
        for text in ["a", "b", "c"] {
            chat.user.push(text).await?;
        }
        world.drive(&chat).await;
        for step in 0..3 {
            assert_eq!(
                chat.reply.get(step).as_deref(),
                Some(step.to_string().as_str()),
                "row {step} shifted"
            );
        }
        Ok(())
    });
    assert!(panic.contains("shifted"), "{panic}");
}

/// A flow that fails by itself, and not by an injected fault, fails the test.
#[test]
fn an_error_that_was_not_injected_ends_the_test() {
    let panic = must_fail(|world| async move {
        let f = flow([column("map", source("user").latest(), script(Vec::<String>::new()))])?;
        world.enter(&f);
        f.push("user", "a").await?;
        world.drive(&f).await;
        Ok(())
    });
    assert!(panic.contains("has not finished"), "{panic}");
}
