//! Compiles texts, runs them into memory, and a few blocks that look at the engine from inside.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use legwork_block::{
    Block, Crossing, GuardCx, In, Inputs, Invalid, NO_FEEDS, Out, Outcome, OutputCx, Outputs,
    Ports, Pure, RateRule, Real, Registry, ResetCx, Sizes, UpdateCx, feeds,
};
use legwork_diagram::{Compiled, Options, ReadFile, compile};
use legwork_program::Program;
use legwork_runtime::Simulation;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Recording, Series, Sink};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct NoFiles;

impl ReadFile for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

pub(crate) fn compile_text(text: &str) -> Compiled {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    registry.block::<Probe>("Probe(id: 0)");
    registry.block::<MemoEcho>("MemoEcho()");
    registry.block::<Flip>("Flip()");
    registry.block::<Divide>("Divide()");
    registry.block::<super::plants::SteppedPlant>("SteppedPlant()");
    super::functions::register(&mut registry);
    super::snapshots::register(&mut registry);
    super::crossings::register(&mut registry);
    compile(Path::new("test.ron"), text.as_bytes(), &Options::default(), &registry, &NoFiles)
}

/// A diagram of the repository.
pub(crate) fn program_of(file: &str, set: &[(&str, &str)]) -> Arc<Program> {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let set = set.iter().map(|&(path, value)| (path.to_owned(), value.to_owned())).collect();
    let options = Options { set, ..Options::default() };
    let text = std::fs::read(&path).unwrap();
    let compiled = compile(&path, &text, &options, &registry, &legwork::Disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}

pub(crate) fn program(text: &str) -> Arc<Program> {
    let compiled = compile_text(text);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    match compiled.program {
        Some(program) => Arc::new(program),
        None => panic!("{shown}"),
    }
}

/// Codes and messages (with labels and hints) of a diagram that does not compile.
pub(crate) fn mistakes(text: &str) -> Vec<(&'static str, String)> {
    let compiled = compile_text(text);
    assert!(compiled.program.is_none(), "it compiled");
    compiled
        .diagnostics
        .iter()
        .map(|d| {
            let labels: Vec<&str> = d.secondary.iter().map(|label| label.text.as_str()).collect();
            (
                d.code.name(),
                format!("{} | {} | {}", d.message, labels.join(" | "), d.hints.join(" | ")),
            )
        })
        .collect()
}

pub(crate) fn recorder(program: &Program) -> Recorder {
    Recorder::create(
        Sink::memory(),
        &legwork_runtime::channels(program),
        &Metadata::default(),
        ChunkPolicy::default(),
    )
    .unwrap()
}

pub(crate) fn finish(simulation: &mut Simulation) -> Vec<u8> {
    simulation.observer_mut().finish_recording().unwrap().unwrap().memory.unwrap()
}

/// Runs to the end; the recording's bytes.
pub(crate) fn record(program: &Arc<Program>) -> Vec<u8> {
    let mut simulation = Simulation::new(Arc::clone(program));
    simulation.observer_mut().record_to(recorder(program));
    simulation.run().unwrap_or_else(|fault| panic!("{fault}"));
    finish(&mut simulation)
}

/// Runs to the end; what was logged.
pub(crate) fn run(text: &str) -> Recording {
    Recording::from_bytes(record(&program(text))).unwrap()
}

/// `(t, value)` of a logged number.
pub(crate) fn numbers(recording: &Recording, topic: &str) -> Vec<(f64, f64)> {
    let series: Series<'_> = recording.series(topic).unwrap();
    (0..series.len())
        .map(|i| {
            let row = series.row(i);
            (series.stamp(i).t, row.values[0])
        })
        .collect()
}

/// Output and update calls of each [`Probe`]: major outputs, minor outputs, updates.
pub(crate) static CALLS: [[AtomicUsize; 3]; 8] = [const { [const { AtomicUsize::new(0) }; 3] }; 8];

pub(crate) fn calls(id: usize) -> [usize; 3] {
    [0, 1, 2].map(|i| CALLS[id][i].load(Ordering::SeqCst))
}

/// Hands its input on and counts its calls.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Probe {
    id: usize,
}

impl Block for Probe {
    const KIND: &'static str = "Probe";
    type Plan = (In<Real>, Out<Real>);
    type State = ();
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.updates();
        Ok((ports.input("u", &Real), ports.output("y", &Real)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(u, y): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        CALLS[self.id][usize::from(cx.time.minor)].fetch_add(1, Ordering::SeqCst);
        cx.outputs.set(y, cx.inputs.get(u));
        Ok(())
    }
    fn update(&self, _: &Self::Plan, _: &mut UpdateCx<'_, Self>) -> Outcome {
        CALLS[self.id][2].fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
}

/// Writes its input into the memo and adds the memo to its state; says if the memo was not empty
/// when a major step began.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct MemoEcho {}

impl Block for MemoEcho {
    const KIND: &'static str = "MemoEcho";
    type Plan = (In<Real>, Out<Real>, Out<Real>);
    type State = f64;
    type Memo = Option<f64>;
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        ports.rate(RateRule::Sampled);
        let u = ports.input("u", &Real);
        Ok((u, ports.output("sum", &Real), ports.output("stale", &Real)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> f64 {
        0.0
    }
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(u, sum, stale): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(stale, f64::from(u8::from(cx.memo.is_some())));
        cx.outputs.set(sum, *cx.state);
        *cx.memo = Some(cx.inputs.get(u));
        Ok(())
    }
    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        *cx.state += cx.memo.unwrap_or(f64::NAN);
        Ok(())
    }
}

/// A guard that fires while its input is positive; each reset counts one. `clears` resets are
/// needed before it lets go.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Flip {
    #[serde(default)]
    clears: f64,
}

impl Block for Flip {
    const KIND: &'static str = "Flip";
    type Plan = (In<Real>, Out<Real>);
    type State = f64;
    type Memo = ();
    type Scratch = ();

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let u = ports.input("u", &Real);
        ports.updates();
        ports.guard(Crossing::Level);
        ports.group(&NO_FEEDS);
        Ok((u, ports.output("resets", &Real)))
    }
    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> f64 {
        0.0
    }
    fn scratch(&self, _: &Self::Plan, _: &Sizes<'_>) {}
    fn output(&self, &(_, resets): &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(resets, *cx.state);
        Ok(())
    }
    fn guard(&self, &(u, _): &Self::Plan, cx: &mut GuardCx<'_, Self>) {
        let wanted = self.clears > 0.0 && *cx.state >= self.clears;
        cx.values[0] = if wanted { -1.0 } else { cx.inputs.get(u) };
    }
    fn reset(&self, _: &Self::Plan, cx: &mut ResetCx<'_, Self>) -> Outcome {
        *cx.state += 1.0;
        Ok(())
    }
}

/// `y = 1 / u`; a second output says the same, but may be infinite.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct Divide {}

impl Pure for Divide {
    const KIND: &'static str = "Divide";
    type Plan = (In<Real>, Out<Real>, Out<Real>);

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Self::Plan, Invalid> {
        let u = ports.input("u", &Real);
        ports.group(&feeds![u]);
        let bound = ports.output("bound", &Real);
        ports.note_out(bound).may_be_infinite();
        let y = ports.output("y", &Real);
        Ok((u, bound, y))
    }
    fn output(
        &self,
        &(u, bound, y): &Self::Plan,
        inp: &Inputs<'_>,
        out: &mut Outputs<'_>,
    ) -> Outcome {
        let u = inp.get(u);
        out.set(bound, 1.0 / u);
        out.set(y, if u == 0.0 { 0.0 } else { u.sqrt() });
        Ok(())
    }
}
