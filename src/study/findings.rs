//! What several compilations of one diagram found wrong, each mistake once.

use std::sync::Arc;

use legwork_block::{Diagnostic, Diagnostics, Label, Severity};
use legwork_diagram::render::{SourceMap, to_json};
use serde_json::{Value, json};

/// Most choices that are said of a mistake; JSON has them all.
const MOST_CHOICES: usize = 8;

/// Mistakes that are kept of all compilations together.
const MOST_FINDINGS: usize = 1000;

/// Diagnostics of several compilations of one diagram, each once.
#[derive(Debug, Default)]
pub struct Findings {
    list: Vec<Finding>,
    sources: Vec<Arc<SourceMap>>,
}

#[derive(Debug)]
struct Finding {
    diagnostic: Diagnostic,
    /// Index of the texts that it points into.
    sources: usize,
    /// The choices with which it was found, as `name=choice`; empty if it needs none.
    choices: Vec<String>,
}

impl Findings {
    /// Adds what one compilation found, with the choice it needed.
    pub(crate) fn add(
        &mut self,
        found: Diagnostics,
        sources: &Arc<SourceMap>,
        choice: Option<&str>,
    ) {
        let index = self.sources.len();
        self.sources.push(Arc::clone(sources));
        for diagnostic in found {
            let is_full = self.list.len() >= MOST_FINDINGS;
            let known = self.list.iter_mut().find(|known| {
                same(
                    &known.diagnostic,
                    &self.sources[known.sources],
                    &diagnostic,
                    &self.sources[index],
                )
            });
            match (known, choice) {
                (Some(known), Some(choice)) if !known.choices.is_empty() => {
                    known.choices.push(choice.to_owned());
                }
                (Some(_), _) => {}
                // Nobody reads so many; that there are errors is known.
                (None, _) if is_full => {}
                (None, choice) => self.list.push(Finding {
                    diagnostic,
                    sources: index,
                    choices: choice.into_iter().map(str::to_owned).collect(),
                }),
            }
        }
    }

    /// Changes where each is.
    pub(crate) fn relocate(&mut self, place: &dyn Fn(&mut Diagnostic, &SourceMap)) {
        for finding in &mut self.list {
            place(&mut finding.diagnostic, &self.sources[finding.sources]);
        }
    }

    /// Says of what all of `compilations` found that it needs no choice.
    pub(crate) fn forget_choices_of_all(&mut self, compilations: usize) {
        for finding in self.list.iter_mut().filter(|one| one.choices.len() == compilations) {
            finding.choices.clear();
        }
    }

    /// How many of this severity there are.
    pub fn count(&self, severity: Severity) -> usize {
        self.list.iter().filter(|finding| finding.diagnostic.severity == severity).count()
    }

    /// Each diagnostic with its sources; its message says the choices that it needs, each behind
    /// `option`.
    pub fn list(&self, option: &str) -> Vec<(Diagnostic, &SourceMap)> {
        let one = |finding: &Finding| {
            let mut diagnostic = finding.diagnostic.clone();
            if !finding.choices.is_empty() {
                let shown = &finding.choices[..finding.choices.len().min(MOST_CHOICES)];
                diagnostic.message += &format!(", with {option}{}", shown.join(" or "));
                let more = finding.choices.len() - shown.len();
                if more > 0 {
                    diagnostic.message += &format!(" or {more} more");
                }
            }
            diagnostic
        };
        self.list.iter().map(|finding| (one(finding), &*self.sources[finding.sources])).collect()
    }

    /// As a list, each with its choices.
    pub fn to_json(&self) -> Value {
        let one = |finding: &Finding| {
            let mut alone = Diagnostics::default();
            alone.push(finding.diagnostic.clone());
            let mut json = to_json(&alone, &self.sources[finding.sources])[0].take();
            json["choices"] = json!(finding.choices);
            json
        };
        self.list.iter().map(one).collect()
    }
}

/// Whether two compilations say the same. File ids differ between them, names do not.
fn same(a: &Diagnostic, a_sources: &SourceMap, b: &Diagnostic, b_sources: &SourceMap) -> bool {
    let label = |a: &Label, b: &Label| {
        (a.span.start, a.span.end, &a.text) == (b.span.start, b.span.end, &b.text)
            && a_sources.name(a.span.file) == b_sources.name(b.span.file)
    };
    (a.severity, a.code, &a.message, &a.hints) == (b.severity, b.code, &b.message, &b.hints)
        && label(&a.primary, &b.primary)
        && a.secondary.len() == b.secondary.len()
        && a.secondary.iter().zip(&b.secondary).all(|(a, b)| label(a, b))
}

#[cfg(test)]
mod tests {
    use legwork_block::Span;

    use super::*;

    #[test]
    fn what_is_wrong_whatever_the_choice_is_said_once() {
        let found = |messages: &[&str], files_before: usize| {
            let mut sources = SourceMap::default();
            for i in 0..files_before {
                sources.add(format!("<{i}>"), b"");
            }
            let file = sources.add("a.ron", b"Diagram()");
            let mut list = Diagnostics::default();
            for message in messages {
                list.push(Diagnostic::error(
                    legwork_block::code::SYNTAX,
                    Span::new(file, 0, 7),
                    *message,
                ));
            }
            (list, Arc::new(sources))
        };
        let mut findings = Findings::default();
        let (list, sources) = found(&["always"], 0);
        findings.add(list, &sources, None);
        let (list, sources) = found(&["always", "sometimes"], 1);
        findings.add(list, &sources, Some("qp=a"));
        let (list, sources) = found(&["sometimes"], 2);
        findings.add(list, &sources, Some("qp=b"));
        assert_eq!(findings.count(Severity::Error), 2);
        assert!(findings.list[0].choices.is_empty());
        assert_eq!(findings.list[1].choices, ["qp=a", "qp=b"]);
        assert_eq!(findings.to_json()[1]["choices"][1], "qp=b");
    }
}
