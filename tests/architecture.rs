//! The page of the architecture and the crates agree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The texts between strokes, `qp` of "`qp`, …".
fn stroked(text: &str) -> BTreeSet<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Folder of each crate and the crates of the workspace on which it depends, by the page.
fn table() -> BTreeMap<String, BTreeSet<String>> {
    let page = read("src/architecture.md");
    let rows = page.lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("| `")?.strip_suffix('|')?.split('|').collect();
        let [folder, _, _, needs] = cells[..] else { return None };
        Some((folder.trim().trim_end_matches('`').to_owned(), stroked(needs)))
    });
    rows.collect()
}

/// The lines of a manifest from the line `first` to the next that is empty or `]`.
fn section<'m>(manifest: &'m str, first: &str) -> impl Iterator<Item = &'m str> {
    let lines = manifest.lines().skip_while(move |line| *line != first).skip(1);
    lines.take_while(|line| !line.is_empty() && *line != "]")
}

#[test]
fn the_table_is_that_of_the_manifests() {
    let table = table();
    let workspace = read("Cargo.toml");
    let members = section(&workspace, "members = [").map(|line| line.trim_matches([' ', '"', ',']));
    let folders: BTreeSet<&str> = members.chain(["."]).collect();
    assert!(folders.len() > 20, "{folders:?}");
    assert_eq!(table.keys().map(String::as_str).collect::<BTreeSet<_>>(), folders);
    for (folder, listed) in &table {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let crates = section(&manifest, "[dependencies]").filter_map(|line| {
            let name = line.split(['.', ' ', '=']).next()?;
            (name == "legwork").then_some(name).or_else(|| name.strip_prefix("legwork-"))
        });
        assert_eq!(&crates.map(str::to_owned).collect::<BTreeSet<_>>(), listed, "{folder}");
    }
    let depends = |folder: &str, on: &str| table[folder].contains(on);
    for numerics in ["linalg", "linear", "mesh", "ode", "mechanics", "qp", "contact", "control"] {
        assert!(!depends(&format!("src/{numerics}"), "block"), "{numerics}");
    }
    assert!(!depends("src/runtime", "diagram"));
    assert!(!depends("src/runtime", "linear") && !depends("blocks", "linear"));
    assert!(!depends("src/diagram", "blocks") && !depends("src/study", "blocks"));
}

/// Crates whose code reads no file, no environment and no standard stream.
const INNER: [&str; 15] = [
    "blocks",
    "src/block",
    "src/contact",
    "src/control",
    "src/diagram",
    "src/linalg",
    "src/linear",
    "src/mechanics",
    "src/mesh",
    "src/ode",
    "src/picture",
    "src/program",
    "src/qp",
    "src/runtime",
    "src/scene",
];

/// The code of a folder without its tests, benches and examples.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    for path in entries {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if ["tests", "testing", "benches", "examples", "target"].contains(&name) {
            continue;
        }
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn inner_crates_do_no_input_and_output() {
    let mut files = Vec::new();
    INNER.iter().for_each(|folder| sources(&root().join(folder), &mut files));
    assert!(files.len() > 400, "{} files", files.len());
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for word in ["std::fs", "std::env", "std::net", "std::process", "io::std", "println!"] {
                assert!(!line.contains(word), "{}: {line}", file.display());
            }
        }
    }
}

/// A published package holds the files of its own folder, without those of packages in it.
#[test]
fn a_package_is_built_of_its_own_files() {
    let table = table();
    let package = |file: &Path| {
        let folders = file.ancestors().skip(1).map(|folder| folder.to_str().expect("UTF-8"));
        folders
            .map(|name| if name.is_empty() { "." } else { name })
            .find(|f| table.contains_key(*f))
            .map(str::to_owned)
    };
    let mut files = Vec::new();
    ["src", "blocks", "diagrams"]
        .iter()
        .for_each(|folder| sources(&root().join(folder), &mut files));
    let mut count = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let file = file.strip_prefix(root()).unwrap();
        for macro_name in ["include_str!(\"", "include_bytes!(\"", "include!(\""] {
            for path in code.split(macro_name).skip(1) {
                let path = path.split('"').next().expect("a text");
                let whole = root().join(file).parent().expect("a folder").join(path);
                let whole = whole.canonicalize().unwrap_or_else(|error| panic!("{path}: {error}"));
                let included = whole.strip_prefix(root().canonicalize().unwrap()).unwrap();
                assert_eq!(package(included), package(file), "{} takes {path}", file.display());
                count += 1;
            }
        }
    }
    assert!(count > 50, "{count} files");
}
