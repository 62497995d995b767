//! What a sweep goes over, and its cells.

use std::path::{Path, PathBuf};

use legwork_block::nearest;
use legwork_diagram::Options;

use crate::error::{Error, ErrorKind};
use crate::grid::{self, MOST_RUNS};

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
pub(super) fn check(axes: &[(String, Vec<String>)], options: &Options) -> Result<(), Error> {
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
            if values[..i].contains(value) {
                let message = format!("the value `{name}={value}` is named twice");
                return Err(Error::request(message));
            }
        }
    }
    match grid::count(axes) {
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

/// Every cell; the first axis changes slowest.
pub(super) fn cells(axes: &[Axis], options: &Options) -> Vec<Cell> {
    let plain: Vec<(String, Vec<String>)> =
        axes.iter().map(|axis| (axis.name.clone(), axis.values.clone())).collect();
    let cell = |values: Vec<(String, String)>| {
        let mut options = options.clone();
        for (axis, pair) in axes.iter().zip(&values) {
            match axis.kind {
                Kind::Variant => options.variants.push(pair.clone()),
                Kind::Setting => options.set.push(pair.clone()),
            }
        }
        Cell { name: joined(&values, " "), values, options }
    };
    grid::product(&plain).into_iter().map(cell).collect()
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
        let cells = cells(&axes, &options);
        let names: Vec<&str> = cells.iter().map(|cell| cell.name.as_str()).collect();
        assert_eq!(names, ["qp=a mu=0.1", "qp=a mu=0.5", "qp=b mu=0.1", "qp=b mu=0.5"]);
        assert_eq!(cells[1].options.variants, [("qp".into(), "a".into())]);
        let set = [("kp".to_owned(), "3".to_owned()), ("mu".to_owned(), "0.5".to_owned())];
        assert_eq!(cells[1].options.set, set);
    }

    #[test]
    fn directories_are_safe_and_tell_all_cells_apart() {
        let long = "x".repeat(300);
        let values = ["0.1 m", "0.1/m", "../up", "Big", "big", &long, &format!("{long}y")];
        let cells = cells(&[axis("a", Kind::Setting, &values)], &Options::default());
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
