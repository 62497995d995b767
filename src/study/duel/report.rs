//! A duel as JSON.

use serde_json::{Map, Value, json};

use super::cut::Cut;
use super::{Cell, Disagreement, Dispute, Duel, Score};

/// The whole object. Numbers that JSON has not, such as infinite differences, are null.
pub(super) fn to_json(outcome: &Duel) -> Map<String, Value> {
    let mut object = Map::new();
    let mut add = |name: &str, value: Value| object.insert(name.to_owned(), value);
    let count = outcome.disagreements();
    add("agrees", (count == 0).into());
    add("tolerance", outcome.tolerance.into());
    add("repeats", outcome.repeats.into());
    add("solvers", outcome.table.scores.iter().map(score).collect());
    add("problems", (0..outcome.given.len()).map(|i| problem(outcome, i)).collect());
    let beyond = &outcome.table.disputes[..count];
    add("disagreements", beyond.iter().map(|one| dispute(outcome, one)).collect());
    add("shrunk", outcome.cut.as_ref().map(|one| cut(outcome, one)).into());
    object
}

fn score(score: &Score) -> Value {
    json!({
        "solver": score.solver,
        "taken": score.accepted,
        "solved": score.solved,
        "refuted": score.refuted,
        "overclaimed": score.overclaimed,
        "unrepeatable": score.unrepeatable,
        "worst_residual": score.worst_residual,
        "median_residual": score.median_residual,
        "median_iterations": score.median_iterations,
        "most_iterations": score.most_iterations,
        "median_s": score.median_seconds,
        "worst_disagreement": score.worst_disagreement,
        "accuracy_rank": score.accuracy_rank,
        "time_rank": score.time_rank,
    })
}

fn problem(outcome: &Duel, index: usize) -> Value {
    let given = &outcome.given[index];
    let answers: Vec<Value> = (0..outcome.solvers.len())
        .map(|solver| {
            let cell = &outcome.table.cells[index][solver];
            answer(&outcome.solvers[solver], cell, outcome.is_taken(index, solver))
        })
        .collect();
    json!({
        "file": given.file.display().to_string(),
        "name": given.title,
        "origin": given.problem.origin,
        "kind": given.problem.problem.kind(),
        "unknowns": given.problem.problem.dim(),
        "answers": answers,
    })
}

fn answer(solver: &str, cell: &Cell, taken: bool) -> Value {
    if !taken {
        return json!({ "solver": solver, "taken": false });
    }
    json!({
        "solver": solver,
        "taken": true,
        "status": cell.status.name(),
        "iterations": cell.iterations,
        "residual": cell.residual,
        "median_s": cell.seconds,
        "differing_repeats": cell.differing_repeats,
        "disagreement": cell.disagreement,
        "solution": cell.solution,
    })
}

fn dispute(outcome: &Duel, dispute: &Dispute) -> Value {
    let (a, b) = dispute.solvers;
    let status = |solver: usize| outcome.table.cells[dispute.problem][solver].status.name();
    json!({
        "file": outcome.given[dispute.problem].file.display().to_string(),
        "solvers": [outcome.solvers[a], outcome.solvers[b]],
        "statuses": [status(a), status(b)],
        "kind": kind(dispute.disagreement),
        "size": dispute.disagreement.size(),
    })
}

/// The word for what two answers differ in.
fn kind(disagreement: Disagreement) -> &'static str {
    match disagreement {
        Disagreement::NotComparable => "not_comparable",
        Disagreement::Contradiction => "contradiction",
        Disagreement::Failure => "failure",
        Disagreement::None => "none",
        Disagreement::Distance(_) => "distance",
    }
}

fn cut(outcome: &Duel, cut: &Cut) -> Value {
    let dispute = &outcome.table.disputes[cut.dispute];
    let (a, b) = dispute.solvers;
    json!({
        "file": cut.file.display().to_string(),
        "from": outcome.given[dispute.problem].file.display().to_string(),
        "solvers": [outcome.solvers[a], outcome.solvers[b]],
        "unknowns_before": cut.unknowns.0,
        "unknowns": cut.unknowns.1,
        "kind": kind(cut.disagreement),
        "size": cut.disagreement.size(),
    })
}
