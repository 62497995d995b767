//! Long runs.

use std::sync::Arc;

use allocation_counter::measure;
use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Options, compile};
use legwork_runtime::{Cursor, Simulation};

use crate::repository;

/// Runs `file` for so many seconds; what was seen.
///
/// # Errors
/// What is not as promised.
pub(crate) fn soak(file: &str, seconds: &str) -> Result<String, String> {
    let path = repository(file);
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let options = Options { until: Some(format!("{seconds} s")), ..Options::default() };
    let text = std::fs::read(&path).map_err(|error| error.to_string())?;
    let compiled = compile(&path, &text, &options, &registry, &Disk);
    let program = Arc::new(compiled.program.ok_or("the diagram does not compile")?);
    let end: f64 = seconds.parse().map_err(|_| "expected seconds")?;

    let mut simulation = Simulation::unwatched(Arc::clone(&program));
    // Memory that is made when it is first needed.
    run(&mut simulation, (0.25 * end).min(2.0))?;
    let mut outcome = Ok(());
    let info = measure(|| outcome = run(&mut simulation, 0.5 * end));
    outcome?;
    if info.count_total > 0 {
        return Err(format!("{} allocations", info.count_total));
    }
    let half = simulation.to_bytes().map_err(|error| error.to_string())?;
    run(&mut simulation, f64::INFINITY)?;
    if simulation.time() != end {
        return Err(format!("the end is at {} s", simulation.time()));
    }
    let resumed = Simulation::from_bytes(Arc::clone(&program), &half);
    let mut resumed = resumed.map_err(|error| error.to_string())?;
    run(&mut resumed, f64::INFINITY)?;
    let bits = |simulation: &Simulation| -> Vec<u64> {
        simulation.arena().iter().chain(simulation.state()).map(|value| value.to_bits()).collect()
    };
    if bits(&simulation) != bits(&resumed) {
        return Err("the resumed half ends in other bits".to_owned());
    }
    let steps = simulation.step_count();
    Ok(format!("{file}: {steps} steps, no allocation, equal bits, end at {end} s"))
}

/// Steps until `t` [s] or the end.
fn run(simulation: &mut Simulation, t: f64) -> Result<(), String> {
    while simulation.cursor() != Cursor::Done && simulation.time() < t {
        simulation.step().map_err(|fault| fault.to_string())?;
    }
    Ok(())
}
