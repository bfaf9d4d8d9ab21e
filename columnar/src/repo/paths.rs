//! The names of files in the texts about other files.

/// The path of a file, as a file in a folder shows it: the name alone if it is in the same folder.
pub(super) fn seen_from<'p>(folder: &str, path: &'p str) -> &'p str {
    match path.rsplit_once('/') {
        Some((other, name)) if other == folder => name,
        _ => path,
    }
}

/// The folder of a file.
pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A number that changes seldom: exact below 10, else its first digit or `15`, `150`, …, with a `+`.
pub(super) fn rounded(number: usize) -> String {
    if number < 10 {
        return number.to_string();
    }
    let mut unit: usize = 10;
    while number / unit >= 10 {
        unit = unit.saturating_mul(10);
    }
    let steps = [unit, unit + unit / 2, unit * 2, unit * 3, unit * 5, unit.saturating_mul(7)];
    let floor = steps.into_iter().rev().find(|step| *step <= number).unwrap_or(unit);
    format!("{floor}+")
}
