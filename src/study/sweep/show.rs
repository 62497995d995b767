//! Figures of recorded signals.

use legwork_block::nearest;
use legwork_program::Program;
use legwork_runtime::catalog::{Catalog, Numbers};
use legwork_runtime::recording::Recording;

use crate::error::Error;

/// Most columns that one path may ask for.
const MOST_NUMBERS: usize = 64;

/// What is made of a number's recorded rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// The last.
    Final,
    /// Σ x / n.
    Mean,
    /// √(Σ x² / n).
    Rms,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Σ |x| / n.
    AbsMean,
}

impl Statistic {
    const ALL: [Self; 6] =
        [Self::Final, Self::Mean, Self::Rms, Self::Max, Self::Min, Self::AbsMean];

    fn name(self) -> &'static str {
        match self {
            Self::Final => "final",
            Self::Mean => "mean",
            Self::Rms => "rms",
            Self::Max => "max",
            Self::Min => "min",
            Self::AbsMean => "abs_mean",
        }
    }

    /// Of values in order; none of none. The unit is that of the values.
    fn of(self, values: &[f64]) -> Option<f64> {
        let mean = |of: fn(f64) -> f64| {
            let sum: f64 = values.iter().map(|value| of(*value)).sum();
            (!values.is_empty()).then(|| sum / values.len() as f64)
        };
        match self {
            Self::Final => values.last().copied(),
            Self::Mean => mean(|value| value),
            Self::Rms => mean(|value| value * value).map(f64::sqrt),
            Self::Max => values.iter().copied().reduce(f64::max),
            Self::Min => values.iter().copied().reduce(f64::min),
            Self::AbsMean => mean(f64::abs),
        }
    }
}

/// A path and what is wanted of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Show {
    /// Path of a recorded signal, a part or an element of it.
    pub path: String,
    /// What is made of its rows.
    pub statistic: Statistic,
}

/// A number about a signal.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Figure {
    /// `body.state.base.position[2]:min`.
    pub name: String,
    /// Unit of the signal.
    pub unit: Option<String>,
    /// None if no row was recorded.
    pub value: Option<f64>,
}

/// Parts `PATH:STATISTIC`.
///
/// # Errors
/// If a path is empty, there is no such statistic, or one is asked for twice.
pub fn parse_shows(texts: &[String]) -> Result<Vec<Show>, Error> {
    let mut shows: Vec<Show> = Vec::new();
    for text in texts {
        let (path, statistic) = match text.rsplit_once(':') {
            Some((path, name)) => (path.trim(), statistic(name.trim())?),
            None => (text.trim(), Statistic::Final),
        };
        if path.is_empty() {
            let message = format!("expected the path of a signal to show, found `{text}`");
            return Err(Error::request(message));
        }
        let show = Show { path: path.to_owned(), statistic };
        if shows.contains(&show) {
            return Err(Error::request(format!("`{text}` is to be shown twice")));
        }
        shows.push(show);
    }
    Ok(shows)
}

fn statistic(name: &str) -> Result<Statistic, Error> {
    let known = Statistic::ALL.map(Statistic::name);
    Statistic::ALL.into_iter().find(|one| one.name() == name).ok_or_else(|| {
        let hint = match nearest(name, known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        Error::request(format!("no statistic `{name}`; {hint}"))
    })
}

/// Whether every path names something in some program. In the others its columns stay empty, as
/// where a choice lacks a block.
///
/// # Errors
/// If one names nothing anywhere, or very much.
pub(super) fn check<'p>(
    shows: &[Show],
    programs: impl Iterator<Item = &'p Program>,
) -> Result<(), Error> {
    if shows.is_empty() {
        return Ok(());
    }
    let catalogs: Vec<Catalog> = programs.map(Catalog::of_program).collect();
    for Show { path, .. } in shows {
        let mut found = catalogs.iter().map(|catalog| catalog.find(path));
        let mut advice = None;
        let is_there = found.any(|found| match found {
            Ok(_) => true,
            Err(why) => {
                advice.get_or_insert(why);
                false
            }
        });
        if let (false, Some(advice)) = (is_there, advice) {
            return Err(Error::request(format!(
                "no recorded signal `{path}`; {advice} (what is in `log` is recorded)"
            )));
        }
        let numbers = |found: Vec<Numbers>| found.iter().map(|one| one.elements.len()).sum();
        let counts = catalogs.iter().filter_map(|catalog| catalog.find(path).ok().map(numbers));
        let most: usize = counts.max().unwrap_or(0);
        if most > MOST_NUMBERS {
            return Err(Error::request(format!(
                "expected at most {MOST_NUMBERS} numbers to show, found `{path}`, which names \
                 {most}"
            )));
        }
    }
    Ok(())
}

/// What is wanted of a run.
pub(super) fn figures(shows: &[Show], recording: &Recording, program: &Program) -> Vec<Figure> {
    let catalog = Catalog::of(recording, Some(program));
    let mut figures = Vec::new();
    for Show { path, statistic } in shows {
        for numbers in catalog.find(path).unwrap_or_default() {
            for (element, values) in numbers.elements.iter().zip(values(recording, &numbers)) {
                figures.push(Figure {
                    name: format!("{element}:{}", statistic.name()),
                    unit: numbers.unit.clone(),
                    value: statistic.of(&values),
                });
            }
        }
    }
    figures
}

/// The rows of each number.
fn values(recording: &Recording, numbers: &Numbers) -> Vec<Vec<f64>> {
    let mut out = vec![Vec::new(); numbers.columns.len()];
    let Some(series) = recording.series_of_all().nth(numbers.channel) else { return out };
    let mut row = Vec::new();
    for index in 0..series.len() {
        series.values_into(index, &mut row);
        for (values, &column) in out.iter_mut().zip(&numbers.columns) {
            values.push(row[column]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_are_those_of_their_names() {
        let values = [3.0, -4.0, 1.0, -2.0];
        let of = |statistic: Statistic| statistic.of(&values);
        assert_eq!(of(Statistic::Final), Some(-2.0));
        assert_eq!(of(Statistic::Mean), Some(-0.5));
        assert_eq!(of(Statistic::Rms), Some(7.5f64.sqrt()));
        assert_eq!(of(Statistic::Max), Some(3.0));
        assert_eq!(of(Statistic::Min), Some(-4.0));
        assert_eq!(of(Statistic::AbsMean), Some(2.5));
        assert!(Statistic::ALL.iter().all(|statistic| statistic.of(&[]).is_none()));
    }

    #[test]
    fn a_path_parts_from_its_statistic_at_the_last_colon() {
        let parsed = |texts: &[&str]| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            parse_shows(&texts).map_err(|failure| failure.to_string())
        };
        let show = |path: &str, statistic| Show { path: path.to_owned(), statistic };
        assert_eq!(
            parsed(&["a.y", "a.y[0]:abs_mean"]),
            Ok(vec![show("a.y", Statistic::Final), show("a.y[0]", Statistic::AbsMean)])
        );
        let slip = |text: &str| parsed(&[text]).err().unwrap_or_default();
        assert_eq!(slip("a.y:maen"), "no statistic `maen`; did you mean `mean`?");
        assert!(slip("a.y:zzzzzzzz").contains("there are final, mean"));
        assert!(slip(":mean").contains("expected the path of a signal"));
        assert!(parsed(&["a.y", "a.y:final"]).is_err_and(|text| text.contains("twice")));
    }
}
