//! Which state grew before a fault.
//!
//! A run that blows up ends in whatever cannot take its numbers first: a matrix that is singular
//! to rounding, an infinite output, a solver that gives up. What went wrong is the growth before,
//! so the largest number of every state is noted at each major step, for the last of them.

use legwork_block::{ContinuousState, Fault, Slot};
use legwork_program::{NodeId, Program};

use super::engine::Engine;
use crate::comparison::quantity::number_name;
use crate::fault::RunFault;

/// Most major steps that are looked back at.
const MOST_ROWS: usize = 256;
/// Most numbers that are kept for that.
const MOST_NUMBERS: usize = 1 << 17;
/// Most numbers of a block's outputs that stand for its discrete state.
const MOST_OF_OUTPUT: u32 = 64;
/// A state has diverged if it grew by this factor, and to more than [`LARGE`].
const FACTOR: f64 = 1e3;
/// In SI units, whatever they are.
const LARGE: f64 = 1e2;
/// Where growth begins: this far above what was usual before.
const BEGIN: f64 = 10.0;

/// Where the state of a block is seen.
#[derive(Clone, Copy)]
enum Seen {
    /// In the state vector.
    Continuous(Slot),
    /// In its first output, which a discrete state makes.
    Output(Slot),
}

/// The largest numbers of all states at the last major steps.
pub(super) struct Growth {
    tracked: Vec<(NodeId, Seen)>,
    /// Row by row: the time, then the number of largest magnitude of each state.
    rows: Vec<f64>,
    capacity: usize,
    /// Rows written since the beginning.
    written: usize,
    /// When each state was last of a usual size.
    calm: Vec<Calm>,
}

/// A state that is of a usual size.
#[derive(Clone, Copy, Default)]
struct Calm {
    /// Below this.
    below: f64,
    t: f64,
    size: f64,
    row: usize,
}

/// A state that grew.
struct Grown {
    node: NodeId,
    seen: Seen,
    /// Its largest number at the end.
    last: f64,
    factor: f64,
    steps: usize,
    since: f64,
    /// By how much it grew in a step, on average.
    per_step: f64,
    /// Whether its sign changed at nearly every step.
    alternates: bool,
}

impl Growth {
    pub(super) fn new(program: &Program) -> Self {
        let mut tracked = Vec::new();
        for (i, node) in program.nodes.iter().enumerate() {
            let id = NodeId::new(i);
            if let Some(placed) = &node.continuous {
                tracked.push((id, Seen::Continuous(placed.x)));
            } else if node.updates && !node.hidden && node.io.outputs.port_count() > 0 {
                let Slot { start, len } = node.io.outputs.first(0);
                if len > 0 {
                    let len = len.min(MOST_OF_OUTPUT);
                    tracked.push((id, Seen::Output(Slot { start, len })));
                }
            }
        }
        let width = tracked.len() + 1;
        let capacity = (MOST_NUMBERS / width).clamp(2, MOST_ROWS);
        let calm = vec![Calm::default(); tracked.len()];
        Self { rows: vec![0.0; capacity * width], tracked, capacity, written: 0, calm }
    }

    fn width(&self) -> usize {
        self.tracked.len() + 1
    }

    /// The rows that are kept, from old to new.
    fn kept(&self) -> impl DoubleEndedIterator<Item = &[f64]> + ExactSizeIterator {
        let first = self.written.saturating_sub(self.capacity);
        let width = self.width();
        (first..self.written).map(move |row| {
            let at = row % self.capacity * width;
            &self.rows[at..at + width]
        })
    }
}

/// The number of largest magnitude, of two that differ in sign the positive one. NaN is none.
fn largest(numbers: &[f64]) -> f64 {
    // The outcome does not depend on the order, so eight may run side by side.
    let (mut above, mut below) = ([0.0f64; 8], [0.0f64; 8]);
    let (chunks, rest) = numbers.as_chunks::<8>();
    for chunk in chunks {
        for ((above, below), &x) in above.iter_mut().zip(&mut below).zip(chunk) {
            *above = if x > *above { x } else { *above };
            *below = if x < *below { x } else { *below };
        }
    }
    let most = |m: f64, &x: &f64| if x > m { x } else { m };
    let least = |m: f64, &x: &f64| if x < m { x } else { m };
    let (mut high, mut low) = (rest.iter().fold(0.0, most), rest.iter().fold(0.0, least));
    if !chunks.is_empty() {
        (high, low) = (above.iter().fold(high, most), below.iter().fold(low, least));
    }
    if high >= -low { high } else { low }
}

impl Engine {
    /// Notes the states of the present major step.
    pub(super) fn note_growth(&mut self) {
        let (growth, state) = (&mut self.growth, &self.state);
        if growth.tracked.is_empty() {
            return;
        }
        let t = self.work.now;
        let width = growth.tracked.len() + 1;
        if growth.kept().next_back().is_some_and(|last| t <= last[0]) {
            // The run went back.
            growth.written = 0;
        }
        let at = growth.written % growth.capacity * width;
        let row = &mut growth.rows[at..at + width];
        row[0] = t;
        for (number, (_, seen)) in row[1..].iter_mut().zip(&growth.tracked) {
            *number = match seen {
                Seen::Continuous(slot) => largest(&state.x[slot.range()]),
                Seen::Output(slot) => largest(&state.arena[slot.range()]),
            };
        }
        for (calm, number) in growth.calm.iter_mut().zip(&row[1..]) {
            let size = number.abs();
            if growth.written == 0 {
                calm.below = LARGE * size.max(1.0);
            }
            if size <= calm.below {
                *calm = Calm { t, size, row: growth.written, ..*calm };
            }
        }
        growth.written += 1;
    }

    /// The fault, told as a divergence if a state grew without bound before it.
    #[cold]
    pub(super) fn told(&mut self, fault: RunFault) -> RunFault {
        if self.stop.heard || fault.is_divergence() {
            return fault;
        }
        // A block that saw it coming stops the run before numbers are large.
        let is_seen = fault.fault.message.contains("diverged");
        let (factor, large) = if is_seen { (BEGIN, 0.0) } else { (FACTOR, LARGE) };
        let Some(grown) = self.grown(factor, large) else { return fault };
        let node = &self.plan.program.nodes[grown.node];
        let Grown { last, factor, steps, since, per_step, .. } = grown;
        let since = (since * 1e9).round() / 1e9;
        let what = self.number_of(grown.node, grown.seen);
        let noun = if steps == 1 { "step" } else { "steps" };
        let per_step = match per_step {
            large @ 1e4.. => format!("{large:.1e}"),
            usual => format!("{usual:.3}"),
        };
        let message = format!(
            "the run diverges: {what} of `{}` grew {factor:.1e}-fold to {last:.1e} in {steps} \
             {noun} since t={since} s, by {per_step} a step; in the end, in `{}`: {}",
            node.path, fault.block, fault.fault
        );
        let hints = self.causes(&grown);
        RunFault {
            block: node.path.clone(),
            span: node.span,
            fault: Fault { message },
            hints,
            ..fault
        }
    }

    /// The state that diverged first, if one did.
    fn grown(&mut self, least_factor: f64, large: f64) -> Option<Grown> {
        let now = self.work.now;
        if self.growth.kept().next_back().is_some_and(|last| last[0] < now) {
            self.note_growth();
        }
        let rows: Vec<&[f64]> = self.growth.kept().collect();
        let kept = rows.len();
        let mut found: Option<Grown> = None;
        for (i, &(node, seen)) in self.growth.tracked.iter().enumerate() {
            // What is no number any more comes after the growth.
            let finite = rows.iter().take_while(|row| row[i + 1].is_finite()).count();
            let rows = &rows[..finite];
            let Some(last) = rows.last().map(|row| row[i + 1]) else { continue };
            let mut before: Vec<f64> = rows[..finite / 2].iter().map(|r| r[i + 1].abs()).collect();
            before.sort_by(f64::total_cmp);
            let usual = before.get(before.len() / 2).map_or(0.0, |usual| usual.max(1e-6));
            let is_old = rows[0][i + 1].abs() > self.growth.calm[i].below;
            let usual = if is_old { self.growth.calm[i].size.max(1e-6) } else { usual };
            if usual == 0.0 || last.abs() < large || last.abs() < least_factor * usual {
                continue;
            }
            // An output that was zero has been switched on, as a force at touchdown.
            if matches!(seen, Seen::Output(_)) && usual <= 1e-6 {
                continue;
            }
            let begin = rows.iter().rposition(|row| row[i + 1].abs() <= BEGIN * usual).unwrap_or(0);
            let calm = self.growth.calm[i];
            // Growth that is older than the rows that are kept is told from when it began.
            let (since, from, steps) = if is_old {
                let end = self.growth.written - (kept - finite) - 1;
                (calm.t, calm.size.max(1e-6), end - calm.row)
            } else {
                let row = rows[begin];
                (row[0], row[i + 1].abs().max(usual), finite - 1 - begin)
            };
            let factor = last.abs() / from;
            if steps == 0 {
                continue;
            }
            let recent = &rows[begin..];
            let signs = recent.windows(2);
            let turns = signs.filter(|pair| pair[0][i + 1] * pair[1][i + 1] < 0.0).count();
            let grown = Grown {
                node,
                seen,
                last,
                factor,
                steps,
                since,
                per_step: libm::pow(factor, 1.0 / steps as f64),
                alternates: 5 * turns >= 4 * (recent.len() - 1) && recent.len() > 2,
            };
            let is_first = found
                .as_ref()
                .is_none_or(|other| (grown.since, -grown.factor) < (other.since, -other.factor));
            if is_first {
                found = Some(grown);
            }
        }
        found
    }

    /// Which number of a state is the largest, in words.
    fn number_of(&self, id: NodeId, seen: Seen) -> String {
        let program = &self.plan.program;
        let node = &program.nodes[id];
        let position = |numbers: &[f64]| {
            let most = largest(numbers);
            numbers.iter().position(|x| x.abs() == most.abs()).unwrap_or(0)
        };
        match seen {
            Seen::Output(slot) => {
                let i = position(&self.state.arena[slot.range()]);
                let name = number_name(program, id.index(), 0, i);
                if slot.len == 1 { format!("output {name}") } else { name }
            }
            Seen::Continuous(slot) => {
                let i = position(&self.state.x[slot.range()]);
                let placed = node.continuous.as_ref();
                let positions = placed.filter(|it| matches!(it.state, ContinuousState::Second(_)));
                let positions: Option<usize> =
                    positions.map(|placed| placed.parts.iter().map(|part| part.len()).sum());
                let shown = self.shown_as(id, self.state.x[slot.start as usize + i]);
                let shown = shown.map_or(String::new(), |shown| format!(", {shown},"));
                match positions {
                    Some(n) if i < n => format!("position {i}{shown}"),
                    Some(n) => format!("velocity {}{shown}", i - n),
                    None if slot.len == 1 => "the state".to_owned(),
                    None => format!("state {i}{shown}"),
                }
            }
        }
    }

    /// What shows the number `x` of a block's state among its outputs, if one does.
    fn shown_as(&self, id: NodeId, x: f64) -> Option<String> {
        let program = &self.plan.program;
        let node = &program.nodes[id];
        (0..node.output_names.len()).find_map(|port| {
            let mut places = node.io.outputs.port(port).iter().flat_map(|slot| slot.range());
            let index = places.position(|place| self.state.arena[place] == x)?;
            Some(number_name(program, id.index(), port, index))
        })
    }

    /// What may be behind a divergence.
    fn causes(&self, grown: &Grown) -> Vec<String> {
        let run = &self.plan.program.run;
        let mut hints = Vec::new();
        let step = run.step.to_f64();
        if grown.alternates {
            // x⁺ = (1 − hλ) x grows by hλ − 1 with a change of sign: h is to be below 2/λ.
            let bound = 2.0 * step / (1.0 + grown.per_step);
            hints.push(format!(
                "its sign changes at every step: the step of {step} s is too long for a stiffness, \
                 a damping or a gain; try a step below {bound:.1e} s, a softer law, or a gain below \
                 the bound of its sampled loop"
            ));
        } else {
            hints.push(format!(
                "try `--set run.step=\"{} s\"`: if it still grows like this, the model is unstable, \
                 look at the signs and sizes of the gains; if not, {} with a step of {step} s is \
                 too coarse for its stiffness",
                step / 4.0,
                run.solver
            ));
        }
        let acting = self.acting_on(grown.node);
        if !acting.is_empty() {
            hints.push(format!("what acts on it: `{}`", acting.join("`, `")));
        }
        hints
    }

    /// The blocks before a block, the nearest first.
    fn acting_on(&self, node: NodeId) -> Vec<&str> {
        const MOST: usize = 6;
        let program = &self.plan.program;
        let mut found = vec![node];
        let mut at = 0;
        while at < found.len() && found.len() <= MOST {
            let to = found[at];
            for edge in program.edges.iter().filter(|edge| edge.to == to) {
                if !found.contains(&edge.from) {
                    found.push(edge.from);
                }
            }
            at += 1;
        }
        let nodes = found[1..].iter().map(|&node| &program.nodes[node]);
        nodes.filter(|node| !node.hidden).take(MOST).map(|node| node.path.as_str()).collect()
    }
}
