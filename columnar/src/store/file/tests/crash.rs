//! Power losses and killed processes between any two operations of a store, and during recovery.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::super::recovery::verify;
use super::location;
use super::model::{Image, Misbehaviour, Model, Node};
use super::power::{STAGING, Tree, states_after_loss, tree};
use super::script::{
    ATTACHED, Action, Contents, Violations, check, deletion, read_store, run_script, script, short_script,
};

/// The sums over all explored states.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    states: usize,
    violations: Violations,
    /// States in which the store cannot be opened.
    unopenable: usize,
    /// States in which a second opening found other contents.
    changed: usize,
}

impl Found {
    fn is_sound(&self) -> bool {
        self.states > 1_000 && *self == Found { states: self.states, ..Found::default() }
    }
}

struct Explorer<'a> {
    actions: &'a [Action],
    /// The misbehaviour of the disk during recovery.
    misbehaving: Option<Misbehaviour>,
    found: Found,
    visited: HashSet<(Tree, usize)>,
    /// The contents that opening a store finds in these states, unless opening fails. Many losses after a recovery
    /// leave the same.
    contents: HashMap<Tree, Option<Contents>>,
}

impl Explorer<'_> {
    /// Checks the states that a power loss may leave of the recorded operations, and then of the operations of
    /// recovery. Each level has a limit on the number of states.
    fn explore(&mut self, recorded: Vec<(Image, usize)>, limits: &[usize]) {
        let Some((limit, deeper)) = limits.split_first() else { return };
        for (image, confirmed) in recorded {
            for left in states_after_loss(&image, *limit) {
                if self.visited.insert((tree(&left), confirmed)) {
                    self.recover(left, confirmed, deeper);
                }
            }
            // If only the process was killed, all changes are there, but not all are durable.
            self.recover(image, confirmed, deeper);
        }
    }

    fn recover(&mut self, left: Image, confirmed: usize, deeper: &[usize]) {
        self.found.states += 1;
        let model = self.misbehaving.into_iter().fold(Model::of(left), Model::misbehaving);
        if !deeper.is_empty() {
            model.record();
        }
        let Ok(contents) = read_store(&location(&model)) else {
            self.found.unopenable += 1;
            return;
        };
        let recorded = if deeper.is_empty() { Vec::new() } else { model.recorded() };
        let violations = check(&contents, self.actions, confirmed);
        self.found.violations.lost += violations.lost;
        self.found.violations.torn += violations.torn;
        self.found.violations.undefined += violations.undefined;
        self.found.violations.unattached += violations.unattached;
        // Contents that were read once stay after another loss of power.
        model.settle(STAGING);
        for left in states_after_loss(&model.image(), 10) {
            let again = self.contents.entry(tree(&left));
            let again = again.or_insert_with(|| read_store(&location(&Model::of(left))).ok());
            self.found.changed += usize::from(again.as_ref() != Some(&contents));
        }
        self.explore(recorded.into_iter().map(|(image, _)| (image, confirmed)).collect(), deeper);
    }
}

fn explored(model: &Model, actions: &[Action], limits: &[usize]) -> Found {
    recovered(model, actions, limits, None)
}

fn recovered(
    model: &Model,
    actions: &[Action],
    limits: &[usize],
    misbehaving: Option<Misbehaviour>,
) -> Found {
    model.record();
    run_script(&location(model), actions, || model.confirm()).expect("nothing fails");
    let visited = HashSet::new();
    let contents = HashMap::new();
    let mut explorer = Explorer { actions, misbehaving, found: Found::default(), visited, contents };
    explorer.explore(model.recorded(), limits);
    println!("{:?}", explorer.found);
    explorer.found
}

#[test]
fn c1_confirmed_values_survive_a_power_loss_at_any_operation_and_none_is_partial() {
    let found = explored(&Model::default(), &script(), &[400]);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn c1_adopted_files_survive_a_power_loss_as_well() {
    let model = Model::default();
    run_script(&location(&model), &[Action::Open(vec![]), Action::Put(vec![("user", 0, Some("hi"))])], || {})
        .expect("well");
    model.write("/chats/today/user/1.txt", b"by hand");
    model.write("/chats/today/notes/0.txt", b"new");
    let adopted = vec![("user", 0, Some("hi")), ("user", 1, Some("by hand")), ("notes", 0, Some("new"))];
    let found =
        explored(&model, &[Action::Open(adopted), Action::Put(vec![("user", 2, Some("on"))])], &[1_000]);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn c3_recovery_survives_another_power_loss() {
    let found = explored(&Model::default(), &short_script(), &[40, 4]);
    assert!(found.is_sound(), "{found:?}");
}

#[test]
fn s16_a_deletion_is_whole_or_not_at_all_whenever_the_power_is_lost() {
    let found = explored(&Model::default(), &deletion(), &[150]);
    assert!(found.is_sound(), "{found:?}");
    let found = explored(&Model::default(), &deletion(), &[8, 3]);
    assert!(found.is_sound(), "{found:?}");
}

/// The store in format 1, which has no receipts.
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
        let model = Model::default();
        let hi = Action::Put(vec![("user", 0, Some("hi"))]);
        run_script(&location(&model), &[Action::Open(vec![]), hi], || {}).expect("well");
        of_format_1(&model)
    };
    let actions = [
        Action::Open(vec![("user", 0, Some("hi"))]),
        Action::Put(vec![("map", 0, Some("x")), ("user", 1, Some("on"))]),
        Action::Put(vec![("map", 1, None)]),
    ];
    let found = explored(&made(), &actions, &[400]);
    assert!(found.is_sound(), "{found:?}");

    // An earlier version would take a receipt for damage, so the format is upgraded before the first receipt.
    let model = made();
    let mut counts = [0, 0];
    model.record();
    run_script(&location(&model), &actions, || {}).expect("nothing fails");
    for left in model.recorded().iter().flat_map(|(image, _)| states_after_loss(image, 100)) {
        let tree = tree(&left);
        let holds = |path: &str, reason: &str| {
            let bytes = tree.get(path).and_then(Option::as_deref).expect("it is there");
            String::from_utf8_lossy(bytes).contains(reason)
        };
        let is_new = holds(FORMAT, "2");
        counts[usize::from(is_new)] += 1;
        assert!(is_new || !holds("/chats/today/.columnar/cells", "calls"), "{tree:?}");
    }
    assert!(counts[0] > 10 && counts[1] > 100, "{counts:?}");
}

#[test]
fn d6_after_a_power_loss_the_definition_is_the_old_or_the_new_one() {
    let actions =
        [Action::Open(vec![]), Action::Define("the first"), Action::Define("the second"), Action::Define("")];
    let found = explored(&Model::default(), &actions, &[1_000]);
    assert_eq!(found, Found { states: found.states, ..Found::default() });
}

#[test]
fn verification_during_a_write_finds_no_defect() {
    let model = Model::default();
    run_script(&location(&model), &script()[..1], || {}).expect("nothing fails");
    model.record();
    run_script(&location(&model), &script(), || {}).expect("nothing fails");
    let moments = model.recorded();
    assert!(moments.len() > 40, "{}", moments.len());
    for (image, _) in moments {
        assert_eq!(verify(&location(&Model::of(image))).expect("it can be read"), []);
    }
}

#[test]
fn faulty_stores_are_caught() {
    let define = short_script();
    let actions =
        short_script().into_iter().filter(|action| !matches!(action, Action::Define(_))).collect::<Vec<_>>();
    let made = || {
        let model = Model::default();
        run_script(&location(&model), &actions[..1], || {}).expect("nothing fails");
        model
    };
    for misbehaving in [
        Misbehaviour::NoSync,
        Misbehaviour::NoSyncOfValues,
        Misbehaviour::NoSyncOfFolders,
        Misbehaviour::InPlace,
    ] {
        let found = explored(&made().misbehaving(misbehaving), &actions, &[60]);
        assert!(found.violations.lost > 0, "{misbehaving:?}: {found:?}");
    }
    let attached = [actions.clone(), vec![Action::Put(vec![("user", 1, Some(ATTACHED))])]].concat();
    for misbehaving in [Misbehaviour::NoSync, Misbehaviour::NoSyncOfValues, Misbehaviour::NoSyncOfFolders] {
        let found = explored(&made().misbehaving(misbehaving), &attached, &[200]);
        assert!(found.violations.unattached > 0, "{misbehaving:?}: {found:?}");
    }
    let found = explored(&made().misbehaving(Misbehaviour::NoSyncOfLog), &actions, &[60]);
    // The value is adopted, without the receipt.
    assert!(found.violations.torn > 0, "a value is not in the log: {found:?}");
    let found = explored(&made().misbehaving(Misbehaviour::InPlace), &actions, &[60]);
    assert!(found.violations.torn > 0, "{found:?}");
    let found = explored(&made().misbehaving(Misbehaviour::NoSyncOfFolders), &deletion(), &[60]);
    assert!(found.violations.torn > 0, "a deleted value is there again: {found:?}");
    let found = explored(&made().misbehaving(Misbehaviour::RemoveFirst), &define, &[60]);
    assert!(found.violations.undefined > 0, "{found:?}");
    // The log has fewer cells than are known, or there is no definition.
    let defined_last = [actions.clone(), vec![Action::Define("a")]].concat();
    for (actions, misbehaving) in
        [(&actions, Misbehaviour::KnownBeforeLog), (&defined_last, Misbehaviour::KnownBeforeDefinition)]
    {
        let sound = explored(&made(), actions, &[60]);
        assert_eq!(sound.unopenable, 0, "{sound:?}");
        let found = explored(&made().misbehaving(misbehaving), actions, &[60]);
        assert!(found.unopenable > 0, "{misbehaving:?}: {found:?}");
    }
    for misbehaving in [Misbehaviour::NoSync, Misbehaviour::NoSyncOfFolders] {
        let found = recovered(&made(), &define, &[60], Some(misbehaving));
        assert!(found.changed > 0, "{misbehaving:?}: {found:?}");
    }
}

/// A source has no gaps, so a batch of its values had to be kept up to the first one that was lost.
#[test]
fn c1_values_of_a_column_that_are_stored_together_have_no_gap_after_a_power_loss() {
    let cells = vec![("user", 1, Some("b")), ("user", 2, Some("c")), ("user", 3, Some("d"))];
    let actions =
        [Action::Open(vec![]), Action::Put(vec![("user", 0, Some("a"))]), Action::Put(cells.clone())];
    let model = Model::default();
    model.record();
    run_script(&location(&model), &actions, || {}).expect("nothing fails");
    let mut lengths = [0; 5];
    for left in model.recorded().iter().flat_map(|(image, _)| states_after_loss(image, 1_000)) {
        let model = Model::of(left);
        let steps = read_store(&location(&model)).expect("it can be opened").steps("user");
        assert_eq!(steps, (0..steps.len()).collect::<Vec<_>>());
        lengths[steps.len()] += 1;
        // And the values can be stored again.
        let again =
            [Action::Open(vec![]), Action::Put(vec![("user", 0, Some("a"))]), Action::Put(cells.clone())];
        run_script(&location(&model), &again, || {}).expect("nothing fails");
        assert_eq!(read_store(&location(&model)).expect("it can be opened").steps("user"), [0, 1, 2, 3]);
    }
    assert!(lengths.iter().all(|count| *count > 0), "{lengths:?}");
}
