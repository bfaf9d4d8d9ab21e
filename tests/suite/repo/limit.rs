//! The limits of the map and of the file tree: the files to which most others refer have entries, edits elsewhere move none
//! of them, and the tree names every file unless the program limits it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use columnar::documents::{Documents, Kind};
use columnar::repo::Repository;
use columnar::tokens::{Counter, Estimate};

use super::folder::Folder;

/// `files` files of one function each; the file with number n is used by those with a higher number that n divides.
fn divisors(files: usize) -> Folder {
    let folder = Folder::of(&[]);
    for n in 1..=files {
        let mut text = format!("pub fn function_{n}() {{}}\n");
        for divisor in (1..n).filter(|divisor| n % divisor == 0) {
            writeln!(text, "use crate::f{divisor:03}::function_{divisor};").unwrap();
        }
        folder.write(&format!("src/f{n:03}.rs"), text);
    }
    folder
}

fn tokens(folder: &Folder) -> usize {
    let symbols = folder.of_kind(Kind::Symbol);
    symbols.iter().map(|(path, text)| Estimate.count(path) + Estimate.count(text)).sum::<usize>()
        + folder.documents.legend().map_or(0, |text| Estimate.count(text))
}

#[test]
fn the_most_referenced_files_have_entries() {
    let mut folder = divisors(200).with(|repo| repo.limit(1_000));
    folder.scan();
    let shown: BTreeSet<&str> = folder.of_kind(Kind::Symbol).into_keys().collect();
    assert!((10..100).contains(&shown.len()), "{shown:?}");
    // All multiples refer to a number, so smaller numbers have at least as many references.
    let expected: BTreeSet<String> = (1..=shown.len()).map(|n| format!("src/f{n:03}.rs")).collect();
    assert!(shown.iter().eq(expected.iter()), "{shown:?}");
    assert!(folder.documents.legend().unwrap().contains("150+ files have no entry"));
    // The map is cut, and the tree is not.
    let names: Vec<String> = (1..=200).map(|n| format!("f{n:03}.rs")).collect();
    assert_eq!(**folder.documents.tree().unwrap(), format!("src/ {}", names.join(", ")));
}

#[test]
fn the_map_is_within_its_limit() {
    for limit in [0, 1, 50, 300, 2_000, 10_000, 100_000] {
        let mut folder = divisors(60).with(|repo| repo.limit(limit));
        folder.scan();
        assert!(tokens(&folder) <= limit, "{} of {limit}", tokens(&folder));
    }
    let mut folder = divisors(5).with(|repo| repo.limit(0).tree_limit(0));
    assert_eq!(folder.scan(), Vec::<String>::new());
    assert_eq!((folder.documents.legend(), folder.documents.tree()), (None, None));
}

/// The last file that fits and the first one that does not have nearly as many references. Each edit that added one
/// exchanged them, and broke a tier.
#[test]
fn entries_at_the_border_do_not_flap() {
    let mut folder = divisors(200).with(|repo| repo.limit(1_000));
    folder.scan();
    let last = folder.of_kind(Kind::Symbol).len();
    let mut moved = 0;
    for turn in 0..20 {
        let before = folder.documents.clone();
        // In turn one more reference to a file inside, and to one outside.
        let callee = last + turn % 2;
        folder.write("src/caller.rs", format!("use crate::f{callee:03}::function_{callee};"));
        folder.changed(&["src/caller.rs"]);
        let paths =
            |documents: &Documents| documents.iter().map(|(key, _)| key.clone()).collect::<BTreeSet<_>>();
        moved += paths(&before).symmetric_difference(&paths(&folder.documents)).count();
    }
    assert!(moved <= 1, "{moved} entries came or went");
}

#[test]
fn a_counter_measures_the_limit() {
    struct Bytes;
    impl Counter for Bytes {
        fn count(&self, text: &str) -> usize {
            text.len()
        }
    }
    let mut chars = divisors(60).with(|repo| repo.limit(800));
    let mut bytes = divisors(60).with(|repo| repo.limit(800).counter(Bytes));
    chars.scan();
    bytes.scan();
    assert!(bytes.of_kind(Kind::Symbol).len() < chars.of_kind(Kind::Symbol).len() / 2);
}

/// The tree had a share of the limit of the map, and folders lost their names without a word.
#[test]
fn the_tree_is_complete_unless_a_limit_cuts_it() {
    let mut folder = Folder::of(&[("README.md", ""), ("src/lib.rs", ""), ("src/a/one.rs", "")]);
    for n in 0..2_000 {
        folder.write(&format!("fixtures/deep/page_{n}.html"), "");
    }
    folder.scan();
    let complete = folder.documents.tree().unwrap();
    assert!((0..2_000).all(|n| complete.contains(&format!("page_{n}.html"))));
    assert!(!complete.contains("Not named"));
    let tree = |limit: usize| {
        let mut repo = Repository::open(folder.path()).unwrap().tree_limit(limit);
        repo.scan().unwrap();
        repo.documents().tree().map(ToString::to_string).unwrap_or_default()
    };
    // Fixtures do not hide the names of sources: the longest lines are counted first.
    let sources = "README.md\nfixtures/deep/ 2000 files\nsrc/ lib.rs\nsrc/a/ one.rs";
    assert_eq!(tree(40), format!("{sources}\nNot named: 2000 of 2003 files"));
    assert_eq!(tree(20), "1 file\nfixtures/ 2000 files\nsrc/ 2 files\nNot named: 2003 of 2003 files");
    assert_eq!(tree(1), "Not named: 2003 of 2003 files");
    assert_eq!(tree(0), "");
    for limit in 10..60 {
        assert!(Estimate.count(&tree(limit)) <= limit, "{}", tree(limit));
    }
}

/// The sums of tokens overflowed.
#[test]
fn a_counter_may_return_any_number() {
    struct Most;
    impl Counter for Most {
        fn count(&self, _: &str) -> usize {
            usize::MAX
        }
    }
    for limit in [0, 1_000, usize::MAX] {
        let mut folder = divisors(3).with(|repo| repo.limit(limit).tree_limit(limit).counter(Most));
        folder.scan();
        assert_eq!(folder.of_kind(Kind::Symbol).len(), 0);
    }
}
