//! Files that link to each other, and the links among them that lead nowhere.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::page::Page;

/// A folder, with the pages in it that were read.
pub(super) struct Site {
    root: PathBuf,
    pages: BTreeMap<PathBuf, Page>,
}

impl Site {
    pub(super) fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), pages: BTreeMap::new() }
    }

    /// The dead links of these pages, each with the page and the reason. Paths begin at the root.
    pub(super) fn dead_links(&mut self, pages: &[PathBuf]) -> Vec<String> {
        let mut dead = Vec::new();
        for path in pages {
            let Some(page) = self.page(path) else { continue };
            let (links, undefined) = (page.links.clone(), page.undefined.clone());
            let links = links.into_iter().filter_map(|link| Some((self.resolve(path, &link).err()?, link)));
            let undefined = undefined.into_iter().map(|link| ("no definition of this reference", link));
            let failures = links.chain(undefined);
            dead.extend(failures.map(|(reason, link)| format!("{}: `{link}`: {reason}", path.display())));
        }
        dead
    }

    /// The files that code in a text names with their path from the root, and that are not there.
    pub(super) fn dead_paths(&self, name: &Path, text: &str) -> Vec<String> {
        let is_dead = |code: &String| {
            let is_path =
                code.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
            let folder = code.split_once('/').filter(|_| is_path).map(|(folder, _)| self.root.join(folder));
            folder.is_some_and(|folder| folder.is_dir()) && !self.root.join(code).exists()
        };
        let dead = Page::markdown(text).code.into_iter().filter(is_dead);
        dead.map(|code| format!("{}: `{code}`: no such file", name.display())).collect()
    }

    fn page(&mut self, path: &Path) -> Option<&Page> {
        if !self.pages.contains_key(path) {
            let read: fn(&str) -> Page = match path.extension()?.to_str()? {
                "html" => Page::html,
                "md" => Page::markdown,
                _ => return None,
            };
            let text = fs::read_to_string(self.root.join(path)).ok()?;
            self.pages.insert(path.to_owned(), read(&text));
        }
        self.pages.get(path)
    }

    /// Follows a link of a page.
    fn resolve(&mut self, from: &Path, link: &str) -> Result<(), &'static str> {
        if let Some((scheme, rest)) = link.split_once(':') {
            return external(scheme, rest);
        }
        let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let path = if path.is_empty() { from.to_owned() } else { within(from, &decoded(path)?)? };
        match fs::metadata(self.root.join(&path)) {
            Err(_) => Err("no such file"),
            Ok(_) if anchor.is_empty() => Ok(()),
            // As browsers do: rustdoc has encoded ids.
            Ok(_) => self.find_anchor(&path, anchor).or_else(|_| self.find_anchor(&path, &decoded(anchor)?)),
        }
    }

    fn find_anchor(&mut self, path: &Path, anchor: &str) -> Result<(), &'static str> {
        let page = self.page(path).ok_or("this file has no anchors")?;
        // In the source code that rustdoc shows, a script makes the anchors of several lines: `12-30`.
        let lines = anchor.split_once('-').filter(|(first, _)| first.parse::<usize>().is_ok());
        let is_there = |anchor: &str| page.anchors.contains(anchor);
        let is_there =
            is_there(anchor) || lines.is_some_and(|(first, last)| is_there(first) && is_there(last));
        if is_there { Ok(()) } else { Err("no such anchor") }
    }
}

/// The path of a link, from the root on.
fn within(from: &Path, path: &str) -> Result<PathBuf, &'static str> {
    let mut target = from.parent().map(Path::to_owned).unwrap_or_default();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => target.push(name),
            Component::CurDir => {}
            Component::ParentDir if target.pop() => {}
            _ => return Err("outside of the documentation"),
        }
    }
    Ok(target)
}

/// Whether a link to another site is one. Nothing is requested.
fn external(scheme: &str, rest: &str) -> Result<(), &'static str> {
    if scheme == "data" {
        return Ok(());
    }
    let host =
        rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next()).unwrap_or_default();
    let is_host = host.split('.').count() > 1 && host.split('.').all(|part| !part.is_empty());
    match scheme {
        "http" | "https" if is_host && !rest.contains(char::is_whitespace) => Ok(()),
        _ => Err("no address of a page"),
    }
}

/// The text with its `%20` and the like replaced.
fn decoded(text: &str) -> Result<String, &'static str> {
    let mut parts = text.split('%');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(2).ok_or("a wrong `%`")?;
        bytes.push(u8::from_str_radix(code, 16).map_err(|_| "a wrong `%`")?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    String::from_utf8(bytes).map_err(|_| "a wrong `%`")
}
