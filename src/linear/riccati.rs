//! Algebraic Riccati equations, by structure-preserving doubling and Newton's method.

use faer::Mat;

use crate::algebra::{
    Error, above, beside, eigenvalues, expect_finite, expect_shape, identity, solve, solve_right,
    symmetric,
};
use crate::lyapunov::{lyapunov, stein};
use crate::structure::controllability;
use crate::system::System;

const MOST_DOUBLINGS: u32 = 60;
/// Newton steps that polish the result of doubling: each squares the error, down to rounding.
const MOST_NEWTON_STEPS: u32 = 4;

/// A stabilising solution of a Riccati equation.
#[derive(Debug, Clone)]
pub struct Riccati {
    /// X, symmetric.
    pub x: Mat<f64>,
    /// The gain: m × n.
    pub gain: Mat<f64>,
}

/// The stabilising solution of
///
/// ```text
/// continuous  Aᵀ X + X A − (X B + N) R⁻¹ (Bᵀ X + Nᵀ) + Q = 0,        K = R⁻¹ (Bᵀ X + Nᵀ)
/// sampled     X = Aᵀ X A − (Aᵀ X B + N) (R + Bᵀ X B)⁻¹ (Bᵀ X A + Nᵀ) + Q,
///             K = (R + Bᵀ X B)⁻¹ (Bᵀ X A + Nᵀ)
/// ```
///
/// | argument | shape | |
/// |---|---|---|
/// | `system` | | A and B; [`System::period`] says which equation |
/// | `q` | n × n | symmetric |
/// | `r` | m × m | symmetric, positive definite |
/// | `cross` | n × m | N; zero without it |
///
/// The doubling algorithm converges quadratically and keeps symmetry; Newton's method then takes
/// the residual down to rounding.
///
/// # Errors
/// If a matrix does not fit or R is not positive definite; if no solution is stabilising: a pole on
/// the border of stability that no input moves or no weight sees.
///
/// # References
/// Chu, Fan, Lin, Wang, *Structure-preserving algorithms for periodic discrete-time algebraic
/// Riccati equations* (2004); Chu, Fan, Lin, *A structure-preserving doubling algorithm for
/// continuous-time algebraic Riccati equations* (2005); Kleinman (1968).
pub fn riccati(
    system: &System,
    q: &Mat<f64>,
    r: &Mat<f64>,
    cross: Option<&Mat<f64>>,
) -> Result<Riccati, Error> {
    let (n, m) = (system.states(), system.inputs());
    let none = Mat::zeros(n, m);
    let cross = cross.unwrap_or(&none);
    for (what, matrix, shape) in [("Q", q, (n, n)), ("R", r, (m, m)), ("N", cross, (n, m))] {
        expect_shape(what, matrix.as_ref(), shape)?;
        expect_finite(what, matrix.as_ref())?;
    }
    if !is_symmetric(q) {
        return Err(Error::Weight("a symmetric Q"));
    }
    if !is_symmetric(r) || r.llt(faer::Side::Lower).is_err() {
        return Err(Error::Weight("a symmetric, positive definite R"));
    }
    if n == 0 || m == 0 {
        return match n {
            0 => Ok(Riccati { x: Mat::zeros(0, 0), gain: Mat::zeros(m, 0) }),
            _ => Err(Error::Request("expected at least one input, found none".to_owned())),
        };
    }
    let equation = Equation { system, q: symmetric(q), r: symmetric(r), cross };
    let first = equation.doubled().ok_or_else(|| equation.unsolvable())?;
    equation.polished(first)
}

fn is_symmetric(matrix: &Mat<f64>) -> bool {
    let difference = matrix - matrix.transpose();
    difference.norm_max() <= 1e-10 * matrix.norm_max()
}

/// What is to be solved.
struct Equation<'s> {
    system: &'s System,
    q: Mat<f64>,
    r: Mat<f64>,
    cross: &'s Mat<f64>,
}

impl Equation<'_> {
    /// A first solution; nothing if the doubling breaks down.
    fn doubled(&self) -> Option<Mat<f64>> {
        // N goes into A and Q.
        let (a, b) = (&self.system.a, &self.system.b);
        let through = solve(&self.r, &self.cross.transpose().to_owned())?;
        let a = a - b * &through;
        let h = symmetric(&(&self.q - self.cross * &through));
        let g = symmetric(&(b * solve(&self.r, &b.transpose().to_owned())?));
        match self.system.period {
            Some(_) => double(a, g, h),
            None => {
                let (a, g, h) = cayley(&a, &g, &h)?;
                double(a, g, h)
            }
        }
    }

    /// The gain of X.
    fn gain(&self, x: &Mat<f64>) -> Option<Mat<f64>> {
        let (a, b) = (&self.system.a, &self.system.b);
        let xb = x * b;
        match self.system.period {
            None => solve(&self.r, &(&xb + self.cross).transpose().to_owned()),
            Some(_) => {
                let weight = &self.r + b.transpose() * &xb;
                let right = xb.transpose() * a + self.cross.transpose();
                solve(&weight, &right)
            }
        }
    }

    /// What is left of the equation at X, with its gain.
    fn residual(&self, x: &Mat<f64>, gain: &Mat<f64>) -> Mat<f64> {
        let (a, b) = (&self.system.a, &self.system.b);
        let left = match self.system.period {
            None => {
                let ax = a.transpose() * x;
                &ax + ax.transpose() - (x * b + self.cross) * gain + &self.q
            }
            Some(_) => {
                let atx = a.transpose() * x;
                &atx * a - (&atx * b + self.cross) * gain + &self.q - x
            }
        };
        symmetric(&left)
    }

    /// Newton's steps (Kleinman), each a linear equation of the closed loop.
    fn polished(&self, mut x: Mat<f64>) -> Result<Riccati, Error> {
        let unsolvable = || self.unsolvable();
        let mut gain = self.gain(&x).ok_or_else(unsolvable)?;
        let mut left = self.residual(&x, &gain).norm_l2();
        for _ in 0..MOST_NEWTON_STEPS {
            let residual = self.residual(&x, &gain);
            let closed = &self.system.a - &self.system.b * &gain;
            let step = match self.system.period {
                None => lyapunov(&closed, &residual),
                Some(_) => stein(&closed, &residual),
            };
            let step = step.map_err(|_| self.unsolvable())?;
            let next = symmetric(&(&x + &step));
            let next_gain = self.gain(&next).ok_or_else(unsolvable)?;
            let rest = self.residual(&next, &next_gain).norm_l2();
            if rest.is_nan() || rest >= left {
                break;
            }
            (x, gain, left) = (next, next_gain, rest);
        }
        let closed = &self.system.a - &self.system.b * &gain;
        let stable = eigenvalues(closed.as_ref())?;
        match stable.iter().all(|pole| self.system.is_stable_pole(*pole)) {
            true => Ok(Riccati { x, gain }),
            false => Err(self.unsolvable()),
        }
    }

    /// Why there is no solution.
    fn unsolvable(&self) -> Error {
        let fixed = |system: &System| {
            let reach = controllability(system, 1e-10);
            let fixed = reach.map(|reach| reach.fixed).unwrap_or_default();
            fixed.into_iter().find(|pole| !system.is_stable_pole(*pole))
        };
        let border = "no gain makes every motion die out";
        if let Some(pole) = fixed(self.system) {
            let pole = text(pole);
            return Error::NoSolution(format!("{border}: no input moves the pole {pole}"));
        }
        let seen = above(
            &beside(&self.q, self.cross),
            &beside(&self.cross.transpose().to_owned(), &self.r),
        );
        let n = self.system.states();
        let dual = System {
            a: self.system.a.transpose().to_owned(),
            b: Mat::from_fn(n, seen.ncols(), |i, j| seen[(i, j)]),
            c: Mat::zeros(0, n),
            d: Mat::zeros(0, seen.ncols()),
            period: self.system.period,
        };
        match fixed(&dual) {
            Some(pole) => {
                let pole = text(pole);
                Error::NoSolution(format!("{border}: no weight sees the pole {pole}"))
            }
            None => Error::NoSolution(format!("{border}: the Riccati equation has no solution")),
        }
    }
}

/// `-1.2`, or `-1.2 ± 3 i`.
pub(crate) fn text(pole: faer::c64) -> String {
    match pole.im == 0.0 {
        true => format!("{:.6}", pole.re),
        false => format!("{:.6} ± {:.6} i", pole.re, pole.im.abs()),
    }
}

/// Doubling: A, G, H go to 0, the solution of the dual, and the solution.
fn double(mut a: Mat<f64>, mut g: Mat<f64>, mut h: Mat<f64>) -> Option<Mat<f64>> {
    let one = identity(a.nrows());
    for _ in 0..MOST_DOUBLINGS {
        let w = &one + &g * &h;
        // (1 + G H)⁻¹ A and (1 + G H)⁻¹ G.
        let wa = solve(&w, &a)?;
        let wg = solve(&w, &g)?;
        let more = symmetric(&(a.transpose() * &h * &wa));
        g = symmetric(&(&g + &a * &wg * a.transpose()));
        h = symmetric(&(&h + &more));
        a = &a * &wa;
        if !h.is_all_finite() || !g.is_all_finite() {
            return None;
        }
        if more.norm_max() <= 4.0 * f64::EPSILON * h.norm_max() {
            return Some(h);
        }
    }
    None
}

/// A continuous equation `Aᵀ X + X A − X G X + H = 0` as a sampled one of the same solution.
fn cayley(a: &Mat<f64>, g: &Mat<f64>, h: &Mat<f64>) -> Option<(Mat<f64>, Mat<f64>, Mat<f64>)> {
    let n = a.nrows();
    // Poles of the closed loop: eigenvalues of the Hamiltonian matrix, in pairs ±λ.
    let hamiltonian = above(
        &beside(a, &Mat::from_fn(n, n, |i, j| -g[(i, j)])),
        &Mat::from_fn(n, 2 * n, |i, j| if j < n { -h[(i, j)] } else { -a[(j - n, i)] }),
    );
    let values = eigenvalues(hamiltonian.as_ref()).ok()?;
    let slowest = values.iter().map(|z| z.re.abs()).fold(f64::INFINITY, f64::min);
    let largest = values.iter().map(|z| libm::hypot(z.re, z.im)).fold(0.0, f64::max);
    // On the border doubling does not converge quadratically, and what it gives is no digit.
    if slowest <= 1e-13 * largest {
        return None;
    }
    let mut shift = (slowest * largest).sqrt();
    for _ in 0..4 {
        if let Some(found) = cayley_with(shift, a, g, h) {
            return Some(found);
        }
        // The shift is an eigenvalue of A.
        shift *= 1.37;
    }
    None
}

fn cayley_with(
    shift: f64,
    a: &Mat<f64>,
    g: &Mat<f64>,
    h: &Mat<f64>,
) -> Option<(Mat<f64>, Mat<f64>, Mat<f64>)> {
    let n = a.nrows();
    let scaled = |matrix: Mat<f64>| Mat::from_fn(n, n, |i, j| 2.0 * shift * matrix[(i, j)]);
    let shifted = Mat::from_fn(n, n, |i, j| a[(i, j)] - if i == j { shift } else { 0.0 });
    let g_shifted = solve(&shifted, g)?;
    let h_shifted = solve_right(h, &shifted)?;
    // W = Aᵀ + H A⁻¹ G of the shifted A.
    let w = shifted.transpose() + &h_shifted * g;
    let a_next = identity(n) + scaled(solve(&w.transpose().to_owned(), &identity(n))?);
    let g_next = scaled(solve_right(&g_shifted, &w)?);
    let h_next = scaled(solve(&w, &h_shifted)?);
    Some((a_next, symmetric(&g_next), symmetric(&h_next)))
}
