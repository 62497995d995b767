//! Shapes of parameters that are a number, a vector or a matrix, and of the signals they fit.

use legwork_block::quantity::Tensor;
use legwork_block::{Any, In, Invalid, Parameters, PortUnit, Ports, Sizes, Type, Unit, Written};

/// A signal of the shape `[]`, `[n]` or `[rows, columns]`.
pub(crate) fn signal(shape: &[usize]) -> Any {
    Any(match *shape {
        [n] => Type::vector(n),
        [rows, columns] => Type::matrix(rows, columns),
        _ => Type::Real,
    })
}

/// Fails if a number of the parameter `name` is infinite.
pub(crate) fn finite(name: &str, tensor: &Tensor) -> Result<(), Invalid> {
    expect(name, tensor, "finite values", f64::is_finite)
}

/// Fails if a number of the parameter `name` is not as `expected`.
pub(crate) fn expect(
    name: &str,
    tensor: &Tensor,
    expected: &str,
    holds: impl Fn(f64) -> bool,
) -> Result<(), Invalid> {
    match tensor.data().iter().find(|value| !holds(**value)) {
        Some(found) => Err(Invalid::parameter(name, format!("expected {expected}, found {found}"))),
        None => Ok(()),
    }
}

/// What several parameters of one signal have in common.
pub(crate) struct Common {
    /// The shape of those that are not a number; `[]` if all are numbers.
    pub(crate) shape: Vec<usize>,
    /// The unit, if one of them carries one.
    pub(crate) unit: Option<Unit>,
}

impl Common {
    /// The shape and unit of the named `parameters`.
    ///
    /// # Errors
    /// If two shapes or two units differ.
    pub(crate) fn of(parameters: &[(&str, &Tensor)]) -> Result<Self, Invalid> {
        let mut unit: Option<Unit> = None;
        for &(name, tensor) in parameters {
            if tensor.is_mixed() {
                return Err(Invalid::parameter(name, "expected one unit, found several"));
            }
            match (unit, tensor.unit()) {
                (Some(known), Some(found)) if !known.agrees(found) => {
                    let message = format!("expected the unit {known}, found {found}");
                    return Err(Invalid::parameter(name, message));
                }
                (known, found) => unit = known.or(found),
            }
        }
        Ok(Self { shape: Self::shape(parameters)?, unit })
    }

    /// The shape of the named `parameters`, whose units may differ. A number stands for every
    /// element of the others' shape.
    ///
    /// # Errors
    /// If two shapes differ.
    pub(crate) fn shape(parameters: &[(&str, &Tensor)]) -> Result<Vec<usize>, Invalid> {
        let mut shape: &[usize] = &[];
        for &(name, tensor) in parameters {
            match (shape, tensor.shape()) {
                ([], found) => shape = found,
                (_, []) => {}
                (known, found) if known == found => {}
                (known, found) => {
                    let message = format!("expected the shape {known:?}, found {found:?}");
                    return Err(Invalid::parameter(name, message));
                }
            }
        }
        Ok(shape.to_vec())
    }

    /// The signal that the parameters fit: of their shape and unit, where they have one; otherwise
    /// of any.
    pub(crate) fn signal(&self, ports: &mut Ports<'_>) -> (Any, PortUnit) {
        let ty = match self.shape.as_slice() {
            [] => Any::var(ports.number_var()),
            shape => signal(shape),
        };
        (ty, known_or_any(self.unit, ports))
    }

    /// The numbers of `tensor`, repeated if it is a number and the shape is not.
    pub(crate) fn spread(&self, tensor: &Tensor) -> Vec<f64> {
        spread(tensor, self.shape.iter().product())
    }
}

/// The numbers of `tensor`, or its one number `len` times.
pub(crate) fn spread(tensor: &Tensor, len: usize) -> Vec<f64> {
    match tensor.shape() {
        [] => vec![tensor.data()[0]; len],
        _ => tensor.data().to_vec(),
    }
}

/// A unit for several ports: this one, or without it any, but the same.
fn known_or_any(unit: Option<Unit>, ports: &mut Ports<'_>) -> PortUnit {
    unit.map_or_else(|| ports.var().into(), PortUnit::from)
}

/// The signal of a state that starts at `initial`; of a type that inference finds, without it.
pub(crate) fn state_signal(
    initial: Option<&Tensor>,
    ports: &mut Ports<'_>,
) -> Result<Any, Invalid> {
    match initial {
        Some(initial) => {
            finite("initial", initial)?;
            Ok(signal(initial.shape()))
        }
        None => Ok(Any::var(ports.var())),
    }
}

/// The signal and the unit of ports that are like a state that starts at `initial`; those that
/// inference finds, without it.
pub(crate) fn like(
    initial: Option<&Tensor>,
    ports: &mut Ports<'_>,
) -> Result<(Any, PortUnit), Invalid> {
    let ty = state_signal(initial, ports)?;
    Ok((ty, known_or_any(initial.and_then(Tensor::unit), ports)))
}

/// The `len` numbers that a state starts with: zeros without `initial`.
pub(crate) fn initial_state(initial: Option<&Tensor>, len: usize) -> Vec<f64> {
    initial.map_or_else(|| vec![0.0; len], |initial| spread(initial, len))
}

/// The parameter `name` with which a state of the type of the first output begins at `at`.
pub(crate) fn starting_at(
    name: &'static str,
    unit: Option<Unit>,
    at: &[f64],
    outputs: &[Type],
) -> Option<Parameters> {
    Some(vec![(name, Written::signal(outputs.first()?, unit, at)?)])
}

/// The unit of the rate of a signal of this unit.
pub(crate) fn rate_of(unit: Option<Unit>) -> Option<Unit> {
    unit.and_then(|unit| unit.over(Unit::SECOND))
}

/// Fails if an input whose type inference found is a bus or an array.
pub(crate) fn expect_numbers(sizes: &Sizes<'_>, input: In<Any>) -> Result<(), Invalid> {
    match sizes.input_leaves(input) {
        1 => Ok(()),
        parts => Err(Invalid::new(format!(
            "expected a number, a vector or a matrix, found a signal of {parts} parts"
        ))
        .hint("select a field of a bus by its path, or an element of an array, as `a.y[0]`")),
    }
}
