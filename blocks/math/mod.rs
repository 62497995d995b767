//! Arithmetic on signals: sums, products, gains, expressions, elementary functions, vectors and
//! small matrices. `Solve` closes an algebraic loop; `SpectralRadius` tells whether a solver is
//! stable on a linear system.

mod abs;
mod cross;
mod dot;
mod elementary;
mod fcn;
mod gain;
mod inverse;
mod math_function;
mod matrix_multiply;
mod mean;
mod min_max;
mod norm;
mod product;
mod rounding_function;
mod sign;
mod solve;
mod spectral_radius;
pub(crate) mod sum;
mod transpose;
mod trigonometry;

use legwork_block::Registry;

pub use abs::Abs;
pub use cross::Cross;
pub use dot::Dot;
pub use fcn::Fcn;
pub use gain::Gain;
pub use inverse::Inverse;
pub use math_function::{Function as MathFunctionKind, MathFunction};
pub use matrix_multiply::{MatrixMultiply, Right};
pub use mean::Mean;
pub use min_max::{Extreme, MinMax};
pub use norm::Norm;
pub use product::Product;
pub use rounding_function::{Rounding, RoundingFunction};
pub use sign::Sign;
pub use solve::Solve;
pub use spectral_radius::SpectralRadius;
pub use sum::Sum;
pub use transpose::Transpose;
pub use trigonometry::{Function as TrigonometryKind, Trigonometry};

/// Adds the blocks of this shelf.
pub(crate) fn register(r: &mut Registry) {
    let mut shelf =
        r.shelf("math", "Sums, products, expressions, elementary functions, vectors and matrices.");
    shelf.block::<Abs>("Abs()");
    shelf.block::<Cross>("Cross()");
    shelf.block::<Dot>("Dot()");
    shelf.block::<Fcn>("Fcn(expression: \"sin(u1) + 0.5*u2^2\")");
    shelf.block::<Gain>("Gain(gain: 2.0)");
    shelf.block::<Inverse>("Inverse()");
    shelf.block::<MathFunction>("MathFunction(function: Exp)");
    shelf.block::<MatrixMultiply>("MatrixMultiply(transpose: true)");
    shelf.block::<Mean>("Mean(magnitude: true)");
    shelf.block::<MinMax>("MinMax(function: Max)");
    shelf.block::<Norm>("Norm()");
    shelf.block::<Product>("Product(ops: \"*/\")");
    shelf.block::<RoundingFunction>("RoundingFunction(function: Floor)");
    shelf.block::<Sign>("Sign()");
    shelf.block::<Solve>("Solve(tol: 1e-12)");
    shelf.block::<SpectralRadius>("SpectralRadius(a: [[0, 1], [-100, -2]], second_order: true)");
    shelf.block::<Sum>("Sum(signs: \"+-\")");
    shelf.block::<Transpose>("Transpose()");
    shelf.block::<Trigonometry>("Trigonometry(function: Sin)");
}
