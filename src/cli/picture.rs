//! Pictures in files: what a file's ending asks for.

use std::path::{Path, PathBuf};

use legwork_study::files;

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

/// Writes the text of a picture, which is an SVG if the file is to be a PNG, and says so. It is
/// none of the inputs.
pub(crate) fn write(path: &Path, picture: String, inputs: &[PathBuf]) -> Result<(), Failure> {
    files::refuse_input(path, inputs)?;
    let bytes = match ending(path)? {
        #[cfg(feature = "png")]
        "png" => legwork_picture::png(&picture)
            .map_err(|why| Failure::usage(format!("cannot write `{}`: {why}", path.display())))?,
        _ => picture.into_bytes(),
    };
    files::write(path, bytes)?;
    console::note(&format!("wrote {}", path.display()));
    Ok(())
}
