//! What paths lead to in a diagram, as far as it is known: also of one that has mistakes. It is for
//! who writes diagrams; what runs is made by [`compile`](crate::compile()) alone.

use legwork_block::{Registry, Type};
use std::path::Path;

use crate::compile::{Compiled, front};
use crate::loader::ReadFile;
use crate::overrides::Options;
use crate::unify::readable;

/// A name that paths can begin with: a block, a part, a for-each, an input `^u`.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownPart {
    /// Its whole path: `foot[FL_foot].point`, `contact.^state`.
    pub path: String,
    /// The kind, if it is a block.
    pub kind: Option<&'static str>,
    /// The ports of a block that it reads.
    pub inputs: Vec<KnownPort>,
    /// What can be read of it. The one output of an input `^u` has an empty name.
    pub outputs: Vec<KnownPort>,
}

/// A port, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownPort {
    /// Its name.
    pub name: String,
    /// Its type, with variables for what is not known.
    pub ty: Type,
    /// Its unit, if one is known that all its numbers have.
    pub unit: Option<String>,
    /// The frame in whose axes it is written.
    pub frame: Option<String>,
    /// What it is.
    pub doc: String,
}

impl KnownPort {
    /// Its type as text: `Vector(any)` if its size is not known.
    pub fn type_text(&self) -> String {
        readable(&self.ty)
    }
}

/// Compiles a diagram as [`compile`](crate::compile()) does, and says what its paths lead to.
///
/// Nothing is known of a text that is no RON, or no diagram.
pub fn survey(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    disk: &dyn ReadFile,
) -> (Compiled, Vec<KnownPart>) {
    let mut known = Vec::new();
    let compiled = front(path, text, options, registry, disk, Some(&mut known));
    (compiled, known)
}
