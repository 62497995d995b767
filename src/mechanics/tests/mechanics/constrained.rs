//! Forward dynamics under constraints: independent, redundant and contradictory rows.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    ClosedChain, Constrained, ConstrainedDynamics, ConstraintProblem, FrameId, Kinematics, Model,
    WeightedJacobian, constrained_forward_dynamics, frame_jacobian_dot_velocity, point_jacobian,
    point_jacobian_dot_velocity, world_from_frame,
};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_models, random_state, small_models};

/// A robot at a state, and the forces on it.
pub(crate) struct Case<'a> {
    pub(crate) model: &'a Model,
    pub(crate) kinematics: Kinematics,
    pub(crate) m: DMatrix<f64>,
    /// `Sᵀτ + f_ext − h`
    pub(crate) force: DVector<f64>,
    torques: Vec<f64>,
    external: DVector<f64>,
}

pub(crate) struct Solution {
    pub(crate) nu_dot: DVector<f64>,
    pub(crate) multipliers: DVector<f64>,
    pub(crate) outcome: Constrained,
}

impl<'a> Case<'a> {
    pub(crate) fn new(model: &'a Model, seed: u64, speed: f64) -> Self {
        let (q, nu) = random_state(model, seed);
        let nu: Vec<f64> = nu.iter().map(|v| v * speed).collect();
        let kinematics = kinematics_at(model, &q, &nu);
        let mut rng = Rng::new(seed);
        let torques = rng.vector(model.joint_dim(), 5.0);
        let external = DVector::from_vec(rng.vector(nu.len(), 5.0));
        let mut force = &external - bias_at(model, &kinematics);
        for (&k, torque) in model.joint_velocity_indices().iter().zip(&torques) {
            force[k] += torque;
        }
        let m = dense_mass_at(model, &kinematics);
        Self { model, kinematics, m, force, torques, external }
    }

    pub(crate) fn solve(&self, jacobian: &DMatrix<f64>, bias: &DVector<f64>) -> Solution {
        let mut workspace = ConstrainedDynamics::new(self.model, bias.len());
        let mut multipliers = DVector::from_element(bias.len(), f64::NAN);
        let mut nu_dot = DVector::from_element(self.m.nrows(), f64::NAN);
        let factor = factor_at(self.model, &self.kinematics);
        let bias_force = bias_at(self.model, &self.kinematics);
        let problem = ConstraintProblem {
            jacobian: jacobian.as_slice(),
            bias: bias.as_slice(),
            bias_force: bias_force.as_slice(),
            joint_torques: &self.torques,
            external_force: self.external.as_slice(),
        };
        let mut run = || {
            constrained_forward_dynamics(
                self.model,
                &factor,
                &problem,
                &mut workspace,
                multipliers.as_mut_slice(),
                nu_dot.as_mut_slice(),
            )
        };
        let first = run();
        let outcome = run();
        assert_eq!(first, outcome, "the workspace carries nothing over");
        Solution { nu_dot, multipliers, outcome }
    }

    /// ‖J ν̇ + γ‖, relative to its terms.
    pub(crate) fn violation(&self, j: &DMatrix<f64>, bias: &DVector<f64>, x: &Solution) -> f64 {
        let size = 1.0 + j.norm() * x.nu_dot.norm() + bias.norm();
        (j * &x.nu_dot + bias).norm() / size
    }

    /// ‖M ν̇ + h − Jᵀλ − Sᵀτ − f_ext‖, relative to its terms.
    fn imbalance(&self, j: &DMatrix<f64>, x: &Solution) -> f64 {
        let push = j.transpose() * &x.multipliers;
        let size = self.m.norm() * x.nu_dot.norm() + self.force.norm() + push.norm();
        (&self.m * &x.nu_dot - &self.force - push).norm() / size
    }

    fn point(&self, frame: FrameId, offset: &Vector3<f64>) -> (DMatrix<f64>, DVector<f64>) {
        let mut jacobian = DMatrix::zeros(3, self.m.nrows());
        let out = jacobian.as_mut_slice();
        point_jacobian(self.model, &self.kinematics, frame, offset, out);
        let bias = point_jacobian_dot_velocity(self.model, &self.kinematics, frame, offset);
        (jacobian, DVector::from_column_slice(bias.as_slice()))
    }
}

pub(crate) fn stacked(parts: &[(DMatrix<f64>, DVector<f64>)]) -> (DMatrix<f64>, DVector<f64>) {
    let rows: usize = parts.iter().map(|(_, bias)| bias.len()).sum();
    let mut jacobian = DMatrix::zeros(rows, parts[0].0.ncols());
    let mut bias = DVector::zeros(rows);
    let mut at = 0;
    for (j, b) in parts {
        jacobian.rows_mut(at, b.len()).copy_from(j);
        bias.rows_mut(at, b.len()).copy_from(b);
        at += b.len();
    }
    (jacobian, bias)
}

/// Singular values of `J M^(−1/2)`, the largest first: how much each direction can be moved.
fn mobility(case: &Case<'_>, jacobian: &DMatrix<f64>) -> Vec<f64> {
    let root = case.m.clone().cholesky().unwrap().l();
    let scaled = root.solve_lower_triangular(&jacobian.transpose()).unwrap();
    let mut values = scaled.svd(false, false).singular_values.as_slice().to_vec();
    values.sort_by(|a, b| b.total_cmp(a));
    values
}

/// Against the whole system `[M −Jᵀ; J 0] (ν̇, λ) = (τ − h, −γ)` by dense LU.
#[test]
fn independent_rows_solve_the_whole_system() {
    let mut rows = Law::new("J nu_dot + gamma = 0 / condition", 1e-13);
    let mut balance = Law::new("M nu_dot + h - J' lambda = tau", 1e-12);
    let mut dense = Law::new("constrained FD = dense KKT / condition", 1e-12);
    let mut count = 0;
    for Sample { seed, model, .. } in random_models() {
        let case = Case::new(model, *seed, 1.0);
        let mut rng = Rng::new(seed + 7);
        let frames: Vec<FrameId> = frame_ids(model).collect();
        let mut some = |_| {
            let frame = frames[rng.below(frames.len())];
            case.point(frame, &Vector3::from_vec(rng.vector(3, 0.1)))
        };
        let parts = [some(0), some(1)];
        for parts in [&parts[..1], &parts[..]] {
            let (jacobian, bias) = stacked(parts);
            let (nv, nc) = (case.m.nrows(), bias.len());
            let values = mobility(&case, &jacobian);
            if nc > nv || values[0] == 0.0 || values[nc - 1] < 1e-3 * values[0] {
                continue;
            }
            count += 1;
            let solution = case.solve(&jacobian, &bias);
            assert_eq!(solution.outcome, Constrained { rank: nc, residual: 0.0 }, "seed {seed}");
            let condition = condition(&case.m);
            rows.check(*seed, case.violation(&jacobian, &bias, &solution) / condition);
            balance.check(*seed, case.imbalance(&jacobian, &solution));
            let mut whole = DMatrix::zeros(nv + nc, nv + nc);
            whole.view_mut((0, 0), (nv, nv)).copy_from(&case.m);
            whole.view_mut((0, nv), (nv, nc)).copy_from(&-jacobian.transpose());
            whole.view_mut((nv, 0), (nc, nv)).copy_from(&jacobian);
            let mut right = DVector::zeros(nv + nc);
            right.rows_mut(0, nv).copy_from(&case.force);
            right.rows_mut(nv, nc).copy_from(&-&bias);
            let expected = whole.lu().solve(&right).unwrap();
            let size = expected.norm() * condition;
            let (nu_dot, multipliers) = (expected.rows(0, nv), expected.rows(nv, nc));
            dense.check_part(*seed, "nu_dot", (&solution.nu_dot - nu_dot).norm() / size);
            dense.check_part(*seed, "lambda", (&solution.multipliers - multipliers).norm() / size);
        }
    }
    assert!(count > 200, "only {count} cases");
}

#[test]
fn without_rows_it_is_forward_dynamics() {
    for Sample { seed, model, .. } in small_models(8) {
        let case = Case::new(model, *seed, 1.0);
        let nothing = (DMatrix::zeros(0, case.m.nrows()), DVector::zeros(0));
        let solution = case.solve(&nothing.0, &nothing.1);
        let external = case.external.as_slice();
        let free = forward_at(model, &case.kinematics, &case.torques, external);
        assert_eq!(solution.nu_dot, free, "seed {seed}");
        assert_eq!(solution.outcome, Constrained { rank: 0, residual: 0.0 });
    }
}

/// The four corners of a rigid sole are 12 rows of rank 6 and hold it as its frame does; the same
/// row twice is one row.
#[test]
fn redundant_rows_change_nothing() {
    let mut motion = Law::new("nu_dot of redundant - independent rows / condition", 1e-12);
    let mut residual = Law::new("residual of consistent rows / condition", 1e-12);
    let mut balance = Law::new("M nu_dot + h - J' lambda = tau, redundant", 1e-11);
    let mut count = 0;
    for Sample { seed, model, .. } in random_models() {
        let case = Case::new(model, *seed, 1.0);
        let frame = last_frame(model);
        let jacobian = frame_jacobian_at(model, &case.kinematics, frame);
        let bias = six(&frame_jacobian_dot_velocity(model, &case.kinematics, frame));
        if case.m.nrows() < 6 {
            continue;
        }
        let values = mobility(&case, &jacobian);
        if values[5] < 1e-3 * values[0] {
            continue;
        }
        count += 1;
        let expected = case.solve(&jacobian, &bias);
        assert_eq!(expected.outcome.rank, 6, "seed {seed}");
        let rotation = world_from_frame(model, &case.kinematics, frame).rotation;
        // While the sole turns, its corners cannot all move steadily: they take the acceleration
        // that goes with that of the frame.
        let part = |at: usize| Vector3::new(bias[at], bias[at + 1], bias[at + 2]);
        let corners = [(0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)].map(|(x, y)| {
            let arm = rotation * Vector3::new(x, y, -0.02);
            let bias = part(0) + part(3).cross(&arm);
            (case.point(frame, &arm).0, DVector::from_column_slice(bias.as_slice()))
        });
        let own = (jacobian.clone(), bias.clone());
        let twice = [own.clone(), own.clone()];
        let all = [&corners[..], &twice[..]].concat();
        let size = (1.0 + expected.nu_dot.norm()) * condition(&case.m);
        for (what, parts) in [("corners", &corners[..]), ("twice", &twice), ("all", &all)] {
            let (jacobian, bias) = stacked(parts);
            let found = case.solve(&jacobian, &bias);
            assert_eq!(found.outcome.rank, 6, "seed {seed}: {what}");
            motion.check_part(*seed, what, (&found.nu_dot - &expected.nu_dot).norm() / size);
            residual.check_part(*seed, what, found.outcome.residual / size);
            balance.check_part(*seed, what, case.imbalance(&jacobian, &found));
            // As few entries as there are independent rows.
            let used = found.multipliers.iter().filter(|x| **x != 0.0).count();
            assert!(used <= 6, "seed {seed}: {what}: {used} multipliers");
        }
    }
    assert!(count > 100, "only {count} cases");
}

/// A row and a copy with a bias that is larger by one: the residual is one.
#[test]
fn contradictory_rows_have_a_residual() {
    let mut law = Law::new("residual of contradictory rows / condition", 1e-12);
    for Sample { seed, model, .. } in random_models() {
        let case = Case::new(model, *seed, 0.1);
        let (jacobian, bias) = case.point(last_frame(model), &Vector3::new(0.1, 0.2, 0.3));
        let row = jacobian.rows(0, 1).into_owned();
        if row.norm() < 1e-3 {
            continue;
        }
        let one = DVector::from_element(1, bias[0]);
        let other = one.add_scalar(1.0);
        let (jacobian, bias) = stacked(&[(row.clone(), one), (row, other)]);
        let found = case.solve(&jacobian, &bias);
        assert_eq!(found.outcome.rank, 1, "seed {seed}");
        let size = (1.0 + found.nu_dot.norm() * jacobian.norm()) * condition(&case.m);
        law.check(*seed, (found.outcome.residual - 1.0).abs() / size);
    }
}

/// A hinge has one degree of freedom: six rows of its far end have rank one. A zero row adds none.
#[test]
fn rank_is_that_of_what_can_move() {
    let mut count = 0;
    for Sample { seed, model, .. } in random_models() {
        let case = Case::new(model, *seed, 0.0);
        let nv = case.m.nrows();
        // Six rows of one frame, and a row of zeros; at rest J̇ν = 0, so that no rows contradict.
        let own = frame_jacobian_at(model, &case.kinematics, last_frame(model));
        let zero = DMatrix::zeros(1, nv);
        let (jacobian, bias) = stacked(&[(own, DVector::zeros(6)), (zero, DVector::zeros(1))]);
        let values = mobility(&case, &jacobian);
        let rank = values.iter().filter(|value| **value > 1e-4 * values[0]).count();
        let clear = values.iter().all(|x| *x > 1e-4 * values[0] || *x < 1e-9 * values[0]);
        if !clear {
            continue;
        }
        count += usize::from(rank < 6);
        let found = case.solve(&jacobian, &bias);
        assert_eq!(found.outcome.rank, rank, "seed {seed}: {values:?}");
        let size = (1.0 + found.nu_dot.norm() * jacobian.norm()) * condition(&case.m);
        assert!(found.outcome.residual < 1e-12 * size, "seed {seed}: {:?}", found.outcome);
        assert!(case.violation(&jacobian, &bias, &found) < 1e-12 * size, "seed {seed}");
    }
    assert!(count > 30, "only {count} frames that cannot move freely");
}

/// The unit of a row is the user's affair: millimetres or metres, the motion is the same.
#[test]
fn scale_of_rows_changes_nothing() {
    let mut law = Law::new("nu_dot under scaled rows / condition", 1e-12);
    for Sample { seed, model, .. } in random_models() {
        let case = Case::new(model, *seed, 1.0);
        let (mut jacobian, mut bias) = case.point(last_frame(model), &Vector3::zeros());
        let values = mobility(&case, &jacobian);
        if case.m.nrows() < 3 || values[0] == 0.0 || values[2] < 1e-2 * values[0] {
            continue;
        }
        let expected = case.solve(&jacobian, &bias);
        for (row, factor) in [1e-7, 1.0, 1e5].into_iter().enumerate() {
            jacobian.row_mut(row).scale_mut(factor);
            bias[row] *= factor;
        }
        let found = case.solve(&jacobian, &bias);
        assert_eq!(found.outcome.rank, 3, "seed {seed}");
        let size = (1.0 + expected.nu_dot.norm()) * condition(&case.m);
        law.check(*seed, (found.nu_dot - &expected.nu_dot).norm() / size);
    }
}

/// `G = J M⁻¹ Jᵀ` of a point of a mechanism that is held elsewhere, and the velocity that is left
/// of one before an impact: both against the dense KKT matrix `[M −Jᵀ; J 0]`.
#[test]
fn a_held_mechanism_responds_and_stops_as_the_whole_system_does() {
    let mut response = Law::new("G of a closed mechanism / condition", 1e-11);
    let mut stop = Law::new("velocity after an impact / condition", 1e-11);
    let mut count = 0;
    for Sample { seed, model, .. } in random_models() {
        let case = Case::new(model, *seed, 1.0);
        let nv = case.m.nrows();
        let frames: Vec<FrameId> = frame_ids(model).collect();
        let mut rng = Rng::new(seed + 3);
        let mut point = || case.point(frames[rng.below(frames.len())], &Vector3::zeros()).0;
        let (held, contact) = (point(), point());
        let values = mobility(&case, &held);
        let is_held = nv >= 3 && values[0] > 0.0 && values[2] > 1e-2 * values[0];
        if !is_held || contact.norm() == 0.0 {
            continue;
        }
        count += 1;
        // The rows, and those of twice their sum, which depend on them.
        let mut chain = ClosedChain::new(4, nv, 3);
        let twice = held.row_sum() * 2.0;
        for (label, row) in held.row_iter().enumerate() {
            chain.push(label, row.iter().copied(), 0.0);
        }
        chain.push(3, twice.iter().copied(), 0.0);
        let factor = factor_at(model, &case.kinematics);
        let factor = factor.view();
        chain.eliminate(factor);
        assert_eq!(chain.rank(), 3, "seed {seed}");

        let mut whole = DMatrix::zeros(nv + 3, nv + 3);
        whole.view_mut((0, 0), (nv, nv)).copy_from(&case.m);
        whole.view_mut((0, nv), (nv, 3)).copy_from(&-held.transpose());
        whole.view_mut((nv, 0), (3, nv)).copy_from(&held);
        let whole = whole.lu();
        let condition = condition(&case.m);

        let (mut jacobian, mut g) = (contact.clone(), DMatrix::zeros(3, 3));
        let mut weighted = WeightedJacobian::new(nv, 3);
        weighted.set(factor, jacobian.as_slice(), 3);
        chain.project(&mut weighted, jacobian.as_mut_slice());
        weighted.gram_into(g.as_mut_slice());
        let mut right = DMatrix::zeros(nv + 3, 3);
        right.rows_mut(0, nv).copy_from(&contact.transpose());
        let pushed = whole.solve(&right).unwrap();
        let expected = &contact * pushed.rows(0, nv);
        // The same from the rows that act, `J ← W P C`.
        let from_rows = &jacobian * pushed.rows(0, nv);
        let size = contact.norm() * pushed.norm() * condition;
        response.check_part(*seed, "W Wᵀ", (&g - &expected).norm() / size);
        response.check_part(*seed, "J", (from_rows - expected).norm() / size);

        let nu = DVector::from_vec(Rng::new(*seed).vector(nv, 1.0));
        chain.hold_velocity(nu.as_slice());
        chain.eliminate(factor);
        let mut jump = DVector::zeros(nv);
        chain.constrain(jump.as_mut_slice());
        let mut impulses = [f64::NAN; 4];
        chain.forces_into(&mut impulses);
        assert!(chain.residual(jump.as_slice()) < 1e-10 * (1.0 + twice.norm()), "seed {seed}");
        factor.half_solve_transposed_in_place(jump.as_mut_slice());
        let mut right = DVector::zeros(nv + 3);
        right.rows_mut(nv, 3).copy_from(&-(&held * &nu));
        let expected = whole.solve(&right).unwrap();
        let size = expected.norm() * condition;
        stop.check_part(*seed, "jump", (jump - expected.rows(0, nv)).norm() / size);
        let felt = held.transpose() * DVector::from_column_slice(&impulses[..3])
            + twice.transpose() * impulses[3];
        let wanted = held.transpose() * expected.rows(nv, 3);
        stop.check_part(*seed, "impulses", (felt - wanted).norm() / size);
    }
    assert!(count > 100, "only {count} cases");
}
