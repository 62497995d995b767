//! A sweep as JSON.

use serde_json::{Map, Value, json};

use super::axes::{Axis, Cell, Kind};
use super::runs::{End, Ran};
use super::{Status, Sweep};
use crate::run::fault_to_json;

/// The whole object. Numbers that JSON has not are null.
pub(super) fn to_json(outcome: &Sweep) -> Map<String, Value> {
    let units: Map<String, Value> = outcome
        .table()
        .figures
        .iter()
        .map(|figure| (figure.name.clone(), figure.unit.clone().into()))
        .collect();
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("diagram", outcome.diagram.as_str().into());
    add("axes", outcome.axes.iter().map(axis_to_json).collect());
    add("jobs", outcome.jobs.into());
    add("units", units.into());
    add("cells", outcome.rows().map(row_to_json).collect());
    add("table", Value::Null);
    add("diagnostics", outcome.findings.to_json());
    object
}

fn axis_to_json(axis: &Axis) -> Value {
    let kind = match axis.kind {
        Kind::Variant => "variant",
        Kind::Setting => "setting",
    };
    json!({ "name": axis.name, "kind": kind, "values": axis.values })
}

fn row_to_json((cell, end, status): (&Cell, &End, Status)) -> Value {
    let values: Map<String, Value> =
        cell.values.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut json = json!({
        "id": cell.id(),
        "values": values,
        "status": status.name(),
        "reason": end.reason(),
    });
    if let (End::Ran(ran), Some(object)) = (end, json.as_object_mut()) {
        add_run(ran, object);
    }
    json
}

fn add_run(ran: &Ran, object: &mut Map<String, Value>) {
    let execution = &ran.run.execution;
    let shown: Map<String, Value> =
        ran.figures.iter().map(|figure| (figure.name.clone(), figure.value.into())).collect();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("program_hash", format!("{:016x}", execution.program.hash()).into());
    add("sim_time_s", execution.sim_time.into());
    add("stopped_by", execution.stopped_by.clone().into());
    add("steps", execution.steps.into());
    add("wall_s", execution.wall.into());
    add("real_time_factor", execution.real_time_factor().into());
    add("solver_calls", execution.solver_calls().into());
    add("solver_failures", execution.solver_failures().into());
    add("checks", execution.checks_to_json().into());
    add("measured", execution.measured_to_json().into());
    add("checks_passed", execution.checks_passed().into());
    add("metrics", execution.metrics_to_json().into());
    add("shown", shown.into());
    add("directory", ran.run.directory.as_ref().map(|path| path.display().to_string()).into());
    if let Some(fault) = &execution.fault {
        add("fault", fault_to_json(fault, ran.run.model.sources()));
    }
}
