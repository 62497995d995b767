//! Files of the user: what is read is bounded, what is written appears whole or not at all.
//!
//! Everything that a request reads goes through [`read`], what a diagram names through [`Roots`];
//! everything that it writes goes through [`Output`], whose file takes its name by renaming, and
//! never through a symbolic link. A recording takes its name as soon as its head is written and
//! grows from then on, so that it is readable whenever its run is killed. [`Lock`] keeps two runs
//! out of one directory. Files survive a kill of the process; against a loss of power they are not
//! synchronised.

mod lock;
mod output;
mod read;
mod roots;

pub use lock::Lock;
pub(crate) use output::remove_parts;
pub use output::{Output, point, refuse_input, write};
pub use read::{RECORDING_LIMIT, SIZE_LIMIT, read, read_after, read_regular, read_text};
pub(crate) use roots::Allowed;
pub use roots::{PROJECT, Roots};

use std::io;
use std::path::Path;

use crate::error::{Error, ErrorKind};

/// A file that cannot be written, as an error: what names no place that can be written is a mistake
/// of the request, all else, such as a full disk, one of the machine.
pub fn cannot_write(path: &Path, error: &io::Error) -> Error {
    use io::ErrorKind as Io;
    let kind = match error.kind() {
        Io::NotFound
        | Io::PermissionDenied
        | Io::AlreadyExists
        | Io::NotADirectory
        | Io::IsADirectory
        | Io::InvalidInput
        | Io::InvalidFilename
        | Io::ReadOnlyFilesystem => ErrorKind::Request,
        _ => ErrorKind::Output,
    };
    Error::new(kind, format!("cannot write `{}`: {error}", path.display()))
}
