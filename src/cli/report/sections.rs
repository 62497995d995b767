//! What a page says of a run: from the recording, and from the `run.json` beside it.

use legwork_picture::page::{self, Cell, Page};
use legwork_runtime::recording::Ending;
use legwork_study::{Recorded, origin};
use serde_json::{Map, Value};

use super::super::summary::{counted, digits, seconds};

/// Blocks of a profile that a page lists.
const MOST_BLOCKS: usize = 20;

fn text(value: impl Into<String>) -> Cell {
    Cell::Text(value.into())
}

fn number(value: f64) -> Cell {
    Cell::Number(digits(value))
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

/// The doc of the diagram, what ran, how long, and by what.
pub(super) fn summary(page: &mut Page, run: &Recorded, facts: Option<&Value>) {
    let metadata = run.recording.metadata();
    if let Some(doc) = metadata.and_then(origin::doc) {
        page.lead(&doc);
    }
    let mut rows: Vec<Vec<Cell>> = Vec::new();
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
        if let Some(resumed) = metadata.other.get("resumed") {
            add("resumed", resumed.clone());
        }
        if let Some(edits) = metadata.other.get("edits") {
            add("edits", edits.clone());
        }
    }
    let signals = run.recording.channels().len() as u64;
    let count = run.recording.row_count() as u64;
    let whole = if run.recording.ending() == Ending::Complete { "" } else { ", cut off" };
    let recorded = format!("{}, {}{whole}", counted(signals, "signal"), counted(count, "row"));
    add("recording", recorded);
    page.section("Run", &page::table(&[], &rows));
}

/// Fault, checks, metrics and profile.
pub(super) fn outcome(page: &mut Page, run: &Recorded, facts: &Value) {
    if let Some(fault) = object(facts, "fault") {
        let part = |name: &str| fault.get(name).and_then(Value::as_str).unwrap_or_default();
        let t = fault.get("t").and_then(Value::as_f64).map_or(String::new(), seconds);
        let (phase, block, message) = (part("phase"), part("block"), part("message"));
        let line = vec![Cell::Marked("fail", format!("t={t}, {phase}, {block}: {message}"))];
        page.section("Fault", &page::table(&[], &[line]));
    }
    checks(page, run, facts);
    if let Some(metrics) = object(facts, "metrics") {
        let row = |(name, value): (&String, &Value)| {
            let value = value.as_f64().map_or_else(|| text("none"), number);
            vec![text(name), value]
        };
        let rows: Vec<Vec<Cell>> = metrics.iter().map(row).collect();
        page.section("Metrics", &page::table(&["metric", "value"], &rows));
    }
    profile(page, facts);
}

fn checks(page: &mut Page, run: &Recorded, facts: &Value) {
    let Some(checks) = object(facts, "checks") else {
        page.section("Checks", &page::paragraph("The diagram has none."));
        return;
    };
    let known = |name: &str| {
        let program = run.program.as_ref().ok()?;
        program.checks.iter().find(|check| check.name == name)
    };
    let row = |(name, passed): (&String, &Value)| {
        let mark = match passed.as_bool() {
            Some(true) => Cell::Marked("pass", "pass".to_owned()),
            Some(false) => Cell::Marked("fail", "FAIL".to_owned()),
            None => Cell::Marked("open", "open".to_owned()),
        };
        let condition =
            known(name).map_or(String::new(), |check| format!("{:?}: {}", check.kind, check.text));
        vec![mark, text(name), text(condition), text(measured(facts, name))]
    };
    let rows: Vec<Vec<Cell>> = checks.iter().map(row).collect();
    let passed = checks.values().filter(|passed| passed.as_bool() == Some(true)).count();
    let lead = page::paragraph(&format!("{passed} of {} passed.", checks.len()));
    page.section("Checks", &(lead + &page::table(&[], &rows)));
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

fn profile(page: &mut Page, facts: &Value) {
    let Some(blocks) = facts.get("profile").and_then(|p| p.get("blocks")?.as_array()) else {
        return;
    };
    let row = |block: &Value| {
        let part = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
        let figure = |name: &str| block.get(name).and_then(Value::as_f64).unwrap_or_default();
        vec![
            text(part("block")),
            text(part("kind")),
            Cell::Number(figure("calls").to_string()),
            Cell::Number(seconds(figure("total_ns") * 1e-9)),
            Cell::Number(format!("{:.1} %", figure("share") * 100.0)),
        ]
    };
    let rows: Vec<Vec<Cell>> = blocks.iter().take(MOST_BLOCKS).map(row).collect();
    page.section("Profile", &page::table(&["block", "kind", "calls", "total", "share"], &rows));
}

/// The text of the diagram.
pub(super) fn source(page: &mut Page, run: &Recorded) {
    if let Some(metadata) = run.recording.metadata() {
        page.section("Text", &page::folded("the diagram as it was run", &metadata.diagram));
    }
}
