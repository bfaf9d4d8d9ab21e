//! No document has a link that leads nowhere: neither the Markdown files of the repository nor the documentation of the
//! library.
//!
//! ```text
//! files ──▶ page: links, anchors ──▶ site: follows each link ──▶ dead links
//! ```
//!
//! Links to other sites are not followed.

mod page;
mod site;
mod small;

use std::path::{Path, PathBuf};
use std::{env, fs};

use site::Site;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files below a folder with this extension, with their paths from there on. Builds and hidden folders are left out.
fn files(root: &Path, extension: &str) -> Vec<PathBuf> {
    let (mut files, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(root.join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let (name, path) = (entry.file_name(), folder.join(entry.file_name()));
            if entry.file_type().unwrap().is_dir() {
                let is_left_out = name == "target" || name.to_string_lossy().starts_with('.');
                open.extend((!is_left_out).then_some(path));
            } else if path.extension().is_some_and(|found| found == extension) {
                files.push(path);
            }
        }
    }
    files.sort_unstable();
    files
}

fn assert_none(dead: &[String]) {
    assert!(dead.is_empty(), "{} dead links\n{}\n", dead.len(), dead.join("\n"));
}

#[test]
fn the_repository_has_no_dead_link() {
    let root = root();
    let pages = files(&root, "md");
    assert!(pages.len() >= 5, "{pages:?}");
    assert_none(&Site::new(root).dead_links(&pages));
}

#[test]
fn the_repository_has_each_file_that_its_documents_name() {
    let root = root();
    let site = Site::new(&root);
    let documents = files(&root, "md").into_iter().chain(files(&root, "rs"));
    let dead = documents.flat_map(|path| {
        let text = fs::read_to_string(root.join(&path)).unwrap();
        let is_rust = path.extension().is_some_and(|extension| extension == "rs");
        site.dead_paths(&path, &if is_rust { documentation(&text) } else { text })
    });
    assert_none(&dead.collect::<Vec<_>>());
}

/// The documentation in a file of Rust.
fn documentation(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = line.trim_start();
        line.strip_prefix("//!").or_else(|| line.strip_prefix("///")).unwrap_or_default().trim_start()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Of documentation that `cargo doc` has made in the folder `COLUMNAR_DOC`, as `.ci/run` does.
#[test]
fn the_documentation_has_no_dead_link() {
    let Some(root) = env::var_os("COLUMNAR_DOC") else {
        return eprintln!("SKIPPED dead links in the documentation: COLUMNAR_DOC is not set to its folder");
    };
    let library = files(&Path::new(&root).join("columnar"), "html");
    assert!(library.len() > 300, "{} pages", library.len());
    let library: Vec<PathBuf> = library.iter().map(|page| Path::new("columnar").join(page)).collect();
    assert_none(&Site::new(root).dead_links(&library));
}
