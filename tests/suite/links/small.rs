//! Small sites with one dead link of each kind, which must be found, and with links that are alive.

use std::fs;
use std::path::{Path, PathBuf};

use super::site::Site;

/// The dead links of a page, without its path. Beside it are `other.md`, `page.html` and `folder/code.rs`.
fn dead(name: &str, text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    fs::create_dir(folder.path().join("folder")).unwrap();
    write("other.md", "# One `heading`, twice\n\n# One heading twice\n\n```text\n# no heading\n```\n");
    write(
        "page.html",
        "<h2 id=\"first\">1</h2><a id=7>7</a><a id=9>9</a><a id=a%3Cb>a</a><script>'<b id=\"text\">'</script>",
    );
    write("folder/code.rs", "fn main() {}\n");
    write(name, text);
    let mut site = Site::new(folder.path());
    let mut dead = site.dead_links(&[PathBuf::from(name)]);
    dead.extend(site.dead_paths(Path::new(name), text));
    let prefix = format!("{name}: ");
    dead.iter().map(|dead| dead.strip_prefix(&prefix).unwrap().to_owned()).collect()
}

#[test]
fn links_that_lead_somewhere_are_alive() {
    for link in [
        "other.md",
        "./other.md#one-heading-twice",
        "other.md#one-heading-twice-1",
        "#here",
        "folder",
        "folder/code.rs",
        "folder/../page.html#first",
        "page.html?search=x#7",
        "page.html#7-9",
        "page.html#a%3Cb",
        "page.html#f%69rst",
        "other%2Emd",
        "https://example.com/a#b",
    ] {
        assert_eq!(dead("a.md", &format!("# Here\n\n[x]({link})")), [""; 0], "{link}");
        assert_eq!(dead("a.html", &format!("<p id=here><a href=\"{link}\">x</a>")), [""; 0], "{link}");
    }
}

#[test]
fn links_that_lead_nowhere_are_dead() {
    for (link, reason) in [
        ("another.md", "no such file"),
        ("folder/other.md", "no such file"),
        ("other.md#no-heading", "no such anchor"),
        ("other.md#one-heading-twice-2", "no such anchor"),
        ("#there", "no such anchor"),
        ("page.html#text", "no such anchor"),
        ("page.html#7-8", "no such anchor"),
        ("folder/code.rs#L1", "this file has no anchors"),
        ("../other.md", "outside of the documentation"),
        ("/other.md", "outside of the documentation"),
        ("other%2.md", "a wrong `%`"),
        ("https://", "no address of a page"),
        ("https://example..com", "no address of a page"),
        ("htps://example.com", "no address of a page"),
    ] {
        let expected = [format!("`{link}`: {reason}")];
        assert_eq!(dead("a.md", &format!("# Here\n\n[x]({link})")), expected);
        assert_eq!(dead("a.md", &format!("# Here\n\n| [x]({link}) |\n|---|\n")), expected);
        assert_eq!(dead("a.md", &format!("# Here\n\n![x][y]\n\n[y]: {link}")), expected);
        assert_eq!(dead("a.md", &format!("# Here\n\n<a href=\"{link}\">x</a>")), expected);
        assert_eq!(dead("a.html", &format!("<p id=here><img src=\"{link}\">")), expected);
    }
}

/// rustdoc shows the methods of every type that other crates add, with links of their documentation.
#[test]
fn links_of_other_crates_are_not_ours() {
    let page =
        "<a href=\"none.html\">x</a><h2 id=blanket-implementations>x</h2><a href=\"super::Span\">y</a>";
    assert_eq!(dead("a.html", page), ["`none.html`: no such file"]);
}

/// A reference without a definition is shown with its brackets.
#[test]
fn a_reference_without_a_definition_is_dead() {
    assert_eq!(dead("a.md", "[x][y]"), ["`y`: no definition of this reference"]);
    assert_eq!(dead("a.md", "an index[0], and `[x][y]`"), [""; 0]);
}

#[test]
fn code_that_names_a_file_of_the_repository_names_an_existing_one() {
    assert_eq!(dead("a.md", "`folder/code.rs`, `folder/`, `none/code.rs`, `folder/{a,b}.rs`"), [""; 0]);
    assert_eq!(dead("a.md", "`folder/none.rs`"), ["`folder/none.rs`: no such file"]);
    assert_eq!(dead("a.md", "```\nfolder/none.rs\n```"), [""; 0]);
}
