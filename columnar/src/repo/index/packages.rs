//! The packages that a file of Go imports, and their folders.
//!
//! The path of an import is the name of a module, and the folder of the package in it. No file says here how long the name
//! is, so the last parts of the path are compared with the last parts of a folder.

use crate::repo::paths::folder;

/// The first parts of paths in the standard library that have several parts. No module has a name that begins with them.
const STANDARD: &str = "\
    archive cmd compress container crypto database debug embed encoding go hash html image index internal io \
    iter log maps math mime net os path reflect regexp runtime sync syscall testing text time unicode vendor";

/// The paths of the packages that may be of the repository, from the imports of a file. A path of one part is none: it is
/// the path of the standard library.
pub(super) fn packages<'i>(imports: impl Iterator<Item = &'i str>) -> Vec<Box<str>> {
    let paths = imports.map(|import| import.split(['"', '`']).nth(1).unwrap_or(import));
    let local = paths.filter(|path| {
        path.split_once('/').is_some_and(|(first, _)| STANDARD.split(' ').all(|part| part != first))
    });
    local.map(Box::from).collect()
}

/// Whether a package may be the one of a file. The folder `tpl/fmt` has two parts that an import must end with, since many
/// modules have a folder `fmt`. A folder at the top has one.
pub(super) fn is_of(package: &str, path: &str) -> bool {
    let folder = folder(path);
    if folder.is_empty() {
        // The package at the top has the name of the module, and often one file of that name.
        let stem = path.strip_suffix(".go").unwrap_or(path);
        return package.rsplit('/').next() == Some(stem);
    }
    let common = package.rsplit('/').zip(folder.rsplit('/')).take_while(|(a, b)| a == b).count();
    common >= 2.min(folder.split('/').count()) && common < package.split('/').count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_has_a_folder() {
        for (package, path) in [
            ("example.org/app/tpl/fmt", "tpl/fmt/fmt.go"),
            ("example.org/app/tpl/fmt", "server/tpl/fmt/print.go"),
            ("app/shape", "shape/circle.go"),
            ("example.org/app", "app.go"),
        ] {
            assert!(is_of(package, path), "{package} {path}");
        }
        for (package, path) in [
            ("example.org/other/fmt", "tpl/fmt/fmt.go"),
            ("tpl/fmt", "tpl/fmt/fmt.go"),
            ("example.org/app/shape", "circle/circle.go"),
            ("example.org/app", "other.go"),
        ] {
            assert!(!is_of(package, path), "{package} {path}");
        }
        let imports = ["fmt", "encoding/json", "f \"example.org/app/tpl/fmt\"", "app/shape"];
        assert_eq!(packages(imports.into_iter()), ["example.org/app/tpl/fmt".into(), Box::from("app/shape")]);
    }
}
