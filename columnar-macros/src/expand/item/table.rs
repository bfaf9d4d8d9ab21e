//! The columns of a flow as a table of Markdown, for its documentation. This module knows no tokens.

use super::shown_step::ShownStep;

/// A column or a module.
pub(super) struct TableRow {
    pub(super) name: String,
    /// `source`, and the like, as Markdown.
    pub(super) kind: String,
    /// The views as text, each with the target of a link.
    pub(super) reads: Vec<(String, Option<String>)>,
    pub(super) step: ShownStep,
    /// The first paragraph of the documentation.
    pub(super) summary: String,
}

const HEADS: [&str; 6] = ["Column", "Kind", "Reads", "Prompt", "Settings", "About"];

/// The number of first columns that each table has. The others are left out where they are empty.
const ALWAYS: usize = 3;

/// The table, which leaves out what no row has.
pub(super) fn table(rows: &[TableRow]) -> String {
    let rows: Vec<[String; 6]> = rows.iter().map(cells).collect();
    let is_shown: Vec<bool> = (0..HEADS.len())
        .map(|at| at < ALWAYS || rows.iter().any(|row| row.get(at).is_some_and(|cell| !cell.is_empty())))
        .collect();
    let head = line(&is_shown, &HEADS);
    let rule = format!("|{}\n", "---|".repeat(is_shown.iter().filter(|is_shown| **is_shown).count()));
    let rows = rows.iter().map(|row| line(&is_shown, row));
    head + &rule + &rows.collect::<String>()
}

fn line(is_shown: &[bool], cells: &[impl AsRef<str>]) -> String {
    let cells = is_shown.iter().zip(cells).filter(|(is_shown, _)| **is_shown);
    let cells = cells.map(|(_, cell)| format!(" {} |", cell.as_ref()));
    format!("|{}\n", cells.collect::<String>())
}

fn cells(TableRow { name, kind, reads, step, summary }: &TableRow) -> [String; 6] {
    let prompt = if step.prompt.is_empty() { String::new() } else { code(&step.prompt) };
    [
        format!("<span id=\"{}\">`{name}`</span>", anchor(name)),
        kind.clone(),
        reads.iter().map(linked).collect::<Vec<_>>().join(", "),
        prompt,
        step.settings.iter().map(|setting| code(setting)).collect::<Vec<_>>().join(", "),
        plain(summary),
    ]
}

fn linked((view, link): &(String, Option<String>)) -> String {
    let view = code(view);
    link.as_ref().map_or_else(|| view.clone(), |link| format!("[{view}]({link})"))
}

/// The target of links to the row of a column.
pub(super) fn link(name: &str) -> String {
    format!("#{}", anchor(name))
}

/// rustdoc has ids such as `method.run`.
fn anchor(name: &str) -> String {
    format!("column.{name}")
}

/// Rust, or a prompt, in a cell of a table.
pub(super) fn code(text: &str) -> String {
    if !text.chars().any(|character| character.is_control() || ['`', '|'].contains(&character)) {
        return format!("`{text}`");
    }
    // Characters that Markdown would interpret are entities.
    let characters = text.chars().map(|character| match character {
        letter if letter.is_alphanumeric() || letter == ' ' => letter.to_string(),
        other => format!("&#{};", u32::from(other)),
    });
    format!("<code>{}</code>", characters.collect::<String>())
}

/// Markdown without links and HTML, for a cell of a table. A link may have the target in a later paragraph.
fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut rest = markdown;
    while let Some(at) = rest.find(['`', '\\', '[', ']', '<', '|']) {
        let (before, from) = rest.split_at(at);
        text += before;
        let (shown, used) = match from.as_bytes() {
            [b'`', ..] => match code_span(from) {
                Some((span, length)) => (&*code(span), length),
                None => ("&#96;", 1),
            },
            [b'\\', b'|', ..] => ("&#124;", 2),
            // An escaped character stays escaped.
            [b'\\', b'!'..=b'~', ..] => (from.get(..2).unwrap_or_default(), 2),
            [b'[', ..] => ("", 1),
            [b']', ..] => ("", 1 + target(from.get(1..).unwrap_or_default())),
            [b'<', ..] => ("&lt;", 1),
            [b'|', ..] => ("&#124;", 1),
            _ => ("\\", 1),
        };
        text += shown;
        rest = from.get(used..).unwrap_or_default();
    }
    (text + rest).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of the code span that begins here, and the length of the whole.
fn code_span(from: &str) -> Option<(&str, usize)> {
    let ticks = from.find(|other| other != '`')?;
    let (fence, inside) = from.split_at(ticks);
    let length = inside.find(fence)?;
    Some((inside.get(..length)?.trim(), 2 * ticks + length))
}

/// The length of the target of a link, `(…)` or `[…]`, if one begins here.
fn target(from: &str) -> usize {
    let close = match from.as_bytes().first() {
        Some(b'(') => ')',
        Some(b'[') => ']',
        _ => return 0,
    };
    from.find(close).map_or(0, |end| end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(name: &str, summary: &str) -> TableRow {
        let kind = "source".to_owned();
        let summary = summary.to_owned();
        TableRow { name: name.to_owned(), kind, reads: Vec::new(), step: ShownStep::default(), summary }
    }

    #[test]
    fn a_view_links_to_the_row_of_its_column() {
        let mut reply = row("reply", "The\nreply.");
        reply.reads = vec![("user".to_owned(), Some(link("user"))), ("self".to_owned(), None)];
        assert_eq!(
            table(&[row("user", ""), reply]),
            "| Column | Kind | Reads | About |\n\
             |---|---|---|---|\n\
             | <span id=\"column.user\">`user`</span> | source |  |  |\n\
             | <span id=\"column.reply\">`reply`</span> | source | [`user`](#column.user), `self` | The reply. |\n"
        );
    }

    #[test]
    fn without_summaries_there_is_no_column_for_them() {
        let expected = "| Column | Kind | Reads |\n|---|---|---|\n| <span id=\"column.user\">`user`</span> | source |  |\n";
        assert_eq!(table(&[row("user", "")]), expected);
    }

    #[test]
    fn a_table_has_the_prompts_and_settings_of_its_columns() {
        let mut reply = row("reply", "");
        reply.step.prompt = "Answer with `yes` | `no`.".to_owned();
        reply.step.settings = vec!["retry(3)".to_owned(), "or_skip()".to_owned()];
        let lines = [
            "| Column | Kind | Reads | Prompt | Settings |",
            "|---|---|---|---|---|",
            "| <span id=\"column.user\">`user`</span> | source |  |  |  |",
            "| <span id=\"column.reply\">`reply`</span> | source |  | \
             <code>Answer with &#96;yes&#96; &#124; &#96;no&#96;&#46;</code> | `retry(3)`, `or_skip()` |",
        ];
        assert_eq!(table(&[row("user", ""), reply]).lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn code_cannot_end_its_cell() {
        assert_eq!(code("user.latest"), "`user.latest`");
        assert_eq!(code("user.filter(|t|t==\"`\")").matches(['|', '`', '"']).count(), 0);
        assert_eq!(code("a\rb"), "<code>a&#13;b</code>");
    }

    #[test]
    fn a_summary_has_no_links_and_no_html() {
        for (markdown, text) in [
            ("One of [`Score`] and [this](self::That).", "One of `Score` and this."),
            ("See [the judge][judge] and [judge].", "See the judge and judge."),
            ("a | b <b>c</b> `x | y`", "a &#124; b &lt;b>c&lt;/b> <code>x &#124; y</code>"),
            ("``a ` b`` and `", "<code>a &#96; b</code> and &#96;"),
            ("\\[no link\\] \\| \\", "\\[no link\\] &#124; \\"),
            ("An [index", "An index"),
        ] {
            assert_eq!(plain(markdown), text, "{markdown}");
        }
    }
}
