//! Laws of the contact solvers: all methods agree, pass the judge, and reject bad data by a status.
//!
//! One file, because all laws go through the same table of methods.

use crate::common::{
    bits, difference, largest, natural_residual, pyramid, pyramids, references, residual, solve,
};
use legwork_linalg::{PivotedCholesky, axpy, cancel, dot};
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{
    AcceleratedGradient, Accuracy, BoxedMethod, Budget, ClarabelSolver, ConeShape, Cones,
    ContactMethod, ContactProblemData, CoulombFixedPoint, Given, METHODS, Method, ProblemSize,
    ProjectedGaussSeidel, PyramidActiveSet, PyramidFit, Settings, Status, Value, kkt,
};

/// A method of the table with its tightest settings, and how exact it is.
struct Case {
    name: &'static str,
    method: &'static Method,
    settings: Settings,
    accuracy: Accuracy,
}

impl Case {
    /// With memory for so many contacts with so many sides.
    fn make(&self, contacts: usize, sides: usize) -> BoxedMethod {
        (self.method.make)(ProblemSize::new(contacts, sides), &self.settings)
    }

    /// True if it takes this cone.
    fn takes(&self, shape: &ConeShape) -> bool {
        self.method.cones == Cones::All || shape.sides() > 0
    }
}

/// The methods of the table, the exact ones first. Accelerated gradients converge on redundant
/// problems too, if slowly: a second case of them stops earlier.
fn cases() -> Vec<Case> {
    let case = |method: &'static Method| {
        let (settings, accuracy) = (method.tight_settings(), method.accuracy?);
        Some(Case { name: method.name, method, settings, accuracy })
    };
    let mut cases: Vec<Case> = METHODS.iter().copied().filter_map(case).collect();
    let mut coarse = case(Method::named("apgd").unwrap()).unwrap();
    coarse.name = "coarse apgd";
    coarse.settings.set("tol", Value::Real(1e-9));
    coarse.accuracy = Accuracy { definite: 1e-6, reference: 1e-7, redundant: Some(1e-8) };
    cases.push(coarse);
    cases.sort_by(|a, b| a.accuracy.definite.total_cmp(&b.accuracy.definite));
    cases
}

/// The methods that take a cone.
fn methods_for(shape: &ConeShape) -> impl Iterator<Item = Case> {
    cases().into_iter().filter(|case| case.takes(shape))
}

/// Pyramids of both fits, and the circular cone.
fn shapes() -> Vec<ConeShape> {
    let mut shapes = pyramids(&[3, 4, 6, 8]);
    shapes.push(ConeShape::circular());
    shapes
}

/// Ten problems of a standing robot and ten random ones, solved by quadprog and checked by ProxQP.
#[test]
fn reference_solutions_are_met() {
    for method in &cases() {
        let mut solver = method.make(4, 4);
        let mut worst: f64 = 0.0;
        for case in references() {
            let (forces, status) = solve(&mut *solver, &case.problem);
            assert!(status.is_usable(), "{}, {}: {status:?}", method.name, case.name);
            // Condition numbers reach 520.
            worst = worst.max(case.error(&forces));
        }
        assert!(
            worst < method.accuracy.reference,
            "{}: relative difference {worst:.1e}",
            method.name
        );
        assert!(worst > 0.0, "bit-equal to an independent program is not credible");
    }
}

/// Compliance, masks and missing friction included.
#[test]
fn all_methods_agree_on_definite_problems() {
    for (index, shape) in shapes().into_iter().enumerate() {
        for contacts in [1, 2, 3, 4, 8, 16] {
            for seed in 0..6 {
                let mut problem =
                    random_definite(100 * seed + index as u64, contacts, shape.clone());
                if seed % 3 == 2 {
                    problem.friction[0] = 0.0;
                    problem.active[contacts - 1] = 0.0;
                    problem.compliance.fill(0.3);
                }
                let mut first: Option<Vec<f64>> = None;
                for method in methods_for(&shape) {
                    let what = format!(
                        "{}, {:?}, {contacts} contacts, seed {seed}",
                        method.name,
                        shape.cone()
                    );
                    let (forces, status) =
                        solve(&mut *method.make(contacts, shape.sides()), &problem);
                    assert!(status.is_usable(), "{what}: {status:?}");
                    let residual = residual(&problem, &forces);
                    assert!(residual < method.accuracy.definite, "{what}: residual {residual:.1e}");
                    // The first is the most exact that takes the cone.
                    let first = first.get_or_insert_with(|| forces.clone());
                    let size = problem.force_scale.max(largest(first));
                    let error = difference(first, &forces) / size;
                    let bound = if shape.sides() > 0 { method.accuracy.definite } else { 4e-5 };
                    assert!(error < bound, "{what}: off by {error:.1e}");
                }
            }
        }
    }
}

/// What the regularisation of 1e-10 barely touches, the acceleration, must agree to the tolerance
/// of the interior point, whichever forces a method finds.
#[test]
fn redundant_contacts_masks_and_zero_friction_have_one_acceleration() {
    for (index, shape) in shapes().into_iter().enumerate() {
        for contacts in [1, 2, 3, 4, 5, 8, 12] {
            for seed in 0..4 {
                let masked = seed % 2 == 1;
                let problem =
                    rigid_body(1000 * seed + index as u64, contacts, shape.clone(), masked);
                let mut first: Option<Vec<f64>> = None;
                for method in methods_for(&shape) {
                    let Some(bound) = method.accuracy.redundant else { continue };
                    let what = format!(
                        "{}, {:?}, {contacts} contacts, seed {seed}",
                        method.name,
                        shape.cone()
                    );
                    let (forces, status) =
                        solve(&mut *method.make(contacts, shape.sides()), &problem);
                    let is_direct = method.accuracy.definite <= 1e-10;
                    let judge = if is_direct { residual } else { natural_residual };
                    let residual = judge(&problem, &forces);
                    assert!(status.is_usable(), "{what}: {status:?}, residual {residual:.1e}");
                    assert!(residual < bound, "{what}: residual {residual:.1e}");
                    for contact in 0..contacts {
                        let f = &forces[3 * contact..3 * contact + 3];
                        if problem.active[contact] == 0.0 {
                            assert_eq!(f, [0.0; 3], "{what}: force at inactive contact {contact}");
                        }
                        if problem.friction[contact] == 0.0 {
                            assert_eq!(f[..2], [0.0; 2], "{what}: friction at contact {contact}");
                        }
                    }
                    let mut a = vec![0.0; 3 * contacts];
                    problem.view().acceleration_into(&forces, &mut a);
                    let first = first.get_or_insert_with(|| a.clone());
                    let error = difference(first, &a) / problem.view().acceleration_scale();
                    assert!(error < 4e-5, "{what}: accelerations differ by {error:.1e}");
                }
            }
        }
    }
}

#[test]
fn redundancy_is_what_the_set_says_it_is() {
    let rank = |problem: &ContactProblemData| {
        PivotedCholesky::default().factor(&problem.inverse_inertia, 12, &mut [0.0; 144])
    };
    assert_eq!(rank(&rigid_body(1, 4, ConeShape::circular(), false)), Some(6));
    assert_eq!(rank(&random_definite(1, 4, ConeShape::circular())), Some(12));
}

/// Four equal vertices of a symmetric foot share the load evenly: the regularised minimiser has
/// least norm.
#[test]
fn a_symmetric_foot_shares_its_load_evenly() {
    let mut problem = ContactProblemData::new(4, pyramid(4, PyramidFit::Inscribed));
    let (mass, inertia) = (2.0, 0.01);
    let corners = [[0.1, 0.05], [0.1, -0.05], [-0.1, 0.05], [-0.1, -0.05]];
    for (i, a) in corners.iter().enumerate() {
        for (j, b) in corners.iter().enumerate() {
            // Forces at height zero, centre of mass in the plane: only normals tilt the body.
            for axis in 0..3 {
                let tilt = if axis == 2 { (a[0] * b[0] + a[1] * b[1]) / inertia } else { 0.0 };
                problem.inverse_inertia[(3 * j + axis) * 12 + 3 * i + axis] = 1.0 / mass + tilt;
            }
        }
        problem.bias[3 * i + 2] = -9.81;
    }
    problem.friction.fill(0.5);
    problem.force_scale = mass * 9.81 / 4.0;
    let (forces, status) = solve(&mut PyramidActiveSet::new(4, 4), &problem);
    assert_eq!(status, Status::Solved);
    for contact in 0..4 {
        let share = forces[3 * contact + 2] / problem.force_scale;
        // Condition 1e10 times rounding.
        assert!((share - 1.0).abs() < 1e-5, "contact {contact} carries {share} of its share");
    }
}

/// A contact's unit, N or N m, mm or m, changes its rows and columns by a factor: the power of an
/// error stays, and with it the residual.
#[test]
fn the_natural_residual_does_not_depend_on_the_unit_of_a_contact() {
    for seed in 0..50 {
        let problem = random_definite(seed, 4, ConeShape::circular());
        let mut random = Random::new(seed);
        let forces: Vec<f64> = (0..12).map(|_| 10.0 * random.normal()).collect();
        let largest_entry = |contact: usize| {
            (3 * contact..3 * contact + 3)
                .map(|i| problem.inverse_inertia[13 * i])
                .fold(0.0, f64::max)
        };
        let least = (0..4).min_by(|&a, &b| largest_entry(a).total_cmp(&largest_entry(b)));
        // The least entry relates the power to the scale of forces: it keeps its unit.
        let factors: Vec<f64> = (0..4)
            .map(|c| if Some(c) == least { 1.0 } else { [2.0, 64.0, 1024.0][c % 3] })
            .collect();
        let factor = |i: usize| factors[i / 3];
        let mut other = problem.clone();
        for (at, entry) in other.inverse_inertia.iter_mut().enumerate() {
            *entry *= factor(at % 12) * factor(at / 12);
        }
        (0..12).for_each(|i| other.bias[i] *= factor(i));
        let converted: Vec<f64> = (0..12).map(|i| forces[i] / factor(i)).collect();
        (other.regularisation, other.compliance) = (0.0, vec![]);
        let mut problem = problem.clone();
        (problem.regularisation, problem.compliance) = (0.0, vec![]);
        let (one, two) =
            (natural_residual(&problem, &forces), natural_residual(&other, &converted));
        assert!((one - two).abs() <= 1e-12 * one, "seed {seed}: {one:e} beside {two:e}");

        // The factors are powers of two: sweeps do the same, bit for bit.
        let swept = |problem: &ContactProblemData| {
            let (mut solver, mut forces) =
                (ProjectedGaussSeidel::new(4, 1000, 1e-9), vec![0.0; 12]);
            let outcome = solver.solve(&problem.view(), &mut forces);
            assert_eq!(outcome.status, Status::Solved, "seed {seed}");
            (outcome.iterations, forces)
        };
        let ((sweeps, forces), (others, converted)) = (swept(&problem), swept(&other));
        let back: Vec<f64> = (0..12).map(|i| converted[i] * factor(i)).collect();
        assert_eq!((sweeps, bits(&forces)), (others, bits(&back)), "seed {seed}");
    }
}

/// Two bodies on the ground that do not touch: where an iteration stops, the error of the light
/// body's acceleration grows with the root of the ratio of their masses, not with the ratio.
#[test]
fn a_light_body_beside_a_heavy_one_is_resolved() {
    for ratio in [1e3, 1e6] {
        let mut problem = ContactProblemData::new(2, ConeShape::circular());
        for (contact, mass) in [1.0, 1.0 / ratio].into_iter().enumerate() {
            for axis in 0..3 {
                let at = 3 * contact + axis;
                problem.inverse_inertia[7 * at] = 1.0 / mass;
            }
            // The heavy body is found at once, the light one by many iterations.
            let (at, coupling) = (3 * contact, [0.0, 0.9][contact]);
            problem.inverse_inertia[(at + 2) * 6 + at] = coupling / mass;
            problem.inverse_inertia[at * 6 + at + 2] = coupling / mass;
            problem.bias[at..at + 3].copy_from_slice(&[-1.0, 0.5, -9.81]);
        }
        (problem.force_scale, problem.regularisation) = (9.81, 0.0);
        problem.friction.fill(0.7);
        let mut exact = [0.0; 6];
        // Each alone, at its own scale.
        for contact in 0..2 {
            let mut alone = ContactProblemData::new(1, ConeShape::circular());
            for (row, column) in (0..3).flat_map(|row| (0..3).map(move |column| (row, column))) {
                alone.inverse_inertia[3 * column + row] =
                    problem.inverse_inertia[6 * (3 * contact + column) + 3 * contact + row];
            }
            alone.bias.copy_from_slice(&problem.bias[3 * contact..3 * contact + 3]);
            alone.friction.fill(0.7);
            (alone.force_scale, alone.regularisation) =
                (9.81 / if contact == 0 { 1.0 } else { ratio }, 0.0);
            let (forces, status) = solve(&mut AcceleratedGradient::new(1, 100_000, 1e-12), &alone);
            assert_eq!(status, Status::Solved);
            exact[3 * contact..3 * contact + 3].copy_from_slice(&forces);
        }
        let solvers: [(&str, Box<dyn ContactMethod>); 2] = [
            ("gradient", Box::new(AcceleratedGradient::new(2, 100_000, 1e-7))),
            ("sweeps", Box::new(ProjectedGaussSeidel::new(2, 100_000, 1e-7))),
        ];
        for (name, mut solver) in solvers {
            let (forces, status) = solve(&mut *solver, &problem);
            assert_eq!(status, Status::Solved, "{name}");
            let error = ratio * difference(&forces[3..], &exact[3..]);
            assert!(error < 1e-7 * 9.81 * ratio.sqrt() * 30.0, "{name}, {ratio:e}: {error:.1e}");
        }
    }
}

/// On circular cones the interior point occasionally stalls short of its tolerance; at 1e-12 about
/// every second time. Sweeps repair the answer, and the status says what the judge finds.
#[test]
fn a_stalled_interior_point_is_polished_and_says_what_it_reached() {
    for (tolerance, most_inaccurate) in [(1e-10, 0), (1e-12, 60)] {
        let mut solver = ClarabelSolver::new(tolerance, 200);
        let mut inaccurate = 0;
        for seed in 0..1000 {
            let problem = match seed % 2 {
                0 => random_definite(seed, 4, ConeShape::circular()),
                _ => rigid_body(seed, 4, ConeShape::circular(), seed % 4 == 1),
            };
            let (forces, status) = solve(&mut solver, &problem);
            let residual = natural_residual(&problem, &forces);
            // The gap bounds the square of the residual.
            match status {
                Status::Solved => assert!(residual <= tolerance.sqrt(), "{seed}: {residual:.1e}"),
                Status::Inaccurate => {
                    inaccurate += 1;
                    assert!(residual > 1e-8 && residual < 1e-6, "{seed}: {residual:.1e}");
                }
                other => panic!("{seed}: {other:?}"),
            }
        }
        assert!(inaccurate <= most_inaccurate, "{inaccurate} of 1000 at {tolerance:.0e}");
    }
}

/// A pyramid of m sides is within (π/m)²/2 of the true cone, so with strong convexity its
/// solution is within O(π/m) of the true one.
#[test]
fn fine_pyramids_tend_to_the_true_cone() {
    for seed in 0..5 {
        let exact_problem = random_definite(seed, 4, ConeShape::circular());
        let (exact, _) = solve(&mut ProjectedGaussSeidel::new(4, 20_000, 1e-11), &exact_problem);
        let largest = exact.iter().fold(0.0, |m: f64, f| m.max(f.abs()));
        for sides in [8, 16, 32, 64, 100] {
            let problem = random_definite(seed, 4, pyramid(sides, PyramidFit::Inscribed));
            let (forces, status) = solve(&mut PyramidActiveSet::new(4, sides), &problem);
            assert_eq!(status, Status::Solved, "{sides} sides");
            let error = difference(&forces, &exact) / largest;
            let bound = std::f64::consts::PI / sides as f64;
            assert!(error < bound, "seed {seed}, {sides} sides: {error:.1e} > {bound:.1e}");
        }
    }
}

#[test]
fn the_order_of_the_contacts_does_not_matter() {
    for seed in 0..10 {
        for contacts in [2, 4, 7] {
            let problem = random_definite(seed, contacts, pyramid(4, PyramidFit::Inscribed));
            let order: Vec<usize> = (0..contacts).rev().collect();
            let mut shuffled = problem.clone();
            let n = 3 * contacts;
            let source = |i: usize| 3 * order[i / 3] + i % 3;
            for j in 0..n {
                for i in 0..n {
                    shuffled.inverse_inertia[j * n + i] =
                        problem.inverse_inertia[source(j) * n + source(i)];
                }
                shuffled.bias[j] = problem.bias[source(j)];
                shuffled.friction[j / 3] = problem.friction[source(j) / 3];
            }
            for method in &cases() {
                let (forces, _) = solve(&mut *method.make(contacts, 4), &problem);
                let (permuted, _) = solve(&mut *method.make(contacts, 4), &shuffled);
                let back: Vec<f64> = (0..n).map(|i| forces[source(i)]).collect();
                let error = difference(&back, &permuted) / problem.force_scale;
                let name = method.name;
                assert!(
                    error < method.accuracy.definite,
                    "{name}, seed {seed}, {contacts}: {error:.1e}"
                );
            }
        }
    }
}

#[test]
fn a_used_solver_returns_the_bits_of_a_fresh_one() {
    for shape in [ConeShape::circular(), pyramid(6, PyramidFit::Inscribed)] {
        for method in methods_for(&shape) {
            let mut used = method.make(0, 0);
            for seed in 0..20 {
                let contacts = [4, 4, 3, 8][seed as usize % 4];
                let problem = match seed % 3 {
                    0 => random_definite(seed, contacts, shape.clone()),
                    other => rigid_body(seed, contacts, shape.clone(), other == 2),
                };
                let fresh = solve(&mut *method.make(contacts, shape.sides()), &problem);
                let again = solve(&mut *used, &problem);
                assert_eq!(bits(&again.0), bits(&fresh.0), "{}, seed {seed}", method.name);
            }
        }
    }
}

#[test]
fn a_warm_start_saves_work_and_changes_nothing_else() {
    for case in cases() {
        let (name, error) = (case.name, case.accuracy.definite);
        let mut method = case.make(4, 4);
        let len = 4 * method.warm_len(4);
        if len == 0 {
            continue;
        }
        let mut random = Random::new(9);
        let (mut cold_total, mut warm_total) = (0, 0);
        for seed in 0..40 {
            let mut problem = random_definite(seed, 4, pyramid(4, PyramidFit::Circumscribed));
            let (mut start, mut forces, mut expected) = (vec![0.0; len], [0.0; 12], [0.0; 12]);
            let mut run = |problem: &ContactProblemData, start: &mut [f64], f: &mut [f64]| {
                let outcome = method.solve_warm(&problem.view().into(), start, f);
                assert_eq!(outcome.status, Status::Solved, "{name}, seed {seed}");
                outcome.iterations
            };
            run(&problem, &mut start, &mut forces);
            if len == 12 {
                assert_eq!(run(&problem, &mut start, &mut forces), 0, "{name}, seed {seed}");
            }
            problem.bias.iter_mut().for_each(|b| *b += 0.01 * random.normal());
            warm_total += run(&problem, &mut start, &mut forces);
            cold_total += run(&problem, &mut vec![0.0; len], &mut expected);
            let close = |forces: &[f64]| {
                let off = difference(forces, &expected) / problem.force_scale;
                assert!(off < error, "{name}, seed {seed}: {off:.1e}");
            };
            close(&forces);
            // A nonsensical guess costs time only.
            start.fill(if len == 12 { f64::NAN } else { 1.0 });
            run(&problem, &mut start, &mut forces);
            close(&forces);
        }
        assert!(warm_total < cold_total, "{name}: warm {warm_total}, cold {cold_total}");
    }
}

#[test]
fn over_relaxed_sweeps_have_the_same_answer() {
    let problem = random_definite(5, 4, ConeShape::circular());
    let mut solver = ProjectedGaussSeidel::new(4, 20_000, 1e-9);
    let (forces, _) = solve(&mut solver, &problem);
    solver.relaxation = 1.3;
    let (relaxed, status) = solve(&mut solver, &problem);
    assert_eq!(status, Status::Solved);
    assert!(difference(&relaxed, &forces) / problem.force_scale < 1e-6);
}

#[test]
fn bad_data_and_cones_get_a_status_and_zero_force() {
    let breakers: [fn(&mut ContactProblemData); 7] = [
        |p| p.bias[2] = f64::NAN,
        |p| p.inverse_inertia[5] = f64::INFINITY,
        |p| p.friction[0] = -0.1,
        |p| p.friction[1] = f64::NAN,
        |p| p.compliance[0] = -1.0,
        |p| p.force_scale = 0.0,
        |p| p.active[0] = f64::NAN,
    ];
    for shape in [ConeShape::circular(), pyramid(4, PyramidFit::Inscribed)] {
        for method in methods_for(&shape) {
            for (index, break_it) in breakers.iter().enumerate() {
                let mut problem = random_definite(1, 2, shape.clone());
                break_it(&mut problem);
                let (forces, status) = solve(&mut *method.make(2, 4), &problem);
                assert_eq!(status, Status::InvalidData, "{}, breaker {index}", method.name);
                assert_eq!(forces, [0.0; 6], "{}, breaker {index}", method.name);
            }
        }
    }
    for shape in [ConeShape::circular(), pyramid(4, PyramidFit::Inscribed)] {
        let problem = random_definite(1, 2, shape);
        for method in METHODS {
            let (forces, status) = solve(&mut *method.tight(ProblemSize::new(2, 4)), &problem);
            let is_taken = method.cones == Cones::All || problem.cone.sides() > 0;
            assert_eq!(status == Status::UnsupportedCone, !is_taken, "{}", method.name);
            assert_eq!(largest(&forces) == 0.0, !is_taken, "{}", method.name);
        }
    }
}

/// Numbers of any size, zero matrices, all contacts masked, none at all: a status, never a panic.
#[test]
fn degenerate_data_never_panic() {
    for shape in [ConeShape::circular(), pyramid(4, PyramidFit::Circumscribed)] {
        let mut problems = vec![
            ContactProblemData::new(0, shape.clone()),
            ContactProblemData::new(3, shape.clone()),
        ];
        let mut masked = random_definite(1, 3, shape.clone());
        masked.active.fill(0.0);
        problems.push(masked);
        for scale in [1e-200, 1e-20, 1e20, 1e150, -1.0] {
            let mut problem = random_definite(2, 3, shape.clone());
            problem.inverse_inertia.iter_mut().for_each(|g| *g *= scale);
            problems.push(problem.clone());
            problem.bias.iter_mut().for_each(|b| *b *= scale);
            problems.push(problem);
        }
        // A bias that no acceleration of the body can give: unbounded without the regularisation.
        let mut pulled = ContactProblemData::new(1, shape.clone());
        pulled.friction[0] = 0.5;
        pulled.bias[2] = -1.0;
        problems.push(pulled);
        for method in methods_for(&shape) {
            let mut solved = 0;
            for (index, problem) in problems.iter().enumerate() {
                let solver = &mut *method.make(problem.friction.len(), 4);
                let (forces, status) = solve(solver, problem);
                if status == Status::Solved {
                    solved += 1;
                    // Rounding is relative to the forces, which may be far above the scale.
                    let force_scale = problem.force_scale.max(largest(&forces));
                    let scaled = ContactProblemData { force_scale, ..problem.clone() };
                    let mut a = vec![0.0; forces.len()];
                    let found = kkt::contact_residuals(&scaled.view(), &forces, &mut a);
                    // On an objective that is flat to the tolerance of an interior point the
                    // conditions hold, although forces are not determined.
                    let conditions = found.primal.max(found.dual).max(found.complementarity);
                    let is_interior = method.name == "clarabel";
                    let residual = if is_interior { conditions } else { found.natural };
                    assert!(residual <= 1.1e-6, "problem {index}, {}: {found:?}", method.name);
                }
            }
            assert!(solved >= 4, "{}: only {solved} of {}", method.name, problems.len());
        }
    }
}

/// Forces d of the interior of their cones with `G d = 0` and `bᵀd < 0`, without regularisation:
/// the objective falls along d without end. G has any rank up to 3k - 1.
fn unbounded(seed: u64, contacts: usize, shape: &ConeShape) -> ContactProblemData {
    let (mut random, n) = (Random::new(seed), 3 * contacts);
    let mut problem = ContactProblemData::new(contacts, shape.clone());
    problem.regularisation = 0.0;
    problem.friction.iter_mut().for_each(|mu| *mu = 0.3 + random.uniform());
    let direction: Vec<f64> = (0..n)
        .map(|i| match i % 3 {
            2 => 1.0,
            _ => 0.1 * problem.friction[i / 3] * (2.0 * random.uniform() - 1.0),
        })
        .collect();
    let square = dot(&direction, &direction);
    for _ in 0..seed as usize % n {
        let mut row: Vec<f64> = (0..n).map(|_| random.normal()).collect();
        axpy(-dot(&row, &direction) / square, &direction, &mut row);
        for (g, column) in problem.inverse_inertia.chunks_exact_mut(n).zip(&row) {
            axpy(*column, &row, g);
        }
    }
    problem.bias.iter_mut().for_each(|b| *b = random.normal());
    let slope = dot(&problem.bias, &direction) / square;
    axpy(-slope - 0.5 - random.uniform(), &direction, &mut problem.bias);
    problem
}

/// Forces grow without end until rounding hides the residual, unless the method sees it. The dual
/// active set needs the regularisation and fails without.
#[test]
fn a_problem_without_solution_is_unbounded() {
    for shape in [ConeShape::circular(), pyramid(4, PyramidFit::Inscribed)] {
        for method in methods_for(&shape) {
            for seed in 0..60 {
                let contacts = 1 + seed as usize % 4;
                let problem = unbounded(seed, contacts, &shape);
                let (forces, status) = solve(&mut *method.make(contacts, 4), &problem);
                let expected = match method.name {
                    "active_set" => Status::NumericalTrouble,
                    _ => Status::Unbounded,
                };
                let what = format!("{}, {:?}, seed {seed}", method.name, shape.cone());
                assert_eq!((status, largest(&forces)), (expected, 0.0), "{what}");
            }
        }
    }
}

/// The rows hold, and the complementarity problem of the whole problem has the same solution.
#[test]
fn the_views_agree_with_the_solution() {
    for (index, shape) in pyramids(&[3, 4, 6, 8]).into_iter().enumerate() {
        for seed in 0..6 {
            let contacts = 1 + seed as usize;
            let mut problem = random_definite(100 * seed + index as u64, contacts, shape.clone());
            if seed % 3 == 2 {
                problem.friction[0] = 0.0;
                problem.active[contacts - 1] = 0.0;
                problem.compliance.fill(0.3);
            }
            let (view, n) = (problem.view(), 3 * contacts);
            let (forces, _) = solve(&mut PyramidActiveSet::default(), &problem);
            let m = view.cone_row_count();
            let mut rows = vec![0.0; m * n];
            view.cone_rows_into(&mut rows);
            for row in 0..m {
                let value: f64 = (0..n).map(|j| rows[j * m + row] * forces[j]).sum();
                assert!(value <= 1e-9 * problem.force_scale, "seed {seed}, row {row}: {value:.1e}");
            }
        }
    }
}

#[test]
fn compliance_lowers_the_force_as_a_spring_in_series_does() {
    let mut problem = ContactProblemData::new(1, pyramid(4, PyramidFit::Inscribed));
    for i in 0..3 {
        problem.inverse_inertia[4 * i] = 0.5;
    }
    problem.bias[2] = -3.0;
    problem.friction[0] = 0.5;
    problem.compliance[2] = 1.0;
    let (forces, _) = solve(&mut PyramidActiveSet::default(), &problem);
    assert!((forces[2] - 2.0).abs() < 1e-9, "{}", forces[2]);
}

/// The fixed point satisfies Coulomb's law with several coupled contacts: loaded contacts have no
/// normal acceleration, and friction of sliding ones takes out all it can.
#[test]
fn the_fixed_point_is_coulombs_law() {
    for shape in [ConeShape::circular(), pyramid(4, PyramidFit::Inscribed)] {
        let mut unsolved = 0;
        for seed in 0..40 {
            let problem = random_definite(seed, 4, shape.clone());
            let inner = ProjectedGaussSeidel::new(4, 20_000, 1e-10);
            let mut solver = CoulombFixedPoint::new(inner, 4, 200, 1e-8);
            let mut forces = vec![0.0; 12];
            let outcome = solver.solve(&problem.view(), &mut forces);
            if outcome.status != Status::Solved {
                assert!(outcome.residual > 1e-8, "seed {seed}");
                unsolved += 1;
                continue;
            }
            let mut a = vec![0.0; 12];
            problem.view().acceleration_into(&forces, &mut a);
            let scale = problem.view().acceleration_scale();
            for contact in 0..4 {
                let (f, a) = (&forces[3 * contact..][..3], &a[3 * contact..][..3]);
                assert!(a[2] > -1e-6 * scale, "seed {seed}: penetrates");
                if f[2] > 1e-5 * problem.force_scale {
                    assert!(a[2].abs() < 1e-6 * scale, "seed {seed}: lifts off at {}", a[2]);
                    let mu = problem.friction[contact];
                    let power = f[0] * a[0] + f[1] * a[1];
                    let least = -shape.slip_support(mu, [a[0], a[1]]) * f[2];
                    let error = (power - least).abs() / (problem.force_scale * scale);
                    assert!(error < 1e-5, "seed {seed}: dissipation off by {error:.1e}");
                }
            }
        }
        // Random dense coupling is far from any robot; a few cases may cycle, and say so.
        assert!(unsolved <= 8, "{:?}: {unsolved} of 40 unsolved", shape.cone());
    }
}

/// Without room for pivoting the answer of too few passes is called unsolved; with it, solved.
#[test]
fn a_last_resort_keeps_within_its_budget() {
    let problem = random_definite(3, 4, pyramid(4, PyramidFit::Inscribed));
    let given = Given::from(problem.view());
    let solved = |budget: Budget| {
        let mut solver = CoulombFixedPoint::new(PyramidActiveSet::new(4, 4), 4, 1, 1e-9);
        solver.solve_warm(&Given { budget, ..given }, &mut [], &mut [0.0; 12]).status
    };
    assert_eq!(solved(Budget::DEFAULT), Status::Solved);
    assert_eq!(solved(Budget { pairs: 23, ..Budget::DEFAULT }), Status::MaxIterations);
}

/// A request to stop is heard inside every method, long before the answer; what is short ends by
/// itself, with the same bits.
#[test]
fn a_long_solve_is_left_when_asked() {
    let raised = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let (large, small) = (
        random_definite(5, 500, pyramid(4, PyramidFit::Inscribed)),
        random_definite(6, 4, pyramid(4, PyramidFit::Inscribed)),
    );
    for case in cases() {
        let (name, make) = (case.name, |k, m| case.make(k, m));
        let (mut used, mut forces) = (make(500, 4), vec![0.0; 1500]);
        let begun = std::time::Instant::now();
        let left = cancel::scope(&raised, || used.solve(&large.view(), &mut forces));
        assert!(left.is_err(), "{name} solved it in {:?}", begun.elapsed());
        let (mut a, mut b) = (vec![0.0; 12], vec![0.0; 12]);
        let _ = make(4, 4).solve(&small.view(), &mut a);
        let _ = cancel::scope(&raised, || make(4, 4).solve(&small.view(), &mut b));
        assert_eq!(bits(&a), bits(&b), "{name}: a short solve ends by itself");
    }
}
