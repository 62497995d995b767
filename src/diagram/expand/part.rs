//! Diagrams that stand in another as a block (semantics 11).

use std::collections::BTreeMap;
use std::rc::Rc;

use legwork_block::{Diagnostic, Node, Span, code};

use super::file::construct_in;
use super::sections::{Diagram, sections};
use super::structural::At;
use super::tree::{Around, Env, Item};
use super::value::literal;
use super::{CheckEntry, Expander, LogEntry, Scope, node_text};
use crate::ids::FrameId;
use crate::language::{self, Entries, Entry, Inputs, Text, What, construct, wrong_type};
use crate::patch;
use crate::types_text::TypeTable;

construct! {
    /// Another diagram as a block. Its inside is the diagram's, with its parameters, robots, buses,
    /// variants and periods; what its `log:` and `checks:` say holds here too, under the block's
    /// name. Time, step, solver, seed and memory are those of the diagram around; its `run:`,
    /// `inputs:` and `judge:` are for runs of it alone.
    ///
    /// ```ron
    /// "left": Diagram(
    ///     file: "std:help/ports.ron", set: { "gain": "9 N/m" }, variant: { "law": "limited" },
    ///     in: { "want": "target.y", "push": "calm.y" },
    /// ),
    /// ```
    "Diagram":
    pub(super) struct DiagramPart<'n> {
        /// Path of the file, beside this one or above it; with `std:` in front, a built-in one. Paths
        /// inside begin where it is.
        file: Text<'n> = required("where is the diagram?", "Diagram(file: \"drive.ron\", in: { … })"),
        /// Values of its parameters and of fields of its blocks, by path, as `--set` takes them.
        set: Option<Entries<'n, OfValues>>,
        /// Choices of its variants.
        variant: Option<Entries<'n, OfChosen>>,
        /// The source of each input. One with a default need not be connected.
        inputs as "in": Option<Inputs>,
        /// What it is for.
        doc: Option<Text<'n>>,
    }
}

/// Values by path.
pub(super) struct OfValues;

impl What for OfValues {
    const EXPECTED: &'static str = "a map of values, such as { \"kp\": 60.0 }";
}

/// Choices of variants by name.
pub(super) struct OfChosen;

impl What for OfChosen {
    const EXPECTED: &'static str = "a map of choices, such as { \"qp\": \"clarabel\" }";
}

/// What a diagram inside records, its paths unresolved.
pub(super) struct LogInside {
    log: Node,
    frame: FrameId,
    prefix: String,
    env: Env,
}

/// Most diagrams and masks in one another.
const NESTING_LIMIT: usize = 50;

/// What is of one diagram and makes way for that of another.
struct Own {
    scope: usize,
    types: TypeTable,
    variants: indexmap::IndexMap<String, super::variants::VariantEntry>,
    failed_variants: std::collections::BTreeSet<String>,
    chosen: BTreeMap<String, (String, Span)>,
    every: Option<crate::network::Sampling>,
}

impl Expander<'_> {
    pub(super) fn expand_diagram(
        &mut self,
        at: At<'_>,
        part: DiagramPart<'_>,
        _: &Node,
        env: &Env,
    ) -> Item {
        let (name, file) = (part.file.value, part.file.node);
        let loaded = match self.diagram_file(name, file, env) {
            Ok(loaded) => loaded,
            Err(found) => {
                self.report(*found);
                return Item::Broken;
            }
        };
        let Some(document) = self.with_values(&loaded, part.set.as_ref(), env) else {
            return Item::Broken;
        };
        let mut around = (*env.around).clone();
        around.diagrams.push(self.loader.name_of(loaded.span.file));
        let chosen = part.variant.iter().flat_map(Entries::iter).filter_map(|entry| {
            let choice = entry.value.text().or(entry.value.kind_name().map(|n| n.text.as_str()));
            if choice.is_none() {
                self.diagnostics.push(wrong_type(entry.value, "the name of a choice"));
            }
            Some((entry.name.to_owned(), (choice?.to_owned(), entry.value.span)))
        });
        let chosen = chosen.collect();
        let place = self.loader.enter(loaded.span.file, name);
        let own = self.begin_part(at.path, chosen);
        let item = self.expand_part(at, part.inputs, part.at, &document, &Rc::new(around));
        self.end_part(own);
        self.loader.leave(place);
        item.unwrap_or(Item::Broken)
    }

    /// Sets what is of the diagram around aside.
    fn begin_part(&mut self, path: &str, chosen: BTreeMap<String, (String, Span)>) -> Own {
        let named = self.types.named.clone();
        let scope = std::mem::replace(&mut self.scope, self.scopes.len());
        let robots = std::mem::take(&mut self.robots);
        self.scopes[scope].robots = robots;
        self.scopes.push(Scope { path: path.to_owned(), ..Scope::default() });
        let types = TypeTable { named, ..TypeTable::default() };
        Own {
            scope,
            types: std::mem::replace(&mut self.types, types),
            variants: std::mem::take(&mut self.variants),
            failed_variants: std::mem::take(&mut self.failed_variants),
            chosen: std::mem::replace(&mut self.chosen, chosen),
            every: self.every.take(),
        }
    }

    fn end_part(&mut self, own: Own) {
        let Own { scope, types, variants, failed_variants, chosen, every } = own;
        self.scopes[self.scope].robots = std::mem::take(&mut self.robots);
        self.robots = std::mem::take(&mut self.scopes[scope].robots);
        (self.scope, self.types, self.variants) = (scope, types, variants);
        (self.failed_variants, self.chosen, self.every) = (failed_variants, chosen, every);
    }

    /// Does something with the robots of the diagram `scope`.
    pub(super) fn within<T>(&mut self, scope: usize, act: impl FnOnce(&mut Self) -> T) -> T {
        let around = std::mem::replace(&mut self.scope, scope);
        let swap = |expander: &mut Self| {
            if scope != around {
                std::mem::swap(&mut expander.robots, &mut expander.scopes[scope].robots);
            }
        };
        swap(self);
        let done = act(self);
        swap(self);
        self.scope = around;
        done
    }

    fn expand_part(
        &mut self,
        at: At<'_>,
        inputs: Option<Inputs>,
        span: Span,
        document: &Node,
        around: &Rc<Around>,
    ) -> Option<Item> {
        let diagram: Diagram<'_> = language::read(document, self.diagnostics)?;
        let env = self.begin_diagram(&diagram, document, Rc::clone(around));
        let Diagram { run, inside, log, judge, checks, .. } = diagram;
        for section in ["params", "robots", "ground"] {
            self.resources_inside.extend(document.field(section).map(node_text));
        }
        if let Some(run) = run.0 {
            self.hold_against_own_step(at.path, &run, &env, span);
        }
        if let Some(judge) = judge.filter(|judge| judge.iter().next().is_some()) {
            let message = format!("{}: `judge:` of a diagram inside is not evaluated", at.path);
            let warning = Diagnostic::warning(code::JUDGE_OF_PART, span, message);
            self.report(warning.hint("write what it is to judge into `judge:` of this diagram"));
            let names = judge.iter().map(|entry| entry.name.to_owned());
            self.scopes[self.scope].judge = names.collect();
        }
        let item = self.expand_inside(at, inputs, inside, span, &env);
        let Item::Composite { inside, .. } = &item else { return Some(item) };
        let (frame, prefix) = (*inside, format!("{}.", at.path));
        let checks = self.checks(checks.as_ref(), frame, &prefix, &env);
        self.checks_inside.extend(checks);
        if let Some(log) = log {
            self.logs_inside.push(LogInside { log: log.clone(), frame, prefix, env });
        }
        Some(item)
    }

    /// Warns of a diagram whose own step is shorter than the one that it gets.
    fn hold_against_own_step(
        &mut self,
        path: &str,
        run: &super::run::RunSection<'_>,
        env: &Env,
        span: Span,
    ) {
        let own = self.run_section(run, env);
        let (Some(own), Some(run)) = (own, &self.run) else { return };
        let (mine, theirs) = (own.step.0, run.step.0);
        if mine.to_f64() < theirs.to_f64() {
            let message = format!("{path}: its own step is {mine}, here steps are {theirs}");
            let warning = Diagnostic::warning(code::STEP_OF_PART, span, message);
            self.report(warning.also(own.step.1, "its step in a run of it alone"));
        }
    }

    /// The diagram in the file `name`, once per file.
    fn diagram_file(
        &mut self,
        name: &str,
        at: &Node,
        env: &Env,
    ) -> Result<Rc<Node>, Box<Diagnostic>> {
        let place = self
            .loader
            .place_of(name)
            .map_err(|message| Diagnostic::error(code::MISSING_FILE, at.span, message))?;
        let chain = &env.around.diagrams;
        if let Some(first) = chain.iter().position(|known| *known == place) {
            let cycle = chain[first..].join(" ► ");
            let message = format!("a diagram may not hold itself: {cycle} ► {place}");
            return Err(Diagnostic::error(code::DIAGRAM_CYCLE, at.span, message).into());
        }
        if chain.len() + env.around.masks.len() > NESTING_LIMIT {
            let message = format!("more than {NESTING_LIMIT} diagrams and masks in one another");
            return Err(Diagnostic::error(code::NESTING, at.span, message).into());
        }
        if let Some(known) = self.diagrams.get(&place) {
            return Ok(Rc::clone(known));
        }
        let expected = "Diagram(run: (…), ports: (…), blocks: { … }, out: { … })";
        let document = construct_in(self.loader, name, at, &["Diagram"], expected)?;
        self.diagrams.insert(place, Rc::clone(&document));
        Ok(document)
    }

    /// The diagram with other values; `None` if one is wrong, which is reported.
    fn with_values(
        &mut self,
        document: &Node,
        set: Option<&Entries<'_, OfValues>>,
        env: &Env,
    ) -> Option<Node> {
        let mut document = document.clone();
        let mut good = true;
        for Entry { name, name_span, place, value } in set.into_iter().flat_map(Entries::iter) {
            let section = name.split(['.', '[']).next().unwrap_or_default();
            let of_it_alone = ["run", "inputs", "log", "judge", "checks", "format", "doc"];
            if of_it_alone.contains(&section) && sections().any(|known| known == section) {
                let message = format!("`{section}` of a diagram in another cannot be set");
                let found = Diagnostic::error(code::BAD_PATH, name_span, message);
                self.report(found.hint("set its parameters, and fields of its blocks"));
                good = false;
                continue;
            }
            match literal(value, env) {
                Ok(value) => {
                    let before = self.diagnostics.iter().count();
                    patch::set(&mut document, name, place, &value, self.diagnostics);
                    good &= self.diagnostics.iter().count() == before;
                }
                Err(found) => {
                    self.report(*found);
                    good = false;
                }
            }
        }
        good.then_some(document)
    }

    /// What the diagrams inside record.
    pub(super) fn logs_inside(&mut self) -> Vec<LogEntry> {
        let mut all = Vec::new();
        for LogInside { log, frame, prefix, env } in std::mem::take(&mut self.logs_inside) {
            all.extend(self.log(&log, &[], frame, &prefix, &env));
        }
        all
    }

    /// What the diagrams inside check.
    pub(super) fn checks_inside(&mut self) -> Vec<CheckEntry> {
        std::mem::take(&mut self.checks_inside)
    }
}
