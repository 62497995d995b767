//! Mistakes in a diagram, collected: message, place, hint.
//!
//! A [`Diagnostic`] is data. The command renders it with the source line and a caret, editors take
//! it as JSON. Stages push into one [`Diagnostics`] and continue as far as possible.

use serde::{Deserialize, Serialize};

use crate::code::{self, Code};

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
    /// The kind of mistake.
    pub code: Code,
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
    /// The missing thing that it is about. Mistakes with one code about one subject are one
    /// mistake: the later places are added to the first.
    #[serde(skip)]
    pub subject: Option<String>,
}

impl Diagnostic {
    /// An error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            code,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            hints: Vec::new(),
            follows: false,
            subject: None,
        }
    }

    /// A warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
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

    /// States the missing thing that it is about.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.subject = Some(subject.into());
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

/// Everything found so far, in the order found, up to a number of mistakes that nobody reads.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
}

impl Diagnostics {
    /// How many are told; one more says that there are others.
    pub const MOST: usize = 200;

    /// Largest number of places of one mistake.
    const PLACES: usize = 8;

    /// Adds one, unless the very same is there already or it only follows from another. Those
    /// after the first [`Self::MOST`] are not listed one by one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if diagnostic.follows || self.list.contains(&diagnostic) {
            return;
        }
        let Diagnostic { code, severity, subject, primary, .. } = &diagnostic;
        let is_same = |one: &&mut Diagnostic| {
            subject.is_some()
                && (&one.subject, one.code, one.severity) == (subject, *code, *severity)
        };
        if let Some(first) = self.list.iter_mut().find(is_same) {
            if first.secondary.len() < Self::PLACES - 1 {
                first.secondary.push(Label { span: primary.span, text: "here too".to_owned() });
            }
            return;
        }
        let Some(last) = self.list.get_mut(Self::MOST) else {
            if self.list.len() < Self::MOST {
                self.list.push(diagnostic);
            } else {
                let message = format!("there are more than {} mistakes", Self::MOST);
                let more = Diagnostic::error(code::TOO_MANY, diagnostic.primary.span, message);
                let more = more.hint("mend those above first: the others are not shown");
                self.list.push(Diagnostic { severity: diagnostic.severity, ..more });
            }
            return;
        };
        if diagnostic.severity == Severity::Error {
            last.severity = Severity::Error;
        }
    }

    /// Changes those from `first` on, and leaves out what is then there already.
    pub fn change_from(&mut self, first: usize, mut change: impl FnMut(&mut Diagnostic)) {
        for mut diagnostic in self.list.split_off(first.min(self.list.len())) {
            change(&mut diagnostic);
            self.push(diagnostic);
        }
    }

    /// Leaves out what `is_same` says to be one mistake with another before it, and what `follows`
    /// from other errors, if there are any.
    pub fn thin_out(
        &mut self,
        is_same: impl Fn(&Diagnostic, &Diagnostic) -> bool,
        follows: impl Fn(&Diagnostic) -> bool,
    ) {
        let is_error = |one: &Diagnostic| one.severity == Severity::Error;
        let has_cause = self.list.iter().any(|one| is_error(one) && !follows(one));
        let mut kept: Vec<Diagnostic> = Vec::with_capacity(self.list.len());
        for one in std::mem::take(&mut self.list) {
            let is_told = kept.iter().any(|known| is_same(known, &one));
            let is_left_out = is_told || (has_cause && follows(&one));
            if !is_left_out {
                kept.push(one);
            }
        }
        self.list = kept;
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

/// Letters of the longest names that are compared: what is longer is no slip of the keyboard.
const LONGEST: usize = 64;
/// Letters of the shortest abbreviation.
const ABBREVIATION: usize = 3;
/// Comparisons of letters after which no more names are looked at.
const MOST_WORK: usize = 1 << 16;

/// The nearest of `names` to `found` by edit distance, if it is near enough to be a typing error:
/// at most a third of the longer word's letters changed, or equal without case. Of two letters one
/// may change, but not the first: `on` is no `in`. Otherwise it is the only name of which `found`
/// is the beginning, from three letters on. Of names of more than 64 letters none is near, and of
/// very many only the first are looked at.
pub fn nearest<'n>(found: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if found.len() > LONGEST {
        return None;
    }
    let mut longer = None;
    let mut longer_count = 0;
    let lower = |name: &str| name.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let wanted = lower(found);
    let mut best: Option<(usize, &str)> = None;
    let mut work = 0;
    for name in names.into_iter().filter(|name| name.len() <= LONGEST) {
        let near = found.len().max(name.len()).div_ceil(3);
        if found.len() >= ABBREVIATION && name.starts_with(found) {
            (longer, longer_count) = (Some(name), longer_count + 1);
        }
        // Of several that are as near the first one counts.
        let most = match best {
            Some((0, _)) => break,
            Some((distance, _)) => near.min(distance - 1),
            None => near,
        };
        let is_other = match (found.as_bytes(), name.as_bytes()) {
            ([a, b], [c, d]) => !a.eq_ignore_ascii_case(c) && b.eq_ignore_ascii_case(d),
            _ => false,
        };
        if is_other {
            continue;
        }
        work += name.len();
        if let Some(distance) = edit_distance(&wanted, &lower(name), most, &mut work) {
            best = Some((distance, name));
        }
        if work > MOST_WORK {
            break;
        }
    }
    best.map(|(_, name)| name).or(longer.filter(|_| longer_count == 1))
}

/// Edit distance with swaps of neighbours (optimal string alignment), if it is at most `most`;
/// counts the letters that are compared.
fn edit_distance(a: &[char], b: &[char], most: usize, work: &mut usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > most {
        return None;
    }
    // Row i stands at i modulo 3: the last two rows, and the one that is made.
    let mut rows = [[0u8; LONGEST * 3 + 1]; 3];
    if b.len() >= rows[0].len() {
        return None;
    }
    let width = b.len() + 1;
    (0u8..).zip(&mut rows[0][..width]).for_each(|(j, entry)| *entry = j);
    // Every later row has no less than the least of the last two.
    let mut least_of_last = 0;
    for i in 1..=a.len() {
        *work += b.len();
        rows[i % 3][0] = i as u8;
        let mut least = i as u8;
        for j in 1..width {
            let change = u8::from(a[i - 1] != b[j - 1]);
            let last = &rows[(i - 1) % 3];
            let mut best = (last[j] + 1).min(rows[i % 3][j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[(i - 2) % 3][j - 2] + 1);
            }
            rows[i % 3][j] = best;
            least = least.min(best);
        }
        if usize::from(least.min(least_of_last)) > most {
            return None;
        }
        least_of_last = least;
    }
    Some(usize::from(rows[a.len() % 3][b.len()])).filter(|distance| *distance <= most)
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
        assert_eq!(nearest("expr", ["lengths", "expression"]), Some("expression"));
        assert_eq!(nearest("pos", ["position_x", "position_y"]), None);
        assert_eq!(nearest("kp", ["KP", "kp"]), Some("KP"), "the first of those that are as near");
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = "a".repeat(LONGEST + 1);
        assert_eq!(nearest(&long, [long.as_str()]), None);
        assert_eq!(nearest("a", [long.as_str()]), None);
        let mut looked_at = 0;
        let names = vec!["abcdefghijklmnopqrst"; 100_000];
        let near = nearest("tsrqponmlkjihgfedcba", names.into_iter().inspect(|_| looked_at += 1));
        assert_eq!(near, None);
        assert!(looked_at < 5000, "{looked_at}");
    }

    #[test]
    fn places_of_one_mistake_are_together() {
        let mut all = Diagnostics::default();
        for (i, name) in ["a", "b", "a", "a"].into_iter().enumerate() {
            let span = Span::new(FileId(0), i, i);
            all.push(Diagnostic::error(code::UNKNOWN_BLOCK, span, name).about(name));
        }
        let found: Vec<_> = all.iter().map(|one| (&*one.message, one.secondary.len())).collect();
        assert_eq!(found, [("a", 2), ("b", 0)]);
    }

    #[test]
    fn the_last_of_very_many_says_that_there_are_more() {
        let mut all = Diagnostics::default();
        let span = |i| Span::new(FileId(0), i, i);
        for i in 0..2 * Diagnostics::MOST {
            all.push(Diagnostic::warning(code::SYNTAX, span(i), "message"));
        }
        assert_eq!(all.len(), Diagnostics::MOST + 1);
        assert!(!all.has_errors());
        all.push(Diagnostic::error(code::SYNTAX, span(0), "an error"));
        assert_eq!(all.len(), Diagnostics::MOST + 1);
        assert!(all.has_errors(), "one that is not told counts");
    }
}
