//! Units of ports that follow from those of others.

use legwork_block::quantity::{Scalar, Tensor};
use legwork_block::{Invalid, PortUnit, Ports, SymbolicUnit, Unit};

/// A unit that is to be inferred.
pub(crate) fn open(ports: &mut Ports<'_>) -> SymbolicUnit {
    ports.var().into()
}

/// This unit, or without it one that is to be inferred.
pub(crate) fn known_or_open(unit: Option<Unit>, ports: &mut Ports<'_>) -> SymbolicUnit {
    unit.map_or_else(|| open(ports), SymbolicUnit::from)
}

/// The unit of the parameter `name` that is a factor between the block's ports. Without unit it is
/// a pure number or a power of time, as they ask; zero has every unit.
pub(crate) fn factor(name: &'static str, value: &Tensor, ports: &mut Ports<'_>) -> SymbolicUnit {
    match value.unit() {
        Some(unit) => unit.into(),
        None if value.is_mixed() || value.data().iter().all(|number| *number == 0.0) => open(ports),
        None => ports.bare_factor(name).into(),
    }
}

/// The unit of a product; an exponent out of range says nothing.
pub(crate) fn product(a: &SymbolicUnit, b: &SymbolicUnit) -> PortUnit {
    port(a.times(b))
}

/// The unit of a quotient.
pub(crate) fn quotient(a: &SymbolicUnit, b: &SymbolicUnit) -> PortUnit {
    port(a.over(b))
}

/// The unit of a rate of change.
pub(crate) fn per_second(unit: &SymbolicUnit) -> PortUnit {
    quotient(unit, &Unit::RUN_SECOND.into())
}

/// The unit of a power.
pub(crate) fn power(unit: &SymbolicUnit, numerator: i32, denominator: i32) -> PortUnit {
    port(unit.power(numerator, denominator))
}

fn port(unit: Option<SymbolicUnit>) -> PortUnit {
    unit.map_or(PortUnit::Unspecified, PortUnit::Of)
}

/// The unit that the coefficients of a polynomial in a variable of the unit `variable` give it,
/// falling powers. Those without unit fit any.
///
/// Powers of rad are left out: in 1 + 2 ζ s/ω + s²/ω² they come and go.
///
/// # Errors
/// If two of them do not belong into one polynomial.
pub(crate) fn polynomial(
    name: &'static str,
    coefficients: &[Scalar],
    variable: Unit,
) -> Result<Option<Unit>, Invalid> {
    let mut found: Option<(usize, Unit)> = None;
    for (power, scalar) in coefficients.iter().rev().enumerate() {
        let Some(unit) = scalar.unit else { continue };
        let scale = i32::try_from(power).ok().and_then(|power| variable.power(power, 1));
        let Some(term) = scale.and_then(|scale| unit.times(scale)) else { continue };
        let term = term.loosened();
        match found {
            Some((first, known)) if !known.agrees(term) => {
                let at = |power: usize| coefficients.len() - 1 - power;
                return Err(Invalid::parameter(
                    name,
                    format!(
                        "the coefficients {} and {} do not fit: the terms would be in {known} and \
                         {term}",
                        at(first),
                        at(power)
                    ),
                ));
            }
            Some(_) => {}
            None => found = Some((power, term)),
        }
    }
    Ok(found.map(|(_, unit)| unit))
}

/// The factor between input and output of a filter with this numerator and denominator.
///
/// # Errors
/// As [`polynomial`].
pub(crate) fn filter(
    numerator: &[Scalar],
    denominator: &[Scalar],
    variable: Unit,
    ports: &mut Ports<'_>,
) -> Result<SymbolicUnit, Invalid> {
    let above = polynomial("numerator", numerator, variable)?;
    let below = polynomial("denominator", denominator, variable)?;
    let bare = |unit: Option<Unit>| unit.unwrap_or(Unit::ONE);
    let ratio = bare(above).over(bare(below)).map(Unit::loosened);
    Ok(match ratio {
        Some(ratio) if above.is_some() || below.is_some() => ratio.into(),
        _ => ports.bare_factor("numerator").into(),
    })
}
