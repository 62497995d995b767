//! A comparison as JSON.

use legwork_runtime::comparison::{Difference, Divergence, Quantity};
use serde_json::{Map, Value, json};

use super::VariantComparison;
use super::differences::{Compared, Comparison, source};
use super::runs::{SolverFigures, Totals, VariantRun};
use crate::run::fault_to_json;

/// The whole object. Numbers that JSON has not, such as infinite differences, are null.
pub(super) fn to_json(outcome: &VariantComparison) -> Map<String, Value> {
    let reference = &outcome.runs[outcome.reference];
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    add("diagram", outcome.diagram.as_str().into());
    add("reference", reference.name().into());
    add("agrees", outcome.agrees().into());
    add("step_s", reference.run.execution.program.run.step.to_f64().into());
    add("jobs", outcome.jobs.into());
    add("differs_in", outcome.different.clone().into());
    add("runs", outcome.runs.iter().map(run_to_json).collect());
    let others = outcome.runs.iter().zip(&outcome.comparisons);
    let comparisons: Vec<Value> = others
        .filter_map(|(one, comparison)| Some((one, comparison.as_ref()?)))
        .map(|(one, comparison)| comparison_to_json(outcome, one, comparison))
        .collect();
    add("comparisons", comparisons.into());
    object
}

fn run_to_json(one: &VariantRun) -> Value {
    let execution = &one.run.execution;
    let choices: Map<String, Value> = one
        .combination
        .choices
        .iter()
        .map(|(name, choice)| (name.clone(), choice.clone().into()))
        .collect();
    let total = Totals::of(&one.solvers());
    let mut json = json!({
        "name": one.name(),
        "choices": choices,
        "program_hash": format!("{:016x}", execution.program.hash()),
        "sim_time_s": execution.sim_time,
        "steps": execution.steps,
        "wall_s": execution.wall,
        "step_ns": one.step_cost().map(|cost| cost * 1e9),
        "real_time_factor": execution.real_time_factor(),
        "solver_calls": execution.solver_calls(),
        "solver_failures": execution.solver_failures(),
        "mean_iterations": total.mean_iterations,
        "max_iterations": total.max_iterations,
        "worst_residual": total.worst_residual,
        "solvers": one.solvers().iter().map(solver_to_json).collect::<Vec<_>>(),
        "checks": execution.checks_to_json(),
        "checks_passed": execution.checks_passed(),
        "metrics": execution.metrics_to_json(),
        "recording": one.file.as_ref().map(|file| file.display().to_string()),
    });
    if let Some(fault) = &execution.fault {
        json["fault"] = fault_to_json(fault, one.run.model.sources());
    }
    json
}

fn solver_to_json(solver: &SolverFigures) -> Value {
    json!({
        "block": solver.block,
        "calls": solver.calls,
        "failures": solver.failures,
        "mean_iterations": solver.mean_iterations,
        "max_iterations": solver.max_iterations,
        "worst_residual": solver.worst_residual,
        "notes": solver.notes,
    })
}

fn comparison_to_json(
    outcome: &VariantComparison,
    one: &VariantRun,
    comparison: &Comparison,
) -> Value {
    let program = &outcome.runs[outcome.reference].run.execution.program;
    let first = comparison.first.as_ref().map(|first| {
        let quantity = &outcome.compared[first.quantity].quantity;
        place(&first.at, quantity, &first.source.block, &first.source.port)
    });
    let signals: Vec<Value> = comparison
        .found(&outcome.compared)
        .map(|(compared, difference)| {
            let at = |divergence: &Divergence| {
                let from = source(program, &compared.quantity, divergence.element);
                place(divergence, &compared.quantity, &from.block, &from.port)
            };
            signal_to_json(compared, difference, &at)
        })
        .collect();
    let missing: Vec<&str> = outcome
        .compared
        .iter()
        .zip(&comparison.differences)
        .filter(|(_, difference)| difference.is_none())
        .map(|(compared, _)| compared.quantity.name.as_str())
        .collect();
    json!({
        "run": one.name(),
        "against": outcome.runs[outcome.reference].name(),
        "agrees": comparison.is_within(),
        "signals_beyond": comparison.beyond(),
        "first_divergence": first,
        "signals": signals,
        "not_compared": missing,
    })
}

fn signal_to_json(
    compared: &Compared,
    difference: &Difference,
    at: &dyn Fn(&Divergence) -> Value,
) -> Value {
    json!({
        "signal": compared.quantity.name,
        "unit": compared.quantity.unit,
        "rows": difference.rows,
        "rows_unmatched": difference.unmatched,
        "max": difference.max,
        "mean": difference.mean,
        "rms": difference.rms,
        "scale": difference.scale,
        "max_relative": difference.max_relative(),
        "rms_relative": difference.rms_relative(),
        "tolerance": difference.tolerance,
        "agrees": difference.is_within(),
        "largest": difference.largest.as_ref().map(at),
        "first_beyond": difference.first_beyond.as_ref().map(at),
    })
}

fn place(divergence: &Divergence, quantity: &Quantity, block: &str, port: &str) -> Value {
    json!({
        "t": divergence.t,
        "block": block,
        "port": port,
        "signal": quantity.name,
        "element": quantity.elements[divergence.element],
        "unit": quantity.unit,
        "reference": divergence.reference,
        "value": divergence.other,
    })
}
