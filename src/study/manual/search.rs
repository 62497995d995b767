//! Finds kinds by words of their manuals.
//!
//! Words match the beginnings of words, whatever their case, so that `aba` does not find
//! "probable". A name such as `JointPd` is several words and one. A plural finds the singular.

use legwork_block::Registry;
use serde::Serialize;

use super::{Manual, Section, manuals, text};

/// A kind whose manual holds all words.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// Name in diagrams.
    pub kind: &'static str,
    /// Name of its shelf.
    pub shelf: &'static str,
    /// Section of a diagram that it is written in.
    pub section: Section,
    /// First sentence of its documentation.
    pub summary: String,
    /// How well it matches: the sum over the words, in points without a unit.
    pub score: u32,
    /// The best place of every word, each place once.
    pub matches: Vec<Match>,
}

/// A place in a manual.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Match {
    /// Part of the manual: `kind`, `alias`, `summary`, `shelf`, `parameter`, `input`, `output`,
    /// `need` or `doc`.
    pub part: &'static str,
    /// The line.
    pub line: String,
}

/// The kinds whose manuals hold every word of `words`, best first; of equals by name.
pub fn search(words: &str, registry: &Registry) -> Vec<Hit> {
    search_among(words, &manuals(registry))
}

/// The kinds that are also called `name`, as their manuals say: `jump` is `Step`.
pub fn also_called(name: &str, registry: &Registry) -> Vec<&'static str> {
    let words = tokens(name);
    let is_alias = |manual: &Manual| manual.aliases.iter().any(|alias| tokens(alias) == words);
    let manuals = manuals(registry);
    manuals.iter().filter(|manual| is_alias(manual)).map(|manual| manual.kind).collect()
}

/// As [`search`], among manuals that were made before: for many searches.
pub fn search_among(words: &str, manuals: &[Manual]) -> Vec<Hit> {
    let words = tokens(words);
    if words.is_empty() {
        return Vec::new();
    }
    let mut hits: Vec<Hit> = manuals.iter().filter_map(|manual| hit(&words, manual)).collect();
    hits.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.kind.cmp(b.kind)));
    hits
}

/// What a manual says to the words; none if it lacks one.
fn hit(words: &[String], manual: &Manual) -> Option<Hit> {
    let places = places(manual);
    let mut score = called_so(manual, words);
    let mut matches: Vec<Match> = Vec::new();
    for word in words {
        let rated = places.iter().map(|place| (place.rate(word), place));
        // The first of equals: places are in the order of the manual.
        let (points, best) = rated.rev().max_by_key(|(points, _)| *points)?;
        if points == 0 {
            return None;
        }
        score += points;
        let found = Match { part: best.part, line: best.line.clone() };
        if !matches.contains(&found) {
            matches.push(found);
        }
    }
    let Manual { kind, shelf, section, .. } = *manual;
    Some(Hit { kind, shelf, section, summary: manual.summary.clone(), score, matches })
}

/// Points for a kind whose name, or else an alias, consists of just the words: more than all other
/// matches together.
fn called_so(manual: &Manual, words: &[String]) -> u32 {
    if words == [manual.kind.to_lowercase()] || tokens(manual.kind) == words {
        2000
    } else if manual.aliases.iter().any(|alias| tokens(alias) == words) {
        1000
    } else {
        0
    }
}

/// A line of a manual with its words and what a match in it is worth.
struct Place {
    part: &'static str,
    line: String,
    words: Vec<String>,
    weight: u32,
}

impl Place {
    fn new(part: &'static str, weight: u32, searched: &str, line: impl Into<String>) -> Self {
        Self { part, line: line.into(), words: tokens(searched), weight }
    }

    /// Points for a word: an equal word counts more than one that begins so.
    fn rate(&self, word: &str) -> u32 {
        // The stem of a plural; short words are left alone.
        let stem = match word.strip_suffix('s') {
            Some(stem) if stem.len() > 3 => stem,
            _ => word,
        };
        let single = word.chars().nth(1).is_none();
        let quality = self.words.iter().map(|known| {
            if known == word {
                3
            } else if !single && known.starts_with(stem) {
                2
            } else {
                0
            }
        });
        quality.max().unwrap_or(0) * self.weight
    }
}

/// Everything that is searched, in the order of the manual.
fn places(manual: &Manual) -> Vec<Place> {
    let mut places = vec![
        Place::new("kind", 60, manual.kind, manual.kind),
        Place::new("summary", 12, &manual.summary, manual.summary.as_str()),
        Place::new("shelf", 8, manual.shelf, manual.shelf),
    ];
    places[0].words.push(manual.kind.to_lowercase());
    for alias in &manual.aliases {
        places.push(Place::new("alias", 40, alias, alias.as_str()));
    }
    for line in manual.doc.lines() {
        let shown = line.trim().trim_start_matches("| ").trim_end_matches(" |");
        places.push(Place::new("doc", 2, line, shown));
    }
    for parameter in &manual.parameters {
        let head = text::head(parameter);
        places.push(Place::new("parameter", 6, &parameter.name, head.as_str()));
        places.push(Place::new("parameter", 3, &head, head.as_str()));
        for line in parameter.doc.lines() {
            places.push(Place::new("parameter", 3, line, format!("{}: {line}", parameter.name)));
        }
    }
    if let Some(ports) = &manual.ports {
        let inputs = ports.inputs.iter().map(|input| ("input", &input.port));
        let outputs = ports.outputs.iter().map(|output| ("output", &output.port));
        for (part, port) in inputs.chain(outputs) {
            let doc = port.doc.lines().next().unwrap_or_default();
            let line = format!("{}: {}, {doc}", port.name, port.ty);
            places.push(Place::new(part, 6, &port.name, line.as_str()));
            places.push(Place::new(part, 4, &line, line.as_str()));
        }
        for function in &ports.needs {
            let line = format!("{}: {}", function.name, function.ty);
            places.push(Place::new("need", 4, &line, line.as_str()));
        }
    }
    places
}

/// The words of a text in lower case: runs of letters and digits, taken apart where a capital
/// follows a small letter.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut token = String::new();
    let mut small_before = false;
    for letter in text.chars() {
        let begins = letter.is_uppercase() && small_before;
        if (begins || !letter.is_alphanumeric()) && !token.is_empty() {
            tokens.push(std::mem::take(&mut token));
        }
        if letter.is_alphanumeric() {
            token.extend(letter.to_lowercase());
        }
        small_before = letter.is_lowercase();
    }
    if !token.is_empty() {
        tokens.push(token);
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart_at_capitals_and_signs() {
        assert_eq!(
            tokens("JointPd, DotJNu: Vector(3*n)"),
            ["joint", "pd", "dot", "jnu", "vector", "3", "n"]
        );
    }

    #[test]
    fn words_match_beginnings_and_equal_words_count_more() {
        let place = Place::new("doc", 1, "Torques are probable", "");
        assert_eq!(place.rate("torques"), 3);
        assert_eq!(place.rate("torque"), 2);
        assert_eq!(place.rate("aba"), 0);
        let singular = Place::new("doc", 1, "a torque", "");
        assert_eq!(singular.rate("torques"), 2);
        assert_eq!(singular.rate("t"), 0);
    }
}
