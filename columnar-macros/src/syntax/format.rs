//! The texts of macros that are formats, `format!("{style}")`.

/// Macros whose first text is a format.
pub(super) const WITH_FORMAT: [&str; 12] = [
    "eprint",
    "eprintln",
    "format",
    "format_args",
    "panic",
    "print",
    "println",
    "todo",
    "unimplemented",
    "unreachable",
    "write",
    "writeln",
];

/// Macros without a format.
pub(super) const WITHOUT_FORMAT: [&str; 6] = ["concat", "env", "include_str", "line", "stringify", "vec"];

/// The names in the braces of a format: `{style}`, `{style:>5}`, `{text:.most$}`.
pub(super) fn names_in_format(text: &str) -> Vec<String> {
    // `{{` is no brace, and neither is a brace in the text of it.
    let text = text.replace("{{", "");
    let mut names = Vec::new();
    for braces in text.split('{').skip(1).filter_map(|part| part.split('}').next()) {
        let (name, format) = braces.split_once(':').unwrap_or((braces, ""));
        names.push(name.trim().to_owned());
        let counts = format.split('$').collect::<Vec<_>>();
        let counts = counts.split_last().map_or(&[][..], |(_, counts)| counts);
        let is_sign = |sign: char| sign != '_' && !sign.is_alphanumeric();
        names.extend(counts.iter().filter_map(|count| count.rsplit(is_sign).next()).map(str::to_owned));
    }
    names
}
