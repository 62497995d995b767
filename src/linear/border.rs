//! Directions of the state that no input moves.

use faer::{Mat, c64};

use crate::algebra::{Error, balance, beside, eigenvalues, identity, solve};
use crate::structure::pseudoinverse;
use crate::system::System;

/// Fixed directions with one pole.
struct Group {
    pole: c64,
    /// Number of left vectors; for a complex pair, those of both poles.
    len: usize,
}

/// Left vectors W of fixed directions in scaled coordinates: `Wᵀ A = F Wᵀ`, `Wᵀ B = 0`, with F
/// block lower triangular in the order of the groups.
struct Directions {
    /// Orthonormal: n × k.
    left: Mat<f64>,
    /// Basis of the other directions, orthonormal: n × (n − k).
    rest: Mat<f64>,
    groups: Vec<Group>,
}

/// Selects which directions that no input moves are taken out of a system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fixed {
    /// Directions that do not die out: on the border of stability, or unstable.
    Lasting,
    /// All directions that no input moves.
    All,
}

/// A system without directions that no input moves.
///
/// A robot on its feet has such directions if the ground holds a foot: the position of the foot
/// stays the same, whatever the motors do. No feedback makes them die out, and none is needed.
#[derive(Debug, Clone)]
pub struct Split {
    /// The remaining system of r states z, `x = N z`; its C is `C N`.
    pub system: System,
    /// N: n × r.
    pub from: Mat<f64>,
    /// P: r × n, `z = P x`. The kernel of P is the invariant subspace of the fixed directions: a
    /// state that moved along them alone has z = 0, and keeps z = 0.
    pub to: Mat<f64>,
    /// Combinations of states that no input moves, one in each row: k × n.
    pub fixed: Mat<f64>,
    /// Their poles: k numbers.
    pub poles: Vec<c64>,
}

/// Takes out directions that no input moves. A left vector w counts as such if `|wᵀ [A − λ, B]|` is
/// at most `precision` times the norm of A for a pole λ, with states and inputs scaled. A pole
/// within the square root of `precision` of the border of stability is on it.
///
/// With `x = N z + V v`, where the columns of V span the invariant subspace of fixed directions,
/// the motion of z is `ż = Aᵣ z + Bᵣ u`, free of v: the poles of the loop are those of z and the
/// fixed ones. If z and v share a pole that couples them, V is the best approximation in the sense
/// of least squares; the poles are the same.
///
/// # Errors
/// If an iteration does not converge.
///
/// # References
/// Hautus, *Controllability and observability conditions of linear autonomous systems* (1969), for
/// the test of one pole.
pub fn split(system: &System, which: Fixed, precision: f64) -> Result<Split, Error> {
    let n = system.states();
    let (a, scales) = balance(system.a.as_ref());
    let b = scaled_inputs(&a, &system.b, &scales);
    let sampled = system.period.is_some();
    let found = fixed(&a, &b, sampled, (Which::Some(which), precision))?;
    let (w, rest) = (&found.left, &found.rest);
    let a_rest = rest.transpose() * &a * rest;
    let complement = complement(&found, &a, &a_rest)?;
    let to = rest.transpose() - &complement * w.transpose();
    let (r, k) = (rest.ncols(), w.ncols());
    let from = Mat::from_fn(n, r, |i, j| scales[i] * rest[(i, j)]);
    let to = Mat::from_fn(r, n, |i, j| to[(i, j)] / scales[j]);
    let left = Mat::from_fn(r, n, |i, j| rest[(j, i)] / scales[j]);
    let poles = found.groups.iter().flat_map(|group| {
        let pair = [group.pole, group.pole.conj()];
        (0..group.len).map(move |i| if group.pole.im == 0.0 { pair[0] } else { pair[i % 2] })
    });
    Ok(Split {
        system: System {
            a: a_rest,
            b: left * &system.b,
            c: &system.c * &from,
            d: system.d.clone(),
            period: system.period,
        },
        from,
        to,
        fixed: Mat::from_fn(k, n, |i, j| w[(j, i)] / scales[j]),
        poles: poles.collect(),
    })
}

/// A pole on the border of stability that no input moves: `σₘᵢₙ [A − λ, B]` is zero up to rounding.
pub(crate) fn fixed_pole(a: &Mat<f64>, b: &Mat<f64>, sampled: bool) -> Result<Option<c64>, Error> {
    let (a, scales) = balance(a.as_ref());
    let b = scaled_inputs(&a, b, &scales);
    let found = fixed(&a, &b, sampled, (Which::Border, 1e-13))?;
    Ok(found.groups.first().map(|group| group.pole))
}

/// The norm of A, or 1 if that is 0.
fn size(a: &Mat<f64>) -> f64 {
    match a.norm_l2() {
        0.0 => 1.0,
        norm => norm,
    }
}

/// B in scaled states, with columns as long as the norm of A.
fn scaled_inputs(a: &Mat<f64>, b: &Mat<f64>, scales: &[f64]) -> Mat<f64> {
    let n = a.nrows();
    let mut b = Mat::from_fn(n, b.ncols(), |i, j| b[(i, j)] / scales[i]);
    let reference = size(a);
    let largest = b.norm_max();
    for j in 0..b.ncols() {
        let norm = (0..n).map(|i| b[(i, j)] * b[(i, j)]).sum::<f64>().sqrt();
        let factor = if norm > 1e-14 * largest { reference / norm } else { 0.0 };
        (0..n).for_each(|i| b[(i, j)] *= factor);
    }
    b
}

/// Poles whose directions are sought.
#[derive(Clone, Copy)]
enum Which {
    /// Poles on the border of stability.
    Border,
    Some(Fixed),
}

/// Poles of A, each once, and of a pair the upper one. A pole within `slack` of the border of
/// stability is moved onto it.
fn candidates(a: &Mat<f64>, sampled: bool, which: Which, slack: f64) -> Result<Vec<c64>, Error> {
    let (mut found, mut nearby): (Vec<c64>, Vec<c64>) = (Vec::new(), Vec::new());
    for pole in eigenvalues(a.as_ref())? {
        let size = libm::hypot(pole.re, pole.im);
        let (growth, on_border) = match sampled {
            false => (pole.re, c64::new(0.0, pole.im)),
            true => (size - 1.0, pole / size.max(f64::MIN_POSITIVE)),
        };
        let is_on_border = growth.abs() <= slack;
        let mut point = if is_on_border { on_border } else { pole };
        if is_on_border && point.im.abs() <= slack {
            let sign = if point.re < 0.0 { -1.0 } else { 1.0 };
            point = c64::new(if sampled { sign } else { 0.0 }, 0.0);
        }
        let is_wanted = match which {
            Which::Border => is_on_border,
            Which::Some(Fixed::Lasting) => is_on_border || growth > 0.0,
            Which::Some(Fixed::All) => true,
        };
        let is_same = |other: &c64| {
            let apart = libm::hypot(other.re - point.re, other.im - point.im);
            if is_on_border { apart <= slack } else { apart == 0.0 }
        };
        if is_wanted && point.im >= 0.0 && !found.iter().any(is_same) {
            found.push(point);
        }
        // A pole near the border may lie where it was computed.
        let is_next = is_on_border && growth != 0.0 && !matches!(which, Which::Border);
        if is_next && (growth > 0.0 || matches!(which, Which::Some(Fixed::All))) && pole.im >= 0.0 {
            nearby.push(pole);
        }
    }
    found.append(&mut nearby);
    Ok(found)
}

fn fixed(
    a: &Mat<f64>,
    b: &Mat<f64>,
    sampled: bool,
    (which, precision): (Which, f64),
) -> Result<Directions, Error> {
    let n = a.nrows();
    let norm = size(a);
    let none = Directions { left: Mat::zeros(n, 0), rest: identity(n), groups: Vec::new() };
    if n == 0 {
        return Ok(none);
    }
    // The poles of a chain of k states on the border have errors of the k-th root of rounding.
    let unit = if sampled { 1.0 } else { norm };
    let slack = precision.sqrt() * unit;
    let tolerance = precision * norm;
    let mut out = none;
    for pole in candidates(a, sampled, which, slack)? {
        loop {
            let rest = &out.rest;
            let (a_rest, b_rest) = (rest.transpose() * a * rest, rest.transpose() * b);
            let vectors = left_null(&a_rest, &b_rest, pole, tolerance)?;
            if vectors.ncols() == 0 {
                break;
            }
            let turned = orthonormal(&vectors)?;
            let k = turned.1;
            let all = rest * &turned.0;
            let columns =
                |from: usize, to: usize| Mat::from_fn(n, to - from, |i, j| all[(i, from + j)]);
            out.left = beside(&out.left, &columns(0, k));
            out.rest = columns(k, all.ncols());
            out.groups.push(Group { pole, len: k });
        }
    }
    Ok(out)
}

/// Left vectors of `[A − λ, B]` with singular values up to a tolerance; for a complex λ their real
/// and imaginary parts.
fn left_null(a: &Mat<f64>, b: &Mat<f64>, pole: c64, tolerance: f64) -> Result<Mat<f64>, Error> {
    let n = a.nrows();
    if n == 0 {
        return Ok(Mat::zeros(0, 0));
    }
    let diverged = |_| Error::NoConvergence("a test of controllability");
    // With zero columns, U and the singular values are complete.
    let joint = beside(a, b);
    if pole.im == 0.0 {
        let shifted = Mat::from_fn(n, joint.ncols(), |i, j| {
            joint[(i, j)] - if i == j { pole.re } else { 0.0 }
        });
        let svd = shifted.svd().map_err(diverged)?;
        let values = svd.S().column_vector();
        let first = (0..n).find(|i| values[*i] <= tolerance).unwrap_or(n);
        return Ok(Mat::from_fn(n, n - first, |i, j| svd.U()[(i, first + j)]));
    }
    let shifted = Mat::from_fn(n, joint.ncols(), |i, j| {
        c64::new(joint[(i, j)], 0.0) - if i == j { pole } else { c64::new(0.0, 0.0) }
    });
    let svd = shifted.svd().map_err(diverged)?;
    let values = svd.S().column_vector();
    let first = (0..n).find(|i| values[*i].re <= tolerance).unwrap_or(n);
    Ok(Mat::from_fn(n, 2 * (n - first), |i, j| {
        let entry = svd.U()[(i, first + j / 2)];
        if j % 2 == 0 { entry.re } else { entry.im }
    }))
}

/// An orthonormal basis whose first vectors span the given ones, and the number of these.
fn orthonormal(vectors: &Mat<f64>) -> Result<(Mat<f64>, usize), Error> {
    let svd = vectors.svd().map_err(|_| Error::NoConvergence("a test of controllability"))?;
    let values = svd.S().column_vector();
    let largest = values[0];
    let rank = values.iter().filter(|value| **value > 1e-8 * largest).count();
    Ok((svd.U().to_owned(), rank))
}

/// Y of the invariant complement `V = W + N Y`: `Aᵣ Y + Nᵀ A W = Y F`, group by group from the last
/// one.
fn complement(found: &Directions, a: &Mat<f64>, a_rest: &Mat<f64>) -> Result<Mat<f64>, Error> {
    let (w, rest) = (&found.left, &found.rest);
    let (r, k) = (rest.ncols(), w.ncols());
    let aw = a * w;
    let coupling = rest.transpose() * &aw;
    let f = w.transpose() * &aw;
    let mut y = Mat::<f64>::zeros(r, k);
    let mut end = k;
    for group in found.groups.iter().rev() {
        let start = end - group.len;
        // Right side: −Nᵀ A W of the group, and contributions of later groups.
        let right = Mat::from_fn(r, group.len, |i, j| {
            (end..k).map(|l| y[(i, l)] * f[(l, start + j)]).sum::<f64>() - coupling[(i, start + j)]
        });
        let size = r * group.len;
        let solution = if group.pole.im == 0.0 {
            let shifted = Mat::from_fn(r, r, |i, j| {
                a_rest[(i, j)] - if i == j { group.pole.re } else { 0.0 }
            });
            least(&shifted, &right)?
        } else {
            let kron = Mat::from_fn(size, size, |i, j| {
                let (ri, ci, rj, cj) = (i % r, i / r, j % r, j / r);
                let left = if ci == cj { a_rest[(ri, rj)] } else { 0.0 };
                left - if ri == rj { f[(start + cj, start + ci)] } else { 0.0 }
            });
            let stacked = Mat::from_fn(size, 1, |i, _| right[(i % r, i / r)]);
            let solved = least(&kron, &stacked)?;
            Mat::from_fn(r, group.len, |i, j| solved[(j * r + i, 0)])
        };
        for j in 0..group.len {
            (0..r).for_each(|i| y[(i, start + j)] = solution[(i, j)]);
        }
        end = start;
    }
    Ok(y)
}

/// `M⁻¹ R`; if M is close to singular, the shortest solution of least error.
fn least(matrix: &Mat<f64>, right: &Mat<f64>) -> Result<Mat<f64>, Error> {
    if matrix.nrows() == 0 {
        return Ok(right.clone());
    }
    let svd = matrix.svd().map_err(|_| Error::NoConvergence("a complement"))?;
    let values = svd.S().column_vector();
    let n = matrix.nrows();
    if values[n - 1] > 1e-8 * values[0] {
        return match solve(matrix, right) {
            Some(solution) => Ok(solution),
            None => Ok(pseudoinverse(matrix, 1e-14)? * right),
        };
    }
    let turned = svd.U().transpose() * right;
    let scaled = Mat::from_fn(n, right.ncols(), |i, j| {
        if values[i] > 1e-8 * values[0] { turned[(i, j)] / values[i] } else { 0.0 }
    });
    Ok(svd.V() * scaled)
}
