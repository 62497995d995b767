//! The section `run:`: how long, in which steps, with which solver.

use legwork_block::{Diagnostic, Node, NodeKind, Span};
use legwork_program::{Ratio, Solver};

use super::tree::Env;
use super::{Expander, wrong_type};

/// The `run:` section.
pub(crate) struct Run {
    pub(crate) stop: (Ratio, Span),
    pub(crate) step: (Ratio, Span),
    pub(crate) solver: Solver,
    pub(crate) seed: u64,
}

impl Expander<'_> {
    /// `run: (stop: "3 s", step: "1 ms", solver: SemiImplicitEuler, seed: 7)`.
    pub(super) fn run(&mut self, document: &Node, env: &Env) -> Option<Run> {
        let Some(run) = document.field("run") else {
            self.report(
                Diagnostic::error("missing-field", document.span, "`run` is missing")
                    .hint("write run: (stop: \"3 s\", step: \"1 ms\")"),
            );
            return None;
        };
        self.known_fields(run, &["stop", "step", "solver", "seed"]);
        let stop = match run.field("stop") {
            Some(node) => self.seconds(node, env, false).map(|stop| (stop, node.span)),
            None => {
                self.report(
                    Diagnostic::error("missing-field", run.span, "`run.stop` is missing")
                        .hint("write stop: \"3 s\""),
                );
                None
            }
        };
        let step = match run.field("step") {
            Some(node) => self.seconds(node, env, false).map(|step| (step, node.span)),
            None => Ratio::new(1, 1000).map(|step| (step, run.span)),
        };
        let solver = match run.field("solver") {
            None => Some(Solver::SemiImplicitEuler),
            Some(node) => self.solver(node),
        };
        let seed = match run.field("seed").map(|node| (node, &node.kind)) {
            None => Some(0),
            Some((node, kind)) => {
                let seed = match kind {
                    NodeKind::Number(number) => number.integer(),
                    _ => None,
                };
                let seed = seed.and_then(|seed| u64::try_from(seed).ok());
                if seed.is_none() {
                    self.report(wrong_type(node, "a whole number from 0 up to 2^64 - 1"));
                }
                seed
            }
        };
        let (stop, step) = (stop?, step?);
        for ((time, span), least) in [(stop, "zero or more"), (step, "above zero")] {
            if time.is_negative() || (least == "above zero" && !time.is_positive()) {
                let message = format!("expected a time {least}, found {time}");
                self.report(Diagnostic::error("out-of-range", span, message));
                return None;
            }
        }
        Some(Run { stop, step, solver: solver?, seed: seed? })
    }

    fn solver(&mut self, node: &Node) -> Option<Solver> {
        let name = node
            .text()
            .or_else(|| node.kind_name().map(|name| name.text.as_str()))
            .unwrap_or_default();
        let known = [
            ("Euler", Solver::Euler),
            ("SemiImplicitEuler", Solver::SemiImplicitEuler),
            ("Heun", Solver::Heun),
            ("Rk4", Solver::Rk4),
        ];
        let found = known.iter().find(|(known, _)| *known == name);
        if found.is_none() {
            let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
            let message = format!("expected the name of a solver, found {}", node.describe());
            self.report(
                Diagnostic::error("unknown-solver", node.span, message)
                    .suggest(name, names.iter().copied())
                    .hint(format!("known are `{}`", names.join("`, `"))),
            );
        }
        found.map(|(_, solver)| *solver)
    }
}
