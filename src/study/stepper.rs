//! A model that is driven from outside: write inputs, step, read outputs (semantics 11.3).

use std::fmt;
use std::sync::Arc;

use legwork_block::Slot;
use legwork_program::{Program, SignalRef};
use legwork_runtime::{Cursor, RunFault, Simulation, Snapshot};

use crate::error::Error;
use crate::model::Model;
use crate::session::Probe;

/// An input of the diagram, resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input(usize);

/// A signal of the diagram, resolved; [`Stepper::read`] takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output(usize);

/// A model that is driven step by step, as a controller, a learner or another program does it.
///
/// Names are resolved once; what is written and read are slices of the run's own memory. After
/// [`Stepper::step`] signals are those of the new time, with the inputs as they are; an input that
/// is written then makes them anew before the next step. A step after the first of an episode
/// allocates nothing, but for diagrams with parts that restart. Nothing of the past is kept and
/// nothing is recorded: a [`Session`](crate::Session) does both.
///
/// ```
/// use legwork_study::{Error, Library};
///
/// let library = Library::new(legwork_blocks::register);
/// let text = r#"Diagram(
///     run: (stop: "10 s", step: "10 ms"),
///     params: { "m": "2 kg" },
///     ports: (
///         in: { "force": Port(type: "Real", unit: "N", default: 0.0) },
///         out: { "x": Port(type: "Real", unit: "m"), "v": Port(type: "Real", unit: "m/s") },
///     ),
///     blocks: {
///         "pull": Gain(gain: "=1/m", in: { "u": "^force" }),
///         "body": SecondOrderIntegrator(in: { "u": "pull.y" }),
///     },
///     out: { "x": "body.position", "v": "body.velocity" },
/// )"#;
/// let mut cart = library.diagram("cart.ron", text).compile().into_model()?.stepper()?;
/// let force = cart.input("force")?;
/// let (x, v) = (cart.output("x")?, cart.output("v")?);
/// for _episode in 0..2 {
///     cart.reset()?;
///     while !cart.is_at_end() {
///         // A controller that brings it to 1 m.
///         let f = 8.0 * (1.0 - cart.read(x)[0]) - 8.0 * cart.read(v)[0];
///         cart.write(force, &[f])?;
///         cart.step(1)?;
///     }
///     assert!((cart.read(x)[0] - 1.0).abs() < 1e-3);
/// }
/// cart.set("m", "1 kg")?;
/// # Ok::<(), Error>(())
/// ```
pub struct Stepper {
    model: Model,
    simulation: Simulation,
    /// The state at t = 0.
    begin: Snapshot,
    /// Inputs by their place among the program's: whether they have a value.
    given: Vec<bool>,
    signals: Vec<SignalRef>,
    probe: Probe,
    /// Whether only `signals` are computed.
    is_lean: bool,
}

impl fmt::Debug for Stepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (diagram, t) = (self.model.diagram().name(), self.time());
        f.debug_struct("Stepper").field("diagram", &diagram).field("t", &t).finish_non_exhaustive()
    }
}

impl Model {
    /// The model at t = 0, to be driven from outside.
    ///
    /// # Errors
    /// If outputs at t = 0 fault.
    pub fn stepper(&self) -> Result<Stepper, Error> {
        Stepper::at_begin(self, Simulation::new(Arc::clone(self.program())))
    }

    /// The model at t = 0, to be driven by who looks at the outputs of the diagram and at these
    /// signals alone: what only the log, checks or nobody reads is not computed. A run that goes on
    /// from a snapshot of it asks checks from there on. The handles are those of the outputs, then
    /// those of the signals.
    ///
    /// # Errors
    /// If there is no such signal, or outputs at t = 0 fault.
    pub fn lean_stepper(&self, signals: &[String]) -> Result<(Stepper, Vec<Output>), Error> {
        let mut probe = Probe::default();
        let mut shown: Vec<SignalRef> =
            self.program().outputs.iter().map(|output| output.signal.clone()).collect();
        for path in signals {
            shown.push(probe.signal(path, self.diagram(), self.program())?);
        }
        let stepper = Stepper::lean(self, shown)?;
        let handles = (0..stepper.signals.len()).map(Output).collect();
        Ok((stepper, handles))
    }
}

fn fault(fault: &RunFault) -> Error {
    Error::new(crate::error::ErrorKind::Fault, fault.to_string())
}

impl Stepper {
    fn at_begin(model: &Model, simulation: Simulation) -> Result<Self, Error> {
        let mut stepper = Self {
            model: model.clone(),
            begin: simulation.snapshot(),
            simulation,
            given: Vec::new(),
            signals: Vec::new(),
            probe: Probe::default(),
            is_lean: false,
        };
        stepper.reset()?;
        Ok(stepper)
    }

    fn lean(model: &Model, signals: Vec<SignalRef>) -> Result<Self, Error> {
        let slots = signals.iter().flat_map(|signal| signal.slots.iter().copied()).collect();
        let simulation = Simulation::watched_at(Arc::clone(model.program()), slots);
        let begun = Self::at_begin(model, simulation)?;
        Ok(Self { signals, is_lean: true, ..begun })
    }

    /// The compiled diagram, with what was set.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What runs.
    pub fn program(&self) -> &Arc<Program> {
        self.simulation.program()
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.simulation.time()
    }

    /// Whether the run has ended: its stop time, or a block that stops it.
    pub fn is_at_end(&self) -> bool {
        let (simulation, program) = (&self.simulation, self.program());
        let stops = program.stops.iter();
        simulation.cursor() == Cursor::Done
            || simulation.tick() >= program.stop_tick
            || stops.map(|stop| stop.slot.index()).any(|slot| simulation.arena()[slot] != 0.0)
    }

    /// Another of the same model at t = 0; the handles of this one hold for it too.
    ///
    /// # Errors
    /// If outputs at t = 0 fault.
    pub fn another(&self) -> Result<Self, Error> {
        if self.is_lean {
            return Self::lean(&self.model, self.signals.clone());
        }
        let other = self.model.stepper()?;
        Ok(Self { signals: self.signals.clone(), ..other })
    }

    /// The input `name`.
    ///
    /// # Errors
    /// If there is no such input, or a block feeds it.
    pub fn input(&self, name: &str) -> Result<Input, Error> {
        let inputs = &self.program().inputs;
        let Some(at) = inputs.iter().position(|input| input.name == name) else {
            return Err(self.unknown("input", name, inputs.iter().map(|input| &*input.name)));
        };
        if inputs[at].initial.is_none() {
            let block = &self.program().nodes[inputs[at].node].text;
            return Err(Error::request(format!("`{block}` feeds the input `{name}`")));
        }
        Ok(Input(at))
    }

    /// The output `name` of the diagram.
    ///
    /// # Errors
    /// If there is no such output.
    pub fn output(&mut self, name: &str) -> Result<Output, Error> {
        let program = Arc::clone(self.program());
        let known = || program.outputs.iter();
        match known().find(|output| output.name == name) {
            Some(output) => Ok(self.keep(output.signal.clone())),
            None => Err(self.unknown("output", name, known().map(|output| &*output.name))),
        }
    }

    /// Any signal of the diagram, or a part of one, such as `body.state.base.position[2]`.
    ///
    /// # Errors
    /// If there is no such signal, or it is not computed because [`Model::lean_stepper`] was not
    /// asked for it.
    pub fn signal(&mut self, path: &str) -> Result<Output, Error> {
        let program = Arc::clone(self.program());
        let signal = self.probe.signal(path, self.model.diagram(), &program)?;
        if self.is_lean {
            let known = self.signals.iter().position(|known| known.slots == signal.slots);
            let unasked = || Error::request(format!("the signal `{path}` was not asked for"));
            return known.map(Output).ok_or_else(unasked);
        }
        Ok(self.keep(signal))
    }

    fn keep(&mut self, signal: SignalRef) -> Output {
        self.signals.push(signal);
        Output(self.signals.len() - 1)
    }

    fn unknown<'n>(
        &self,
        what: &str,
        name: &str,
        known: impl Iterator<Item = &'n str> + Clone,
    ) -> Error {
        let near = match legwork_block::nearest(name, known.clone()) {
            Some(near) => format!("; did you mean `{near}`?"),
            None => match known.collect::<Vec<_>>().join("`, `") {
                all if all.is_empty() => String::new(),
                all => format!("; it has `{all}`"),
            },
        };
        Error::request(format!("the diagram has no {what} `{name}`{near}"))
    }

    /// Writes an input: all its numbers, leaf after leaf, matrices column by column.
    ///
    /// # Errors
    /// If they are not as many as it has, or the run has ended.
    pub fn write(&mut self, input: Input, numbers: &[f64]) -> Result<(), Error> {
        let port = &self.simulation.program().inputs[input.0];
        let slots = &port.signal.slots;
        let len: usize = slots.iter().map(|slot| slot.len as usize).sum();
        if len != numbers.len() {
            let (name, found) = (&port.name, numbers.len());
            let message = format!("the input `{name}` has {len} numbers, found {found}");
            return Err(Error::request(message));
        }
        let mut from = 0;
        for leaf in 0..slots.len() {
            let Some(place) = self.simulation.input_mut(input.0, leaf) else {
                return Err(Error::request("the run has ended"));
            };
            let next = from + place.len();
            place.copy_from_slice(&numbers[from..next]);
            from = next;
        }
        self.given[input.0] = true;
        Ok(())
    }

    /// Does `count` major steps, to the end of the run at most; then signals are those of the new
    /// time.
    ///
    /// # Errors
    /// The first fault, or an input that never got a value.
    pub fn step(&mut self, count: u64) -> Result<(), Error> {
        if let Some(missing) = self.given.iter().position(|given| !given) {
            return Err(no_value(&self.program().inputs[missing].name));
        }
        for _ in 0..count {
            if self.is_at_end() {
                break;
            }
            self.simulation.step().map_err(|found| fault(&found))?;
        }
        self.simulation.look_ahead().map_err(|found| fault(&found))
    }

    /// The numbers of a signal that is one piece: a number, a vector, a matrix column by column; the
    /// first leaf of a bus or an array.
    pub fn read(&self, output: Output) -> &[f64] {
        self.leaf(output, 0)
    }

    /// Leaf `leaf` of a bus or an array; nothing behind the last.
    pub fn leaf(&self, output: Output, leaf: usize) -> &[f64] {
        let slot = self.signals[output.0].slots.get(leaf).copied().unwrap_or(Slot::default());
        &self.simulation.arena()[slot.range()]
    }

    /// Type, unit and leaves of a signal.
    pub fn describe(&self, output: Output) -> &SignalRef {
        &self.signals[output.0]
    }

    /// Goes back to t = 0. Inputs have their defaults, parameters what was set.
    ///
    /// # Errors
    /// If outputs at t = 0 fault.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.simulation.restore(&self.begin).map_err(|found| fault(&found))?;
        let given = self.simulation.program().inputs.iter().map(|input| input.given);
        self.given.clear();
        self.given.extend(given);
        self.simulation.look_ahead().map_err(|found| fault(&found))
    }

    /// Changes a parameter from here on, and for what follows a reset. Handles stay as they are.
    ///
    /// # Errors
    /// If the diagram does not compile with it, or more than parameters would change.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Error> {
        let diagram = self.model.diagram().clone().set(path, value);
        self.change_to(&diagram.compile().model_or_errors()?)
    }

    /// Goes on with the parameters of `model`, a compilation of the same diagram; as [`Self::set`],
    /// for who sets the same of several.
    ///
    /// # Errors
    /// If more than parameters would change.
    pub fn change_to(&mut self, model: &Model) -> Result<(), Error> {
        self.simulation.take_back_outputs();
        let swapped = self.simulation.swap_parameters(model.program());
        swapped.map_err(|error| Error::request(error.to_string()))?;
        self.begin = Simulation::new(Arc::clone(model.program())).snapshot();
        self.model = model.clone();
        self.simulation.look_ahead().map_err(|found| fault(&found))
    }

    /// The present state, which [`Model::resume`] and `run --resume` continue bit for bit: held
    /// inputs are part of it.
    ///
    /// # Errors
    /// If a block's state cannot be written.
    pub fn snapshot(&mut self) -> Result<crate::Snapshot, Error> {
        self.simulation.take_back_outputs();
        let bytes = self.simulation.to_bytes().map_err(|e| Error::request(e.to_string()))?;
        self.simulation.look_ahead().map_err(|found| fault(&found))?;
        Ok(crate::Snapshot::new("snapshot", bytes))
    }
}

/// An input that has no value.
pub(crate) fn no_value(name: &str) -> Error {
    let message = format!("the input `{name}` has no value: it has no default, and none was given");
    Error::new(crate::error::ErrorKind::Input, message)
}

impl Model {
    /// Fails if an input has no value.
    pub(crate) fn expect_inputs(&self) -> Result<(), Error> {
        match self.program().inputs.iter().find(|input| !input.given) {
            Some(missing) => Err(no_value(&missing.name)),
            None => Ok(()),
        }
    }
}
