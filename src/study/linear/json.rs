//! Linear systems as JSON.

use legwork_linear::{Crossing, Margins, Mat, Mode, Reach, c64};
use serde_json::{Map, Value, json};

use super::{Analysis, How, Linearization, Number, Quality};

/// A matrix, row by row.
pub(crate) fn rows(matrix: &Mat<f64>) -> Value {
    let row = |i: usize| (0..matrix.ncols()).map(|j| json!(matrix[(i, j)])).collect::<Value>();
    (0..matrix.nrows()).map(row).collect()
}

pub(crate) fn complexes(values: &[c64]) -> Value {
    values.iter().map(|z| json!({ "re": z.re, "im": z.im })).collect()
}

/// A number, or nothing where it is infinite.
fn finite(value: f64) -> Value {
    if value.is_finite() { value.into() } else { Value::Null }
}

fn mode(mode: &Mode) -> Value {
    json!({
        "re": mode.pole.re, "im": mode.pole.im, "frequency": finite(mode.frequency),
        "damping": mode.damping, "time_constant_s": finite(mode.time_constant),
    })
}

fn reach(reach: &Reach) -> Value {
    json!({
        "dimension": reach.dimension, "kept": finite(reach.kept), "dropped": reach.dropped,
        "fixed": complexes(&reach.fixed),
    })
}

fn crossing(crossing: &Crossing) -> Value {
    json!({ "frequency": crossing.frequency, "margin": crossing.margin })
}

fn of_margins(margins: &Margins) -> Value {
    let all = |list: &[Crossing]| list.iter().map(crossing).collect::<Value>();
    json!({
        "gain": all(&margins.gain),
        "phase": all(&margins.phase),
        "distance": margins.distance.as_ref().map(crossing),
        "delay_s": margins.delay(),
    })
}

/// The word of JSON and of tables.
fn word(quality: Quality) -> &'static str {
    match quality {
        Quality::Smooth => "smooth",
        Quality::Close => "close",
        Quality::Kink => "kink",
        Quality::OneSided => "one-sided",
    }
}

/// The word of JSON for how slopes were found.
fn method(how: How) -> &'static str {
    match how {
        How::Analytic => "analytic",
        How::Differences(_) => "differences",
        How::Whole(_) => "differences of the whole",
        How::Period(_) => "differences over the period",
    }
}

impl Linearization {
    /// All of it, with what an analysis found.
    pub fn to_json(&self, analysis: &Analysis) -> Map<String, Value> {
        let number =
            |one: &Number| json!({ "name": one.name, "unit": one.unit, "value": one.value });
        let states = self.states.iter().zip(&self.quality).zip(&self.drift);
        let states = states.map(|((state, quality), drift)| {
            json!({
                "name": state.name, "unit": state.unit, "block": state.block,
                "discrete": state.is_discrete, "columns": word(*quality), "drift": drift,
            })
        });
        let blocks = self.blocks.iter().map(|one| {
            json!({
                "block": one.path, "kind": one.kind, "method": method(one.how),
                "columns": word(one.how.quality()),
            })
        });
        let mut object = Map::new();
        let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
        add("diagram", self.diagram.as_str().into());
        add("t_s", self.time.into());
        add("period_s", self.system.period.into());
        add("states", states.collect());
        add("inputs", self.inputs.iter().map(number).collect());
        add("outputs", self.outputs.iter().map(number).collect());
        add("A", rows(&self.system.a));
        add("B", rows(&self.system.b));
        add("C", rows(&self.system.c));
        add("D", rows(&self.system.d));
        add("blocks", blocks.collect());
        add("held", self.held.clone().into());
        add("notes", self.notes().into());
        add("poles", analysis.poles.iter().map(mode).collect());
        let names = analysis.dominant.iter().map(|i| self.states.get(*i).map(|one| &one.name));
        add("dominant", names.map(|name| json!(name)).collect());
        add("stable", analysis.stable.into());
        add("zeros", analysis.zeros.as_deref().map_or(Value::Null, complexes));
        add("controllable", analysis.controllable.as_ref().map_or(Value::Null, reach));
        add("observable", analysis.observable.as_ref().map_or(Value::Null, reach));
        add("margins", analysis.margins.as_ref().map_or(Value::Null, of_margins));
        object
    }
}
