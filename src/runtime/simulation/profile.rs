//! What each block takes, by the clock.
//!
//! Measuring wraps the blocks: a run that is not measured has nothing to skip. A measured block
//! reads the clock when it is called and when it returns, so a profiled run is slower by that, and
//! the numbers of a block hold about one reading per call.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use legwork_block::{
    Fault, Instance, Outcome, OutputIo, Parameters, Report, Slope, SlopeEntry, SlopesIo, Time,
    Type, View, WrapBlock,
};

use super::Simulation;

/// Calls, and the time that they took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    /// Number of calls.
    pub calls: u64,
    /// Their time in all [ns].
    pub nanoseconds: u64,
}

/// What one block took. The blocks inside a function that it calls have entries of their own, and
/// are not counted here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockTime {
    /// Path of the block.
    pub path: String,
    /// Name of its kind.
    pub kind: &'static str,
    /// Outputs, in major and in minor steps.
    pub output: Spent,
    /// Updates of the discrete state.
    pub update: Spent,
    /// Rates of the continuous state.
    pub derivative: Spent,
    /// Guards and resets.
    pub guard: Spent,
}

impl BlockTime {
    /// All phases together.
    pub fn total(&self) -> Spent {
        let all = [self.output, self.update, self.derivative, self.guard];
        all.into_iter().fold(Spent::default(), |sum, one| Spent {
            calls: sum.calls + one.calls,
            nanoseconds: sum.nanoseconds + one.nanoseconds,
        })
    }
}

/// A [`Spent`] that is still counting. One thread counts; the cell is atomic because a simulation
/// may move to another thread.
#[derive(Default)]
struct Tally {
    calls: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Tally {
    fn add(&self, nanoseconds: u64) {
        add(&self.calls, 1);
        add(&self.nanoseconds, nanoseconds);
    }

    fn read(&self) -> Spent {
        Spent {
            calls: self.calls.load(Ordering::Relaxed),
            nanoseconds: self.nanoseconds.load(Ordering::Relaxed),
        }
    }
}

fn add(cell: &AtomicU64, more: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

/// The tallies of one block.
#[derive(Default)]
struct Tallies {
    output: Tally,
    update: Tally,
    derivative: Tally,
    guard: Tally,
}

/// The tallies of all blocks.
#[derive(Clone, Default)]
pub(super) struct Profile {
    blocks: BTreeMap<(String, &'static str), Arc<Tallies>>,
    /// Time of the measured calls that ended inside the one that goes on [ns].
    nested: Arc<AtomicU64>,
}

impl Profile {
    /// Measures a block and those inside its functions.
    fn wrap(
        &mut self,
        path: &str,
        kind: &'static str,
        mut inner: Box<dyn Instance>,
    ) -> Box<dyn Instance> {
        inner.wrap_functions(&mut |path, kind, called| self.wrap_one(path, kind, called));
        self.wrap_one(path, kind, inner)
    }

    fn wrap_one(
        &mut self,
        path: &str,
        kind: &'static str,
        inner: Box<dyn Instance>,
    ) -> Box<dyn Instance> {
        let tallies = Arc::clone(self.blocks.entry((path.to_owned(), kind)).or_default());
        Box::new(Measured { inner, tallies, nested: Arc::clone(&self.nested) })
    }
}

impl Simulation {
    /// Measures from now on what each block takes; [`Simulation::profile`] tells. The results of
    /// the run stay as they are.
    pub fn start_profile(&mut self) {
        if self.profile.is_none() {
            let instances = std::mem::take(&mut self.engine.blocks.instances);
            self.profile = Some(Profile::default());
            self.engine.blocks.instances = self.measured(instances);
        }
    }

    /// What each block took since [`Simulation::start_profile`], by path; none without it.
    pub fn profile(&self) -> Option<Vec<BlockTime>> {
        let profile = self.profile.as_ref()?;
        let times = profile.blocks.iter().map(|((path, kind), tallies)| BlockTime {
            path: path.clone(),
            kind,
            output: tallies.output.read(),
            update: tallies.update.read(),
            derivative: tallies.derivative.read(),
            guard: tallies.guard.read(),
        });
        Some(times.collect())
    }

    /// The blocks of this program as they are, or measured if blocks are.
    pub(super) fn measured(&mut self, blocks: Vec<Box<dyn Instance>>) -> Vec<Box<dyn Instance>> {
        let Some(profile) = &mut self.profile else { return blocks };
        let nodes = self.engine.plan.program.nodes.iter();
        nodes.zip(blocks).map(|(node, block)| profile.wrap(&node.path, node.kind, block)).collect()
    }
}

/// A block whose calls are timed.
struct Measured {
    inner: Box<dyn Instance>,
    tallies: Arc<Tallies>,
    nested: Arc<AtomicU64>,
}

impl Measured {
    /// Does `work` and tallies its time, without that of measured calls inside.
    #[inline]
    fn time<T>(
        &mut self,
        tally: impl Fn(&Tallies) -> &Tally,
        work: impl FnOnce(&mut dyn Instance) -> T,
    ) -> T {
        let outside = self.nested.load(Ordering::Relaxed);
        self.nested.store(0, Ordering::Relaxed);
        let start = Instant::now();
        let out = work(&mut *self.inner);
        // 2⁶⁴ ns are 584 years.
        let whole = start.elapsed().as_nanos() as u64;
        let inside = self.nested.load(Ordering::Relaxed);
        tally(&self.tallies).add(whole.saturating_sub(inside));
        self.nested.store(outside.wrapping_add(whole), Ordering::Relaxed);
        out
    }
}

impl Instance for Measured {
    fn output(&mut self, io: OutputIo<'_>) -> Outcome {
        self.time(|tallies| &tallies.output, |inner| inner.output(io))
    }

    fn begin_step(&mut self) {
        self.inner.begin_step();
    }

    fn update(&mut self, view: View<'_>, x: &[f64]) -> Outcome {
        self.time(|tallies| &tallies.update, |inner| inner.update(view, x))
    }

    fn slopes(&mut self, io: SlopesIo<'_>, entries: &mut Vec<SlopeEntry>) -> Slope {
        self.inner.slopes(io, entries)
    }

    fn derivative(&mut self, view: View<'_>, x: &[f64], rate: &mut [f64]) -> Outcome {
        self.time(|tallies| &tallies.derivative, |inner| inner.derivative(view, x, rate))
    }

    fn correct(&mut self, time: Time, x: &[f64], rate: &mut [f64], shift: &mut [f64]) -> bool {
        self.time(|tallies| &tallies.derivative, |inner| inner.correct(time, x, rate, shift))
    }

    fn guard(&mut self, view: View<'_>, x: &[f64], values: &mut [f64]) {
        self.time(|tallies| &tallies.guard, |inner| inner.guard(view, x, values));
    }

    fn reset(&mut self, view: View<'_>, fired: &[bool], x: &mut [f64]) -> Outcome {
        self.time(|tallies| &tallies.guard, |inner| inner.reset(view, fired, x))
    }

    fn save(&self) -> Box<dyn Any + Send> {
        self.inner.save()
    }

    fn restore(&mut self, saved: &(dyn Any + Send)) {
        self.inner.restore(saved);
    }

    fn save_bytes(&self) -> Result<Vec<u8>, Box<Fault>> {
        self.inner.save_bytes()
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), Box<Fault>> {
        self.inner.load_bytes(bytes)
    }

    fn state_json(&self) -> Result<serde_json::Value, Box<Fault>> {
        self.inner.state_json()
    }

    fn numbers(&self) -> Vec<f64> {
        self.inner.numbers()
    }

    fn set_numbers(&mut self, numbers: &[f64]) {
        self.inner.set_numbers(numbers);
    }

    fn memory_numbers(&self) -> Vec<f64> {
        self.inner.memory_numbers()
    }

    fn set_memory_numbers(&mut self, numbers: &[f64]) {
        self.inner.set_memory_numbers(numbers);
    }

    fn starting_at(&self, at: &[f64], outputs: &[Type]) -> Option<Parameters> {
        self.inner.starting_at(at, outputs)
    }

    fn report(&self, report: &mut Report) {
        self.inner.report(report);
    }

    fn function_reports<'a>(&'a self, reports: &mut Vec<(&'a str, Report)>) {
        self.inner.function_reports(reports);
    }

    fn wrap_functions(&mut self, wrap: &mut WrapBlock<'_>) {
        self.inner.wrap_functions(wrap);
    }
}
