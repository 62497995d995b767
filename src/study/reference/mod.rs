//! The reference of the language: a page for each subject, with an example that runs.
//!
//! A page is a text under `pages/` that explains. What can be listed it does not say itself: a line
//! `{{functions}}` becomes the table that the evaluator uses, `{{construct ForEach}}` the comments
//! of the type that the compiler reads, `{{example for_each.ron}}` a file of `examples/`, which is
//! built in as `std:help/for_each.ron` and opens as `help:for_each`.

mod fill;
#[cfg(test)]
mod tests;

use std::fmt::{self, Display, Formatter};

use legwork_block::Registry;
use serde::Serialize;

/// A page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// Its name: `legwork help NAME`.
    pub name: &'static str,
    /// What else leads to it: constructs, words.
    pub also: Vec<&'static str>,
    /// Its heading.
    pub title: String,
    /// Its text, in order.
    pub parts: Vec<Part>,
}

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// Markdown.
    Text(String),
    /// A whole file.
    Example(Example),
}

/// A file that a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Its name, such as `for_each.ron`.
    pub file: &'static str,
    /// Its path among the built-in files.
    #[serde(skip)]
    path: &'static str,
    /// What is in it.
    pub text: &'static str,
}

impl Example {
    /// Whether it is a diagram, which runs.
    pub fn is_diagram(&self) -> bool {
        self.file.ends_with(".ron")
    }
}

/// A page before it is filled: its name, what else leads to it, its text.
type Source = (&'static str, &'static [&'static str], &'static str);

macro_rules! sources {
    ($($name:literal [$($also:literal),*],)*) => {
        [$(($name, &[$($also),*], include_str!(concat!("pages/", $name, ".md"))),)*]
    };
}

/// All pages, in the order in which they are best read.
const SOURCES: [Source; 36] = sources![
    "start" ["tutorial", "introduction", "getting started"],
    "diagram" ["Diagram", "file", "format", "syntax", "ron", "sections"],
    "blocks" ["Kind", "in", "wires", "paths", "signals", "connect"],
    "params" ["Param", "parameters"],
    "expressions" ["operators", "functions of expressions", "if"],
    "units" ["quantities", "prefixes", "radian"],
    "types" ["shapes", "Vector", "Matrix", "Int", "integer", "whole number", "Bool", "Array"],
    "run" ["DormandPrince", "stop", "step", "seed", "memory", "warn", "solver", "integration"],
    "rates" ["multirate", "every", "Group", "periods", "sampling", "offset", "order of a step"],
    "checks" ["Always", "Eventually", "Finally", "tests", "margin", "tolerance"],
    "judge" ["Metric", "metrics", "verdicts", "Mean of a run", "FirstTime"],
    "recordings" ["log", "record", "mcap", "results"],
    "subsystem" ["Subsystem", "groups"],
    "ports" ["Port", "Optional", "inputs", "outputs", "interface of a part"],
    "parts" ["diagrams in diagrams", "sub-diagrams", "nested diagrams"],
    "masks" ["Mask", "holes", "Real", "parameters of a mask"],
    "variants" ["Variant", "Choices", "Use", "choices", "alternatives"],
    "interfaces" ["Interface", "shared ports"],
    "for_each" ["ForEach", "copies", "loop over", "collect", "share"],
    "enabled" ["Enabled", "conditional parts", "when_on", "when_off"],
    "triggered" ["Triggered", "edge"],
    "events" ["event", "zero crossings", "reset", "restitution", "bounce", "hybrid", "jumps"],
    "every" ["Every"],
    "machines" ["StateMachine", "state machines", "statechart", "states", "transitions", "phases"],
    "functions" ["Function", "needs", "calls", "fn"],
    "buses" ["Field", "Bus"],
    "loops" ["algebraic loops", "feedthrough", "cycle"],
    "robots" ["Robot", "robot models", "mujoco", "keyframes", "facts"],
    "ground" ["on the ground", "feet", "standing"],
    "patches" ["Patch", "set", "overrides", "with"],
    "linear" ["linearize", "poles", "zeros", "margins", "linear analysis", "eigenvalues"],
    "design" ["lqr", "kalman", "place", "pole placement", "gains", "estimates"],
    "fitting" ["fit", "identification", "system identification", "measurement", "least squares"],
    "sensitivity" ["gradient", "slopes", "derivatives of metrics", "optimisation"],
    "studies" ["Study", "Expect", "Plot", "experiments", "sweep", "axes"],
    "words" ["glossary", "simulink", "drake", "pinocchio", "ros", "other tools", "translation"],
];

macro_rules! examples {
    ($($file:literal,)*) => {
        [$(Example {
            file: $file,
            path: concat!("help/", $file),
            text: include_str!(concat!("examples/", $file)),
        },)*]
    };
}

/// The files that the pages show.
pub const EXAMPLES: [Example; 42] = examples![
    "start.ron",
    "diagram.ron",
    "blocks.ron",
    "params.ron",
    "expressions.ron",
    "units.ron",
    "types.ron",
    "run.ron",
    "rates.ron",
    "checks.ron",
    "judge.ron",
    "verdicts.patch",
    "recordings.ron",
    "subsystem.ron",
    "ports.ron",
    "parts.ron",
    "masks.ron",
    "limited.mask",
    "foot_loads.mask",
    "variants.ron",
    "filters.choices",
    "interfaces.ron",
    "linear.ron",
    "design.ron",
    "vector.interface",
    "for_each.ron",
    "enabled.ron",
    "triggered.ron",
    "events.ron",
    "every.ron",
    "machines.ron",
    "functions.ron",
    "buses.ron",
    "loops.ron",
    "robots.ron",
    "ground.ron",
    "patches.ron",
    "smaller.patch",
    "fitting.ron",
    "sensitivity.ron",
    "drive.study",
    "words.ron",
];

/// Adds the examples to the built-in files.
pub(crate) fn register(registry: &mut Registry) {
    for Example { path, text, .. } in EXAMPLES {
        registry.file(path, text.as_bytes());
    }
}

/// All pages, in the order in which they are best read.
pub fn pages(registry: &Registry) -> Vec<Page> {
    SOURCES.iter().map(|source| fill::page(source, registry)).collect()
}

/// Those of some pages that `name` leads to: as it is written if there are any, else in whatever
/// case, with or without `_`, `-` and a colon at the end.
pub fn find<'p>(name: &str, pages: &'p [Page]) -> Vec<&'p Page> {
    let found = |fits: &dyn Fn(&str) -> bool| -> Vec<&'p Page> {
        pages.iter().filter(|page| page.names().any(fits)).collect()
    };
    let exact = found(&|known| known == name);
    let mut pages =
        if exact.is_empty() { found(&|known| plain(known) == plain(name)) } else { exact };
    // The page of this name before those that also explain it.
    pages.sort_by_key(|page| plain(page.name) != plain(name));
    pages
}

/// Pages with a table in which a row explains the word `name`, such as the name of a solver.
pub fn with_row<'p>(name: &str, pages: &'p [Page]) -> Vec<&'p Page> {
    let wanted = plain(name);
    let explains = |row: &str| {
        let first = row.strip_prefix("| `").and_then(|rest| rest.split_once('`'));
        first.is_some_and(|(word, _)| !wanted.is_empty() && plain(word) == wanted)
    };
    let has_row = |page: &&Page| {
        page.parts.iter().any(|part| match part {
            Part::Text(text) => text.lines().any(explains),
            Part::Example(_) => false,
        })
    };
    pages.iter().filter(has_row).collect()
}

/// The pages of which one of the names or headings begins words with all of `words`, or the first
/// sentence does, those that the words name first.
pub fn search<'p>(words: &str, pages: &'p [Page]) -> Vec<&'p Page> {
    let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut found = find(words, pages);
    let holds = |text: &str| {
        let text = text.to_lowercase();
        let parts: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).collect();
        wanted.iter().all(|word| parts.iter().any(|part| part.starts_with(word.as_str())))
    };
    let tells = |page: &Page| {
        let headings = page.parts.iter().flat_map(|part| match part {
            Part::Text(text) => text.lines(),
            Part::Example(_) => "".lines(),
        });
        page.names().any(holds)
            || headings.filter(|line| line.starts_with('#')).any(holds)
            || holds(&page.summary())
    };
    let others = pages.iter().filter(|page| !wanted.is_empty() && tells(page));
    for page in others {
        if !found.iter().any(|known| known.name == page.name) {
            found.push(page);
        }
    }
    found
}

/// The letters and digits of a name, small.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The built-in path of the example of a page, by a name that leads to the page.
pub(crate) fn example_of(name: &str) -> Option<&'static str> {
    let page = |fits: &dyn Fn(&str) -> bool| {
        let leads = |(page, also, _): &&Source| fits(page) || also.iter().any(|also| fits(also));
        SOURCES.iter().find(leads).map(|(page, ..)| *page)
    };
    let page =
        page(&|known| known == name).or_else(|| page(&|known| plain(known) == plain(name)))?;
    let of_page = |example: &&Example| example.file.strip_suffix(".ron") == Some(page);
    EXAMPLES.iter().find(of_page).map(|example| example.path)
}

/// The names that lead to pages.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SOURCES.iter().flat_map(|(name, also, _)| std::iter::once(*name).chain(also.iter().copied()))
}

impl Page {
    /// All names that lead to it.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.name).chain(self.also.iter().copied())
    }

    /// The first sentence behind the heading.
    pub fn summary(&self) -> String {
        let first = self.parts.first();
        let text = first.map_or("", |part| match part {
            Part::Text(text) => text,
            Part::Example(_) => "",
        });
        let body = text.split_once('\n').map_or("", |(_, body)| body).trim_start();
        super::manual::first_sentence(body)
    }
}

impl Display for Page {
    /// The page as Markdown.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| part.fmt(f))
    }
}

impl Display for Part {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Example(Example { text, .. }) => writeln!(f, "```ron\n{}\n```", text.trim_end()),
        }
    }
}
