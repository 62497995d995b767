//! Compresses the built page into the binary: no file of it is looked for when it runs.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(std::env::var_os("OUT_DIR").unwrap_or_default());
    let dist = here.join("dist");
    let mut files = Vec::new();
    find(&dist, &mut files);
    files.sort();
    let mut table = String::from("&[\n");
    for (i, file) in files.iter().enumerate() {
        let name = file.strip_prefix(&dist).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let bytes = fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        // Beside the table, which may be moved with the folder of what is built.
        let own = format!("{i}.gz");
        let packed = out.join(&own);
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let done = encoder.write_all(&bytes).and_then(|()| encoder.finish());
        let written = done.and_then(|bytes| fs::write(&packed, bytes));
        written.unwrap_or_else(|error| panic!("{}: {error}", packed.display()));
        // Writing to a string cannot fail.
        let _ = writeln!(table, "    ({name:?}, include_bytes!({own:?})),");
    }
    table += "]\n";
    let path = out.join("files.rs");
    fs::write(&path, table).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=dist");
}

/// All files below a folder.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder);
    for entry in entries.unwrap_or_else(|error| panic!("{}: {error}", folder.display())).flatten() {
        let path = entry.path();
        if path.is_dir() {
            find(&path, files);
        } else {
            files.push(path);
        }
    }
}
