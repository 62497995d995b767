//! Linearisations block by block against differences of the whole program.

use std::path::Path;

use legwork_block::Type;
use legwork_diagram::Options;
use legwork_program::{Program, Rate};
use legwork_runtime::linear::{
    How, InputPlace, LinearOptions, Linearised, Method, Quality, check_slopes, linearize,
};
use libtest_mimic::Failed;

/// Agreement of smooth columns, relative to the largest slope of the row or of the column, to which
/// differences are exact; of those that are close to a kink as far as their two sides agree.
const SMOOTH: f64 = 1e-6;
const CLOSE: f64 = 1e-3;

/// Outputs that are compared, from all over the schedule.
const MOST_OUTPUTS: usize = 1000;

/// How far from the run the derivatives of blocks are checked, of the size of a number.
const SHIFT: f64 = 0.05;

/// States, and numbers in signals, of a diagram that is differenced as a whole: more takes minutes.
const MOST_STATES: usize = 100;
const MOST_NUMBERS: usize = 20_000;

/// Steps of the period in which all rates come round: what is held is told by running for one.
const MOST_STEPS: u64 = 1000;

/// Steps after which diagrams are linearised: robots have landed at the last.
const STEPS: [u64; 3] = [0, 7, 300];

/// Signals are outputs; inputs are all ports and some signals, opened or added to.
fn ends(program: &Program) -> (Vec<InputPlace>, Vec<u32>) {
    let mut inputs = Vec::new();
    let mut outputs = Vec::new();
    for step in &program.schedule {
        let node = &program.nodes[step.node];
        let is_port = program.inputs.iter().any(|port| port.node == step.node);
        for (port, ty) in node.output_types.iter().enumerate() {
            // What the tolerance of an iteration leaves of a residual and of the forces of stiff
            // rows that are redundant, and lengths of what is nearly at rest, are not smooth.
            let is_rough = node.kind == "ContactMetrics"
                || (node.kind == "ConstraintSolver"
                    && ["residual", "lambda"].contains(&&*node.output_names[port]));
            if is_rough || !matches!(ty, Type::Real | Type::Vector(_) | Type::Bus(_)) {
                continue;
            }
            let is_smooth = matches!(ty, Type::Real | Type::Vector(_));
            for slot in node.io.outputs.port(port) {
                if step.own.range().contains(&(slot.start as usize)) {
                    outputs.extend(slot.start..slot.start + slot.len);
                    if is_smooth && slot.len > 0 && (is_port || step.rate == Rate::Continuous) {
                        inputs.push(slot.start);
                    }
                }
            }
        }
    }
    let solves: Vec<u32> = program
        .loops
        .iter()
        .flat_map(|found| found.unknowns.iter().map(|unknown| unknown.output.start))
        .collect();
    let inputs: Vec<InputPlace> = inputs
        .into_iter()
        .filter(|place| !solves.contains(place))
        .enumerate()
        .map(|(i, place)| InputPlace { place, adds: i % 2 == 0 })
        .collect();
    // A few of many, from all over the schedule.
    let every = inputs.len().div_ceil(6).max(1);
    let each = outputs.len().div_ceil(MOST_OUTPUTS).max(1);
    (inputs.into_iter().step_by(every).collect(), outputs.into_iter().step_by(each).collect())
}

/// Ticks after which all rates come round, at most a number that is too large.
fn period(program: &Program) -> u64 {
    let rates = program.nodes.iter().flat_map(|node| [node.rate, node.update_rate]);
    let periods = rates.filter_map(|rate| match rate {
        Rate::Periodic { period, .. } if period <= program.stop_tick => Some(period),
        _ => None,
    });
    let divisor = |mut a: u64, mut b: u64| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    periods.fold(1, |all, period| (all / divisor(all, period)).saturating_mul(period))
}

pub(crate) fn of_blocks_are_those_of_the_whole(path: &Path) -> Result<(), Failed> {
    let compiled = super::compile_file(path, &Options::default())?;
    let program = compiled.program.ok_or("it does not compile")?;
    let (inputs, outputs) = ends(&program);
    let is_long = period(&program) > MOST_STEPS * program.step_ticks;
    if is_long || program.state_len > MOST_STATES || program.arena_len > MOST_NUMBERS {
        return Ok(());
    }
    let (mut checks, mut comparisons) = (0, 0);
    for steps in STEPS {
        let time =
            (program.base.at(program.step_ticks) * steps as f64).min(program.run.stop.to_f64());
        let by = |method: Method| {
            let (inputs, outputs) = (inputs.clone(), outputs.clone());
            linearize(
                &program,
                &LinearOptions { time, sampled: Some(false), method, inputs, outputs },
            )
        };
        for seed in 0..2 {
            let options =
                LinearOptions { time, inputs: inputs.clone(), ..LinearOptions::default() };
            // A state beside that of the run may fault.
            let Ok(checked) = check_slopes(&program, &options, (SHIFT, seed)) else { continue };
            checks += 1;
            if let Some(apart) = checked.iter().find(|one| one.error > SMOOTH) {
                return Err(format!("{apart:?}").into());
            }
        }
        match (by(Method::Blocks), by(Method::Differences)) {
            (Ok(blocks), Ok(whole)) => {
                comparisons += 1;
                same(&program, &outputs, &blocks, &whole)
                    .map_err(|told| format!("at t = {time} s: {told}"))?;
            }
            (Err(_), Err(_)) => {}
            (Ok(_), Err(fault)) | (Err(fault), Ok(_)) => {
                return Err(format!("at t = {time} s, by one method: {fault}").into());
            }
        }
    }
    match (checks, comparisons) {
        (0, _) | (_, 0) => Err("its slopes are checked at no moment".into()),
        _ => Ok(()),
    }
}

fn same(
    program: &Program,
    outputs: &[u32],
    blocks: &Linearised,
    whole: &Linearised,
) -> Result<(), String> {
    let (n, m) = (whole.states.len(), whole.input_values.len());
    let mut apart = Vec::new();
    let columns = |rows: &[f64], columns: usize, of: &mut [f64]| {
        for row in rows.chunks(columns.max(1)) {
            of.iter_mut().zip(row).for_each(|(most, slope)| *most = most.max(slope.abs()));
        }
    };
    let mut of_columns = vec![1.0_f64; n + m];
    columns(&whole.a, n, &mut of_columns[..n]);
    columns(&whole.c, n, &mut of_columns[..n]);
    columns(&whole.b, m, &mut of_columns[n..]);
    columns(&whole.d, m, &mut of_columns[n..]);
    let mut compare = |name: &dyn Fn(usize) -> String, (a, b): (&[f64], &[f64]), first: usize| {
        let count = if first == 0 { n } else { m };
        for (i, (a, b)) in a.chunks(count.max(1)).zip(b.chunks(count.max(1))).enumerate() {
            let largest = b.iter().fold(0.0_f64, |most, slope| most.max(slope.abs()));
            for (j, (a, b)) in a.iter().zip(b).enumerate() {
                let quality = blocks.quality[first + j].max(whole.quality[first + j]);
                let tolerance = match quality {
                    Quality::Smooth => SMOOTH,
                    Quality::Close => CLOSE,
                    Quality::Kink | Quality::OneSided => continue,
                };
                if (a - b).abs() > tolerance * largest.max(of_columns[first + j]) {
                    apart.push(format!("{} by {}: {a} for {b} ({quality:?})", name(i), first + j));
                }
            }
        }
    };
    let of_state = |i: usize| whole.states[i].name.clone();
    let of_output = |i: usize| place(program, outputs[i]);
    compare(&of_state, (&blocks.a, &whole.a), 0);
    compare(&of_state, (&blocks.b, &whole.b), n);
    compare(&of_output, (&blocks.c, &whole.c), 0);
    compare(&of_output, (&blocks.d, &whole.d), n);
    if apart.is_empty() {
        return Ok(());
    }
    let how: Vec<String> = blocks
        .blocks
        .iter()
        .filter(|block| block.how != How::Analytic)
        .map(|block| format!("{} {} {:?}", block.path, block.kind, block.how))
        .collect();
    apart.truncate(12);
    Err(format!("{}\n{}", apart.join("\n"), how.join("\n")))
}

/// The signal at a place of the arena.
fn place(program: &Program, place: u32) -> String {
    let at = |node: &&legwork_program::Node| {
        let ports = 0..node.io.outputs.port_count();
        ports
            .flat_map(|port| node.io.outputs.port(port))
            .any(|slot| slot.range().contains(&(place as usize)))
    };
    program
        .nodes
        .iter()
        .find(at)
        .map_or(String::new(), |node| format!("{} ({})", node.path, node.kind))
}
