//! Runs one contact block by hand: plans it, solves its dimensions, lays out its ports.

use std::any::Any;
use std::cmp::Ordering;

use legwork_block::{
    Block, Dim, Instance, InstanceIo, Invalid, Outcome, OutputIo, PortTable, Ports, Report, Sizes,
    Slot, Time, Type, View, erase,
};
use nalgebra::DMatrix;

use super::Nothing;
pub(crate) use super::block;
use super::layout::{Solution, place, visible};
use crate::buses::{ContactBus, ContactProblemBus, DynamicsBus, contact_points};

/// The type of `count` contacts of a robot with `nv` velocities.
pub(crate) fn points(count: usize, nv: usize) -> Type {
    legwork_block::Signal::ty(&contact_points(&Dim::fixed(count), &Dim::fixed(nv)))
}

/// The type of the dynamics of a robot with `nv` velocities.
pub(crate) fn dynamics(nv: usize) -> Type {
    let robot = legwork_block::Arg::Name("go".into());
    legwork_block::Signal::ty(&DynamicsBus::new(robot, &Dim::fixed(nv)))
}

/// The type of a problem of `count` contacts of a robot with `nv` velocities.
pub(crate) fn problem(count: usize, nv: usize) -> Type {
    let cone = ContactProblemBus::cone(true);
    legwork_block::Signal::ty(&ContactProblemBus::new(&Dim::fixed(count), &Dim::fixed(nv), cone))
}

/// One running block. Inputs that a group does not declare as feeds are NaN while it is computed,
/// so that a wrong feedthrough shows.
pub(crate) struct Harness {
    declaration: legwork_block::Declaration,
    inputs: PortTable,
    outputs: PortTable,
    arena: Vec<f64>,
    first_output: usize,
    instance: Box<dyn Instance>,
    /// Length of a step [s].
    pub(crate) step: f64,
    /// Whether outputs are computed as in a minor step.
    pub(crate) minor: bool,
}

impl Harness {
    /// The block with the inputs `given`; others are not connected.
    #[expect(clippy::panic_in_result_fn, reason = "a test that connects too little is wrong")]
    pub(crate) fn new<B: Block>(block: B, given: &[(&str, Type)]) -> Result<Self, Invalid> {
        let (declaration, planned) = erase(block).plan(Ports::new(&Nothing, &Nothing, 0.001))?;
        let type_of =
            |name: &str| given.iter().find(|(port, _)| *port == name).map(|(_, ty)| ty.clone());
        let mut solution = Solution::default();
        for input in &declaration.inputs {
            match type_of(&input.name) {
                Some(ty) => solution.unify(&input.ty, &ty),
                None => assert!(input.optional, "input {} is not connected", input.name),
            }
        }
        let (mut inputs, mut outputs, mut arena) = (PortTable::new(), PortTable::new(), Vec::new());
        for input in &declaration.inputs {
            match type_of(&input.name) {
                Some(_) => place(&mut inputs, &mut arena, &solution.resolve(&input.ty)),
                None => inputs.push([]),
            }
        }
        let first_output = arena.len();
        for output in &declaration.outputs {
            place(&mut outputs, &mut arena, &solution.resolve(&output.ty));
        }
        let vars = solution.vars(declaration.var_count);
        planned.check(&Sizes::new(&vars, &inputs, &outputs))?;
        let io =
            InstanceIo { inputs: inputs.clone(), outputs: outputs.clone(), ..Default::default() };
        let (instance, _) = planned.instantiate(io, &vars, &mut []);
        let (step, minor) = (0.001, false);
        Ok(Self { declaration, inputs, outputs, arena, first_output, instance, step, minor })
    }

    fn input(&self, name: &str) -> &[Slot] {
        let port = self.declaration.inputs.iter().position(|input| input.name == name);
        self.inputs.port(port.expect("an input of this name"))
    }

    /// Writes leaf `leaf` of the input `name`.
    pub(crate) fn set_leaf(&mut self, name: &str, leaf: usize, values: &[f64]) {
        let slot = self.input(name)[leaf];
        self.arena[slot.range()].copy_from_slice(values);
    }

    /// Writes the input `name` of one leaf.
    pub(crate) fn set(&mut self, name: &str, values: &[f64]) {
        self.set_leaf(name, 0, values);
    }

    /// Gap and velocity of contact `i`, on level ground.
    pub(crate) fn set_contact(&mut self, name: &str, i: usize, gap: f64, velocity: [f64; 3]) {
        let first = i * ContactBus::LEAVES;
        let identity = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        self.set_leaf(name, first + ContactBus::AXES, &identity);
        self.set_leaf(name, first + ContactBus::GAP, &[gap]);
        self.set_leaf(name, first + ContactBus::VELOCITY, &velocity);
        self.set_leaf(name, first + ContactBus::FRICTION, &[ContactBus::NO_FRICTION]);
        self.set_leaf(name, first + ContactBus::RESTITUTION, &[0.0]);
        self.set_leaf(name, first + ContactBus::ROW, &[0.0]);
    }

    /// Position of contact `i`.
    pub(crate) fn set_position(&mut self, name: &str, i: usize, position: [f64; 3]) {
        self.set_leaf(name, i * ContactBus::LEAVES + ContactBus::POSITION, &position);
    }

    /// Writes a contact problem into the input `problem`.
    pub(crate) fn set_problem(&mut self, data: &legwork_qp::ContactProblemData) {
        let shift = data.view().diagonal_shift();
        let (jacobian, factor) = mass_of(data);
        let compliance: Vec<f64> = data.compliance.iter().map(|r| r + shift).collect();
        for (leaf, values) in [
            (ContactProblemBus::INVERSE_INERTIA, data.inverse_inertia.as_slice()),
            (ContactProblemBus::BIAS, &data.bias),
            (ContactProblemBus::FRICTION, data.friction.as_slice()),
            (ContactProblemBus::ACTIVE, &data.active),
            (ContactProblemBus::COMPLIANCE, &compliance),
            (ContactProblemBus::FORCE_SCALE, &[data.force_scale]),
            (ContactProblemBus::JACOBIAN, &jacobian),
            (ContactProblemBus::FACTOR, &factor),
            (ContactProblemBus::SIDES, &[data.cone.sides() as f64]),
            (
                ContactProblemBus::IS_INSCRIBED,
                &[f64::from(u8::from(crate::contact::friction_cone::is_inscribed(&data.cone)))],
            ),
        ] {
            self.set_leaf("problem", leaf, values);
        }
    }

    fn time(&self, t: f64) -> Time {
        Time { t, step: self.step, minor: self.minor }
    }

    /// Computes all outputs.
    pub(crate) fn output(&mut self, t: f64) -> Outcome {
        let time = self.time(t);
        if !time.minor {
            self.instance.begin_step();
        }
        for (group, feeds) in self.declaration.groups.iter().enumerate() {
            let before = self.arena[..self.first_output].to_vec();
            let before = visible(&self.inputs, before, feeds);
            self.instance.output(OutputIo {
                time,
                group,
                x: &[],
                before: &before,
                own: &mut self.arena[self.first_output..],
                own_start: self.first_output as u32,
                shared: &[],
                shared_own: None,
            })?;
        }
        Ok(())
    }

    /// Outputs, guards and resets until none fires, then the update: a major step.
    #[expect(clippy::panic_in_result_fn, reason = "a guard that does not stop fails the test")]
    pub(crate) fn step(&mut self, t: f64) -> Outcome {
        self.output(t)?;
        let mut resets = 0;
        while self.guard(t)? {
            resets += 1;
            assert!(resets < 8, "the guard does not stop");
            self.output(t)?;
        }
        let view = View { time: self.time(t), arena: &self.arena, shared: &[] };
        self.instance.update(view, &[])
    }

    /// Tests level guards and resets; whether one fired.
    pub(crate) fn guard(&mut self, t: f64) -> Result<bool, Box<legwork_block::Fault>> {
        let mut values = vec![0.0; self.declaration.guards.len()];
        let view = View { time: self.time(t), arena: &self.arena, shared: &[] };
        self.instance.guard(view, &[], &mut values);
        let fired: Vec<bool> = values.iter().map(|value| *value > 0.0).collect();
        if !fired.contains(&true) {
            return Ok(false);
        }
        self.instance.reset(view, &fired, &mut [])?;
        Ok(true)
    }

    /// A copy of the state.
    pub(crate) fn save(&self) -> Box<dyn Any + Send> {
        self.instance.save()
    }

    /// Puts a copy of the state back.
    pub(crate) fn restore(&mut self, saved: &(dyn Any + Send)) {
        self.instance.restore(saved);
    }

    /// The output `name`, leaf after leaf.
    pub(crate) fn value(&self, name: &str) -> Vec<f64> {
        let count = self.slots(name).len();
        (0..count).flat_map(|leaf| self.leaf(name, leaf)).collect()
    }

    /// One leaf of the output `name`.
    pub(crate) fn leaf(&self, name: &str, leaf: usize) -> Vec<f64> {
        self.arena[self.slots(name)[leaf].range()].to_vec()
    }

    fn slots(&self, name: &str) -> &[Slot] {
        let port = self.declaration.outputs.iter().position(|output| output.name == name);
        self.outputs.port(port.expect("an output of this name"))
    }

    /// What the block reports.
    pub(crate) fn report(&self) -> Report {
        let mut report = Report::default();
        self.instance.report(&mut report);
        report
    }
}

/// The factor of `M = CᵀC`, as it travels.
pub(crate) fn packed(c: &DMatrix<f64>) -> Vec<f64> {
    let mut packed = vec![0.0; c.nrows() * (c.nrows() + 1)];
    let mut mass = c.transpose() * c;
    legwork_mechanics::pack_dense(mass.as_mut_slice(), &mut packed).expect("positive definite");
    packed
}

/// J (3k × 3k) and the factor of M of a world of 3k velocities with `J M⁻¹ Jᵀ = G`: `J = √G C` for
/// `M = CᵀC` and a triangular C of no meaning.
pub(crate) fn mass_of(data: &legwork_qp::ContactProblemData) -> (Vec<f64>, Vec<f64>) {
    let n = data.bias.len();
    let inertia = DMatrix::from_column_slice(n, n, &data.inverse_inertia);
    let factor = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
        Ordering::Less => 0.0,
        Ordering::Equal => 1.0 + 0.1 * i as f64,
        Ordering::Greater => 0.3 / (1 + i - j) as f64,
    });
    let parts = inertia.symmetric_eigen();
    let root = &parts.eigenvectors
        * DMatrix::from_diagonal(&parts.eigenvalues.map(|value| value.max(0.0).sqrt()));
    ((root * &factor).as_slice().to_vec(), packed(&factor))
}
