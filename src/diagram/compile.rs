//! The whole front end, one arrow after the other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use legwork_block::{Diagnostics, Node, Registry, Resource, Severity, Span};
use legwork_program::{Fnv, Program, ProgramParts, Ratio, RunSettings};

use crate::broken::broken_blocks;
use crate::conditions::{Judged, Places, Readable};
use crate::expand::{
    CheckEntry, Expanded, Expander, JudgeEntry, LogEntry, Names, Origins, RootInput, RootOutput,
    Run, is_same, node_text,
};
use crate::ids::BlockId;
use crate::infer::{TypedNetwork, Untyped, infer};
use crate::labels::Labels;
use crate::layout::Moments;
use crate::loader::{Loader, ReadFile};
use crate::network::Network;
use crate::overrides::{self, Document, Options};
use crate::rates::{self, RunTimes};
use crate::render::SourceMap;
use crate::survey::Surveyed;
use crate::{
    checks, functions, judge, layout, listing, loads, lookalikes, memory, ports, schedule,
    subsystems,
};

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
    /// The robots that could be loaded, by name.
    pub robots: BTreeMap<String, Arc<dyn Resource>>,
    /// Its ground, if it states one that could be loaded.
    pub ground: Option<Arc<dyn Resource>>,
}

/// Compiles the diagram `text` of the file `path`:
/// text → document → network → typed network → program.
///
/// Each arrow goes on as far as sense allows and collects what it finds wrong.
pub fn compile(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    disk: &dyn ReadFile,
) -> Compiled {
    front(path, text, options, registry, disk, None)
}

/// [`compile`]; `survey` takes what paths lead to, also where there are mistakes, and masks and
/// patches by themselves.
pub(crate) fn front(
    path: &Path,
    text: &[u8],
    options: &Options,
    registry: &Registry,
    disk: &dyn ReadFile,
    survey: Option<Surveyed<'_>>,
) -> Compiled {
    let directory = path.parent().map(Path::to_owned).unwrap_or_default();
    let loader = Loader::new(registry, disk, directory, &options.roots);
    let mut found = Diagnostics::default();
    let mut variants = Vec::new();
    let (mut robots, mut ground) = (BTreeMap::new(), None);
    let mut origins = Origins::default();

    let document = overrides::document(path, text, options, &loader, &mut found);
    let changed = document.as_ref().map_or_else(Vec::new, Document::changed_units);
    let expanded = document.as_ref().and_then(|Document { node: document, written }| {
        let chosen = overrides::chosen_variants(options, &loader);
        let mut expander = Expander::new(registry, &loader, chosen, &mut found);
        let kind = document.kind_name().map_or("", |kind| kind.text.as_str());
        let expanded = match (&survey, kind) {
            (Some(survey), "Mask") => expander.expand_mask_alone(document, survey.robot),
            (Some(_), "Patch") => {
                expander.look_at_patch(document);
                None
            }
            _ => expander.expand(document, written.as_ref()),
        };
        variants = expander.variants();
        (robots, ground) = (expander.robots().clone(), expander.ground().cloned());
        origins = expander.take_origins();
        expanded
    });
    let explain = |found: &mut Diagnostics| {
        loader.with_sources(|sources| {
            found.change_from(0, |diagnostic| {
                lookalikes::explain(diagnostic, sources);
                origins.explain(diagnostic, sources);
            });
            found.thin_out(is_same, |diagnostic| origins.follows(diagnostic));
        });
    };
    let program = document.zip(expanded).and_then(|(Document { node: document, .. }, expanded)| {
        let Expanded { network, assertions, logs, logs_inside, judge, checks, .. } = expanded;
        let Expanded { inputs, outputs, run, names, resources_inside, .. } = expanded;
        let run = Run { memory: run.memory.allowed_by(options.memory), ..run };
        // `--signals` says all that is recorded.
        let logs_inside = if options.signals.is_empty() { logs_inside } else { Vec::new() };
        let logs = Logs { own: logs, inside: logs_inside };
        let is_diagram = document.kind_name().is_some_and(|kind| kind.text == "Diagram");
        let resources = resources(&document, &resources_inside, &loader);
        // It is large, and all that is asked of it is answered.
        drop(document);
        let survey = survey.map(|survey| (&names.tree, survey.known));
        let typed = match infer(network, &assertions, logs.all(), survey, &mut found) {
            // When and in which order a mask runs is its user's affair.
            Ok(_) | Err(_) if !is_diagram => return None,
            typed => typed,
        };
        let name = path.file_stem().map_or("diagram".into(), |stem| stem.to_string_lossy().into());
        let parts = Parts { name, resources, run, names, logs, judge, checks, inputs, outputs };
        let typed = match typed {
            Ok(typed) => typed,
            Err(Untyped(typed)) => {
                let broken = broken_blocks(&typed.network, &assertions, &found);
                find_more(&typed.network, &parts, &mut found);
                look_at_checks(&typed, &parts, &broken, &mut found);
                return None;
            }
        };
        program(&typed, &parts, &explain, &mut found)
    });
    explain(&mut found);
    overrides::blame(&mut found, changed);
    let sources = loader.into_sources();
    Compiled { program, diagnostics: found, sources, variants, robots, ground }
}

/// Loops and rates do not depend on types: what is wrong with them is reported in the same pass.
fn find_more(network: &Network, parts: &Parts, diagnostics: &mut Diagnostics) {
    let order = schedule::schedule(network, &network.root, diagnostics);
    functions::find_loops(network, &network.root, diagnostics);
    let _ = find_rates(network, &parts.run, &parts.logs, order.is_none(), diagnostics);
}

/// Reports the mistakes in what judges a run, as far as it reads none of the `broken` blocks.
fn look_at_checks(
    typed: &TypedNetwork,
    Parts { names, judge, checks, .. }: &Parts,
    broken: &BTreeSet<BlockId>,
    diagnostics: &mut Diagnostics,
) {
    // Without blocks nothing is known of any path.
    if typed.network.blocks.len() == 0 {
        return;
    }
    let readable = Readable { typed, names, places: Places::Nowhere(broken) };
    let windows = |_, _| (0, 0);
    let mut found = Diagnostics::default();
    let mut failed = names.failed_judge.clone();
    let values = judge::compile(judge, readable, 0, &windows, &mut failed, &mut found);
    let judged = Judged { values: &values, later: &[], failed: &failed };
    checks::compile(checks, judged, readable, &windows, &mut found);
    // What is merely strange is told of a diagram that runs.
    diagnostics.extend(found.into_iter().filter(|found| found.severity == Severity::Error));
}

/// What a program has beside its network.
struct Parts {
    name: String,
    resources: u64,
    run: Run,
    names: Names,
    logs: Logs,
    judge: Vec<JudgeEntry>,
    checks: Vec<CheckEntry>,
    inputs: Vec<RootInput>,
    outputs: Vec<RootOutput>,
}

/// What is recorded.
struct Logs {
    /// `None` without a `log:` section.
    own: Option<Vec<LogEntry>>,
    /// What diagrams inside record.
    inside: Vec<LogEntry>,
}

impl Logs {
    fn all(&self) -> impl Iterator<Item = &LogEntry> {
        self.own.iter().flatten().chain(&self.inside)
    }
}

/// The last arrow: orders and places what is typed.
fn program(
    typed: &TypedNetwork,
    parts: &Parts,
    explain: &dyn Fn(&mut Diagnostics),
    diagnostics: &mut Diagnostics,
) -> Option<Program> {
    let Parts { name, resources, run, names, logs, judge, checks, inputs, outputs } = parts;
    let network = &typed.network;
    let order = schedule::schedule(network, &network.root, diagnostics);
    let rates = find_rates(network, run, logs, order.is_none(), diagnostics);
    let (Some(order), Some(rates)) = (order, rates) else {
        look_at_checks(typed, parts, &BTreeSet::new(), diagnostics);
        return None;
    };
    let has_stages = run.solver.0.has_stages();
    let moments = if has_stages { Moments::MajorAndMinor } else { Moments::Major };
    let layout = layout::place(
        typed,
        &network.root,
        &order,
        &rates.rates,
        &rates.updates,
        moments,
        diagnostics,
    )?;
    let labels = Labels::of(typed);
    let signals = checks::Signals { typed, layout: &layout, labels: &labels };
    let readable = Readable { typed, names, places: Places::Layout(&layout) };
    let windows = |after, until| rates.window(after, until);
    let (first, mut failed) = (layout.arena_len, names.failed_judge.clone());
    let judge = judge::compile(judge, readable, first, &windows, &mut failed, diagnostics);
    let mut log = match &logs.own {
        None => checks::all_channels(&signals),
        Some(logs) => checks::log_channels(&signals, logs, &judge, rates.base, diagnostics),
    };
    let inside = checks::log_channels(&signals, &logs.inside, &[], rates.base, diagnostics);
    let mut known: BTreeSet<String> =
        log.iter().map(|channel| channel.signal.path.clone()).collect();
    log.extend(inside.into_iter().filter(|channel| known.insert(channel.signal.path.clone())));
    let edges = listing::edges(network, &network.root);
    let inputs = ports::inputs(inputs, typed, &layout);
    let outputs = ports::outputs(outputs, &signals);
    ports::warn_unread(&inputs, &edges, &outputs, diagnostics);
    loads::warn_missing(network, diagnostics);
    let judged = Judged { values: &judge, later: &[], failed: &failed };
    let checks = checks::compile(checks, judged, readable, &windows, diagnostics);
    let memory = memory::check(&layout, run.solver, run.memory, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    explain(diagnostics);
    let signals = listing::signals(&signals, &judge);
    let program = Program::new(ProgramParts {
        name: name.clone(),
        run: RunSettings {
            stop: run.stop.0,
            step: run.step.0,
            solver: run.solver.0,
            seed: run.seed,
        },
        base: rates.base,
        step_ticks: rates.step_ticks,
        stop_tick: rates.stop_tick,
        nodes: layout.nodes,
        edges,
        inputs,
        outputs,
        gates: layout.gates,
        loops: layout.loops,
        stops: layout.stops,
        schedule: layout.schedule,
        arena_len: layout.arena_len + judge.len(),
        state_len: layout.state_len,
        rate_len: layout.rate_len,
        pool_len: layout.pool_len,
        memory,
        budget: run.memory.bytes,
        warn: run.warn,
        log,
        judge,
        checks,
        signals,
        subsystems: subsystems::subsystems(network, names),
        resources: *resources,
        warnings: diagnostics.clone(),
    });
    debug_assert_eq!(program.verify(), Ok(()), "compilation keeps every promise");
    Some(program)
}

/// Hash of what blocks know besides their parameters: robots, as they are written with the
/// parameters that they may use, and files.
fn resources(document: &Node, inside: &[String], loader: &Loader<'_>) -> u64 {
    let mut hash = Fnv::default();
    let stated = ["robots", "ground"].map(|section| document.field(section));
    if stated.iter().any(Option::is_some) {
        for section in stated.into_iter().chain([document.field("params")]).flatten() {
            hash.add(&node_text(section));
        }
    }
    inside.iter().for_each(|text| hash.add(text));
    loader.hash_data(&mut hash);
    hash.value()
}

fn find_rates(
    network: &Network,
    run: &Run,
    logs: &Logs,
    has_loop: bool,
    diagnostics: &mut Diagnostics,
) -> Option<rates::Rates> {
    let periods: Vec<(Ratio, Span)> = logs.all().filter_map(|entry| entry.every).collect();
    let is_variable = run.solver.0.is_variable();
    let times = RunTimes { stop: run.stop, step: run.step, is_variable };
    rates::find(network, &times, &periods, has_loop, diagnostics)
}
