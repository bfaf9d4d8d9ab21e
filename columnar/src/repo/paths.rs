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

/// A number that changes seldom: exact below 10, and then one of 10, 15, 20, 30, 50, 70, 100, 150, … with a `+`.
pub(super) fn rounded(number: usize) -> String {
    if number < 10 {
        return number.to_string();
    }
    let half = 10_usize.pow(number.ilog10()) / 2;
    let floors = [14, 10, 6, 4, 3, 2].map(|halves| half.saturating_mul(halves));
    let floor = floors.into_iter().find(|floor| *floor <= number).unwrap_or_default();
    format!("{floor}+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_down() {
        let shown = |number| rounded(number);
        assert_eq!([0, 1, 9].map(shown), ["0", "1", "9"]);
        assert_eq!(
            [10, 14, 15, 19, 29, 49, 69, 99].map(shown),
            ["10+", "10+", "15+", "15+", "20+", "30+", "50+", "70+"]
        );
        assert_eq!(
            [100, 149, 150, 999, 1_000, 54_321].map(shown),
            ["100+", "100+", "150+", "700+", "1000+", "50000+"]
        );
        assert!(rounded(usize::MAX).ends_with("000+"));
    }
}
