//! How a block declares its ports, state and rate when a diagram is compiled.
//!
//! One file: what is declared of a port is noted where it is declared.

use std::any::Any as AnyValue;
use std::marker::PhantomData;
use std::sync::Arc;

use legwork_ode::Solver;

use crate::block::Block;
use crate::declaration::{
    Ask, ContinuousState, Crossing, Declaration, ElementsOf, Feeds, Forward, Guard,
    InputDeclaration, OutputDeclaration, PortText, PortUnit, RateRule, SolveRule,
};
use crate::expression::UnitEquation;
use crate::fault::Invalid;
use crate::instance::erase;
use crate::resource::{Files, Resource, Resources};
use crate::signal::{Bool, Feed, Feeding, In, OptionalIn, Out, Shared, Signal};
use crate::types::{Arg, Dim, Type, Var};

/// Collects a block's declaration; hands out handles, variables, robots and files.
pub struct Ports<'a> {
    resources: &'a dyn Resources,
    files: &'a dyn Files,
    step: f64,
    stop: Option<f64>,
    period: Option<f64>,
    path: &'a str,
    seed: u64,
    solver: Solver,
    in_function: bool,
    connected: &'a [&'a str],
    budget: Option<&'a dyn Fn(usize) -> bool>,
    pub(crate) declaration: Declaration,
}

/// The last declared port, to add a unit, a frame, a description.
pub struct PortNote<'p> {
    unit: &'p mut PortUnit,
    frame: &'p mut Option<String>,
    doc: &'p mut PortText,
    infinite: Option<&'p mut bool>,
    elements: Option<&'p mut Option<ElementsOf>>,
    argument_hint: Option<&'p mut PortText>,
}

impl<'p> PortNote<'p> {
    pub(crate) fn of_input(input: &'p mut InputDeclaration) -> Self {
        Self {
            unit: &mut input.unit,
            frame: &mut input.frame,
            doc: &mut input.doc,
            infinite: None,
            elements: None,
            argument_hint: Some(&mut input.argument_hint),
        }
    }

    pub(crate) fn of_output(output: &'p mut OutputDeclaration) -> Self {
        Self {
            unit: &mut output.unit,
            frame: &mut output.frame,
            doc: &mut output.doc,
            infinite: Some(&mut output.may_be_infinite),
            elements: Some(&mut output.elements),
            argument_hint: None,
        }
    }

    /// States the unit, such as `N*m`; `1` for a pure number.
    pub fn unit(&mut self, unit: impl Into<PortText>) -> &mut Self {
        *self.unit = PortUnit::Is(unit.into());
        self
    }

    /// States the unit, if it is known, or that it is that of other ports.
    pub fn of_unit(&mut self, unit: impl Into<PortUnit>) -> &mut Self {
        *self.unit = unit.into();
        self
    }

    /// States the units that elements of an input may have, as `N, N m`, if no other is stated.
    pub fn or_among(&mut self, units: &'static str) -> &mut Self {
        if *self.unit == PortUnit::Unspecified {
            *self.unit = PortUnit::Among(units);
        }
        self
    }

    /// States that all ports with this variable have the same unit.
    pub fn same_unit(&mut self, var: Var) -> &mut Self {
        *self.unit = var.into();
        self
    }

    /// States the frame of coordinates.
    pub fn frame(&mut self, frame: &str) -> &mut Self {
        *self.frame = Some(frame.to_owned());
        self
    }

    /// Adds a description.
    pub fn doc(&mut self, doc: impl Into<PortText>) -> &mut Self {
        *self.doc = doc.into();
        self
    }

    /// States that an infinite value is a bound and not an error.
    pub fn may_be_infinite(&mut self) -> &mut Self {
        if let Some(flag) = &mut self.infinite {
            **flag = true;
        }
        self
    }

    /// States that the elements of an output are called as those of an input: a vector, or the part
    /// `view` of a bus.
    pub fn elements_of(&mut self, input: &impl Feeding, view: &'static str) -> &mut Self {
        let mut feeds = Vec::new();
        input.push(&mut feeds);
        if let (Some(elements), Some(Feed::Input(input))) = (&mut self.elements, feeds.first()) {
            **elements = Some(ElementsOf { input: *input, view });
        }
        self
    }

    /// Hint for a bus at this input whose arguments are not the declared ones, and for a number in
    /// place of a vector.
    pub fn argument_hint(&mut self, hint: impl Into<PortText>) -> &mut Self {
        if let Some(text) = &mut self.argument_hint {
            **text = hint.into();
        }
        self
    }
}

impl<'a> Ports<'a> {
    /// An empty declaration. `step` is the fixed step of the run [s], or the largest step.
    pub fn new(resources: &'a dyn Resources, files: &'a dyn Files, step: f64) -> Self {
        Self {
            resources,
            files,
            step,
            stop: None,
            period: None,
            path: "",
            seed: 0,
            solver: Solver::SemiImplicitEuler,
            in_function: false,
            connected: &[],
            budget: None,
            declaration: Declaration::default(),
        }
    }

    /// For the block at `path` of a run with the seed `seed`.
    #[must_use]
    pub fn at(self, path: &'a str, seed: u64) -> Self {
        Self { path, seed, ..self }
    }

    /// For a run whose continuous state is advanced by `solver`; the default is semi-implicit
    /// Euler.
    #[must_use]
    pub fn under(self, solver: Solver) -> Self {
        Self { solver, ..self }
    }

    /// For a block with a period of its own [s].
    #[must_use]
    pub fn every(self, period: Option<f64>) -> Self {
        Self { period, ..self }
    }

    /// Sets the end of the run, `stop` [s].
    #[must_use]
    pub fn until(self, stop: f64) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// End of the run [s], if it is known.
    pub fn stop(&self) -> Option<f64> {
        self.stop
    }

    /// For a block of a function, which has no time of its own.
    #[must_use]
    pub fn in_function(self) -> Self {
        Self { in_function: true, ..self }
    }

    /// For a block whose inputs of these names are connected.
    #[must_use]
    pub fn connecting(self, connected: &'a [&'a str]) -> Self {
        Self { connected, ..self }
    }

    /// The names of the inputs that are connected, whether the block has them or not.
    pub fn connected(&self) -> &'a [&'a str] {
        self.connected
    }

    /// For a block of a diagram that may make so many values and no more: `budget` counts them, and
    /// is false once they are too many.
    #[must_use]
    pub fn within(self, budget: &'a dyn Fn(usize) -> bool) -> Self {
        Self { budget: Some(budget), ..self }
    }

    /// Counts values that the block's plan will hold, about 16 bytes each, before they are made;
    /// false if all plans of the diagram together may not hold so many.
    pub fn budget(&self) -> &'a dyn Fn(usize) -> bool {
        self.budget.unwrap_or(&|_| true)
    }

    /// The whole declaration.
    pub fn finish(mut self) -> Declaration {
        if self.declaration.groups.is_empty() {
            self.declaration.groups = vec![Feeds::All];
        }
        let Declaration { inputs, outputs, var_count, .. } = &mut self.declaration;
        let units = inputs.iter_mut().map(|input| &mut input.unit);
        for unit in units.chain(outputs.iter_mut().map(|output| &mut output.unit)) {
            if *unit == PortUnit::Adopted {
                *unit = Var(*var_count).into();
                *var_count += 1;
            }
        }
        self.declaration
    }

    /// The unit of the parameter `name`, a factor between ports that was written without unit: a
    /// power of time, 1 unless one is needed.
    pub fn bare_factor(&mut self, name: &'static str) -> Var {
        let var = self.var();
        self.declaration.bare_factors.push((var, name));
        var
    }

    /// A line that drawings show of the block, such as one of its states.
    pub fn caption(&mut self, line: impl Into<String>) {
        self.declaration.caption.push(line.into());
    }

    /// States what the block asks of units that inference finds.
    pub fn relate(&mut self, equations: impl IntoIterator<Item = UnitEquation>) {
        self.declaration.unit_equations.extend(equations);
    }

    /// A fresh variable.
    pub fn var(&mut self) -> Var {
        self.declaration.var_count += 1;
        Var(self.declaration.var_count - 1)
    }

    /// A variable for the type of something that the block computes with: a number, a vector or a
    /// matrix. A truth value does not fit it.
    pub fn number_var(&mut self) -> Var {
        let var = self.var();
        self.declaration.numbers.push(var);
        var
    }

    /// States that the block is a [`ConcatVectors`](crate::ConcatVectors) of which it is seen from
    /// what is connected which inputs are numbers: it is then planned anew.
    pub fn joins(&mut self) {
        self.declaration.joins = true;
    }

    /// A dimension to be inferred.
    pub fn dim(&mut self) -> Dim {
        Dim::var(self.var())
    }

    /// A bus argument to be inferred.
    pub fn any_argument(&mut self) -> Arg {
        Arg::Var(self.var())
    }

    /// A bus argument to be inferred: "the same robot on all these ports".
    pub fn any_robot(&mut self) -> Arg {
        self.any_argument()
    }

    /// Declares an input that must be connected.
    pub fn input<S: Signal>(&mut self, name: impl Into<PortText>, signal: &S) -> In<S> {
        In { port: self.push_input(name, signal.ty(), false), signal: PhantomData }
    }

    /// Declares an input that may be left unconnected.
    pub fn optional_input<S: Signal>(
        &mut self,
        name: impl Into<PortText>,
        signal: &S,
    ) -> OptionalIn<S> {
        OptionalIn { port: self.push_input(name, signal.ty(), true), signal: PhantomData }
    }

    /// Makes room for so many more inputs and outputs, and no more than that.
    pub fn reserve(&mut self, inputs: usize, outputs: usize) {
        self.declaration.inputs.reserve_exact(inputs);
        self.declaration.outputs.reserve_exact(outputs);
    }

    fn push_input(&mut self, name: impl Into<PortText>, ty: Type, optional: bool) -> u16 {
        self.declaration.inputs.push(InputDeclaration {
            name: name.into(),
            ty,
            unit: PortUnit::Unspecified,
            frame: None,
            doc: PortText::default(),
            optional,
            argument_hint: PortText::default(),
        });
        (self.declaration.inputs.len() - 1) as u16
    }

    /// Starts an output group with direct feedthrough from `feeds` only. Outputs declared next
    /// belong to it; without this call there is one group that every input feeds.
    pub fn group(&mut self, feeds: &[Feed]) {
        self.declaration.groups.push(Feeds::Only(feeds.to_vec()));
    }

    /// Declares an output of the current group.
    pub fn output<S: Signal>(&mut self, name: impl Into<PortText>, signal: &S) -> Out<S> {
        if self.declaration.groups.is_empty() {
            self.declaration.groups = vec![Feeds::All];
        }
        self.declaration.outputs.push(OutputDeclaration {
            name: name.into(),
            ty: signal.ty(),
            unit: PortUnit::Unspecified,
            frame: None,
            doc: PortText::default(),
            group: self.declaration.groups.len() - 1,
            may_be_infinite: false,
            is_smooth: false,
            checks_itself: false,
            elements: None,
            forwards: Vec::new(),
        });
        Out { port: (self.declaration.outputs.len() - 1) as u16, signal: PhantomData }
    }

    /// Makes leaf `leaf` of an output a view of leaf `input_leaf` of an input instead of giving it
    /// memory. The input must feed the output's group.
    pub fn forward<S: Signal, T: Signal>(
        &mut self,
        output: Out<S>,
        leaf: usize,
        input: In<T>,
        input_leaf: usize,
    ) {
        self.declaration.outputs[output.port as usize].forwards.push(Forward {
            leaf,
            input: input.port,
            input_leaf,
        });
    }

    /// States that an output is an acceleration whose forces do not rely on the end of the step:
    /// `Δt ν̇` has no part of contacts or constraints.
    pub fn is_smooth<S: Signal>(&mut self, output: Out<S>) {
        self.declaration.outputs[output.port as usize].is_smooth = true;
    }

    /// States that the block itself looks whether the numbers of an output are finite, and returns
    /// [`crate::Fault::not_finite`] where they are not: it may know that most of them are zero.
    pub fn checks_itself<S: Signal>(&mut self, output: Out<S>) {
        self.declaration.outputs[output.port as usize].checks_itself = true;
    }

    /// States that the block predicts the motion of the system at this input, under the loads at
    /// its other inputs. A load that is connected to one predictor of a system, and not to the
    /// optional input of the same name of another, is a warning.
    pub fn predicts<S: Signal>(&mut self, system: In<S>) {
        self.declaration.predicts = Some(system.port);
    }

    /// Notes on an input: unit, frame, description.
    pub fn note_in<S: Signal>(&mut self, input: In<S>) -> PortNote<'_> {
        self.note_input(input.port)
    }

    /// Notes on an optional input: unit, frame, description.
    pub fn note_optional<S: Signal>(&mut self, input: OptionalIn<S>) -> PortNote<'_> {
        self.note_input(input.port)
    }

    fn note_input(&mut self, port: u16) -> PortNote<'_> {
        PortNote::of_input(&mut self.declaration.inputs[port as usize])
    }

    /// Notes on an output: unit, frame, description.
    pub fn note_out<S: Signal>(&mut self, output: Out<S>) -> PortNote<'_> {
        PortNote::of_output(&mut self.declaration.outputs[output.port as usize])
    }

    /// Requests a computation that others may request too, such as the kinematics of a robot at a
    /// state. There is one hidden node per (`key`, sources of `inputs`); `inputs` are this block's
    /// ports for the computation's input ports, in order.
    #[expect(clippy::unreachable, reason = "a block's source names what feeds it")]
    pub fn ask<B: Block, V: AnyValue>(
        &mut self,
        block: B,
        key: impl Into<String>,
        inputs: &[Feed],
    ) -> Shared<V> {
        let inputs = inputs
            .iter()
            .map(|feed| match feed {
                Feed::Input(port) => *port,
                Feed::Shared(_) => unreachable!("a computation is fed by input ports"),
            })
            .collect();
        self.declaration.asks.push(Ask {
            block: erase(block),
            key: format!("{}:{}", B::KIND, key.into()),
            inputs,
        });
        Shared { index: (self.declaration.asks.len() - 1) as u16, value: PhantomData }
    }

    /// States that this block is a shared computation: its scratch memory is the value.
    pub fn share(&mut self) {
        self.declaration.shares = true;
    }

    /// Declares continuous state.
    pub fn continuous_state(&mut self, state: ContinuousState) {
        self.declaration.continuous = Some(state);
    }

    /// States that `update` runs. `Sampled` requires one period; other rules update at every major
    /// step at which the block is due (warm starts, latches, contact modes).
    pub fn updates(&mut self) {
        self.declaration.updates = true;
    }

    /// States a rate rule.
    pub fn rate(&mut self, rate: RateRule) {
        self.declaration.rate = rate;
        if rate == RateRule::Sampled {
            self.declaration.updates = true;
        }
    }

    /// States that the outputs are computed at major steps only and held in minor ones.
    pub fn per_major(&mut self) {
        self.declaration.per_major = true;
    }

    /// States that this block closes an algebraic loop: the engine solves for its output.
    pub fn solves(&mut self, rule: SolveRule) {
        self.declaration.solves = Some(rule);
    }

    /// States that the run ends after the major step at which this output is true.
    pub fn stops(&mut self, output: Out<Bool>) {
        self.declaration.stops = Some(output.port);
    }

    /// States that this block changes rates: its input may have any.
    pub fn any_rates(&mut self) {
        self.declaration.any_rates = true;
    }

    /// Declares a guard; `guard` writes its value, `reset` handles it.
    pub fn guard(&mut self, crossing: Crossing) {
        self.declaration.guards.push(Guard { crossing, resets: true });
    }

    /// Declares a place where the outputs or their slope jump: `guard` writes its value after
    /// those of the guards before it. A variable step is cut there; fixed steps ignore it.
    pub fn locate(&mut self, crossing: Crossing) {
        self.declaration.guards.push(Guard { crossing, resets: false });
    }

    /// States that the block's law consists of smooth pieces, and returns whether the block has to
    /// hold them: where steps are cut ([`Self::locates`]) `update` notes the piece of a major step,
    /// minor steps continue with its law, also beyond its end, and `guard` writes, after the guards
    /// before it, a value above zero once the piece is left. Outputs of a block that is not
    /// continuous are never computed in minor steps, and its pieces are not noted.
    pub fn pieces(&mut self) -> bool {
        if self.locates() {
            self.declaration.pieces = true;
            // A level guard is never disarmed, so that a piece left soon after an event is not
            // missed.
            self.locate(Crossing::Level);
        }
        self.locates()
    }

    /// The same for a law of the time alone. Fixed steps hold its pieces too, without a guard: a
    /// step that ends where the law jumps must not see the value after it, which belongs to the
    /// next step, or every method with stages has order 1 there.
    pub fn pieces_of_time(&mut self) -> bool {
        if self.solver.has_stages() && !self.solver.is_variable() && !self.in_function {
            self.declaration.pieces = true;
            return true;
        }
        self.pieces()
    }

    /// Warns of something that runs, but probably not as intended.
    pub fn warn(&mut self, warning: Invalid) {
        self.declaration.warnings.push(warning);
    }

    /// The key of this block's random numbers: a function of the run's seed, the block's path and
    /// `own`, so that adding a block changes no other stream (semantics 7.2).
    pub fn random_key(&self, own: u64) -> u64 {
        // FNV-1a over the path, then two rounds of SplitMix64 (Steele, Lea, Flood, 2014).
        let path = self.path.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        mix(mix(path ^ mix(self.seed)).wrapping_add(own))
    }

    /// The solver of the run.
    pub fn solver(&self) -> Solver {
        self.solver
    }

    /// Whether steps are cut where [`Self::locate`] says: the solver chooses its own steps, and the
    /// block is not part of a function, which has no time of its own.
    pub fn locates(&self) -> bool {
        self.solver.is_variable() && !self.in_function
    }

    /// The step of the run [s].
    pub fn step(&self) -> f64 {
        self.step
    }

    /// How long what the block computes is held [s]: its stated period, or the step of a run whose
    /// solver looks at it once a step. `None` if it is computed at every stage of a step, or at the
    /// rate of its inputs alone.
    pub fn held_for(&self) -> Option<f64> {
        self.period.or((!self.solver.has_stages()).then_some(self.step))
    }

    /// The robot (or other resource) of this name.
    ///
    /// # Errors
    /// If no resource of this type has the name.
    pub fn resource<T: Resource>(&self, name: &str) -> Result<Arc<T>, Invalid> {
        crate::resource::typed(self.resources, name)
    }

    /// The section `ground:` of the diagram, if it has one of this type.
    pub fn ground<T: Resource>(&self) -> Option<Arc<T>> {
        crate::resource::typed_ground(self.resources)
    }

    /// Names of all robots and other resources, sorted.
    pub fn resource_names(&self) -> Vec<String> {
        self.resources.resource_names()
    }

    /// A named number of a resource, such as `n` of a robot.
    pub fn fact(&self, resource: &str, name: &str) -> Option<usize> {
        self.resources.resource(resource)?.dimension(name)
    }

    /// Files that the diagram may read.
    pub fn files(&self) -> &dyn Files {
        self.files
    }
}

fn mix(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
