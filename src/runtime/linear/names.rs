//! What states are called: by the outputs that show them.

use std::ops::Range;

use legwork_block::ContinuousState;
use legwork_program::{Part, Placed, Program};

use crate::comparison::quantity::list;
use crate::simulation::Simulation;

/// A state of a linearisation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateName {
    /// Path of the signal that shows it, such as `body.state.s[2]`, with `.turn[i]` behind it for
    /// a turn about world axis i; else path of the block and place, such as `pid.state[0]`.
    pub name: String,
    /// Its unit, if one is known.
    pub unit: Option<String>,
    /// Path of the block.
    pub block: String,
    /// Whether it is a discrete state.
    pub is_discrete: bool,
}

/// A number that a block puts out.
struct Shown {
    place: usize,
    name: String,
    unit: Option<String>,
}

/// Names of the coordinates of continuous states, in the order of the chart, then of numbers of
/// discrete states.
pub(super) fn names(
    program: &Program,
    simulation: &mut Simulation,
    discrete: &[(usize, Range<usize>)],
) -> Vec<StateName> {
    let mut out = Vec::new();
    let before = simulation.state().to_vec();
    // Other numbers than any that a signal holds by chance, near those of the run.
    let mark = |i: usize, x: f64| x + 1e-4 * (1.0 + x.abs()) * (1.0 + 0.618 * i as f64).fract();
    let marked: Vec<f64> = before.iter().enumerate().map(|(i, x)| mark(i, *x)).collect();
    let memories: Vec<(usize, Vec<f64>)> = discrete
        .iter()
        .map(|(node, _)| {
            let own = simulation.memory_of(*node);
            (*node, own.iter().enumerate().map(|(i, x)| mark(i + 7, *x)).collect())
        })
        .collect();
    let own = memories.iter().map(|(node, numbers)| (*node, numbers.as_slice()));
    simulation.go_on_from(&marked, own);
    // States that do not go together may fault; the outputs of blocks with state come first.
    let _ = simulation.advance_to_next_phase();
    for (i, node) in program.nodes.iter().enumerate() {
        if let Some(placed) = &node.continuous {
            let shown = shown(program, i);
            let find = |x: f64| find(&shown, simulation, x);
            let own = &marked[placed.x.range()];
            coordinates(&node.path, placed, own, find, &mut out);
        }
    }
    for (i, numbers) in &memories {
        let (shown, path) = (shown(program, *i), &program.nodes[*i].path);
        for (k, x) in numbers.iter().enumerate() {
            let (name, unit) = find(&shown, simulation, *x)
                .unwrap_or_else(|| (format!("{path}.state[{k}]"), None));
            out.push(StateName { name, unit, block: path.clone(), is_discrete: true });
        }
    }
    out
}

/// The numbers that a block puts out.
fn shown(program: &Program, node: usize) -> Vec<Shown> {
    let node = &program.nodes[node];
    let mut out = Vec::new();
    for (port, name) in node.output_names.iter().enumerate() {
        let path = match &**name {
            "" => node.path.clone(),
            name => format!("{}.{name}", node.path),
        };
        let at = program.signals.binary_search_by(|signal| signal.path.cmp(&path));
        let signal = at.ok().map(|at| &program.signals[at]);
        let units =
            signal.map_or((None, &[][..]), |one| (one.unit.as_deref(), one.units.as_slice()));
        let mut quantities = Vec::new();
        list(0, &path, units, &node.output_types[port], &mut quantities);
        let places: Vec<usize> =
            node.io.outputs.port(port).iter().flat_map(|slot| slot.range()).collect();
        for quantity in quantities {
            for (k, name) in quantity.elements.iter().enumerate() {
                if let Some(&place) = places.get(quantity.start + k) {
                    out.push(Shown { place, name: name.clone(), unit: quantity.unit.clone() });
                }
            }
        }
    }
    out
}

/// The number that holds `x`.
fn find(shown: &[Shown], simulation: &Simulation, x: f64) -> Option<(String, Option<String>)> {
    let holds = |one: &&Shown| {
        let y = simulation.arena()[one.place];
        (y - x).abs() <= 1e-12 * (1.0 + x.abs())
    };
    shown.iter().find(holds).map(|one| (one.name.clone(), one.unit.clone()))
}

/// Names of the coordinates of one block's continuous state.
fn coordinates(
    path: &str,
    placed: &Placed,
    x: &[f64],
    find: impl Fn(f64) -> Option<(String, Option<String>)>,
    out: &mut Vec<StateName>,
) {
    let first = out.len();
    let mut push = |name: String, unit: Option<String>| {
        out.push(StateName { name, unit, block: path.to_owned(), is_discrete: false });
    };
    let mut at = 0;
    let number = |i: usize| find(x[i]).unwrap_or_else(|| (format!("{path}.state[{i}]"), None));
    for part in &placed.parts {
        match part {
            Part::Euclidean(n) => {
                for i in at..at + n {
                    let (name, unit) = number(i);
                    push(name, unit);
                }
            }
            Part::Quaternion => {
                let (name, _) = number(at + 1);
                let whole = name.rsplit_once('[').map_or(name.as_str(), |(whole, _)| whole);
                for i in 0..3 {
                    push(format!("{whole}.turn[{i}]"), Some("rad".to_owned()));
                }
            }
            Part::EulerAngles => {
                for i in at..at + 3 {
                    push(number(i).0, Some("rad".to_owned()));
                }
            }
        }
        at += part.len();
    }
    if matches!(placed.state, ContinuousState::Second(_)) {
        let count = placed.parts.iter().map(|part| part.tangent_len()).sum::<usize>();
        for i in at..at + count {
            let (name, unit) = number(i);
            push(name, unit);
        }
    }
    debug_assert!(out.len() > first || x.is_empty(), "every coordinate has a name");
}
