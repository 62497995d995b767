//! What the engine costs: per block and step, and per compilation.
//!
//! `cargo bench --bench engine`; ns per block and step = time of `gain_chain` / 1000.

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
        r#"Diagram(run: (stop: "{steps} ms", step: "1 ms"), log: ["g{:05}.y"], blocks: {{
           "g00000": Sine(amplitude: 1.0, frequency: "1 Hz"),"#,
        count
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

/// One major step of 1 000 scalar gains, the last one recorded to memory.
#[divan::bench(sample_count = 50)]
fn gain_chain_1000(bencher: Bencher<'_, '_>) {
    let program = program(&chain(1000, 10_000_000));
    let mut simulation = Simulation::new(Arc::clone(&program));
    let recorder = Recorder::create(
        Sink::null(),
        &channels(&program),
        &Metadata::default(),
        ChunkPolicy::default(),
    );
    if let Ok(recorder) = recorder {
        simulation.observer_mut().record_to(recorder);
    }
    bencher.bench_local(|| black_box(&mut simulation).step());
}

/// Text → program of 500 blocks.
#[divan::bench(sample_count = 20)]
fn compile_500_blocks(bencher: Bencher<'_, '_>) {
    let text = chain(500, 1000);
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
