//! Types as text: `Vector(3*len(go.feet))`, `State(go)`, `ContactPoints`, `Array(Real, 4)`.

use std::collections::BTreeMap;

use legwork_block::{
    Diagnostic, Expression, NamedType, Place, Resources, Scope, Type, TypeMaker, Value, Var, code,
};

use crate::expand::Robots;
use crate::language::Word;

/// The types that a diagram may name: those of the blocks' library and its own buses.
#[derive(Default, Clone)]
pub(crate) struct TypeTable {
    pub(crate) named: Vec<NamedType>,
    /// Each with the number of its variables, which count from 0.
    pub(crate) buses: BTreeMap<String, (Type, u32)>,
}

/// No resources: for types that are named without arguments.
struct Nothing;

impl Resources for Nothing {
    fn resource(&self, _: &str) -> Option<&std::sync::Arc<dyn legwork_block::Resource>> {
        None
    }
    fn resource_names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Most parentheses in the text of a type.
const NESTING_LIMIT: usize = 50;

/// The types that the language itself knows, by name and by how they are written.
const BASIC: [(&str, Word); 8] = [
    ("Real", Word { name: "Real", doc: "a number" }),
    ("Bool", Word { name: "Bool", doc: "true or false" }),
    ("Int", Word { name: "Int", doc: "a whole number" }),
    ("Vector", Word { name: "Vector(n)", doc: "a column of n numbers" }),
    ("Matrix", Word { name: "Matrix(rows, columns)", doc: "a matrix" }),
    ("Rotation", Word { name: "Rotation", doc: "a rotation matrix, 3 by 3" }),
    (
        "Pose",
        Word { name: "Pose", doc: "fields `rotation`, a rotation matrix, and `position` [m]" },
    ),
    ("Array", Word { name: "Array(type, n)", doc: "n signals of one type, such as one per foot" }),
];

/// The manual of the types that need no library.
pub fn basic_types() -> impl Iterator<Item = Word> {
    BASIC.into_iter().map(|(_, word)| word)
}

impl TypeTable {
    /// The type `name` with fresh variables from `next_var` on.
    pub(crate) fn bus(&self, name: &str, next_var: &mut u32) -> Option<Type> {
        if let Some(ty) = self.own_bus(name, next_var) {
            return Some(ty);
        }
        let named = self.named.iter().find(|named| named.name == name)?;
        Some((named.make)(&mut TypeMaker::new(&Nothing, Vec::new(), next_var)))
    }

    /// A bus of the diagram's own, with fresh variables.
    fn own_bus(&self, name: &str, next_var: &mut u32) -> Option<Type> {
        let (ty, var_count) = self.buses.get(name)?;
        let shifted = ty.shift(*next_var);
        *next_var += var_count;
        Some(shifted)
    }

    /// Parses a type; unwritten dimensions and arguments become variables from `next_var` on.
    pub(crate) fn parse(
        &self,
        text: &str,
        place: &Place,
        scope: &dyn Scope,
        robots: &Robots,
        next_var: &mut u32,
    ) -> Result<Type, Diagnostic> {
        let here = place.part(0, text.len());
        if text.matches('(').count() > NESTING_LIMIT {
            let message = format!("more than {NESTING_LIMIT} parentheses in a type");
            return Err(Diagnostic::error(code::BAD_TYPE, here, message));
        }
        let trimmed = text.trim();
        let (name, args) = match trimmed.split_once('(') {
            None => (trimmed, Vec::new()),
            Some((name, rest)) => {
                let Some(inside) = rest.strip_suffix(')') else {
                    let message = format!("expected `)` at the end of the type `{text}`");
                    return Err(Diagnostic::error(code::BAD_TYPE, here, message));
                };
                (name.trim(), split_arguments(inside))
            }
        };
        let offset = |part: &str| part.as_ptr() as usize - text.as_ptr() as usize;
        let count = |allowed: std::ops::RangeInclusive<usize>| {
            if allowed.contains(&args.len()) {
                return Ok(());
            }
            let (least, most) = (allowed.start(), allowed.end());
            let range =
                if least == most { format!("{least}") } else { format!("{least} to {most}") };
            let message = format!("`{name}` takes {range} arguments, found {}", args.len());
            Err(Diagnostic::error(code::BAD_TYPE, here, message))
        };
        let fresh = |next_var: &mut u32| {
            *next_var += 1;
            legwork_block::Dim::var(Var(*next_var - 1))
        };
        let dim = |i: usize, next_var: &mut u32| match args.get(i) {
            None => Ok(fresh(next_var)),
            Some(arg) => dimension(text, arg, offset(arg), place, scope),
        };
        match name {
            "Real" => count(0..=0).map(|()| Type::Real),
            "Bool" => count(0..=0).map(|()| Type::Bool),
            "Int" => count(0..=0).map(|()| Type::Int),
            "Rotation" => count(0..=0).map(|()| Type::Rotation),
            "Pose" => count(0..=0).map(|()| Type::Pose),
            "Vector" => {
                count(0..=1)?;
                Ok(Type::Vector(dim(0, next_var)?))
            }
            "Matrix" => {
                count(0..=2)?;
                Ok(Type::Matrix(dim(0, next_var)?, dim(1, next_var)?))
            }
            "Array" => {
                count(1..=2)?;
                let start = offset(args[0]);
                let inner = Place::from(place.part(start, start + args[0].len()));
                let of = self.parse(args[0], &inner, scope, robots, next_var)?;
                let array = Type::Array(Box::new(of), dim(1, next_var)?);
                if leaves(&array) > LEAF_LIMIT {
                    let message = format!("a type of more than {LEAF_LIMIT} parts");
                    return Err(Diagnostic::error(code::TOO_LARGE, here, message));
                }
                Ok(array)
            }
            _ => self.named(name, &args, here, scope, robots, next_var),
        }
    }

    fn named(
        &self,
        name: &str,
        args: &[&str],
        here: legwork_block::Span,
        scope: &dyn Scope,
        robots: &Robots,
        next_var: &mut u32,
    ) -> Result<Type, Diagnostic> {
        if args.is_empty()
            && let Some(ty) = self.own_bus(name, next_var)
        {
            return Ok(ty);
        }
        let Some(named) = self.named.iter().find(|named| named.name == name) else {
            let known: Vec<&str> = BASIC
                .iter()
                .map(|(name, _)| *name)
                .chain(self.named.iter().map(|named| named.name))
                .chain(self.buses.keys().map(String::as_str))
                .collect();
            let message = format!("expected a type or the name of a bus, found `{name}`");
            return Err(Diagnostic::error(code::UNKNOWN_BUS, here, message)
                .suggest(name, known.iter().copied())
                .hint(format!("known are `{}`", known.join("`, `"))));
        };
        if args.len() > named.max_args {
            let message =
                format!("`{name}` takes up to {} arguments, found {}", named.max_args, args.len());
            return Err(Diagnostic::error(code::BAD_TYPE, here, message));
        }
        let mut names = Vec::new();
        for arg in args {
            // A mask's parameter that holds a robot stands for the robot.
            let robot = match scope.lookup(arg) {
                Some(Value::Text(text)) => text,
                Some(Value::Record(facts)) => match facts.get("name") {
                    Some(Value::Text(text)) => text.clone(),
                    _ => (*arg).to_owned(),
                },
                _ => (*arg).to_owned(),
            };
            if robots.resource(&robot).is_none() {
                let names = robots.resource_names();
                let message = format!("expected the name of a robot, found `{robot}`");
                let found = Diagnostic::error(code::UNKNOWN_ROBOT, here, message)
                    .suggest(&robot, names.iter().map(String::as_str));
                return Err(Diagnostic { follows: robots.is_failed(&robot), ..found });
            }
            names.push(robot);
        }
        Ok((named.make)(&mut TypeMaker::new(robots, names, next_var)))
    }
}

/// Most signals that one type may hold.
pub(crate) const LEAF_LIMIT: u64 = 20_000;

/// How many signals a type holds; what is unknown counts once.
pub(crate) fn leaves(ty: &Type) -> u64 {
    match ty {
        Type::Bus(bus) => bus.fields.iter().map(|field| leaves(&field.ty)).sum(),
        Type::Array(of, n) => leaves(of).saturating_mul(n.known().unwrap_or(1) as u64),
        _ => 1,
    }
}

fn dimension(
    text: &str,
    arg: &str,
    offset: usize,
    place: &Place,
    scope: &dyn Scope,
) -> Result<legwork_block::Dim, Diagnostic> {
    let span = place.part(offset, offset + arg.len());
    let value = Expression::parse_from(&text[..offset + arg.len()], offset, place)?.eval(scope)?;
    match value {
        Value::Real { value, unit: None }
            if value >= 0.0 && value.fract() == 0.0 && value < 1e9 =>
        {
            Ok(legwork_block::Dim::fixed(value as usize))
        }
        other => Err(Diagnostic::error(
            code::BAD_TYPE,
            span,
            format!("expected a whole number as a dimension, found {}", other.describe()),
        )),
    }
}

/// Splits at commas outside parentheses.
pub(crate) fn split_arguments(inside: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut start) = (0usize, 0);
    for (i, c) in inside.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(inside[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}
