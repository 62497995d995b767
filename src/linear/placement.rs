//! Pole placement by state feedback.

use faer::linalg::solvers::Solve as _;
use faer::{Mat, c64};

use crate::algebra::{Error, Singular, expect_finite, solve};
use crate::riccati::text;
use crate::structure::controllability;
use crate::system::System;

/// Rounds over all eigenvectors.
const ROUNDS: u32 = 30;

/// K for which `A − B K` has these poles.
///
/// One input leaves no choice. Several leave the eigenvectors: they are made as orthogonal to one
/// another as the poles allow, each in turn, so that poles depend little on errors of A and B.
///
/// # Errors
/// If the poles are not as many as the states or complex ones are no pairs, a pole stands more
/// often than B has independent columns, or no input reaches some state.
///
/// # References
/// Kautsky, Nichols, Van Dooren, *Robust pole assignment in linear state feedback* (1985), method 0
/// on complex vectors.
pub fn place(system: &System, poles: &[c64]) -> Result<Mat<f64>, Error> {
    let n = system.states();
    if poles.len() != n {
        let message = format!("expected {n} poles, one for each state, found {}", poles.len());
        return Err(Error::Request(message));
    }
    expect_finite("A", system.a.as_ref())?;
    let singular = Singular::of(&system.b)?;
    let reference = singular.values.first().copied().unwrap_or(0.0);
    let rank = singular.rank(1e-12 * reference).rank;
    let pairs = paired(poles)?;
    for pole in &pairs {
        let count = poles.iter().filter(|other| **other == *pole).count();
        if count > rank {
            let message = format!(
                "the pole {} is asked for {count} times, and the inputs can place it {rank} times",
                pole.re
            );
            return Err(Error::Request(message));
        }
    }
    if n == 0 {
        return Ok(Mat::zeros(system.inputs(), 0));
    }
    if let Some(pole) = controllability(system, 1e-12)?.fixed.first() {
        return Err(Error::NoSolution(format!("no input moves the pole {}", text(*pole))));
    }
    let spaces: Vec<Mat<c64>> =
        pairs.iter().map(|pole| space(system, &singular, rank, *pole)).collect::<Result<_, _>>()?;
    let vectors = eigenvectors(&pairs, &spaces)?;
    gain(system, &pairs, &vectors)
}

/// Of each pair the upper one, and all real poles.
fn paired(poles: &[c64]) -> Result<Vec<c64>, Error> {
    let mut lower: Vec<c64> = poles.iter().copied().filter(|pole| pole.im < 0.0).collect();
    let mut kept = Vec::new();
    for pole in poles.iter().filter(|pole| pole.im >= 0.0) {
        if !(pole.re.is_finite() && pole.im.is_finite()) {
            return Err(Error::NotFinite("a pole"));
        }
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
    if spaces.iter().all(|space| space.ncols() == 1) {
        return Ok(x);
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
