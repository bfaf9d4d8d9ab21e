//! The elements of HTML, by name.

/// The role of an element in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Its content is never shown: programs, styles, controls.
    Hidden,
    /// It leads to other pages, or is beside the content.
    Chrome,
    /// The head of a page or of an article.
    Header,
    Main,
    Article,
    Block,
    Heading(usize),
    List,
    OrderedList,
    Item,
    Term,
    Quote,
    Pre,
    Table,
    Row,
    Cell,
    Strong,
    Emphasis,
    Code,
    Link,
    Paragraph,
    /// Without a meaning of its own.
    Inline,
}

impl Role {
    pub(super) fn of(name: &str) -> Self {
        match name {
            "applet" | "audio" | "button" | "canvas" | "datalist" | "dialog" | "embed" | "frameset"
            | "head" | "iframe" | "map" | "math" | "menu" | "noembed" | "noframes" | "noscript"
            | "object" | "script" | "select" | "style" | "svg" | "template" | "textarea" | "title"
            | "video" => Self::Hidden,
            "aside" | "footer" | "nav" | "search" => Self::Chrome,
            "header" => Self::Header,
            "main" => Self::Main,
            "article" => Self::Article,
            "p" => Self::Paragraph,
            "h1" => Self::Heading(1),
            "h2" => Self::Heading(2),
            "h3" => Self::Heading(3),
            "h4" => Self::Heading(4),
            "h5" => Self::Heading(5),
            "h6" => Self::Heading(6),
            "ul" | "dir" => Self::List,
            "ol" => Self::OrderedList,
            "li" => Self::Item,
            "dt" | "dd" => Self::Term,
            "blockquote" => Self::Quote,
            "pre" | "listing" | "xmp" | "plaintext" => Self::Pre,
            "table" => Self::Table,
            "tr" => Self::Row,
            "td" | "th" => Self::Cell,
            "b" | "strong" => Self::Strong,
            "em" | "i" => Self::Emphasis,
            "code" | "kbd" | "samp" | "tt" => Self::Code,
            "a" => Self::Link,
            "address" | "body" | "caption" | "center" | "details" | "div" | "dl" | "fieldset"
            | "figcaption" | "figure" | "form" | "hgroup" | "html" | "legend" | "option" | "section"
            | "summary" => Self::Block,
            _ => Self::Inline,
        }
    }

    /// Whether it ends a paragraph that is open, as in HTML.
    pub(super) fn ends_paragraph(self) -> bool {
        !matches!(
            self,
            Self::Hidden
                | Self::Row
                | Self::Cell
                | Self::Strong
                | Self::Emphasis
                | Self::Code
                | Self::Link
                | Self::Inline
        )
    }

    /// Whether it may be left open, and ends with the next one of its kind.
    pub(super) fn ends_with_next(self) -> bool {
        matches!(self, Self::Item | Self::Term | Self::Row | Self::Cell | Self::Link)
    }

    /// Whether an element of the other role belongs to this one, and to none around it.
    pub(super) fn contains(self, inner: Self) -> bool {
        match inner {
            Self::Item => matches!(self, Self::List | Self::OrderedList),
            Self::Row => self == Self::Table,
            Self::Cell => matches!(self, Self::Table | Self::Row),
            Self::Paragraph => matches!(self, Self::Cell | Self::Item | Self::Quote | Self::Block),
            _ => matches!(self, Self::Cell),
        }
    }
}

/// Elements without an end.
pub(super) fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "basefont"
            | "bgsound"
            | "br"
            | "col"
            | "command"
            | "embed"
            | "frame"
            | "hr"
            | "image"
            | "img"
            | "input"
            | "keygen"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}
