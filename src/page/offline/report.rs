//! What a page says of a run besides its signals: from the recording, and from the `run.json`
//! beside it.

use legwork_runtime::recording::Ending;
use legwork_study::{Recorded, counted, digits, origin, seconds};
use serde_json::{Map, Value, json};

/// Blocks of a profile that a page lists.
const MOST_BLOCKS: usize = 20;

/// A cell: its text, and `text`, `number`, `pass`, `fail` or `open`.
fn cell(text: impl Into<String>, kind: &str) -> Value {
    json!({ "text": text.into(), "kind": kind })
}

fn text(value: impl Into<String>) -> Value {
    cell(value, "text")
}

fn number(value: f64) -> Value {
    cell(digits(value), "number")
}

/// A table under a heading.
fn section(heading: &str, lead: Option<&str>, head: &[&str], rows: &[Vec<Value>]) -> Value {
    json!({ "heading": heading, "lead": lead, "head": head, "rows": rows })
}

fn object<'f>(facts: &'f Value, name: &str) -> Option<&'f Map<String, Value>> {
    facts.get(name)?.as_object().filter(|object| !object.is_empty())
}

/// The diagram's name as `run.json` has it, or the name of the run.
pub(super) fn title(run: &Recorded, facts: Option<&Value>) -> String {
    let diagram = facts.and_then(|facts| facts.get("diagram")?.as_str());
    let path = diagram.map(|name| name.strip_prefix("demo:").unwrap_or(name));
    let stem = path.and_then(|name| std::path::Path::new(name).file_stem());
    stem.map_or_else(|| run.name.clone(), |stem| stem.to_string_lossy().into_owned())
}

/// The whole report of a run.
pub(super) fn report(source: usize, run: &Recorded, facts: Option<&Value>) -> Value {
    let mut sections = vec![summary(run, facts)];
    match facts {
        Some(facts) => sections.extend(outcome(run, facts)),
        None => sections.push(section(
            "Checks",
            Some(
                "There is no run.json of this run beside the recording: checks, metrics and times \
                 are not known.",
            ),
            &[],
            &[],
        )),
    }
    let doc = run.recording.metadata().and_then(origin::doc).unwrap_or_default();
    json!({
        "source": source,
        "title": title(run, facts),
        "doc": doc,
        "sections": sections,
    })
}

/// What ran, how long, and by what.
fn summary(run: &Recorded, facts: Option<&Value>) -> Value {
    let metadata = run.recording.metadata();
    let mut rows: Vec<Vec<Value>> = Vec::new();
    let mut add = |name: &str, value: String| rows.push(vec![text(name), text(value)]);
    let fact = |name: &str| facts.and_then(|facts| facts.get(name));
    let figure = |name: &str| fact(name).and_then(Value::as_f64);
    if let Some(diagram) = fact("diagram").and_then(Value::as_str) {
        add("diagram", diagram.to_owned());
    }
    if let Ok(program) = &run.program {
        let blocks = program.nodes.iter().filter(|node| !node.hidden).count();
        add("blocks", blocks.to_string());
        add("solver", format!("{} in steps of {}", program.run.solver, program.run.step));
    }
    if let (Some(time), Some(steps)) = (figure("sim_time_s"), figure("steps")) {
        add("simulated", format!("{} in {}", seconds(time), counted(steps as u64, "step")));
    }
    if let Some(block) = fact("stopped_by").and_then(Value::as_str) {
        add("ended by", block.to_owned());
    }
    if fact("interrupted").and_then(Value::as_bool) == Some(true) {
        add("ended by", "Ctrl-C".to_owned());
    }
    if let Some(wall) = figure("wall_s") {
        let factor = figure("real_time_factor")
            .map_or(String::new(), |factor| format!(", {} times real time", digits(factor)));
        add("took", format!("{}{factor}", seconds(wall)));
    }
    if let Some(compile) = figure("compile_s") {
        add("compiled in", seconds(compile));
    }
    if let (Some(calls), Some(failures)) = (figure("solver_calls"), figure("solver_failures")) {
        let (calls, failures) =
            (counted(calls as u64, "call"), counted(failures as u64, "failure"));
        add("solver calls", format!("{calls}, {failures}"));
    }
    if let Some(metadata) = metadata {
        add("seed", metadata.seed.to_string());
        add("version", metadata.version.clone());
        add("program", metadata.program_hash.clone());
        for text in &metadata.overrides {
            add("override", text.clone());
        }
        for name in ["resumed", "edits"] {
            if let Some(value) = metadata.other.get(name) {
                add(name, value.clone());
            }
        }
    }
    let signals = run.recording.channels().len() as u64;
    let count = run.recording.row_count() as u64;
    let whole = if run.recording.ending() == Ending::Complete { "" } else { ", cut off" };
    add("recording", format!("{}, {}{whole}", counted(signals, "signal"), counted(count, "row")));
    section("Run", None, &[], &rows)
}

/// Fault, checks, warnings, metrics and profile.
fn outcome(run: &Recorded, facts: &Value) -> Vec<Value> {
    let mut sections = Vec::new();
    if let Some(fault) = object(facts, "fault") {
        let part = |name: &str| fault.get(name).and_then(Value::as_str).unwrap_or_default();
        let t = fault.get("t").and_then(Value::as_f64).map_or(String::new(), seconds);
        let (phase, block, message) = (part("phase"), part("block"), part("message"));
        let line = cell(format!("t={t}, {phase}, {block}: {message}"), "fail");
        sections.push(section("Fault", None, &[], &[vec![line]]));
    }
    sections.push(checks(run, facts));
    sections.extend(warnings(facts));
    if let Some(metrics) = object(facts, "metrics") {
        let row = |(name, value): (&String, &Value)| {
            vec![text(name), value.as_f64().map_or_else(|| text("none"), number)]
        };
        let rows: Vec<Vec<Value>> = metrics.iter().map(row).collect();
        sections.push(section("Metrics", None, &["metric", "value"], &rows));
    }
    sections.extend(profile(facts));
    sections
}

fn checks(run: &Recorded, facts: &Value) -> Value {
    let Some(checks) = object(facts, "checks") else {
        return section("Checks", Some("The diagram has none."), &[], &[]);
    };
    let known = |name: &str| {
        let program = run.program.as_ref().ok()?;
        program.checks.iter().find(|check| check.name == name)
    };
    let row = |(name, passed): (&String, &Value)| {
        let mark = match passed.as_bool() {
            Some(true) => cell("pass", "pass"),
            Some(false) => cell("FAIL", "fail"),
            None => cell("open", "open"),
        };
        let condition =
            known(name).map_or(String::new(), |check| format!("{:?}: {}", check.kind, check.text));
        vec![mark, text(name), text(condition), text(measured(facts, name))]
    };
    let rows: Vec<Vec<Value>> = checks.iter().map(row).collect();
    let passed = checks.values().filter(|passed| passed.as_bool() == Some(true)).count();
    let lead = format!("{passed} of {} passed.", checks.len());
    section("Checks", Some(&lead), &[], &rows)
}

/// What makes the run doubtful.
fn warnings(facts: &Value) -> Option<Value> {
    let warnings = facts.get("warnings")?.as_array()?;
    let row = |warning: &Value| {
        let part = |name: &str| warning.get(name).and_then(Value::as_str).unwrap_or_default();
        let t = warning.get("t").and_then(Value::as_f64).map_or(String::new(), seconds);
        let steps = warning.get("steps").and_then(Value::as_u64).unwrap_or_default();
        vec![
            text(part("block")),
            cell(part("name"), "open"),
            cell(t, "number"),
            cell(steps.to_string(), "number"),
            text(part("message")),
        ]
    };
    let rows: Vec<Vec<Value>> = warnings.iter().map(row).collect();
    let head = ["block", "warning", "first at", "steps", "message"];
    (!rows.is_empty()).then(|| section("Warnings", None, &head, &rows))
}

/// What a check measured, in words.
fn measured(facts: &Value, name: &str) -> String {
    let words = || {
        let found = facts.get("measured")?.get(name)?;
        let number = |field: &str| found.get(field)?.as_f64().map(digits);
        let unit = found.get("unit")?.as_str().filter(|unit| *unit != "1");
        let unit = unit.map_or(String::new(), |unit| format!(" {unit}"));
        let (measured, sign) = (number("measured")?, found.get("sign")?.as_str()?);
        let (bound, margin) = (number("bound")?, number("margin")?);
        let t = seconds(found.get("t")?.as_f64()?);
        Some(format!("{measured}{unit} {sign} {bound}{unit}, margin {margin}{unit} at t={t}"))
    };
    words().unwrap_or_default()
}

fn profile(facts: &Value) -> Option<Value> {
    let blocks = facts.get("profile")?.get("blocks")?.as_array()?;
    let row = |block: &Value| {
        let part = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let figure = |name: &str| block.get(name).and_then(Value::as_f64).unwrap_or_default();
        vec![
            text(part("block")),
            text(part("kind")),
            cell(figure("calls").to_string(), "number"),
            cell(seconds(figure("total_ns") * 1e-9), "number"),
            cell(format!("{:.1} %", figure("share") * 100.0), "number"),
        ]
    };
    let rows: Vec<Vec<Value>> = blocks.iter().take(MOST_BLOCKS).map(row).collect();
    Some(section("Profile", None, &["block", "kind", "calls", "total", "share"], &rows))
}
