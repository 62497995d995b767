//! Runs one block by hand: plans it, solves its type variables, lays out its ports.

pub(crate) mod contacts;
pub(crate) mod integrate;
mod layout;
pub(crate) mod robots;

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    Block, ContinuousState, Declaration, Diagnostics, ErasedBlock, FileId, Files, Instance,
    InstanceIo, Invalid, Manifold, Outcome, OutputIo, PortTable, Ports, Registry, Resource,
    Resources, Slope, SlopeBy, SlopeEntry, SlopesIo, Time, Type, View, erase,
};
use legwork_diagram::document::parse;
use serde::de::DeserializeOwned;

use layout::{Solution, place, visible};

/// A diagram without robots and files.
pub(crate) struct Nothing;

impl Resources for Nothing {
    fn resource(&self, _: &str) -> Option<&Arc<dyn Resource>> {
        None
    }

    fn resource_names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Files for Nothing {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        Err(format!("no file {path}"))
    }
}

/// A block from its parameters as JSON.
pub(crate) fn block<B: DeserializeOwned>(parameters: serde_json::Value) -> B {
    serde_json::from_value(parameters).expect("the parameters bind")
}

/// One running block. Inputs that a group does not declare as feeds are NaN while it is computed,
/// so that a wrong feedthrough shows.
pub(crate) struct Bench {
    pub(crate) declaration: Declaration,
    pub(crate) x: Vec<f64>,
    /// Length of the step or period [s].
    pub(crate) step: f64,
    inputs: PortTable,
    outputs: PortTable,
    arena: Vec<f64>,
    first_output: usize,
    rate_len: usize,
    instance: Box<dyn Instance>,
}

/// Numbers of a continuous state and of its rate.
fn state_sizes(state: &ContinuousState, solution: &Solution) -> (usize, usize) {
    let size = |parts: &[Manifold]| -> usize {
        parts
            .iter()
            .map(|part| match part {
                Manifold::Euclidean(n) => solution.dim(n).known().expect("a known size"),
                Manifold::Quaternion | Manifold::EulerAngles => {
                    panic!("the signal blocks have no orientation")
                }
            })
            .sum()
    };
    match state {
        ContinuousState::First(parts) => (size(parts), size(parts)),
        ContinuousState::Second(parts) => (2 * size(parts), size(parts)),
    }
}

impl Bench {
    /// The block with inputs of the types `given`, in the order it declares them.
    pub(crate) fn new<B: Block>(block: B, given: &[Type]) -> Result<Self, Invalid> {
        Self::reading(block, given, &Nothing)
    }

    /// The same in a diagram with files.
    pub(crate) fn reading<B: Block>(
        block: B,
        given: &[Type],
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        Self::erased(erase(block), given, files)
    }

    /// The block of a text, as a diagram has it.
    pub(crate) fn of_text(text: &str, given: &[Type]) -> Self {
        let mut registry = Registry::default();
        crate::register(&mut registry);
        let node = parse(FileId(0), text.as_bytes()).expect("the text is written well");
        let name = node.kind_name().expect("a block").text.clone();
        let kind = registry.blocks().find(|kind| kind.kind == name).expect("a known block");
        let mut diagnostics = Diagnostics::default();
        let block = (kind.bind)(&node, &(), &[], &mut diagnostics);
        let told: Vec<&str> = diagnostics.iter().map(|one| one.message.as_str()).collect();
        let block = block.unwrap_or_else(|| panic!("{text}: {told:?}"));
        let bench = Self::erased(block, given, &Nothing);
        bench.unwrap_or_else(|invalid| panic!("{text}: {}", invalid.message))
    }

    #[expect(clippy::panic_in_result_fn, reason = "a test that gives wrong inputs is a mistake")]
    fn erased(
        block: Arc<dyn ErasedBlock>,
        given: &[Type],
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        let (declaration, planned) = block.plan(Ports::new(&Nothing, files, 0.001))?;
        assert_eq!(declaration.inputs.len(), given.len(), "number of inputs");
        let mut solution = Solution::default();
        for (input, given) in declaration.inputs.iter().zip(given) {
            solution.unify(&input.ty, given);
        }
        let (mut inputs, mut outputs, mut arena) = (PortTable::new(), PortTable::new(), vec![]);
        for input in &declaration.inputs {
            place(&mut inputs, &mut arena, &solution.resolve(&input.ty));
        }
        let first_output = arena.len();
        for output in &declaration.outputs {
            place(&mut outputs, &mut arena, &solution.resolve(&output.ty));
        }
        let vars = solution.vars(declaration.var_count);
        planned.check(&legwork_block::Sizes::new(&vars, &inputs, &outputs))?;
        let (x_len, rate_len) =
            declaration.continuous.as_ref().map_or((0, 0), |state| state_sizes(state, &solution));
        let mut x = vec![0.0; x_len];
        let io = InstanceIo {
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            shared: Vec::new(),
            shares: false,
            functions: Vec::new(),
            unread: Vec::new(),
        };
        let (instance, _) = planned.instantiate(io, &vars, &mut x);
        Ok(Self {
            declaration,
            x,
            step: 0.001,
            inputs,
            outputs,
            arena,
            first_output,
            rate_len,
            instance,
        })
    }

    /// The outputs `y` of a block of samples for these inputs `u`, all numbers.
    pub(crate) fn samples(&mut self, u: &[f64]) -> Vec<f64> {
        let sample = |u: &f64| {
            let y = self.y(0.0, &[("u", &[*u])])[0];
            self.update(0.0);
            y
        };
        u.iter().map(sample).collect()
    }

    /// Writes the input `name`, leaf after leaf.
    pub(crate) fn set(&mut self, name: &str, values: &[f64]) {
        let port = self.declaration.inputs.iter().position(|input| input.name == name);
        let slots = self.inputs.port(port.expect("an input of this name"));
        let len: usize = slots.iter().map(|slot| slot.len as usize).sum();
        assert_eq!(len, values.len(), "numbers for `{name}`");
        let start = slots.first().map_or(0, |slot| slot.start as usize);
        self.arena[start..start + len].copy_from_slice(values);
    }

    fn time(&self, t: f64) -> Time {
        Time { t, step: self.step, minor: false }
    }

    /// Computes all outputs.
    pub(crate) fn output(&mut self, t: f64) -> Outcome {
        let time = self.time(t);
        for (group, feeds) in self.declaration.groups.iter().enumerate() {
            let before = self.arena[..self.first_output].to_vec();
            let before = visible(&self.inputs, before, feeds);
            self.instance.output(OutputIo {
                time,
                group,
                x: &self.x,
                before: &before,
                own: &mut self.arena[self.first_output..],
                own_start: self.first_output as u32,
                shared: &[],
                shared_own: None,
            })?;
        }
        Ok(())
    }

    /// Advances the discrete state.
    pub(crate) fn update(&mut self, t: f64) {
        self.try_update(t).expect("no fault");
    }

    /// Advances the discrete state, or faults.
    pub(crate) fn try_update(&mut self, t: f64) -> Outcome {
        let view = View { time: self.time(t), arena: &self.arena, shared: &[] };
        self.instance.update(view, &self.x)
    }

    /// The rate of the continuous state.
    pub(crate) fn derivative(&mut self, t: f64) -> Vec<f64> {
        let mut rate = vec![f64::NAN; self.rate_len];
        let view = View { time: self.time(t), arena: &self.arena, shared: &[] };
        self.instance.derivative(view, &self.x, &mut rate).expect("no fault");
        rate
    }

    /// How far the slopes that the block offers are from central differences over every number of
    /// its inputs and of its state, relative to the largest or 1; nothing if it offers none.
    pub(crate) fn slope_error(&mut self, t: f64) -> Option<f64> {
        let mut worst = 0.0_f64;
        for group in 0..self.declaration.groups.len() {
            let offered = self.offered(t, Some(group))?;
            worst = worst.max(self.apart(&offered, |bench| {
                bench.output(t).expect("no fault");
                bench.arena[bench.first_output..].to_vec()
            }));
        }
        if self.rate_len > 0 {
            let offered = self.offered(t, None)?;
            worst = worst.max(self.apart(&offered, |bench| bench.derivative(t)));
        }
        Some(worst)
    }

    /// The Jacobian that is offered of the outputs or of the rate, if one is: (row, column), the
    /// columns of the state behind those of the inputs.
    fn offered(&mut self, t: f64, group: Option<usize>) -> Option<BTreeMap<(usize, usize), f64>> {
        let mut entries = Vec::new();
        let io = SlopesIo {
            time: self.time(t),
            output: group.map(|group| (group, self.first_output as u32)),
            x: &self.x,
            rate_len: self.rate_len,
            arena: &self.arena,
            shared: &[],
            moves: &|_| true,
            most: usize::MAX,
        };
        if self.instance.slopes(io, &mut entries) == Slope::Unknown {
            return None;
        }
        let mut jacobian = BTreeMap::new();
        for SlopeEntry { row, by, slope } in entries {
            let column = match by {
                SlopeBy::Input(place) => place as usize,
                SlopeBy::State(i) => self.first_output + i as usize,
            };
            *jacobian.entry((row as usize, column)).or_insert(0.0) += slope;
        }
        Some(jacobian)
    }

    fn apart(
        &mut self,
        offered: &BTreeMap<(usize, usize), f64>,
        value: impl Fn(&mut Self) -> Vec<f64>,
    ) -> f64 {
        let mut worst = 0.0_f64;
        for column in 0..self.first_output + self.x.len() {
            let h = 1e-5;
            let mut at = |h: f64| {
                let (arena, x) = (self.arena.clone(), self.x.clone());
                match column.checked_sub(self.first_output) {
                    Some(i) => self.x[i] += h,
                    None => self.arena[column] += h,
                }
                let value = value(self);
                (self.arena, self.x) = (arena, x);
                value
            };
            let (above, below) = (at(h), at(-h));
            for (row, (above, below)) in above.iter().zip(&below).enumerate() {
                let slope = (above - below) / (2.0 * h);
                let own = offered.get(&(row, column)).copied().unwrap_or(0.0);
                worst = worst.max((slope - own).abs() / slope.abs().max(1.0));
            }
        }
        worst
    }

    /// Writes numbers that are spread evenly over an interval to all inputs and the state.
    pub(crate) fn spread(&mut self, seed: usize, (lower, upper): (f64, f64)) {
        let inputs = self.arena[..self.first_output].iter_mut();
        for (i, number) in inputs.chain(&mut self.x).enumerate() {
            let part = (0.618_033_988_75 * (i + 29 * seed + 1) as f64).fract();
            *number = lower + part * (upper - lower);
        }
    }

    /// The output `name`, leaf after leaf.
    pub(crate) fn value(&self, name: &str) -> Vec<f64> {
        let port = self.declaration.outputs.iter().position(|output| output.name == name);
        let slots = self.outputs.port(port.expect("an output of this name"));
        slots.iter().flat_map(|slot| self.arena[slot.range()].iter().copied()).collect()
    }

    /// The output `y` at time `t` of the inputs `given`.
    pub(crate) fn y(&mut self, t: f64, given: &[(&str, &[f64])]) -> Vec<f64> {
        for (name, values) in given {
            self.set(name, values);
        }
        self.output(t).expect("no fault");
        self.value("y")
    }
}

/// What is wrong with a block that must not plan.
pub(crate) fn refusal<B: Block>(block: B, given: &[Type]) -> String {
    match Bench::new(block, given) {
        Ok(_) => panic!("the block was accepted"),
        Err(invalid) => invalid.message,
    }
}
