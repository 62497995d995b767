//! `SpectralRadius`: whether the run's solver is stable on a linear system.

use legwork_block::quantity::Tensor;
use legwork_block::{
    Block, Invalid, Outcome, OutputCx, Ports, RateRule, Real, Report, Solver, Tolerance, block,
    parameters, ports,
};
use legwork_linalg::one_norm;

use crate::math::inverse::invert;
use crate::signal::shape;

/// Whether the run's solver is stable on `ẋ = A x`: spectral radius of one step. One step of the
/// solver is `x⁺ = G x`, and `ρ = max |λᵢ(G)|`. Below 1 every solution of the run decays, above 1
/// almost every one grows by this factor per step, whatever the system itself does.
///
/// | solver | G, with the step h |
/// |---|---|
/// | `Euler` | `1 + h A` |
/// | `SemiImplicitEuler` | `1 + h A`; with `second_order`, `[1, h; 0, 1] · [1, 0; h K, 1 + h D]` |
/// | `Heun` | `1 + h A + (h A)² / 2` |
/// | `Rk4` | `1 + h A + (h A)² / 2 + (h A)³ / 6 + (h A)⁴ / 24` |
/// | `ImplicitEuler` | `(1 − h A)⁻¹` |
///
/// ρ is also reported at the end of the run, as the metric `spectral_radius`. The stability
/// functions are those of E. Hairer and G. Wanner, *Solving Ordinary Differential Equations II*
/// (1996), section IV.2. ρ comes from Gelfand's formula `ρ = lim ‖Gᵏ‖^(1/k)` at k = 2⁶⁴, by
/// squaring 64 times.
#[ports(out y: Real, "1", "ρ", shape "number";)]
#[parameters(aliases("eigenvalue", "stability"))]
pub struct SpectralRadius {
    /// A, n rows of n [1/s]; a number for one state.
    pub a: Tensor,
    /// Whether the first half of x are positions and the second their velocities, as in
    /// `SecondOrderIntegrator`: `A = [0, 1; K, D]`.
    #[default]
    pub second_order: bool,
}

/// Port and value of a [`SpectralRadius`].
pub struct Plan {
    io: SpectralRadiusPorts,
    radius: f64,
}

/// Squarings of G.
const SQUARINGS: u32 = 64;

/// A square matrix, column by column.
#[derive(Clone)]
struct Square {
    n: usize,
    columns: Vec<f64>,
}

impl Square {
    fn identity(n: usize) -> Self {
        let columns = (0..n * n).map(|i| f64::from(u8::from(i % n == i / n))).collect();
        Self { n, columns }
    }

    /// `self · other`.
    fn times(&self, other: &Self) -> Self {
        let n = self.n;
        let mut columns = vec![0.0; n * n];
        for c in 0..n {
            for k in 0..n {
                let factor = other.columns[c * n + k];
                for r in 0..n {
                    columns[c * n + r] += self.columns[k * n + r] * factor;
                }
            }
        }
        Self { n, columns }
    }

    /// `self + factor · other`.
    fn plus(&self, factor: f64, other: &Self) -> Self {
        let sum = self.columns.iter().zip(&other.columns).map(|(a, b)| a + factor * b);
        Self { n: self.n, columns: sum.collect() }
    }

    /// The greatest magnitude of an eigenvalue, by Gelfand's formula.
    fn spectral_radius(&self) -> f64 {
        let mut power = self.clone();
        // ln ‖Gᵏ‖ / k, where `power` is Gᵏ divided by its norm.
        let (mut logarithm, mut share) = (0.0, 1.0);
        for _ in 0..=SQUARINGS {
            let norm = one_norm(&power.columns, power.n);
            if norm == 0.0 {
                return 0.0;
            }
            logarithm += share * libm::log(norm);
            power.columns.iter_mut().for_each(|element| *element /= norm);
            power = power.times(&power);
            share *= 0.5;
        }
        libm::exp(logarithm)
    }
}

impl SpectralRadius {
    /// A, checked.
    fn system(&self) -> Result<Square, Invalid> {
        shape::finite("a", &self.a)?;
        let columns = self.a.data().to_vec();
        let n = match *self.a.shape() {
            [] => 1,
            [rows, columns] if rows == columns && rows > 0 => rows,
            ref found => {
                let message = format!("expected a square matrix, found the shape {found:?}");
                return Err(Invalid::parameter("a", message));
            }
        };
        if self.second_order {
            let rate = |row: usize, column: usize| columns[column * n + row];
            let unit = |row: usize, column: usize| f64::from(u8::from(column == n / 2 + row));
            let fits =
                n % 2 == 0 && (0..n / 2).all(|row| (0..n).all(|c| rate(row, c) == unit(row, c)));
            if !fits {
                let message = "expected [0, 1; K, D]: positions whose rates are the velocities";
                return Err(Invalid::parameter("a", message));
            }
        }
        Ok(Square { n, columns })
    }

    /// G of one step of length `h` [s].
    fn step(&self, a: &Square, solver: Solver, h: f64) -> Result<Square, Invalid> {
        let n = a.n;
        let one = Square::identity(n);
        // The first terms of the exponential series of h A.
        let series = |terms: u32| {
            let (mut sum, mut term) = (one.clone(), one.clone());
            for k in 1..=terms {
                let next = a.times(&term);
                term = Square { n, columns: vec![0.0; n * n] }.plus(h / f64::from(k), &next);
                sum = sum.plus(1.0, &term);
            }
            sum
        };
        Ok(match solver {
            Solver::SemiImplicitEuler if self.second_order => {
                let (mut velocity, mut position) = (one.clone(), one);
                for c in 0..n {
                    for r in n / 2..n {
                        velocity.columns[c * n + r] += h * a.columns[c * n + r];
                    }
                }
                for r in 0..n / 2 {
                    position.columns[(n / 2 + r) * n + r] = h;
                }
                position.times(&velocity)
            }
            Solver::SemiImplicitEuler => series(1),
            Solver::Explicit(method) => series(method.tableau().order),
            Solver::ImplicitEuler => {
                let mut rest = one.plus(-h, a).columns;
                let mut inverse = one.columns;
                invert(n, &mut rest, &mut inverse).map_err(|_| {
                    let message = "1 − h A has no inverse, so that the step does not exist";
                    Invalid::parameter("a", message)
                })?;
                Square { n, columns: inverse }
            }
            Solver::DormandPrince(_) | Solver::Esdirk(_) | Solver::Bdf(_) => {
                let message = format!("expected a solver of fixed steps, found {solver}");
                let fixed = Solver::names().into_iter().filter(|name| {
                    Solver::named(name, Tolerance::default()).is_some_and(|one| !one.is_variable())
                });
                let fixed = fixed.collect::<Vec<_>>().join("`, `");
                return Err(
                    Invalid::new(message).hint(format!("solvers of fixed steps: `{fixed}`"))
                );
            }
        })
    }
}

#[block]
impl Block for SpectralRadius {
    type Plan = Plan;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let radius = self.step(&self.system()?, ports.solver(), ports.step())?.spectral_radius();
        if !radius.is_finite() {
            let message = format!("expected a step within the range of numbers, found {radius}");
            return Err(Invalid::parameter("a", message));
        }
        ports.rate(RateRule::Constant);
        Ok(Plan { io: self.declare(ports), radius })
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        cx.outputs.set(plan.io.y, plan.radius);
        Ok(())
    }

    fn report(&self, plan: &Plan, (): &(), report: &mut Report) {
        report.metric("spectral_radius", plan.radius);
    }
}

#[cfg(test)]
mod tests {
    use legwork_block::Tolerance;
    use serde_json::json;

    use super::*;
    use crate::testing::{block, refusal};

    fn explicit(name: &str) -> Solver {
        Solver::named(name, Tolerance::default()).expect("a method of the table")
    }

    fn radius(parameters: serde_json::Value, solver: Solver, h: f64) -> f64 {
        let block: SpectralRadius = block(parameters);
        let a = block.system().expect("a matrix");
        block.step(&a, solver, h).expect("a step").spectral_radius()
    }

    /// Of a number λ the radius is the magnitude of the stability function at hλ.
    #[test]
    fn of_one_state_it_is_the_stability_function() {
        let at = |solver| radius(json!({ "a": -3 }), solver, 0.5);
        let z = -1.5_f64;
        let rk4 = 1.0 + z + z * z / 2.0 + z * z * z / 6.0 + z * z * z * z / 24.0;
        for (solver, expected) in [
            (explicit("Euler"), 0.5),
            (Solver::SemiImplicitEuler, 0.5),
            (explicit("Heun"), 1.0 + z + z * z / 2.0),
            (explicit("Rk4"), rk4),
            (Solver::ImplicitEuler, 0.4),
        ] {
            assert!((at(solver) - expected).abs() < 1e-14, "{solver}: {}", at(solver));
        }
    }

    /// The undamped oscillator: explicit Euler always grows, implicit Euler always decays, and the
    /// semi-implicit one neither, up to h ω = 2 (Hairer, Lubich, Wanner, 2006, section I.1).
    #[test]
    fn of_an_oscillator_it_tells_the_three_eulers_apart() {
        let system = json!({ "a": [[0, 1], [-100, 0]], "second_order": true });
        let at = |solver, h| radius(system.clone(), solver, h);
        for h in [1e-4, 0.01, 0.15] {
            let growth = (1.0_f64 + 100.0 * h * h).sqrt();
            assert!((at(explicit("Euler"), h) - growth).abs() < 1e-13);
            assert!((at(Solver::ImplicitEuler, h) - 1.0 / growth).abs() < 1e-13);
            assert!((at(Solver::SemiImplicitEuler, h) - 1.0).abs() < 1e-13);
        }
        // Beyond 2 the eigenvalues are real: λ + 1/λ = 2 − (h ω)².
        let trace: f64 = 2.0 - 6.25;
        let expected = 0.5 * (-trace + (trace * trace - 4.0).sqrt());
        assert!((at(Solver::SemiImplicitEuler, 0.25) - expected).abs() < 1e-12);
    }

    /// A Jordan block has one eigenvalue, however its powers grow; a nilpotent matrix has none.
    #[test]
    fn defective_matrices_have_the_radius_of_their_eigenvalue() {
        let jordan = json!({ "a": [[-0.5, 1e6], [0, -0.5]] });
        assert!((radius(jordan, explicit("Euler"), 1.0) - 0.5).abs() < 1e-13);
        assert_eq!(radius(json!({ "a": [[-1, 1], [0, -1]] }), explicit("Euler"), 1.0), 0.0);
    }

    #[test]
    fn mistakes_are_told() {
        let refused = |json| refusal(block::<SpectralRadius>(json), &[]);
        let message = refused(json!({ "a": [[1, 2]] }));
        assert_eq!(message, "expected a square matrix, found the shape [1, 2]");
        let message = refused(json!({ "a": [[0, 2], [-1, 0]], "second_order": true }));
        assert_eq!(message, "expected [0, 1; K, D]: positions whose rates are the velocities");
    }
}
