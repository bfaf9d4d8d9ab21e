//! The elements of HTML, by name: what is written for each, and which others end with it.

/// Elements with lines of their own.
const BLOCKS: &str = "\
    article aside blockquote div dl footer h1 h2 h3 h4 h5 h6 header li main nav ol p pre section table td th \
    tr ul";

/// Elements within a line.
const INLINES: [&str; 6] = ["a", "b", "code", "em", "i", "strong"];

/// Elements without an end, and without a content.
const VOIDS: [&str; 20] = [
    "area", "base", "basefont", "bgsound", "br", "col", "command", "embed", "frame", "hr", "image", "img",
    "input", "keygen", "link", "meta", "param", "source", "track", "wbr",
];

/// Elements whose content is not read: programs, styles, controls, drawings.
const HIDDEN: [&str; 23] = [
    "applet", "audio", "button", "canvas", "datalist", "dialog", "frameset", "iframe", "map", "math", "menu",
    "noembed", "noframes", "noscript", "object", "script", "select", "style", "svg", "template", "textarea",
    "title", "video",
];

/// The element that stands for one of this name, or none if its content alone matters. The readers of the tree know few
/// names, and run the words of other elements together.
pub(super) fn written(name: &str) -> Option<&'static str> {
    match name {
        "address" | "caption" | "center" | "dd" | "details" | "dt" | "fieldset" | "figcaption" | "figure"
        | "form" | "hgroup" | "legend" | "option" | "summary" => Some("div"),
        "dir" => Some("ul"),
        "kbd" | "samp" | "tt" => Some("code"),
        "listing" | "plaintext" | "xmp" => Some("pre"),
        "search" => Some("nav"),
        _ => BLOCKS.split(' ').chain(INLINES).find(|known| *known == name),
    }
}

pub(super) fn is_block(name: &str) -> bool {
    written(name).is_some_and(|written| BLOCKS.split(' ').any(|block| block == written))
}

/// Whether HTML ends with the end of an element within a line.
pub(super) fn ends_with_inline(html: &str) -> bool {
    let end = html.strip_suffix('>').unwrap_or_default();
    INLINES.iter().any(|name| end.strip_suffix(name).is_some_and(|start| start.ends_with("</")))
}

pub(super) fn is_void(name: &str) -> bool {
    VOIDS.contains(&name)
}

pub(super) fn is_hidden(name: &str) -> bool {
    HIDDEN.contains(&name)
}

/// Whether an open element may be left open, and ends where the next one begins.
pub(super) fn ends_before(open: &str, next: &str) -> bool {
    match open {
        "p" => is_block(next),
        "a" | "li" => next == open,
        "dt" | "dd" => matches!(next, "dt" | "dd"),
        "tr" => matches!(next, "tr" | "tbody" | "tfoot" | "thead"),
        "td" | "th" => matches!(next, "td" | "th" | "tr" | "tbody" | "tfoot" | "thead"),
        _ => false,
    }
}

/// Whether no element around an open block ends where the next element begins.
pub(super) fn keeps_inside(open: &str, next: &str) -> bool {
    match next {
        "td" | "th" | "tr" | "tbody" | "tfoot" | "thead" => open == "table",
        _ => !matches!(open, "address" | "div" | "p"),
    }
}
