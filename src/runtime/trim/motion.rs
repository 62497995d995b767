//! What moves, by the names of signals.

use std::sync::Arc;

use legwork_block::Slot;
use legwork_program::{Program, ProgramParts};

use super::TrimError;
use super::map::{Map, Point};
use crate::comparison::Quantity;
use crate::comparison::quantity::list;
use crate::simulation::{Cursor, Simulation};

/// How far or how fast a number moves.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Path of the number, such as `body.state.base.position[2]`.
    pub name: String,
    /// Unit of the number, if one is known.
    pub unit: Option<String>,
    /// What the number is at t = 0, in its unit.
    pub start: f64,
    /// The largest distance from there [its unit], or its rate [its unit / s].
    pub amount: f64,
}

/// How far the outputs of blocks with state get from where they begin, in `duration` [s] from t =
/// 0, whatever the program's stop time is; the farthest first.
///
/// # Errors
/// The first fault.
pub fn drift(program: &Program, duration: f64) -> Result<Vec<Motion>, TrimError> {
    let parts = program.clone().into_parts();
    let stop_tick = ((duration / parts.base.to_f64()).round() as u64).max(1);
    let program = Arc::new(Program::new(ProgramParts { stop_tick, ..parts }));
    let mut simulation = Simulation::new(Arc::clone(&program));
    let mut watch = Watch::new(&program, &simulation);
    while simulation.cursor() != Cursor::Done {
        if simulation.cursor() == Cursor::Observe {
            watch.see(simulation.arena());
        }
        simulation.advance_holding(&[])?;
    }
    Ok(watch.motions(1.0))
}

/// How fast they move in the first period of a run that begins at `point`.
pub(super) fn motions(map: &Map, point: &Point) -> Result<Vec<Motion>, TrimError> {
    let (mut simulation, held) = map.begin(point);
    let mut watch = Watch::new(&map.program, &simulation);
    loop {
        if simulation.cursor() == Cursor::Observe {
            watch.see(simulation.arena());
            if simulation.tick() >= map.ticks {
                break;
            }
        }
        if simulation.cursor() == Cursor::Done {
            break;
        }
        simulation.advance_holding(&held)?;
    }
    Ok(watch.motions(map.length))
}

/// The numbers that blocks with state put out.
struct Watch {
    quantities: Vec<Quantity>,
    /// Slots of each signal.
    signals: Vec<Vec<Slot>>,
    /// Their first values.
    start: Vec<f64>,
    /// The largest distances from them.
    farthest: Vec<f64>,
}

impl Watch {
    fn new(program: &Program, simulation: &Simulation) -> Self {
        let (mut quantities, mut signals) = (Vec::new(), Vec::new());
        for (i, node) in program.nodes.iter().enumerate() {
            if node.continuous.is_none() && simulation.numbers_of(i).is_empty() {
                continue;
            }
            for (port, name) in node.output_names.iter().enumerate() {
                let path = format!("{}.{name}", node.path);
                let at = program.signals.binary_search_by(|signal| signal.path.cmp(&path));
                let signal = at.ok().map(|at| &program.signals[at]);
                let units = signal.map_or((None, &[][..]), |signal| {
                    (signal.unit.as_deref(), signal.units.as_slice())
                });
                list(signals.len(), &path, units, &node.output_types[port], &mut quantities);
                signals.push(node.io.outputs.port(port).to_vec());
            }
        }
        Self { quantities, signals, start: Vec::new(), farthest: Vec::new() }
    }

    fn see(&mut self, arena: &[f64]) {
        let slots = self.signals.iter().flatten();
        let numbers = slots.flat_map(|slot| arena[slot.range()].iter().copied());
        if self.start.is_empty() {
            self.start.extend(numbers);
            self.farthest.resize(self.start.len(), 0.0);
            return;
        }
        for ((most, start), now) in self.farthest.iter_mut().zip(&self.start).zip(numbers) {
            *most = most.max((now - start).abs());
        }
    }

    /// Distances over `length`, the largest first.
    fn motions(self, length: f64) -> Vec<Motion> {
        let len = |slots: &Vec<Slot>| slots.iter().map(|slot| slot.len as usize).sum::<usize>();
        let firsts: Vec<usize> = self
            .signals
            .iter()
            .scan(0, |at, slots| {
                let first = *at;
                *at += len(slots);
                Some(first)
            })
            .collect();
        let mut motions = Vec::new();
        for quantity in &self.quantities {
            let numbers = firsts[quantity.channel] + quantity.start..;
            for (name, i) in quantity.elements.iter().zip(numbers) {
                motions.push(Motion {
                    name: name.clone(),
                    unit: quantity.unit.clone(),
                    start: self.start.get(i).copied().unwrap_or(0.0),
                    amount: self.farthest.get(i).copied().unwrap_or(0.0) / length,
                });
            }
        }
        motions.sort_by(|a, b| b.amount.total_cmp(&a.amount));
        motions
    }
}
