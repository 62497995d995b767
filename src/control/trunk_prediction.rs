//! Predictive control of a trunk by the forces at its feet, as a quadratic program.

use crate::gait::LEGS;

/// Numbers of the state: roll, pitch, yaw, position, angular velocity, velocity.
pub const TRUNK_STATE: usize = 12;
/// Numbers of the forces of one step.
const FORCES: usize = 3 * LEGS;

/// A trunk on massless legs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrunkModel {
    /// Mass of the robot [kg].
    pub mass: f64,
    /// Inertia about the centre of mass, in the axes of the trunk, column by column [kg m²].
    pub inertia: [f64; 9],
    /// Acceleration of gravity, downward [m/s²].
    pub gravity: f64,
}

/// One step of the horizon.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrunkStep {
    /// Where the state is to be at the end of the step.
    pub reference: [f64; TRUNK_STATE],
    /// Feet relative to the centre of mass, world axes [m].
    pub arms: [[f64; 3]; LEGS],
    /// Which feet stand.
    pub stands: [bool; LEGS],
}

/// What errors cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrunkWeights {
    /// Of the square of the error of each number of the state.
    pub state: [f64; TRUNK_STATE],
    /// Of the square of each force [1/N²].
    pub force: f64,
}

/// The problem of predictive control of a trunk over N steps, condensed to the forces
/// `U = (f_1, …, f_N)`, twelve per step, world axes, in the order of the feet:
/// `min ½ UᵀH U + gᵀU`.
///
/// The state x obeys `Θ̇ = R_z(ψ)ᵀ ω`, `ṗ = v`, `ω̇ = I⁻¹ Σ rᵢ × fᵢ`, `v̇ = Σ fᵢ/m − g` with
/// `I = R_z I_B R_zᵀ`, yaw ψ and arms rᵢ as planned for the step: linear and varying in time. Over a
/// step it is integrated exactly, and `x_k = A_qp x_0 + B_qp U` is put into
/// `½ Σ |x_k − x_ref|²_L + ½ |U|²_K`. Forces of feet that do not stand act on nothing, so that the
/// least of them, 0, is taken.
///
/// J. Di Carlo, P. M. Wensing, B. Katz, G. Bledt, S. Kim, *Dynamic locomotion in the MIT Cheetah 3
/// through convex model-predictive control* (2018), eqs. 12, 15, 16 and 27 to 32.
#[derive(Debug, Clone)]
pub struct TrunkPrediction {
    steps: usize,
    /// Columns of `B_qp` at the present step.
    response: Vec<f64>,
}

/// Rows of a state.
const ANGLES: usize = 0;
const POSITION: usize = 3;
const SPIN: usize = 6;
const VELOCITY: usize = 9;

/// A 3 × 3 matrix, column by column.
type Matrix3 = [f64; 9];

fn product(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    let mut c = [0.0; 9];
    for j in 0..3 {
        for i in 0..3 {
            c[3 * j + i] = (0..3).map(|k| a[3 * k + i] * b[3 * j + k]).sum();
        }
    }
    c
}

fn transposed(a: &Matrix3) -> Matrix3 {
    [a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]]
}

fn inverse(a: &Matrix3) -> Matrix3 {
    let cofactor = |i: usize, j: usize| {
        let at = |r: usize, c: usize| a[3 * (c % 3) + r % 3];
        at(i + 1, j + 1) * at(i + 2, j + 2) - at(i + 1, j + 2) * at(i + 2, j + 1)
    };
    let determinant: f64 = (0..3).map(|j| a[3 * j] * cofactor(0, j)).sum();
    let mut inverse = [0.0; 9];
    for j in 0..3 {
        for i in 0..3 {
            // The transpose of the cofactors.
            inverse[3 * j + i] = cofactor(j, i) / determinant;
        }
    }
    inverse
}

/// `v ↦ r × v`.
fn cross(r: &[f64; 3]) -> Matrix3 {
    [0.0, r[2], -r[1], -r[2], 0.0, r[0], r[1], -r[0], 0.0]
}

/// World from an upright trunk of this yaw.
fn heading(yaw: f64) -> Matrix3 {
    let (sin, cos) = libm::sincos(yaw);
    [cos, sin, 0.0, -sin, cos, 0.0, 0.0, 0.0, 1.0]
}

impl TrunkPrediction {
    /// For so many steps.
    #[must_use]
    pub fn new(steps: usize) -> Self {
        Self { steps, response: vec![0.0; TRUNK_STATE * FORCES * steps] }
    }

    /// Number of unknowns.
    #[must_use]
    pub fn dim(&self) -> usize {
        FORCES * self.steps
    }

    /// Writes H, column by column, and g for `steps` of `duration` [s] from `state`. Does not
    /// allocate.
    ///
    /// # Panics
    /// If there is another number of steps, or a slice has another length.
    #[allow(clippy::too_many_arguments, reason = "what a problem is made of, and where it goes")]
    pub fn assemble(
        &mut self,
        model: &TrunkModel,
        weights: &TrunkWeights,
        duration: f64,
        state: &[f64; TRUNK_STATE],
        steps: &[TrunkStep],
        (hessian, gradient): (&mut [f64], &mut [f64]),
    ) {
        let n = self.dim();
        assert_eq!((steps.len(), hessian.len(), gradient.len()), (self.steps, n * n, n), "sizes");
        hessian.fill(0.0);
        gradient.fill(0.0);
        self.response.fill(0.0);
        let mut free = *state;
        let t = duration;
        for (k, step) in steps.iter().enumerate() {
            let turn = transposed(&heading(step.reference[ANGLES + 2]));
            let flow = |x: &mut [f64]| {
                for i in 0..3 {
                    let rate: f64 = (0..3).map(|j| turn[3 * j + i] * x[SPIN + j]).sum();
                    x[ANGLES + i] += t * rate;
                }
                for i in 0..3 {
                    x[POSITION + i] += t * x[VELOCITY + i];
                }
            };
            flow(&mut free);
            free[VELOCITY + 2] -= t * model.gravity;
            free[POSITION + 2] -= 0.5 * t * t * model.gravity;
            self.response[..TRUNK_STATE * FORCES * k].chunks_exact_mut(TRUNK_STATE).for_each(flow);
            self.add_forces(model, t, k, step, &turn);
            self.weigh(weights, k, &free, step, (hessian, gradient));
        }
        for i in 0..n {
            hessian[i * n + i] += weights.force;
        }
    }

    /// What the forces of step k do in it.
    fn add_forces(
        &mut self,
        model: &TrunkModel,
        t: f64,
        k: usize,
        step: &TrunkStep,
        turn: &Matrix3,
    ) {
        let upright = transposed(turn);
        let world = product(&product(&upright, &model.inertia), turn);
        let inverse = inverse(&world);
        for leg in (0..LEGS).filter(|&leg| step.stands[leg]) {
            let spin = product(&inverse, &cross(&step.arms[leg]));
            let angles = product(turn, &spin);
            for axis in 0..3 {
                let column = FORCES * k + 3 * leg + axis;
                let x = &mut self.response[TRUNK_STATE * column..TRUNK_STATE * (column + 1)];
                for i in 0..3 {
                    x[ANGLES + i] = 0.5 * t * t * angles[3 * axis + i];
                    x[SPIN + i] = t * spin[3 * axis + i];
                }
                x[POSITION + axis] = 0.5 * t * t / model.mass;
                x[VELOCITY + axis] = t / model.mass;
            }
        }
    }

    /// Adds what the error at the end of step k costs.
    fn weigh(
        &self,
        weights: &TrunkWeights,
        k: usize,
        free: &[f64; TRUNK_STATE],
        step: &TrunkStep,
        (hessian, gradient): (&mut [f64], &mut [f64]),
    ) {
        let n = self.dim();
        let active = FORCES * (k + 1);
        for (j, b) in self.response[..TRUNK_STATE * active].chunks_exact(TRUNK_STATE).enumerate() {
            let mut weighted = [0.0; TRUNK_STATE];
            for (i, weighted) in weighted.iter_mut().enumerate() {
                *weighted = weights.state[i] * b[i];
                gradient[j] += *weighted * (free[i] - step.reference[i]);
            }
            for (i, a) in
                self.response[..TRUNK_STATE * active].chunks_exact(TRUNK_STATE).enumerate()
            {
                let sum: f64 = a.iter().zip(&weighted).map(|(a, b)| a * b).sum();
                hessian[j * n + i] += sum;
            }
        }
    }
}

#[cfg(test)]
mod tests;
