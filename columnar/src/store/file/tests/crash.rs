//! Power is lost, or the process killed, between any two operations of a store, and while what was lost is being
//! found out.

use std::collections::HashSet;
use std::path::Path;

use super::super::recovery::verify;
use super::life::{Act, Verdict, day, judge, life, live, look};
use super::location;
use super::model::{Image, Model, Node, Wrong};
use super::power::{STAGING, Tree, images_after_loss, tree};

/// What was seen in all states.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    states: usize,
    /// Of all states.
    verdict: Verdict,
    /// The store cannot be opened.
    shut: usize,
    /// What one opening found, the next one did not.
    changed: usize,
}

impl Found {
    fn is_well(&self) -> bool {
        self.states > 1_000 && *self == Found { states: self.states, ..Found::default() }
    }
}

struct Explorer<'a> {
    acts: &'a [Act],
    /// What is wrong with the disk on which is found out what was lost.
    wrong: Option<Wrong>,
    found: Found,
    visited: HashSet<(Tree, usize)>,
}

impl Explorer<'_> {
    /// Checks what may be left of what was recorded, and then of what is done about it. There is a limit to how
    /// much of that for each level.
    fn explore(&mut self, recorded: Vec<(Image, usize)>, limits: &[usize]) {
        let Some((limit, deeper)) = limits.split_first() else { return };
        for (image, confirmed) in recorded {
            for left in images_after_loss(&image, *limit) {
                if self.visited.insert((tree(&left), confirmed)) {
                    self.recover(left, confirmed, deeper);
                }
            }
            // The process alone was killed, so all of it is there, and not all of it is durable.
            self.recover(image, confirmed, deeper);
        }
    }

    fn recover(&mut self, left: Image, confirmed: usize, deeper: &[usize]) {
        self.found.states += 1;
        let model = self.wrong.into_iter().fold(Model::of(left), Model::wrong);
        if !deeper.is_empty() {
            model.record();
        }
        let Ok(seen) = look(&location(&model)) else {
            self.found.shut += 1;
            return;
        };
        let recorded = if deeper.is_empty() { Vec::new() } else { model.recorded() };
        let verdict = judge(&seen, self.acts, confirmed);
        self.found.verdict.lost += verdict.lost;
        self.found.verdict.torn += verdict.torn;
        self.found.verdict.undefined += verdict.undefined;
        // What was seen once is seen by everybody after that.
        model.settle(STAGING);
        for left in images_after_loss(&model.image(), 10) {
            self.found.changed += usize::from(look(&location(&Model::of(left))).ok().as_ref() != Some(&seen));
        }
        self.explore(recorded.into_iter().map(|(image, _)| (image, confirmed)).collect(), deeper);
    }
}

fn explored(model: &Model, acts: &[Act], limits: &[usize]) -> Found {
    recovered(model, acts, limits, None)
}

fn recovered(model: &Model, acts: &[Act], limits: &[usize], wrong: Option<Wrong>) -> Found {
    model.record();
    live(&location(model), acts, || model.confirm()).expect("nothing fails");
    let mut explorer = Explorer { acts, wrong, found: Found::default(), visited: HashSet::new() };
    explorer.explore(model.recorded(), limits);
    println!("{:?}", explorer.found);
    explorer.found
}

#[test]
fn c1_confirmed_values_survive_a_power_loss_at_any_operation_and_none_is_partial() {
    let found = explored(&Model::default(), &life(), &[400]);
    assert!(found.is_well(), "{found:?}");
}

#[test]
fn c1_adopted_files_survive_a_power_loss_as_well() {
    let model = Model::default();
    live(&location(&model), &[Act::Open(vec![]), Act::Put(vec![("user", 0, Some("hi"))])], || {})
        .expect("well");
    model.write("/chats/today/user/1.txt", b"by hand");
    model.write("/chats/today/notes/0.txt", b"new");
    let there = vec![("user", 0, Some("hi")), ("user", 1, Some("by hand")), ("notes", 0, Some("new"))];
    let found = explored(&model, &[Act::Open(there), Act::Put(vec![("user", 2, Some("on"))])], &[1_000]);
    assert!(found.is_well(), "{found:?}");
}

#[test]
fn c3_recovery_survives_another_power_loss() {
    let found = explored(&Model::default(), &day(), &[40, 4]);
    assert!(found.is_well(), "{found:?}");
}

/// The store as format 1 has it: the same without receipts.
fn of_format_1(model: &Model) -> Model {
    let image = model.image();
    let format = image.find(Path::new(FORMAT)).expect("it is there");
    let mut nodes = image.nodes().to_vec();
    nodes[format] = Node::file(b"1\n".to_vec());
    Model::of(Image::from_nodes(nodes))
}

const FORMAT: &str = "/chats/today/.columnar/format";

#[test]
fn s13_c1_the_upgrade_of_format_1_survives_a_power_loss() {
    let made = || {
        let (model, hi) = (Model::default(), Act::Put(vec![("user", 0, Some("hi"))]));
        live(&location(&model), &[Act::Open(vec![]), hi], || {}).expect("well");
        of_format_1(&model)
    };
    let acts = [
        Act::Open(vec![("user", 0, Some("hi"))]),
        Act::Put(vec![("map", 0, Some("x")), ("user", 1, Some("on"))]),
        Act::Put(vec![("map", 1, None)]),
    ];
    let found = explored(&made(), &acts, &[400]);
    assert!(found.is_well(), "{found:?}");

    // An earlier version would say that a receipt is damage, so it is told before there is any that it is none.
    let (model, mut told) = (made(), [0, 0]);
    model.record();
    live(&location(&model), &acts, || {}).expect("nothing fails");
    for left in model.recorded().iter().flat_map(|(image, _)| images_after_loss(image, 100)) {
        let tree = tree(&left);
        let holds = |path: &str, reason: &str| {
            let bytes = tree.get(path).and_then(Option::as_deref).expect("it is there");
            String::from_utf8_lossy(bytes).contains(reason)
        };
        let is_new = holds(FORMAT, "2");
        told[usize::from(is_new)] += 1;
        assert!(is_new || !holds("/chats/today/.columnar/cells", "calls"), "{tree:?}");
    }
    assert!(told[0] > 10 && told[1] > 100, "{told:?}");
}

#[test]
fn d6_after_a_power_loss_the_definition_is_the_old_or_the_new_one() {
    let acts = [Act::Open(vec![]), Act::Define("the first"), Act::Define("the second"), Act::Define("")];
    let found = explored(&Model::default(), &acts, &[1_000]);
    assert_eq!(found, Found { states: found.states, ..Found::default() });
}

#[test]
fn verification_during_a_write_finds_no_defect() {
    let model = Model::default();
    live(&location(&model), &life()[..1], || {}).expect("nothing fails");
    model.record();
    live(&location(&model), &life(), || {}).expect("nothing fails");
    let moments = model.recorded();
    assert!(moments.len() > 40, "{}", moments.len());
    for (image, _) in moments {
        assert_eq!(verify(&location(&Model::of(image))).expect("it can be read"), []);
    }
}

#[test]
fn faulty_stores_are_caught() {
    let (define, acts) =
        (day(), day().into_iter().filter(|act| !matches!(act, Act::Define(_))).collect::<Vec<_>>());
    let made = || {
        let model = Model::default();
        live(&location(&model), &acts[..1], || {}).expect("nothing fails");
        model
    };
    for wrong in [Wrong::NoSync, Wrong::NoSyncOfValues, Wrong::NoSyncOfFolders, Wrong::InPlace] {
        let found = explored(&made().wrong(wrong), &acts, &[60]);
        assert!(found.verdict.lost > 0, "{wrong:?}: {found:?}");
    }
    let found = explored(&made().wrong(Wrong::NoSyncOfLog), &acts, &[60]);
    assert!(found.shut > 0, "a value is there that nobody knows: {found:?}");
    let found = explored(&made().wrong(Wrong::InPlace), &acts, &[60]);
    assert!(found.verdict.torn > 0, "{found:?}");
    let found = explored(&made().wrong(Wrong::RemoveFirst), &define, &[60]);
    assert!(found.verdict.undefined > 0, "{found:?}");
    for wrong in [Wrong::NoSync, Wrong::NoSyncOfFolders] {
        let found = recovered(&made(), &define, &[60], Some(wrong));
        assert!(found.changed > 0, "{wrong:?}: {found:?}");
    }
}
