//! Cost of the engine: per block and step, and per compilation.
//!
//! `cargo bench --bench engine`; ns per block and step = time of `gain_chain_1000` / 1000, and
//! beside it `indirect_calls_1000`.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use divan::{Bencher, black_box};
use legwork_block::Registry;
use legwork_diagram::{Options, ReadFile, compile};
use legwork_program::Program;
use legwork_runtime::recording::{ChunkPolicy, Metadata, Recorder, Sink};
use legwork_runtime::{Simulation, channels};

fn main() {
    divan::main();
}

struct NoFiles;

impl ReadFile for NoFiles {
    fn read(&self, _: &Path) -> std::io::Result<Vec<u8>> {
        Err(std::io::ErrorKind::NotFound.into())
    }
}

fn registry() -> Registry {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    registry
}

/// A chain of `count` scalar gains on a sine, the last one logged; stops after `steps` steps.
fn chain(count: usize, steps: usize) -> String {
    let mut text = format!(
        r#"Diagram(run: (stop: "{steps} ms", step: "1 ms"), log: ["g{count:05}.y"], blocks: {{
           "g00000": Sine(amplitude: 1.0, frequency: "1 Hz"),"#
    );
    for i in 1..=count {
        let _ =
            writeln!(text, r#""g{i:05}": Gain(gain: 1.0001, in: {{ "u": "g{:05}.y" }}),"#, i - 1);
    }
    text.push_str("})");
    text
}

fn program(text: &str) -> Arc<Program> {
    let compiled = compile(
        Path::new("bench.ron"),
        text.as_bytes(),
        &Options::default(),
        &registry(),
        &NoFiles,
    );
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")))
}

/// One major step of 1 000 scalar gains, the last one recorded to a stream that drops it.
#[divan::bench(sample_count = 50)]
fn gain_chain_1000(bencher: Bencher<'_, '_>) {
    let program = program(&chain(1000, 10_000_000));
    let mut simulation = Simulation::new(Arc::clone(&program));
    let recorder = Recorder::create(
        Sink::stream(std::io::sink()),
        &channels(&program),
        &Metadata::default(),
        ChunkPolicy::default(),
    );
    match recorder {
        Ok(recorder) => simulation.observer_mut().record_to(recorder),
        Err(error) => panic!("{error}"),
    }
    bencher.bench_local(|| black_box(&mut simulation).step());
}

/// What the chain of gains is measured against: an object behind a pointer, called through its
/// table of functions.
trait Call {
    fn call(&self, signals: &mut [f64]);
}

/// `signals[y] = gain · signals[u]`.
struct Product {
    gain: f64,
    u: usize,
    y: usize,
}

impl Call for Product {
    #[inline(never)]
    fn call(&self, signals: &mut [f64]) {
        signals[self.y] = self.gain * signals[self.u];
    }
}

/// The arithmetic of `gain_chain_1000` by 1 000 indirect calls, without an engine. A step of the
/// chain may take four times as long.
#[divan::bench(sample_count = 50)]
fn indirect_calls_1000(bencher: Bencher<'_, '_>) {
    let mut signals = vec![0.5; 1001];
    let calls: Vec<Box<dyn Call>> = (0..1000)
        .map(|u| Box::new(Product { gain: 1.0001, u, y: u + 1 }) as Box<dyn Call>)
        .collect();
    bencher.bench_local(|| {
        let signals = black_box(&mut signals);
        calls.iter().for_each(|call| call.call(signals));
    });
}

/// Text → program of so many blocks.
#[divan::bench(args = [500, 10_000], sample_count = 20)]
fn compile_blocks(bencher: Bencher<'_, '_>, count: usize) {
    let text = chain(count, 1000);
    let registry = registry();
    bencher.bench_local(|| {
        compile(
            Path::new("bench.ron"),
            black_box(text.as_bytes()),
            &Options::default(),
            &registry,
            &NoFiles,
        )
    });
}

struct Disk;

impl ReadFile for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        std::fs::read(path)
    }
}

/// One major step of Mini Cheetah standing still, alone and with its log written to a stream that
/// drops it.
#[divan::bench(args = [false, true], sample_count = 100, sample_size = 20)]
fn stand_step(bencher: Bencher<'_, '_>, record: bool) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagrams/quadruped/stand.ron");
    let text = std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // Far beyond the measured steps: a run that has ended would cost nothing.
    let options = Options { until: Some("100000 s".to_owned()), ..Options::default() };
    let compiled = compile(&path, &text, &options, &registry(), &Disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    let program = Arc::new(compiled.program.unwrap_or_else(|| panic!("{shown}")));
    let mut simulation = Simulation::new(Arc::clone(&program));
    // It lands after 0.1 s and is at rest long before 2 s.
    for _ in 0..2000 {
        simulation.step().unwrap_or_else(|fault| panic!("{fault}"));
    }
    if record {
        let recorder = Recorder::create(
            Sink::stream(std::io::sink()),
            &channels(&program),
            &Metadata::default(),
            ChunkPolicy::default(),
        );
        match recorder {
            Ok(recorder) => simulation.observer_mut().record_to(recorder),
            Err(error) => panic!("{error}"),
        }
    }
    bencher.bench_local(|| {
        black_box(&mut simulation).step().unwrap_or_else(|fault| panic!("{fault}"));
    });
}
