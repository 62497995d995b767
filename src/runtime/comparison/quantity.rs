//! What is compared as one: numbers with one name and one unit.

use std::ops::Range;

use legwork_block::{BusType, BusView, Type};
use legwork_program::{NodeId, Program, SignalRef};

/// A part of a recorded signal: numbers with one name and one unit, side by side in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quantity {
    /// Index of the signal in the program's log, and so of its channel in the recording.
    pub channel: usize,
    /// Path, such as `body.state.base.position`.
    pub name: String,
    /// Unit, if one is known.
    pub unit: Option<String>,
    /// Path of each number, such as `body.state.base.position[2]`.
    pub elements: Vec<String>,
    /// First of its numbers in a row.
    pub start: usize,
}

impl Quantity {
    /// Its numbers in a row.
    pub fn columns(&self) -> Range<usize> {
        self.start..self.start + self.elements.len()
    }
}

/// The quantities of a program's log, in its order. Buses fall apart into their fields, and fields
/// into the parts that have names of their own: those have different units.
pub fn quantities(program: &Program) -> Vec<Quantity> {
    let mut out = Vec::new();
    for (channel, logged) in program.log.iter().enumerate() {
        let SignalRef { path, ty, unit, units, .. } = &logged.signal;
        list(channel, path, (unit.as_deref(), units), ty, &mut out);
    }
    out
}

/// The path and the unit of each number of a signal, in the order of its slots.
pub fn elements(signal: &SignalRef) -> Vec<(String, Option<String>)> {
    let SignalRef { path, ty, unit, units, .. } = signal;
    let mut quantities = Vec::new();
    list(0, path, (unit.as_deref(), units), ty, &mut quantities);
    let named = quantities.into_iter().flat_map(|quantity| {
        let Quantity { elements, unit, .. } = quantity;
        elements.into_iter().map(move |name| (name, unit.clone()))
    });
    named.collect()
}

/// What a message calls number `index` of the output `port` of a block: its name behind the port's,
/// and what it is called, such as `nu_dot[24]` (`l_knee`).
pub(crate) fn number_name(program: &Program, id: usize, port: usize, index: usize) -> String {
    let node = &program.nodes[NodeId::new(id)];
    let name = node.output_names.get(port).map_or("", |name| &**name);
    let path = if name.is_empty() { node.path.clone() } else { format!("{}.{name}", node.path) };
    let mut quantities = Vec::new();
    if let Some(ty) = node.output_types.get(port) {
        list(0, &path, (None, &[]), ty, &mut quantities);
    }
    let found = quantities.iter().find(|quantity| quantity.columns().contains(&index));
    let Some(element) = found.map(|found| &found.elements[index - found.start]) else {
        return format!("`{name}`");
    };
    let own = element.strip_prefix(node.path.as_str()).unwrap_or(element);
    let own = own.trim_start_matches('.');
    let label = || {
        let (whole, at) = element.strip_suffix(']')?.rsplit_once('[')?;
        let label = program.labels(whole).get(at.parse::<usize>().ok()?)?;
        Some(format!(" (`{label}`)"))
    };
    let rate = || Some(format!(" (`{}`)", label_of_rate(program, id, port, index)?));
    format!("`{own}`{}", label().or_else(rate).unwrap_or_default())
}

/// What a number of a rate is called, such as one of `nu_dot`: as that of the state that it is the
/// rate of, in the block that reads it.
fn label_of_rate(program: &Program, id: usize, port: usize, index: usize) -> Option<String> {
    let mut edges = program.edges.iter();
    edges.find_map(|edge| {
        let is_it = edge.from.index() == id && edge.from_port as usize == port;
        if !is_it || !edge.part.is_empty() {
            return None;
        }
        let reader = &program.nodes[edge.to];
        let state = reader.input_names.get(edge.to_port? as usize)?.strip_suffix("_dot")?;
        reader.output_types.iter().find_map(|ty| {
            let Type::Bus(bus) = ty else { return None };
            let field = bus.fields.iter().position(|field| field.name == state)?;
            bus.views
                .iter()
                .filter(|view| view.field == field)
                .find_map(|view| view.labels.get(index.checked_sub(view.start)?).cloned())
        })
    })
}

/// The quantities of one signal, with the unit of all its numbers or, of a vector, of each.
pub(crate) fn list(
    channel: usize,
    path: &str,
    (unit, units): (Option<&str>, &[String]),
    ty: &Type,
    out: &mut Vec<Quantity>,
) {
    let mut list = List { channel, start: 0, out };
    match ty {
        Type::Vector(n) if !units.is_empty() && n.known() == Some(units.len()) => {
            list.add_runs(path, units);
        }
        _ => list.add(path, unit, ty),
    }
}

/// What a path slices, and its first element: `a.y`, 2 of `a.y[2..5]`; `a.y`, 0 of `a.y`.
fn slice(path: &str) -> (&str, usize) {
    let parts = || {
        let (whole, bracket) = path.strip_suffix(']')?.rsplit_once('[')?;
        let first = bracket.split_once("..")?.0.trim();
        Some((whole, if first.is_empty() { 0 } else { first.parse().ok()? }))
    };
    parts().unwrap_or((path, 0))
}

struct List<'o> {
    channel: usize,
    start: usize,
    out: &'o mut Vec<Quantity>,
}

impl List<'_> {
    fn push(&mut self, name: &str, unit: Option<&str>, elements: Vec<String>) {
        let (channel, start) = (self.channel, self.start);
        self.start += elements.len();
        if !elements.is_empty() {
            let unit = unit.map(str::to_owned);
            self.out.push(Quantity { channel, name: name.to_owned(), unit, elements, start });
        }
    }

    fn add(&mut self, name: &str, unit: Option<&str>, ty: &Type) {
        let matrix = |rows: usize, columns: usize| -> Vec<String> {
            let place = |column, row| format!("{name}[{row}, {column}]");
            (0..columns).flat_map(|c| (0..rows).map(move |r| place(c, r))).collect()
        };
        match ty {
            Type::Real | Type::Bool | Type::Int => self.push(name, unit, vec![name.to_owned()]),
            // What has no size takes no place in a row.
            Type::Var(_) => {}
            Type::Vector(n) => {
                let (whole, first) = slice(name);
                let elements =
                    (0..n.known().unwrap_or(0)).map(|i| format!("{whole}[{}]", first + i));
                self.push(name, unit, elements.collect());
            }
            Type::Matrix(rows, columns) => {
                let (rows, columns) = (rows.known().unwrap_or(0), columns.known().unwrap_or(0));
                self.push(name, unit, matrix(rows, columns));
            }
            Type::Rotation => self.push(name, unit, matrix(3, 3)),
            Type::Pose => {
                self.add(&format!("{name}.rotation"), Some("1"), &Type::Rotation);
                self.add(&format!("{name}.position"), Some("m"), &Type::vector(3));
            }
            Type::Array(of, n) => {
                for i in 0..n.known().unwrap_or(0) {
                    self.add(&format!("{name}[{i}]"), unit, of);
                }
            }
            Type::Bus(bus) => self.add_bus(name, bus),
        }
    }

    fn add_bus(&mut self, name: &str, bus: &BusType) {
        for (index, field) in bus.fields.iter().enumerate() {
            let path = format!("{name}.{}", field.name);
            let mut views: Vec<&BusView> =
                bus.views.iter().filter(|view| view.field == index).collect();
            match &field.ty {
                Type::Vector(n) if !views.is_empty() => {
                    // Of two that begin together the shorter says more: a position, not a configuration.
                    views.sort_by_key(|view| (view.start, view.len.known()));
                    self.add_views(name, &path, field.unit.as_deref(), n.known(), &views);
                }
                ty => self.add(&path, field.unit.as_deref(), ty),
            }
        }
    }

    /// A field under the names of its parts. What no part covers keeps the field's name.
    fn add_views(
        &mut self,
        bus: &str,
        path: &str,
        unit: Option<&str>,
        len: Option<usize>,
        views: &[&BusView],
    ) {
        let len = len.unwrap_or(0);
        let mut at = 0;
        for view in views {
            let count = view.len.known().unwrap_or(0);
            if view.start < at || count == 0 || view.start + count > len {
                continue;
            }
            self.add_rest(path, unit, at..view.start);
            let part = format!("{bus}.{}", view.name);
            match view.units.len() == count {
                true => self.add_runs(&part, &view.units),
                false => self.add_part(&part, &part, view.unit.as_deref().or(unit), 0..count),
            }
            at = view.start + count;
        }
        self.add_rest(path, unit, at..len);
    }

    fn add_rest(&mut self, path: &str, unit: Option<&str>, rest: Range<usize>) {
        self.add_part(&format!("{path}[{}..{}]", rest.start, rest.end), path, unit, rest);
    }

    /// Elements of `whole` under the name of all of them.
    fn add_part(&mut self, name: &str, whole: &str, unit: Option<&str>, part: Range<usize>) {
        self.push(name, unit, part.map(|i| format!("{whole}[{i}]")).collect());
    }

    /// Numbers with a unit each: a part for each run of one unit.
    fn add_runs(&mut self, path: &str, units: &[String]) {
        let (whole, first) = slice(path);
        let mut at = first;
        for run in units.chunk_by(|a, b| a == b) {
            let part = at..at + run.len();
            match part.len() {
                1 => self.push(
                    &format!("{whole}[{at}]"),
                    Some(&run[0]),
                    vec![format!("{whole}[{at}]")],
                ),
                _ => self.add_rest(whole, Some(&run[0]), part),
            }
            at += run.len();
        }
    }
}
