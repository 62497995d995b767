//! The compiled diagram as text.

use std::fmt::Write as _;

use crate::{Edge, FunctionProgram, Node, NodeId, ProgramParts, Rate, Ratio};

impl ProgramParts {
    /// The diagram with everything expanded, as text: blocks by path with kind, parameters, rate,
    /// sources and types, then the order of execution.
    pub fn expanded(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write_expanded(self, &mut out);
        out
    }

    /// A rate for people.
    pub fn rate_text(&self, rate: Rate) -> String {
        let time = |ticks: u64| {
            let time = Ratio::whole(i128::from(ticks)).times(self.base);
            time.map_or_else(|| "?".into(), |time| time.to_string())
        };
        match rate {
            Rate::Constant => "constant".into(),
            Rate::Continuous => "continuous".into(),
            Rate::Periodic { period, offset: 0 } => format!("every {}", time(period)),
            Rate::Periodic { period, offset } => {
                format!("every {} from {}", time(period), time(offset))
            }
        }
    }
}

fn write_expanded(program: &ProgramParts, out: &mut String) -> std::fmt::Result {
    let run = &program.run;
    writeln!(
        out,
        "run: stop {}, step {}, solver {}, seed {}",
        run.stop, run.step, run.solver, run.seed
    )?;
    writeln!(
        out,
        "memory: {} numbers in signals, {} in continuous state, {} shared values\n",
        program.arena_len, program.state_len, program.pool_len
    )?;
    for (n, node) in program.nodes.iter().enumerate() {
        let hidden = if node.hidden { "  (shared)" } else { "" };
        let rate = program.rate_text(node.rate);
        write_wrapped(&format!("{}: {}  [{rate}]{hidden}", node.path, node.text), 8, out)?;
        write_wires(&program.nodes, &program.edges, NodeId::new(n), out)?;
        for (name, ty) in node.output_names.iter().zip(&node.output_types) {
            write_wrapped(&format!("    {name}: {ty}"), 8, out)?;
        }
        for function in &node.functions {
            write_function(function, &node.path, out)?;
        }
    }
    writeln!(out, "\norder:")?;
    for (i, step) in program.schedule.iter().enumerate() {
        let node = &program.nodes[step.node];
        let several = program.schedule.iter().filter(|other| other.node == step.node).count() > 1;
        let group = if several { format!(" (group {})", step.group) } else { String::new() };
        writeln!(out, "{:>4}  {}{group}", i + 1, node.path)?;
    }
    Ok(())
}

/// Maximum width [columns].
const WIDTH: usize = 100;

/// Writes a line, with line breaks after commas outside of texts; continuation lines are indented.
fn write_wrapped(line: &str, indent: usize, out: &mut String) -> std::fmt::Result {
    let (mut start, mut end, mut column) = (0, 0, 0);
    let (mut is_text, mut is_escaped) = (false, false);
    for (at, c) in line.char_indices() {
        column += 1;
        if column > WIDTH && end > start {
            writeln!(out, "{}", line[start..end].trim_end())?;
            out.extend(std::iter::repeat_n(' ', indent));
            start = end;
            column = indent + line[start..=at].chars().count();
        }
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => is_text = !is_text,
            ',' if !is_text && line[at..].starts_with(", ") => end = at + 2,
            _ => {}
        }
    }
    writeln!(out, "{}", &line[start..])
}

/// What the inputs of node `n` read.
fn write_wires(nodes: &[Node], edges: &[Edge], n: NodeId, out: &mut String) -> std::fmt::Result {
    for edge in edges.iter().filter(|edge| edge.to == n) {
        let from = &nodes[edge.from];
        let held = if edge.feeds { "" } else { "  (does not feed through)" };
        match edge.to_port {
            Some(port) => writeln!(
                out,
                "    {} <- {}.{}{}{held}",
                nodes[n].input_names[port as usize],
                from.path,
                from.output_names.get(edge.from_port as usize).map_or("", |name| name),
                edge.part
            )?,
            None => writeln!(out, "    uses {}", from.path)?,
        }
    }
    Ok(())
}

/// A function below its caller: the call with its arguments and results, then the blocks inside in
/// the order in which a call runs them.
fn write_function(function: &FunctionProgram, caller: &str, out: &mut String) -> std::fmt::Result {
    let frame = &function.nodes[function.frame];
    let arguments = frame.output_names.iter().zip(&frame.output_types);
    let arguments: Vec<String> = arguments.map(|(name, ty)| format!("{name}: {ty}")).collect();
    let results = frame.input_names.join(", ");
    writeln!(
        out,
        "{}: fn({}) -> ({results})  [called by {caller}; {} numbers]",
        frame.path,
        arguments.join(", "),
        function.arena_len
    )?;
    write_wires(&function.nodes, &function.edges, function.frame, out)?;
    for (n, node) in function.nodes.iter().enumerate() {
        let n = NodeId::new(n);
        let steps = function.schedule.iter().enumerate().filter(|(_, step)| step.node == n);
        let order: Vec<String> = steps.map(|(at, _)| (at + 1).to_string()).collect();
        if n == function.frame {
            continue;
        }
        let hidden = if node.hidden { "  (shared)" } else { "" };
        writeln!(out, "{}: {}  [call, {}]{hidden}", node.path, node.text, order.join(", "))?;
        write_wires(&function.nodes, &function.edges, n, out)?;
        for (name, ty) in node.output_names.iter().zip(&node.output_types) {
            writeln!(out, "    {name}: {ty}")?;
        }
        for inner in &node.functions {
            write_function(inner, &node.path, out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_break_after_commas() {
        let list = vec!["\"1, 2 N*m\""; 30].join(", ");
        let line = format!("é: Gain(gain: [{list}])");
        let mut out = String::new();
        write_wrapped(&line, 8, &mut out).expect("a string");
        assert!(out.lines().all(|line| line.chars().count() <= WIDTH), "{out}");
        assert!(out.lines().skip(1).all(|line| line.starts_with("        \"1")), "{out}");
        assert_eq!(out.replace('\n', " ").replace("         ", " ").trim_end(), line);
        out.clear();
        write_wrapped(&"x".repeat(300), 8, &mut out).expect("a string");
        assert_eq!(out.len(), 301);
    }
}
