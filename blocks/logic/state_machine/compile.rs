//! Programs of a state machine, and what is asked of its expressions.

use legwork_block::quantity::Formula;
use legwork_block::{
    Compiled, Diagnostic, Expression, Invalid, PortUnit, Ports, Programs, SymbolicUnit, Type,
    UnitEquation, UnitRule, Var, nearest,
};

use super::StateMachine;
use crate::signal::formula::{Constants, Found, Input, Names, Source, Spend, refuse_known};

/// Names of times in the expressions, in the order in which the block has them.
const TIMES: &[&str] = &["t", "elapsed"];
/// Outputs that every machine has.
const OWN: [&str; 3] = ["state", "elapsed", "entered"];

/// A compiled state machine.
pub(super) struct Machine {
    /// Names of the inputs and what the expressions ask of each.
    pub(super) inputs: Vec<(String, Input)>,
    /// What each slot of the programs reads.
    pub(super) sources: Vec<Source>,
    /// Name, type and unit of what entry actions set.
    pub(super) outputs: Vec<(String, Type, PortUnit)>,
    /// Numbers of all of them.
    pub(super) len: usize,
    pub(super) states: Vec<State>,
}

/// A compiled state.
pub(super) struct State {
    pub(super) entry: Vec<Action>,
    pub(super) to: Vec<Way>,
}

/// A compiled entry action: one program for each element.
pub(super) struct Action {
    /// The first number that it sets.
    pub(super) first: usize,
    pub(super) programs: Vec<Compiled>,
}

/// A compiled transition.
pub(super) struct Way {
    pub(super) guard: Compiled,
    /// Which state it leads to.
    pub(super) target: usize,
}

/// The diagnostic of an expression with where it stands in the machine.
fn at(place: &str, diagnostic: Diagnostic) -> Invalid {
    let message = format!("{place}: {}", diagnostic.message);
    Invalid { hints: diagnostic.hints, ..Invalid::parameter("states", message) }
}

/// What is wrong with the states.
fn wrong(message: impl Into<String>) -> Invalid {
    Invalid::parameter("states", message.into())
}

/// Compiles expressions one after the other.
struct Compiler<'a> {
    machine: &'a StateMachine,
    found: Found<'a>,
    spend: Spend<'a>,
    compiled: Vec<Programs>,
}

impl Compiler<'_> {
    /// Compiles `formula`; the number of its programs.
    fn add(&mut self, formula: &Formula, place: &str) -> Result<usize, Invalid> {
        let expression: Expression = formula.parse().map_err(|found| at(place, found))?;
        let scope = Constants(&self.machine.constants, self.spend);
        let programs = expression.programs(&scope, &mut self.found);
        self.compiled.push(programs.map_err(|found| at(place, found))?);
        Ok(self.compiled.len() - 1)
    }
}

/// The programs of `machine`.
pub(super) fn compile(machine: &StateMachine, ports: &mut Ports<'_>) -> Result<Machine, Invalid> {
    refuse_known(machine.constants.keys(), TIMES)
        .map_err(|message| Invalid::parameter("constants", message))?;
    refuse_known(machine.inputs.keys(), TIMES)
        .map_err(|message| Invalid::parameter("inputs", message))?;
    let names = names(machine)?;
    reached(machine, &names)?;
    let spend = ports.budget();
    let found = Found::new(Names::Declared(&machine.inputs), TIMES, spend);
    let mut compiler = Compiler { machine, found, spend, compiled: Vec::new() };
    let mut entries = Vec::new();
    for (s, state) in machine.states.iter().enumerate() {
        let mut actions = Vec::new();
        for (name, formula) in &state.entry {
            actions.push(compiler.add(formula, &place(&state.name, name))?);
        }
        let reads = |name: &&String| compiler.found.reads(name);
        if s == 0
            && let Some(input) = machine.inputs.keys().find(reads)
        {
            return Err(wrong(format!(
                "expected an entry of the first state, `{}`, that reads no input, since none feeds \
                 through, found one that reads `{input}`",
                state.name
            )));
        }
        entries.push(actions);
    }
    let mut guards = Vec::new();
    for state in &machine.states {
        let mut ways = Vec::new();
        for way in &state.to {
            let place = format!("guard from `{}` to `{}`", state.name, way.to);
            let guard = compiler.add(&way.when, &place)?;
            if ty(&compiler.compiled[guard]) != Type::Bool {
                return Err(wrong(format!("{place}: expected a condition, found a number")));
            }
            ways.push(guard);
        }
        guards.push(ways);
    }
    all_used(machine, &compiler.found)?;
    let Compiler { found, compiled, .. } = compiler;
    // The unknown units of parts of inputs stand side by side, then those of factors.
    let unknowns: Vec<Var> = (0..found.unknowns()).map(|_| ports.var()).collect();
    let base = unknowns.first().map_or(0, |var| var.0);
    let mut rename = |programs: Programs| {
        let factors: Vec<Var> =
            (0..programs.factors).map(|_| ports.bare_factor("states")).collect();
        programs.renamed(&|var| Var(base + var.0), factors.first().map_or(0, |var| var.0))
    };
    let compiled: Vec<Programs> = compiled.into_iter().map(&mut rename).collect();
    let mut outputs = Outputs { first_state: names[0].to_owned(), ..Outputs::default() };
    let mut states = Vec::new();
    for ((state, entry), guards) in machine.states.iter().zip(entries).zip(guards) {
        let actions = state.entry.iter().zip(entry).map(|((name, formula), programs)| {
            let programs = &compiled[programs];
            let first = outputs.set(&state.name, name, formula, programs)?;
            Ok(Action { first, programs: programs.programs.clone() })
        });
        let entry = actions.collect::<Result<_, Invalid>>()?;
        let ways = state.to.iter().zip(guards).map(|(way, guard)| Way {
            guard: compiled[guard].programs[0].clone(),
            target: names.iter().position(|name| *name == way.to).unwrap_or(0),
        });
        states.push(State { entry, to: ways.collect() });
    }
    ports.relate(compiled.into_iter().flat_map(|programs| programs.equations));
    ports.relate(outputs.equations);
    let (inputs, sources) = found.finish(base);
    let len = outputs.len;
    let outputs = outputs.list.into_iter().map(|output| {
        let unit = output.unit();
        (output.name, output.ty, unit)
    });
    Ok(Machine { inputs, sources, outputs: outputs.collect(), len, states })
}

/// The place of an entry action in messages.
fn place(state: &str, name: &str) -> String {
    format!("entry `{name}` of `{state}`")
}

/// The type of what an expression gives.
fn ty(programs: &Programs) -> Type {
    match programs.programs.as_slice() {
        [one] if !programs.is_list && one.is_boolean() => Type::Bool,
        [_] if !programs.is_list => Type::Real,
        list => Type::vector(list.len()),
    }
}

/// What entry actions set.
#[derive(Default)]
struct Outputs {
    /// The name of the first state, which sets all of them.
    first_state: String,
    list: Vec<Output>,
    /// Numbers of all of them.
    len: usize,
    /// What is asked of their units.
    equations: Vec<UnitEquation>,
}

/// A signal that entry actions set.
struct Output {
    name: String,
    ty: Type,
    /// The state that sets it first.
    by: String,
    first: usize,
    /// The unit of each element that has one.
    units: Vec<Option<SymbolicUnit>>,
}

impl Output {
    fn unit(&self) -> PortUnit {
        match self.units.as_slice() {
            _ if self.ty == Type::Bool => PortUnit::Unspecified,
            units if units.iter().all(Option::is_none) => PortUnit::Adopted,
            [Some(one)] if self.ty == Type::Real => one.clone().into(),
            list => PortUnit::List(list.to_vec()),
        }
    }
}

impl Outputs {
    /// Takes note that the entry of `state` sets `name` to `programs`; the first number of it.
    fn set(
        &mut self,
        state: &str,
        name: &str,
        formula: &Formula,
        programs: &Programs,
    ) -> Result<usize, Invalid> {
        let (ty, len) = (ty(programs), programs.programs.len());
        let Some(known) = self.list.iter_mut().find(|output| output.name == name) else {
            if state != self.first_state {
                let first = &self.first_state;
                return Err(wrong(format!(
                    "{}: expected signals that the first state, `{first}`, sets too",
                    place(state, name)
                )));
            }
            let (name, by, units) = (name.to_owned(), state.to_owned(), programs.units.clone());
            self.list.push(Output { name, ty, by, first: self.len, units });
            self.len += len;
            return Ok(self.len - len);
        };
        if known.ty != ty {
            return Err(wrong(format!(
                "{}: expected {} as in `{}`, found {ty}",
                place(state, name),
                known.ty,
                known.by
            )));
        }
        for (known, found) in known.units.iter_mut().zip(&programs.units) {
            match (known.as_ref(), found) {
                (Some(left), Some(right)) => self.equations.push(UnitEquation {
                    left: left.clone(),
                    right: right.clone(),
                    span: formula.place.span,
                    rule: UnitRule::Choices,
                }),
                (None, Some(unit)) => *known = Some(unit.clone()),
                _ => {}
            }
        }
        Ok(known.first)
    }
}

/// The names of the states, which are different words.
fn names(machine: &StateMachine) -> Result<Vec<&str>, Invalid> {
    let names: Vec<&str> = machine.states.iter().map(|state| state.name.as_str()).collect();
    if names.is_empty() {
        return Err(wrong("expected at least one state, found none"));
    }
    for (i, name) in names.iter().enumerate() {
        if name.is_empty() {
            return Err(wrong(format!("expected a name of state {i}, found an empty text")));
        }
        if names[..i].contains(name) {
            return Err(wrong(format!("expected different names, found `{name}` twice")));
        }
    }
    for (name, state) in machine
        .states
        .iter()
        .flat_map(|state| state.entry.keys().map(move |name| (name.as_str(), state.name.as_str())))
    {
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        if OWN.contains(&name) || name.is_empty() || !name.chars().all(is_word) {
            return Err(wrong(format!(
                "{}: expected a name of letters, digits and _ other than {}",
                place(state, name),
                OWN.map(|own| format!("`{own}`")).join(", ")
            )));
        }
    }
    let shadowed = machine
        .inputs
        .keys()
        .find(|name| TIMES.contains(&name.as_str()) || machine.constants.contains_key(*name));
    match shadowed {
        Some(name) => {
            let message = format!("expected names that are no time or constant, found `{name}`");
            Err(Invalid::parameter("inputs", message))
        }
        None => Ok(names),
    }
}

/// Fails if a transition leads nowhere, or none to a state.
fn reached(machine: &StateMachine, names: &[&str]) -> Result<(), Invalid> {
    let mut seen = vec![false; names.len()];
    let mut next = vec![0];
    while let Some(state) = next.pop() {
        if std::mem::replace(&mut seen[state], true) {
            continue;
        }
        for way in &machine.states[state].to {
            let Some(target) = names.iter().position(|name| *name == way.to) else {
                let mut invalid = wrong(format!(
                    "`{}`: expected the name of a state, found `{}`",
                    names[state], way.to
                ));
                let near = nearest(&way.to, names.iter().copied());
                invalid.hints.extend(near.map(|near| format!("did you mean `{near}`?")));
                return Err(invalid);
            };
            next.push(target);
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(state) => Err(wrong(format!("no transition leads to the state `{}`", names[state]))),
        None => Ok(()),
    }
}

/// Fails if an input is declared that no expression reads.
fn all_used(machine: &StateMachine, found: &Found<'_>) -> Result<(), Invalid> {
    match machine.inputs.keys().find(|name| !found.reads(name)) {
        Some(name) => {
            let message = format!("no guard and no entry reads `{name}`");
            Err(Invalid::parameter("inputs", message))
        }
        None => Ok(()),
    }
}
