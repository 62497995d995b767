use allocation_counter::measure;
use legwork_qp::problems::Random;

use super::*;
use crate::FrictionShape;

const GRAVITY: f64 = 9.81;

/// A mass point with its height as the gap.
struct Point {
    mass: f64,
    position: [f64; 3],
    velocity: [f64; 3],
}

impl Point {
    fn energy(&self, law: &CompliantContact) -> f64 {
        let depth = (-self.position[2]).max(0.0);
        let spring = law.stiffness * libm::pow(depth, law.exponent + 1.0) / (law.exponent + 1.0);
        let speed = self.velocity.iter().map(|v| v * v).sum::<f64>();
        0.5 * self.mass * speed + self.mass * GRAVITY * self.position[2] + spring
    }

    /// One step under the acceleration `free`; gives the contact force.
    fn step(
        &mut self,
        solver: &mut ImplicitContact,
        law: &CompliantContact,
        free: [f64; 3],
        dt: f64,
    ) -> [f64; 3] {
        let inverse = 1.0 / self.mass;
        let inertia = [inverse, 0.0, 0.0, 0.0, inverse, 0.0, 0.0, 0.0, inverse];
        let free = [0, 1, 2].map(|i| self.velocity[i] + dt * free[i]);
        let problem = ImplicitProblem {
            inverse_inertia: &inertia,
            free_velocity: &free,
            gaps: &[self.position[2]],
            time_step: dt,
            laws: std::slice::from_ref(law),
        };
        let mut force = [0.0; 3];
        let mut end = self.velocity;
        let solution = solver.solve(&problem, &mut end, &mut force);
        assert!(solution.is_solved, "{solution:?}");
        for i in 0..3 {
            self.velocity[i] = free[i] + dt * inverse * force[i];
            self.position[i] += dt * self.velocity[i];
        }
        force
    }
}

const FALL: [f64; 3] = [0.0, 0.0, -GRAVITY];

fn trot() -> CompliantContact {
    CompliantContact {
        stiffness: 1.8e6,
        max_damping: 300.0,
        static_friction: 0.7,
        static_speed: 0.05,
        dynamic_friction: 0.7,
        dynamic_speed: 0.1,
        ..CompliantContact::default()
    }
}

#[test]
fn the_force_is_that_of_the_explicit_law_at_the_end_of_the_step() {
    for dt in [1e-5, 1e-3, 1e-2] {
        let mut solver = ImplicitContact::new(1);
        let mut point = Point { mass: 0.2, position: [0.0, 0.0, 0.02], velocity: [0.3, -0.2, 0.0] };
        let mut pushed = 0;
        for _ in 0..(0.5 / dt) as usize {
            let force = point.step(&mut solver, &trot(), FALL, dt);
            let expected = trot().force(point.position[2], point.velocity);
            for (found, expected) in force.iter().zip(expected) {
                // Relative to the force that stops the mass in one step.
                let scale = expected.abs() + 0.2 * GRAVITY + 0.2 * point.velocity[0].abs() / dt;
                assert!((found - expected).abs() < 1e-9 * scale, "{dt}: {found} for {expected}");
            }
            pushed += usize::from(force[2] > 0.0);
        }
        assert!(pushed > 10, "{dt}: it never touched");
    }
}

#[test]
fn a_bouncing_and_sliding_mass_never_gains_energy_at_any_step() {
    let mut random = Random::new(5);
    for stiffness in [1e3, 1.8e6, 1e9, 1e12] {
        for dt in [1e-4, 1e-3, 1e-2] {
            for (max_damping, dissipation) in [(0.0, 0.0), (300.0, 0.0), (0.0, 0.5)] {
                let law = CompliantContact { stiffness, max_damping, dissipation, ..trot() };
                let mut solver = ImplicitContact::new(1);
                let mut point = Point {
                    mass: 0.1 + random.uniform(),
                    position: [0.0, 0.0, 0.05 * random.uniform()],
                    velocity: [random.normal(), random.normal(), -0.2 - random.uniform()],
                };
                let first = point.energy(&law);
                let mut touched = false;
                for _ in 0..300 {
                    let before = point.energy(&law);
                    touched |= point.step(&mut solver, &law, FALL, dt)[2] > 0.0;
                    let after = point.energy(&law);
                    // Roundings of the position, times the force, are 1e-9 of the energy at most.
                    assert!(
                        after <= before + 1e-9 * first.abs(),
                        "{stiffness} {dt}: from {before} to {after} J"
                    );
                }
                assert!(touched || dt < 1e-3, "{stiffness} {dt}: it never touched");
            }
        }
    }
}

/// On a slope below the friction angle a mass creeps where μ(v) = tan θ.
#[test]
fn a_mass_on_a_slope_creeps_at_the_speed_of_the_regularisation() {
    let (law, angle) = (trot(), 0.3_f64);
    let pull = [GRAVITY * libm::sin(angle), 0.0, -GRAVITY * libm::cos(angle)];
    let (mut low, mut high) = (0.0, law.static_speed);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if law.friction_coefficient(middle) < libm::tan(angle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    for dt in [1e-4, 1e-3, 1e-2] {
        let mut solver = ImplicitContact::new(1);
        let mut point = Point { mass: 0.2, position: [0.0; 3], velocity: [0.0; 3] };
        for _ in 0..(2.0 / dt) as usize {
            point.step(&mut solver, &law, pull, dt);
        }
        let creep = point.velocity[0];
        assert!((creep - low).abs() < 1e-6 * low, "{dt}: {creep} instead of {low} m/s");
        let sink = libm::pow(0.2 * -pull[2] / law.stiffness, 1.0 / law.exponent);
        assert!((point.position[2] + sink).abs() < 1e-6 * sink, "{dt}: {}", point.position[2]);
    }
}

/// A mass that lands and slides, by the explicit law.
fn explicit(law: &CompliantContact, dt: f64, steps: usize) -> [f64; 3] {
    let (mut position, mut velocity) = ([0.0, 0.0, 5e-4], [0.4, 0.1, -0.3]);
    for _ in 0..steps {
        let force = law.force(position[2], velocity);
        for i in 0..3 {
            velocity[i] += dt * (force[i] / 0.2 + FALL[i]);
            position[i] += dt * velocity[i];
        }
    }
    position
}

#[test]
fn it_converges_to_the_explicit_law_at_first_order() {
    let law = trot();
    let exact = explicit(&law, 1e-7, 400_000);
    let error = |dt: f64, steps: usize| {
        let mut solver = ImplicitContact::new(1);
        let mut point = Point { mass: 0.2, position: [0.0, 0.0, 5e-4], velocity: [0.4, 0.1, -0.3] };
        for _ in 0..steps {
            point.step(&mut solver, &law, FALL, dt);
        }
        (0..3).map(|i| (point.position[i] - exact[i]).abs()).fold(0.0, f64::max)
    };
    let errors = [error(4e-5, 1000), error(2e-5, 2000), error(1e-5, 4000)];
    assert!(errors[2] < 2e-5, "{errors:?}");
    for pair in errors.windows(2) {
        let ratio = pair[0] / pair[1];
        assert!((1.7..2.3).contains(&ratio), "{errors:?}");
    }
}

/// k contacts of one mechanism: `G = BᵀB`, of less than full rank if redundant.
fn coupled(random: &mut Random, count: usize, rank: usize) -> Vec<f64> {
    let n = 3 * count;
    let b: Vec<f64> = (0..n * rank).map(|_| random.normal()).collect();
    let mut g = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            g[i * n + j] = (0..rank).map(|k| b[i * rank + k] * b[j * rank + k]).sum();
        }
    }
    g
}

/// Friction that drives the normal motion (Painlevé), redundancy, stiffness: unsolved problems
/// still push and stay in the cone, and where the coupling of contacts is weaker than their own
/// inertia all are solved.
#[test]
fn coupled_contacts_are_solved_whatever_their_stiffness_and_rank() {
    let mut random = Random::new(8);
    let mut solved = [0, 0];
    let cases = 2000;
    for case in 0..cases {
        let count = 1 + case % 4;
        let rank = [3 * count, 2 * count, 18][case % 3];
        for (dominance, solved) in [0.0, 1.0].into_iter().zip(&mut solved) {
            let mut g = coupled(&mut random, count, rank);
            let rows = 3 * count;
            for i in 0..rows {
                let across: f64 = (0..rows).map(|j| g[i * rows + j].abs()).sum();
                g[i * rows + i] += dominance * across;
            }
            let shape =
                if case % 2 == 0 { FrictionShape::Isotropic } else { FrictionShape::PerAxis };
            let stiffness = [1e4, 1e6, 1e9, 1e12][case / 7 % 4];
            let laws = vec![CompliantContact { stiffness, shape, ..trot() }; count];
            let free: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
            let gaps: Vec<f64> = (0..count).map(|_| 1e-3 * random.normal()).collect();
            let problem = ImplicitProblem {
                inverse_inertia: &g,
                free_velocity: &free,
                gaps: &gaps,
                time_step: [1e-4, 1e-3, 1e-2][case / 5 % 3],
                laws: &laws,
            };
            let mut velocity: Vec<f64> = (0..rows).map(|_| random.normal()).collect();
            let mut forces = vec![0.0; rows];
            let solution = ImplicitContact::new(count).solve(&problem, &mut velocity, &mut forces);
            *solved += usize::from(solution.is_solved);
            for (f, law) in forces.chunks_exact(3).zip(&laws) {
                let reach = match law.shape {
                    FrictionShape::Isotropic => (f[0] * f[0] + f[1] * f[1]).sqrt(),
                    FrictionShape::PerAxis => f[0].abs().max(f[1].abs()),
                };
                assert!(f[2] >= 0.0 && reach <= law.static_friction * f[2] * (1.0 + 1e-12));
            }
        }
    }
    assert_eq!(solved[1], cases, "{solved:?}");
    assert!(solved[0] as f64 > 0.95 * cases as f64, "{solved:?}");
}

/// Where Newton's method is not tried, the lagged problems alone find the same forces.
#[test]
fn lagged_friction_and_newtons_method_agree() {
    let mut random = Random::new(9);
    for _ in 0..200 {
        let mut g = coupled(&mut random, 2, 6);
        for i in 0..6 {
            g[i * 6 + i] += 5.0;
        }
        let free: Vec<f64> = (0..6).map(|_| 0.3 * random.normal()).collect();
        let gaps = [-1e-4, 1e-4];
        let laws = [CompliantContact { static_friction: 0.3, dynamic_friction: 0.3, ..trot() }; 2];
        let problem = ImplicitProblem {
            inverse_inertia: &g,
            free_velocity: &free,
            gaps: &gaps,
            time_step: 1e-3,
            laws: &laws,
        };
        let mut solver = ImplicitContact::new(2);
        let (mut a, mut b, mut iterations) = (vec![0.0; 6], vec![0.0; 6], 0);
        assert!(solver.newton(&problem, &mut a, &mut iterations));
        solver.lagged(&problem, &mut b, &mut iterations);
        for (a, b) in a.iter().zip(&b) {
            assert!((a - b).abs() < 1e-8, "{a} {b}");
        }
    }
}

#[test]
fn contacts_in_the_air_do_nothing_and_nan_ends() {
    let g = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let (mut solver, mut forces) = (ImplicitContact::new(1), [1.0; 3]);
    let solve = |solver: &mut ImplicitContact, free: [f64; 3], forces: &mut [f64]| {
        let problem = ImplicitProblem {
            inverse_inertia: &g,
            free_velocity: &free,
            gaps: &[1e-3],
            time_step: 1e-3,
            laws: &[trot()],
        };
        let mut velocity = [0.0; 3];
        let solution = solver.solve(&problem, &mut velocity, forces);
        (solution, velocity)
    };
    let (solution, velocity) = solve(&mut solver, [0.1, 0.2, -0.5], &mut forces);
    assert!(solution.is_solved && forces == [0.0; 3] && velocity == [0.1, 0.2, -0.5]);
    let (solution, _) = solve(&mut solver, [0.1, f64::NAN, -2.0], &mut forces);
    assert!(!solution.is_solved);
}

#[test]
fn solving_allocates_nothing() {
    let mut random = Random::new(10);
    let g = coupled(&mut random, 4, 12);
    let free: Vec<f64> = (0..12).map(|_| random.normal()).collect();
    let (mut velocity, mut forces) = (vec![0.0; 12], vec![0.0; 12]);
    let mut solver = ImplicitContact::new(4);
    let problem = ImplicitProblem {
        inverse_inertia: &g,
        free_velocity: &free,
        gaps: &[-1e-4; 4],
        time_step: 1e-3,
        laws: &[trot(); 4],
    };
    let seen = measure(|| {
        solver.solve(&problem, &mut velocity, &mut forces);
        let mut iterations = 0;
        solver.lagged(&problem, &mut velocity, &mut iterations);
    });
    assert_eq!(seen.count_total, 0);
    assert!(forces.iter().any(|f| *f > 0.0));
}
