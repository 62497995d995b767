//! What the laws speak of, in one call each; and how a law is judged.

use legwork_mechanics::nalgebra::{DMatrix, DVector};
use legwork_mechanics::{
    ArticulatedBody, FrameId, InverseDynamics, Kinematics, MassFactor, MassMatrix, MixedTwist,
    MixedWrench, Model, SingularMass, articulated_body, bias_force, configuration_derivative,
    coriolis_force, forward_dynamics, frame_jacobian, frame_velocity, gravity_force, integrate,
    inverse_dynamics, mass_matrix,
};

/// A bound that all random robots must keep; `--nocapture` prints the largest error.
pub(crate) struct Law {
    name: &'static str,
    bound: f64,
    worst: (f64, String),
}

impl Law {
    pub(crate) fn new(name: &'static str, bound: f64) -> Self {
        Self { name, bound, worst: (0.0, String::new()) }
    }

    /// Fails if `error` is not within the bound.
    pub(crate) fn check(&mut self, seed: u64, error: f64) {
        self.check_part(seed, "", error);
    }

    pub(crate) fn check_part(&mut self, seed: u64, part: &str, error: f64) {
        let Self { name, bound, .. } = self;
        assert!(error <= *bound, "{name} {part}: seed {seed}: error {error:.2e} > {bound:.0e}");
        if error > self.worst.0 {
            self.worst = (error, format!("seed {seed} {part}"));
        }
    }
}

impl Drop for Law {
    #[expect(clippy::print_stderr, reason = "figures for those who ask for them")]
    fn drop(&mut self) {
        let Self { name, bound, worst: (error, place) } = self;
        eprintln!("law: {name}: {error:.1e} of {bound:.0e} ({})", place.trim_end());
    }
}

pub(crate) fn kinematics_at(model: &Model, q: &[f64], nu: &[f64]) -> Kinematics {
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, q, nu);
    kinematics
}

/// The configuration after moving with the constant velocity ν for some time.
pub(crate) fn moved(model: &Model, q: &[f64], nu: &[f64], time: f64) -> Vec<f64> {
    let step: Vec<f64> = nu.iter().map(|v| v * time).collect();
    let mut out = vec![0.0; q.len()];
    integrate(model, q, &step, &mut out);
    out
}

/// The configuration after moving along one coordinate.
pub(crate) fn moved_along(model: &Model, q: &[f64], k: usize, time: f64) -> Vec<f64> {
    let mut unit = vec![0.0; model.velocity_dim()];
    unit[k] = 1.0;
    moved(model, q, &unit, time)
}

pub(crate) fn mass_at(model: &Model, kinematics: &Kinematics) -> MassMatrix {
    let mut mass = MassMatrix::new(model);
    mass_matrix(model, kinematics, &mut mass);
    mass
}

pub(crate) fn dense(mass: &MassMatrix) -> DMatrix<f64> {
    let nv = mass.dim();
    let mut m = DMatrix::zeros(nv, nv);
    mass.write_dense(m.as_mut_slice());
    m
}

pub(crate) fn dense_mass_at(model: &Model, kinematics: &Kinematics) -> DMatrix<f64> {
    dense(&mass_at(model, kinematics))
}

pub(crate) fn factor_at(model: &Model, kinematics: &Kinematics) -> MassFactor {
    let mut factor = MassFactor::new(model);
    factor.factorize(&mass_at(model, kinematics)).unwrap();
    factor
}

pub(crate) fn bias_at(model: &Model, kinematics: &Kinematics) -> DVector<f64> {
    let mut h = DVector::zeros(model.velocity_dim());
    bias_force(model, kinematics, &mut InverseDynamics::new(model), h.as_mut_slice());
    h
}

pub(crate) fn gravity_at(model: &Model, kinematics: &Kinematics) -> DVector<f64> {
    let mut g = DVector::from_element(model.velocity_dim(), f64::NAN);
    gravity_force(model, kinematics, g.as_mut_slice());
    g
}

pub(crate) fn coriolis_at(model: &Model, kinematics: &Kinematics) -> DVector<f64> {
    let mut c = DVector::from_element(model.velocity_dim(), f64::NAN);
    coriolis_force(model, kinematics, &mut InverseDynamics::new(model), c.as_mut_slice());
    c
}

pub(crate) fn inverse_dynamics_at(
    model: &Model,
    kinematics: &Kinematics,
    acceleration: &[f64],
) -> DVector<f64> {
    let mut force = DVector::from_element(model.velocity_dim(), f64::NAN);
    let mut workspace = InverseDynamics::new(model);
    inverse_dynamics(model, kinematics, acceleration, &mut workspace, force.as_mut_slice());
    force
}

/// Forward dynamics by the factor of `M`.
pub(crate) fn forward_at(
    model: &Model,
    kinematics: &Kinematics,
    torques: &[f64],
    external: &[f64],
) -> DVector<f64> {
    let factor = factor_at(model, kinematics);
    let bias = bias_at(model, kinematics);
    let mut out = DVector::from_element(model.velocity_dim(), f64::NAN);
    forward_dynamics(model, &factor, bias.as_slice(), torques, external, out.as_mut_slice());
    out
}

/// Forward dynamics by articulated bodies.
pub(crate) fn articulated_at(
    model: &Model,
    kinematics: &Kinematics,
    torques: &[f64],
    external: &[f64],
) -> Result<DVector<f64>, SingularMass> {
    let mut out = DVector::from_element(model.velocity_dim(), f64::NAN);
    let mut workspace = ArticulatedBody::new(model);
    articulated_body(model, kinematics, torques, external, &mut workspace, out.as_mut_slice())?;
    Ok(out)
}

pub(crate) fn frame_jacobian_at(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
) -> DMatrix<f64> {
    let mut jacobian = DMatrix::from_element(6, model.velocity_dim(), f64::NAN);
    frame_jacobian(model, kinematics, frame, jacobian.as_mut_slice());
    jacobian
}

/// The rows of the joints.
pub(crate) fn joint_rows(model: &Model, x: &[f64]) -> Vec<f64> {
    model.joint_velocity_indices().iter().map(|&k| x[k]).collect()
}

pub(crate) fn six(twist: &MixedTwist) -> DVector<f64> {
    let (v, w) = (twist.linear, twist.angular);
    DVector::from_vec(vec![v.x, v.y, v.z, w.x, w.y, w.z])
}

pub(crate) fn six_of(wrench: &MixedWrench) -> DVector<f64> {
    six(&MixedTwist { linear: wrench.force, angular: wrench.moment })
}

pub(crate) fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

pub(crate) fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// ‖found − expected‖ / (1 + ‖expected‖).
pub(crate) fn relative(found: &[f64], expected: &[f64]) -> f64 {
    distance(found, expected) / (1.0 + norm(expected))
}

/// A frame near the end of some branch.
pub(crate) fn last_frame(model: &Model) -> FrameId {
    let deepest = model.frames().iter().max_by_key(|frame| frame.body.index()).unwrap();
    model.find_frame(&deepest.name).unwrap()
}

/// Every frame.
pub(crate) fn frame_ids(model: &Model) -> impl Iterator<Item = FrameId> {
    model.frames().iter().map(|frame| model.find_frame(&frame.name).unwrap())
}

/// Derivative at zero by four values: `f'(0) = (8 (f₁ − f₋₁) − (f₂ − f₋₂)) / 12ε − ε⁴ f⁽⁵⁾/30`.
pub(crate) fn slope(eps: f64, f: impl Fn(f64) -> DVector<f64>) -> DVector<f64> {
    ((f(eps) - f(-eps)) * 8.0 - (f(2.0 * eps) - f(-2.0 * eps))) / (12.0 * eps)
}

/// Step of [`slope`] along unit coordinates: truncation `ε⁴/30 = 5e-13` and rounding `1e-16/ε` are
/// about equal.
pub(crate) const STEP: f64 = 2e-3;

/// Step of [`slope`] for a motion: `STEP` times the time in which the fastest frame turns by one
/// radian.
pub(crate) fn step_in_motion(model: &Model, kinematics: &Kinematics) -> f64 {
    let speed = |frame| frame_velocity(model, kinematics, frame).angular.norm();
    STEP / (1.0 + frame_ids(model).map(speed).fold(0.0, f64::max))
}

/// Condition number of a symmetric positive definite matrix.
pub(crate) fn condition(m: &DMatrix<f64>) -> f64 {
    if m.is_empty() {
        return 1.0;
    }
    let eigenvalues = m.clone().symmetric_eigenvalues();
    eigenvalues.max() / eigenvalues.min()
}

/// Largest sum of the magnitudes of a row.
pub(crate) fn infinity_norm(m: &DMatrix<f64>) -> f64 {
    m.row_iter().map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

/// One step of the classical Runge–Kutta method on the embedded coordinates, under constant joint
/// torques and the generalised force `external(kinematics)`.
pub(crate) fn runge_kutta(
    model: &Model,
    state: &(Vec<f64>, Vec<f64>),
    torques: &[f64],
    external: &impl Fn(&Kinematics) -> Vec<f64>,
    step: f64,
) -> (Vec<f64>, Vec<f64>) {
    let rate = |(q, nu): &(Vec<f64>, Vec<f64>)| {
        let kinematics = kinematics_at(model, q, nu);
        let mut q_rate = vec![0.0; q.len()];
        configuration_derivative(model, q, nu, &mut q_rate);
        let force = external(&kinematics);
        let acceleration = articulated_at(model, &kinematics, torques, &force).unwrap();
        (q_rate, acceleration.as_slice().to_vec())
    };
    let add = |x: &[f64], rate: &[f64], time: f64| -> Vec<f64> {
        x.iter().zip(rate).map(|(x, rate)| x + rate * time).collect()
    };
    let ahead = |rate: &(Vec<f64>, Vec<f64>), time: f64| {
        (add(&state.0, &rate.0, time), add(&state.1, &rate.1, time))
    };
    let a = rate(state);
    let b = rate(&ahead(&a, 0.5 * step));
    let c = rate(&ahead(&b, 0.5 * step));
    let d = rate(&ahead(&c, step));
    let sum = |x: &[f64], a: &[f64], b: &[f64], c: &[f64], d: &[f64]| -> Vec<f64> {
        let mean = |i: usize| (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]) / 6.0;
        x.iter().enumerate().map(|(i, x)| x + step * mean(i)).collect()
    };
    let mut q = sum(&state.0, &a.0, &b.0, &c.0, &d.0);
    legwork_mechanics::normalize(model, &mut q);
    (q, sum(&state.1, &a.1, &b.1, &c.1, &d.1))
}
