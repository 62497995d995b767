//! Algebraic Riccati equations, by structure-preserving doubling and Newton's method.

use faer::Mat;

use crate::algebra::{
    Error, balance, eigenvalues, expect_finite, expect_shape, expect_weight, identity, solve,
    solve_right, symmetric,
};
use crate::border::fixed_pole;
use crate::lyapunov::{lyapunov, stein};
use crate::sign::{hamiltonian, stable_solution};
use crate::structure::controllability;
use crate::system::System;

const MOST_DOUBLINGS: u32 = 60;
/// Newton steps that polish a first solution: each squares the error, down to rounding.
const MOST_NEWTON_STEPS: u32 = 30;
/// Relative residual above which a solution is refused.
const LARGEST_RESIDUAL: f64 = 1e-7;

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
/// The doubling algorithm converges quadratically and keeps symmetry. If its result does not make
/// the loop stable, the sign function of the Hamiltonian matrix gives the solution; an example is
/// an unstable pole that no weight sees and that is mirrored. Newton's method reduces the residual
/// to rounding.
///
/// # Errors
/// If shapes do not fit, Q is not positive semidefinite or R not positive definite; if no solution
/// is stabilising: an unstable pole that no input moves, or a pole on the border of stability that
/// no input moves or no weight sees.
///
/// # References
/// Chu, Fan, Lin, Wang, *Structure-preserving algorithms for periodic discrete-time algebraic
/// Riccati equations* (2004); Chu, Fan, Lin, *A structure-preserving doubling algorithm for
/// continuous-time algebraic Riccati equations* (2005); Roberts, *Linear model reduction and
/// solution of the algebraic Riccati equation by use of the sign function* (1980); Kleinman (1968).
pub fn riccati(
    system: &System,
    q: &Mat<f64>,
    r: &Mat<f64>,
    cross: Option<&Mat<f64>>,
) -> Result<Riccati, Error> {
    riccati_of(system, q, r, cross, &REGULATOR)
}

/// Terms for the parts of an equation in messages.
pub(crate) struct Words {
    /// Names of Q and R.
    pub(crate) weights: [&'static str; 2],
    /// Name of the motion that has to die out.
    pub(crate) motion: &'static str,
    /// Property of a pole that B does not reach, and of one that Q does not see.
    pub(crate) unmoved: &'static str,
    pub(crate) unseen: &'static str,
}

const REGULATOR: Words = Words {
    weights: ["Q", "R"],
    motion: "motion",
    unmoved: "no input moves",
    unseen: "no weight sees",
};

/// Like [`riccati`], with other names in messages.
pub(crate) fn riccati_of(
    system: &System,
    q: &Mat<f64>,
    r: &Mat<f64>,
    cross: Option<&Mat<f64>>,
    words: &Words,
) -> Result<Riccati, Error> {
    let (n, m) = (system.states(), system.inputs());
    let none = Mat::zeros(n, m);
    let has_cross = cross.is_some_and(|cross| cross.norm_max() > 0.0);
    let cross = cross.unwrap_or(&none);
    let [q_name, r_name] = words.weights;
    for (what, matrix, shape) in [(q_name, q, (n, n)), (r_name, r, (m, m)), ("N", cross, (n, m))] {
        expect_shape(what, matrix.as_ref(), shape)?;
        expect_finite(what, matrix.as_ref())?;
    }
    expect_weight(q_name, q, false)?;
    expect_weight(r_name, r, true)?;
    if n == 0 || m == 0 {
        return match n {
            0 => Ok(Riccati { x: Mat::zeros(0, 0), gain: Mat::zeros(m, 0) }),
            _ => Err(Error::Request("expected at least one input, found none".to_owned())),
        };
    }
    // Scaled states x = D z: D⁻¹ A D, D⁻¹ B, D Q D, D N; then X = D⁻¹ Z D⁻¹. Powers of two are
    // exact.
    let (a, d) = balance(system.a.as_ref());
    let scaled = System {
        a,
        b: Mat::from_fn(n, m, |i, j| system.b[(i, j)] / d[i]),
        c: Mat::zeros(0, n),
        d: Mat::zeros(0, m),
        period: system.period,
    };
    let q = symmetric(&Mat::from_fn(n, n, |i, j| d[i] * q[(i, j)] * d[j]));
    let cross = &Mat::from_fn(n, m, |i, j| d[i] * cross[(i, j)]);
    let equation = Equation { system: &scaled, q, r: symmetric(r), cross, has_cross, words };
    let Riccati { x, gain } = equation.solved()?;
    Ok(Riccati {
        x: Mat::from_fn(n, n, |i, j| x[(i, j)] / d[i] / d[j]),
        gain: Mat::from_fn(m, n, |i, j| gain[(i, j)] / d[j]),
    })
}

/// What is to be solved.
struct Equation<'s> {
    system: &'s System,
    q: Mat<f64>,
    r: Mat<f64>,
    cross: &'s Mat<f64>,
    has_cross: bool,
    words: &'s Words,
}

impl Equation<'_> {
    /// A, G, H, with N included in A and Q: `Aᵀ X + X A − X G X + H = 0`.
    fn without_cross(&self) -> Option<(Mat<f64>, Mat<f64>, Mat<f64>)> {
        let (a, b) = (&self.system.a, &self.system.b);
        let through = solve(&self.r, &self.cross.transpose().to_owned())?;
        let a = a - b * &through;
        let h = symmetric(&(&self.q - self.cross * &through));
        let g = symmetric(&(b * solve(&self.r, &b.transpose().to_owned())?));
        Some((a, g, h))
    }

    /// The stabilising solution.
    fn solved(&self) -> Result<Riccati, Error> {
        let ill =
            || Error::NoSolution(format!("{} is too close to singular", self.words.weights[1]));
        let (a, g, h) = self.without_cross().ok_or_else(ill)?;
        self.expect_solvable(&a, &h)?;
        let sampled = self.system.period.is_some();
        let first = match sampled {
            true => double(a.clone(), g.clone(), h.clone()),
            false => cayley(&a, &g, &h).and_then(|(a, g, h)| double(a, g, h)),
        };
        let found = first.and_then(|first| self.polished(first));
        let is_good = found.as_ref().is_some_and(|found| found.1 <= 1e-12);
        let second = match is_good {
            true => None,
            false => stable_solution(&a, &g, &h, sampled).and_then(|x| self.polished(x)),
        };
        let both = [found, second].into_iter().flatten();
        match both.reduce(|a, b| if b.1 < a.1 { b } else { a }) {
            None => Err(self.unsolvable()),
            Some((found, residual)) if residual <= LARGEST_RESIDUAL => Ok(found),
            Some((_, residual)) => Err(Error::NoSolution(format!(
                "the Riccati equation is solved to {residual:.1e} of its largest term only: its \
                 numbers differ too much in size; scale states or weights"
            ))),
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

    /// The residual relative to the largest term of the equation.
    fn relative(&self, x: &Mat<f64>, gain: &Mat<f64>) -> f64 {
        let a = &self.system.a;
        let atx = a.transpose() * x;
        let through = gain.transpose() * &self.r * gain;
        let terms = match self.system.period {
            None => atx.norm_l2(),
            Some(_) => (&atx * a).norm_l2().max(x.norm_l2()),
        };
        let size = terms.max(through.norm_l2()).max(self.q.norm_l2());
        self.residual(x, gain).norm_l2() / size.max(f64::MIN_POSITIVE)
    }

    /// Newton's steps (Kleinman), each a linear equation of the closed loop; the solution with its
    /// relative residual, if the loop is stable.
    fn polished(&self, mut x: Mat<f64>) -> Option<(Riccati, f64)> {
        let mut gain = self.gain(&x)?;
        if !self.is_stable(&gain) {
            return None;
        }
        let mut left = self.residual(&x, &gain).norm_l2();
        for _ in 0..MOST_NEWTON_STEPS {
            let residual = self.residual(&x, &gain);
            let closed = &self.system.a - &self.system.b * &gain;
            let step = match self.system.period {
                None => lyapunov(&closed, &residual),
                Some(_) => stein(&closed, &residual),
            };
            let Ok(step) = step else { break };
            let next = symmetric(&(&x + &step));
            let Some(next_gain) = self.gain(&next) else { break };
            let rest = self.residual(&next, &next_gain).norm_l2();
            if rest.is_nan() || rest >= left || !self.is_stable(&next_gain) {
                break;
            }
            (x, gain, left) = (next, next_gain, rest);
        }
        let relative = self.relative(&x, &gain);
        Some((Riccati { x, gain }, relative))
    }

    /// True if all poles of the loop are stable.
    fn is_stable(&self, gain: &Mat<f64>) -> bool {
        let closed = &self.system.a - &self.system.b * gain;
        let poles = eigenvalues(closed.as_ref());
        poles.is_ok_and(|poles| poles.iter().all(|pole| self.system.is_stable_pole(*pole)))
    }

    /// Fails if every solution leaves a pole on the border of stability there.
    fn expect_solvable(&self, a: &Mat<f64>, h: &Mat<f64>) -> Result<(), Error> {
        let Words { motion, unmoved, unseen, .. } = self.words;
        let sampled = self.system.period.is_some();
        let border = |pole, why: &str| {
            let pole = text(pole);
            Error::NoSolution(format!(
                "no gain makes every {motion} die out: {why} the pole {pole}, which is on the \
                 border of stability"
            ))
        };
        if let Some(pole) = fixed_pole(&self.system.a, &self.system.b, sampled)? {
            return Err(border(pole, unmoved));
        }
        // Without N each row of Q counts, however small; with N the sum contains rounding.
        let n = h.nrows();
        let weights = Mat::from_fn(n, n, |i, j| {
            let is_rounding = h[(i, j)].abs() <= 1e-13 * self.q.norm_max() && self.has_cross;
            if is_rounding { 0.0 } else { h[(i, j)] }
        });
        match fixed_pole(&a.transpose().to_owned(), &weights, sampled)? {
            Some(pole) => Err(border(pole, unseen)),
            None => Ok(()),
        }
    }

    /// Why there is no solution.
    fn unsolvable(&self) -> Error {
        let Words { motion, unmoved, weights: [q, r], .. } = self.words;
        let border = format!("no gain makes every {motion} die out");
        let reach = controllability(self.system, 1e-10);
        let fixed = reach.map(|reach| reach.fixed).unwrap_or_default();
        let pole = fixed.into_iter().find(|pole| !self.system.is_stable_pole(*pole));
        if let Some(pole) = pole {
            let pole = text(pole);
            return Error::NoSolution(format!("{border}: {unmoved} the unstable pole {pole}"));
        }
        if self.has_cross {
            let (n, m) = (self.system.states(), self.system.inputs());
            let joint = Mat::from_fn(n + m, n + m, |i, j| match (i < n, j < n) {
                (true, true) => self.q[(i, j)],
                (true, false) => self.cross[(i, j - n)],
                (false, true) => self.cross[(j, i - n)],
                (false, false) => self.r[(i - n, j - n)],
            });
            if let Err(error) = expect_weight("the matrix of all weights", &joint, false) {
                return Error::NoSolution(format!("{border}: {error}"));
            }
        }
        Error::NoSolution(format!(
            "{border} within rounding: a pole is close to the border of stability, and what moves \
             or weights it is small; scale {q} or {r}"
        ))
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
    // Poles of the closed loop: eigenvalues of the Hamiltonian matrix, in pairs ±λ.
    let hamiltonian = hamiltonian(a, g, h);
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
