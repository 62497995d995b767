//! What can be wrong with a mesh file.

/// Why a file is no mesh.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// The ending of the name is that of no format that is read.
    #[error("`{name}` has no ending that tells its format; read are {}", super::Format::ENDINGS)]
    UnknownFormat {
        /// Name of the file.
        name: String,
    },
    /// A line of a text cannot be read.
    #[error("line {line}: {message}")]
    Line {
        /// From 1.
        line: usize,
        /// What was expected, what was found.
        message: String,
    },
    /// Bytes do not follow the format.
    #[error("{message}")]
    Malformed {
        /// What was expected, what was found.
        message: String,
    },
    /// It reads what it names from another file, which is not there.
    #[error("it names `{name}`, which cannot be read: {why}")]
    Beside {
        /// The name in the file.
        name: String,
        /// The reason.
        why: String,
    },
    /// More triangles than [`MOST_TRIANGLES`](super::MOST_TRIANGLES).
    #[error("it has more than {} triangles", super::MOST_TRIANGLES)]
    TooLarge,
    /// There is no triangle in it.
    #[error("it has no triangles")]
    Empty,
}

impl MeshError {
    /// Bytes that do not follow the format.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::Malformed { message: message.into() }
    }

    /// A line that cannot be read.
    pub(crate) fn line(line: usize, message: impl Into<String>) -> Self {
        Self::Line { line, message: message.into() }
    }
}
