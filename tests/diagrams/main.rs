//! Diagrams as tests.
//!
//! - Every `diagrams/**/*.ron` compiles, with every choice of its variants, runs to its end and
//!   passes its own `checks:`.
//! - Every one goes on from a snapshot, bit for bit.
//! - Every one is linearised block by block as by differences of the whole.
//! - Every `tests/data/run/*.ron` runs to its end and passes its own `checks:`.
//! - Every `tests/data/errors/*.ron` gives exactly the diagnostics that are in it as comments
//!   `// error[code]: part of the message` below the offending line (`warning[…]` likewise); with
//!   `// options: --set a.b=1 --variant x=y` in front, the command line's overrides apply.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork::Disk;
use legwork_block::{Registry, Severity};
use legwork_diagram::{Compiled, Options, compile};
use legwork_runtime::{Cursor, Simulation};
use libtest_mimic::{Arguments, Failed, Trial};

mod slopes;

fn registry() -> Registry {
    let mut registry = Registry::default();
    legwork_blocks::register(&mut registry);
    registry
}

fn compile_file(path: &Path, options: &Options) -> Result<Compiled, Failed> {
    let text = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(compile(path, &text, options, &registry(), &Disk))
}

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut trials = Vec::new();
    let mut add = |folder: &str, kind: &'static str, test: fn(&Path) -> Result<(), Failed>| {
        for path in ron_files(&root.join(folder)) {
            let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
            trials.push(Trial::test(name, move || test(&path)).with_kind(kind));
        }
    };
    add("diagrams", "checks", passes_its_checks_and_compiles_its_variants);
    add("diagrams", "snapshots", goes_on_from_bytes);
    add("diagrams", "slopes", slopes::of_blocks_are_those_of_the_whole);
    add("tests/data/run", "checks", passes_its_checks);
    add("tests/data/errors", "diagnostics", gives_its_diagnostics);
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn ron_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(ron_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "ron") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn goes_on_from_bytes(path: &Path) -> Result<(), Failed> {
    let compiled = compile_file(path, &Options::default())?;
    let program = Arc::new(compiled.program.ok_or("it does not compile")?);
    let mut run = Simulation::new(Arc::clone(&program));
    let go = |run: &mut Simulation, steps: u32| -> Result<(), Failed> {
        for _ in 0..steps {
            if run.cursor() == Cursor::Done {
                return Ok(());
            }
            run.step().map_err(|fault| Failed::from(fault.to_string()))?;
        }
        Ok(())
    };
    // Robots have landed by then.
    for steps in [0, 1, 300] {
        go(&mut run, steps)?;
        let bytes = run.to_bytes().map_err(|error| error.to_string())?;
        let mut other = Simulation::from_bytes(Arc::clone(&program), &bytes)
            .map_err(|error| error.to_string())?;
        go(&mut other, 20)?;
        go(&mut run, 20)?;
        let bits = |run: &Simulation| run.arena().iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        if bits(&run) != bits(&other) {
            return Err(format!("other bits after {steps} steps").into());
        }
    }
    Ok(())
}

fn passes_its_checks_and_compiles_its_variants(path: &Path) -> Result<(), Failed> {
    passes_its_checks(path)?;
    let variants = compile_file(path, &Options::default())?.variants;
    for (name, choices) in variants {
        for choice in choices {
            let options =
                Options { variants: vec![(name.clone(), choice.clone())], ..Options::default() };
            let compiled = compile_file(path, &options)?;
            // A choice may take a cargo feature that these tests are built without.
            let mut errors =
                compiled.diagnostics.iter().filter(|d| d.severity == Severity::Error).peekable();
            if errors.peek().is_some()
                && errors.all(|error| error.code.name() == "absent-block-kind")
            {
                continue;
            }
            if compiled.program.is_none() {
                return Err(format!("{name}={choice}: {}", text(&compiled)).into());
            }
        }
    }
    Ok(())
}

fn passes_its_checks(path: &Path) -> Result<(), Failed> {
    let source = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let simulation = run(compile_file(path, &options_in(&source))?)?;
    if simulation.program().checks.is_empty() {
        return Err("a diagram needs checks".into());
    }
    for (check, state) in simulation.program().checks.iter().zip(simulation.checks()) {
        if state.fails() {
            let at = state.failed_at.map_or(String::new(), |t| format!(" at t = {t} s"));
            return Err(format!("check `{}` failed{at}: {}", check.name, check.text).into());
        }
    }
    Ok(())
}

fn run(compiled: Compiled) -> Result<Simulation, Failed> {
    let shown = text(&compiled);
    let program = compiled.program.ok_or(shown)?;
    let mut simulation = Simulation::new(Arc::new(program));
    simulation.run().map_err(|fault| fault.to_string())?;
    Ok(simulation)
}

fn text(compiled: &Compiled) -> String {
    legwork_diagram::render::to_text(&compiled.diagnostics, &compiled.sources)
}

/// `(line, severity[code], message)`: of an expectation the message may be a part.
type Said = (usize, String, String);

fn gives_its_diagnostics(path: &Path) -> Result<(), Failed> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let source = String::from_utf8_lossy(&bytes);
    let compiled = compile_file(path, &options_in(&source))?;
    let expected = expectations(&source);
    let mut found: Vec<Said> = compiled
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let (start, _) = compiled.sources.positions(diagnostic.primary.span);
            let severity = match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            };
            // What is in another file is expected on line 0.
            let here =
                compiled.sources.name(diagnostic.primary.span.file) == path.display().to_string();
            let line = if here { start.line } else { 0 };
            let hints: String = diagnostic.hints.iter().map(|hint| format!(" / {hint}")).collect();
            (
                line,
                format!("{severity}[{}]", diagnostic.code),
                format!("{}{hints}", diagnostic.message),
            )
        })
        .collect();
    let mut missing = Vec::new();
    for (line, code, part) in &expected {
        let fits = |said: &Said| said.0 == *line && said.1 == *code && said.2.contains(part);
        match found.iter().position(fits) {
            Some(i) => {
                found.swap_remove(i);
            }
            None => missing.push(format!("line {line}: {code}: {part}")),
        }
    }
    if missing.is_empty() && found.is_empty() && !expected.is_empty() {
        return Ok(());
    }
    let unexpected: Vec<String> = found
        .iter()
        .map(|(line, code, message)| format!("line {line}: {code}: {message}"))
        .collect();
    Err(format!(
        "expected, not said:\n  {}\nsaid, not expected:\n  {}\n\n{}",
        missing.join("\n  "),
        unexpected.join("\n  "),
        text(&compiled)
    )
    .into())
}

/// Comments `// error[code]: text` speak of the nearest line above that is no such comment; those
/// before the first other line speak of other places than this file.
fn expectations(source: &str) -> Vec<Said> {
    let mut expected = Vec::new();
    let mut line_spoken_of = 0;
    for (i, line) in source.lines().enumerate() {
        let comment = line.trim_start().strip_prefix("// ").unwrap_or("");
        let is_expectation = comment.starts_with("error[") || comment.starts_with("warning[");
        match comment.split_once(": ") {
            Some((code, part)) if is_expectation => {
                expected.push((line_spoken_of, code.to_owned(), part.trim().to_owned()));
            }
            _ if line.trim_start().starts_with("//") => {}
            _ => line_spoken_of = i + 1,
        }
    }
    expected
}

fn options_in(source: &str) -> Options {
    let mut options = Options::default();
    let Some(line) = source.lines().find_map(|line| line.strip_prefix("// options: ")) else {
        return options;
    };
    let mut words = line.split_whitespace();
    while let (Some(flag), Some(value)) = (words.next(), words.next()) {
        let pair = || {
            let (name, value) = value.split_once('=').unwrap_or((value, ""));
            (name.to_owned(), value.to_owned())
        };
        match flag {
            "--set" => options.set.push(pair()),
            "--variant" => options.variants.push(pair()),
            "--with" => options.patches.push(value.to_owned()),
            _ => {}
        }
    }
    options
}
