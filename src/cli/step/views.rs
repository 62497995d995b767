//! Where the run is, and what its signals and blocks hold.

use std::fmt::Write as _;

use legwork_program::{Node, Program, Rate};
use legwork_runtime::{Cursor, Simulation};

use super::super::complaint;
use super::session::Session;
use super::show;

impl Session<'_> {
    /// One line: time, step, what comes next; then the watches.
    pub(super) fn tell_place(&mut self) {
        let line = place(self.history.simulation(), self.history.step());
        self.say(&line);
        for path in self.watches.clone() {
            match self.shown_signal(&path) {
                Ok(text) | Err(text) => self.say(&text),
            }
        }
    }

    /// Everything about the place, and the block's line in the file.
    pub(super) fn tell_where(&mut self) -> Result<(), String> {
        let (simulation, history) = (self.history.simulation(), &self.history);
        let moment = simulation.moment();
        let mut text = place(simulation, history.step());
        let _ = write!(
            text,
            "\n  t = {:?} s, k = {}, tau = {:?}, n = {}; {} pieces of step {} done",
            simulation.time(),
            moment.tick,
            moment.tau,
            simulation.microstep(),
            history.pieces(),
            history.step(),
        );
        if let Some(fault) = history.fault() {
            let _ = write!(text, "\n  at a fault: {fault}");
        }
        if let Some(node) = simulation.next_node() {
            let node = &simulation.program().nodes[node];
            let rate = simulation.program().rate_text(node.rate);
            let _ = write!(text, "\n  {}: {}  [{rate}]", node.path, node.text);
            if let Some(line) = self.line_of(node) {
                let _ = write!(text, "\n  {line}");
            }
        }
        for (path, value) in &self.pending {
            let _ = write!(text, "\n  waits for the end of the step: {path} = {value}");
        }
        self.say(&text);
        Ok(())
    }

    /// `file:line:column | the line`.
    fn line_of(&self, node: &Node) -> Option<String> {
        let sources = self.sources.last()?;
        let start = sources.positions(node.span).0;
        let line = sources.text(node.span.file).lines().nth(start.line - 1)?;
        let name = complaint::shown(sources.name(node.span.file));
        Some(format!("{name}:{}:{} | {}", start.line, start.column, line.trim()))
    }

    /// The order of execution.
    pub(super) fn list_schedule(&mut self) -> Result<(), String> {
        let simulation = self.history.simulation();
        let program = simulation.program();
        let next = simulation.next_output();
        let mut text = String::new();
        for (i, step) in program.schedule.iter().enumerate() {
            let node = &program.nodes[step.node];
            let mark = if next == Some(i) { '>' } else { ' ' };
            let moment = simulation.moment();
            let due =
                step.rate == Rate::Continuous || (moment.is_tick() && step.rate.due(moment.tick));
            let due = if due { '*' } else { ' ' };
            let several = program.schedule.iter().filter(|s| s.node == step.node).count() > 1;
            let group = if several { format!(" group {}", step.group) } else { String::new() };
            let rate = program.rate_text(step.rate);
            let _ = writeln!(
                text,
                "{mark}{due}{:>4}  {}{group} ({})  {rate}",
                i + 1,
                node.path,
                node.kind
            );
        }
        self.say(&text);
        Ok(())
    }

    /// A signal or a block.
    pub(super) fn print(&mut self, path: &str) -> Result<(), String> {
        let node = self.program().nodes.iter().position(|node| node.path == path);
        let text = match node {
            Some(node) => self.shown_block(node),
            None => self.shown_signal(path)?,
        };
        self.say(&text);
        Ok(())
    }

    /// A signal with its value.
    pub(super) fn shown_signal(&mut self, path: &str) -> Result<String, String> {
        let program = std::sync::Arc::clone(self.program());
        let signal = self.probe.signal(path, &self.origin, &program).map_err(|message| {
            let near = legwork_block::nearest(path, self.names.iter().map(String::as_str));
            match near {
                Some(near) if !message.contains("did you mean") => {
                    format!("{message}; did you mean `{near}`?")
                }
                _ => message,
            }
        })?;
        let arena = self.history.simulation().arena();
        let leaves = signal.slots.iter().map(|slot| &arena[slot.range()]);
        Ok(show::value(path, &signal.ty, signal.unit.as_deref(), leaves))
    }

    fn shown_block(&self, index: usize) -> String {
        let simulation = self.history.simulation();
        let program = simulation.program();
        let node = &program.nodes[index];
        let mut text =
            format!("{}: {}  [{}]\n", node.path, node.text, program.rate_text(node.rate));
        for port in 0..node.input_names.len() {
            text += &shown_input(simulation, index, port);
        }
        for (port, name) in node.output_names.iter().enumerate() {
            let slots = node.io.outputs.port(port).iter();
            let leaves = slots.map(|slot| &simulation.arena()[slot.range()]);
            let path = format!("{}.{name}", node.path);
            let signal = program.signals.iter().find(|signal| signal.path == path);
            let unit = signal.and_then(|signal| signal.unit.as_deref());
            let shown = show::value(name, &node.output_types[port], unit, leaves);
            text += &indented("  out ", &shown);
        }
        if let Some(placed) = &node.continuous {
            let x = &simulation.state()[placed.x.range()];
            text += &indented("  x   ", &show::numbers("", x, None));
        }
        match simulation.state_json(index) {
            Ok(serde_json::Value::Null) => {}
            Ok(state) => text += &indented("  state ", &state.to_string()),
            Err(fault) => text += &indented("  state ", &fault.to_string()),
        }
        text
    }
}

/// `u <- body.state: …`.
fn shown_input(simulation: &Simulation, index: usize, port: usize) -> String {
    let program = simulation.program();
    let node = &program.nodes[index];
    let edges: Vec<_> = program
        .edges
        .iter()
        .filter(|edge| edge.to.index() == index && edge.to_port == Some(port as u16))
        .collect();
    let name = &node.input_names[port];
    let from: Vec<String> = edges
        .iter()
        .map(|edge| {
            let from = &program.nodes[edge.from];
            let output = from.output_names.get(edge.from_port as usize);
            format!("{}.{}{}", from.path, output.map_or("", String::as_str), edge.part)
        })
        .collect();
    if from.is_empty() {
        return format!("  in  {name}: not connected\n");
    }
    let label = format!("{name} <- {}", from.join(", "));
    let slots = node.io.inputs.port(port).iter();
    let leaves = slots.map(|slot| &simulation.arena()[slot.range()]);
    // The type is that of the output, if the whole of one is read.
    let whole = match &edges[..] {
        [edge] if edge.part.is_empty() => {
            program.nodes[edge.from].output_types.get(edge.from_port as usize)
        }
        _ => None,
    };
    let shown = match whole {
        Some(ty) => show::value(&label, ty, None, leaves),
        None => show::leaves(&label, leaves),
    };
    indented("  in  ", &shown)
}

/// The text behind a mark, its further lines below.
fn indented(mark: &str, text: &str) -> String {
    let mut out = String::new();
    for (i, line) in text.lines().enumerate() {
        let before = if i == 0 { mark.to_owned() } else { " ".repeat(mark.len()) };
        out += &format!("{before}{line}\n");
    }
    out
}

/// `t=0.1 s  step 100  output pd (JointPd)  [4 of 25]`.
fn place(simulation: &Simulation, step: u64) -> String {
    let what = match simulation.cursor() {
        Cursor::Output(_) => match simulation.next_output() {
            Some(at) => {
                let program: &Program = simulation.program();
                let count = program.schedule.len();
                format!("output {}  [{} of {count}]", named(simulation), at + 1)
            }
            None => "outputs done".to_owned(),
        },
        Cursor::Update(_) => format!("update {}", named(simulation)),
        Cursor::Guards => "guards".to_owned(),
        Cursor::Observe => "observe".to_owned(),
        Cursor::Integrate => "integrate".to_owned(),
        Cursor::Done => match simulation.stopped_by() {
            Some(block) => format!("end, stopped by {block}"),
            None => "end".to_owned(),
        },
    };
    format!("t={} s  step {step}  {what}", show::trimmed(simulation.time()))
}

fn named(simulation: &Simulation) -> String {
    simulation.next_node().map_or(String::new(), |node| {
        let node = &simulation.program().nodes[node];
        format!("{} ({})", node.path, node.kind)
    })
}
