//! How the metrics of a run depend on parameters.

use std::num::NonZeroUsize;

use serde_json::{Value, json};

use crate::cancel::Cancel;
use crate::diagram::Diagram;
use crate::error::{Error, ErrorKind};
use crate::pool;
use crate::run::{Record, RunRequest};
use crate::watch::unwatched;

/// What is asked of a gradient.
#[derive(Debug, Clone)]
pub struct GradientRequest {
    /// Parameters with their values, as [`Diagram::set`] takes them: `m` and `2 kg`.
    pub parameters: Vec<(String, String)>,
    /// Metrics by name; without any, all.
    pub metrics: Vec<String>,
    /// Half of the difference, relative to the parameter; to one unit where it is zero.
    pub step: f64,
    /// Runs at a time; without it, one on each core.
    pub jobs: Option<NonZeroUsize>,
}

/// The slope of a metric along a parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient {
    /// Name of the metric.
    pub metric: String,
    /// Its unit.
    pub metric_unit: Option<String>,
    /// Its value.
    pub value: f64,
    /// Path of the parameter.
    pub parameter: String,
    /// Unit of the parameter; empty without one.
    pub parameter_unit: String,
    /// Change of the metric per change of the parameter.
    pub slope: f64,
    /// How far differences of two widths are apart: what the slope is good to.
    pub error: f64,
    /// `slope · parameter / value`: the share of change of the one for that of the other.
    pub relative: f64,
}

/// The metrics of a run.
type Metrics = Vec<(String, Option<String>, f64)>;

impl Diagram {
    /// The gradients of metrics (values of `judge:`, and what blocks measure) along parameters, by
    /// central differences of two widths, extrapolated: four runs a parameter.
    ///
    /// # Errors
    /// If there is no such metric, a value is none, or a run does not end well.
    pub fn gradient(
        &self,
        request: &GradientRequest,
        cancel: &Cancel,
    ) -> Result<Vec<Gradient>, Error> {
        let mut places: Vec<(f64, f64, String)> = Vec::new();
        for (path, text) in &request.parameters {
            let (value, unit) = legwork_block::parse_quantity(text).map_err(|_| {
                Error::request(format!("expected a value for `{path}`, found `{text}`"))
            })?;
            let unit = unit.filter(|unit| *unit != legwork_block::Unit::ONE);
            let unit = unit.map_or(String::new(), |unit| unit.to_string());
            let size = if value == 0.0 { 1.0 } else { value.abs() };
            places.push((value, request.step * size, unit));
        }
        if places.is_empty() {
            return Err(Error::request("expected at least one parameter, found none"));
        }
        let text = |value: f64, unit: &str| match unit {
            "" => format!("{value:?}"),
            unit => format!("\"{value:?} {unit}\""),
        };
        // All at their values, then each four times beside it.
        let mut points = vec![(0, 0.0)];
        for (i, (_, h, _)) in places.iter().enumerate() {
            points.extend([*h, -h, 0.5 * h, -0.5 * h].map(|delta| (i, delta)));
        }
        let diagram = |(moved, delta): (usize, f64)| {
            let all = request.parameters.iter().zip(&places).enumerate();
            all.fold(self.clone(), |diagram, (i, ((path, _), (value, _, unit)))| {
                let value = value + if i == moved { delta } else { 0.0 };
                diagram.set(path, &text(value, unit))
            })
        };
        let jobs = pool::at_a_time(request.jobs, points.len());
        let mut runs =
            pool::map(points, jobs, |point| metrics(&diagram(point), cancel)).into_iter();
        let nominal = runs.next().unwrap_or_else(|| Ok(Vec::new()))?;
        let beside = runs.collect::<Result<Vec<Metrics>, Error>>()?;
        let wanted: Vec<&str> = match request.metrics.is_empty() {
            true => nominal.iter().map(|(name, ..)| name.as_str()).collect(),
            false => request.metrics.iter().map(String::as_str).collect(),
        };
        let of = |metrics: &Metrics, name: &str| {
            metrics.iter().find(|(own, ..)| own == name).map(|(.., value)| *value)
        };
        let mut out = Vec::new();
        for name in wanted {
            let Some((_, unit, value)) = nominal.iter().find(|(own, ..)| own == name) else {
                let known = nominal.iter().map(|(own, ..)| own.as_str());
                let near = legwork_block::nearest(name, known);
                let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(Error::request(format!("no metric `{name}`{near}")));
            };
            for (i, (path, _)) in request.parameters.iter().enumerate() {
                let (at, h, parameter_unit) = &places[i];
                let four: Option<Vec<f64>> =
                    beside[4 * i..4 * i + 4].iter().map(|metrics| of(metrics, name)).collect();
                let Some(four) = four else { continue };
                let (wide, near) = ((four[0] - four[1]) / (2.0 * h), (four[2] - four[3]) / h);
                let slope = (4.0 * near - wide) / 3.0;
                out.push(Gradient {
                    metric: name.to_owned(),
                    metric_unit: unit.clone(),
                    value: *value,
                    parameter: path.clone(),
                    parameter_unit: parameter_unit.clone(),
                    slope,
                    error: (near - wide).abs(),
                    relative: slope * at / value,
                });
            }
        }
        Ok(out)
    }
}

/// The metrics of one run.
fn metrics(diagram: &Diagram, cancel: &Cancel) -> Result<Metrics, Error> {
    let model = diagram.compile().model_or_errors()?;
    let request = RunRequest { record: Record::Nothing, ..RunRequest::default() };
    let run = model.run(&request, &unwatched, cancel)?;
    if let Some(fault) = &run.execution.fault {
        return Err(Error::new(ErrorKind::Fault, fault.to_string()));
    }
    Ok(run.execution.metrics())
}

impl Gradient {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let finite = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        json!({
            "metric": self.metric, "metric_unit": self.metric_unit, "value": self.value,
            "parameter": self.parameter, "parameter_unit": self.parameter_unit,
            "slope": self.slope, "error": self.error, "relative": finite(self.relative),
        })
    }
}
