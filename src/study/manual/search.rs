//! Finds kinds by words of their manuals, and built-in files by words of their names and docs.
//!
//! Words match the beginnings of words, whatever their case, so that `aba` does not find
//! "probable". A name such as `JointPd` is several words and one. A plural finds the singular.

use legwork_block::Registry;
use serde::Serialize;

use super::{BuiltIn, Manual, Section, built_in, manuals, text};

/// A kind whose manual holds all words, or a built-in file whose name and doc do.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// Name in diagrams: `Gain`, `std:masks/low_pass.ron`.
    pub kind: String,
    /// Name of its shelf, or folder.
    pub shelf: String,
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

/// The kinds and the built-in files whose manuals hold every word of `words`, best first; of equals
/// by name. Those that hold all of them in name and summary are above the others.
pub fn search(words: &str, registry: &Registry) -> Vec<Hit> {
    let mut hits = search_among(words, &manuals(registry));
    let words = tokens(words);
    hits.extend(told(registry).iter().filter_map(|file| file_hit(&words, file)));
    best_first(&mut hits);
    hits
}

/// The kinds that are also called `name`, as their manuals say, and the built-in files of this
/// name: `jump` is `Step`, `go2` is `std:robots/go2.ron`.
pub fn also_called(name: &str, registry: &Registry) -> Vec<String> {
    let words = tokens(name);
    let is_alias = |manual: &Manual| manual.aliases.iter().any(|alias| tokens(alias) == words);
    let manuals = manuals(registry);
    let kinds = manuals.iter().filter(|manual| is_alias(manual));
    let files = told(registry).into_iter().filter(|file| tokens(file.stem()) == words);
    kinds.map(|manual| manual.kind.to_owned()).chain(files.map(|file| file.file)).collect()
}

/// The built-in files that say something about themselves.
fn told(registry: &Registry) -> Vec<BuiltIn> {
    built_in("", registry).into_iter().filter(|file| !file.doc.is_empty()).collect()
}

/// As [`search`], among manuals that were made before: for many searches.
pub fn search_among(words: &str, manuals: &[Manual]) -> Vec<Hit> {
    let words = tokens(words);
    let mut hits: Vec<Hit> = manuals.iter().filter_map(|manual| hit(&words, manual)).collect();
    best_first(&mut hits);
    hits
}

fn best_first(hits: &mut [Hit]) {
    hits.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.kind.cmp(&b.kind)));
}

/// What a manual says to the words; none if it lacks one.
fn hit(words: &[String], manual: &Manual) -> Option<Hit> {
    let (score, matches) = matches(words, &places(manual))?;
    let Manual { kind, shelf, section, .. } = *manual;
    Some(Hit {
        kind: kind.to_owned(),
        shelf: shelf.to_owned(),
        section,
        summary: manual.summary.clone(),
        score: score + called_so(manual, words),
        matches,
    })
}

/// What a built-in file says to the words; none if it lacks one.
fn file_hit(words: &[String], file: &BuiltIn) -> Option<Hit> {
    let (stem, doc) = (file.stem(), file.doc.lines());
    let mut places = vec![
        Place::new("kind", 60, stem, stem),
        Place::new("summary", 12, &file.summary, file.summary.as_str()),
        Place::new("shelf", 8, file.folder(), file.folder()),
    ];
    places.extend(doc.map(|line| Place::new("doc", 2, line, line)));
    let (score, matches) = matches(words, &places)?;
    Some(Hit {
        kind: file.file.clone(),
        shelf: file.folder().to_owned(),
        section: Section::Files,
        summary: file.summary.clone(),
        score: score + if tokens(stem) == words { NAMED } else { 0 },
        matches,
    })
}

/// Points and places of the words; none if one of them is nowhere.
fn matches(words: &[String], places: &[Place]) -> Option<(u32, Vec<Match>)> {
    if words.is_empty() {
        return None;
    }
    let mut score = 0;
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
    let is_head = |found: &Match| ["kind", "alias", "summary"].contains(&found.part);
    if matches.iter().all(is_head) {
        score += IN_HEAD;
    }
    Some((score, matches))
}

/// Points for a name that consists of just the words: more than all other matches together.
const NAMED: u32 = 4000;
/// Points for an alias that does.
const CALLED: u32 = 2000;
/// Points where names and summary hold all words, which are not scattered over a long text then.
const IN_HEAD: u32 = 1000;

/// Points for a kind whose name, or else an alias, consists of just the words.
fn called_so(manual: &Manual, words: &[String]) -> u32 {
    if words == [manual.kind.to_lowercase()] || tokens(manual.kind) == words {
        NAMED
    } else if manual.aliases.iter().any(|alias| tokens(alias) == words) {
        CALLED
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
