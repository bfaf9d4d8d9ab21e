//! The text in the bytes of a page: its type, and its encoding.
//!
//! Bytes that are no text are refused, under any declared type. The order in which an encoding is looked for is
//! the order of browsers: a byte order mark, the header, the beginning of the page.

use std::borrow::Cow;

use encoding_rs::{Encoding, REPLACEMENT, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::error::WebFault;

/// The bytes at the beginning in which a page declares its encoding, and in which binary data are noticed.
const BEGINNING: usize = 1024;

/// The form of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextForm {
    Html,
    /// Any other text. It stays as it is.
    Plain,
}

/// The types of text whose names do not begin with `text/`.
const TEXT: &str = "\
    application/ecmascript application/graphql application/javascript application/json application/json5 \
    application/jsonl application/markdown application/ndjson application/sql application/toml \
    application/x-httpd-php application/x-javascript application/x-ndjson application/x-sh application/x-tex \
    application/x-yaml application/xml application/yaml";

/// The header `content-type`.
pub(super) struct Type {
    /// `None` if the content must show it.
    form: Option<TextForm>,
    label: Option<String>,
}

impl Type {
    pub(super) fn new(header: Option<&str>) -> Result<Self, WebFault> {
        let (name, rest) = header.map_or(("", ""), |header| header.split_once(';').unwrap_or((header, "")));
        let name = name.trim().to_ascii_lowercase();
        let form = match name.as_str() {
            "" | "application/octet-stream" | "application/x-unknown" | "unknown/unknown" | "*/*" => None,
            "text/html" | "application/xhtml+xml" => Some(TextForm::Html),
            name if name.starts_with("text/") || name.ends_with("+json") || name.ends_with("+xml") => {
                Some(TextForm::Plain)
            }
            name if TEXT.split(' ').any(|text| text == name) => Some(TextForm::Plain),
            _ => return Err(WebFault::Type(name)),
        };
        let label = rest.split(';').find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim()
                .eq_ignore_ascii_case("charset")
                .then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        });
        Ok(Self { form, label })
    }

    /// The form and text of bytes.
    pub(super) fn text<'b>(
        &self,
        bytes: &'b [u8],
        is_cut: bool,
    ) -> Result<(TextForm, Cow<'b, str>), WebFault> {
        let marked = Encoding::for_bom(bytes).map(|(encoding, _)| encoding);
        let known = marked.or_else(|| Encoding::for_label(self.label.as_deref()?.as_bytes()));
        let is_wide = known.is_some_and(|encoding| [UTF_16BE, UTF_16LE].contains(&encoding));
        let start = bytes.get(..BEGINNING).unwrap_or(bytes);
        if !is_wide && start.iter().any(|byte| is_binary(*byte)) {
            return Err(WebFault::Binary);
        }
        let form =
            self.form.unwrap_or_else(|| if begins_as_html(start) { TextForm::Html } else { TextForm::Plain });
        let encoding = known.or_else(|| declared(start, form)).unwrap_or_else(|| guessed(bytes, is_cut));
        // The standard of browsers decodes some old encodings to one sign, so that no script hides in them.
        if encoding == REPLACEMENT {
            let label = self.label.clone().or_else(|| declared_label(start, form));
            return Err(WebFault::Charset(label.unwrap_or_default()));
        }
        // Without any declaration only UTF-8 is surely text.
        let is_undeclared = self.form.is_none() && known.is_none() && form == TextForm::Plain;
        if is_undeclared && encoding == WINDOWS_1252 {
            return Err(WebFault::Binary);
        }
        let (text, _, _) = encoding.decode(bytes);
        Ok((form, text))
    }
}

/// A [binary data byte](https://mimesniff.spec.whatwg.org/#binary-data-byte).
fn is_binary(byte: u8) -> bool {
    matches!(byte, 0..=8 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f)
}

fn begins_as_html(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    let mut text = text.trim_start_matches('\u{feff}').trim_start();
    while let Some((_, rest)) = text.strip_prefix("<!--").and_then(|comment| comment.split_once("-->")) {
        text = rest.trim_start();
    }
    ["<!doctype html", "<html", "<head", "<body", "<title", "<h1", "<div", "<p>"]
        .iter()
        .any(|tag| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)))
}

/// The encoding that the beginning of HTML or XML declares.
fn declared(start: &[u8], form: TextForm) -> Option<&'static Encoding> {
    // The declaration can be read as ASCII, so it is not UTF-16.
    let encoding = Encoding::for_label(declared_label(start, form)?.as_bytes())?;
    Some(if [UTF_16BE, UTF_16LE].contains(&encoding) { UTF_8 } else { encoding })
}

/// The name of the encoding in the declaration.
fn declared_label(start: &[u8], form: TextForm) -> Option<String> {
    let text = String::from_utf8_lossy(start).to_ascii_lowercase();
    let label = match form {
        TextForm::Html => {
            let metas = text.match_indices("<meta").filter_map(|(at, _)| text.get(at..)?.split('>').next());
            metas.into_iter().find_map(|meta| value_of(meta, "charset"))
        }
        TextForm::Plain => text
            .trim_start()
            .strip_prefix("<?xml")?
            .split("?>")
            .next()
            .and_then(|xml| value_of(xml, "encoding")),
    };
    label.map(str::to_owned)
}

/// The value behind `name=`, perhaps in quotation marks.
fn value_of<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let rest = text.split_once(name)?.1.trim_start().strip_prefix('=')?.trim_start();
    rest.trim_start_matches(['"', '\'']).split(|c: char| c.is_whitespace() || "\"';>/".contains(c)).next()
}

/// UTF-8 if it is valid, apart from a last character that is cut, and otherwise the encoding of old pages.
fn guessed(bytes: &[u8], is_cut: bool) -> &'static Encoding {
    match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_some() || !is_cut => WINDOWS_1252,
        _ => UTF_8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(header: Option<&str>, bytes: &[u8]) -> Result<(TextForm, String), WebFault> {
        Type::new(header)?.text(bytes, false).map(|(form, text)| (form, text.into_owned()))
    }

    #[test]
    fn w5_the_encoding_is_that_of_the_mark_the_header_or_the_page() {
        let latin = b"<meta charset=\"ISO-8859-1\">caf\xe9";
        let equiv = b"<meta http-equiv=content-type content='text/html; charset=windows-1251'>\xcf";
        for (header, bytes, expected) in [
            ("text/html; charset=utf-8", "é".as_bytes(), (TextForm::Html, "é")),
            ("text/html; charset=\"iso-8859-1\"", b"caf\xe9", (TextForm::Html, "café")),
            ("text/html; Charset=Shift_JIS", b"\x93\xfa", (TextForm::Html, "日")),
            ("text/html", latin, (TextForm::Html, "<meta charset=\"ISO-8859-1\">café")),
            (
                "text/html",
                equiv,
                (TextForm::Html, "<meta http-equiv=content-type content='text/html; charset=windows-1251'>П"),
            ),
            ("text/html; charset=utf-8", latin, (TextForm::Html, "<meta charset=\"ISO-8859-1\">caf\u{fffd}")),
            ("text/html; charset=iso-8859-1", b"\xef\xbb\xbf\xc3\xa9", (TextForm::Html, "é")),
            ("text/plain", b"\xff\xfeh\0i\0", (TextForm::Plain, "hi")),
            ("text/plain; charset=utf-16be", b"\0h\0i", (TextForm::Plain, "hi")),
            ("text/html; charset=nonesuch", b"caf\xe9", (TextForm::Html, "café")),
            (
                "application/xml",
                b"<?xml version='1.0' encoding='iso-8859-1'?>\xe9",
                (TextForm::Plain, "<?xml version='1.0' encoding='iso-8859-1'?>é"),
            ),
            ("application/json", "{\"a\":\"é\"}".as_bytes(), (TextForm::Plain, "{\"a\":\"é\"}")),
        ] {
            let (form, text) = text(Some(header), bytes).expect("it is text");
            assert_eq!((form, text.as_str()), expected, "{header} {bytes:?}");
        }
    }

    /// A page in one of these was one `\u{fffd}`, and passed for a page.
    #[test]
    fn w5_an_encoding_that_nobody_decodes_is_a_fault() {
        for label in ["iso-2022-kr", "hz-gb-2312"] {
            let fault = Err(WebFault::Charset(label.to_owned()));
            assert_eq!(text(Some(&format!("text/html; charset={label}")), b"x"), fault);
            assert_eq!(text(Some("text/html"), format!("<meta charset={label}>x").as_bytes()), fault);
        }
    }

    #[test]
    fn w5_a_character_may_be_cut_where_a_page_is() {
        let kind = Type::new(None).expect("no type");
        assert_eq!(
            kind.text(b"5 \xe2\x82", true).map(|(_, text)| text.into_owned()).as_deref(),
            Ok("5 \u{fffd}")
        );
        assert_eq!(kind.text(b"5 \xe2\x82", false), Err(WebFault::Binary));
    }

    #[test]
    fn w5_only_text_is_accepted_and_a_missing_type_is_looked_for() {
        for (header, form) in [
            ("text/markdown", TextForm::Plain),
            ("Text/HTML;x=y", TextForm::Html),
            ("application/ld+json", TextForm::Plain),
            ("application/rss+xml", TextForm::Plain),
            ("application/yaml", TextForm::Plain),
        ] {
            assert_eq!(text(Some(header), b"x"), Ok((form, "x".to_owned())), "{header}");
        }
        for header in ["image/png", "application/pdf", "application/zip", "video/mp4", "multipart/mixed", "x"]
        {
            assert_eq!(text(Some(header), b"x"), Err(WebFault::Type(header.to_owned())));
        }
        for (bytes, form) in [
            (&b" \n<!-- x --><!DOCTYPE HTML><p>x"[..], TextForm::Html),
            (b"<HTML lang=en>", TextForm::Html),
            (b"# Markdown", TextForm::Plain),
            ("é".as_bytes(), TextForm::Plain),
            (b"", TextForm::Plain),
        ] {
            assert_eq!(text(None, bytes).map(|(form, _)| form), Ok(form), "{bytes:?}");
        }
        // Programs, pictures and archives, under any name that the server gives.
        for header in [None, Some("text/plain"), Some("text/html"), Some("application/octet-stream")] {
            for bytes in [&b"\x7fELF\x02\x01"[..], b"\x89PNG\r\n\x1a\n\0", b"PK\x03\x04", b"a\0b"] {
                assert_eq!(text(header, bytes), Err(WebFault::Binary), "{header:?} {bytes:?}");
            }
        }
        assert_eq!(text(None, b"\xff\xd8\xff\xe0"), Err(WebFault::Binary));
    }
}
