//! Rigid bodies in absolute coordinates, advanced by the solver: v first, then q with v₁.

use legwork_contact::soft_constraints::{
    BodyIndex, ConstraintProblem, ConstraintSolution, SoftConstraintSolver,
};
use legwork_qp::{Outcome, Status};
use nalgebra::{Matrix3, Rotation3, Vector3};

/// A rigid body; velocities are (linear, angular) in world axes.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) mass: f64,
    /// Principal moments in body axes.
    pub(crate) inertia: Vector3<f64>,
    pub(crate) position: Vector3<f64>,
    pub(crate) rotation: Rotation3<f64>,
    pub(crate) linear: Vector3<f64>,
    pub(crate) angular: Vector3<f64>,
}

impl Body {
    pub(crate) fn new(mass: f64, inertia: Vector3<f64>, position: Vector3<f64>) -> Self {
        let (rotation, zero) = (Rotation3::identity(), Vector3::zeros());
        Self { mass, inertia, position, rotation, linear: zero, angular: zero }
    }

    /// A box of uniform density with these edges.
    pub(crate) fn cuboid(mass: f64, edges: Vector3<f64>, position: Vector3<f64>) -> Self {
        let s = edges.component_mul(&edges);
        let inertia = Vector3::new(s.y + s.z, s.x + s.z, s.x + s.y) * (mass / 12.0);
        Self::new(mass, inertia, position)
    }

    pub(crate) fn sphere(mass: f64, radius: f64, position: Vector3<f64>) -> Self {
        Self::new(mass, Vector3::repeat(0.4 * mass * radius * radius), position)
    }

    pub(crate) fn world_inertia(&self) -> Matrix3<f64> {
        let r = self.rotation.matrix();
        r * Matrix3::from_diagonal(&self.inertia) * r.transpose()
    }

    /// Kinetic energy.
    pub(crate) fn kinetic_energy(&self) -> f64 {
        0.5 * self.mass * self.linear.norm_squared()
            + 0.5 * self.angular.dot(&(self.world_inertia() * self.angular))
    }

    /// `G` of a point of the body at `arm` from its centre, along `axes`: axes.len() × 6.
    pub(crate) fn point_rows(
        &self,
        arm: &Vector3<f64>,
        axes: &[Vector3<f64>],
        sign: f64,
    ) -> Vec<f64> {
        let rows = axes.len();
        let mut g = vec![0.0; 6 * rows];
        for (i, axis) in axes.iter().enumerate() {
            let turn = arm.cross(axis);
            for k in 0..3 {
                g[k * rows + i] = sign * axis[k];
                g[(3 + k) * rows + i] = sign * turn[k];
            }
        }
        g
    }

    /// Acceleration of that point at constant velocity of the body.
    pub(crate) fn point_bias(&self, arm: &Vector3<f64>) -> Vector3<f64> {
        self.angular.cross(&self.angular.cross(arm))
    }
}

/// Several bodies and the solver.
pub(crate) struct World {
    pub(crate) bodies: Vec<Body>,
    pub(crate) gravity: Vector3<f64>,
    pub(crate) time_step: f64,
    pub(crate) problem: ConstraintProblem,
    pub(crate) solution: ConstraintSolution,
    pub(crate) solver: SoftConstraintSolver,
    /// Forces on bodies besides gravity, (force, moment), for one step.
    pub(crate) loads: Vec<[f64; 6]>,
    pub(crate) iterations: u32,
}

impl World {
    pub(crate) fn new(bodies: Vec<Body>, gravity: Vector3<f64>, time_step: f64) -> Self {
        let problem = ConstraintProblem::new(&vec![6; bodies.len()], time_step);
        let loads = vec![[0.0; 6]; bodies.len()];
        let velocity = vec![0.0; 6 * bodies.len()];
        Self {
            bodies,
            gravity,
            time_step,
            problem,
            solution: ConstraintSolution { velocity, ..ConstraintSolution::default() },
            solver: SoftConstraintSolver::default(),
            loads,
            iterations: 0,
        }
    }

    /// Clears the constraints and writes inertia, momentum and guess of the present state.
    pub(crate) fn begin(&mut self) {
        self.problem.clear();
        self.problem.time_step = self.time_step;
        let mut force = vec![0.0; 6 * self.bodies.len()];
        for (i, body) in self.bodies.iter().enumerate() {
            let inertia = body.world_inertia();
            let mut mass = [0.0; 36];
            for r in 0..3 {
                mass[7 * r] = body.mass;
                for c in 0..3 {
                    mass[6 * (3 + c) + 3 + r] = inertia[(r, c)];
                }
            }
            self.problem.set_mass(BodyIndex(i), &mass);
            let gyroscopic = -body.angular.cross(&(inertia * body.angular));
            for k in 0..3 {
                self.solution.velocity[6 * i + k] = body.linear[k];
                self.solution.velocity[6 * i + 3 + k] = body.angular[k];
                force[6 * i + k] = body.mass * self.gravity[k] + self.loads[i][k];
                force[6 * i + 3 + k] = gyroscopic[k] + self.loads[i][3 + k];
            }
        }
        self.problem.set_momentum(&self.solution.velocity, &force);
    }

    /// Solves and moves on; what is not solved is a failure.
    pub(crate) fn finish(&mut self) -> Outcome {
        let outcome = self.advance();
        assert_eq!(outcome.status, Status::Solved, "{outcome:?}");
        outcome
    }

    /// Solves and moves on.
    pub(crate) fn advance(&mut self) -> Outcome {
        let outcome = self.solver.solve(&self.problem, &mut self.solution);
        self.iterations += outcome.iterations;
        for (i, body) in self.bodies.iter_mut().enumerate() {
            let v = &self.solution.velocity[6 * i..6 * i + 6];
            body.linear = Vector3::new(v[0], v[1], v[2]);
            body.angular = Vector3::new(v[3], v[4], v[5]);
            body.position += self.time_step * body.linear;
            body.rotation = Rotation3::new(self.time_step * body.angular) * body.rotation;
        }
        outcome
    }
}
