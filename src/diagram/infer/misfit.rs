//! Wires that do not fit: what is told of them, and what helps.

use legwork_block::{Diagnostic, Dim, Type, code};

use super::Open;
use super::wire::Carried;
use crate::ids::{BlockId, OutputId};
use crate::network::{Network, Select, Source, Wire};
use crate::unify::{Solution, readable};

/// What helps where a truth value meets a block that computes.
pub(super) const TRUTH_HINT: &str =
    "`Switch(criterion: True)` chooses between two numbers by a truth value";

/// What helps where a number meets a port that takes a truth value.
pub(super) const NUMBER_HINT: &str = "`Compare` makes a truth value of a number";

/// What helps where an array meets a port that takes a vector.
pub(super) const ARRAY_HINT: &str =
    "`Concat(\"…\")` in `collect:` makes one vector of what the copies show, `Array` an array";

/// Whether an array of numbers or vectors stands where a vector is wanted.
pub(super) fn is_array_for_vector(expected: &Type, found: &Type) -> bool {
    let is_plain = |of: &Type| matches!(of, Type::Real | Type::Vector(_));
    matches!((expected, found), (Type::Vector(_), Type::Array(of, _)) if is_plain(of))
}

/// What helps where a number meets a port that takes a vector.
pub(super) fn number_hint(n: &Dim) -> Option<String> {
    let n = n.known()?;
    Some(format!(
        "`Constant(value: \"=repeat(x, {n})\")` is a vector of {n} equal numbers; \
         `Concat` makes one of numbers"
    ))
}

/// A wire that does not fit the input that reads it.
pub(super) struct Misfit {
    /// The block of the input.
    pub(super) block: BlockId,
    /// The blocks that the wire reads.
    pub(super) sources: Vec<BlockId>,
    /// Whether a parameter of the block, a list, gives its input the length that does not fit.
    pub(super) by_parameter: bool,
    /// The output of which it takes the part of a copy.
    pub(super) shares: Option<(BlockId, OutputId)>,
    pub(super) diagnostic: Diagnostic,
}

/// The output of which a source takes the part of a copy.
pub(super) fn shared_part(source: &Source) -> Option<(BlockId, OutputId)> {
    let Source::Port(part) = source else { return None };
    let is_part = |step: &Select| matches!(step, Select::Part { .. });
    part.select.iter().any(is_part).then_some((part.block, part.output))
}

/// Makes what a wire carries fit the input that reads it; what does not fit.
pub(super) fn fit(
    network: &Network,
    solution: &mut Solution,
    open: Open,
    found: &Carried,
    wire: &Wire,
) -> Option<Misfit> {
    let span = wire.span;
    let misfit = |diagnostic, by_parameter| {
        let mut sources = Vec::new();
        wire.source.each_port(&mut |port| sources.push(port.block));
        let shares = shared_part(&wire.source);
        Some(Misfit { block: open.block, sources, by_parameter, shares, diagnostic })
    };
    let block = &network.blocks[open.block];
    let input = &block.declaration.inputs[open.input];
    let port = || format!("{}.{}", block.path, input.name);
    // A whole number is a number, unless a whole one is asked for, or what the compiler made, as the
    // results of a function, takes anything.
    let widens = found.ty == Type::Int
        && match solution.ty(&input.ty) {
            Type::Int => false,
            Type::Var(_) => !block.hidden,
            _ => true,
        };
    let given = if widens { &Type::Real } else { &found.ty };
    if let Err(mismatch) = solution.types(&input.ty, given) {
        let (expected, found) = (solution.ty(&input.ty), solution.ty(&found.ty));
        let (wanted, given) = (readable(&expected), readable(&found));
        let message = format!("`{}` expected {wanted}, found {given}", port());
        let same_kind = std::mem::discriminant(&expected) == std::mem::discriminant(&found);
        let code = if same_kind && !matches!(found, Type::Bus(_)) {
            code::WRONG_SHAPE
        } else {
            code::WRONG_TYPE
        };
        let mut diagnostic = Diagnostic::error(code, span, message);
        if let Some(inside) = mismatch.inside {
            diagnostic = diagnostic.label(inside);
        }
        if (&expected, &found) == (&Type::Real, &Type::Bool) {
            diagnostic = diagnostic.hint(TRUTH_HINT);
        }
        if (&expected, &found) == (&Type::Bool, &Type::Real) {
            diagnostic = diagnostic.hint(NUMBER_HINT);
        }
        if is_array_for_vector(&expected, &found) {
            diagnostic = diagnostic.hint(ARRAY_HINT);
        }
        if let (Type::Vector(n), Type::Real | Type::Int) = (&expected, &found) {
            if !input.argument_hint.is_empty() {
                diagnostic = diagnostic.hint(&*input.argument_hint);
            } else if let Some(hint) = number_hint(n) {
                diagnostic = diagnostic.hint(hint);
            }
        }
        if let (Type::Bus(expected), Type::Bus(found)) = (expected, found)
            && expected.name == found.name
            && expected.args != found.args
            && !input.argument_hint.is_empty()
        {
            diagnostic = diagnostic.hint(&*input.argument_hint);
        }
        let parameter = block.parameters.iter().find(|parameter| {
            let len = parameter.len.map(Type::vector);
            len.is_some_and(|ty| solution.ty(&input.ty) == ty)
        });
        if let Some(parameter) = parameter {
            let len = parameter.len.unwrap_or_default();
            let note = format!("`{}` has {len} elements", parameter.name);
            diagnostic = diagnostic.also(parameter.span, note);
        }
        return misfit(diagnostic, parameter.is_some());
    }
    let (expected, found) = (input.frame.as_ref()?, found.frame.as_ref()?);
    if expected == found {
        return None;
    }
    let message = format!("`{}` expected the frame `{expected}`, found `{found}`", port());
    misfit(Diagnostic::error(code::WRONG_FRAME, span, message), false)
}
