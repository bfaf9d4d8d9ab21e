//! The names of files in the texts about other files.

/// The path of a file from the deepest folder that another file is in as well. Aliases for folders would be shorter, but
/// would have to be found again when a flow is opened; this path can be read and compared without a table.
pub(super) fn seen_from<'p>(other: &str, path: &'p str) -> &'p str {
    let common = path.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let common = path.as_bytes().get(..common).unwrap_or_default();
    let start = common.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    path.get(start..).unwrap_or(path)
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
    let mut floors = [14, 10, 6, 4, 3, 2].into_iter().filter_map(|halves| half.checked_mul(halves));
    let floor = floors.find(|floor| *floor <= number).unwrap_or_default();
    format!("{floor}+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_begins_where_two_files_part() {
        for (path, other, seen) in [
            ("a.rs", "b.rs", "a.rs"),
            ("src/a.rs", "b.rs", "src/a.rs"),
            ("src/a.rs", "src/ab.rs", "a.rs"),
            ("src/syntax/a.rs", "src/b.rs", "syntax/a.rs"),
            ("src/a.rs", "src/syntax/b.rs", "a.rs"),
            ("é/è.rs", "é/é.rs", "è.rs"),
        ] {
            assert_eq!(seen_from(other, path), seen, "{path} from {other}");
        }
    }

    #[test]
    fn numbers_are_rounded_down() {
        assert_eq!([0, 1, 9].map(rounded), ["0", "1", "9"]);
        assert_eq!(
            [10, 14, 15, 19, 29, 49, 69, 99].map(rounded),
            ["10+", "10+", "15+", "15+", "20+", "30+", "50+", "70+"]
        );
        assert_eq!(
            [100, 149, 150, 999, 1_000, 54_321].map(rounded),
            ["100+", "100+", "150+", "700+", "1000+", "50000+"]
        );
        assert!(rounded(usize::MAX).ends_with("000+"));
    }
}
