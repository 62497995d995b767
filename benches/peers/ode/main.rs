//! The variable-step kernels beside those of diffsol on one linear system of 36 states: a chain of
//! 18 masses on springs and dampers, forced at one end.
//!
//! ```text
//! cd benches/peers/ode && cargo run --release
//! ```
//!
//! Both sides integrate the same function over the same time at the same tolerances (diffsol's rms
//! norm and weights are those of the kernels), each with its own choice of steps. A run is
//! everything from the initial state to the end; what diffsol allocates to make a solver is not
//! counted. The fastest of many runs is printed, one side after the other in turn, with the error
//! at the end against Dormand-Prince at 1e-13. Equal tolerances do not give equal errors, so the
//! kernels run at a tenth of diffsol's tolerance as well.
//!
//! The rows "diagram" run the same system as a block diagram (a `StateSpace` pushed by an `Fcn`),
//! from the first major step to the last, nothing recorded: what the engine adds to its kernel.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use diffsol::{NalgebraLU, NalgebraMat, NalgebraVec, OdeBuilder, OdeEquations, OdeSolverMethod};
use diffsol::{OdeSolverStopReason, VectorCommon};
use legwork::runtime::Simulation;
use legwork_runtime::ode::{Bdf, DormandPrince54, Esdirk43, Flow, Kernel, Tolerance};

const MASSES: usize = 18;
const STATES: usize = 2 * MASSES;
const RUNS: usize = 200;

type Matrix = [f64; STATES * STATES];

/// `u̇ = A u + b sin t`, A column-major.
fn rate(a: &Matrix, t: f64, u: &[f64], rate: &mut [f64]) {
    product(a, u, rate);
    rate[STATES - 1] += t.sin();
}

fn product(a: &Matrix, u: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (column, u) in a.chunks_exact(STATES).zip(u) {
        for (r, a) in out.iter_mut().zip(column) {
            *r += a * u;
        }
    }
}

/// Springs of `stiffness` [N/m] and dampers of `damping` [N s/m] between masses of 1 kg, the first
/// one at the wall; states are positions, then velocities.
fn chain(stiffness: f64, damping: f64) -> Matrix {
    let mut a = [0.0; STATES * STATES];
    for i in 0..MASSES {
        a[(MASSES + i) * STATES + i] = 1.0;
        for j in 0..MASSES {
            let k = match i.abs_diff(j) {
                0 if i + 1 == MASSES => 1.0,
                0 => 2.0,
                1 => -1.0,
                _ => continue,
            };
            a[j * STATES + MASSES + i] = -stiffness * k;
            a[(MASSES + j) * STATES + MASSES + i] = -damping * k;
        }
    }
    a
}

struct Chain<'a> {
    matrix: &'a Matrix,
}

impl Flow for Chain<'_> {
    type Error = Infallible;

    fn rate(&mut self, t: f64, u: &[f64], out: &mut [f64]) -> Result<(), Infallible> {
        rate(self.matrix, t, u, out);
        Ok(())
    }

    fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
        for (m, u) in magnitude.iter_mut().zip(u) {
            *m = u.abs();
        }
    }
}

fn start() -> [f64; STATES] {
    let mut u = [0.0; STATES];
    u[MASSES - 1] = 0.1;
    u
}

/// One run of a kernel; the state at the end is left in it.
fn ours(kernel: &mut impl Kernel, matrix: &Matrix, end: f64) -> Duration {
    let mut flow = Chain { matrix };
    let u = start();
    let begin = Instant::now();
    let mut first = [0.0; STATES];
    rate(matrix, 0.0, &u, &mut first);
    kernel.begin(0.0, &u, &first, None);
    while kernel.t() < end {
        let Ok(()) = kernel.step(&mut flow, black_box(end)) else {
            panic!("a linear system is integrated");
        };
    }
    begin.elapsed()
}

/// The same system as a diagram that stops for a major step `parts` times.
fn diagram(
    matrix: &Matrix,
    end: f64,
    parts: u32,
    solver: &str,
) -> Result<Simulation, Box<dyn Error>> {
    let list = |numbers: &[f64]| {
        let numbers: Vec<String> = numbers.iter().map(|number| format!("{number:?}")).collect();
        format!("[{}]", numbers.join(", "))
    };
    let row = |i: usize| list(&(0..STATES).map(|j| matrix[j * STATES + i]).collect::<Vec<_>>());
    let rows: Vec<String> = (0..STATES).map(row).collect();
    let mut last = [0.0; STATES];
    last[STATES - 1] = 1.0;
    let mut text = String::new();
    write!(
        text,
        r#"Diagram(run: (stop: {end:?}, step: "={end:?}/{parts}", solver: {solver}), blocks: {{
            "push": Fcn(expression: "sin(t)"),
            "chain": StateSpace(a: [{}], b: {}, c: {}, initial: {}, in: {{ "u": "push.y" }}),
        }}, log: [])"#,
        rows.join(", "),
        list(&last),
        list(&last),
        list(&start()),
    )?;
    let mut registry = legwork::block::Registry::default();
    legwork::blocks::register(&mut registry);
    let options = legwork::diagram::Options::default();
    let compiled = legwork::diagram::compile(
        Path::new("chain.ron"),
        text.as_bytes(),
        &options,
        &registry,
        &legwork::Disk,
    );
    let program = compiled.program.ok_or_else(|| {
        legwork::diagram::render::to_text(&compiled.diagnostics, &compiled.sources)
    })?;
    Ok(Simulation::new(Arc::new(program)))
}

/// Runs a diagram and diffsol in turn and prints the comparison.
fn compare_diagram(
    name: &str,
    matrix: &Matrix,
    end: f64,
    parts: u32,
    solver: &str,
    mut peer: impl FnMut() -> Result<Run, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut simulation = diagram(matrix, end, parts, solver)?;
    let beginning = simulation.snapshot();
    let (mut best, mut best_peer) = (Duration::MAX, Duration::MAX);
    let mut difference = 0.0f64;
    for _ in 0..RUNS {
        simulation.restore(&beginning)?;
        let begin = Instant::now();
        simulation.run()?;
        best = best.min(begin.elapsed());
        let (elapsed, state, _) = peer()?;
        best_peer = best_peer.min(elapsed);
        difference =
            simulation.state().iter().zip(&state).fold(0.0, |m, (a, b)| m.max((a - b).abs()));
    }
    println!(
        "{name:46} {:9.1} µs {:9.1} µs {:6.2}   they differ by {difference:.1e}",
        best.as_secs_f64() * 1e6,
        best_peer.as_secs_f64() * 1e6,
        best.as_secs_f64() / best_peer.as_secs_f64(),
    );
    Ok(())
}

/// Time, state at the end and number of steps.
type Run = (Duration, Vec<f64>, usize);

/// One run of diffsol; the state at the end.
fn theirs<'a, E>(mut solver: impl OdeSolverMethod<'a, E>, end: f64) -> Result<Run, Box<dyn Error>>
where
    E: OdeEquations<T = f64, V = NalgebraVec<f64>> + 'a,
{
    let begin = Instant::now();
    solver.set_stop_time(black_box(end))?;
    let mut steps = 1;
    while !matches!(solver.step()?, OdeSolverStopReason::TstopReached) {
        steps += 1;
    }
    let elapsed = begin.elapsed();
    let state = solver.state().y.inner().as_slice().to_vec();
    Ok((elapsed, state, steps))
}

/// Runs both sides in turn and prints the comparison.
fn compare(
    name: &str,
    matrix: &Matrix,
    end: f64,
    kernel: &mut impl Kernel,
    mut peer: impl FnMut() -> Result<Run, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut reference =
        DormandPrince54::new(STATES, Tolerance { relative: 1e-13, absolute: 1e-14 });
    ours(&mut reference, matrix, end);
    let error =
        |u: &[f64]| u.iter().zip(reference.u()).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
    let (mut best, mut best_peer) = (Duration::MAX, Duration::MAX);
    let mut before = kernel.counts();
    let mut after = before;
    let (mut peer_error, mut peer_steps) = (0.0, 0);
    for _ in 0..RUNS {
        before = after;
        best = best.min(ours(kernel, matrix, end));
        after = kernel.counts();
        let (elapsed, state, steps) = peer()?;
        best_peer = best_peer.min(elapsed);
        (peer_error, peer_steps) = (error(&state), steps);
    }
    println!(
        "{name:46} {:9.1} µs {:9.1} µs {:6.2}   {:5} / {:<5} {:8.1e} / {:<8.1e} {:6} rates {:3} LU",
        best.as_secs_f64() * 1e6,
        best_peer.as_secs_f64() * 1e6,
        best.as_secs_f64() / best_peer.as_secs_f64(),
        after.steps - before.steps,
        peer_steps,
        error(kernel.u()),
        peer_error,
        after.rates - before.rates,
        after.factorizations - before.factorizations,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:46} {:>12} {:>12} {:>6}   {:>13} {:>19}",
        "36 states, tolerance 1e-6", "ours", "diffsol", "ratio", "steps", "error at the end"
    );
    let tolerance = Tolerance { relative: 1e-6, absolute: 1e-6 };
    let soft = chain(100.0, 1.0);
    let stiff = chain(1e5, 1e3);
    for (kind, matrix, end) in [("soft", &soft, 2.0), ("stiff", &stiff, 2.0)] {
        let problem = OdeBuilder::<NalgebraMat<f64>>::new()
            .rtol(tolerance.relative)
            .atol([tolerance.absolute])
            .p([])
            .rhs_implicit(
                |u: &[f64], _: &[f64], t: f64, out: &mut [f64]| rate(matrix, t, u, out),
                |_: &[f64], _: &[f64], _: f64, v: &[f64], out: &mut [f64]| product(matrix, v, out),
            )
            .init(|_: &[f64], _: f64, u: &mut [f64]| u.copy_from_slice(&start()), STATES)
            .build()?;
        for (parts, steps) in [(1, "one major step"), (20, "20 major steps")] {
            let name = |pair: &str| format!("{kind}, diagram, {steps}, {pair}");
            let solver = |name: &str| format!("{name}(rtol: 1e-6, atol: 1e-6)");
            if kind == "soft" {
                let peer = || theirs(problem.tsit45()?, end);
                let solver = solver("DormandPrince");
                compare_diagram(&name("DP | Tsit45"), matrix, end, parts, &solver, peer)?;
            }
            let peer = || theirs(problem.bdf::<NalgebraLU<f64>>()?, end);
            compare_diagram(&name("BDF | BDF"), matrix, end, parts, &solver("Bdf"), peer)?;
            let peer = || theirs(problem.esdirk34::<NalgebraLU<f64>>()?, end);
            compare_diagram(&name("ESDIRK"), matrix, end, parts, &solver("Esdirk"), peer)?;
        }
        for factor in [1.0, 0.1] {
            let own = Tolerance { relative: factor * 1e-6, absolute: factor * 1e-6 };
            let label = |pair: &str| match factor {
                1.0 => format!("{kind}, {pair}"),
                _ => format!("{kind}, ours at 1e-7, {pair}"),
            };
            if kind == "soft" {
                let mut kernel = DormandPrince54::new(STATES, own);
                let peer = || theirs(problem.tsit45()?, end);
                compare(&label("Dormand-Prince | Tsit45"), matrix, end, &mut kernel, peer)?;
            }
            let mut kernel = Bdf::new(STATES, own);
            let peer = || theirs(problem.bdf::<NalgebraLU<f64>>()?, end);
            compare(&label("BDF | BDF"), matrix, end, &mut kernel, peer)?;
            let mut kernel = Esdirk43::new(STATES, own);
            let peer = || theirs(problem.esdirk34::<NalgebraLU<f64>>()?, end);
            compare(&label("ESDIRK43 | ESDIRK34"), matrix, end, &mut kernel, peer)?;
        }
    }
    Ok(())
}
