//! Drumwright's quadratically constrained program of least forces, as published.
//!
//! `min ½ (ζ |λ_n|² + ζ |λ_u|² + |λ_r|² + |λ_s|² + |β_r|² + |β_s|²)` subject to
//! `λ_i ≥ s_i(λ)` and `λ_i ≥ 0` for normal and unilateral rows, `|λ_t| ≤ μ λ_n`, and with
//! `β_i = λ_i - s_i(λ)` on tangential rows; `s(λ) = q - D W λ` are the forces of the spring-dampers
//! at the end of the step (eqs. 83-85, 176-198). Bilateral rows are eliminated: `λ_b = s_b(λ)`
//! (eqs. 59-62). Impulses γ = h λ are used for forces here, which does not change the minimum.
//!
//! # Difference from the intended law
//!
//! The intention is `λ_i = max(0, s_i)`, that is `0 ≤ λ ⟂ λ - s(λ) ≥ 0`: the linear complementarity
//! problem of the positive definite matrix `A = W + D⁻¹`, which the other methods solve. The
//! program minimises over the same feasible set, but its minimum need not be complementary, since
//! `s_i` depends on all forces:
//!
//! - It is where A has no positive entries off its diagonal (then the complementary point is the
//!   least of the feasible set; R. W. Cottle, J.-S. Pang, R. E. Stone, *The Linear Complementarity
//!   Problem*, 1992, theorem 3.11.6), so with one row, with uncoupled rows, in a stack.
//! - In general, with I the rows that carry force in the complementary point and J the others, it
//!   is the program's minimum if and only if `A_II⁻¹ λ_I ≥ 0` and `A_JI A_II⁻¹ λ_I ≤ 0` (its
//!   conditions of optimality, whatever D). Otherwise the program lets springs push that are at
//!   rest, because that costs less than pushing at the right rows.
//! - A normal row is only bounded from below. Where a contact slides, `β = λ_t - s_t` is about `B`
//!   times the slip, 10⁸ N for the paper's `B = 10⁶/h`, and pushing harder lets friction stop the
//!   slip: the program does that unless ζ exceeds about `(h B W)²`. The paper's ζ = 1/h is far
//!   below. Far above it, on the other hand, a body on several contacts slips rather than let
//!   friction load them unevenly. Pressing does work: the program can gain energy, without bound.
//!
//! # Differences from the paper
//!
//! - Contacts that do not touch and would not at the end of the step are left out. One that the
//!   forces of others close takes part: without it a falling stack of two balls sinks into itself
//!   by the fall of a step, which its stiff spring gives back as a thousand times the energy.
//! - Eqs. (174), (175), (197), (198) leave the bilateral forces `G_bᵀ C⁻¹ c` out of d and e; eqs.
//!   (170), (171) have them, and so has this program.
//! - The force `-M̂ Ġv₀` with `M̂ = (G M⁻¹ Gᵀ)⁻¹` (eqs. 15, 53) does not exist for redundant rows
//!   and cancels the coupling within one kind of rows only. A caller who needs it passes it as
//!   [`super::SpringDamper::preload`].
//! - Nonlinear springs are solved at the end of the step by Newton's method, each step of which is
//!   such a program; the paper linearises them at the beginning of the step.
//!
//! # Numbers
//! β is about `B h W` = 10⁶ times an impulse in the paper's example, so the Hessian of the objective
//! has 10¹² beside ζ and 1, and loses them. Circular cones are solved by
//! [`legwork_qp::conic_least_squares`], which factors the rows of ζ, 1 and β as they are.

use legwork_linalg::Lu;

use super::force_program::{ForceProgram, RowKind, RowNumbers};

/// Writes the objective and the linear rows with the weight ζ on normal and unilateral forces.
pub(super) fn write_least_forces(program: &mut ForceProgram, zeta: f64) {
    program.begin(|kind| matches!(kind, RowKind::Pushing | RowKind::Tangential));
    let RowNumbers { kind, conductance, offset, free_velocity, .. } = &program.rows;
    let (m, n) = (kind.len(), program.unknowns.len());
    program.bilateral.extend((0..m).filter(|&i| kind[i] == RowKind::Bilateral));
    let nb = program.bilateral.len();
    let w = |i: usize, j: usize| program.view.inverse_inertia[j * m + i];
    // s = q - D W γ: the impulse of a row's law at the velocity without constraints.
    let q = |i: usize| offset[i] - conductance[i] * free_velocity[i];

    // (I + D W_bb) γ_b = q_b - D W_b* γ.
    let mut lu = Lu::new(nb);
    let matrix = lu.matrix_mut();
    let mut right = vec![0.0; nb * (n + 1)];
    for (k, &i) in program.bilateral.iter().enumerate() {
        for (l, &j) in program.bilateral.iter().enumerate() {
            matrix[l * nb + k] = conductance[i] * w(i, j) + if i == j { 1.0 } else { 0.0 };
        }
        for (l, &j) in program.unknowns.iter().enumerate() {
            right[l * nb + k] = conductance[i] * w(i, j);
        }
        right[n * nb + k] = q(i);
    }
    match lu.factor(0.0) {
        Ok(()) => right.chunks_exact_mut(nb.max(1)).for_each(|right| lu.solve(right)),
        // I + D W is regular unless its numbers are not finite, which the solver refuses.
        Err(_) => right.fill(f64::NAN),
    }
    program.bilateral_offset = right.split_off(n * nb);
    program.bilateral_slope = right;

    // Rows I + D Ŵ and right sides q̂ of all unknowns, with bilateral impulses put in.
    let (mut spring, mut level) = (vec![0.0; n * n], vec![0.0; n]);
    for (k, &i) in program.unknowns.iter().enumerate() {
        let d = conductance[i];
        let through = |column: &[f64]| -> f64 {
            program.bilateral.iter().zip(column).map(|(&b, x)| w(i, b) * x).sum()
        };
        level[k] = q(i) - d * through(&program.bilateral_offset);
        for (l, &j) in program.unknowns.iter().enumerate() {
            let slope = through(&program.bilateral_slope[l * nb..(l + 1) * nb]);
            spring[l * n + k] = d * (w(i, j) - slope) + if k == l { 1.0 } else { 0.0 };
        }
    }

    let is_pushing: Vec<bool> =
        program.unknowns.iter().map(|&i| kind[i] == RowKind::Pushing).collect();
    // ½ |C γ - d|²: the weights of all impulses, then β with β = Σ spring_kl γ_l - level_k.
    program.squares.target.resize(n, 0.0);
    program.squares.target.extend((0..n).filter(|&k| !is_pushing[k]).map(|k| level[k]));
    for l in 0..n {
        let weight = if is_pushing[l] { zeta.sqrt() } else { 1.0 };
        program.squares.matrix.extend((0..n).map(|k| if k == l { weight } else { 0.0 }));
        let column = &spring[l * n..(l + 1) * n];
        let tangential = column.iter().zip(&is_pushing).filter(|(_, is_pushing)| !**is_pushing);
        program.squares.matrix.extend(tangential.map(|(x, _)| x));
    }

    // The same as a quadratic program, for solvers of those.
    let linear = &mut program.data.linear;
    for k in 0..n {
        linear.hessian[k * (n + 1)] = if is_pushing[k] { zeta } else { 1.0 };
        if is_pushing[k] {
            linear.row_lower.push(level[k]);
            linear.row_upper.push(f64::INFINITY);
        }
    }
    for k in (0..n).filter(|&k| !is_pushing[k]) {
        for l in 0..n {
            let factor = spring[l * n + k];
            linear.gradient[l] -= factor * level[k];
            let column = &mut linear.hessian[l * n..(l + 1) * n];
            column.iter_mut().enumerate().for_each(|(j, h)| *h += factor * spring[j * n + k]);
        }
    }
    for l in 0..n {
        let column = &spring[l * n..(l + 1) * n];
        linear.rows.extend(column.iter().zip(&is_pushing).filter(|(_, is)| **is).map(|(x, _)| x));
    }
}
