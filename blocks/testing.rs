//! Runs one block by hand: plans it, solves its type variables, lays out its ports.

pub(crate) mod contacts;
pub(crate) mod integrate;
mod layout;
pub(crate) mod robots;

use std::sync::Arc;

use legwork_block::{
    Block, ContinuousState, Declaration, Files, Instance, InstanceIo, Invalid, Manifold, Outcome,
    OutputIo, PortTable, Ports, Resource, Resources, Time, Type, View, erase,
};
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
    #[expect(clippy::panic_in_result_fn, reason = "a test that gives wrong inputs is a mistake")]
    pub(crate) fn reading<B: Block>(
        block: B,
        given: &[Type],
        files: &dyn Files,
    ) -> Result<Self, Invalid> {
        let (declaration, planned) = erase(block).plan(Ports::new(&Nothing, files, 0.001))?;
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
