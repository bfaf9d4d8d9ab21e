//! The JSON of a cassette file: a writer with a fixed layout, and a reader that knows the position of each value.

use std::fmt;

use serde_json::Value as Json;

/// The most characters of a list or a map on one line.
const WIDTH: usize = 100;

/// JSON with a layout.
#[derive(Clone, Debug)]
pub(super) enum JsonLayout {
    /// A scalar, already written as JSON.
    Scalar(String),
    /// A text as an array, with one line of the file per line of the text.
    Lines(Vec<JsonLayout>),
    List(Vec<JsonLayout>),
    Map(Vec<(&'static str, JsonLayout)>),
    /// Any JSON.
    Json(Json),
}

impl JsonLayout {
    pub(super) fn number(number: impl fmt::Display) -> Self {
        Self::Scalar(number.to_string())
    }

    pub(super) fn quoted(text: &str) -> Self {
        Self::Scalar(Json::from(text).to_string())
    }

    /// A text, as an array of lines if there are several.
    pub(super) fn text(text: &str) -> Self {
        if !text.contains('\n') {
            return Self::quoted(text);
        }
        Self::Lines(text.split('\n').map(Self::quoted).collect())
    }

    /// The JSON on one line, if the line is not too long.
    fn one_line(&self) -> Option<String> {
        let text = match self {
            Self::Scalar(text) => return Some(text.clone()),
            // Each line always stays on its own line, so that a review shows only the lines that changed.
            Self::Lines(_) | Self::Json(_) => return None,
            Self::List(items) => {
                let items = items.iter().map(Self::one_line);
                format!("[{}]", items.collect::<Option<Vec<_>>>()?.join(", "))
            }
            Self::Map(entries) => {
                let entries =
                    entries.iter().map(|(name, item)| Some(format!("\"{name}\": {}", item.one_line()?)));
                format!("{{ {} }}", entries.collect::<Option<Vec<_>>>()?.join(", "))
            }
        };
        Some(text).filter(|text| text.chars().count() <= WIDTH)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        if let Some(line) = self.one_line() {
            return f.write_str(&line);
        }
        match self {
            Self::Scalar(text) => f.write_str(text),
            Self::Lines(items) | Self::List(items) => {
                block(f, depth, ['[', ']'], items.iter().map(|item| (None, item)))
            }
            Self::Map(entries) => {
                block(f, depth, ['{', '}'], entries.iter().map(|(name, item)| (Some(*name), item)))
            }
            Self::Json(json) => {
                // Strings in JSON have no raw line feed, so the replacement changes only the layout.
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
    items: impl Iterator<Item = (Option<&'static str>, &'d JsonLayout)>,
) -> fmt::Result {
    let mut before = first;
    for (name, item) in items {
        write!(f, "{before}\n{:1$}", "", 2 * (depth + 1))?;
        name.map_or(Ok(()), |name| write!(f, "\"{name}\": "))?;
        item.write(f, depth + 1)?;
        before = ',';
    }
    write!(f, "\n{:1$}{last}", "", 2 * depth)
}

impl fmt::Display for JsonLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

/// The reason why a file cannot be read, as the end of a sentence. The reason names positions, and quotes nothing of the
/// file.
pub(super) fn damage(problem: &str) -> String {
    format!(
        "is damaged: {problem}; take it from version control, or record it again with `COLUMNAR_RECORD=all`"
    )
}

/// A value and its path in the file.
#[derive(Debug)]
pub(super) struct Located<'j> {
    pub(super) json: &'j Json,
    path: String,
}

impl<'j> Located<'j> {
    pub(super) fn root(json: &'j Json) -> Self {
        Self { json, path: String::new() }
    }

    pub(super) fn damage(&self, problem: &str) -> String {
        let path = if self.path.is_empty() { "the whole" } else { &self.path };
        damage(&format!("`{path}` {problem}"))
    }

    pub(super) fn optional(&self, name: &str) -> Result<Option<Self>, String> {
        let entries = self.json.as_object().ok_or_else(|| self.damage("is no object"))?;
        let separator = if self.path.is_empty() { "" } else { "." };
        Ok(entries.get(name).map(|json| Self { json, path: format!("{}{separator}{name}", self.path) }))
    }

    pub(super) fn field(&self, name: &str) -> Result<Self, String> {
        self.optional(name)?.ok_or_else(|| self.damage(&format!("has no `{name}`")))
    }

    /// Refuses entries other than these, whose names have spaces between them: a misspelt name would silently change the
    /// request.
    pub(super) fn has_only(&self, names: &str) -> Result<(), String> {
        let entries = self.json.as_object().ok_or_else(|| self.damage("is no object"))?;
        if entries.keys().all(|name| names.split(' ').any(|known| known == name)) {
            return Ok(());
        }
        Err(self.damage(&format!("has an entry that is none of `{}`", names.replace(' ', "`, `"))))
    }

    pub(super) fn items(&self) -> Result<Vec<Self>, String> {
        let items = self.json.as_array().ok_or_else(|| self.damage("is no list"))?;
        let items = items.iter().enumerate();
        Ok(items.map(|(at, json)| Self { json, path: format!("{}[{at}]", self.path) }).collect())
    }

    /// The text, written as one string or as lines.
    pub(super) fn text(&self) -> Result<String, String> {
        let line =
            |json: &'j Json| json.as_str().ok_or_else(|| self.damage("is no text and no list of lines"));
        match self.json {
            Json::Array(lines) => Ok(lines.iter().map(line).collect::<Result<Vec<_>, _>>()?.join("\n")),
            text => line(text).map(str::to_owned),
        }
    }

    pub(super) fn count(&self) -> Result<u64, String> {
        self.json.as_u64().ok_or_else(|| self.damage("is no whole number"))
    }

    pub(super) fn small(&self) -> Result<u32, String> {
        u32::try_from(self.count()?).map_err(|_| self.damage("is too large"))
    }

    pub(super) fn fraction(&self) -> Result<f32, String> {
        // Parsed from the digits: a conversion through `f64` would round twice.
        let number = self.json.as_number().and_then(|number| number.to_string().parse().ok());
        number.ok_or_else(|| self.damage("is no number"))
    }
}
