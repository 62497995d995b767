//! A recorded signal played back: at the times of its rows it is what was recorded.

use std::path::Path;
use std::sync::Arc;

use legwork_block::Registry;
use legwork_diagram::{Options, ReadFile, compile};
use legwork_runtime::Simulation;
use legwork_runtime::recording::Recording;

use super::harness::{finish, program, record, recorder};

/// A disk with one file.
struct OneFile(Vec<u8>);

impl ReadFile for OneFile {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> {
        match path.file_name() {
            Some(name) if name == "a.mcap" => Ok(self.0.clone()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        }
    }
}

/// A recording of a bus, of a vector and of a number, under variable steps with events.
fn first() -> Vec<u8> {
    record(&program(
        r#"Diagram(run: (stop: "2 s", step: "0.1 s", solver: DormandPrince), blocks: {
            "u": Sine(amplitude: [1, 2, 3], frequency: "0.7 Hz"),
            "size": Abs(in: { "u": "u.y" }),
            "x": Integrator(initial: "=zeros(3)", in: { "u": "size.y" }),
            "one": Constant(value: 1.0),
            "bus": BusCreate(name: "Pair", fields: ["speed", "turn"],
                             in: { "speed": "x.y", "turn": "one.y" }),
        }, log: ["x.y", "bus.y"])"#,
    ))
}

fn play(bytes: &[u8], block: &str, solver: &str) -> Result<Recording, String> {
    let text = format!(
        r#"Diagram(run: (stop: "2 s", step: "0.1 s", solver: {solver}), blocks: {{ "p": {block},
            "area": Integrator(initial: "=zeros(3)", in: {{ "u": "p.y" }}),
        }}, log: ["p.y"])"#
    );
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    let disk = OneFile(bytes.to_vec());
    let options = Options::default();
    let compiled = compile(Path::new("b.ron"), text.as_bytes(), &options, &registry, &disk);
    let shown = legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources);
    let mut simulation = Simulation::new(Arc::new(compiled.program.ok_or(shown)?));
    let recorder = recorder(simulation.program());
    simulation.observer_mut().record_to(recorder);
    simulation.run().map_err(|fault| fault.to_string())?;
    Ok(Recording::from_bytes(finish(&mut simulation)).unwrap())
}

/// Run A records, run B plays back: wherever both have a row, the values are the same bits, for
/// lines and for stairs, under fixed and variable steps.
#[test]
fn s8_2_what_is_played_back_equals_what_was_recorded_at_every_row() {
    let bytes = first();
    let recorded = Recording::from_bytes(bytes.clone()).unwrap();
    let original = recorded.series("x.y").unwrap();
    assert!(original.len() > 21, "events cut steps: {} rows", original.len());
    for interpolation in ["Linear", "Below"] {
        for (topic, field) in [("x.y", ""), ("bus.y", r#"field: "speed","#)] {
            for (solver, least) in [("Rk4", 21), ("DormandPrince", original.len())] {
                let block = format!(
                    r#"SignalFromRecording(path: "a.mcap", topic: "{topic}", {field}
                                           interpolation: {interpolation})"#
                );
                let played = play(&bytes, &block, solver).unwrap();
                let played = played.series("p.y").unwrap();
                let mut equal = 0;
                for row in 0..original.len() {
                    let t = original.stamp(row).t;
                    let Some(same) = (0..played.len()).find(|&i| played.stamp(i).t == t) else {
                        continue;
                    };
                    assert_eq!(played.row(same).values, original.row(row).values, "at {t}");
                    equal += 1;
                }
                assert!(equal >= least, "{solver}, {interpolation}: {equal} rows in common");
            }
        }
    }
}

#[test]
fn a_part_that_was_not_recorded_is_told_with_what_was() {
    let bytes = first();
    let wrong = |block: &str| play(&bytes, block, "Rk4").err().unwrap();
    let message = wrong(r#"SignalFromRecording(path: "a.mcap", topic: "y.y")"#);
    assert!(message.contains("expected a recorded signal, found `y.y`"), "{message}");
    let message = wrong(r#"SignalFromRecording(path: "a.mcap", topic: "bus.y", field: "sped")"#);
    assert!(message.contains("expected a field of `bus.y`, found `sped`"), "{message}");
    let message = wrong(r#"SignalFromRecording(path: "a.mcap", topic: "bus.y")"#);
    assert!(message.contains("found `the whole signal`"), "{message}");
    let message = wrong(r#"SignalFromRecording(path: "b.mcap", topic: "x.y")"#);
    assert!(message.contains("b.mcap"), "{message}");
    let cut = play(&bytes[..9], r#"SignalFromRecording(path: "a.mcap", topic: "x.y")"#, "Rk4");
    assert!(cut.is_err());
}
