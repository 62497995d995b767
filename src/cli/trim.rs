//! `legwork trim`: initial states and inputs at which a diagram holds still, as a patch.

use std::fmt::Write as _;

use legwork_block::Registry;
use legwork_diagram::render::{SourceMap, to_json};
use legwork_diagram::{Compiled, Options};
use legwork_program::Program;
use legwork_runtime::trim::{FreeOutput, Motion, TrimError, Trimmed, Wishes, drift, trim as seek};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::TrimArguments;
use super::source::{self, Source};
use super::summary::{counted, digits, seconds};
use super::{complaint, console, run};

/// How long the trimmed diagram is run [s].
const PROOF: f64 = 1.0;
/// How far its state may get in that time, relative to 1 + the number.
const PROOF_BOUND: f64 = 1e-6;
/// How many moving numbers are shown.
const SHOWN: usize = 6;

/// Trims a diagram.
///
/// # Errors
/// If the file cannot be read, what is to be free is no output of a constant, a time is none, or the
/// patch cannot be written.
pub(crate) fn trim(arguments: &TrimArguments, registry: &Registry) -> Result<Answer, Failure> {
    let source = Source::open(&arguments.file, registry)?;
    let options = source::options(&arguments.overrides, arguments.settle.as_deref())?;
    // A time of 0 is none to run for; settling takes none then.
    let at_once = arguments.settle.as_deref().is_some_and(is_zero);
    let options = if at_once { Options { until: None, ..options } } else { options };
    let Compiled { program, diagnostics, sources, .. } = source.compile(&options, registry);
    complaint::say_all(&diagnostics, &sources);
    let listed = to_json(&diagnostics, &sources);
    let Some(program) = program else {
        let json = json!({ "diagram": source.name, "diagnostics": listed });
        return Ok(Answer::new(Code::Diagram, json));
    };
    let free = arguments.free.iter().map(|name| FreeOutput::find(&program, name));
    let free = free
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Failure::usage(format!("--free: {error}")))?;
    let settle = if at_once { 0.0 } else { program.base.at(program.stop_tick) };
    let wishes = Wishes { settle, tolerance: arguments.tol, free };
    let trimmed = match seek(&program, &wishes) {
        Ok(trimmed) => trimmed,
        Err(error) => return Ok(stopped(&source, &error, &sources, !at_once, &listed)),
    };
    let (settings, unwritten) = (Vec::new(), Vec::new());
    let name = source.name.clone();
    let mut found = Found { name, diagnostics: listed, trimmed, settings, unwritten };
    let plain = Options { until: None, ..options };
    found.write_settings(&source, &plain, registry);
    found.say();
    if !found.trimmed.still {
        return Ok(Answer::new(Code::Check, found.json(arguments.tol, None, &[])));
    }
    let patch = found.patch(&program);
    let motions = found.prove(&source, &plain, registry)?;
    let moves = motions.iter().any(|one| one.amount > PROOF_BOUND * (1.0 + one.start.abs()));
    let code = if moves { Code::Check } else { Code::Success };
    let mut json = found.json(arguments.tol, Some(&patch), &motions);
    json["stays"] = (!moves).into();
    let Some(path) = &arguments.output else { return Ok(Answer::new(code, json).text(patch)) };
    std::fs::write(path, &patch)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))?;
    json["file"] = path.display().to_string().into();
    let with = path.display();
    console::say(&format!(
        "  wrote {with}; use it with `legwork run {} --with {with}`",
        source.name
    ));
    Ok(Answer::new(code, json))
}

/// `0`, `0 s`, `0.0 ms`.
fn is_zero(text: &str) -> bool {
    legwork_block::parse_quantity(text).is_ok_and(|(value, _)| value == 0.0)
}

/// A run that could not be trimmed.
fn stopped(
    source: &Source,
    error: &TrimError,
    sources: &SourceMap,
    settles: bool,
    diagnostics: &Value,
) -> Answer {
    let mut json = json!({ "diagram": source.name, "still": false, "diagnostics": diagnostics });
    match error {
        TrimError::Fault(fault) => {
            run::say_fault(fault, sources);
            if settles {
                console::say(
                    "help: without a run to settle, `--settle 0`, the search begins at t = 0",
                );
            }
            json["fault"] = run::fault_to_json(fault, sources);
            Answer::new(Code::Fault, json)
        }
        TrimError::Stopped { .. } => {
            console::say(&format!("error: {error}"));
            json["error"] = error.to_string().into();
            Answer::new(Code::Check, json)
        }
    }
}

/// What was found.
struct Found {
    name: String,
    diagnostics: Value,
    trimmed: Trimmed,
    /// Path and value of what the patch sets.
    settings: Vec<(String, String)>,
    /// Blocks whose state no patch can set, with the reason.
    unwritten: Vec<(String, &'static str)>,
}

impl Found {
    /// Parts what a patch can set from what it cannot.
    fn write_settings(&mut self, source: &Source, options: &Options, registry: &Registry) {
        for start in &self.trimmed.starts {
            let Some(parameters) = &start.parameters else {
                self.unwritten.push((start.block.clone(), "it has no parameter for it"));
                continue;
            };
            let own: Vec<(String, String)> = parameters
                .iter()
                .map(|(name, value)| (format!("{}.{name}", start.block), value.to_string()))
                .collect();
            // Blocks at the top of the diagram can be set; whether others can the front end knows.
            let nested = start.block.contains(['.', '[']);
            if nested && with(source, options, &own, registry).program.is_none() {
                self.unwritten.push((start.block.clone(), "it is inside a mask or a copy"));
                continue;
            }
            self.settings.extend(own);
        }
    }

    /// The patch as a file.
    fn patch(&self, program: &Program) -> String {
        let mut out = String::from("Patch(\n");
        let trimmed = &self.trimmed;
        let doc = format!(
            "{} at rest: moves by at most {} per second in its first {}.",
            program.name,
            digits(trimmed.rates[2]),
            seconds(trimmed.period)
        );
        // Writing to a String cannot fail.
        let _ = writeln!(out, "    doc: {doc:?},\n    set: {{");
        for (path, value) in &self.settings {
            let _ = writeln!(out, "        {path:?}: {value},");
        }
        out.push_str("    },\n)\n");
        out
    }

    /// Runs the patched diagram and says how far it moves.
    fn prove(
        &self,
        source: &Source,
        options: &Options,
        registry: &Registry,
    ) -> Result<Vec<Motion>, Failure> {
        let Compiled { program, diagnostics, sources, .. } =
            with(source, options, &self.settings, registry);
        let failed = |message: String| Failure { code: Code::Check, message };
        let Some(program) = program else {
            complaint::say_all(&diagnostics, &sources);
            return Err(failed("the diagram does not take the patch".to_owned()));
        };
        let motions = drift(&program, PROOF)
            .map_err(|error| failed(format!("the trimmed diagram: {error}")))?;
        match motions.first().filter(|most| most.amount > 0.0) {
            None => console::say(&format!("  in {} nothing moves", seconds(PROOF))),
            Some(most) => console::say(&format!(
                "  in {} it moves by at most {}",
                seconds(PROOF),
                amount(most, "")
            )),
        }
        let beyond: Vec<&Motion> = motions
            .iter()
            .filter(|one| one.amount > PROOF_BOUND * (1.0 + one.start.abs()))
            .take(SHOWN)
            .collect();
        if !beyond.is_empty() {
            console::say("error: the trimmed diagram does not stay where it is:");
            beyond.iter().for_each(|one| console::say(&format!("  {}", amount(one, ""))));
            if !self.trimmed.begin_anew.is_empty() {
                let names = self.trimmed.begin_anew.join("`, `");
                console::say(&format!(
                    "note: no parameter says the discrete state of `{names}`: it begins anew"
                ));
            }
        }
        Ok(motions)
    }

    /// Says what was found to people.
    fn say(&self) {
        let trimmed = &self.trimmed;
        let [first, settled, polished] = trimmed.rates;
        let name = &self.name;
        let outcome = if trimmed.still { "an equilibrium at t = 0" } else { "no equilibrium" };
        console::say(&format!("{name}: {outcome}"));
        console::say(&format!(
            "  fastest    {} per second at first, {} after {} of settling, {} after {}",
            digits(first),
            digits(settled),
            seconds(trimmed.settled),
            digits(polished),
            counted(u64::from(trimmed.iterations), "iteration"),
        ));
        for (block, reason) in &self.unwritten {
            console::say(&format!(
                "warning: the patch cannot say where `{block}` begins: {reason}"
            ));
        }
        if !trimmed.still {
            console::say("error: nothing was found that holds still; what moves:");
            for motion in trimmed.motions.iter().filter(|one| one.amount > 0.0).take(SHOWN) {
                console::say(&format!("  {}", amount(motion, "/s")));
            }
        }
    }

    fn json(&self, tolerance: f64, patch: Option<&str>, drift: &[Motion]) -> Value {
        let trimmed = &self.trimmed;
        let list = |motions: &[Motion]| -> Value {
            let moving = motions.iter().filter(|one| one.amount > 0.0).take(SHOWN);
            let one = |motion: &Motion| {
                json!({
                    "name": motion.name, "unit": motion.unit, "start": motion.start, "amount": motion.amount,
                })
            };
            moving.map(one).collect()
        };
        let set: Map<String, Value> = self
            .settings
            .iter()
            .map(|(path, value)| (path.clone(), value.as_str().into()))
            .collect();
        let unwritten: Vec<&str> = self.unwritten.iter().map(|(block, _)| block.as_str()).collect();
        json!({
            "diagram": self.name,
            "still": trimmed.still,
            "tolerance": tolerance,
            "settled_s": trimmed.settled,
            "period_s": trimmed.period,
            "iterations": trimmed.iterations,
            "rate_at_first": trimmed.rates[0],
            "rate_settled": trimmed.rates[1],
            "rate": trimmed.rates[2],
            "moving": list(&trimmed.motions),
            "set": set,
            "unwritten": unwritten,
            "begin_anew": trimmed.begin_anew,
            "patch": patch,
            "drift": patch.map(|_| json!({ "time_s": PROOF, "farthest": list(drift) })),
            "diagnostics": self.diagnostics,
        })
    }
}

/// The diagram with some more settings.
fn with(
    source: &Source,
    options: &Options,
    settings: &[(String, String)],
    registry: &Registry,
) -> Compiled {
    let mut options = options.clone();
    options.set.extend(settings.iter().cloned());
    source.compile(&options, registry)
}

/// `body.state.nu[2]  9.81 m/s/s`.
fn amount(motion: &Motion, per: &str) -> String {
    let unit = motion.unit.as_deref().filter(|unit| *unit != "1").unwrap_or_default();
    let number = digits(motion.amount);
    match (unit, per) {
        ("", "") => format!("{}  {number}", motion.name),
        ("", per) => format!("{}  {number} 1{per}", motion.name),
        (unit, per) => format!("{}  {number} {unit}{per}", motion.name),
    }
}
