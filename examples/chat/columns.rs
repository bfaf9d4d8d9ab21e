//! The computed columns, for who chooses one by its name or colours it.

use anstyle::{AnsiColor, Style};

use crate::ChatColumn;

pub(crate) const ALL: [ChatColumn; 4] =
    [ChatColumn::Topics, ChatColumn::Summary, ChatColumn::Critique, ChatColumn::Assistant];

/// The column of a name, or a message that lists the names.
pub(crate) fn named(name: &str) -> Result<ChatColumn, String> {
    let found = ALL.into_iter().find(|column| column.name() == name);
    found.ok_or_else(|| match name {
        "user" => format!("`user` is what the person typed, so it saw nothing; {}", possible()),
        _ => format!("no column is named `{}`; {}", name.escape_debug(), possible()),
    })
}

pub(crate) fn possible() -> String {
    format!("possible are {}", ALL.map(|column| format!("`{column}`")).join(", "))
}

pub(crate) fn style(column: ChatColumn) -> Style {
    let color = match column {
        ChatColumn::Topics => AnsiColor::Yellow,
        ChatColumn::Summary => AnsiColor::Blue,
        ChatColumn::Critique => AnsiColor::Magenta,
        ChatColumn::Assistant => AnsiColor::Green,
    };
    color.on_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Chat;

    #[test]
    fn every_column_of_the_flow_has_its_name_here() {
        let named: Vec<&str> = Chat::ORDER.iter().copied().filter(|name| *name != "user").collect();
        assert_eq!(ALL.map(ChatColumn::name).as_slice(), named);
        assert!(named.into_iter().all(|name| super::named(name).is_ok()));
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let error = named("topic").expect_err("there is no such column");
        let wanted = "no column is named `topic`; possible are `topics`, `summary`, `critique`, `assistant`";
        assert_eq!(error, wanted);
        assert!(named("user").expect_err("a source").starts_with("`user` is what"));
    }
}
