//! What a source carries: type, unit, frame.

use legwork_block::{Diagnostic, Dim, PortUnit, Type, Unit, Var, parse_unit};

use super::TypedNetwork;
use crate::network::{PortPath, Source};
use crate::select::{Selected, select};
use crate::unify::{Solution, UnitTerm, readable};

/// Code of what only follows from another mistake.
pub(super) const FOLLOW_UP: &str = "follow-up";

/// A value on a wire: type, unit, frame.
pub(super) struct Wire {
    pub(super) ty: Type,
    pub(super) unit: UnitTerm,
    pub(super) frame: Option<String>,
}

pub(super) fn unit_term(unit: &PortUnit) -> UnitTerm {
    match unit {
        PortUnit::Unspecified => UnitTerm::Unspecified,
        PortUnit::Var(var) => UnitTerm::Var(*var),
        PortUnit::Is(text) => known_unit(text),
    }
}

/// The unit of a port as text, once it is known.
pub(crate) fn unit_text(unit: &PortUnit) -> Option<String> {
    match unit {
        PortUnit::Is(text) => Some(text.clone()),
        PortUnit::Unspecified | PortUnit::Var(_) => None,
    }
}

/// The unit that a block's author wrote. A text that is no unit says nothing, so that a slip in a
/// third party's block keeps nobody from running.
fn known_unit(text: &str) -> UnitTerm {
    parse_unit(text).map_or(UnitTerm::Unspecified, |(unit, _): (Unit, _)| UnitTerm::Is(unit))
}

/// What a source carries; `None` if that is not known yet.
pub(super) fn wire(
    network: &TypedNetwork,
    solution: &mut Solution,
    source: &Source,
    next_var: &mut u32,
) -> Option<Result<Wire, Box<Diagnostic>>> {
    match source {
        Source::Port(path) => port(network, solution, path),
        Source::Array { items, .. } => {
            let element = Type::Var(Var(*next_var));
            *next_var += 1;
            solution.grow(*next_var);
            let mut unit = None;
            let mut frame = None;
            for item in items {
                let found = match wire(network, solution, item, next_var)? {
                    Ok(found) => found,
                    Err(diagnostic) => return Some(Err(diagnostic)),
                };
                if solution.types(&element, &found.ty).is_err() {
                    return Some(Err(Box::new(Diagnostic::error(
                        "wrong-type",
                        item.span(),
                        format!(
                            "expected all copies to be {}, found {}",
                            readable(&solution.ty(&element)),
                            readable(&solution.ty(&found.ty))
                        ),
                    ))));
                }
                unit = unit.or(Some(found.unit));
                frame = found.frame;
            }
            Some(Ok(Wire {
                ty: Type::array(element, items.len()),
                unit: unit.unwrap_or(UnitTerm::Unspecified),
                frame,
            }))
        }
        Source::Join { items, .. } => join(network, solution, items, next_var),
        Source::Bus { name, fields, span } => {
            let Some(bus_type) = network.named_types.bus(name, next_var) else {
                return Some(Err(Box::new(Diagnostic::error(
                    "unknown-bus",
                    *span,
                    format!("expected the name of a bus, found `{name}`"),
                ))));
            };
            solution.grow(*next_var);
            let Type::Bus(bus) = &bus_type else {
                return Some(Err(Box::new(Diagnostic::error(
                    "unknown-bus",
                    *span,
                    format!("expected the name of a bus, found `{name}`, which is {bus_type}"),
                ))));
            };
            for field in &bus.fields {
                let Some((_, source)) = fields.iter().find(|(name, _)| *name == field.name) else {
                    return Some(Err(Box::new(Diagnostic::error(
                        "missing-field",
                        *span,
                        format!("field `{}` of {bus_type} is missing", field.name),
                    ))));
                };
                let found = match wire(network, solution, source, next_var)? {
                    Ok(found) => found,
                    Err(diagnostic) => return Some(Err(diagnostic)),
                };
                if solution.types(&field.ty, &found.ty).is_err() {
                    return Some(Err(Box::new(Diagnostic::error(
                        "wrong-type",
                        source.span(),
                        format!(
                            "field `{}` of {bus_type} expected {}, found {}",
                            field.name,
                            readable(&solution.ty(&field.ty)),
                            readable(&solution.ty(&found.ty))
                        ),
                    ))));
                }
                let expected = field.unit.as_deref().map_or(UnitTerm::Unspecified, known_unit);
                if let Err((expected, found)) = solution.units(expected, found.unit) {
                    return Some(Err(Box::new(Diagnostic::error(
                        "unit-mismatch",
                        source.span(),
                        format!(
                            "field `{}` of {bus_type} expected the unit {expected}, found {found}",
                            field.name
                        ),
                    ))));
                }
            }
            for (name, source) in fields {
                if !bus.fields.iter().any(|field| field.name == *name) {
                    return Some(Err(Box::new(
                        Diagnostic::error(
                            "unknown-field",
                            source.span(),
                            format!("expected a field of {bus_type}, found `{name}`"),
                        )
                        .suggest(name, bus.fields.iter().map(|field| field.name.as_str())),
                    )));
                }
            }
            Some(Ok(Wire { ty: bus_type, unit: UnitTerm::Unspecified, frame: None }))
        }
    }
}

/// The array of all elements of `items`. An item that is no array is one element.
fn join(
    network: &TypedNetwork,
    solution: &mut Solution,
    items: &[Source],
    next_var: &mut u32,
) -> Option<Result<Wire, Box<Diagnostic>>> {
    let element = Type::Var(Var(*next_var));
    *next_var += 1;
    solution.grow(*next_var);
    let mut count = Dim::fixed(0);
    let mut unit = None;
    let mut frame = None;
    for item in items {
        let found = match wire(network, solution, item, next_var)? {
            Ok(found) => found,
            Err(diagnostic) => return Some(Err(diagnostic)),
        };
        let (of, n) = match solution.ty(&found.ty) {
            Type::Var(_) => return None,
            Type::Array(of, n) => (*of, n),
            one => (one, Dim::fixed(1)),
        };
        if solution.types(&element, &of).is_err() {
            return Some(Err(Box::new(Diagnostic::error(
                "wrong-type",
                item.span(),
                format!(
                    "expected all elements to be {}, found {}",
                    readable(&solution.ty(&element)),
                    readable(&solution.ty(&of))
                ),
            ))));
        }
        count = count + n;
        unit = unit.or(Some(found.unit));
        frame = found.frame;
    }
    let unit = unit.unwrap_or(UnitTerm::Unspecified);
    Some(Ok(Wire { ty: Type::array(element, count), unit, frame }))
}

fn port(
    network: &TypedNetwork,
    solution: &Solution,
    path: &PortPath,
) -> Option<Result<Wire, Box<Diagnostic>>> {
    let (_, _, output) = match find_output(network, path) {
        Ok(found) => found,
        Err(diagnostic) => return Some(Err(diagnostic)),
    };
    let ty = solution.ty(&output.ty);
    if path.select.is_empty() {
        return Some(Ok(Wire { ty, unit: unit_term(&output.unit), frame: output.frame.clone() }));
    }
    let selected = match select(&ty, &path.select, path.span)? {
        Ok(selected) => selected,
        Err(diagnostic) => return Some(Err(Box::new(diagnostic))),
    };
    // Elements and slices of a vector keep the port's unit; fields bring their own.
    let Selected { ty, unit, frame, .. } = selected;
    let is_part = !path.select.iter().any(|s| matches!(s, crate::network::Select::Field(_)));
    Some(Ok(Wire {
        ty,
        unit: match unit {
            Some(text) => known_unit(&text),
            None if is_part => unit_term(&output.unit),
            None => UnitTerm::Unspecified,
        },
        frame: frame.or_else(|| if is_part { output.frame.clone() } else { None }),
    }))
}

/// Block, port index and declaration of the output that a path names.
pub(crate) fn find_output<'n>(
    network: &'n TypedNetwork,
    path: &PortPath,
) -> Result<(usize, usize, &'n legwork_block::OutputDeclaration), Box<Diagnostic>> {
    let Some(&block_index) = network.index.get(&path.block) else {
        // The block exists in the text but its plan failed, which is reported already; or it does
        // not exist, which expansion has reported with its scope.
        return Err(Box::new(Diagnostic::error(
            FOLLOW_UP,
            path.span,
            format!("block `{}` is not there, or has mistakes of its own", path.block),
        )));
    };
    let block = &network.blocks[block_index];
    let outputs = &block.declaration.outputs;
    match outputs.iter().position(|output| output.name == path.port) {
        Some(i) => Ok((block_index, i, &outputs[i])),
        None => {
            let names: Vec<&str> = outputs.iter().map(|output| output.name.as_str()).collect();
            let diagnostic = Diagnostic::error(
                "unknown-port",
                path.span,
                format!(
                    "no output `{}` on `{}` ({})",
                    path.port,
                    path.block,
                    block.network.block.kind()
                ),
            )
            .suggest(&path.port, names.iter().copied());
            if block.declaration.functions.iter().any(|function| function.name == path.port) {
                let advice = "it is a function, whose signals live only inside a call";
                return Err(Box::new(diagnostic.hint(advice)));
            }
            Err(Box::new(if names.is_empty() {
                diagnostic.hint("it has no outputs")
            } else {
                diagnostic.hint(format!("it has `{}`", names.join("`, `")))
            }))
        }
    }
}
