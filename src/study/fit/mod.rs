//! Parameters that make a diagram move as a measurement did, and how a run depends on parameters.
//!
//! ```text
//! table ──► columns ─┐
//! diagram ──set──► runs ──► residuals ──Levenberg-Marquardt──► parameters ──► patch
//! ```

mod gradient;
mod measured;
mod search;

use std::num::NonZeroUsize;

use legwork_block::{Written, parse_unit};
use legwork_diagram::ron_text::{patch_text, value_text};
use legwork_runtime::recording::ColumnUnit;
use serde_json::{Map, Value, json};

use crate::cancel::Cancel;
use crate::diagram::Diagram;
use crate::error::{Error, ErrorKind};
use crate::pool;
use measured::{Channel, Measured};
use search::{Outcome, search};

pub use gradient::{Gradient, GradientRequest};

/// A parameter that is sought between two bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// What [`Diagram::set`] takes: `m`, `pd.kp`.
    pub path: String,
    /// The bounds, in SI units.
    pub low: f64,
    /// The upper one.
    pub high: f64,
    /// Where the search begins; without it, in the middle, of bounds a decade apart in that of
    /// their logarithms.
    pub start: Option<f64>,
    /// The unit of all three, as a diagram writes it; empty for numbers without one.
    pub unit: String,
}

impl Parameter {
    /// `m=1 kg..3 kg`, `mu=0.2..1.0`, with `@0.7` behind it where the search begins.
    ///
    /// # Errors
    /// What was expected and found.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let expected = || {
            let message = format!("expected bounds such as `m=1 kg..3 kg`, found `{text}`");
            Error::request(message)
        };
        let (path, range) = text.split_once('=').ok_or_else(expected)?;
        let (range, start) = match range.split_once('@') {
            Some((range, start)) => (range, Some(start)),
            None => (range, None),
        };
        let (low, high) = range.split_once("..").ok_or_else(expected)?;
        let quantity = |text: &str| {
            let (value, unit) =
                legwork_block::parse_quantity(text.trim()).map_err(|_| expected())?;
            let unit = unit.filter(|unit| *unit != legwork_block::Unit::ONE);
            Ok((value, unit.map_or(String::new(), |unit| unit.to_string())))
        };
        let ((low, first), (high, second)) = (quantity(low)?, quantity(high)?);
        let start = start.map(quantity).transpose()?;
        let third = start.as_ref().map_or(&second, |(_, unit)| unit);
        let units: Vec<&String> =
            [&first, &second, third].into_iter().filter(|unit| !unit.is_empty()).collect();
        if units.windows(2).any(|pair| pair[0] != pair[1]) {
            let message = format!("expected one unit, found several in `{text}`");
            return Err(Error::request(message));
        }
        let unit = units.first().map_or(String::new(), |unit| (*unit).clone());
        let start = start.map(|(start, _)| start);
        let fits = low.is_finite()
            && high.is_finite()
            && low < high
            && start.is_none_or(|start| (low..=high).contains(&start));
        if !fits || path.trim().is_empty() {
            let message = format!(
                "expected a lower and a higher bound, and a start between them, found `{text}`"
            );
            return Err(Error::request(message));
        }
        Ok(Self { path: path.trim().to_owned(), low, high, start, unit })
    }

    /// A value as a diagram writes it.
    pub fn text(&self, value: f64) -> String {
        value_text(&self.written(value))
    }

    /// The same as a value.
    fn written(&self, value: f64) -> Written {
        Written::Number(value, parse_unit(&self.unit).ok().map(|(unit, _)| unit))
    }

    /// Where the search begins.
    fn begin(&self) -> f64 {
        match self.start {
            Some(start) => start,
            None if self.low > 0.0 && self.high >= 10.0 * self.low => (self.low * self.high).sqrt(),
            None => 0.5 * (self.low + self.high),
        }
    }

    /// As a share of the bounds' distance.
    fn share(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    fn value(&self, share: f64) -> f64 {
        self.low + share.clamp(0.0, 1.0) * (self.high - self.low)
    }
}

/// What is asked of a fit.
#[derive(Debug, Clone, Default)]
pub struct FitRequest {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// Columns to compare, by name; without any, all.
    pub signals: Vec<String>,
    /// Runs at a time; without it, one on each core. Results do not depend on it.
    pub jobs: Option<NonZeroUsize>,
    /// Iterations after which the search ends; without it, 50.
    pub iterations: Option<u32>,
}

/// A parameter that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// What was sought.
    pub parameter: Parameter,
    /// Its value, in SI units.
    pub value: f64,
    /// Standard error, if errors of the measurement are independent; nothing if the measurement
    /// does not tell it.
    pub error: Option<f64>,
    /// Whether it is at one of its bounds.
    pub at_bound: bool,
}

/// How well a column is met.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: Option<String>,
    /// Root mean square of what the run is off, where the search began and at its end.
    pub before: f64,
    /// At its end.
    pub after: f64,
}

/// What a search found.
#[derive(Debug, Clone)]
pub struct Fit {
    /// Name of the diagram.
    pub diagram: String,
    /// The parameters.
    pub parameters: Vec<Fitted>,
    /// How well each column is met.
    pub matches: Vec<Match>,
    /// Iterations, and runs.
    pub iterations: u32,
    /// Runs of the diagram.
    pub runs: u32,
    /// Whether the search ended by itself.
    pub converged: bool,
    /// Path and value of what the patch sets.
    pub settings: Vec<(String, Written)>,
    /// The patch, as the text of a file.
    pub patch: String,
    /// Warnings about ambiguous text of the table.
    pub warnings: Vec<String>,
}

/// Iterations without a request for others.
const MOST_ITERATIONS: u32 = 50;

impl Diagram {
    /// Seeks parameters with which the diagram moves as a table says: columns of comma-separated
    /// values, the time `t` first, the others named like signals, as an exported recording's are.
    ///
    /// Least squares of all columns, each in units of its own spread, by Levenberg-Marquardt with
    /// central differences of 1/1000 of the bounds' distance, closer ones where these end. Between
    /// steps of the run values are interpolated linearly. A run that faults counts as no better.
    ///
    /// # Errors
    /// If the table is none, a column is no signal, the diagram does not compile with a parameter
    /// at its start, or it faults there.
    pub fn fit(&self, table: &[u8], request: &FitRequest, cancel: &Cancel) -> Result<Fit, Error> {
        let FitRequest { parameters, signals, .. } = request;
        if parameters.is_empty() {
            return Err(Error::request("expected at least one parameter to fit, found none"));
        }
        for (i, one) in parameters.iter().enumerate() {
            if parameters[..i].iter().any(|other| other.path == one.path) {
                return Err(Error::request(format!("the parameter `{}` is named twice", one.path)));
            }
        }
        let measured = Measured::parse(table, signals)?;
        let run = |shares: &[f64]| -> Result<Vec<f64>, Error> {
            let settings = parameters.iter().zip(shares);
            let with = |diagram: Self, (one, share): (&Parameter, &f64)| {
                diagram.set(&one.path, &one.text(one.value(*share)))
            };
            measured.residual(&settings.fold(self.clone(), with))
        };
        let start: Vec<f64> = parameters.iter().map(|one| one.share(one.begin())).collect();
        // What is wrong with the diagram or a column is told before anything else.
        let first = run(&start)?;
        let jobs = pool::at_a_time(request.jobs, 2 * parameters.len());
        let most = request.iterations.unwrap_or(MOST_ITERATIONS);
        let evaluate = |points: Vec<Vec<f64>>| -> Vec<Option<Vec<f64>>> {
            pool::map(points, jobs, |point| match cancel.is_cancelled() {
                true => None,
                false => run(&point).ok(),
            })
        };
        let found = search(start, first.clone(), most, &evaluate);
        if cancel.is_cancelled() {
            return Err(Error::new(ErrorKind::Request, "the fit was cancelled"));
        }
        let fitted = self.fitted(request, &measured.channels, &first, &found);
        Ok(Fit { warnings: measured.warnings, ..fitted })
    }

    fn fitted(
        &self,
        request: &FitRequest,
        channels: &[Channel],
        first: &[f64],
        found: &Outcome,
    ) -> Fit {
        let parameters: Vec<Fitted> = request
            .parameters
            .iter()
            .zip(found.point.iter().zip(&found.errors))
            .map(|(parameter, (share, error))| Fitted {
                value: parameter.value(*share),
                error: error.map(|error| error * (parameter.high - parameter.low)),
                at_bound: *share <= 1e-9 || *share >= 1.0 - 1e-9,
                parameter: parameter.clone(),
            })
            .collect();
        let count = first.len() / channels.len().max(1);
        let rms = |residual: &[f64], k: usize, channel: &Channel| {
            let own = &residual[k * count..(k + 1) * count];
            channel.scale * (own.iter().map(|r| r * r).sum::<f64>() / count.max(1) as f64).sqrt()
        };
        let matches = channels.iter().enumerate().map(|(k, channel)| Match {
            name: channel.name.clone(),
            unit: channel.unit.as_ref().map(ColumnUnit::base_text),
            before: rms(first, k, channel),
            after: rms(&found.residual, k, channel),
        });
        let setting = |one: &Fitted| (one.parameter.path.clone(), one.parameter.written(one.value));
        let settings: Vec<(String, Written)> = parameters.iter().map(setting).collect();
        let patch = patch_text(None, &settings);
        Fit {
            diagram: self.name().to_owned(),
            matches: matches.collect(),
            iterations: found.iterations,
            runs: found.runs,
            converged: found.converged,
            parameters,
            settings,
            patch,
            warnings: Vec::new(),
        }
    }
}

impl Fit {
    /// All of it as JSON.
    pub fn to_json(&self) -> Map<String, Value> {
        let parameters = self.parameters.iter().map(|one| {
            let Parameter { path, low, high, unit, .. } = &one.parameter;
            json!({
                "path": path, "value": one.value, "error": one.error, "unit": unit,
                "low": low, "high": high, "at_bound": one.at_bound,
            })
        });
        let matches = self.matches.iter().map(|one| {
            let (before, after) = (one.before, one.after);
            json!({ "name": one.name, "unit": one.unit, "rms_before": before, "rms": after })
        });
        let set: Map<String, Value> = self
            .settings
            .iter()
            .map(|(path, value)| (path.clone(), value_text(value).into()))
            .collect();
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("diagram", self.diagram.as_str().into());
        add("parameters", parameters.collect());
        add("signals", matches.collect());
        add("iterations", self.iterations.into());
        add("runs", self.runs.into());
        add("converged", self.converged.into());
        add("warnings", self.warnings.as_slice().into());
        add("set", set.into());
        add("patch", self.patch.as_str().into());
        object
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_read() {
        let one = Parameter::parse("pd.kp=20 N*m/rad..80 N*m/rad@50 N*m/rad").expect("bounds");
        assert_eq!((one.low, one.high, one.start), (20.0, 80.0, Some(50.0)));
        assert_eq!(one.path, "pd.kp");
        let mm = Parameter::parse("gap=1 mm..20 mm").expect("bounds");
        assert_eq!((mm.low, mm.high), (0.001, 0.02));
        assert!((mm.begin() - (0.001_f64 * 0.02).sqrt()).abs() < 1e-15, "a decade apart");
        assert_eq!(Parameter::parse("mu=0.2..1").expect("bounds").text(0.5), "0.5");
        for wrong in ["mu", "mu=1", "mu=1..0.2", "mu=1..2@3", "m=1 kg..2 m", "=1..2", "m=a..b"] {
            assert!(Parameter::parse(wrong).is_err(), "{wrong}");
        }
    }
}
