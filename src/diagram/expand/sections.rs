//! A whole diagram: its sections, in the order in which they need one another.

use std::collections::BTreeMap;
use std::rc::Rc;

use legwork_block::{Diagnostic, Diagnostics, Node, code};

use super::buses::OfBuses;
use super::checks::OfChecks;
use super::composite::Inside;
use super::feed::{Port, RootInput};
use super::judge::OfJudge;
use super::names::OfNames;
use super::run::RunSection;
use super::tree::{Around, Env, OuterInputs, Tree};
use super::unresolved::undeclared;
use super::unused::Readables;
use super::variants::OfVariants;
use super::{Expanded, Expander, Names, Resolver, Robots, RootOutput};
use crate::language::{
    self, Construct, Entries, Entry, Inputs, Interface, Needed, What, construct, wrong_type,
};
use crate::network::Network;

construct! {
    /// A diagram: blocks joined by signals, and what a run of them is to show.
    ///
    /// ```ron
    /// Diagram(
    ///     format: 2,
    ///     run: (stop: "1 s", step: "1 ms"),
    ///     blocks: {
    ///         "sine": Sine(amplitude: 1.0, frequency: "1 Hz"),
    ///         "twice": Gain(gain: 2.0, in: { "u": "sine.y" }),
    ///     },
    ///     log: ["twice.y"],
    ///     checks: { "is bounded": Always(that: "=abs(twice.y) <= 2") },
    /// )
    /// ```
    "Diagram":
    pub(super) struct Diagram<'n> {
        /// Version of the file format: 2.
        format: Option<&'n Node>,
        /// What it shows, as Markdown.
        doc: Option<&'n Node>,
        /// How long a run takes, in which steps, and with which solver.
        run: Needed<RunSection<'n>> = required("", "run: (stop: \"3 s\", step: \"1 ms\")"),
        /// Parameters by name: values, or `Param(…)` with bounds. Expressions read them: `"=2*kp"`.
        params: Option<Entries<'n, OfNames>>,
        /// Robots by name, such as `Urdf(path: "go.urdf")`. Expressions read their facts:
        /// `"=go.nv"`.
        robots: Option<Entries<'n, OfNames>>,
        /// What contact blocks stand on that state no ground of their own, such as
        /// `Stairs(rise: "5 cm", run: "25 cm", count: 4)`; default `Level`, the plane z = 0.
        ground: Option<&'n Node>,
        /// Bus types of the diagram's own.
        buses: Option<Entries<'n, OfBuses>>,
        /// Variants, of which the command line chooses.
        variants: Option<Entries<'n, OfVariants>>,
        /// Signals that are recorded, `"block.port"` or `Every("10 ms", "block.port")`. Default:
        /// every output of the diagram's own blocks.
        log: Option<&'n Node>,
        /// What is computed to judge a run, by name: expressions of signals, metrics
        /// `Metric(…)`, and blocks that none in `blocks:` reads.
        judge: Option<Entries<'n, OfJudge>>,
        /// Conditions that a run must meet.
        checks: Option<Entries<'n, OfChecks>>,
        /// What feeds the inputs of `ports:` in a run of this diagram alone, where that is not their
        /// defaults: `{ "u": "3 N" }`. The command line gives others: `--input u=2`.
        inputs: Option<Entries<'n, OfFeeds>>,
        ..inside: Inside
    }
}

/// What of a diagram is read when its names are known.
pub(super) struct Sections<'n> {
    log: Option<&'n Node>,
    judge: Option<Entries<'n, OfJudge>>,
    checks: Option<Entries<'n, OfChecks>>,
    inputs: Option<Entries<'n, OfFeeds>>,
    inside: Inside<'n>,
}

impl<'n> Sections<'n> {
    /// An inside, and nothing else.
    pub(super) fn of(inside: Inside<'n>) -> Self {
        Self { log: None, judge: None, checks: None, inputs: None, inside }
    }
}

/// What feeds inputs.
pub(super) struct OfFeeds;

impl What for OfFeeds {
    const EXPECTED: &'static str = "a map of inputs, such as { \"u\": 1.0 }";
}

/// The names of the sections, which blocks may not have.
pub(crate) fn sections() -> impl Iterator<Item = &'static str> {
    Diagram::MANUAL.names()
}

/// The version of the file format that this front end reads.
const FORMAT: f64 = 2.0;

impl Expander<'_> {
    /// Expands a whole diagram, as it stands in its file or changed from what is `written` there;
    /// `None` if it is not one.
    pub(crate) fn expand(&mut self, document: &Node, written: Option<&Node>) -> Option<Expanded> {
        if document.kind_name().is_none_or(|kind| kind.text != "Diagram") {
            let mut diagnostic =
                wrong_type(document, "Diagram(format: 2, run: (…), blocks: { … })");
            if let Some(kind) = document.kind_name() {
                diagnostic = match kind.text.as_str() {
                    "Mask" => diagnostic.hint("a mask runs inside a diagram: Mask(file: \"…\")"),
                    found => diagnostic.suggest(found, ["Diagram", "Mask", "Patch"]),
                };
                diagnostic.primary.span = kind.span;
            }
            self.report(diagnostic);
            return None;
        }
        let diagram: Diagram<'_> = language::read(document, self.diagnostics)?;
        self.origins.begin(document);
        let diagrams = vec![self.loader.name_of(document.span.file)];
        let around = Rc::new(Around { diagrams, ..Around::default() });
        let env = self.begin_diagram(&diagram, document, around);
        let Diagram { run, params, robots, log, judge, checks, inputs, inside, .. } = diagram;
        self.run = run.0.and_then(|run| self.run_section(&run, &env));
        let expanded = self.expand_sections(Sections { log, judge, checks, inputs, inside }, &env);
        let (params, robots) = (params.as_ref(), robots.as_ref());
        let blocks = expanded.as_ref().filter(|_| log.is_some());
        self.warn_of_unused(&Readables { params, robots, blocks }, [Some(document), written]);
        expanded
    }

    /// Expands what is in a diagram that has begun, seen by `env`.
    pub(super) fn expand_sections(
        &mut self,
        sections: Sections<'_>,
        env: &Env,
    ) -> Option<Expanded> {
        let Sections { log, judge, checks, inputs, inside } = sections;
        let root = self.new_frame(String::new(), None, None);
        let ports = inside.ports.map(|ports| self.interface(ports, env));
        let (interface, of_types) = ports.unwrap_or_else(|| (Interface::default(), env.clone()));
        let root_inputs = self.root_inputs(&interface, &of_types, inputs.as_ref(), env);
        if let Needed(Some(blocks)) = inside.blocks {
            self.expand_blocks(root, &blocks, env);
        }
        let outs = inside.out.map(|out| self.outs(&out, &interface, root, "diagram", &of_types));
        let outs = outs.unwrap_or_default();
        self.check_outputs(&interface, &outs);
        let judge = judge.map_or_else(Vec::new, |judge| self.judge(&judge, env));
        let assertions = self.wire();
        let outputs = self.root_outputs(&interface, &outs);
        self.keep_outputs_apart(&outputs);
        let logs = log.map(|log| self.log(log, &judge, root, "", env));
        let logs_inside = self.logs_inside();
        let mut checks = self.checks(checks.as_ref(), root, "", env);
        checks.extend(self.checks_inside());
        let network = Network::new(std::mem::take(&mut self.blocks), self.var_count);
        self.warn_of_unused_grounds();
        let judge_inside = self.scopes.iter_mut().map(|scope| std::mem::take(&mut scope.judge));
        let names = Names {
            judge_inside: judge_inside.collect(),
            tree: std::mem::take(&mut self.tree),
            failed_judge: std::mem::take(&mut self.failed_judge),
        };
        Some(Expanded {
            network,
            assertions,
            logs,
            logs_inside,
            judge,
            checks,
            inputs: root_inputs,
            outputs,
            run: self.run.take()?,
            resources_inside: std::mem::take(&mut self.resources_inside),
            names,
        })
    }

    /// Warns of grounds on which nothing stands, unless what stands there has mistakes of its own.
    fn warn_of_unused_grounds(&mut self) {
        if self.diagnostics.has_errors() {
            return;
        }
        let inside = self.scopes.iter().map(|scope| &scope.robots);
        let unused: Vec<_> =
            inside.chain([&self.robots]).filter_map(Robots::unused_ground).collect();
        self.diagnostics.extend(unused);
    }

    /// Reads what the blocks of a diagram need: its variants, the names that expressions see, its
    /// buses.
    pub(super) fn begin_diagram(
        &mut self,
        diagram: &Diagram<'_>,
        document: &Node,
        around: Rc<Around>,
    ) -> Env {
        check_format(diagram.format, self.diagnostics);
        self.read_variants(diagram.variants.as_ref());
        let (params, robots) = (diagram.params.as_ref(), diagram.robots.as_ref());
        let names = self.names(params, robots, diagram.ground, document.span.file);
        let env = Env { around, ..names };
        self.buses(diagram.buses.as_ref(), &env);
        self.tree.types.push(self.types.clone());
        env
    }

    /// Makes the sources of the inputs of the diagram that runs.
    fn root_inputs(
        &mut self,
        interface: &Interface,
        of_types: &Env,
        given: Option<&Entries<'_, OfFeeds>>,
        env: &Env,
    ) -> Vec<RootInput> {
        for Entry { name, name_span, .. } in given.into_iter().flat_map(Entries::iter) {
            if !interface.inputs.contains_key(name) {
                self.report(undeclared("the diagram", interface, name, name_span));
            }
        }
        let frame = Tree::ROOT;
        let mut inputs = Vec::new();
        for (name, declared) in &interface.inputs {
            let given = given.and_then(|given| given.get(name));
            if given.is_none() && interface.optional.contains(name) {
                continue;
            }
            let path = format!("^{name}");
            let port = Port { frame, path, name, declared, of_types, held: true };
            let feed = match given {
                Some(given) => self.feed(&port, Some(given), env),
                None => self.feed(&port, declared.default.as_ref(), of_types),
            };
            let Some(feed) = feed else { continue };
            inputs.push(RootInput {
                name: name.clone(),
                doc: declared.doc.clone(),
                block: feed.block,
                held: feed.held,
                given: given.or(declared.default.as_ref()).is_some(),
                span: declared.ty.span,
            });
        }
        let fed = inputs.iter().map(|input| (input.name.clone(), input.block)).collect();
        let declared = interface.inputs.keys().cloned().collect();
        let (sources, optional) = (Inputs::default(), interface.optional.clone());
        self.tree.frames[frame].inputs =
            Some(OuterInputs { frame, sources, declared, optional, fed });
        inputs
    }

    fn root_outputs(
        &self,
        interface: &Interface,
        outs: &BTreeMap<String, Node>,
    ) -> Vec<RootOutput> {
        let resolver = Resolver { tree: &self.tree, blocks: &self.blocks };
        let outputs = interface.outputs.iter().filter_map(|(name, declared)| {
            // What leads nowhere is reported where the interface is held against it.
            let source = resolver.source(Tree::ROOT, outs.get(name)?, false).ok()?;
            let unit = declared.unit.as_ref().and_then(Node::text).map(str::to_owned);
            Some(RootOutput { name: name.clone(), doc: declared.doc.clone(), unit, source })
        });
        outputs.collect()
    }

    /// Name and choices of every variant.
    pub(crate) fn variants(&self) -> Vec<(String, Vec<String>)> {
        let entries = self.variants.iter();
        entries.map(|(name, entry)| (name.clone(), entry.choices.clone())).collect()
    }
}

/// Reports a `format:` that is not 2.
pub(crate) fn check_format(format: Option<&Node>, found: &mut Diagnostics) {
    let Some(format) = format else { return };
    let hint = match format.number() {
        Some(FORMAT) => return,
        Some(older) if older < FORMAT => {
            "files of an older format are not read: make the file anew by this version's manual"
        }
        _ => "a newer format needs a newer legwork",
    };
    let message = format!("expected format {FORMAT}, found {}", format.describe());
    found.push(Diagnostic::error(code::WRONG_FORMAT, format.span, message).hint(hint));
}
