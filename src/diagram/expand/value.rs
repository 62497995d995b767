//! The values of nodes: evaluated, made literal, written as text.

use std::fmt::Write as _;
use std::sync::Arc;

use legwork_block::{
    Arguments, Choice, ChoiceArguments, Diagnostic, Expression, Named, Node, NodeField, NodeKind,
    Scale, Scope, Unit, Value, code, parse_quantity, parse_unit,
};
use legwork_program::Ratio;

use super::Expander;
use super::tree::Env;
use crate::language::{Text, wrong_type};

impl Expander<'_> {
    /// A plain number.
    pub(super) fn number(&mut self, node: &Node, env: &Env) -> Option<f64> {
        match self.value(node, env)? {
            Value::Real { value, unit: None } => Some(value),
            other => {
                let message = format!("expected a plain number, found {}", other.describe());
                self.report(Diagnostic::error(code::WRONG_TYPE, node.span, message));
                None
            }
        }
    }

    /// A number with its unit.
    pub(super) fn quantity(&mut self, node: &Node, env: &Env) -> Option<(f64, Option<Unit>)> {
        match self.value(node, env)? {
            Value::Real { value, unit } => Some((value, unit)),
            other => {
                let message = format!("expected a number, found {}", other.describe());
                self.report(Diagnostic::error(code::WRONG_TYPE, node.span, message));
                None
            }
        }
    }

    /// An exact time [s]; with `rate`, a frequency stands for its period.
    pub(super) fn seconds(&mut self, node: &Node, env: &Env, rate: bool) -> Option<Ratio> {
        let value = self.value(node, env)?;
        let seconds = match value {
            Value::Real { value, unit } => match unit {
                None => Ratio::from_decimal(value),
                Some(unit) if unit == Unit::SECOND => Ratio::from_decimal(value),
                Some(unit) if rate && unit == Unit::HERTZ => {
                    Ratio::from_decimal(value).and_then(Ratio::inverse)
                }
                Some(unit) => {
                    let message = format!("expected a time in s, found the unit {unit}");
                    self.report(Diagnostic::error(code::UNIT_MISMATCH, node.span, message));
                    return None;
                }
            },
            other => {
                let message =
                    format!("expected a time such as \"1 ms\", found {}", other.describe());
                self.report(Diagnostic::error(code::WRONG_TYPE, node.span, message));
                return None;
            }
        };
        if seconds.is_none() {
            let message = "expected a time that is finite and not too finely divided";
            self.report(Diagnostic::error(code::OUT_OF_RANGE, node.span, message));
        }
        seconds
    }

    /// The value of a node: literals, quantities, `=` expressions; `None` is reported.
    pub(super) fn value(&mut self, node: &Node, env: &dyn Scope) -> Option<Value> {
        match evaluate(node, env) {
            Ok(value) => Some(value),
            Err(diagnostic) => {
                self.report(*diagnostic);
                None
            }
        }
    }
}

/// The value of a node: literals, quantities, `=` expressions, lists and records of them.
pub(crate) fn evaluate(node: &Node, scope: &dyn Scope) -> Result<Value, Box<Diagnostic>> {
    match &node.kind {
        NodeKind::Bool(value) => Ok(Value::Bool(*value)),
        NodeKind::Number(number) => Ok(Value::Real { value: number.value, unit: number.unit }),
        NodeKind::Text(text) => match text.value.strip_prefix('=') {
            Some(_) => Expression::parse_from(&text.value, 1, &text.place)
                .and_then(|expression| expression.eval(scope))
                .map_err(Box::new),
            None => match parse_quantity(&text.value) {
                Ok((value, unit)) => Ok(Value::Real { value, unit }),
                Err(_) => Ok(Value::Text(text.value.clone())),
            },
        },
        NodeKind::List(items) => Ok(Value::List(
            items.iter().map(|item| evaluate(item, scope)).collect::<Result<_, _>>()?,
        )),
        NodeKind::Unit => Ok(Value::List(Vec::new())),
        NodeKind::Map(entries) => {
            let mut record = Vec::new();
            for (key, value) in entries {
                let key = key.text().ok_or_else(|| Box::new(wrong_type(key, "a name as text")))?;
                record.push((key.to_owned(), evaluate(value, scope)?));
            }
            Ok(Value::record(record))
        }
        NodeKind::Named(Named { name: None, arguments: Arguments::Fields(fields) }) => {
            let mut record = Vec::new();
            for field in fields {
                record.push((field.name.text.clone(), evaluate(&field.value, scope)?));
            }
            Ok(Value::record(record))
        }
        NodeKind::Named(Named { name: Some(name), arguments: Arguments::None }) => {
            Ok(Value::Text(name.text.clone()))
        }
        NodeKind::Named(Named { name: Some(name), arguments }) => {
            let arguments = match arguments {
                Arguments::Positional(items) => ChoiceArguments::Positional(
                    items.iter().map(|item| evaluate(item, scope)).collect::<Result<_, _>>()?,
                ),
                Arguments::Fields(fields) => ChoiceArguments::Fields(
                    fields
                        .iter()
                        .map(|field| Ok((field.name.text.clone(), evaluate(&field.value, scope)?)))
                        .collect::<Result<_, Box<Diagnostic>>>()?,
                ),
                Arguments::None => ChoiceArguments::Positional(Vec::new()),
            };
            Ok(Value::Choice(Arc::new(Choice { name: name.text.clone(), arguments })))
        }
        NodeKind::Named(_) => Err(Box::new(wrong_type(node, "a value"))),
    }
}

/// A node with every `=` expression replaced by its value, so that it means the same elsewhere.
pub(super) fn literal(node: &Node, scope: &dyn Scope) -> Result<Node, Box<Diagnostic>> {
    let kind = match &node.kind {
        NodeKind::Text(text) if text.value.starts_with('=') => {
            return Ok(evaluate(node, scope)?.to_node(node.span));
        }
        NodeKind::List(items) => {
            NodeKind::List(items.iter().map(|item| literal(item, scope)).collect::<Result<_, _>>()?)
        }
        NodeKind::Map(entries) => NodeKind::Map(
            entries
                .iter()
                .map(|(key, value)| Ok((key.clone(), literal(value, scope)?)))
                .collect::<Result<_, Box<Diagnostic>>>()?,
        ),
        NodeKind::Named(named) => NodeKind::Named(Named {
            name: named.name.clone(),
            arguments: match &named.arguments {
                Arguments::Fields(fields) => Arguments::Fields(
                    fields
                        .iter()
                        .map(|field| {
                            Ok(NodeField {
                                name: field.name.clone(),
                                value: literal(&field.value, scope)?,
                            })
                        })
                        .collect::<Result<_, Box<Diagnostic>>>()?,
                ),
                Arguments::Positional(args) => Arguments::Positional(
                    args.iter().map(|arg| literal(arg, scope)).collect::<Result<_, _>>()?,
                ),
                Arguments::None => Arguments::None,
            },
        }),
        other => other.clone(),
    };
    Ok(Node { span: node.span, kind })
}

/// `node` with `fields` in place of its own of the same names, or beside them.
pub(super) fn with_fields(node: &Node, fields: impl IntoIterator<Item = NodeField>) -> Node {
    let NodeKind::Named(Named { name, .. }) = &node.kind else { return node.clone() };
    let mut all = node.fields().to_vec();
    for field in fields {
        match all.iter_mut().find(|known| known.name.text == field.name.text) {
            Some(known) => *known = field,
            None => all.push(field),
        }
    }
    let name = name.clone();
    let kind = NodeKind::Named(Named { name, arguments: Arguments::Fields(all) });
    Node { span: node.span, kind }
}

/// The value of the parameter `name`, which declares a unit: those of its numbers that have none
/// take it.
///
/// # Errors
/// If one has another, or the declaration is no unit.
pub(super) fn in_unit(
    name: &str,
    unit: &Text<'_>,
    node: &Node,
    value: Value,
) -> Result<Value, Box<Diagnostic>> {
    let declared = match parse_unit(unit.value) {
        Ok((declared, Scale::ONE)) => declared,
        Ok((declared, _)) => {
            let message = format!("expected a unit without a factor, found {}", unit.value);
            let found = Diagnostic::error(code::UNIT, unit.node.span, message);
            return Err(Box::new(found.hint(format!("write \"{declared}\""))));
        }
        Err(error) => {
            let found = Diagnostic::error(code::UNIT, unit.node.span, error.message);
            return Err(Box::new(Diagnostic { hints: error.hint.into_iter().collect(), ..found }));
        }
    };
    if let Value::Text(text) = &value
        && let Err(error) = parse_quantity(text)
    {
        let found = Diagnostic::error(code::PARAMETER, node.span, error.message);
        return Err(Box::new(Diagnostic { hints: error.hint.into_iter().collect(), ..found }));
    }
    adopt(declared, value).map_err(|found| {
        let message = format!("parameter `{name}` expected the unit {}, found {found}", unit.value);
        Box::new(
            Diagnostic::error(code::UNIT_MISMATCH, node.span, message)
                .also(unit.node.span, "declared here"),
        )
    })
}

/// The value with this unit on every number; the unit that does not fit.
fn adopt(unit: Unit, value: Value) -> Result<Value, Unit> {
    match value {
        Value::Real { unit: Some(found), .. } if !found.agrees(unit) => Err(found),
        Value::Real { value, unit: None } => Ok(Value::quantity(value, unit)),
        Value::List(items) => items
            .into_iter()
            .map(|item| adopt(unit, item))
            .collect::<Result<_, _>>()
            .map(Value::List),
        other => Ok(other),
    }
}

/// A node as text.
pub(crate) fn node_text(node: &Node) -> String {
    let mut text = String::new();
    // What is not evaluated cannot be wrong.
    let _ = write_node(node, None, &mut text);
    text
}

/// Writes a node behind `text`, with every `=` expression replaced by its value in `scope`.
pub(super) fn write_node(
    node: &Node,
    scope: Option<&dyn Scope>,
    text: &mut String,
) -> Result<(), Box<Diagnostic>> {
    // Writing to a String cannot fail.
    match (&node.kind, scope) {
        (NodeKind::Text(source), Some(scope)) if source.value.starts_with('=') => {
            write_node(&evaluate(node, scope)?.to_node(node.span), None, text)?;
        }
        (NodeKind::Unit, _) => text.push_str("()"),
        (NodeKind::Bool(value), _) => text.push_str(if *value { "true" } else { "false" }),
        (NodeKind::Number(number), _) => {
            let _ = match number.unit {
                Some(unit) => write!(text, "\"{} {unit}\"", number.text),
                None => text.write_str(&number.text),
            };
        }
        (NodeKind::Text(source), _) => {
            let _ = write!(text, "{:?}", source.value);
        }
        (NodeKind::List(items), _) => {
            write_list(['[', ']'], items, text, |item, text| write_node(item, scope, text))?;
        }
        (NodeKind::Map(entries), _) => {
            write_list(['{', '}'], entries, text, |(key, value), text| {
                write_node(key, None, text)?;
                text.push_str(": ");
                write_node(value, scope, text)
            })?;
        }
        (NodeKind::Named(named), _) => {
            text.push_str(named.name.as_ref().map_or("", |name| &name.text));
            let round = ['(', ')'];
            match &named.arguments {
                Arguments::None => {}
                Arguments::Positional(items) => {
                    write_list(round, items, text, |item, text| write_node(item, scope, text))?;
                }
                Arguments::Fields(fields) => {
                    write_list(round, fields, text, |field, text| write_field(field, scope, text))?;
                }
            }
        }
    }
    Ok(())
}

/// Writes `name: value`.
pub(super) fn write_field(
    field: &NodeField,
    scope: Option<&dyn Scope>,
    text: &mut String,
) -> Result<(), Box<Diagnostic>> {
    text.push_str(&field.name.text);
    text.push_str(": ");
    write_node(&field.value, scope, text)
}

/// Writes items between brackets, with commas between them.
pub(super) fn write_list<T>(
    [open, close]: [char; 2],
    items: impl IntoIterator<Item = T>,
    text: &mut String,
    mut write: impl FnMut(T, &mut String) -> Result<(), Box<Diagnostic>>,
) -> Result<(), Box<Diagnostic>> {
    text.push(open);
    for (i, item) in items.into_iter().enumerate() {
        text.push_str(if i > 0 { ", " } else { "" });
        write(item, text)?;
    }
    text.push(close);
    Ok(())
}
