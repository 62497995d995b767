//! Folders among the files of a command line.

use std::path::PathBuf;

use legwork_study::{Below, diagrams_below};

use super::answer::Failure;
use super::console;
use super::summary::counted;

/// The files, and in place of each folder the diagrams below it. Standard error says what else is
/// there.
///
/// # Errors
/// If a folder cannot be read, or holds no diagram.
pub(crate) fn spread(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for file in files {
        if !file.is_dir() {
            all.push(file.clone());
            continue;
        }
        let name = file.display();
        let Below { diagrams, others } = diagrams_below(file)
            .map_err(|error| Failure::usage(format!("cannot read the folder `{name}`: {error}")))?;
        let count: usize = others.values().sum();
        if count > 0 {
            let kinds: Vec<String> =
                others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
            let files = counted(count as u64, "file");
            let text =
                format!("left out below `{name}`: {files} of another kind, {}", kinds.join(", "));
            console::note(&text);
        }
        if diagrams.is_empty() {
            return Err(Failure::usage(format!("the folder `{name}` holds no diagram (*.ron)")));
        }
        all.extend(diagrams);
    }
    Ok(all)
}
