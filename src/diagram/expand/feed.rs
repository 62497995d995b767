//! What feeds the input of a part where nothing is connected (semantics 11): a value, or a block.

use std::sync::Arc;

use legwork_block::{
    Diagnostic, Input, Node, NodeKind, PortUnit, Scale, Span, Type, Unit, Value, code, erase,
    parse_unit,
};
use smallvec::smallvec;

use super::blocks::NewBlock;
use super::tree::{Env, Item};
use super::value::write_node;
use super::{AssertionOf, Expander, PendingAssertion};
use crate::ids::{BlockId, FrameId};
use crate::language::{Declared, wrong_type};
use crate::network::ParameterNote;

/// An input of the diagram that runs.
pub(crate) struct RootInput {
    pub(crate) name: String,
    pub(crate) doc: String,
    pub(crate) block: BlockId,
    /// The block, if it holds what is written to it.
    pub(crate) held: Option<Arc<Input>>,
    /// Whether it has a value.
    pub(crate) given: bool,
    /// Where the port is declared.
    pub(crate) span: Span,
}

/// What feeds a port.
pub(super) struct Feed {
    pub(super) block: BlockId,
    pub(super) held: Option<Arc<Input>>,
}

/// A port that is to be fed.
pub(super) struct Port<'d> {
    /// Names around the part.
    pub(super) frame: FrameId,
    /// Path of the block that feeds it.
    pub(super) path: String,
    pub(super) name: &'d str,
    pub(super) declared: &'d Declared,
    /// What names mean in its type.
    pub(super) of_types: &'d Env,
    /// Whether it may be written while the diagram runs.
    pub(super) held: bool,
}

impl Expander<'_> {
    /// Makes the block that feeds a port: `node` if it is one, else one that has the value of
    /// `node`, or none yet.
    pub(super) fn feed(&mut self, port: &Port<'_>, node: Option<&Node>, env: &Env) -> Option<Feed> {
        match node.filter(|node| node.kind_name().is_some()) {
            Some(node) => self.feeding_block(port, node, env),
            None => self.feeding_value(port, node, env),
        }
    }

    fn feeding_block(&mut self, port: &Port<'_>, node: &Node, env: &Env) -> Option<Feed> {
        // It sees no other block: its frame has no surroundings.
        let frame = self.new_frame(port.path.clone(), None, None);
        self.tree.frames[frame].owner = self.tree.frames[port.frame].owner;
        let item = self.expand_block(frame, port.path.clone(), node, env);
        let block = match item {
            Item::Block(block) if self.blocks[block].declaration.outputs.len() == 1 => block,
            Item::Broken => return None,
            _ => {
                let what = "a value, or a block with one output such as Sine(amplitude: 1.0, …)";
                self.report(wrong_type(node, what));
                return None;
            }
        };
        let code = code::WRONG_TYPE;
        let what = format!("what feeds the input `{}`", port.name);
        let of = AssertionOf::Block(block);
        self.assert_port(of, node.span, port.declared, port.of_types, what, code);
        Some(Feed { block, held: None })
    }

    fn feeding_value(&mut self, port: &Port<'_>, node: Option<&Node>, env: &Env) -> Option<Feed> {
        let Declared { ty: written, unit, .. } = port.declared;
        let (ty, var_count) = self.declared_type(written, port.of_types)?;
        let stated = match unit {
            Some(unit) => Some(self.declared_unit(unit)?),
            None => None,
        };
        let (mut value, mut found_unit) = (Vec::new(), stated);
        if let Some(node) = node {
            let given = self.value(node, env)?;
            let mut read = Reading { node, name: port.name, unit: &mut found_unit, stated };
            match read.parts(&ty, &given, &mut value) {
                Ok(()) => {}
                Err(found) => {
                    self.report(found);
                    return None;
                }
            }
        }
        // A number without unit adopts one; a vector may be of several.
        let bare = if ty == Type::Real { PortUnit::Adopted } else { PortUnit::Unspecified };
        let unit = found_unit.map_or(bare, PortUnit::from);
        let input = Input { ty, var_count, unit, value, held: port.held };
        let mut text = format!("Input({}", super::node_text(written));
        if let Some(node) = node {
            text.push_str(", ");
            // What has a value can be written.
            let _ = write_node(node, Some(env), &mut text);
        }
        text.push(')');
        let span = node.map_or(written.span, |node| node.span);
        let block = self.add_block(NewBlock {
            connected: &[],
            path: port.path.clone(),
            block: erase(input.clone()),
            span,
            parameters: smallvec![ParameterNote { name: "default".to_owned(), span, len: None }],
            text,
            hidden: !port.held,
            every: None,
            owner: self.tree.frames[port.frame].owner,
            gate: None,
            condition: None,
        })?;
        Some(Feed { block, held: port.held.then(|| Arc::new(input)) })
    }

    /// Holds what is behind a port against its declaration, once everything is expanded.
    pub(super) fn assert_port(
        &mut self,
        of: AssertionOf,
        span: Span,
        declared: &Declared,
        env: &Env,
        what: String,
        code: code::Code,
    ) {
        let Some((ty, var_count)) = self.declared_type(&declared.ty, env) else { return };
        let unit = match &declared.unit {
            Some(unit) => match self.declared_unit(unit) {
                Some(unit) => Some(unit),
                None => return,
            },
            None => None,
        };
        self.assertions.push(PendingAssertion { of, ty, var_count, unit, span, what, code });
    }

    /// The type of a port and how many variables it has; `None` if it is wrong, which is reported.
    fn declared_type(&mut self, ty: &Node, env: &Env) -> Option<(Type, u32)> {
        let NodeKind::Text(text) = &ty.kind else {
            self.report(wrong_type(ty, "a type as text, such as \"Vector(3)\", or Port(type: …)"));
            return None;
        };
        let mut var_count = 0;
        match self.types.parse(&text.value, &text.place, env, &self.robots, &mut var_count) {
            Ok(ty) => Some((ty, var_count)),
            Err(diagnostic) => {
                self.report(diagnostic);
                None
            }
        }
    }

    /// The unit of a port.
    fn declared_unit(&mut self, unit: &Node) -> Option<Unit> {
        let text = unit.text().unwrap_or_default();
        let found = match parse_unit(text) {
            Ok((found, scale)) if scale == Scale::ONE => return Some(found),
            Ok((found, _)) => {
                let message = format!("expected a unit without a prefix, found `{text}`");
                let signals = format!("signals are in SI units: write \"{found}\"");
                Diagnostic::error(code::BAD_UNIT, unit.span, message).hint(signals)
            }
            Err(error) => {
                let message = format!("expected a unit, found `{text}`: {error}");
                Diagnostic::error(code::BAD_UNIT, unit.span, message)
            }
        };
        self.report(found);
        None
    }
}

/// A value on its way into the leaves of a type.
struct Reading<'r> {
    node: &'r Node,
    name: &'r str,
    /// The unit of all of it, once one is known.
    unit: &'r mut Option<Unit>,
    /// The unit that is declared.
    stated: Option<Unit>,
}

impl Reading<'_> {
    fn wrong(&self, expected: &str, found: &Value) -> Diagnostic {
        let message =
            format!("input `{}` expected {expected}, found {}", self.name, found.describe());
        Diagnostic::error(code::WRONG_TYPE, self.node.span, message)
    }

    /// Adds the leaves of a value of the type `ty`.
    fn parts(
        &mut self,
        ty: &Type,
        value: &Value,
        parts: &mut Vec<Vec<f64>>,
    ) -> Result<(), Diagnostic> {
        match (ty, value) {
            (Type::Bus(bus), Value::Record(record)) => {
                if let Some(unknown) =
                    record.keys().find(|name| !bus.fields.iter().any(|field| field.name == **name))
                {
                    let message = format!("expected a field of {}, found `{unknown}`", bus.name);
                    let known = bus.fields.iter().map(|field| field.name.as_str());
                    return Err(Diagnostic::error(code::UNKNOWN_FIELD, self.node.span, message)
                        .suggest(unknown, known));
                }
                for field in &bus.fields {
                    let Some(value) = record.get(&field.name) else {
                        let message = format!("field `{}` of {} is missing", field.name, bus.name);
                        return Err(Diagnostic::error(
                            code::MISSING_FIELD,
                            self.node.span,
                            message,
                        ));
                    };
                    let unit = field.unit.as_deref().and_then(|unit| parse_unit(unit).ok());
                    let unit = unit.map(|(unit, _)| unit);
                    let (node, name) = (self.node, field.name.as_str());
                    Reading { node, name, unit: &mut unit.clone(), stated: unit }
                        .parts(&field.ty, value, parts)?;
                }
                Ok(())
            }
            (Type::Bus(bus), _) => {
                let fields: Vec<&str> = bus.fields.iter().map(|f| f.name.as_str()).collect();
                let expected = format!("a value of {}, ({}: …)", bus.name, fields.join(": …, "));
                Err(self.wrong(&expected, value))
            }
            (Type::Array(of, _), Value::List(items)) => {
                items.iter().try_for_each(|item| self.parts(of, item, parts))
            }
            (Type::Array(..), _) => Err(self.wrong("a list with an item for each element", value)),
            (Type::Bool, Value::Bool(value)) => {
                parts.push(vec![f64::from(*value)]);
                Ok(())
            }
            (Type::Bool, _) => Err(self.wrong("true or false", value)),
            (Type::Int, Value::Real { value: number, .. }) if number.fract() != 0.0 => {
                Err(self.wrong("a whole number", value))
            }
            (Type::Matrix(..) | Type::Rotation, Value::List(rows)) => {
                let mut columns: Vec<Vec<f64>> = Vec::new();
                for row in rows {
                    let Value::List(row) = row else { return Err(self.wrong("rows", row)) };
                    columns.resize(columns.len().max(row.len()), Vec::new());
                    for (column, item) in columns.iter_mut().zip(row) {
                        column.push(self.number(item)?);
                    }
                }
                if columns.iter().any(|column| column.len() != rows.len()) {
                    return Err(self.wrong("rows of one length", value));
                }
                parts.push(columns.concat());
                Ok(())
            }
            (Type::Pose | Type::Vector(_), Value::List(items)) => {
                let numbers: Result<Vec<f64>, _> =
                    items.iter().map(|item| self.number(item)).collect();
                parts.push(numbers?);
                Ok(())
            }
            (Type::Pose | Type::Rotation, _) => Err(self.wrong("a list of numbers", value)),
            _ => {
                parts.push(vec![self.number(value)?]);
                Ok(())
            }
        }
    }

    fn number(&mut self, value: &Value) -> Result<f64, Diagnostic> {
        let &Value::Real { value: number, unit } = value else {
            return Err(self.wrong("a number", value));
        };
        match (*self.unit, unit) {
            (Some(known), Some(found)) if !known.agrees(found) => {
                let message =
                    format!("input `{}` expected the unit {known}, found {found}", self.name);
                Err(Diagnostic::error(code::UNIT_MISMATCH, self.node.span, message))
            }
            (Some(known), None) if self.stated.is_some() && number != 0.0 && known != Unit::ONE => {
                let message =
                    format!("input `{}` expected the unit {known}, found none", self.name);
                let hint = format!("write \"{number} {known}\"");
                Err(Diagnostic::error(code::UNIT_MISMATCH, self.node.span, message).hint(hint))
            }
            (known, found) => {
                *self.unit = known.or(found);
                if number.is_finite() {
                    return Ok(number);
                }
                Err(self.wrong("a finite number", value))
            }
        }
    }
}
