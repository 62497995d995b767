//! Breakpoints: lines of blocks, conditions, data that changes.

use legwork_runtime::Simulation;
use legwork_study::Session;
use legwork_study::session::{Condition, SourceLine};
use serde_json::{Value, json};

use super::adapter::Adapter;
use crate::document::Document;
use crate::tree::Item;

/// All breakpoints, as the client set them. The session's are made of them anew at each change.
#[derive(Default)]
pub(super) struct Breakpoints {
    /// By file.
    lines: Vec<(String, Vec<Wanted>)>,
    functions: Vec<Wanted>,
    data: Vec<Wanted>,
    /// What each of the session's breakpoints is, by its number less one.
    set: Vec<Set>,
    count: u64,
}

/// A breakpoint that a client wants.
#[derive(Clone)]
struct Wanted {
    id: u64,
    /// What the session stops at; several where a line is many copies.
    at: Vec<String>,
    condition: Option<String>,
    /// Where it is, in a file.
    line: Option<usize>,
    /// Why it cannot be.
    problem: Option<String>,
    reason: &'static str,
}

/// A breakpoint of the session.
struct Set {
    id: u64,
    reason: &'static str,
    condition: Option<Condition>,
}

impl Breakpoints {
    /// Whether the condition of breakpoint `number` of the session holds, if it has one.
    pub(super) fn holds(&self, number: usize, simulation: &Simulation) -> bool {
        let condition = self.of(number).and_then(|set| set.condition.as_ref());
        condition.is_none_or(|condition| condition.holds(simulation))
    }

    pub(super) fn reason(&self, number: usize) -> &'static str {
        self.of(number).map_or("breakpoint", |set| set.reason)
    }

    pub(super) fn id(&self, number: usize) -> u64 {
        self.of(number).map_or(0, |set| set.id)
    }

    fn of(&self, number: usize) -> Option<&Set> {
        self.set.get(number.checked_sub(1)?)
    }

    fn id_of_next(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Makes the session's breakpoints anew; notes what cannot be.
    fn apply(&mut self, session: &mut Session) -> Result<(), String> {
        session.delete_breakpoint(None).map_err(|error| error.to_string())?;
        self.set.clear();
        let lines = self.lines.iter_mut().flat_map(|(_, list)| list);
        for wanted in lines.chain(&mut self.functions).chain(&mut self.data) {
            if wanted.problem.is_some() {
                continue;
            }
            let condition = match wanted.condition.as_deref().map(|text| session.condition(text)) {
                None => None,
                Some(Ok(condition)) => Some(condition),
                Some(Err(error)) => {
                    wanted.problem = Some(error.to_string());
                    continue;
                }
            };
            for at in &wanted.at {
                let placed = match wanted.reason {
                    "data breakpoint" => place_data(session, at),
                    _ => session.break_at(at).map(|_| ()).map_err(|error| error.to_string()),
                };
                match placed {
                    Ok(()) => self.set.push(Set {
                        id: wanted.id,
                        reason: wanted.reason,
                        condition: condition.clone(),
                    }),
                    Err(why) => {
                        wanted.problem = Some(why);
                        break;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Stops where a signal is another than after the step before, bit by bit.
fn place_data(session: &mut Session, path: &str) -> Result<(), String> {
    let signal = session.signal(path).map_err(|error| error.to_string())?;
    let mut last: Option<Vec<u64>> = None;
    session.break_when(&format!("{path} changes"), move |simulation| {
        let arena = simulation.arena();
        let numbers = signal.slots.iter().flat_map(|slot| &arena[slot.range()]);
        let now: Vec<u64> = numbers.map(|number| number.to_bits()).collect();
        let before = last.replace(now.clone());
        before.is_some_and(|before| before != now)
    });
    Ok(())
}

/// A text of an argument, if it is there and not empty.
fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

impl Wanted {
    fn told(&self) -> Value {
        let mut told = json!({ "id": self.id, "verified": self.problem.is_none() });
        if let Some(line) = self.line {
            told["line"] = line.into();
        }
        if let Some(problem) = &self.problem {
            told["message"] = problem.as_str().into();
        }
        told
    }
}

impl Adapter {
    fn tell(&mut self, list: impl Fn(&Breakpoints) -> Vec<Value>) -> Result<Value, String> {
        let breakpoints = &mut self.breakpoints;
        let session = self.session.as_mut().ok_or_else(|| "no diagram is launched".to_owned())?;
        breakpoints.apply(session)?;
        Ok(json!({ "breakpoints": list(breakpoints) }))
    }

    /// Breakpoints in lines of a file.
    pub(super) fn set_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let file = text(&arguments["source"]["path"])
            .or_else(|| text(&arguments["source"]["name"]))
            .ok_or("expected `source.path`")?;
        let first = usize::from(self.from_zero);
        let mut wanted = Vec::new();
        for one in list(&arguments["breakpoints"]) {
            let line = one["line"].as_u64().ok_or("expected `line` to be a number")?;
            let line = usize::try_from(line).unwrap_or(usize::MAX).saturating_add(first);
            let id = self.breakpoints.id_of_next();
            let at = blocks_of_line(self.session()?, &file, line);
            let problem = at.is_empty().then(|| "no block stands in this line".to_owned());
            wanted.push(Wanted {
                id,
                at,
                condition: text(&one["condition"]),
                line: Some(line.saturating_sub(first)),
                problem,
                reason: "breakpoint",
            });
        }
        self.breakpoints.lines.retain(|(known, _)| *known != file);
        self.breakpoints.lines.push((file.clone(), wanted));
        self.tell(|all| {
            let own = all.lines.iter().filter(|(known, _)| *known == file);
            own.flat_map(|(_, list)| list).map(Wanted::told).collect()
        })
    }

    /// Breakpoints at blocks by their paths, and at conditions.
    pub(super) fn set_function_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let mut wanted = Vec::new();
        for one in list(&arguments["breakpoints"]) {
            wanted.push(Wanted {
                id: self.breakpoints.id_of_next(),
                at: vec![text(&one["name"]).ok_or("expected `name`")?],
                condition: text(&one["condition"]),
                line: None,
                problem: None,
                reason: "function breakpoint",
            });
        }
        self.breakpoints.functions = wanted;
        self.tell(|all| all.functions.iter().map(Wanted::told).collect())
    }

    /// Whether a signal can be watched for changes.
    pub(super) fn data_breakpoint_info(&mut self, arguments: &Value) -> Result<Value, String> {
        let name = text(&arguments["name"]).ok_or("expected `name`")?;
        let held = arguments["variablesReference"].as_u64();
        let path = held.and_then(|held| self.handles.path(held, &name)).unwrap_or(name);
        Ok(match self.session()?.signal(&path) {
            Ok(_) => json!({
                "dataId": path,
                "description": format!("{path} changes, or a condition on it holds"),
                "accessTypes": ["write"],
                "canPersist": true,
            }),
            Err(error) => json!({ "dataId": null, "description": error.to_string() }),
        })
    }

    /// Breakpoints at signals that change or meet a condition.
    pub(super) fn set_data_breakpoints(&mut self, arguments: &Value) -> Result<Value, String> {
        let mut wanted = Vec::new();
        for one in list(&arguments["breakpoints"]) {
            let path = text(&one["dataId"]).ok_or("expected `dataId`")?;
            let condition = text(&one["condition"]);
            // `> 20` is a condition on the signal, others say themselves what they are of.
            let (at, reason) = match condition {
                None => (path, "data breakpoint"),
                Some(text) if text.starts_with(['<', '>', '=', '!']) => {
                    (format!("{path} {text}"), "function breakpoint")
                }
                Some(text) => (text, "function breakpoint"),
            };
            let (id, at) = (self.breakpoints.id_of_next(), vec![at]);
            wanted.push(Wanted { id, at, condition: None, line: None, problem: None, reason });
        }
        self.breakpoints.data = wanted;
        self.tell(|all| all.data.iter().map(Wanted::told).collect())
    }
}

/// The blocks, or the part, that a line of a file is of.
fn blocks_of_line(session: &Session, file: &str, line: usize) -> Vec<String> {
    let is_file = |name: &str| same_file(name, file);
    let nodes = session.program().nodes.iter().filter(|node| !node.hidden);
    let blocks: Vec<String> = nodes
        .filter(|node| {
            let source = SourceLine::of(node, session.sources());
            source.is_some_and(|source| source.line == line && is_file(&source.file))
        })
        .map(|node| node.path.clone())
        .collect();
    if !blocks.is_empty() || !is_file(session.diagram().name()) {
        return blocks;
    }
    // A part: its first block is stopped before.
    let text = String::from_utf8_lossy(session.diagram().text()).into_owned();
    let document = Document::new(file, &text);
    let root = document.tree.items.first().and_then(|root| root.get("blocks"));
    let line_of = |item: &Item| text[..item.start].matches('\n').count() + 1;
    let part = root.map_or(&[][..], Item::items).iter().find(|item| line_of(item) == line);
    part.and_then(Item::name).map(|name| vec![name.to_owned()]).unwrap_or_default()
}

/// Whether two names are of one file.
pub(super) fn same_file(a: &str, b: &str) -> bool {
    let whole = |name: &str| std::fs::canonicalize(name).ok();
    a == b || whole(a).is_some_and(|a| whole(b) == Some(a))
}
