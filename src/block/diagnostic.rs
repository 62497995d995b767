//! Mistakes in a diagram, collected: message, place, hint.
//!
//! A [`Diagnostic`] is data. The command renders it with the source line and a caret, editors take
//! it as JSON. Stages push into one [`Diagnostics`] and continue as far as possible.

use serde::{Deserialize, Serialize};

/// A file of one compilation, an index into its list of sources.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct FileId(pub u32);

/// A range of bytes in one source file.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Default,
)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A span of `file` from byte `start` to byte `end`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        Self { file, start: start as u32, end: end as u32 }
    }

    /// The part `start..end`, counted from this span's first byte.
    #[must_use]
    pub fn part(self, start: usize, end: usize) -> Self {
        Self::new(self.file, self.start as usize + start, self.start as usize + end)
    }
}

/// Severity. An error keeps the diagram from running, a warning does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The diagram cannot run.
    Error,
    /// The diagram runs, but probably not as intended.
    Warning,
}

/// A place with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Label {
    /// The place.
    pub span: Span,
    /// The text at this place; may be empty.
    pub text: String,
}

/// One mistake: what was expected, what was found, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// Error or warning.
    pub severity: Severity,
    /// Stable kebab-case name of the kind of mistake, such as `unknown-port`.
    pub code: &'static str,
    /// One sentence in lower case: what was expected, what was found.
    pub message: String,
    /// The place of the mistake.
    pub primary: Label,
    /// Other places that explain it, such as the first of two drivers.
    pub secondary: Vec<Label>,
    /// What to do, in the imperative.
    pub hints: Vec<String>,
    /// Whether it only follows from a mistake that is reported already. [`Diagnostics`] leaves such
    /// a one out.
    #[serde(skip)]
    pub follows: bool,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            hints: Vec::new(),
            follows: false,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// Adds text at the primary place.
    #[must_use]
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn hint(mut self, text: impl Into<String>) -> Self {
        self.hints.push(text.into());
        self
    }

    /// Adds "did you mean" advice if one of `names` is near `found`.
    #[must_use]
    pub fn suggest<'n>(self, found: &str, names: impl IntoIterator<Item = &'n str>) -> Self {
        match nearest(found, names) {
            Some(name) => self.hint(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// Everything found so far, in the order found.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one, unless the very same is there already or it only follows from another.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !diagnostic.follows && !self.list.contains(&diagnostic) {
            self.list.push(diagnostic);
        }
    }

    /// Adds many.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        for diagnostic in more {
            self.push(diagnostic);
        }
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

/// The nearest of `names` to `found` by edit distance, if it is near enough to be a typing error:
/// at most a third of the longer word's letters changed, or equal without case. Of two letters one
/// may change, but not the first: `on` is no `in`.
pub fn nearest<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let found_lower = found.to_lowercase();
    names
        .into_iter()
        .map(|name| (edit_distance(&found_lower, &name.to_lowercase()), name))
        .filter(|(distance, name)| *distance <= found.len().max(name.len()).div_ceil(3))
        .filter(|(_, name)| match (found.as_bytes(), name.as_bytes()) {
            ([a, b], [c, d]) => a.eq_ignore_ascii_case(c) || !b.eq_ignore_ascii_case(d),
            _ => true,
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Edit distance with swaps of neighbours (optimal string alignment), in characters.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    for (j, cell) in rows[0].iter_mut().enumerate() {
        *cell = j;
    }
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_finds_a_slip_of_the_keyboard_and_nothing_far() {
        let names = ["position", "velocity", "s_dot", "kp"];
        assert_eq!(nearest("postion", names), Some("position"));
        assert_eq!(nearest("Velocity", names), Some("velocity"));
        assert_eq!(nearest("s_dto", names), Some("s_dot"));
        assert_eq!(nearest("frobnicate", names), None);
        assert_eq!(nearest("kd", names), Some("kp"));
        assert_eq!(nearest("on", ["in", "by"]), None);
        assert_eq!(nearest("og", ["go", "no"]), Some("go"));
    }
}
