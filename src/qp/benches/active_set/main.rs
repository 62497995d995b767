//! Time per solve of the active-set methods: 12 unknowns, 20 rows.
//!
//! `cargo bench -p legwork-qp --bench active_set -- [ROW] [--problems FILE] [--seconds S]` prints a
//! line per row whose name contains ROW: name, median over many short batches [ns], mean changes of
//! the active set. The problems of a set are solved in turn, repeatedly. FILE is what
//! `benches/peers/make_qp.py` writes.

#![allow(clippy::print_stdout, reason = "a bench prints its table")]

mod problems;
#[path = "../common/timing.rs"]
mod timing;

use legwork_qp::{
    ContactMethod, ContactProblem, GeneralActiveSet, Outcome, PyramidActiveSet, Qp, Status,
};
use problems::Set;
use std::hint::black_box;
use std::path::PathBuf;

fn main() {
    let mut path = None;
    let mut seconds = 0.4;
    let mut filter = String::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--problems" => path = arguments.next().map(PathBuf::from),
            "--seconds" => {
                seconds = arguments.next().and_then(|s| s.parse().ok()).expect("a time in seconds");
            }
            "--bench" => {}
            row if !row.starts_with('-') => filter = row.to_string(),
            other => panic!("expected ROW, --problems FILE or --seconds S, found {other}"),
        }
    }
    for set in problems::cold_sets(path.as_deref()) {
        cold(&set, seconds, &filter);
    }
    let landing = problems::landing();
    cold(&landing, seconds, &filter);
    warm(&landing, seconds, &filter);
}

/// Every problem on its own.
fn cold(set: &Set, seconds: f64, filter: &str) {
    let mut solver = PyramidActiveSet::new(4, 4);
    let mut forces = [0.0; 12];
    time(&format!("pyramid/{}/cold", set.name), filter, seconds, set, |_, problem| {
        solver.solve(black_box(problem), &mut forces)
    });
    let dense = dense(set);
    let mut solver = GeneralActiveSet::new(12, 20);
    time(&format!("general/{}/cold", set.name), filter, seconds, set, |index, _| {
        solver.solve(black_box(&dense[index].view()), &mut forces)
    });
}

/// Every problem from the active set of the one before it.
fn warm(set: &Set, seconds: f64, filter: &str) {
    let mut solver = PyramidActiveSet::new(4, 4);
    let (mut forces, mut flags) = ([0.0; 12], [0.0; 20]);
    time(&format!("pyramid/{}/warm", set.name), filter, seconds, set, |_, problem| {
        solver.solve_warm(&black_box(*problem).into(), &mut flags, &mut forces)
    });
    let dense = dense(set);
    let mut solver = GeneralActiveSet::new(12, 20);
    let mut sides = [0.0; 32];
    time(&format!("general/{}/warm", set.name), filter, seconds, set, |index, _| {
        solver.solve_warm(black_box(&dense[index].view()), &mut sides, &mut forces)
    });
}

fn time(
    name: &str,
    filter: &str,
    seconds: f64,
    set: &Set,
    mut solve: impl FnMut(usize, &ContactProblem<'_>) -> Outcome,
) {
    if !name.contains(filter) {
        return;
    }
    let views: Vec<_> = set.problems.iter().map(|p| p.view()).collect();
    let mut changes = 0;
    for (index, view) in views.iter().enumerate() {
        let outcome = solve(index, view);
        assert_eq!(outcome.status, Status::Solved, "{name}, problem {index}: {outcome:?}");
        changes += outcome.iterations;
    }
    let mut next = 0;
    let median = timing::median_ns(seconds, || {
        black_box(solve(next, &views[next])).status.is_usable().then_some(()).expect("solved");
        next = if next + 1 == views.len() { 0 } else { next + 1 };
    });
    let mean = f64::from(changes) / views.len() as f64;
    println!("{name:<28} {median:>8.0} {mean:>6.2}");
}

/// A contact problem written out for the general solver.
struct Dense {
    hessian: Vec<f64>,
    gradient: Vec<f64>,
    rows: Vec<f64>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Dense {
    fn view(&self) -> Qp<'_> {
        Qp {
            hessian: &self.hessian,
            gradient: &self.gradient,
            rows: &self.rows,
            row_lower: &self.lower,
            row_upper: &self.upper,
            lower: &[],
            upper: &[],
        }
    }
}

fn dense(set: &Set) -> Vec<Dense> {
    set.problems
        .iter()
        .map(|problem| {
            let view = problem.view();
            let mut dense = Dense {
                hessian: vec![0.0; 144],
                gradient: problem.bias.clone(),
                rows: vec![0.0; 240],
                lower: vec![f64::NEG_INFINITY; 20],
                upper: vec![0.0; 20],
            };
            view.hessian_into(&mut dense.hessian);
            view.cone_rows_into(&mut dense.rows);
            dense
        })
        .collect()
}
