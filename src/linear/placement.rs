//! Pole placement by state feedback.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, c64};

use crate::algebra::{Error, Singular, balance, expect_finite, solve};
use crate::deflation::deflated;
use crate::riccati::text;
use crate::structure::controllability;
use crate::system::System;

/// Rounds over all eigenvectors.
const ROUNDS: u32 = 30;

/// K for which `A − B K` has these poles.
///
/// One input leaves no choice. Several leave the eigenvectors: they are made as orthogonal to one
/// another as the poles allow, each in turn, so that poles depend little on errors of A and B. A
/// pole repeated more often than B has independent columns gets Jordan blocks, as does any repeated
/// pole of one input: a pole repeated k times moves by about the k-th root of an error of the
/// model.
///
/// # Errors
/// If the number of poles differs from the number of states, complex poles are not in pairs, or no
/// input reaches some state; or if the gain does not place the poles within rounding.
///
/// # References
/// Kautsky, Nichols, Van Dooren, *Robust pole assignment in linear state feedback* (1985), method 0
/// on complex vectors, for several inputs; Petkov, Christov, Konstantinov, *A computational
/// algorithm for pole assignment of linear multiinput systems* (1986), for one input and Jordan
/// blocks.
pub fn place(system: &System, poles: &[c64]) -> Result<Mat<f64>, Error> {
    let n = system.states();
    if poles.len() != n {
        let message = format!("expected {n} poles, one for each state, found {}", poles.len());
        return Err(Error::Request(message));
    }
    expect_finite("A", system.a.as_ref())?;
    expect_finite("B", system.b.as_ref())?;
    let pairs = paired(poles)?;
    if n == 0 {
        return Ok(Mat::zeros(system.inputs(), 0));
    }
    if let Some(pole) = controllability(system, 1e-12)?.fixed.first() {
        return Err(Error::NoSolution(format!("no input moves the pole {}", text(*pole))));
    }
    let (scaled, scales, units) = scaled(system);
    let gain = placed(&scaled, &pairs)?;
    Ok(Mat::from_fn(system.inputs(), n, |i, j| gain[(i, j)] * units[i] / scales[j]))
}

/// The system in scaled states and inputs, `x = D z` and `u = U v`, and the diagonals D and U.
fn scaled(system: &System) -> (System, Vec<f64>, Vec<f64>) {
    let (a, scales) = balance(system.a.as_ref());
    let mut b = Mat::from_fn(system.states(), system.inputs(), |i, j| system.b[(i, j)] / scales[i]);
    let size = match a.norm_l2() {
        0.0 => 1.0,
        size => size,
    };
    let mut units = Vec::with_capacity(b.ncols());
    for j in 0..b.ncols() {
        let norm = (0..b.nrows()).map(|i| b[(i, j)] * b[(i, j)]).sum::<f64>().sqrt();
        // Scaling by a power of two is exact.
        let unit = if norm > 0.0 { libm::exp2(libm::round(libm::log2(size / norm))) } else { 1.0 };
        (0..b.nrows()).for_each(|i| b[(i, j)] *= unit);
        units.push(unit);
    }
    (System { a, b, ..system.clone() }, scales, units)
}

/// K of a scaled system.
fn placed(system: &System, pairs: &[c64]) -> Result<Mat<f64>, Error> {
    let singular = Singular::of(&system.b)?;
    let reference = singular.values.first().copied().unwrap_or(0.0);
    let rank = singular.rank(1e-12 * reference).rank;
    let most = |pole: &c64| pairs.iter().filter(|other| *other == pole).count();
    let is_robust = rank > 1 && pairs.iter().all(|pole| most(pole) <= rank);
    // The choice of eigenvectors fails if inputs differ much: then one pole is placed after the
    // other.
    let robust = if is_robust { chosen(system, &singular, rank, pairs).ok() } else { None };
    let robust = robust.map(|gain| (error_of(system, &gain, pairs), gain));
    if let Some((Ok(error), gain)) = &robust
        && *error < SMALL_ERROR
    {
        return Ok(gain.clone());
    }
    let gain = deflated(system, pairs)?;
    let error = error_of(system, &gain, pairs)?;
    let (error, gain) = match robust {
        Some((Ok(other), gain)) if other < error => (other, gain),
        _ => (error, gain),
    };
    match gain.is_all_finite() && error < LARGEST_ERROR {
        true => Ok(gain),
        false => Err(Error::NoSolution(format!(
            "the poles are placed with an error of {error:.1e} of the loop's norm alone: inputs \
             reach some states by {:.1e} of that of others",
            controllability(system, 1e-12)?.kept
        ))),
    }
}

/// Errors of placed poles, relative to the loop: up to the first no second attempt is made, beyond
/// the second the placement fails.
const SMALL_ERROR: f64 = 1e-11;
const LARGEST_ERROR: f64 = 1e-7;

/// Relative change of `A − B K` for which it has a wanted pole: the largest `σₘᵢₙ(A − B K − λ)`,
/// with states scaled.
fn error_of(system: &System, gain: &Mat<f64>, pairs: &[c64]) -> Result<f64, Error> {
    let closed = &system.a - &system.b * gain;
    if !closed.is_all_finite() {
        return Ok(f64::INFINITY);
    }
    let n = closed.nrows();
    let (closed, _) = balance(closed.as_ref());
    let norm = closed.norm_l2().max(f64::MIN_POSITIVE);
    let mut worst = 0.0_f64;
    for pole in pairs {
        let shifted = Mat::from_fn(n, n, |i, j| {
            c64::new(closed[(i, j)], 0.0) - if i == j { *pole } else { c64::new(0.0, 0.0) }
        });
        let svd = shifted.svd().map_err(|_| Error::NoConvergence("a placement"))?;
        worst = worst.max(svd.S().column_vector()[n - 1].re / norm);
    }
    Ok(worst)
}

/// Gain for eigenvectors that are as orthogonal as the poles allow.
fn chosen(
    system: &System,
    singular: &Singular,
    rank: usize,
    pairs: &[c64],
) -> Result<Mat<f64>, Error> {
    let spaces: Vec<Mat<c64>> =
        pairs.iter().map(|pole| space(system, singular, rank, *pole)).collect::<Result<_, _>>()?;
    let vectors = eigenvectors(pairs, &spaces)?;
    gain(system, pairs, &vectors)
}

/// Of each pair the upper one, and all real poles.
fn paired(poles: &[c64]) -> Result<Vec<c64>, Error> {
    if !poles.iter().all(|pole| pole.re.is_finite() && pole.im.is_finite()) {
        return Err(Error::NotFinite("a pole"));
    }
    let mut lower: Vec<c64> = poles.iter().copied().filter(|pole| pole.im < 0.0).collect();
    let mut kept = Vec::new();
    for pole in poles.iter().filter(|pole| pole.im >= 0.0) {
        if pole.im > 0.0 {
            let conjugate = lower.iter().position(|other| *other == pole.conj());
            let conjugate = conjugate.ok_or_else(|| alone(*pole))?;
            lower.swap_remove(conjugate);
        }
        kept.push(*pole);
    }
    match lower.first() {
        Some(pole) => Err(alone(*pole)),
        None => Ok(kept),
    }
}

fn alone(pole: c64) -> Error {
    let conjugate = if pole.im > 0.0 { '-' } else { '+' };
    Error::Request(format!(
        "expected the conjugate {} {conjugate} {} i of a complex pole",
        pole.re,
        pole.im.abs()
    ))
}

/// An orthonormal basis of the eigenvectors that feedback can give a pole: the null space of
/// `U₁ᵀ (A − λ)`, U₁ being what B does not reach.
fn space(system: &System, b: &Singular, rank: usize, pole: c64) -> Result<Mat<c64>, Error> {
    let n = system.states();
    let complex = |x: f64| c64::new(x, 0.0);
    let unreached = Mat::from_fn(n - rank, n, |i, j| complex(b.u[(j, rank + i)]));
    let shifted = Mat::from_fn(n, n, |i, j| {
        complex(system.a[(i, j)]) - if i == j { pole } else { complex(0.0) }
    });
    if rank == n {
        return Ok(Mat::from_fn(n, n, |i, j| complex(f64::from(i == j))));
    }
    let rows = unreached * shifted;
    let svd = rows.svd().map_err(|_| Error::NoConvergence("a placement"))?;
    let values = svd.S();
    let smallest = values.column_vector()[n - rank - 1].re;
    if smallest <= 1e-13 * values.column_vector()[0].re {
        let message = format!("no input moves the pole {}", text(pole));
        return Err(Error::NoSolution(message));
    }
    let v = svd.V();
    Ok(Mat::from_fn(n, rank, |i, j| v[(i, n - rank + j)]))
}

/// All eigenvectors, conjugates beside their upper ones.
fn eigenvectors(pairs: &[c64], spaces: &[Mat<c64>]) -> Result<Mat<c64>, Error> {
    let n: usize = pairs.iter().map(|pole| if pole.im > 0.0 { 2 } else { 1 }).sum();
    let mut x = Mat::<c64>::zeros(n, n);
    let mut at = 0;
    for (number, (pole, space)) in pairs.iter().zip(spaces).enumerate() {
        // To begin with, different mixtures, so that equal poles get independent vectors.
        let weight = |j: usize| {
            let angle = ((number + 1) * (j + 1)) as f64;
            c64::new(libm::cos(angle), if pole.im > 0.0 { libm::sin(angle) } else { 0.0 })
        };
        let m = space.ncols();
        let mut vector =
            Mat::from_fn(n, 1, |i, _| (0..m).map(|j| space[(i, j)] * weight(j)).sum::<c64>());
        if pole.im == 0.0 {
            vector = real(&vector);
        }
        at = put(&mut x, at, *pole, &vector);
    }
    for _ in 0..ROUNDS {
        let mut at = 0;
        for (pole, space) in pairs.iter().zip(spaces) {
            let width = if pole.im > 0.0 { 2 } else { 1 };
            // What is orthogonal to all others, projected on what feedback can give.
            let others: Vec<usize> = (0..n).filter(|j| *j != at).collect();
            let rest = Mat::from_fn(n, others.len(), |i, j| x[(i, others[j])]);
            let svd = rest.svd().map_err(|_| Error::NoConvergence("a placement"))?;
            let u = svd.U();
            let normal = Mat::from_fn(n, 1, |i, _| u[(i, n - 1)]);
            let mut vector = space * (space.adjoint() * &normal);
            if pole.im == 0.0 {
                vector = real(&vector);
            }
            if vector.norm_l2() > 1e-8 {
                put(&mut x, at, *pole, &vector);
            }
            at += width;
        }
    }
    Ok(x)
}

/// A real vector along a complex one whose parts are both in a real space.
fn real(vector: &Mat<c64>) -> Mat<c64> {
    let part = |of: fn(&c64) -> f64| {
        Mat::from_fn(vector.nrows(), 1, |i, _| c64::new(of(&vector[(i, 0)]), 0.0))
    };
    let (re, im) = (part(|z| z.re), part(|z| z.im));
    if re.norm_l2() >= im.norm_l2() { re } else { im }
}

/// Writes a vector of length 1, and its conjugate behind it; the place of the next.
fn put(x: &mut Mat<c64>, at: usize, pole: c64, vector: &Mat<c64>) -> usize {
    let norm = vector.norm_l2().max(f64::MIN_POSITIVE);
    for i in 0..x.nrows() {
        x[(i, at)] = vector[(i, 0)] / norm;
        if pole.im > 0.0 {
            x[(i, at + 1)] = (vector[(i, 0)] / norm).conj();
        }
    }
    at + if pole.im > 0.0 { 2 } else { 1 }
}

/// `B K = A − X Λ X⁻¹`.
fn gain(system: &System, pairs: &[c64], x: &Mat<c64>) -> Result<Mat<f64>, Error> {
    let n = system.states();
    let mut all = Vec::with_capacity(n);
    for pole in pairs {
        all.push(*pole);
        if pole.im > 0.0 {
            all.push(pole.conj());
        }
    }
    let scaled = Mat::from_fn(n, n, |i, j| x[(i, j)] * all[j]);
    // X Λ X⁻¹ = (X⁻ᵀ (X Λ)ᵀ)ᵀ.
    let closed = x.transpose().to_owned().partial_piv_lu().solve(&scaled.transpose().to_owned());
    let difference = Mat::from_fn(n, n, |i, j| system.a[(i, j)] - closed[(j, i)].re);
    let normal = system.b.transpose() * &system.b;
    let right = system.b.transpose() * &difference;
    let unreached =
        || Error::NoSolution("no input reaches some of the states: their poles stay".to_owned());
    // B of full column rank, or the least gain.
    let gain = match Singular::of(&normal)?.rank(1e-24).rank == system.inputs() {
        true => solve(&normal, &right).ok_or_else(unreached)?,
        false => {
            system.b.svd().map_err(|_| Error::NoConvergence("B"))?.pseudoinverse() * difference
        }
    };
    match gain.is_all_finite() {
        true => Ok(gain),
        false => Err(unreached()),
    }
}
