//! Which states inputs reach, and which states outputs show.

use faer::{Mat, c64};

use crate::algebra::{Error, Singular, balance, beside, eigenvalues, identity, part};
use crate::system::System;

/// The part of a system that its inputs reach, or its outputs show.
#[derive(Debug, Clone)]
pub struct Reach {
    /// How many states it has.
    pub dimension: usize,
    /// The smallest singular value that counted, relative to the norm of the matrices; infinite if
    /// none did.
    pub kept: f64,
    /// The largest that did not, relative to the same; the gap between the two says how sure the
    /// dimension is.
    pub dropped: f64,
    /// The poles of the rest: no feedback moves them, or no output shows them.
    pub fixed: Vec<c64>,
}

/// The controllable part, by the staircase form: B is compressed to its rank by an orthogonal
/// transformation, then what of A leads on from there, and so on. States are scaled first.
/// Singular values below `precision`, relative to the norm of [A B], count as zero.
///
/// # Errors
/// If an iteration does not converge.
///
/// # References
/// Van Dooren, *The generalized eigenstructure problem in linear system theory* (1981);
/// Paige, *Properties of numerical algorithms related to computing controllability* (1981).
pub fn controllability(system: &System, precision: f64) -> Result<Reach, Error> {
    Ok(staircase(&system.a, &system.b, precision)?.reach)
}

/// The observable part: the controllable one of the dual.
///
/// # Errors
/// As [`controllability`].
pub fn observability(system: &System, precision: f64) -> Result<Reach, Error> {
    controllability(&system.dual(), precision)
}

/// A system of the same transfer matrix without the states that no input reaches or no output
/// shows, in other coordinates.
///
/// # Errors
/// As [`controllability`].
pub fn minimal(system: &System, precision: f64) -> Result<System, Error> {
    let reached = reached(system, precision)?;
    Ok(self::reached(&reached.dual(), precision)?.dual())
}

/// The part that the inputs reach.
fn reached(system: &System, precision: f64) -> Result<System, Error> {
    let found = staircase(&system.a, &system.b, precision)?;
    let (n, k) = (system.states(), found.reach.dimension);
    let to = Mat::from_fn(n, k, |i, j| found.scales[i] * found.turn[(i, j)]);
    let from = Mat::from_fn(k, n, |i, j| found.turn[(j, i)] / found.scales[j]);
    Ok(System {
        a: &from * &system.a * &to,
        b: &from * &system.b,
        c: &system.c * &to,
        d: system.d.clone(),
        period: system.period,
    })
}

/// A staircase form: of the scaled states, `Qᵀ A Q` and `Qᵀ B` have it.
struct Staircase {
    reach: Reach,
    turn: Mat<f64>,
    scales: Vec<f64>,
}

fn staircase(a: &Mat<f64>, b: &Mat<f64>, precision: f64) -> Result<Staircase, Error> {
    let n = a.nrows();
    let mut turn = identity(n);
    let (mut a, scales) = balance(a.as_ref());
    // A column of B in units of its own.
    let mut b = Mat::from_fn(n, b.ncols(), |i, j| b[(i, j)] / scales[i]);
    let reference = a.norm_l2().max(f64::MIN_POSITIVE);
    for j in 0..b.ncols() {
        let norm = (0..n).map(|i| b[(i, j)] * b[(i, j)]).sum::<f64>().sqrt();
        if norm > 0.0 {
            (0..n).for_each(|i| b[(i, j)] *= reference / norm);
        }
    }
    let norm = beside(&a, &b).norm_l2().max(f64::MIN_POSITIVE);
    let tolerance = precision.max(10.0 * f64::EPSILON) * norm;
    let mut reach = Reach { dimension: 0, kept: f64::INFINITY, dropped: 0.0, fixed: Vec::new() };
    while a.nrows() > 0 && b.ncols() > 0 {
        let rest = a.nrows();
        let singular = Singular::of(&b)?;
        let rank = singular.rank(tolerance);
        reach.dropped = reach.dropped.max(rank.dropped / norm);
        if rank.rank == 0 {
            break;
        }
        reach.kept = reach.kept.min(rank.kept / norm);
        let rest_of_turn = part(&turn, 0..n, reach.dimension..n) * &singular.u;
        for j in 0..rest {
            for i in 0..n {
                turn[(i, reach.dimension + j)] = rest_of_turn[(i, j)];
            }
        }
        reach.dimension += rank.rank;
        let turned = singular.u.transpose() * &a * &singular.u;
        b = part(&turned, rank.rank..rest, 0..rank.rank);
        a = part(&turned, rank.rank..rest, rank.rank..rest);
    }
    reach.fixed = eigenvalues(a.as_ref())?;
    Ok(Staircase { reach, turn, scales })
}

/// The rank of a matrix: how many singular values are above `precision` times the largest.
///
/// # Errors
/// If they do not converge.
pub fn rank(matrix: &Mat<f64>, precision: f64) -> Result<usize, Error> {
    let singular = Singular::of(matrix)?;
    let largest = singular.values.first().copied().unwrap_or(0.0);
    Ok(singular.rank(precision * largest).rank)
}

/// Pseudoinverse of a matrix; singular values up to `precision` times the largest count as zero.
///
/// # Errors
/// If its singular values do not converge.
pub fn pseudoinverse(matrix: &Mat<f64>, precision: f64) -> Result<Mat<f64>, Error> {
    let singular = Singular::of(matrix)?;
    let largest = singular.values.first().copied().unwrap_or(0.0);
    let rank = singular.rank(precision * largest).rank;
    let left = Mat::from_fn(rank, matrix.nrows(), |i, j| singular.u[(j, i)] / singular.values[i]);
    Ok(part(&singular.v, 0..matrix.ncols(), 0..rank) * left)
}
