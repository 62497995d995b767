//! The assembled problem against dense algebra.

use legwork_block::{Dim, Signal, Type};
use legwork_contact::Ground;
use legwork_qp::problems::Random;
use nalgebra::{DMatrix, DVector};
use serde_json::json;

use super::*;
use crate::buses::{ConstraintBus, ConstraintsBus, ContactBus};
use crate::testing::contacts::{Harness, block, dynamics, packed, points};

const NV: usize = 8;
const COUNT: usize = 3;

/// A robot at a random state.
struct Robot {
    factor: DMatrix<f64>,
    jacobian: DMatrix<f64>,
    nu: DVector<f64>,
    bias_force: DVector<f64>,
    gaps: [f64; COUNT],
    drift: DVector<f64>,
}

impl Robot {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let factor = DMatrix::from_fn(NV, NV, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => random.normal(),
            std::cmp::Ordering::Equal => 0.5 + random.uniform(),
            std::cmp::Ordering::Less => 0.0,
        });
        let mut vector = |n| DVector::from_fn(n, |_, _| random.normal());
        let (nu, bias_force, drift) = (vector(NV), vector(NV), vector(3 * COUNT));
        let jacobian = DMatrix::from_fn(3 * COUNT, NV, |_, _| random.normal());
        Self { factor, jacobian, nu, bias_force, gaps: [0.01, 0.0, -0.003], drift }
    }

    fn write(&self, rig: &mut Harness) {
        let mass = self.factor.transpose() * &self.factor;
        rig.set_leaf("dynamics", 0, self.nu.as_slice());
        rig.set_leaf("dynamics", 1, mass.as_slice());
        rig.set_leaf("dynamics", 2, self.bias_force.as_slice());
        rig.set_leaf("dynamics", 3, &packed(&self.factor));
        let joints: Vec<f64> = (0..NV).map(|i| if i < 6 { 0.0 } else { 1.0 }).collect();
        rig.set_leaf("dynamics", 4, &joints);
        let velocity = &self.jacobian * &self.nu;
        for i in 0..COUNT {
            let v = [velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]];
            rig.set_contact("points", i, self.gaps[i], v);
            let rows = self.jacobian.rows(3 * i, 3).into_owned();
            let first = i * ContactBus::LEAVES;
            rig.set_leaf("points", first + ContactBus::JACOBIAN, rows.as_slice());
            let drift = self.drift.rows(3 * i, 3).into_owned();
            rig.set_leaf("points", first + ContactBus::JACOBIAN_DOT_NU, drift.as_slice());
        }
    }

    /// `M⁻¹ x`, by LU.
    fn solve(&self, x: &DVector<f64>) -> DVector<f64> {
        (self.factor.transpose() * &self.factor).lu().solve(x).expect("definite")
    }
}

fn ports() -> Vec<(&'static str, Type)> {
    vec![
        ("dynamics", dynamics(NV)),
        ("points", points(COUNT, NV)),
        ("tau", Type::vector(NV - 6)),
        ("external", Type::vector(NV)),
    ]
}

/// `G = J M⁻¹ Jᵀ` and b by LU on the dense M.
#[test]
fn the_problem_is_that_of_the_equation_of_motion() {
    for seed in 0..20 {
        let robot = Robot::random(seed);
        let tau = [0.7, -1.3];
        let external = DVector::from_fn(NV, |i, _| 0.1 * i as f64);
        let mut force = &external - &robot.bias_force;
        force[NV - 2] += tau[0];
        force[NV - 1] += tau[1];
        let j = &robot.jacobian;
        let mut inertia = DMatrix::zeros(3 * COUNT, 3 * COUNT);
        for (c, row) in j.row_iter().enumerate() {
            inertia.set_column(c, &(j * robot.solve(&row.transpose())));
        }
        let free = j * (robot.solve(&force) + &robot.nu / 0.001);
        let (gaps, closed) = (&robot.gaps, [1.0, 0.0, 1.0]);
        for level in ["Velocity", "Acceleration"] {
            let parameters = json!({ "mu": 0.7, "level": level, "correct_velocity": true });
            let mut given = ports();
            let (mut bias, mut active) = (free.clone(), [1.0; COUNT]);
            if level == "Velocity" {
                // Paper: φ/Δt² above the ground; inside, a fifth of the depth and at most 20 mm/s.
                bias[2] += gaps[0] / 1e-6;
                bias[8] -= f64::min(0.2 * -gaps[2] / 0.001, 0.02) / 0.001;
            } else {
                given.push(("mode", Type::vector(COUNT)));
                bias += &robot.drift;
                active = closed;
            }
            let gauss: GaussContact = block(parameters);
            let mut rig = Harness::new(gauss, &given).expect("planned");
            robot.write(&mut rig);
            rig.set("tau", &tau);
            rig.set("external", external.as_slice());
            if level == "Acceleration" {
                rig.set("mode", &closed);
            }
            rig.output(0.0).expect("no fault");
            // Contacts that do not act are not assembled.
            let is_active = |row: usize| active[row / 3] != 0.0;
            let masked = |values: &[f64]| -> Vec<f64> {
                let masked = values.iter().enumerate().map(|(i, value)| {
                    let (row, column) = (i % (3 * COUNT), i / (3 * COUNT));
                    let is_inertia = values.len() == 9 * COUNT * COUNT;
                    let acts = is_active(row) && (!is_inertia || is_active(column));
                    if acts { *value } else { 0.0 }
                });
                masked.collect()
            };
            for (leaf, expected) in [
                (ContactProblemBus::INVERSE_INERTIA, &masked(inertia.as_slice())[..]),
                (ContactProblemBus::BIAS, &masked(bias.as_slice())),
                (ContactProblemBus::ACTIVE, &active),
                (ContactProblemBus::JACOBIAN, &masked(j.as_slice())),
                (ContactProblemBus::GAP, &gaps[..]),
            ] {
                let found = rig.leaf("problem", leaf);
                let size = expected.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
                for (found, expected) in found.iter().zip(expected) {
                    let error = (found - expected).abs() / size;
                    assert!(error < 1e-8, "seed {seed} {level} leaf {leaf}: {error:.1e}");
                }
            }
        }
    }
}

/// The forces that solve the problem of ground that gives way are those of its springs and dampers
/// at the end of the step: `f_n = −K (φ + Δt v⁺) − D v⁺`, with v⁺ by LU on M; the damper acts
/// inside the ground only.
#[test]
fn compliant_ground_pushes_as_springs_and_dampers_after_the_step() {
    let (stiffness, damping, step) = (1.2e4, 30.0, 0.001);
    for seed in 0..20 {
        let mut robot = Robot::random(seed);
        // Without friction, and one foot short of the ground that arrives in this step.
        robot.gaps = [1e-4, -1e-3, -2e-3];
        robot.nu.fill(0.0);
        let parameters = json!({ "mu": 0, "stiffness": stiffness, "damping": damping });
        let gauss: GaussContact = block(parameters);
        let mut rig = Harness::new(gauss, &ports()).expect("planned");
        robot.write(&mut rig);
        rig.output(0.0).expect("no fault");
        let n = 3 * COUNT;
        let found = |leaf| DVector::from_vec(rig.leaf("problem", leaf));
        let g = DMatrix::from_vec(n, n, rig.leaf("problem", ContactProblemBus::INVERSE_INERTIA));
        let (bias, compliance) =
            (found(ContactProblemBus::BIAS), found(ContactProblemBus::COMPLIANCE));
        let normals: Vec<usize> = (0..COUNT).map(|i| 3 * i + 2).collect();
        let square = DMatrix::from_fn(COUNT, COUNT, |i, j| {
            let (i, j) = (normals[i], normals[j]);
            g[(i, j)] + if i == j { compliance[i] } else { 0.0 }
        });
        let right = DVector::from_fn(COUNT, |i, _| -bias[normals[i]]);
        let f = square.lu().solve(&right).expect("definite");
        let mut force = -&robot.bias_force;
        for (i, &row) in normals.iter().enumerate() {
            force += robot.jacobian.row(row).transpose() * f[i];
        }
        let after = &robot.nu + robot.solve(&force) * step;
        for (i, &row) in normals.iter().enumerate() {
            let v = (robot.jacobian.row(row) * &after)[0];
            let damper = if robot.gaps[i] < 0.0 { damping } else { 0.0 };
            let expected = -stiffness * (robot.gaps[i] + step * v) - damper * v;
            // What is added to make forces unique: 1e-10 of G.
            let error = (f[i] - expected).abs() / f.amax();
            assert!(error < 1e-6, "seed {seed} contact {i}: {} and {expected}", f[i]);
        }
    }
}

#[test]
fn what_does_not_fit_together_is_refused() {
    for (parameters, named) in [
        (json!({ "mu": 0.7, "damping": 3 }), "damping"),
        (json!({ "mu": 0.7, "stiffness": 3, "level": "Acceleration" }), "stiffness"),
    ] {
        let gauss: GaussContact = block(parameters);
        let invalid = Harness::new(gauss, &ports()).err().expect("refused");
        assert_eq!(invalid.parameter.as_deref(), Some(named), "{invalid:?}");
    }
    let level: GaussContact = block(json!({ "mu": 0.7, "level": "Acceleration" }));
    let invalid = Harness::new(level, &ports()).err().expect("no mode");
    assert!(invalid.hints[0].contains("Impact"), "{invalid:?}");
    let none: GaussContact = block(json!({}));
    let invalid = Harness::new(none, &ports()).err().expect("no friction");
    assert_eq!(invalid.parameter.as_deref(), Some("mu"), "{invalid:?}");
    let list: GaussContact = block(json!({ "mu": [0.7, 0.7] }));
    assert!(Harness::new(list, &ports()).is_err());
    let gauss: GaussContact = block(json!({ "mu": 0.7 }));
    let mut wrong = ports();
    wrong[2].1 = Type::vector(NV - 1);
    let invalid = Harness::new(gauss, &wrong).err().expect("wrong length");
    assert_eq!(invalid.message, "expected 8 or 2 joint torques at `tau`, found 7");
}

/// With two constraints, one of them redundant with zero rows left out: G and b are those of the
/// dense KKT system `[M -J_pᵀ; J_p 0]`, and J of the problem gives the same G.
#[test]
fn with_constraints_the_problem_is_that_of_the_closed_mechanism() {
    for seed in 0..20 {
        let robot = Robot::random(seed);
        let mut random = Random::new(100 + seed);
        // Two rows of the first constraint, the second repeats one of them.
        let p = DMatrix::from_fn(2, NV, |_, _| random.normal());
        let gamma = DVector::from_fn(2, |_, _| random.normal());
        let mut given = ports();
        let bus = ConstraintsBus::of(&ConstraintBus::new(&Dim::fixed(NV)), &Dim::fixed(2));
        given.push(("constraints", bus.ty()));
        let gauss: GaussContact = block(json!({ "mu": 0.7, "level": "Velocity" }));
        let mut rig = Harness::new(gauss, &given).expect("planned");
        robot.write(&mut rig);
        for (i, rows) in [[Some(0), None, Some(1)], [None, Some(1), None]].iter().enumerate() {
            let (mut jacobian, mut bias, mut active) = ([0.0; 6 * NV], [0.0; 6], [0.0; 6]);
            for (at, &row) in rows.iter().enumerate() {
                let Some(row) = row else { continue };
                (0..NV).for_each(|c| jacobian[6 * c + at] = p[(row, c)]);
                (bias[at], active[at]) = (gamma[row], 1.0);
            }
            let first = i * ConstraintBus::LEAVES;
            rig.set_leaf("constraints", first + ConstraintBus::JACOBIAN, &jacobian);
            rig.set_leaf("constraints", first + ConstraintBus::GAMMA, &bias);
            rig.set_leaf("constraints", first + ConstraintBus::ACTIVE, &active);
        }
        rig.set("tau", &[0.3, 0.9]);
        rig.output(0.0).expect("no fault");

        let mass = robot.factor.transpose() * &robot.factor;
        let kkt = DMatrix::from_fn(NV + 2, NV + 2, |i, j| match (i < NV, j < NV) {
            (true, true) => mass[(i, j)],
            (true, false) => -p[(j - NV, i)],
            (false, true) => p[(i - NV, j)],
            (false, false) => 0.0,
        })
        .lu();
        let solve = |force: &DVector<f64>, gamma: &DVector<f64>| {
            let rhs =
                DVector::from_fn(NV + 2, |i, _| if i < NV { force[i] } else { -gamma[i - NV] });
            kkt.solve(&rhs).expect("definite").rows(0, NV).into_owned()
        };
        let mut force = -&robot.bias_force;
        force[NV - 2] += 0.3;
        force[NV - 1] += 0.9;
        let j = &robot.jacobian;
        let step = 0.001;
        let mut bias = j * (solve(&force, &gamma) + &robot.nu / step);
        let ground = Ground::default();
        (0..COUNT).for_each(|i| bias[3 * i + 2] += ground.terms(robot.gaps[i], step).0);
        let none = DVector::zeros(2);
        let mut inertia = DMatrix::zeros(3 * COUNT, 3 * COUNT);
        for c in 0..3 * COUNT {
            let column = j * solve(&j.row(c).transpose(), &none);
            inertia.set_column(c, &column);
        }
        let found = |leaf| DVector::from_vec(rig.leaf("problem", leaf));
        let size = bias.amax();
        assert!((found(ContactProblemBus::BIAS) - &bias).amax() < 1e-9 * size, "seed {seed}: bias");
        let g = DMatrix::from_vec(
            3 * COUNT,
            3 * COUNT,
            rig.leaf("problem", ContactProblemBus::INVERSE_INERTIA),
        );
        assert!((&g - &inertia).amax() < 1e-8 * inertia.amax(), "seed {seed}: G");
        let closed =
            DMatrix::from_vec(3 * COUNT, NV, rig.leaf("problem", ContactProblemBus::JACOBIAN));
        let lu = mass.lu();
        let again = &closed * lu.solve(&closed.transpose()).expect("definite");
        assert!((again - &g).amax() < 1e-8 * g.amax(), "seed {seed}: J M⁻¹ Jᵀ");
    }
}

/// Speeds of surfaces and rates of joints have separate limits.
#[test]
fn a_row_without_surfaces_has_a_reach_of_its_own() {
    let mut robot = Robot::random(6);
    robot.gaps = [0.03, 0.03, 0.03];
    robot.nu.fill(0.0);
    for (rate, speed, expected) in [
        ("10 rad/s", "50 m/s", [1.0, 0.0, 1.0]),
        ("50 rad/s", "10 m/s", [0.0, 1.0, 0.0]),
        ("50 rad/s", "50 m/s", [1.0, 1.0, 1.0]),
    ] {
        let gauss: GaussContact = block(json!({ "mu": 0.7, "max_rate": rate, "max_speed": speed }));
        let mut rig = Harness::new(gauss, &ports()).expect("planned");
        robot.write(&mut rig);
        rig.set_leaf("points", ContactBus::LEAVES + ContactBus::ROW, &[1.0]);
        rig.output(0.0).expect("no fault");
        assert_eq!(rig.leaf("problem", ContactProblemBus::ACTIVE), expected, "{rate}, {speed}");
    }
}

/// Far contacts are left out, each contact has its own friction first, and a contact without
/// tangential rows carries no tangential force whichever solver is asked.
#[test]
fn only_what_can_touch_is_assembled_and_joint_limits_have_no_friction() {
    use legwork_qp::{
        AcceleratedGradient, ClarabelSolver, Cone, ContactMethod, ContactProblem, LemkeSolver,
        PrincipalPivotingSolver, ProjectedGaussSeidel, PyramidActiveSet,
    };
    let mut robot = Robot::random(5);
    robot.gaps = [0.0, 0.0, 0.051];
    robot.nu.fill(0.0);
    robot.bias_force.fill(0.0);
    // The second is a joint limit: only its normal row is there.
    for c in 0..NV {
        (robot.jacobian[(3, c)], robot.jacobian[(4, c)]) = (0.0, 0.0);
    }
    let mut given = ports();
    given.push(("mu", Type::vector(COUNT)));
    let gauss: GaussContact = block(json!({ "mu": 0.7, "max_speed": "50 m/s" }));
    let mut rig = Harness::new(gauss, &given).expect("planned");
    robot.write(&mut rig);
    rig.set("mu", &[0.4, 0.5, 0.6]);
    rig.set_leaf("points", ContactBus::FRICTION, &[0.2]);
    // A push that these forces, inside their cones, hold in place.
    let expected = [1.0, -2.0, 30.0, 0.0, 0.0, 20.0, 0.0, 0.0, 0.0];
    let push = -(robot.jacobian.transpose() * DVector::from_row_slice(&expected));
    rig.set("external", push.as_slice());
    rig.output(0.0).expect("no fault");
    assert_eq!(rig.leaf("problem", ContactProblemBus::ACTIVE), [1.0, 1.0, 0.0]);
    assert_eq!(rig.leaf("problem", ContactProblemBus::FRICTION), [0.2, 0.0, 0.6]);
    let [g, b, mu, r, active] = [
        ContactProblemBus::INVERSE_INERTIA,
        ContactProblemBus::BIAS,
        ContactProblemBus::FRICTION,
        ContactProblemBus::COMPLIANCE,
        ContactProblemBus::ACTIVE,
    ]
    .map(|leaf| rig.leaf("problem", leaf));
    assert!(r.iter().all(|&r| r > 0.0), "{r:?}");
    let cone = ConeShape::new(Cone::default()).expect("a pyramid");
    let problem = ContactProblem {
        inverse_inertia: &g,
        bias: &b,
        friction: &mu,
        compliance: &r,
        force_scale: 100.0,
        cone: &cone,
        active: &active,
        regularisation: 0.0,
    };
    let solvers: Vec<(&str, Box<dyn ContactMethod>)> = vec![
        ("active set", Box::new(PyramidActiveSet::new(COUNT, 4))),
        ("clarabel", Box::new(ClarabelSolver::new(1e-10, 100))),
        ("gauss-seidel", Box::new(ProjectedGaussSeidel::new(COUNT, 10_000, 1e-10))),
        ("gradient", Box::new(AcceleratedGradient::new(COUNT, 10_000, 1e-10))),
        ("lemke", Box::new(LemkeSolver::new(COUNT, 4))),
        ("pivoting", Box::new(PrincipalPivotingSolver::new(COUNT, 4))),
    ];
    for (name, mut solver) in solvers {
        let mut f = vec![0.0; 3 * COUNT];
        let outcome = solver.solve(&problem, &mut f);
        assert!(outcome.status.is_usable(), "{name}: {outcome:?}");
        assert!(f[3].abs() + f[4].abs() < 1e-9 * f[5], "{name}: {f:?}");
        assert_eq!(f[6..], [0.0; 3], "{name}");
        for (f, expected) in f.iter().zip(expected) {
            assert!((f - expected).abs() < 1e-4, "{name}: {f} {expected}");
        }
    }
    rig.set("mu", &[0.4, -0.5, 0.6]);
    let fault = rig.output(0.0).expect_err("no friction");
    assert!(fault.message.contains("contact 1"), "{}", fault.message);
}

/// What a contact left behind that does not act any more is gone: all is as in a first step.
#[test]
fn a_problem_does_not_depend_on_the_contacts_that_acted_before() {
    let mut robot = Robot::random(7);
    let gauss = || block::<GaussContact>(json!({ "mu": 0.7 }));
    let mut rig = Harness::new(gauss(), &ports()).expect("planned");
    let far = 1.0;
    for (step, gaps) in [
        [0.0, 0.0, 0.0],
        [0.0, far, 0.0],
        [far, 0.0, far],
        [far, far, far],
        [0.0, far, far],
        [0.0, far, far],
        [0.0, 0.0, 0.0],
    ]
    .into_iter()
    .enumerate()
    {
        robot.gaps = gaps;
        // In every other step the first contact has no tangential rows.
        if step % 2 == 1 {
            (0..NV).for_each(|c| (robot.jacobian[(0, c)], robot.jacobian[(1, c)]) = (0.0, 0.0));
        } else {
            robot.jacobian = Robot::random(step as u64).jacobian;
        }
        let mut first = Harness::new(gauss(), &ports()).expect("planned");
        for rig in [&mut rig, &mut first] {
            robot.write(rig);
            rig.output(0.0).expect("no fault");
        }
        for leaf in 0..ContactProblemBus::FACTOR {
            assert_eq!(rig.leaf("problem", leaf), first.leaf("problem", leaf), "{step}: {leaf}");
        }
    }
}

/// It looks itself whether its outputs are finite.
#[test]
fn a_problem_that_is_not_finite_is_a_fault() {
    for gap in [0.0, 1.0] {
        let mut robot = Robot::random(7);
        robot.gaps = [gap; COUNT];
        let mut rig =
            Harness::new(block::<GaussContact>(json!({ "mu": 0.7 })), &ports()).expect("planned");
        robot.write(&mut rig);
        rig.output(0.0).expect("no fault");
        // Without contact nobody asks for a torque.
        rig.set("tau", &[f64::INFINITY, 0.0]);
        assert_eq!(rig.output(0.0).is_err(), gap == 0.0);
        rig.set("tau", &[0.0; 2]);
        rig.set_contact("points", 1, f64::NAN, [0.0; 3]);
        rig.output(0.0).expect_err("a gap");
    }
}
