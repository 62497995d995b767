//! Finds signals and conditions by the diagram's own language: they are compiled into it as an
//! entry of `log:` and of `checks:`, which changes neither blocks nor memory.

use std::collections::BTreeMap;

use legwork_block::{Diagnostics, Severity};
use legwork_diagram::Options;
use legwork_program::{Check, Program, SignalRef};

use super::session::Origin;

/// Signals that were asked for.
#[derive(Default)]
pub(super) struct Probe {
    known: BTreeMap<String, SignalRef>,
}

impl Probe {
    /// The signal of a path.
    pub(super) fn signal(
        &mut self,
        path: &str,
        origin: &Origin<'_>,
        program: &Program,
    ) -> Result<SignalRef, String> {
        if let Some(signal) = self.known.get(path) {
            return Ok(signal.clone());
        }
        let options = Options { signals: vec![path.to_owned()], ..origin.options.clone() };
        let found = compile(origin, &options, program)?;
        let signal = found.log.first().map(|channel| channel.signal.clone());
        let signal = signal.ok_or_else(|| format!("no signal `{path}`"))?;
        self.known.insert(path.to_owned(), signal.clone());
        Ok(signal)
    }
}

/// A condition over signals, as in `checks:`.
pub(super) fn condition(
    text: &str,
    origin: &Origin<'_>,
    program: &Program,
) -> Result<Check, String> {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut options = origin.options.clone();
    options.set.push(("checks".to_owned(), format!("{{ \"stop\": Always(that: \"={quoted}\") }}")));
    let found = compile(origin, &options, program)?;
    found.into_parts().checks.pop().ok_or_else(|| format!("no condition in `{text}`"))
}

/// Compiles the diagram with more in it; what it then says of signals holds for `program` too.
fn compile(origin: &Origin<'_>, options: &Options, program: &Program) -> Result<Program, String> {
    let compiled = origin.source.compile(options, origin.registry);
    let Some(found) = compiled.program else {
        return Err(errors(&compiled.diagnostics));
    };
    let layout = |p: &Program| {
        let places = p.schedule.iter().map(|step| (step.node, step.group, step.own));
        (p.arena_len, places.collect::<Vec<_>>())
    };
    if layout(&found) == layout(program) {
        Ok(found)
    } else {
        Err("the file has changed since the session began".to_owned())
    }
}

/// The errors of a compilation with their hints, a line each.
pub(super) fn errors(diagnostics: &Diagnostics) -> String {
    let errors = diagnostics.iter().filter(|one| one.severity == Severity::Error);
    let said: Vec<String> = errors
        .map(|one| {
            let hints: String = one.hints.iter().map(|hint| format!("; {hint}")).collect();
            format!("{}{hints}", one.message)
        })
        .collect();
    said.join("\n")
}
