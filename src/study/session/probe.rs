//! Finds signals and conditions by the diagram's own language: they are compiled into it as an
//! entry of `log:` and of `checks:`, which changes neither blocks nor memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_diagram::Options;
use legwork_program::{Check, LogChannel, Program, SignalRef};

use crate::diagram::Diagram;
use crate::error::Error;

/// Signals that were asked for.
#[derive(Default)]
pub(crate) struct Probe {
    known: BTreeMap<String, LogChannel>,
}

impl Probe {
    /// The signal of a path.
    pub(crate) fn signal(
        &mut self,
        path: &str,
        diagram: &Diagram,
        program: &Program,
    ) -> Result<SignalRef, Error> {
        self.channel(path, diagram, program).map(|channel| channel.signal)
    }

    /// The signal of a path, with its rate.
    pub(crate) fn channel(
        &mut self,
        path: &str,
        diagram: &Diagram,
        program: &Program,
    ) -> Result<LogChannel, Error> {
        if let Some(channel) = self.known.get(path) {
            return Ok(channel.clone());
        }
        let signals = vec![path.to_owned()];
        let found = compile(diagram, Options { signals, ..diagram.options().clone() }, program)?;
        let channel = found.log.first().cloned();
        let channel = channel.ok_or_else(|| Error::request(format!("no signal `{path}`")))?;
        self.known.insert(path.to_owned(), channel.clone());
        Ok(channel)
    }
}

/// A condition over signals, as in `checks:`.
pub(super) fn condition(text: &str, diagram: &Diagram, program: &Program) -> Result<Check, Error> {
    let quoted = text.replace('\\', "\\\\").replace('"', "\\\"");
    let mut options = diagram.options().clone();
    options.set.push(("checks".to_owned(), format!("{{ \"stop\": Always(that: \"={quoted}\") }}")));
    let found = compile(diagram, options, program)?;
    let check = found.checks.last().cloned();
    check.ok_or_else(|| Error::request(format!("no condition in `{text}`")))
}

/// Compiles the diagram with more in it; what it then says of signals holds for `program` too.
fn compile(diagram: &Diagram, options: Options, program: &Program) -> Result<Arc<Program>, Error> {
    let compiled = diagram.clone().with_options(options).compile();
    // What is asked for is wrong, not the diagram.
    let model = compiled.model_or_errors().map_err(|error| Error::request(error.message()))?;
    let found = model.program();
    let layout = |p: &Program| {
        let places = p.schedule.iter().map(|step| (step.node, step.group, step.own));
        (p.arena_len, places.collect::<Vec<_>>())
    };
    if layout(found) == layout(program) {
        Ok(Arc::clone(found))
    } else {
        Err(Error::request("the file has changed since the session began"))
    }
}
