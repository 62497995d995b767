//! What a sweep goes over, and its cells.

use std::path::{Path, PathBuf};

use legwork_block::nearest;
use legwork_diagram::Options;
use legwork_program::Fnv;

use crate::error::{Error, ErrorKind};
use crate::grid::{self, MOST_RUNS};
use crate::sweep::SweepRequest;

/// Longest name of a cell's directory [bytes]; file systems take 255.
const LONGEST_NAME: usize = 160;

/// What the values of an axis are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Choices of a variant.
    Variant,
    /// Values of what `--set` takes.
    Setting,
}

/// An axis of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Axis {
    /// What it sets: a variant or a path.
    pub name: String,
    /// What its values are.
    pub kind: Kind,
    /// The values, as texts.
    pub values: Vec<String>,
}

/// One combination of the axes' values.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Its place in the whole sweep, from 0.
    pub number: usize,
    /// `mu=0.1 qp=pgs`.
    pub name: String,
    /// Axis and value.
    pub values: Vec<(String, String)>,
    /// As a single run would be given them.
    pub options: Options,
}

/// Whether axes make sense beside the other overrides.
///
/// # Errors
/// If one is named twice or set elsewhere, a value is empty or named twice, or there are far too
/// many cells.
pub(super) fn check(request: &SweepRequest, options: &Options) -> Result<(), Error> {
    if request.part.is_some() && !request.merge.is_empty() {
        return Err(Error::request("expected a part of a sweep, or parts to merge; found both"));
    }
    let axes = &request.over;
    let is_tied = |name: &String| request.tied.iter().any(|tie| tie.contains(name));
    for (i, (name, values)) in axes.iter().enumerate() {
        let is_it = |(other, _): &(String, String)| other == name;
        let also = match () {
            () if axes[..i].iter().any(|(other, _)| other == name) => Some("another axis"),
            () if options.set.iter().any(is_it) => Some("an override"),
            () if options.variants.iter().any(is_it) => Some("a choice"),
            () if name == "run.stop" && options.until.is_some() => Some("the stop time"),
            () => None,
        };
        if let Some(also) = also {
            let message =
                format!("`{name}` is given by an axis and by {also}; expected one of them");
            return Err(Error::request(message));
        }
        for (i, value) in values.iter().enumerate() {
            if value.is_empty() {
                let list = values.join(",");
                let message = format!("expected values of `{name}`, found `{name}={list}`");
                return Err(Error::request(message));
            }
            if values[..i].contains(value) && !is_tied(name) {
                let message = format!("the value `{name}={value}` is named twice");
                return Err(Error::request(message));
            }
        }
    }
    let count = |axis: &(String, Vec<String>)| axis.1.len();
    for tie in &request.tied {
        let mut counts = axes.iter().filter(|(name, _)| tie.contains(name)).map(count);
        let first = counts.next();
        if counts.any(|count| Some(count) != first) {
            let message = format!("expected as many values of each of `{}`", tie.join("`, `"));
            return Err(Error::request(message));
        }
    }
    let leads = groups(axes.iter().map(|(name, _)| name), &request.tied);
    let leads: Vec<_> = leads.iter().map(|group| axes[group[0]].clone()).collect();
    match grid::count(&leads) {
        Some(_) => Ok(()),
        None => Err(Error::request(format!("expected at most {MOST_RUNS} combinations"))),
    }
}

/// Which axes are variants of the diagram; the others are for `--set`.
///
/// # Errors
/// If a variant has no such choice.
pub(super) fn classify(
    axes: Vec<(String, Vec<String>)>,
    variants: &[(String, Vec<String>)],
) -> Result<Vec<Axis>, Error> {
    let classify_one = |(name, values): (String, Vec<String>)| {
        let Some((_, choices)) = variants.iter().find(|(other, _)| *other == name) else {
            return Ok(Axis { name, kind: Kind::Setting, values });
        };
        if let Some(odd) = values.iter().find(|value| !choices.contains(value)) {
            let hint = match nearest(odd, choices.iter().map(String::as_str)) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has `{}`", choices.join("`, `")),
            };
            let message = format!("variant `{name}` has no choice `{odd}`; {hint}");
            return Err(Error::new(ErrorKind::Diagram, message));
        }
        Ok(Axis { name, kind: Kind::Variant, values })
    };
    axes.into_iter().map(classify_one).collect()
}

/// Indices of axes, those that change together in one group.
fn groups<'n>(names: impl Iterator<Item = &'n String>, tied: &[Vec<String>]) -> Vec<Vec<usize>> {
    let mut groups: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
    for (i, name) in names.enumerate() {
        let tie = tied.iter().position(|tie| tie.contains(name));
        match groups.iter_mut().find(|(known, _)| tie.is_some() && *known == tie) {
            Some((_, group)) => group.push(i),
            None => groups.push((tie, vec![i])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Every cell; the first axis changes slowest.
pub(super) fn cells(axes: &[Axis], tied: &[Vec<String>], options: &Options) -> Vec<Cell> {
    let groups = groups(axes.iter().map(|axis| &axis.name), tied);
    let counts: Vec<usize> = groups.iter().map(|group| axes[group[0]].values.len()).collect();
    let row = |mut place: usize| {
        let mut values = vec![(String::new(), String::new()); axes.len()];
        for (group, count) in groups.iter().zip(&counts).rev() {
            for &axis in group {
                let Axis { name, values: all, .. } = &axes[axis];
                values[axis] = (name.clone(), all[place % count].clone());
            }
            place /= count;
        }
        values
    };
    let cell = |(number, values): (usize, Vec<(String, String)>)| {
        let mut options = options.clone();
        for (axis, pair) in axes.iter().zip(&values) {
            match axis.kind {
                Kind::Variant => options.variants.push(pair.clone()),
                Kind::Setting => options.set.push(pair.clone()),
            }
        }
        Cell { number, name: joined(&values, " "), values, options }
    };
    (0..counts.iter().product()).map(row).enumerate().map(cell).collect()
}

impl Cell {
    /// A number of the cell that its values alone determine.
    pub fn id(&self) -> String {
        let mut hash = Fnv::default();
        self.values.iter().for_each(|(name, value)| {
            hash.add(name);
            hash.add(value);
        });
        format!("{:016x}", hash.value())
    }
}

fn joined(values: &[(String, String)], between: &str) -> String {
    let pairs: Vec<String> = values.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(between)
}

/// By cell `DIR/mu=0.1,qp=pgs`, if there is a directory. Names that would be the same, or too long
/// for a file system, end in the number of their cell.
pub(super) fn directories(cells: &[Cell], directory: Option<&Path>) -> Vec<Option<PathBuf>> {
    let Some(directory) = directory else { return cells.iter().map(|_| None).collect() };
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || "-_.=,[]+".contains(c) { c } else { '_' }
    };
    let names: Vec<String> =
        cells.iter().map(|cell| joined(&cell.values, ",").chars().map(plain).collect()).collect();
    let name = |(index, name): (usize, &String)| {
        // Some file systems do not tell small letters from capitals.
        let twins = names.iter().filter(|other| other.eq_ignore_ascii_case(name)).count();
        if twins == 1 && name.len() <= LONGEST_NAME {
            return Some(directory.join(name));
        }
        let short = &name[..name.len().min(LONGEST_NAME)];
        Some(directory.join(format!("{short},{}", index + 1)))
    };
    names.iter().enumerate().map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(name: &str, kind: Kind, values: &[&str]) -> Axis {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        Axis { name: name.to_owned(), kind, values }
    }

    #[test]
    fn a_cell_is_given_what_a_single_run_would_be() {
        let axes =
            [axis("qp", Kind::Variant, &["a", "b"]), axis("mu", Kind::Setting, &["0.1", "0.5"])];
        let options = Options { set: vec![("kp".into(), "3".into())], ..Options::default() };
        let cells = cells(&axes, &[], &options);
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names, ["qp=a mu=0.1", "qp=a mu=0.5", "qp=b mu=0.1", "qp=b mu=0.5"]);
        assert_eq!(cells[1].options.variants, [("qp".into(), "a".into())]);
        let set = [("kp".to_owned(), "3".to_owned()), ("mu".to_owned(), "0.5".to_owned())];
        assert_eq!(cells[1].options.set, set);
    }

    #[test]
    fn tied_axes_change_together() {
        let axes = [
            axis("h", Kind::Setting, &["1", "2"]),
            axis("qp", Kind::Variant, &["a", "b"]),
            axis("u", Kind::Setting, &["x", "x"]),
        ];
        let tied = [vec!["h".to_owned(), "u".to_owned()]];
        let cells = cells(&axes, &tied, &Options::default());
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names, ["h=1 qp=a u=x", "h=1 qp=b u=x", "h=2 qp=a u=x", "h=2 qp=b u=x"]);
        let mut ids: Vec<String> = cells.iter().map(Cell::id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 4);
    }

    #[test]
    fn directories_are_safe_and_tell_all_cells_apart() {
        let long = "x".repeat(300);
        let values = ["0.1 m", "0.1/m", "../up", "Big", "big", &long, &format!("{long}y")];
        let cells = cells(&[axis("a", Kind::Setting, &values)], &[], &Options::default());
        let directories = directories(&cells, Some(Path::new("out")));
        let mut names: Vec<String> = directories
            .iter()
            .flatten()
            .map(|path| {
                assert_eq!(path.parent(), Some(Path::new("out")));
                path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
            })
            .collect();
        assert_eq!(names[2], "a=.._up");
        assert!(names.iter().all(|name| name.len() < 255));
        names.sort();
        names.dedup();
        assert_eq!(names.len(), values.len());
    }

    #[test]
    fn a_choice_that_is_not_there_is_named_with_the_nearest() {
        let variants = [("qp".to_owned(), vec!["pgs".to_owned(), "lemke".to_owned()])];
        let axes = |value: &str| vec![("qp".to_owned(), vec!["pgs".to_owned(), value.to_owned()])];
        assert_eq!(
            classify(axes("lemke"), &variants).map(|all| all[0].kind).ok(),
            Some(Kind::Variant)
        );
        let error = classify(axes("lemk"), &variants).err();
        let message = error.map(|error| error.to_string()).unwrap_or_default();
        assert_eq!(message, "variant `qp` has no choice `lemk`; did you mean `lemke`?");
    }
}
