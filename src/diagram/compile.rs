//! The whole front end, one arrow after the other.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use legwork_block::{
    ConcatVectors, Diagnostic, Diagnostics, Node, NodeKind, Place, Registry, Solver, Span,
    StackRows, Text, erase,
};
use legwork_program::{Fnv, Program, ProgramParts, Ratio, RunSettings};

use crate::document;
use crate::expand::{Collector, Expanded, Expander, node_text};
use crate::infer::{TypedNetwork, World, infer, is_number, plan};
use crate::layout::Moments;
use crate::loader::{Loader, ReadFile};
use crate::network::{NetworkBlock, Source};
use crate::patch;
use crate::rates::{self, RunTimes};
use crate::render::SourceMap;
use crate::{checks, functions, layout, listing, schedule};

/// What the command line adds to a diagram.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// `--set path=value`, in order.
    pub set: Vec<(String, String)>,
    /// `--variant name=choice`, in order.
    pub variants: Vec<(String, String)>,
    /// `--with patch.ron`, in order; applied before `set`.
    pub patches: Vec<String>,
    /// `--until`: instead of `run.stop`, as text such as `2 s`.
    pub until: Option<String>,
    /// `--signals`: recorded instead of what `log:` says, if there are any.
    pub signals: Vec<String>,
    /// Directories to look for files in, after the diagram's own.
    pub roots: Vec<PathBuf>,
}

/// What came of a compilation.
pub struct Compiled {
    /// The program, unless there were errors.
    pub program: Option<Program>,
    /// Errors and warnings.
    pub diagnostics: Diagnostics,
    /// Texts that the diagnostics point into.
    pub sources: SourceMap,
    /// Name and choices of every variant.
    pub variants: Vec<(String, Vec<String>)>,
}

/// Compiles the diagram `text` of the file `path`:
/// text → document → network → typed network → program.
pub fn compile(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    disk: &dyn ReadFile,
) -> Compiled {
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    let loader = Loader::new(registry, disk, directory, &options.roots);
    let mut diagnostics = Diagnostics::default();
    let mut variants = Vec::new();
    let parts = stages(path, text, options, registry, &loader, &mut variants, &mut diagnostics);
    let program = parts
        .filter(|_| !diagnostics.has_errors())
        .map(|parts| Program::new(ProgramParts { warnings: diagnostics.clone(), ..parts }));
    Compiled { program, diagnostics, sources: loader.into_sources(), variants }
}

/// The arrows. Each goes on as far as sense allows and collects what it finds wrong.
fn stages(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    loader: &Loader<'_>,
    variants: &mut Vec<(String, Vec<String>)>,
    diagnostics: &mut Diagnostics,
) -> Option<ProgramParts> {
    let document = parse(path, text, options, loader, diagnostics)?;
    let chosen = chosen_variants(options, loader);

    let mut expander = Expander::new(registry, loader, chosen, diagnostics);
    let expanded = expander.expand(&document)?;
    let types = Arc::new(expander.types);
    let robots = expander.robots;
    let failed_names = expander.failed_names;
    variants.clone_from(&expanded.variants);
    let Expanded { blocks, assertions, collectors, logs, checks, run, tree, env, .. } = expanded;

    let log_all = logs.is_none();
    let logs = logs.unwrap_or_default();
    let step = run.step.0.to_f64();
    let plan_again = |blocks, diagnostics: &mut Diagnostics| {
        let resources = &robots;
        let (failed_names, files) = (&failed_names, loader);
        let (seed, solver) = (run.seed, run.solver);
        let world = World { resources, files, failed_names, step, seed, solver };
        plan(blocks, &world, Arc::clone(&types) as _, diagnostics)
    };
    let mut network = with_collectors(blocks, &collectors, &plan_again, diagnostics);
    infer(&mut network, &assertions, &logs, diagnostics);
    let network = functions::split(network);
    if diagnostics.has_errors() {
        // Rates and loops are found on what is typed, and are reported in the same pass.
        let _ = schedule::schedule(&network, diagnostics);
        functions::find_loops(&network, diagnostics);
        let _ = find_rates(&network, &run, &logs, diagnostics);
        return None;
    }

    let order = schedule::schedule(&network, diagnostics);
    let rates = find_rates(&network, &run, &logs, diagnostics);
    let (order, rates) = (order?, rates?);
    let moments = match run.solver {
        Solver::Euler | Solver::SemiImplicitEuler => Moments::Major,
        _ => Moments::MajorAndMinor,
    };
    let layout =
        layout::place(&network, &order, &rates.rates, &rates.updates, moments, diagnostics)?;
    let log = if log_all {
        checks::all_channels(&network, &layout)
    } else {
        checks::log_channels(&network, &layout, &logs, rates.base, diagnostics)
    };
    let view = checks::Signals { network: &network, layout: &layout, tree: &tree };
    let checks = checks::compile(&checks, &view, &env, &rates, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }

    let edges = listing::edges(&network);
    let signals = listing::signals(&network, &layout);
    Some(ProgramParts {
        name: path.file_stem().map_or("diagram".into(), |stem| stem.to_string_lossy().into()),
        run: RunSettings { stop: run.stop.0, step: run.step.0, solver: run.solver, seed: run.seed },
        base: rates.base,
        step_ticks: rates.step_ticks,
        stop_tick: rates.stop_tick,
        nodes: layout.nodes,
        edges,
        gates: layout.gates,
        loops: layout.loops,
        stops: layout.stops,
        schedule: layout.schedule,
        arena_len: layout.arena_len,
        state_len: layout.state_len,
        rate_len: layout.rate_len,
        pool_len: layout.pool_len,
        log,
        checks,
        signals,
        resources: resources(&document, loader),
        warnings: Diagnostics::default(),
    })
}

/// Hash of what blocks know besides their parameters: robots, as they are written with the
/// parameters that they may use, and files.
fn resources(document: &Node, loader: &Loader<'_>) -> u64 {
    let mut hash = Fnv::default();
    if let Some(robots) = document.field("robots") {
        for section in [Some(robots), document.field("params")].into_iter().flatten() {
            hash.add(&node_text(section));
        }
    }
    loader.hash_data(&mut hash);
    hash.value()
}

/// Text → document, with patches and overrides applied.
fn parse(
    path: &Path,
    text: &[u8],
    options: &Options,
    loader: &Loader<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Node> {
    let file = loader.add(&path.display().to_string(), text);
    let mut document = match document::parse(file, text) {
        Ok(document) => document,
        Err(diagnostic) => {
            diagnostics.push(diagnostic);
            return None;
        }
    };
    for name in &options.patches {
        let (file, bytes) = match loader.source(name) {
            Ok(found) => found,
            Err(message) => {
                let span = on_command_line(loader, "--with", name).1;
                diagnostics.push(Diagnostic::error("missing-file", span, message));
                continue;
            }
        };
        match document::parse(file, &bytes) {
            Ok(node) => patch::apply(&mut document, &node, diagnostics),
            Err(diagnostic) => diagnostics.push(diagnostic),
        }
    }
    for (target, value) in &options.set {
        let (_, target_span) = on_command_line(loader, "--set path", target);
        let node = command_line_value(loader, value);
        let place = Place::from(target_span);
        patch::set(&mut document, target, &place, &node, diagnostics);
    }
    if let Some(until) = &options.until {
        let (_, span) = on_command_line(loader, "--until", until);
        let node = command_line_value(loader, until);
        patch::set(&mut document, "run.stop", &Place::from(span), &node, diagnostics);
    }
    if !options.signals.is_empty() {
        let texts = options.signals.iter().map(|signal| {
            let (_, span) = on_command_line(loader, "--signals", signal);
            text_node(signal, span)
        });
        let span = Span::new(file, 0, 0);
        let list = Node { span, kind: NodeKind::List(texts.collect()) };
        patch::set(&mut document, "log", &Place::from(span), &list, diagnostics);
    }
    Some(document)
}

fn text_node(text: &str, span: Span) -> Node {
    Node { span, kind: NodeKind::Text(Text { value: text.to_owned(), place: Place::from(span) }) }
}

/// A text of the command line as a source of its own.
fn on_command_line(loader: &Loader<'_>, name: &str, text: &str) -> (legwork_block::FileId, Span) {
    let file = loader.add(&format!("<{name}>"), text.as_bytes());
    (file, Span::new(file, 0, text.len()))
}

/// A value of the command line: RON, or else a text.
fn command_line_value(loader: &Loader<'_>, text: &str) -> Node {
    let (file, span) = on_command_line(loader, "--set value", text);
    match document::parse(file, text.as_bytes()) {
        Ok(node) => patch::bare_words(node),
        Err(_) => text_node(text, span),
    }
}

fn chosen_variants(options: &Options, loader: &Loader<'_>) -> BTreeMap<String, (String, Span)> {
    options
        .variants
        .iter()
        .map(|(name, choice)| {
            let (_, span) = on_command_line(loader, "--variant", &format!("{name}={choice}"));
            (name.clone(), (choice.clone(), span))
        })
        .collect()
}

/// Adds the blocks that collect copies. Whether an input of a `Concat` is a number or a vector is
/// seen from the types that inference finds without the collectors, then with what is known of
/// them.
fn with_collectors(
    blocks: Vec<NetworkBlock>,
    collectors: &[Collector],
    plan_again: &dyn Fn(Vec<NetworkBlock>, &mut Diagnostics) -> TypedNetwork,
    diagnostics: &mut Diagnostics,
) -> TypedNetwork {
    let concats = collectors.iter().any(|collector| !collector.stack);
    let mut numbers: Vec<Option<Vec<bool>>> = vec![None; collectors.len()];
    loop {
        if !concats {
            break;
        }
        let known = numbers.iter().flatten().count();
        // Planning is pure: what these looks find wrong, the last one finds again. A collector
        // of which nothing is known is left out, as a guess would tell the blocks before it.
        let mut look: Vec<NetworkBlock> =
            blocks.iter().map(NetworkBlock::clone_for_planning).collect();
        look.extend(
            collectors.iter().zip(&numbers).filter_map(|(c, n)| Some(collecting(c, n.as_ref()?))),
        );
        let mut typed = plan_again(look, &mut Diagnostics::default());
        infer(&mut typed, &[], &[], &mut Diagnostics::default());
        for (collector, numbers) in collectors.iter().zip(&mut numbers) {
            if numbers.is_none() {
                *numbers = collector.sources.iter().map(|s| is_number(&typed, s)).collect();
            }
        }
        if numbers.iter().flatten().count() == known {
            break;
        }
    }
    let mut all = blocks;
    all.extend(collectors.iter().zip(numbers).map(|(collector, numbers)| {
        let vectors = || vec![false; collector.sources.len()];
        collecting(collector, &numbers.unwrap_or_else(vectors))
    }));
    plan_again(all, diagnostics)
}

/// The block that joins the copies; `numbers` says which of its inputs are one number.
fn collecting(collector: &Collector, numbers: &[bool]) -> NetworkBlock {
    let inputs: BTreeMap<String, (Source, Span)> = collector
        .sources
        .iter()
        .enumerate()
        .map(|(i, source)| (format!("u{}", i + 1), (source.clone(), collector.span)))
        .collect();
    let count = collector.sources.len();
    let (kind, block) = if collector.stack {
        ("Stack", erase(StackRows { count }))
    } else {
        ("Concat", erase(ConcatVectors { scalar: numbers.to_vec() }))
    };
    NetworkBlock {
        path: collector.path.clone(),
        block,
        span: collector.span,
        parameter_spans: BTreeMap::new(),
        every: None,
        inputs,
        needs: Vec::new(),
        owner: collector.owner.clone(),
        text: format!("{kind}(count: {count})"),
        hidden: false,
        gate: collector.gate.clone(),
        condition: None,
    }
}

fn find_rates(
    network: &TypedNetwork,
    run: &crate::expand::Run,
    logs: &[crate::expand::LogEntry],
    diagnostics: &mut Diagnostics,
) -> Option<rates::Rates> {
    let periods: Vec<(Ratio, Span)> = logs.iter().filter_map(|entry| entry.every).collect();
    let is_variable = run.solver.is_variable();
    let times = RunTimes { stop: run.stop, step: run.step, is_variable };
    rates::find(network, &times, &periods, diagnostics)
}
