//! JSON as it is laid out in a cassette.

use std::fmt;

use serde_json::Value as Json;

/// How many characters of a line a list or a map may fill.
const WIDTH: usize = 100;

/// What is to be written.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    /// As it stands in JSON.
    Plain(String),
    /// The lines of a text, each on a line of its own.
    Lines(Vec<Doc>),
    List(Vec<Doc>),
    Map(Vec<(&'static str, Doc)>),
    /// Whatever is known of nothing.
    Json(Json),
}

impl Doc {
    pub(super) fn number(number: impl fmt::Display) -> Self {
        Self::Plain(number.to_string())
    }

    pub(super) fn quoted(text: &str) -> Self {
        Self::Plain(Json::from(text).to_string())
    }

    /// A text that may have several lines.
    pub(super) fn text(text: &str) -> Self {
        if !text.contains('\n') {
            return Self::quoted(text);
        }
        Self::Lines(text.split('\n').map(Self::quoted).collect())
    }

    /// On one line, if it may stand on one.
    fn short(&self) -> Option<String> {
        let all = |docs: &[Self]| docs.iter().map(Self::short).collect::<Option<Vec<_>>>();
        let text = match self {
            Self::Plain(text) => return Some(text.clone()),
            Self::Lines(_) | Self::Json(_) => return None,
            Self::List(docs) => format!("[{}]", all(docs)?.join(", ")),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(name, doc)| Some(format!("\"{name}\": {}", doc.short()?)));
                format!("{{ {} }}", entries.collect::<Option<Vec<_>>>()?.join(", "))
            }
        };
        Some(text).filter(|text| text.chars().count() <= WIDTH)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        if let Some(short) = self.short() {
            return f.write_str(&short);
        }
        match self {
            Self::Plain(text) => f.write_str(text),
            Self::Lines(docs) | Self::List(docs) => {
                block(f, depth, ['[', ']'], docs.iter().map(|doc| (None, doc)))
            }
            Self::Map(entries) => {
                block(f, depth, ['{', '}'], entries.iter().map(|(name, doc)| (Some(*name), doc)))
            }
            Self::Json(json) => {
                let margin = format!("\n{:1$}", "", 2 * depth);
                f.write_str(&format!("{json:#}").replace('\n', &margin))
            }
        }
    }
}

fn block<'d>(
    f: &mut fmt::Formatter<'_>,
    depth: usize,
    [first, last]: [char; 2],
    docs: impl Iterator<Item = (Option<&'static str>, &'d Doc)>,
) -> fmt::Result {
    let mut before = first;
    for (name, doc) in docs {
        write!(f, "{before}\n{:1$}", "", 2 * (depth + 1))?;
        name.map_or(Ok(()), |name| write!(f, "\"{name}\": "))?;
        doc.write(f, depth + 1)?;
        before = ',';
    }
    write!(f, "\n{:1$}{last}", "", 2 * depth)
}

impl fmt::Display for Doc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
