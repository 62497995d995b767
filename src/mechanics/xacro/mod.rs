//! xacro: the macro language of robot files. Text → text without macros.
//!
//! ```text
//! text ──xml──► nodes ──expand──► nodes ──write──► URDF text, and where each line came from
//!                        │ scopes: properties, macros
//!                        └ text ──parse, evaluate──► values of ${…}
//! ```
//!
//! Properties (lazy, in blocks, with scopes), macros with defaults and blocks, conditionals,
//! includes with namespaces, arguments, YAML files, and the expressions of Python that robot files
//! use. The length of an expansion is bounded by that of the input, and no file is opened here.
//!
//! Reference: the ROS package `xacro`, version 2; where that runs any Python, this knows a list of
//! functions.

mod evaluate;
mod expand;
mod extension;
mod functions;
mod iterate;
mod methods;
mod numbers;
mod operate;
mod parse;
mod scopes;
mod tokens;
mod value;
mod write;
mod yaml;

use std::collections::BTreeMap;

/// Why a file cannot be expanded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}: line {line}: {problem}")]
pub struct XacroError {
    /// The file, as it was named.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// What was expected and found.
    pub problem: String,
    /// True if an included or loaded file cannot be read.
    pub is_unread: bool,
}

/// Reads a file that is included, by the name in the file and the file that includes it; gives its
/// own name and its text.
pub type ReadIncluded<'a> = dyn Fn(&str, &str) -> Result<(String, String), String> + 'a;

/// What a file is expanded with.
pub struct XacroOptions<'a> {
    /// The name of the file, for messages and for what it includes.
    pub file: &'a str,
    /// Arguments, `$(arg NAME)`, in place of their defaults.
    pub arguments: &'a BTreeMap<String, String>,
    /// Reads what is included.
    pub read: &'a ReadIncluded<'a>,
}

/// A robot file without macros.
#[derive(Clone, Debug)]
pub struct Expanded {
    /// URDF, an element a line.
    pub text: String,
    /// The files that were read; the first is that of the robot.
    pub files: Vec<String>,
    /// Arguments that the file has; those given must be among them.
    pub arguments: Vec<String>,
    /// File and line that each line of the text came from.
    origins: Vec<(usize, usize)>,
}

impl Expanded {
    /// The file and the line in it that a line of the text came from; both count lines from 1.
    #[must_use]
    pub fn origin(&self, line: usize) -> (&str, usize) {
        let &(file, line) = self.origins.get(line.wrapping_sub(1)).unwrap_or(&(0, 1));
        (self.files.get(file).map_or("", String::as_str), line)
    }
}

/// Whether a robot file has macros, or expressions in the attributes of a file that declares them.
#[must_use]
pub fn is_xacro(text: &str) -> bool {
    let has_expressions = || text.contains("${") || text.contains("$(");
    text.contains("<xacro:") || (text.contains("xmlns:xacro") && has_expressions())
}

/// Expands a file.
///
/// `$(find PACKAGE)` gives `package://PACKAGE`, which [`resolve_package`](crate::resolve_package)
/// finds.
///
/// # Errors
/// [`XacroError`] at the first element that cannot be expanded, or if the expansion is too large.
pub fn expand_xacro(text: &str, options: &XacroOptions<'_>) -> Result<Expanded, XacroError> {
    expand::expand(text, options)
}
