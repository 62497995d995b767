//! The section `run:`: how long, in which steps, with which solver.

use legwork_block::{Diagnostic, Node, NodeKind, Span, code};
use legwork_program::{Ratio, Solver, Tolerance};

use super::Expander;
use super::tree::Env;
use crate::language::{self, construct, wrong_type};
use crate::memory::{Budget, DEFAULT_BUDGET, read_size};

/// The `run:` section.
pub(crate) struct Run {
    pub(crate) stop: (Ratio, Span),
    pub(crate) step: (Ratio, Span),
    pub(crate) solver: (Solver, Span),
    pub(crate) memory: Budget,
    pub(crate) seed: u64,
    pub(crate) warn: bool,
}

construct! {
    /// How long a run takes, in which steps, and with which solver.
    ///
    /// ```ron
    /// run: (
    ///     stop: "10 s", step: "100 ms", memory: "100 MB",
    ///     solver: DormandPrince(rtol: 1e-10, atol: 1e-12),
    /// )
    /// ```
    ///
    /// `SemiImplicitEuler` takes a step in velocity first and moves with the new one. It is of
    /// order 1: a robot of mass m that falls freely for T loses the energy `½ m g² h T` in steps
    /// of h: 1/n of its kinetic energy after n steps. `Rk4` loses nothing there.
    "run":
    pub(super) struct RunSection<'n> {
        /// When the run ends.
        stop: &'n Node = required("", "stop: \"3 s\""),
        /// The step; with a solver that chooses its own, the longest. Default: 1 ms, or a hundredth
        /// of `stop` with a variable step.
        step: Option<&'n Node>,
        /// How continuous state is advanced: `Euler`, `SemiImplicitEuler`, `Heun`, `Rk4`,
        /// `ImplicitEuler`, or with variable steps `DormandPrince`, `Esdirk`, `Bdf`, which take
        /// `(rtol: 1e-6, atol: 1e-9)`. Default: `SemiImplicitEuler`.
        solver: Option<&'n Node>,
        /// Seed of all random numbers. Default: 0.
        seed: Option<&'n Node>,
        /// The most memory that the run may take, in `kB`, `MB`, `GB` or `TB`. What asks for more
        /// is refused before it runs. Counted are four copies of the state, as `legwork step` keeps
        /// them. Default: `"2 GB"`, on every machine alike; more than that counts only if the
        /// command line allows it by `--memory "8 GB"`.
        memory: Option<&'n Node>,
        /// Whether the summary tells what makes the run doubtful: contacts deep in the ground,
        /// contact forces that make energy. Default: `true`.
        warn: Option<&'n Node>,
    }
}

construct! {
    /// How exact a solver with variable steps is to be: `DormandPrince(rtol: 1e-8, atol: 1e-10)`.
    "DormandPrince":
    pub(super) struct VariableStep<'n> {
        /// Error of one step, relative to the state.
        rtol: Option<&'n Node>,
        /// Error of one step that is accepted however small the state is.
        atol: Option<&'n Node>,
    }
}

impl Expander<'_> {
    /// Evaluates the section `run:`.
    pub(super) fn run_section(&mut self, run: &RunSection<'_>, env: &Env) -> Option<Run> {
        let stop = self.seconds(run.stop, env, false).map(|stop| (stop, run.stop.span));
        let solver = match run.solver {
            None => Some(Solver::SemiImplicitEuler),
            Some(node) => self.solver(node, env),
        };
        let step = match run.step {
            Some(node) => self.seconds(node, env, false).map(|step| (step, node.span)),
            None => {
                let hundredth = stop
                    .filter(|(stop, _)| {
                        stop.is_positive() && solver.is_some_and(Solver::is_variable)
                    })
                    .and_then(|(stop, _)| stop.times(Ratio::new(1, 100)?));
                hundredth.or(Ratio::new(1, 1000)).map(|step| (step, run.at))
            }
        };
        let seed = match run.seed.map(|node| (node, &node.kind)) {
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
        let memory = match run.memory {
            None => Some(Budget { bytes: DEFAULT_BUDGET, allowed: DEFAULT_BUDGET, at: run.at }),
            Some(node) => {
                let bytes = node.text().and_then(read_size);
                if bytes.is_none() {
                    self.report(wrong_type(node, "a size such as \"500 MB\" or \"8 GB\""));
                }
                bytes.map(|bytes| Budget { bytes, allowed: bytes, at: node.span })
            }
        };
        let warn = match run.warn.map(|node| (node, &node.kind)) {
            None => Some(true),
            Some((_, NodeKind::Bool(warn))) => Some(*warn),
            Some((node, _)) => {
                self.report(wrong_type(node, "true or false"));
                None
            }
        };
        let (stop, step) = (stop?, step?);
        for ((time, span), least) in [(stop, "zero or more"), (step, "above zero")] {
            if time.is_negative() || (least == "above zero" && !time.is_positive()) {
                let message = format!("expected a time {least}, found {time}");
                self.report(Diagnostic::error(code::OUT_OF_RANGE, span, message));
                return None;
            }
        }
        let solver_at = run.solver.map_or(run.at, |node| node.span);
        let (solver, seed, memory) = ((solver?, solver_at), seed?, memory?);
        Some(Run { stop, step, solver, seed, memory, warn: warn? })
    }

    /// A solver by its name, or `DormandPrince(rtol: 1e-8, atol: 1e-10)`.
    fn solver(&mut self, node: &Node, env: &Env) -> Option<Solver> {
        let name = node
            .text()
            .or_else(|| node.kind_name().map(|name| name.text.as_str()))
            .unwrap_or_default();
        let fixed = Tolerance::default();
        let Some(found) = Solver::named(name, fixed) else {
            let names = Solver::names();
            let message = format!("expected the name of a solver, found {}", node.describe());
            let ours = |known: &&str| {
                Solver::named(known, fixed).is_some_and(|solver| solver.aliases().contains(&name))
            };
            let simulink = names.iter().copied().find(ours);
            let mut diagnostic = Diagnostic::error(code::UNKNOWN_SOLVER, node.span, message)
                .suggest(name, names.iter().copied());
            if let Some(ours) = simulink {
                diagnostic = diagnostic.hint(format!("`{name}` of Simulink is `{ours}` here"));
            }
            self.report(diagnostic.hint(format!("known are `{}`", names.join("`, `"))));
            return None;
        };
        if !found.is_variable() {
            for field in node.fields() {
                let message = format!("`{name}` has a fixed step and no `{}`", field.name.text);
                self.report(Diagnostic::error(code::UNKNOWN_FIELD, field.name.span, message));
            }
            return Some(found);
        }
        let VariableStep { rtol, atol, .. } = language::read(node, self.diagnostics)?;
        let (relative, absolute) = (self.tolerance(rtol, env), self.tolerance(atol, env));
        let tolerance = Tolerance {
            relative: relative?.unwrap_or(fixed.relative),
            absolute: absolute?.unwrap_or(fixed.absolute),
        };
        Solver::named(name, tolerance)
    }

    /// A tolerance above zero: `Some(None)` if it is not stated, `None` if it is wrong.
    fn tolerance(&mut self, field: Option<&Node>, env: &Env) -> Option<Option<f64>> {
        let Some(field) = field else { return Some(None) };
        let value = self.number(field, env)?;
        if value > 0.0 && value < 1.0 {
            return Some(Some(value));
        }
        let message = format!("expected a tolerance above 0 and below 1, found {value}");
        self.report(Diagnostic::error(code::OUT_OF_RANGE, field.span, message));
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::Construct as _;

    #[test]
    fn the_manual_names_every_solver() {
        let field = RunSection::MANUAL.fields.iter().find(|field| field.name == "solver");
        let doc = field.map(|field| field.doc.concat()).unwrap_or_default();
        for name in Solver::names() {
            assert!(doc.contains(&format!("`{name}`")), "no `{name}` in {doc}");
        }
    }
}
