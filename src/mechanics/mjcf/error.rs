//! What can be wrong with a model of MuJoCo.

use std::fmt;

/// One thing that is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MjcfError {
    /// The file, as it was named.
    pub file: String,
    /// From 1; 0 if the file as a whole is wrong.
    pub line: usize,
    /// In characters, from 1; 0 if the file as a whole is wrong.
    pub column: usize,
    /// What was expected and found.
    pub problem: String,
    /// Advice.
    pub hint: Option<String>,
    /// The line of the file and a caret under the column.
    pub excerpt: String,
}

impl MjcfError {
    /// The file as a whole is wrong.
    pub(super) fn of_file(file: &str, problem: String) -> Self {
        let file = file.to_owned();
        Self { file, line: 0, column: 0, problem, hint: None, excerpt: String::new() }
    }

    /// At a byte of a text.
    pub(super) fn located(
        file: &str,
        text: &str,
        at: usize,
        problem: String,
        hint: Option<String>,
    ) -> Self {
        let mut at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        let before = &text[..at];
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let rest = &text[start..];
        let line_text = rest.lines().next().unwrap_or("");
        let column = before[start..].chars().count() + 1;
        // A file without line ends is not printed as a whole.
        const WIDTH: usize = 100;
        let skipped = column.saturating_sub(WIDTH / 2);
        let shown: String = line_text.chars().skip(skipped).take(WIDTH).collect();
        let shown = shown.replace('\t', " ");
        let caret = " ".repeat(column - 1 - skipped.min(column - 1));
        Self {
            file: file.to_owned(),
            line: before.bytes().filter(|&byte| byte == b'\n').count() + 1,
            column,
            problem,
            hint,
            excerpt: format!("{shown}\n{caret}^"),
        }
    }
}

impl fmt::Display for MjcfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.problem),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.problem),
        }
    }
}

/// All that is wrong with a model, up to twenty things; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MjcfErrors(pub Vec<MjcfError>);

impl MjcfErrors {
    pub(super) fn one(error: MjcfError) -> Self {
        Self(vec![error])
    }
}

impl fmt::Display for MjcfErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            let gap = if i == 0 { "" } else { "\n" };
            write!(f, "{gap}{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for MjcfErrors {}
