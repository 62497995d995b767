//! What paths lead to in a diagram, as far as it is known: also of one that has mistakes. It is for
//! who writes diagrams; what runs is made by [`compile`](crate::compile()) alone.

use std::path::Path;

use legwork_block::{Diagnostic, Diagnostics, FileId, Registry, Type, code};

use crate::compile::{Compiled, front};
use crate::document;
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

/// What a survey is to find.
pub(crate) struct Surveyed<'s> {
    /// What paths lead to.
    pub(crate) known: &'s mut Vec<KnownPart>,
    /// What stands for the robots of a mask, as it is written in `robots:`.
    pub(crate) robot: &'s str,
}

/// Compiles a diagram as [`compile`](crate::compile()) does, and says what its paths lead to.
///
/// The file of a mask, or a patch, is looked at by itself: what is found is wrong with it whoever
/// uses it. For a mask's robots stand `robots`, each written as in the section `robots:`, one after
/// the other: what is wrong for one of them alone is no mistake of the mask.
///
/// Nothing is known of a text that is no RON, or none of these.
pub fn survey(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    disk: &dyn ReadFile,
    robots: &[&str],
) -> (Compiled, Vec<KnownPart>) {
    let survey = |robot| {
        let mut known = Vec::new();
        let surveyed = Surveyed { known: &mut known, robot };
        (front(path, text, options, registry, disk, Some(surveyed)), known)
    };
    let (first, others) = robots.split_first().map_or(("", &[][..]), |(one, rest)| (*one, rest));
    let (mut compiled, known) = survey(first);
    let is_mask = document::begins_with(text, "Mask");
    if !is_mask && !document::begins_with(text, "Patch") {
        return (compiled, known);
    }
    let mut found = Diagnostics::default();
    found.extend(compiled.diagnostics.into_iter().filter(|one| is_own(one, text, is_mask)));
    let others = if is_mask { others } else { &[] };
    for robot in others {
        if found.is_empty() {
            break;
        }
        let (other, _) = survey(robot);
        let is_common = |one: &Diagnostic| {
            let same = |other: &Diagnostic| {
                (other.code, other.primary.span) == (one.code, one.primary.span)
            };
            other.diagnostics.iter().any(same)
        };
        let common: Vec<Diagnostic> = found.into_iter().filter(is_common).collect();
        found = Diagnostics::default();
        found.extend(common);
    }
    compiled.diagnostics = found;
    (compiled, known)
}

/// Whether a diagnostic is about a mask or a patch of this text by itself: not about files whose
/// names are read from where its user is, nor about types that its user decides or declares, nor
/// about names of the diagram that a patch is for.
fn is_own(found: &Diagnostic, text: &[u8], is_mask: bool) -> bool {
    let span = found.primary.span;
    let written = || text.get(span.start as usize..span.end as usize).unwrap_or_default();
    match found.code {
        _ if span.file != FileId::default() => false,
        code::MISSING_FILE => written().starts_with(b"\"std:"),
        code::UNKNOWN_TYPE | code::UNKNOWN_BUS => false,
        code::UNKNOWN_NAME => is_mask,
        _ => true,
    }
}
