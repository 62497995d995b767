//! Random diagrams: every way through a run gives the same bits.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use legwork::Disk;
use legwork_block::Registry;
use legwork_diagram::{Options, compile};
use legwork_program::Program;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Sink};
use legwork_runtime::{Cursor, History, Simulation, channels};

use crate::Target;
use crate::mutate::Random;

/// Blocks of a number: `u` stands for a signal, `N` for a number, `T` for a period or time.
const BLOCKS: [&str; 34] = [
    "Constant(value: N)",
    "Sine(amplitude: N, frequency: \"3 Hz\")",
    "Sine(amplitude: N, frequency: \"40 Hz\", phase: 1)",
    "Step(time: \"T\", after: N)",
    "Ramp(start: \"T\", slope: \"N 1/s\")",
    "RandomNumber(every: \"T\")",
    "UniformRandomNumber(every: \"T\")",
    "WhiteNoise(every: \"T\", power: 0.01)",
    "Gain(gain: N, in: { \"u\": u })",
    "Abs(in: { \"u\": u })",
    "Saturation(lower: -1, upper: 1, in: { \"u\": u })",
    "DeadZone(lower: -0.3, upper: 0.2, in: { \"u\": u })",
    "Relay(on: 0.5, off: -0.5, in: { \"u\": u })",
    "Backlash(width: 0.3, in: { \"u\": u })",
    "Quantizer(interval: 0.1, in: { \"u\": u })",
    "RateLimiter(rising: 20, falling: -10, in: { \"u\": u })",
    "Integrator(initial: N, in: { \"u\": u })",
    "Integrator(initial: 0, lower: -0.05, upper: 0.05, in: { \"u\": u })",
    "TransferFunction(numerator: [1], denominator: [0.01, 1], in: { \"u\": u })",
    "Derivative(filter: \"100 rad/s\", in: { \"u\": u })",
    "Pid(kp: N, ki: 3, kd: 0.01, upper: 1, lower: -1, in: { \"u\": u })",
    "TransportDelay(delay: \"7 ms\", in: { \"u\": u })",
    "UnitDelay(every: \"T\", in: { \"u\": u })",
    "Delay(every: \"T\", length: 3, in: { \"u\": u })",
    "ZeroOrderHold(every: \"T\", in: { \"u\": u })",
    "DiscreteIntegrator(every: \"T\", in: { \"u\": u })",
    "DiscreteFilter(every: \"T\", numerator: [0.2], denominator: [1, -0.8], in: { \"u\": u })",
    "Memory(in: { \"u\": u })",
    "Sum(signs: \"+-\", in: { \"u1\": u, \"u2\": u })",
    "Product(ops: \"**\", in: { \"u1\": u, \"u2\": u })",
    "MinMax(function: Max, count: 2, in: { \"u1\": u, \"u2\": u })",
    "Fcn(expression: \"sin(u1) + N * tanh(u2) + t\", in: { \"u1\": u, \"u2\": u })",
    "Fcn(expression: \"if u > 0.1 then u else -u\", in: { \"u\": u })",
    "Lookup1D(points: [-1, 0, 1], values: [2, 0, 1], in: { \"u\": u })",
];

const SOLVERS: [&str; 9] = [
    "Euler",
    "SemiImplicitEuler",
    "Heun",
    "Rk4",
    "ImplicitEuler",
    "DormandPrince",
    "Esdirk",
    "Bdf",
    "DormandPrince(rtol: 1e-4)",
];

/// How long a run is, and its longest step.
const RUN: &str = "stop: \"60 ms\", step: \"1 ms\"";

pub(crate) struct Same;

impl Same {
    /// The target, whose blocks all compile: a diagram with one that does not would say nothing.
    pub(crate) fn new() -> Self {
        for block in BLOCKS {
            let text = alone(block);
            assert!(compiled(text.as_bytes()).is_some(), "it does not compile: {text}");
        }
        Self
    }
}

/// What stands for a letter of [`BLOCKS`].
enum Place {
    Input,
    Number,
    Period,
}

/// Writes a block with what stands for its letters.
fn fill(block: &str, text: &mut String, mut of: impl FnMut(Place) -> String) {
    let mut rest = block;
    while let Some(at) = rest.find(['u', 'N', 'T']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        let alone = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '"');
        let is_place = alone(before.chars().last()) || from.starts_with('T');
        let ends = from[1..].chars().next().is_none_or(|c| !c.is_alphanumeric());
        match from.as_bytes()[0] {
            b'u' if is_place && ends && before.ends_with(": ") => text.push_str(&of(Place::Input)),
            b'N' if ends => text.push_str(&of(Place::Number)),
            b'T' if ends => text.push_str(&of(Place::Period)),
            _ => text.push_str(&from[..1]),
        }
        rest = &from[1..];
    }
    text.push_str(rest);
}

/// A diagram of one block.
fn alone(block: &str) -> String {
    let mut text =
        format!("Diagram(format: 2, run: ({RUN}), blocks: {{\n\"a\": Constant(value: 1),");
    text.push_str("\n\"b\": ");
    fill(block, &mut text, |place| match place {
        Place::Input => "\"a.y\"".to_owned(),
        Place::Number => "1".to_owned(),
        Place::Period => "1 ms".to_owned(),
    });
    text.push_str("\n})");
    text
}

impl Target for Same {
    /// A limit that is slid along, until the steps inside one of the run are too many: also for a
    /// fork, which has taken some of them.
    fn fixed(&self, index: u64) -> Option<Vec<u8>> {
        let slides = "Diagram(format: 2, run: (stop: \"60 ms\", step: \"1 ms\", solver: Bdf, seed: \
                      3), blocks: { \"b0\": Sine(amplitude: -1.47, frequency: \"40 Hz\", phase: 1), \
                      \"b1\": Integrator(initial: 0, lower: -0.05, upper: 0.05, in: { \"u\": \
                      \"b0.y\" }), \"b2\": RateLimiter(rising: 20, falling: -10, in: { \"u\": \
                      \"b1.y\" }), \"b3\": RateLimiter(rising: 20, falling: -10, in: { \"u\": \
                      \"b0.y\" }) })";
        (index == 0).then(|| slides.into())
    }

    fn input(&self, random: &mut Random) -> Vec<u8> {
        let count = 3 + random.below(12);
        // One rate for what is sampled, in most diagrams: several must not be mixed at will.
        let period = random.pick(&["1 ms", "2 ms", "5 ms"]);
        let mut text = String::new();
        let _ = write!(
            text,
            "Diagram(format: 2, run: ({RUN}, solver: {}, seed: {}), blocks: {{",
            random.pick(&SOLVERS),
            random.below(9)
        );
        for i in 0..count {
            // The first ones are sources.
            let block = if i < 2 { BLOCKS[random.below(8)] } else { random.pick(&BLOCKS) };
            let _ = write!(text, "\n\"b{i}\": ");
            fill(block, &mut text, |place| match place {
                // Mostly forwards; backwards closes a loop.
                Place::Input => {
                    let last = if random.once_in(5) { count } else { i };
                    format!("\"b{}.y\"", random.below(last))
                }
                Place::Number => (random.below(400) as f64 / 100.0 - 2.0).to_string(),
                Place::Period => period.to_owned(),
            });
            text.push(',');
        }
        text.push_str("\n})");
        text.into_bytes()
    }

    fn run(&self, input: &[u8], random: &mut Random) -> Result<&'static str, String> {
        let Some(program) = compiled(input) else { return Ok("refused") };
        let again = compiled(input).ok_or("the second compilation was refused")?;
        let (whole, end) = steps(Simulation::new(Arc::clone(&program)));
        let rows = recorded(Simulation::new(Arc::clone(&program)));
        hold(&rows, &recorded(Simulation::unwatched(Arc::clone(&again))), "unwatched")?;

        // From a snapshot, by another program of the same text; and from a fork.
        let at = random.below(whole.len());
        let mut simulation = Simulation::new(Arc::clone(&program));
        (0..at).for_each(|_| drop(simulation.step()));
        if simulation.cursor() != Cursor::Done && at < whole.len() {
            let bytes = simulation.to_bytes().map_err(|error| error.to_string())?;
            let resumed = Simulation::from_bytes(Arc::clone(&again), &bytes);
            let resumed = resumed.map_err(|error| error.to_string())?;
            hold(&whole[at..], &steps(resumed).0, "resumed")?;
            let (fork, _) = simulation.fork(again).map_err(|error| error.to_string())?;
            hold(&whole[at..], &steps(fork).0, "forked")?;
        }

        // There and back.
        let mut history = History::new(Simulation::new(program)).map_err(|e| e.to_string())?;
        for _ in 0..30 {
            match random.below(5) {
                0 => drop(history.back(1 + random.below(30) as u64)),
                1 => drop(history.back_steps(1 + random.below(20) as u64)),
                2 => (0..random.below(30)).for_each(|_| drop(history.advance())),
                3 => drop(history.go_to(random.below(60) as f64 * 1e-3)),
                _ => (0..random.below(20)).for_each(|_| drop(history.finish_step())),
            }
        }
        let _ = history.go_to(0.0);
        let mut walked = Vec::new();
        while history.fault().is_none() && history.simulation().cursor() != Cursor::Done {
            if history.finish_step().is_err() {
                break;
            }
            walked.push(bits(history.simulation()));
        }
        hold(&whole[..walked.len().min(whole.len())], &walked, "stepped")?;
        if walked.len() != whole.len() {
            return Err(format!("stepped: {} steps of {}", walked.len(), whole.len()));
        }
        Ok(if end { "the same" } else { "the same fault" })
    }
}

fn compiled(text: &[u8]) -> Option<Arc<Program>> {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let compiled = compile(Path::new("random.ron"), text, &Options::default(), &registry, &Disk);
    compiled.program.map(Arc::new)
}

/// Signals and states as bits.
fn bits(simulation: &Simulation) -> Vec<u64> {
    simulation.arena().iter().chain(simulation.state()).map(|value| value.to_bits()).collect()
}

/// The bits after each step, and whether the run came to its end.
fn steps(mut simulation: Simulation) -> (Vec<Vec<u64>>, bool) {
    let mut all = Vec::new();
    while simulation.cursor() != Cursor::Done {
        if simulation.step().is_err() {
            return (all, false);
        }
        all.push(bits(&simulation));
    }
    (all, true)
}

/// The rows of all signals.
fn recorded(mut simulation: Simulation) -> Vec<Vec<u64>> {
    let channels = channels(simulation.program());
    let recorder =
        Recorder::create(Sink::memory(), &channels, &Metadata::default(), ChunkPolicy::default());
    simulation.observer_mut().record_to(recorder.unwrap());
    let _ = simulation.run();
    let finished = simulation.observer_mut().finish_recording().unwrap().unwrap();
    let recording = Recording::from_bytes(finished.memory.unwrap()).unwrap();
    let mut rows = Vec::new();
    for series in recording.series_of_all() {
        for row in 0..series.len() {
            let mut values = Vec::new();
            series.values_into(row, &mut values);
            rows.push(values.into_iter().map(f64::to_bits).collect());
        }
    }
    rows
}

/// The first place at which two ways differ.
fn hold(a: &[Vec<u64>], b: &[Vec<u64>], way: &str) -> Result<(), String> {
    if a == b {
        return Ok(());
    }
    let step = a.iter().zip(b).position(|(a, b)| a != b).unwrap_or_else(|| a.len().min(b.len()));
    let place = match (a.get(step), b.get(step)) {
        (Some(a), Some(b)) => a.iter().zip(b).position(|(a, b)| a != b).unwrap_or(a.len()),
        _ => 0,
    };
    Err(format!("{way}: differs at step {step} of {} and {}, number {place}", a.len(), b.len()))
}
