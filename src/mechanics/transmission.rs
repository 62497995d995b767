//! Gears and couplings between motors and joints.
//!
//! Motor `j` turns its rotor by `θ_j`, its gear of ratio `N_j` (turns of the rotor per turn of the
//! output) makes `φ_j = θ_j / N_j` of it, and a coupling (belts, differentials, tendons) moves
//! joints by several motors at once:
//!
//! ```text
//! φ = Γ θ,  Γ = diag(1/N)        s = T φ        ṡ = T Γ θ̇
//! ```
//!
//! Power is the same on both sides of an ideal transmission, `ṡᵀτ = φ̇ᵀt = θ̇ᵀt_rotor`, so torques
//! go the other way: `t = Tᵀ τ`, `τ = T⁻ᵀ t`, `t_rotor = Γ t`. A rotor of inertia `I_m` appears at
//! the joints as `(TΓ)⁻ᵀ diag(I_m) (TΓ)⁻¹`, viscous friction `k` at the gears as
//! `T⁻ᵀ diag(k) T⁻¹`.
//!
//! References: N. Guedelha et al., *A flexible MATLAB/Simulink simulator for robotic floating-base
//! systems in contact with the ground* (2022), whose configuration of iCub has these matrices.

use legwork_linalg::invert;
use thiserror::Error;

/// Why a transmission is invalid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum TransmissionError {
    /// A gear ratio is zero or not finite.
    #[error("expected a finite gear ratio other than 0 for motor {motor}, found {ratio}")]
    Ratio {
        /// Which motor.
        motor: usize,
        /// Its ratio.
        ratio: f64,
    },
    /// A coupling names a joint that does not exist, or that another coupling or entry has named.
    #[error("joint {joint} is coupled twice, or not one of {count} joints")]
    Joint {
        /// The joint.
        joint: usize,
        /// How many there are.
        count: usize,
    },
    /// The matrix of a coupling has the wrong size, or numbers that are not finite.
    #[error("expected {expected} finite numbers in the matrix of {joints} joints, found {found}")]
    Shape {
        /// Joints of the coupling.
        joints: usize,
        /// Their number squared.
        expected: usize,
        /// How many finite numbers there are.
        found: usize,
    },
    /// The matrix of a coupling has no inverse: some motion of the joints turns no motor.
    #[error("expected a matrix that has an inverse, found a singular one")]
    Singular,
}

/// Gears and couplings of n motors and n joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    ratios: Vec<f64>,
    groups: Vec<Group>,
}

/// Joints that move together.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    joints: Vec<usize>,
    /// `T`, row by row.
    joint_from_gear: Vec<f64>,
    /// `T⁻¹`, row by row.
    gear_from_joint: Vec<f64>,
}

impl Transmission {
    /// Motor `j` on joint `j`, through a gear of the ratio `ratios[j]`: turns of the rotor per turn
    /// of the joint (rad/m if it is prismatic), negative if it turns the other way.
    ///
    /// # Errors
    /// [`TransmissionError::Ratio`] if a ratio is zero or not finite.
    pub fn new(ratios: &[f64]) -> Result<Self, TransmissionError> {
        match ratios.iter().position(|ratio| *ratio == 0.0 || !ratio.is_finite()) {
            Some(motor) => Err(TransmissionError::Ratio { motor, ratio: ratios[motor] }),
            None => Ok(Self { ratios: ratios.to_vec(), groups: Vec::new() }),
        }
    }

    /// Couples k joints with the k motors of the same indices by `matrix`, the rows of T that
    /// belong to `joints` (k × k, row by row): `s = T φ`, row `r` for joint `joints[r]`, column `c`
    /// for motor `joints[c]`.
    ///
    /// # Errors
    /// [`TransmissionError`] if a joint is named twice or does not exist, or the matrix has another
    /// size or no inverse.
    pub fn coupled(mut self, joints: &[usize], matrix: &[f64]) -> Result<Self, TransmissionError> {
        let (k, count) = (joints.len(), self.ratios.len());
        let taken = |joint: &usize| self.groups.iter().any(|group| group.joints.contains(joint));
        for (i, &joint) in joints.iter().enumerate() {
            if joint >= count || taken(&joint) || joints[..i].contains(&joint) {
                return Err(TransmissionError::Joint { joint, count });
            }
        }
        let found = matrix.iter().filter(|entry| entry.is_finite()).count();
        if matrix.len() != k * k || found != k * k {
            return Err(TransmissionError::Shape { joints: k, expected: k * k, found });
        }
        let gear_from_joint = inverse(matrix, k).ok_or(TransmissionError::Singular)?;
        self.groups.push(Group {
            joints: joints.to_vec(),
            joint_from_gear: matrix.to_vec(),
            gear_from_joint,
        });
        Ok(self)
    }

    /// Turns of each rotor per turn of its gear's output.
    #[must_use]
    pub fn ratios(&self) -> &[f64] {
        &self.ratios
    }

    /// Whether some motor drives several joints.
    #[must_use]
    pub fn is_coupled(&self) -> bool {
        !self.groups.is_empty()
    }

    /// Velocities of the gears' outputs: `φ̇ = T⁻¹ ṡ` [rad/s].
    ///
    /// # Panics
    /// If a slice has another length than n.
    pub fn gear_velocities(&self, joint_velocities: &[f64], out: &mut [f64]) {
        self.map(joint_velocities, out, |group, r, c| group.gear_from_joint[r * group.k() + c]);
    }

    /// Torques at the gears' outputs: `t = Tᵀ τ` [N m].
    ///
    /// # Panics
    /// If a slice has another length than n.
    pub fn gear_torques(&self, joint_torques: &[f64], out: &mut [f64]) {
        self.map(joint_torques, out, |group, r, c| group.joint_from_gear[c * group.k() + r]);
    }

    /// Torques of the joints: `τ = T⁻ᵀ t` [N m].
    ///
    /// # Panics
    /// If a slice has another length than n.
    pub fn joint_torques(&self, gear_torques: &[f64], out: &mut [f64]) {
        self.map(gear_torques, out, |group, r, c| group.gear_from_joint[c * group.k() + r]);
    }

    /// Inertia of the rotors reflected to the joints (n × n, symmetric positive semidefinite):
    /// `(TΓ)⁻ᵀ diag(I_m) (TΓ)⁻¹` [kg m²], which [`Model::with_rotor_inertia_matrix`] takes.
    ///
    /// [`Model::with_rotor_inertia_matrix`]: crate::Model::with_rotor_inertia_matrix
    ///
    /// # Panics
    /// If `rotor_inertia` has another length than n, or `out` than n².
    pub fn reflected_inertia(&self, rotor_inertia: &[f64], out: &mut [f64]) {
        let n = self.ratios.len();
        assert_eq!(rotor_inertia.len(), n, "length of rotor_inertia");
        assert_eq!(out.len(), n * n, "length of out");
        out.fill(0.0);
        let geared = |motor: usize| self.ratios[motor] * self.ratios[motor] * rotor_inertia[motor];
        for j in 0..n {
            out[j * n + j] = geared(j);
        }
        for group in &self.groups {
            let (k, inverse) = (group.k(), &group.gear_from_joint);
            for (a, &i) in group.joints.iter().enumerate() {
                for (b, &j) in group.joints.iter().enumerate() {
                    let sum = (0..k).fold(0.0, |sum, m| {
                        sum + inverse[m * k + a] * geared(group.joints[m]) * inverse[m * k + b]
                    });
                    out[i * n + j] = sum;
                }
            }
        }
    }

    /// Multiplies by a matrix that is the identity but for `entry(group, row, column)`.
    fn map(&self, input: &[f64], out: &mut [f64], entry: impl Fn(&Group, usize, usize) -> f64) {
        assert_eq!(input.len(), self.ratios.len(), "length of input");
        out.copy_from_slice(input);
        for group in &self.groups {
            for (r, &to) in group.joints.iter().enumerate() {
                let terms = group.joints.iter().enumerate();
                out[to] = terms.fold(0.0, |sum, (c, &from)| sum + entry(group, r, c) * input[from]);
            }
        }
    }
}

impl Group {
    fn k(&self) -> usize {
        self.joints.len()
    }
}

/// The inverse of a k × k matrix, row by row; `None` if a pivot is below rounding.
fn inverse(matrix: &[f64], k: usize) -> Option<Vec<f64>> {
    // By rows is the transpose by columns, and so are the inverses.
    let mut inverse = vec![0.0; k * k];
    invert(&mut matrix.to_vec(), &mut inverse, k, 1e-13).ok().map(|()| inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// iCub's torso and left shoulder, with R = 40 mm, r = 22 mm, t = 0.615.
    fn icub() -> Transmission {
        let (t, share) = (0.615, 0.022 / 0.04);
        let torso = [0.5, -0.5, 0.0, 0.5, 0.5, 0.0, share / 2.0, share / 2.0, share];
        let shoulder = [-1.0, 0.0, 0.0, -1.0, -t, 0.0, 0.0, t, -t];
        Transmission::new(&[100.0; 7])
            .and_then(|gears| gears.coupled(&[0, 1, 2], &torso))
            .and_then(|gears| gears.coupled(&[4, 5, 6], &shoulder))
            .expect("a transmission")
    }

    /// Inverses by hand: of the torso, T⁻¹ = [[1, 1, 0], [−1, 1, 0], [0, −1, R/r]].
    #[test]
    fn velocities_of_the_gears_are_those_of_the_inverse_by_hand() {
        let mut gears = [f64::NAN; 7];
        icub().gear_velocities(&[0.3, 0.2, -0.7, 4.0, 0.4, -0.5, 0.6], &mut gears);
        let t = 0.615;
        let (a, b) = (-0.4, (0.4 + 0.5) / t);
        let by_hand = [0.3 + 0.2, 0.2 - 0.3, -0.2 - 0.7 * 0.04 / 0.022, 4.0, a, b, b - 0.6 / t];
        for (found, exact) in gears.iter().zip(by_hand) {
            assert!((found - exact).abs() < 1e-14, "{gears:?} for {by_hand:?}");
        }
    }

    #[test]
    fn power_is_the_same_on_both_sides_and_torques_come_back() {
        let gears = icub();
        let velocities = [0.3, 0.2, -0.7, 4.0, 0.4, -0.5, 0.6];
        let torques = [5.0, -2.0, 1.5, 0.1, -8.0, 3.0, 2.0];
        let [mut v, mut t, mut back] = [[f64::NAN; 7]; 3];
        gears.gear_velocities(&velocities, &mut v);
        gears.gear_torques(&torques, &mut t);
        gears.joint_torques(&t, &mut back);
        let power = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
        assert!((power(&v, &t) - power(&velocities, &torques)).abs() < 1e-13);
        for (back, torque) in back.iter().zip(torques) {
            assert!((back - torque).abs() < 1e-14);
        }
    }

    /// Kinetic energy of the rotors, `½ θ̇ᵀ I θ̇`, is `½ ṡᵀ M ṡ`.
    #[test]
    fn reflected_inertia_has_the_rotors_energy() {
        let gears = icub();
        let inertia: Vec<f64> = (1..8).map(|i| 1e-6 * f64::from(i)).collect();
        let velocities = [0.3, 0.2, -0.7, 4.0, 0.4, -0.5, 0.6];
        let (mut matrix, mut v) = ([f64::NAN; 49], [f64::NAN; 7]);
        gears.reflected_inertia(&inertia, &mut matrix);
        gears.gear_velocities(&velocities, &mut v);
        let rotors = (0..7).fold(0.0, |sum, j| sum + inertia[j] * (100.0 * v[j]) * (100.0 * v[j]));
        let mut joints = 0.0;
        for i in 0..7 {
            for j in 0..7 {
                joints += velocities[i] * matrix[i * 7 + j] * velocities[j];
                assert!((matrix[i * 7 + j] - matrix[j * 7 + i]).abs() < 1e-16);
            }
        }
        assert!((joints - rotors).abs() < 1e-14 * rotors.max(1.0), "{joints} for {rotors}");
    }

    #[test]
    fn what_is_no_transmission_is_refused() {
        let gears = || Transmission::new(&[6.0, 9.33]).expect("gears");
        assert!(matches!(
            Transmission::new(&[1.0, 0.0]),
            Err(TransmissionError::Ratio { motor: 1, .. })
        ));
        assert!(matches!(
            gears().coupled(&[0, 2], &[1.0; 4]),
            Err(TransmissionError::Joint { joint: 2, count: 2 })
        ));
        assert!(gears().coupled(&[0, 0], &[1.0, 0.0, 0.0, 1.0]).is_err());
        assert!(matches!(
            gears().coupled(&[0, 1], &[1.0; 3]),
            Err(TransmissionError::Shape { expected: 4, found: 3, .. })
        ));
        assert_eq!(gears().coupled(&[0, 1], &[1.0; 4]), Err(TransmissionError::Singular));
    }
}
