//! Impacts with restitution and friction that make no energy.
//!
//! Newton's law prescribes the normal speed after an impact. With friction that is not always
//! possible without a gain of energy: where a rod strikes at an angle, friction changes the normal
//! speed too, and the impulse that restores it may do more work than the impact took (T. Kane 1984).
//! Here the speeds of separation keep their ratio and are reduced until nothing is gained. Without
//! them the impact is inelastic, and loses energy under either law of sliding: then
//! `pᵀ(J ν + G p) ≤ 0` for the impulses p, and the work is `pᵀJ ν + ½ pᵀG p ≤ −½ pᵀG p`.
//!
//! # References
//! - T. R. Kane, *A dynamics puzzle*, Stanford Mechanics Alumni Club Newsletter (1984).
//! - W. J. Stronge, *Rigid body collisions with friction*, Proc. R. Soc. A 431 (1990).

use legwork_qp::{ContactMethod, ContactProblem, CoulombFixedPoint, Outcome, ProjectedGaussSeidel};

/// Halvings of the interval of the share.
const HALVINGS: usize = 30;

/// Work over its terms that is an error of the solver [1].
const ERROR: f64 = 1e-6;

/// The largest share, from 0 to 1, of the speeds of separation for which `work` of the impulses
/// is not positive: work [J] and the size of its terms [J], of a share.
pub fn share_without_gain(mut work: impl FnMut(f64) -> (f64, f64)) -> f64 {
    let mut gains = |share| {
        let (work, terms) = work(share);
        work > ERROR * terms
    };
    if !gains(1.0) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (low + high);
        if gains(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    low
}

/// Work of impulses p on contact velocities v, `pᵀv + ½ pᵀG p`, and the size of its terms [J].
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | p | `impulses` | 3k | [N s] |
/// | v | `velocity` | 3k | before the impact [m/s] |
/// | G | `inverse_inertia` | 3k × 3k | velocity per impulse [1/kg] |
///
/// # Panics
/// If a slice has the wrong length.
#[must_use]
pub fn work_of(impulses: &[f64], velocity: &[f64], inverse_inertia: &[f64]) -> (f64, f64) {
    let n = impulses.len();
    assert_eq!((velocity.len(), inverse_inertia.len()), (n, n * n), "v needs 3k, G 3k x 3k values");
    let (mut work, mut terms) = (0.0, 0.0);
    for ((p, v), column) in impulses.iter().zip(velocity).zip(inverse_inertia.chunks_exact(n)) {
        if *p == 0.0 {
            continue;
        }
        let changed: f64 = column.iter().zip(impulses).map(|(g, p)| g * p).sum();
        work += p * (v + 0.5 * changed);
        terms += (p * v).abs() + (0.5 * p * changed).abs();
    }
    (work, terms)
}

/// Predicts the forces of a contact problem at velocity level, for its share of restitution.
#[derive(Debug)]
pub struct EnergyLimit {
    convex: ProjectedGaussSeidel,
    coulomb: CoulombFixedPoint<ProjectedGaussSeidel>,
    bias: Vec<f64>,
    forces: Vec<f64>,
}

/// Sweeps and natural residual of the prediction.
const SWEEPS: (u32, f64) = (2000, 1e-9);
/// Passes and residual of Coulomb's law.
const PASSES: (u32, f64) = (60, 1e-8);

impl EnergyLimit {
    /// Memory for `contact_count` contacts.
    #[must_use]
    pub fn new(contact_count: usize) -> Self {
        let sweeps = || ProjectedGaussSeidel::new(contact_count, SWEEPS.0, SWEEPS.1);
        Self {
            convex: sweeps(),
            coulomb: CoulombFixedPoint::new(sweeps(), contact_count, PASSES.0, PASSES.1),
            bias: vec![0.0; 3 * contact_count],
            forces: vec![0.0; 3 * contact_count],
        }
    }

    /// The largest share of the speeds of separation with which the step makes no energy.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | | `problem` | | the problem of the step, and if its law is Coulomb's |
    /// | J ν̇ + J ν/Δt | `motion` | 3k | without contact forces [m/s²] |
    /// | b_n | `normal_bias` | | of contact i with a share of its speed of separation [m/s²] |
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn share(
        &mut self,
        (problem, is_coulomb): (&ContactProblem<'_>, bool),
        motion: &[f64],
        normal_bias: impl Fn(usize, f64) -> f64,
    ) -> f64 {
        let Self { convex, coulomb, bias, forces } = self;
        share_without_gain(|share| {
            bias.copy_from_slice(problem.bias);
            for (i, bias) in bias.iter_mut().skip(2).step_by(3).enumerate() {
                *bias = normal_bias(i, share);
            }
            let problem = ContactProblem { bias, ..*problem };
            let Outcome { status, .. } = match is_coulomb {
                true => coulomb.solve(&problem, forces),
                false => convex.solve(&problem, forces),
            };
            // Forces that are not found say nothing.
            match status.is_usable() {
                true => work_of(forces, motion, problem.inverse_inertia),
                false => (0.0, 0.0),
            }
        })
    }
}
