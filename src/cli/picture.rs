//! Pictures in files: what a file's ending asks for.

use std::path::Path;

use super::answer::Failure;
use super::console;

/// The ending of a picture's file; `.png` only if this program can write it.
pub(crate) fn ending(path: &Path) -> Result<&str, Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    if ending == "png" && !cfg!(feature = "png") {
        return Err(Failure::usage(format!(
            "cannot write `{}`: this legwork was built without PNG; name a file that ends in .svg, \
             or build it with PNG: cargo install --path . --features png",
            path.display()
        )));
    }
    Ok(ending)
}

/// Writes the text of a picture, which is an SVG if the file is to be a PNG, and says so.
pub(crate) fn write(path: &Path, picture: String) -> Result<(), Failure> {
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot write `{}`: {why}", path.display()))
    };
    let bytes = match ending(path)? {
        #[cfg(feature = "png")]
        "png" => legwork_picture::png(&picture).map_err(|why| cannot(&why))?,
        _ => picture.into_bytes(),
    };
    std::fs::write(path, bytes).map_err(|error| cannot(&error))?;
    console::note(&format!("wrote {}", path.display()));
    Ok(())
}
