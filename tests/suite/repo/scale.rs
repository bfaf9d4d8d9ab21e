//! Large repositories.

use std::fs;

use columnar::documents::Kind;

use super::folder::Folder;

/// Each scan of 50,000 files read all of them. The list of their names alone is longer than a context, so a program limits
/// the list.
#[test]
fn fifty_thousand_files_have_a_map_within_the_limit() {
    let mut folder = Folder::of(&[]);
    for group in 0..500 {
        let path = folder.path().join(format!("area_{:02}/group_{group:03}", group / 20));
        fs::create_dir_all(&path).unwrap();
        for n in 0..100 {
            let text = if n < 4 {
                format!("use crate::group::f_{}_{n};\nfn f_{group}_{n}() {{}}\n", group / 2)
            } else {
                String::new()
            };
            fs::write(path.join(format!("file_{n}.rs")), text).unwrap();
        }
    }
    folder = folder.with(|repo| repo.tree_limit(1_000));
    folder.scan();
    assert_eq!(folder.repo.paths().count(), 50_000);
    let entries = folder.of_kind(Kind::Symbol);
    assert!((500..2_000).contains(&entries.len()), "{}", entries.len());
    let tree = folder.documents.tree().unwrap();
    assert!(tree.len() < 4 * 1_000 && tree.contains("area_07/ 2000 files"), "{} bytes", tree.len());
    assert!(tree.ends_with("\nNot named: 50000 of 50000 files"));

    folder.write("area_05/group_100/file_3.rs", "use crate::group::f_20_3;\nfn f_100_3() {}\n");
    let changed = folder.changed(&["area_05/group_100/file_3.rs"]);
    assert!(!changed.is_empty() && changed.len() <= 4, "{changed:?}");
    assert!(folder.repo.scan().unwrap().is_empty());
}
