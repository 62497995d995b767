//! `legwork trim`: initial states and inputs at which a diagram holds still, as a patch.

use std::path::PathBuf;

use clap::Args;
use legwork_study::trim::{Motion, PROOF, SHOWN, Trim, TrimError, TrimRequest};
use legwork_study::{Library, Model, fault_to_json, files};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::{Overrides, positive};
use super::summary::{counted, digits, seconds};
use super::{console, diagnostics};

/// `legwork trim`.
///
/// Runs the diagram until nothing moves, or for the time to settle, then seeks a state (and outputs
/// of constants that --free names) that one period of the run leaves where it is. The patch sets
/// the initial states of all blocks and the values of free constants. The patched diagram is then
/// run for 1 s: it must not move by more than 1e-6 of 1 + any number of its state.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
                  legwork trim stand.ron -o standing.ron && legwork run stand.ron --with standing.ron\n  \
                  legwork trim arm.ron --free torque.y --settle 0   hold the arm about where it begins\n\n\
                  The patched diagram is run for 1 s, in which no number x of its state may move by \
                  more than 1e-6 (1 + |x|). Free constants give way before the state does. An \
                  unstable equilibrium is found too, with --settle 0 from nearby. What is not free is left as it is: overrides of this command \
                  line hold for the run with the patch as well, and are not in it.\n\n\
                  Exit codes: 0 holds still, 1 diagram error, 2 a run stopped at a fault, 3 does not hold \
                  still (what moves is said), 64 usage.")]
pub(crate) struct TrimArguments {
    /// The diagram.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) overrides: Overrides,
    /// Let this output of a constant change too, or some of its numbers: `tau.y`, `tau.y[2]`.
    #[arg(long, value_name = "PATH")]
    pub(crate) free: Vec<String>,
    /// Run at most so long to settle, as in `2 s`; 0 begins the search at t = 0 [default: the
    /// diagram's stop time].
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(crate) settle: Option<String>,
    /// The largest rate that counts as still: of every number of the state, in its unit per second.
    #[arg(long, value_name = "RATE", default_value = "1e-9", value_parser = positive)]
    pub(crate) tol: f64,
    /// Where to write the patch; standard output without it.
    #[arg(short, long, value_name = "PATCH")]
    pub(crate) output: Option<PathBuf>,
}

/// Trims a diagram.
///
/// # Errors
/// If the file cannot be read, what is to be free is no output of a constant, a time is none, or
/// the patch cannot be written.
pub(crate) fn trim(arguments: &TrimArguments, library: &Library) -> Result<Answer, Failure> {
    let request = TrimRequest {
        free: arguments.free.clone(),
        settle: arguments.settle.clone(),
        tolerance: arguments.tol,
    };
    let diagram = arguments.overrides.open(&arguments.file, None, library)?;
    let compiled = request.settling(diagram).compile();
    diagnostics::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let name = arguments.file.display().to_string();
        let json = json!({ "diagram": name, "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
    if let Some(path) = &arguments.output {
        files::refuse_input(path, model.inputs(&[]))?;
    }
    let found = match model.trim(&request)? {
        Ok(found) => found,
        Err(error) => return Ok(stopped(model, &error, !request.is_at_once())),
    };
    say(&found);
    let mut json = found.to_json();
    json.insert("diagnostics".to_owned(), model.warnings_to_json());
    let code = if found.stays() { Code::Success } else { Code::Check };
    let Some(patch) = &found.patch else { return Ok(Answer::new(code, Value::Object(json))) };
    let Some(path) = &arguments.output else {
        return Ok(Answer::new(code, Value::Object(json)).text(patch.clone()));
    };
    files::write(path, patch)?;
    let with = path.display().to_string();
    json.insert("file".to_owned(), with.clone().into());
    console::note(&format!(
        "  wrote {with}; use it with `{}`",
        arguments.overrides.run_with(&found.diagram, &with)
    ));
    Ok(Answer::new(code, Value::Object(json)))
}

/// A run that could not be trimmed.
fn stopped(model: &Model, error: &TrimError, settles: bool) -> Answer {
    let mut json = Map::new();
    let mut add = |name: &str, value: Value| json.insert(name.to_owned(), value);
    add("diagram", model.diagram().name().into());
    add("still", false.into());
    add("diagnostics", model.warnings_to_json());
    let code = match error {
        TrimError::Fault(fault) => {
            diagnostics::say_fault(fault, model.sources());
            if settles {
                console::note(
                    "help: without a run to settle, `--settle 0`, the search begins at t = 0",
                );
            }
            add("fault", fault_to_json(fault, model.sources()));
            Code::Fault
        }
        TrimError::Stopped { .. } => {
            console::say(&format!("error: {error}"));
            add("error", error.to_string().into());
            Code::Check
        }
    };
    Answer::new(code, Value::Object(json))
}

/// Says what was found to people.
fn say(found: &Trim) {
    let trimmed = &found.trimmed;
    let [first, settled, polished] = trimmed.rates;
    let outcome = if trimmed.still { "an equilibrium at t = 0" } else { "no equilibrium" };
    console::note(&format!("{}: {outcome}", found.diagram));
    console::note(&format!(
        "  fastest    {} per second at first, {} after {} of settling, {} after {}",
        digits(first),
        digits(settled),
        seconds(trimmed.settled),
        digits(polished),
        counted(u64::from(trimmed.iterations), "iteration"),
    ));
    for (block, reason) in &found.unwritten {
        console::note(&format!("warning: the patch cannot say where `{block}` begins: {reason}"));
    }
    if trimmed.still {
        say_drift(found);
        return;
    }
    console::say("error: nothing was found that holds still; what moves:");
    for motion in trimmed.motions.iter().filter(|one| one.amount > 0.0).take(SHOWN) {
        console::note(&format!("  {}", amount(motion, "/s")));
    }
}

/// Says how far the patched diagram moves.
fn say_drift(found: &Trim) {
    let time = seconds(PROOF);
    match found.drift.first().filter(|most| most.amount > 0.0) {
        None => console::note(&format!("  in {time} nothing moves")),
        Some(most) => {
            console::note(&format!("  in {time} it moves by at most {}", amount(most, "")));
        }
    }
    if found.stays() {
        return;
    }
    console::say("error: the trimmed diagram does not stay where it is:");
    found.beyond().take(SHOWN).for_each(|one| console::note(&format!("  {}", amount(one, ""))));
    if !found.trimmed.begin_anew.is_empty() {
        let names = found.trimmed.begin_anew.join("`, `");
        console::note(&format!(
            "note: no parameter says the discrete state of `{names}`: it begins anew"
        ));
    }
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
