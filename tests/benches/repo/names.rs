//! The names by which the files of a repository import each other.

/// The path of a module of Rust, seen from a file of the same crate; `None` if it is of another crate, or of none.
pub(crate) fn crate_path(from: &str, to: &str) -> Option<String> {
    let (package, inside) = split(to)?;
    let (own, _) = split(from)?;
    let inside = inside.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let is_module = own == package && !matches!(inside, "lib" | "main");
    is_module.then(|| format!("crate::{}", inside.replace('/', "::")))
}

/// The package of a file of Rust, and its path in the folder `src`.
fn split(path: &str) -> Option<(&str, &str)> {
    match path.strip_prefix("src/") {
        Some(inside) => Some(("", inside)),
        None => path.split_once("/src/"),
    }
}

/// The module of a file of Python.
pub(crate) fn module_of(path: &str) -> Option<String> {
    let path = path.strip_suffix(".py")?;
    let path = path.strip_suffix("/__init__").unwrap_or(path);
    let path = path.strip_prefix("src/").unwrap_or(path);
    let is_module = path.chars().all(|c| matches!(c, '_' | '/') || c.is_ascii_alphanumeric());
    is_module.then(|| path.replace('/', "."))
}
