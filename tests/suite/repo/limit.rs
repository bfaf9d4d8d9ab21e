//! The limit of the map: the files to which most others refer have entries, and edits elsewhere move none of them.

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
    let alone = [folder.documents.legend(), folder.documents.tree()].into_iter().flatten();
    symbols.iter().map(|(path, text)| Estimate.count(path) + Estimate.count(text)).sum::<usize>()
        + alone.map(|text| Estimate.count(text)).sum::<usize>()
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
    assert_eq!(&**folder.documents.tree().unwrap(), "src/ 200 files");
}

#[test]
fn the_map_is_within_its_limit() {
    for limit in [0, 1, 50, 300, 2_000, 10_000, 100_000] {
        let mut folder = divisors(60).with(|repo| repo.limit(limit));
        folder.scan();
        assert!(tokens(&folder) <= limit, "{} of {limit}", tokens(&folder));
    }
    let mut folder = divisors(5).with(|repo| repo.limit(0));
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

/// A folder of 800 fixtures hid the names of all sources.
#[test]
fn the_longest_lines_of_the_tree_are_counted_first() {
    let mut folder = Folder::of(&[("README.md", ""), ("src/lib.rs", ""), ("src/a/one.rs", "")]);
    for n in 0..100 {
        folder.write(&format!("fixtures/deep/page_{n}.html"), "");
    }
    folder.scan();
    assert!(folder.documents.tree().unwrap().contains("page_99.html"));
    let tree = |limit: usize| {
        let mut repo = Repository::open(folder.path()).unwrap().limit(limit);
        let update = repo.scan().unwrap();
        Documents::new().apply(&update).unwrap().0.tree().unwrap().to_string()
    };
    assert_eq!(tree(4_000), "README.md\nfixtures/deep/ 100 files\nsrc/ lib.rs\nsrc/a/ one.rs");
    assert_eq!(tree(400), "1 file\nfixtures/ 100 files\nsrc/ 2 files");
    assert_eq!(tree(80), "103 files");
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
        let mut folder = divisors(3).with(|repo| repo.limit(limit).counter(Most));
        folder.scan();
        assert_eq!(folder.of_kind(Kind::Symbol).len(), 0);
    }
}
