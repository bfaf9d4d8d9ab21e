//! The dependencies of the library: their licences and sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value as Json;

/// Free licences.
const LICENCES: [&str; 16] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    // Files of cssparser, dtoa-short and selectors: their changes would have to be published, and nothing else.
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    "bzip2-1.0.6",
];

/// Whether the licence is free: in each term of `AND`, one of the alternatives of `OR`.
fn is_free(licence: &str) -> bool {
    let licence = licence.replace('/', " OR ");
    let parts = licence.split(" AND ");
    parts
        .map(|part| part.trim_matches(['(', ')', ' ']))
        .all(|part| part.split(" OR ").any(|choice| LICENCES.contains(&choice.trim_matches(['(', ')', ' ']))))
}

/// Whether a package comes with the text of the MIT licence instead of its name.
fn is_mit(package: &Json) -> bool {
    let [manifest, file] = ["manifest_path", "license_file"].map(|path| package[path].as_str());
    let (Some(manifest), Some(file)) = (manifest, file) else { return false };
    let text = fs::read_to_string(Path::new(manifest).with_file_name(file)).expect("it is there");
    text.starts_with("The MIT License\n") && text.contains("\nPermission is hereby granted, free of charge, ")
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// All packages that a build on this system can have.
fn packages() -> Vec<Json> {
    let rustc = Command::new("rustc").arg("-vV").output().expect("rustc runs").stdout;
    let rustc = String::from_utf8_lossy(&rustc);
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: ")).expect("the host");
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--all-features", "--format-version", "1"])
        .args(["--filter-platform", host])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    let complaint = String::from_utf8_lossy(&cargo.stderr);
    assert!(cargo.status.success(), "`cargo fetch` downloads missing crates: {complaint}");
    let mut metadata: Json = serde_json::from_slice(&cargo.stdout).expect("JSON");
    let Json::Array(packages) = metadata["packages"].take() else { panic!("no packages") };
    assert!(packages.len() > 100, "{}", packages.len());
    packages
}

#[test]
fn x5_dependencies_have_free_licences_and_come_from_the_registry() {
    let packages = packages();
    let mut own = BTreeSet::new();
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or("none");
        assert!(is_free(licence) || is_mit(package), "{name} is under {licence}");
        if let Some(source) = package["source"].as_str() {
            assert!(source.starts_with("registry+https://github.com/rust-lang/crates.io-index"), "{source}");
            continue;
        }
        own.insert(name);
        let targets = package["targets"].as_array().expect("targets");
        let builds = |target: &Json| {
            target["kind"].as_array().is_some_and(|kinds| kinds.contains(&"custom-build".into()))
        };
        assert!(!targets.iter().any(builds), "{name} has a build script");
        let manifest =
            fs::read_to_string(package["manifest_path"].as_str().expect("a path")).expect("it is there");
        assert!(manifest.contains("[lints]\nworkspace = true"), "{name} goes without the lints");
    }
    assert!(own.contains("columnar-flow") && own.contains("columnar-flow-macros"));
    let workspace = fs::read_to_string(root().join("Cargo.toml")).expect("it is there");
    assert!(workspace.contains("unsafe_code = \"forbid\""));
}

/// The three numbers of a version of Rust, of which the last may be absent.
fn numbers(version: &str) -> [u32; 3] {
    let mut numbers = version.split('.').map(|number| number.parse().expect("a number"));
    std::array::from_fn(|_| numbers.next().unwrap_or(0))
}

/// Cargo says so as well, but only on a compiler that is too old.
#[test]
fn x5_no_dependency_needs_a_newer_rust_than_is_promised() {
    let promised = env!("CARGO_PKG_RUST_VERSION");
    let readme = fs::read_to_string(root().join("README.md")).expect("it is there");
    assert!(readme.contains(&format!("columnar needs Rust {promised} or newer")), "{promised}");
    let packages = packages();
    let needed =
        packages.iter().filter_map(|package| Some((&package["name"], package["rust_version"].as_str()?)));
    let (newer, fitting): (Vec<_>, Vec<_>) =
        needed.partition(|(_, needed)| numbers(needed) > numbers(promised));
    assert!(newer.is_empty(), "Rust {promised} is promised: {newer:?}");
    assert!(fitting.len() > 100, "{}", fitting.len());
    assert!(numbers("1.95.1") > numbers("1.95") && numbers("1.100") > numbers("1.95.1"));
}

#[test]
fn x5_a_choice_of_licences_is_free_if_one_of_them_is() {
    for licence in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR Apache-2.0) AND Unicode-3.0", "Zlib"]
    {
        assert!(is_free(licence), "{licence}");
    }
    for licence in ["GPL-3.0", "MIT AND GPL-3.0", "LGPL-3.0", "none", "", "(MIT OR Apache-2.0) AND LGPL-3.0"]
    {
        assert!(!is_free(licence), "{licence}");
    }
}

/// `cargo deny` checks the same licences, for the systems that these tests do not run on as well.
#[test]
fn x5_the_list_of_licences_is_that_of_cargo_deny() {
    let rules = fs::read_to_string(root().join("deny.toml")).expect("it is there");
    let rules: toml::Table = rules.parse().expect("TOML");
    let allowed = rules["licenses"]["allow"].as_array().expect("a list");
    let allowed: Vec<&str> = allowed.iter().filter_map(|licence| licence.as_str()).collect();
    assert_eq!(allowed, LICENCES);
}
