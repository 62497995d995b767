//! Laws of the contact solvers: all methods agree, pass the judge, and reject bad data by a status.

use crate::common::{
    bits, difference, largest, natural_residual, pyramid, pyramids, references, residual, solve,
};
use legwork_linalg::PivotedCholesky;
use legwork_qp::kkt;
use legwork_qp::problems::{Random, random_definite, rigid_body};
use legwork_qp::{
    ClarabelSolver, ConeShape, ContactProblemData, ContactSolver, CoulombFixedPoint,
    ProjectedGaussSeidel, PyramidActiveSet, PyramidFit, Status,
};

/// Ten problems of a standing robot and ten random ones, solved by quadprog and checked by ProxQP.
#[test]
fn the_active_set_returns_the_reference_solutions() {
    let mut solver = PyramidActiveSet::new(4, 4);
    let mut worst: f64 = 0.0;
    for case in references() {
        let (forces, status) = solve(&mut solver, &case.problem);
        assert_eq!(status, Status::Solved, "{}", case.name);
        let error = case.error(&forces);
        worst = worst.max(error);
        // The reference's own stationarity residual is about 1e-13 of its gradient.
        assert!(error < 1e-10, "{}: relative difference {error:.1e}", case.name);
    }
    assert!(worst > 0.0, "bit-equal to an independent program is not credible");
}

#[test]
fn all_methods_agree_on_definite_problems() {
    let mut active_set = PyramidActiveSet::default();
    let mut interior = ClarabelSolver::new(1e-10, 100);
    for (index, shape) in pyramids(&[4, 6, 8]).into_iter().enumerate() {
        for contacts in [1, 2, 3, 4, 8, 16] {
            for seed in 0..6 {
                let problem = random_definite(100 * seed + index as u64, contacts, shape.clone());
                let what = format!("{:?}, {contacts} contacts, seed {seed}", shape.cone());
                let scale = problem.force_scale;
                let (exact, status) = solve(&mut active_set, &problem);
                assert_eq!(status, Status::Solved, "{what}");
                let residual = residual(&problem, &exact);
                assert!(residual < 1e-10, "{what}: active set residual {residual:.1e}");

                let (conic, status) = solve(&mut interior, &problem);
                assert!(status.is_usable(), "{what}: clarabel {status:?}");
                let error = difference(&exact, &conic) / scale;
                // A gap of 1e-10 and strong convexity of 0.1 allow √(2e-9) = 4e-5.
                assert!(error < 4e-5, "{what}: clarabel is off by {error:.1e}");

                let mut sweeps = ProjectedGaussSeidel::new(contacts, 20_000, 1e-9);
                let (swept, status) = solve(&mut sweeps, &problem);
                assert_eq!(status, Status::Solved, "{what}: Gauss-Seidel");
                let error = difference(&exact, &swept) / scale;
                // A natural residual r bounds the error by about condition · r.
                assert!(error < 1e-6, "{what}: Gauss-Seidel is off by {error:.1e}");
            }
        }
    }
}

#[test]
fn redundant_contacts_masks_and_zero_friction_have_one_answer() {
    let mut active_set = PyramidActiveSet::default();
    let mut interior = ClarabelSolver::new(1e-10, 200);
    for (index, shape) in pyramids(&[4, 6, 8]).into_iter().enumerate() {
        for contacts in [1, 2, 3, 4, 5, 8, 12, 16] {
            for seed in 0..6 {
                let masked = seed % 2 == 1;
                let problem =
                    rigid_body(1000 * seed + index as u64, contacts, shape.clone(), masked);
                let what = format!("{:?}, {contacts} contacts, seed {seed}", shape.cone());
                let (forces, status) = solve(&mut active_set, &problem);
                let residual = residual(&problem, &forces);
                assert_eq!(status, Status::Solved, "{what}, residual {residual:.1e}");
                assert!(residual < 1e-7, "{what}: residual {residual:.1e}");
                for contact in 0..contacts {
                    let f = &forces[3 * contact..3 * contact + 3];
                    if problem.active[contact] == 0.0 {
                        assert_eq!(f, [0.0; 3], "{what}: force at inactive contact {contact}");
                    }
                    if problem.friction[contact] == 0.0 {
                        assert_eq!(f[..2], [0.0; 2], "{what}: friction at contact {contact}");
                    }
                }
                // What the regularisation of 1e-10 barely touches, the acceleration, must agree
                // to the tolerance of the interior point.
                let (conic, status) = solve(&mut interior, &problem);
                assert!(status.is_usable(), "{what}: clarabel {status:?}");
                let (mut a, mut b) = (vec![0.0; 3 * contacts], vec![0.0; 3 * contacts]);
                problem.view().acceleration_into(&forces, &mut a);
                problem.view().acceleration_into(&conic, &mut b);
                let error = difference(&a, &b) / problem.view().acceleration_scale();
                assert!(error < 4e-5, "{what}: accelerations differ by {error:.1e}");
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

#[test]
fn the_true_cone_is_the_same_for_clarabel_and_gauss_seidel() {
    let mut interior = ClarabelSolver::new(1e-10, 200);
    for contacts in [1, 2, 4, 8] {
        for seed in 0..20 {
            let problem = random_definite(seed, contacts, ConeShape::circular());
            let (conic, status) = solve(&mut interior, &problem);
            assert!(status.is_usable(), "{contacts} contacts, seed {seed}: {status:?}");
            let mut sweeps = ProjectedGaussSeidel::new(contacts, 20_000, 1e-10);
            let (swept, status) = solve(&mut sweeps, &problem);
            assert_eq!(status, Status::Solved, "{contacts} contacts, seed {seed}");
            let residual = residual(&problem, &swept);
            assert!(residual < 1e-8, "{contacts} contacts, seed {seed}: {residual:.1e}");
            let error = difference(&conic, &swept) / problem.force_scale;
            assert!(error < 4e-5, "{contacts} contacts, seed {seed}: differ by {error:.1e}");
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
        for sides in [8, 32, 128, 512] {
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
    for seed in 0..20 {
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
            for name in ["active set", "clarabel", "gauss-seidel"] {
                let make = || -> Box<dyn ContactSolver> {
                    match name {
                        "active set" => Box::new(PyramidActiveSet::new(contacts, 4)),
                        "clarabel" => Box::new(ClarabelSolver::new(1e-10, 100)),
                        _ => Box::new(ProjectedGaussSeidel::new(contacts, 20_000, 1e-11)),
                    }
                };
                let (forces, _) = solve(&mut *make(), &problem);
                let (permuted, _) = solve(&mut *make(), &shuffled);
                let back: Vec<f64> = (0..n).map(|i| forces[source(i)]).collect();
                let error = difference(&back, &permuted) / problem.force_scale;
                let tolerance = if name == "clarabel" { 4e-5 } else { 1e-8 };
                assert!(error < tolerance, "{name}, seed {seed}, {contacts}: {error:.1e}");
            }
        }
    }
}

#[test]
fn a_used_solver_returns_the_bits_of_a_fresh_one() {
    for shape in [ConeShape::circular(), pyramid(6, PyramidFit::Inscribed)] {
        let mut used_interior = ClarabelSolver::new(1e-10, 100);
        let mut used_active_set = PyramidActiveSet::default();
        for seed in 0..30 {
            let contacts = [4, 4, 3, 8][seed as usize % 4];
            let problem = match seed % 3 {
                0 => random_definite(seed, contacts, shape.clone()),
                other => rigid_body(seed, contacts, shape.clone(), other == 2),
            };
            let used = solve(&mut used_interior, &problem);
            let fresh = solve(&mut ClarabelSolver::new(1e-10, 100), &problem);
            assert_eq!(bits(&used.0), bits(&fresh.0), "clarabel, seed {seed}, {:?}", shape.cone());
            if shape.sides() > 0 {
                let used = solve(&mut used_active_set, &problem);
                let fresh = solve(&mut PyramidActiveSet::default(), &problem);
                assert_eq!(bits(&used.0), bits(&fresh.0), "active set, seed {seed}");
            }
        }
    }
}

#[test]
fn a_warm_start_saves_work_and_changes_nothing_else() {
    let mut random = Random::new(9);
    let (mut cold_total, mut warm_total) = (0, 0);
    for seed in 0..40 {
        let mut problem = random_definite(seed, 4, pyramid(4, PyramidFit::Circumscribed));
        let mut solver = PyramidActiveSet::new(4, 4);
        let mut rows = vec![0.0; 20];
        let mut forces = vec![0.0; 12];
        let first = solver.solve_warm(&problem.view(), &mut rows, &mut forces);
        assert_eq!(first.status, Status::Solved);
        for b in &mut problem.bias {
            *b += 0.01 * random.normal();
        }
        let warm = solver.solve_warm(&problem.view(), &mut rows, &mut forces);
        let (cold_forces, _) = solve(&mut solver, &problem);
        let cold = solver.solve(&problem.view(), &mut [0.0; 12]);
        assert_eq!((warm.status, cold.status), (Status::Solved, Status::Solved), "seed {seed}");
        let error = difference(&forces, &cold_forces) / problem.force_scale;
        assert!(error < 1e-10, "seed {seed}: {error:.1e}");
        cold_total += cold.iterations;
        warm_total += warm.iterations;

        // A nonsensical guess costs time only.
        rows.fill(1.0);
        let silly = solver.solve_warm(&problem.view(), &mut rows, &mut forces);
        assert_eq!(silly.status, Status::Solved, "seed {seed}");
        assert!(difference(&forces, &cold_forces) / problem.force_scale < 1e-10, "seed {seed}");
    }
    assert!(warm_total <= cold_total, "warm {warm_total}, cold {cold_total}");
}

#[test]
fn gauss_seidel_starts_from_the_given_forces() {
    let problem = random_definite(5, 4, ConeShape::circular());
    let mut solver = ProjectedGaussSeidel::new(4, 20_000, 1e-9);
    let (mut forces, _) = solve(&mut solver, &problem);
    let again = solver.solve_warm(&problem.view(), &mut forces);
    assert_eq!((again.status, again.iterations), (Status::Solved, 0));
    forces.fill(f64::NAN);
    assert_eq!(solver.solve_warm(&problem.view(), &mut forces).status, Status::Solved);
    solver.relaxation = 1.3;
    let (relaxed, status) = solve(&mut solver, &problem);
    assert_eq!(status, Status::Solved);
    assert!(difference(&relaxed, &forces) / problem.force_scale < 1e-6);
}

#[test]
fn bad_data_get_a_status_and_zero_force() {
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
        for (index, break_it) in breakers.iter().enumerate() {
            let mut problem = random_definite(1, 2, shape.clone());
            break_it(&mut problem);
            let solvers: [Box<dyn ContactSolver>; 3] = [
                Box::new(PyramidActiveSet::new(2, 4)),
                Box::new(ClarabelSolver::new(1e-8, 50)),
                Box::new(ProjectedGaussSeidel::new(2, 100, 1e-6)),
            ];
            for mut solver in solvers {
                let (forces, status) = solve(&mut *solver, &problem);
                assert_eq!(status, Status::InvalidData, "breaker {index}");
                assert_eq!(forces, [0.0; 6], "breaker {index}");
            }
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
        for scale in [1e-200, 1e-20, 1e20, 1e150] {
            let mut problem = random_definite(2, 3, shape.clone());
            problem.inverse_inertia.iter_mut().for_each(|g| *g *= scale);
            problems.push(problem.clone());
            problem.bias.iter_mut().for_each(|b| *b *= scale);
            problems.push(problem);
        }
        let mut indefinite = random_definite(3, 2, shape.clone());
        indefinite.inverse_inertia.iter_mut().for_each(|g| *g = -*g);
        problems.push(indefinite);
        // A bias that no acceleration of the body can give: unbounded without the regularisation.
        let mut pulled = ContactProblemData::new(1, shape.clone());
        pulled.friction[0] = 0.5;
        pulled.bias[2] = -1.0;
        problems.push(pulled);
        let mut solved = 0;
        for (index, problem) in problems.iter().enumerate() {
            let k = problem.friction.len();
            let solvers: [Box<dyn ContactSolver>; 3] = [
                Box::new(PyramidActiveSet::new(k, 4)),
                Box::new(ClarabelSolver::new(1e-8, 50)),
                Box::new(ProjectedGaussSeidel::new(k, 100, 1e-6)),
            ];
            for (solver, name) in solvers.into_iter().zip(["active set", "clarabel", "sweeps"]) {
                let mut solver = solver;
                let (forces, status) = solve(&mut *solver, problem);
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
                    let residual = if name == "clarabel" { conditions } else { found.natural };
                    assert!(residual <= 1.1e-6, "problem {index}, {name}: {found:?}");
                }
            }
        }
        assert!(solved >= problems.len(), "only {solved} solves of {} problems", problems.len());
    }
}

#[test]
fn a_circular_cone_is_refused_by_the_active_set() {
    let problem = random_definite(1, 2, ConeShape::circular());
    let (_, status) = solve(&mut PyramidActiveSet::default(), &problem);
    assert_eq!(status, Status::UnsupportedCone);
}

/// The complementarity view and the row view describe the same problem.
#[test]
fn the_views_agree_with_the_solution() {
    for seed in 0..10 {
        let problem = random_definite(seed, 3, pyramid(4, PyramidFit::Inscribed));
        let view = problem.view();
        let (forces, _) = solve(&mut PyramidActiveSet::default(), &problem);
        let mut rows = vec![0.0; view.cone_row_count() * 9];
        view.cone_rows_into(&mut rows);
        let m = view.cone_row_count();
        for row in 0..m {
            let value: f64 = (0..9).map(|j| rows[j * m + row] * forces[j]).sum();
            assert!(value <= 1e-9 * problem.force_scale, "seed {seed}, row {row}: {value:.1e}");
        }
        // Solve the complementarity problem by projected sweeps over the weights.
        let (mut matrix, mut vector) = (vec![0.0; 144], vec![0.0; 12]);
        view.lcp_into(&mut matrix, &mut vector);
        let mut weights = [0.0f64; 12];
        for _ in 0..20_000 {
            for i in 0..12 {
                let slack: f64 =
                    vector[i] + (0..12).map(|j| matrix[j * 12 + i] * weights[j]).sum::<f64>();
                weights[i] = (weights[i] - slack / matrix[i * 12 + i]).max(0.0);
            }
        }
        let mut of_weights = vec![0.0; 9];
        view.forces_of_generators(&weights, &mut of_weights);
        let error = difference(&forces, &of_weights) / problem.force_scale;
        assert!(error < 1e-7, "seed {seed}: {error:.1e}");
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
