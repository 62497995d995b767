//! `legwork trim`: initial states and inputs at which a diagram holds still, as a patch.

use legwork_study::trim::{Motion, PROOF, SHOWN, Trim, TrimError, TrimRequest};
use legwork_study::{Library, Model, fault_to_json};
use serde_json::{Map, Value, json};

use super::answer::{Answer, Code, Failure};
use super::arguments::TrimArguments;
use super::summary::{counted, digits, seconds};
use super::{complaint, console};

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
    complaint::say_all(&compiled.diagnostics, &compiled.sources);
    let Some(model) = &compiled.model else {
        let name = arguments.file.display().to_string();
        let json = json!({ "diagram": name, "diagnostics": compiled.to_json() });
        return Ok(Answer::new(Code::Diagram, json));
    };
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
    std::fs::write(path, patch)
        .map_err(|error| Failure::usage(format!("cannot write `{}`: {error}", path.display())))?;
    let with = path.display();
    json.insert("file".to_owned(), with.to_string().into());
    console::say(&format!(
        "  wrote {with}; use it with `legwork run {} --with {with}`",
        found.diagram
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
            complaint::say_fault(fault, model.sources());
            if settles {
                console::say(
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
    console::say(&format!("{}: {outcome}", found.diagram));
    console::say(&format!(
        "  fastest    {} per second at first, {} after {} of settling, {} after {}",
        digits(first),
        digits(settled),
        seconds(trimmed.settled),
        digits(polished),
        counted(u64::from(trimmed.iterations), "iteration"),
    ));
    for (block, reason) in &found.unwritten {
        console::say(&format!("warning: the patch cannot say where `{block}` begins: {reason}"));
    }
    if trimmed.still {
        say_drift(found);
        return;
    }
    console::say("error: nothing was found that holds still; what moves:");
    for motion in trimmed.motions.iter().filter(|one| one.amount > 0.0).take(SHOWN) {
        console::say(&format!("  {}", amount(motion, "/s")));
    }
}

/// Says how far the patched diagram moves.
fn say_drift(found: &Trim) {
    let time = seconds(PROOF);
    match found.drift.first().filter(|most| most.amount > 0.0) {
        None => console::say(&format!("  in {time} nothing moves")),
        Some(most) => {
            console::say(&format!("  in {time} it moves by at most {}", amount(most, "")));
        }
    }
    if found.stays() {
        return;
    }
    console::say("error: the trimmed diagram does not stay where it is:");
    found.beyond().take(SHOWN).for_each(|one| console::say(&format!("  {}", amount(one, ""))));
    if !found.trimmed.begin_anew.is_empty() {
        let names = found.trimmed.begin_anew.join("`, `");
        console::say(&format!(
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
