//! Robots for tests, and one block of theirs run by hand with the computations that it asks for.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::{
    Block, ContinuousState, Declaration, ErasedBlock, Files, Instance, InstanceIo, Invalid,
    Manifold, OutputIo, PortTable, Ports, Resource, Resources, Sizes, Slot, Time, Type, View,
    erase,
};

use super::layout::{Solution, place};
use crate::robot::model::RobotModel;

mod models;
mod reference;

pub(crate) use models::{
    HINGE_AND_BALL, go, go_parameters, go_without_rotors, load, load_as, load_text,
};
pub(crate) use reference::{check_reference, check_reference_frames, for_each_reference};

/// The repository.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Files of the folder `diagrams`, and those that are built in.
pub(crate) struct Diagrams;

impl Files for Diagrams {
    fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        if let Some(name) = path.strip_prefix("std:") {
            let file = crate::files::all().find(|(known, _)| *known == name);
            return file.map(|(_, bytes)| bytes.to_vec()).ok_or(format!("no file {path}"));
        }
        std::fs::read(format!("{ROOT}/diagrams/{path}")).map_err(|error| format!("{path}: {error}"))
    }
}

/// The robots of a diagram.
pub(crate) struct World {
    robots: BTreeMap<String, Arc<dyn Resource>>,
}

impl World {
    /// A diagram with one robot.
    pub(crate) fn new(robot: &Arc<RobotModel>) -> Self {
        Self::of(std::slice::from_ref(robot))
    }

    /// A diagram with these robots.
    pub(crate) fn of(robots: &[Arc<RobotModel>]) -> Self {
        let resource = |robot: &Arc<RobotModel>| Arc::<RobotModel>::clone(robot) as _;
        let robots = robots.iter().map(|robot| (robot.name.clone(), resource(robot)));
        Self { robots: robots.collect() }
    }
}

impl Resources for World {
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>> {
        self.robots.get(name)
    }

    fn resource_names(&self) -> Vec<String> {
        self.robots.keys().cloned().collect()
    }
}

/// A shared computation that runs before the block.
struct Hidden {
    instance: Box<dyn Instance>,
    key: String,
    sources: Vec<Vec<Slot>>,
}

/// One running block of a robot with its shared computations. Inputs that feed no output are NaN
/// while outputs are computed.
pub(crate) struct Rig {
    pub(crate) declaration: Declaration,
    pub(crate) x: Vec<f64>,
    /// Length of the step or period [s].
    pub(crate) step: f64,
    arena: Vec<f64>,
    inputs: PortTable,
    outputs: PortTable,
    first_output: usize,
    hidden: Vec<Hidden>,
    pool: Vec<Box<dyn Any + Send>>,
    instance: Box<dyn Instance>,
}

impl Rig {
    /// The block with all inputs connected but those named in `without`.
    pub(crate) fn new<B: Block>(block: B, robot: &Arc<RobotModel>, without: &[&str]) -> Self {
        match Self::with(block, robot, without, &[]) {
            Ok(rig) => rig,
            Err(invalid) => panic!("{}", invalid.message),
        }
    }

    /// The block with inputs of the types `given`; others have the types that it declares, with
    /// dimensions of the robot where those are open.
    pub(crate) fn with<B: Block>(
        block: B,
        robot: &Arc<RobotModel>,
        without: &[&str],
        given: &[(&str, Type)],
    ) -> Result<Self, Invalid> {
        let world = World::new(robot);
        let (declaration, planned) = erase(block).plan(Ports::new(&world, &Diagrams, 0.001))?;
        let mut solution = Solution::default();
        for (name, ty) in given {
            let input = declaration.inputs.iter().find(|input| input.name == *name);
            solution.unify(&input.expect("an input of this name").ty, ty);
        }
        let state = crate::buses::StateBus::of(&Ports::new(&world, &Diagrams, 0.001), &robot.name);
        for input in declaration.inputs.iter().filter(|input| input.name == "state") {
            solution.unify(&input.ty, &legwork_block::Signal::ty(&state));
        }
        let (mut inputs, mut outputs, mut arena) = (PortTable::new(), PortTable::new(), vec![]);
        for input in &declaration.inputs {
            match without.contains(&&*input.name) {
                true => inputs.push([]),
                false => place(&mut inputs, &mut arena, &solution.resolve(&input.ty)),
            }
        }
        let first_output = arena.len();
        for output in &declaration.outputs {
            place(&mut outputs, &mut arena, &solution.resolve(&output.ty));
        }
        forward(&declaration, &inputs, &mut outputs);
        let vars = solution.vars(declaration.var_count);
        planned.check(&Sizes::new(&vars, &inputs, &outputs))?;
        let (mut hidden, mut pool) = (Vec::new(), Vec::new());
        let shared = ask(&declaration, &inputs, &world, &mut hidden, &mut pool)?;
        let io = InstanceIo {
            inputs: inputs.clone(),
            outputs: outputs.clone(),
            shared,
            ..Default::default()
        };
        let mut x = state_memory(&declaration, &solution);
        let (instance, _) = planned.instantiate(io, &vars, &mut x);
        let step = 0.001;
        Ok(Self {
            declaration,
            x,
            step,
            arena,
            inputs,
            outputs,
            first_output,
            hidden,
            pool,
            instance,
        })
    }

    /// Writes the input `name`, leaf by leaf.
    pub(crate) fn set(&mut self, name: &str, leaves: &[&[f64]]) {
        let port = self.declaration.inputs.iter().position(|input| input.name == name);
        let slots = self.inputs.port(port.expect("an input of this name"));
        assert_eq!(slots.len(), leaves.len(), "leaves of `{name}`");
        for (slot, leaf) in slots.iter().zip(leaves) {
            self.arena[slot.range()].copy_from_slice(leaf);
        }
    }

    /// What the block tells at the end of a run.
    pub(crate) fn report(&self) -> legwork_block::Report {
        let mut report = legwork_block::Report::default();
        self.instance.report(&mut report);
        report
    }

    /// Computes all shared computations, then all outputs.
    pub(crate) fn output(&mut self) {
        if let Err(fault) = self.try_output() {
            panic!("{fault}");
        }
    }

    /// As [`Rig::output`], with the fault.
    pub(crate) fn try_output(&mut self) -> legwork_block::Outcome {
        let time = Time { t: 0.0, step: self.step, minor: false };
        for (i, hidden) in self.hidden.iter_mut().enumerate() {
            let (before, own) = self.pool.split_at_mut(i);
            hidden.instance.output(OutputIo {
                time,
                group: 0,
                x: &[],
                before: &self.arena[..self.first_output],
                own: &mut [],
                own_start: 0,
                shared: before,
                shared_own: Some(&mut own[0]),
            })?;
        }
        for group in 0..self.declaration.groups.len() {
            let blind = self.declaration.groups[group] == legwork_block::Feeds::Only(Vec::new());
            let mut before = self.arena[..self.first_output].to_vec();
            if blind {
                before.fill(f64::NAN);
            }
            self.instance.output(OutputIo {
                time,
                group,
                x: &self.x,
                before: &before,
                own: &mut self.arena[self.first_output..],
                own_start: self.first_output as u32,
                shared: &self.pool,
                shared_own: None,
            })?;
        }
        Ok(())
    }

    fn view<'a>(arena: &'a [f64], pool: &'a [Box<dyn Any + Send>], step: f64) -> View<'a> {
        View { time: Time { t: 0.0, step, minor: false }, arena, shared: pool }
    }

    /// Advances the discrete state.
    pub(crate) fn update(&mut self) {
        let view = Self::view(&self.arena, &self.pool, self.step);
        self.instance.update(view, &self.x).expect("no fault");
    }

    /// The rate of the continuous state: `count` numbers.
    pub(crate) fn derivative(&mut self, count: usize) -> Vec<f64> {
        let mut rate = vec![f64::NAN; count];
        let view = Self::view(&self.arena, &self.pool, self.step);
        self.instance.derivative(view, &self.x, &mut rate).expect("no fault");
        rate
    }

    /// The values of the guards.
    pub(crate) fn guards(&mut self) -> Vec<f64> {
        let mut values = vec![f64::NAN; self.declaration.guards.len()];
        let view = Self::view(&self.arena, &self.pool, self.step);
        self.instance.guard(view, &self.x, &mut values);
        values
    }

    /// Resets the state as if all guards had fired.
    pub(crate) fn reset(&mut self) {
        let fired = vec![true; self.declaration.guards.len()];
        let view = Self::view(&self.arena, &self.pool, self.step);
        self.instance.reset(view, &fired, &mut self.x).expect("no fault");
    }

    /// Makes all outputs zero.
    pub(crate) fn clear_outputs(&mut self) {
        self.arena[self.first_output..].fill(0.0);
    }

    /// Leaf `leaf` of the output `name`.
    pub(crate) fn leaf(&self, name: &str, leaf: usize) -> Vec<f64> {
        let port = self.declaration.outputs.iter().position(|output| output.name == name);
        let slot = self.outputs.port(port.expect("an output of this name"))[leaf];
        self.arena[slot.range()].to_vec()
    }

    /// How many leaves the output `name` has.
    pub(crate) fn leaf_count(&self, name: &str) -> usize {
        let port = self.declaration.outputs.iter().position(|output| output.name == name);
        self.outputs.port(port.expect("an output of this name")).len()
    }

    /// How many shared computations run.
    pub(crate) fn shared_count(&self) -> usize {
        self.hidden.len()
    }
}

/// Lets forwarded leaves of outputs show the inputs' memory.
fn forward(declaration: &Declaration, inputs: &PortTable, outputs: &mut PortTable) {
    let own = std::mem::take(outputs);
    for (port, output) in declaration.outputs.iter().enumerate() {
        let mut slots = own.port(port).to_vec();
        for forward in &output.forwards {
            slots[forward.leaf] = inputs.port(forward.input as usize)[forward.input_leaf];
        }
        outputs.push(slots);
    }
}

/// Makes the computations that a block asks for, those first that they ask for themselves; gives
/// their places in the pool.
fn ask(
    declaration: &Declaration,
    inputs: &PortTable,
    world: &World,
    hidden: &mut Vec<Hidden>,
    pool: &mut Vec<Box<dyn Any + Send>>,
) -> Result<Vec<u32>, Invalid> {
    let mut places = Vec::new();
    for ask in &declaration.asks {
        let sources: Vec<Vec<Slot>> =
            ask.inputs.iter().map(|&port| inputs.port(port as usize).to_vec()).collect();
        let same = |other: &Hidden| other.key == ask.key && other.sources == sources;
        if let Some(known) = hidden.iter().position(same) {
            places.push(known as u32);
            continue;
        }
        let block: Arc<dyn ErasedBlock> = Arc::clone(&ask.block);
        let (inner, planned) = block.plan(Ports::new(world, &Diagrams, 0.001))?;
        if !inner.shares {
            return Err(Invalid::new(format!("{} shares no value", ask.key)));
        }
        let mut table = PortTable::new();
        for source in &sources {
            table.push(source.iter().copied());
        }
        let shared = self::ask(&inner, &table, world, hidden, pool)?;
        let io = InstanceIo {
            inputs: table,
            outputs: PortTable::new(),
            shared,
            shares: true,
            ..Default::default()
        };
        let (instance, value) = planned.instantiate(io, &[], &mut []);
        pool.push(value.expect("a shared value"));
        hidden.push(Hidden { instance, key: ask.key.clone(), sources });
        places.push((hidden.len() - 1) as u32);
    }
    Ok(places)
}

/// Continuous state with zeros and unit quaternions.
fn state_memory(declaration: &Declaration, solution: &Solution) -> Vec<f64> {
    let Some(state) = &declaration.continuous else { return Vec::new() };
    let (parts, second) = match state {
        ContinuousState::First(parts) => (parts, false),
        ContinuousState::Second(parts) => (parts, true),
    };
    let (mut x, mut rates) = (Vec::new(), 0);
    for part in parts {
        match part {
            Manifold::Euclidean(n) => {
                let n = solution.dim(n).known().expect("a known size");
                x.resize(x.len() + n, 0.0);
                rates += n;
            }
            Manifold::Quaternion => {
                x.extend([1.0, 0.0, 0.0, 0.0]);
                rates += 3;
            }
            Manifold::EulerAngles => {
                x.extend([0.0; 3]);
                rates += 3;
            }
        }
    }
    if second {
        x.resize(x.len() + rates, 0.0);
    }
    x
}

/// What is wrong with a block that must not plan.
pub(crate) fn refusal<B: Block>(
    block: B,
    robot: &Arc<RobotModel>,
    without: &[&str],
    given: &[(&str, Type)],
) -> Invalid {
    match Rig::with(block, robot, without, given) {
        Ok(_) => panic!("the block was accepted"),
        Err(invalid) => invalid,
    }
}

/// Configurations and velocities from a fixed sequence of numbers.
pub(crate) struct States;

impl States {
    /// `count` states of the robot.
    pub(crate) fn of(robot: &RobotModel, count: usize) -> Vec<(Vec<f64>, Vec<f64>)> {
        let model = &robot.model;
        let mut seed = 7_u64;
        // Linear congruential, Knuth's MMIX constants; the upper bits make a number in ±1.
        let mut next = || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        (0..count)
            .map(|_| {
                let mut q: Vec<f64> = (0..model.configuration_dim()).map(|_| next()).collect();
                legwork_mechanics::normalize(model, &mut q);
                let nu = (0..model.velocity_dim()).map(|_| 3.0 * next()).collect();
                (q, nu)
            })
            .collect()
    }
}

/// Fails if two lists differ by more than `tolerance`, relative to the larger of 1 and the
/// largest expected number.
pub(crate) fn close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len(), "length");
    let scale = expected.iter().fold(1.0, |most: f64, value| most.max(value.abs()));
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = (found - expected).abs() / scale;
        assert!(error <= tolerance, "number {i}: {found} for {expected}, error {error:e}");
    }
}
