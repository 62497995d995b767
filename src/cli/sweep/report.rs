//! A sweep as JSON.

use serde_json::{Map, Value, json};

use super::super::run::{checks_to_json, metrics_to_json};
use super::axes::{Axis, Cell, Kind};
use super::columns::{Table, reason};
use super::runs::{End, Ran};
use super::{Outcome, Status};

/// The whole object. Numbers that JSON has not are null.
pub(super) fn to_json(outcome: &Outcome<'_>, table: &Table) -> Value {
    let units: Map<String, Value> = table
        .figures
        .iter()
        .map(|figure| (figure.name.clone(), figure.unit.clone().into()))
        .collect();
    json!({
        "diagram": outcome.diagram,
        "axes": outcome.axes.iter().map(axis_to_json).collect::<Vec<_>>(),
        "jobs": outcome.jobs,
        "units": units,
        "cells": outcome.rows().map(|row| row_to_json(outcome, row)).collect::<Vec<_>>(),
        "table": null,
        "diagnostics": outcome.diagnostics,
    })
}

fn axis_to_json(axis: &Axis) -> Value {
    let kind = match axis.kind {
        Kind::Variant => "variant",
        Kind::Setting => "setting",
    };
    json!({ "name": axis.name, "kind": kind, "values": axis.values })
}

fn row_to_json(outcome: &Outcome<'_>, (cell, end, status): (&Cell, &End, Status)) -> Value {
    let values: Map<String, Value> =
        cell.values.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect();
    let mut json = json!({
        "values": values,
        "status": status.name(),
        "reason": reason(outcome, end, status),
    });
    if let (End::Ran(ran), Some(object)) = (end, json.as_object_mut()) {
        add_run(ran, object);
    }
    json
}

fn add_run(ran: &Ran, object: &mut Map<String, Value>) {
    let execution = &ran.execution;
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
    add("checks", checks_to_json(execution).into());
    add("checks_passed", execution.checks_passed().into());
    add("metrics", metrics_to_json(execution).into());
    add("shown", shown.into());
    add("directory", ran.directory.as_ref().map(|path| path.display().to_string()).into());
    if let Some(fault) = &ran.fault {
        add("fault", fault.clone());
    }
}
