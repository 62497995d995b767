//! `ReflectedInertia`: what the joints feel of the motors' rotors.

use legwork_block::quantity::{Dimensionless, Inertia, NonNegative, PerJoint, Positive};
use legwork_block::{
    Inputs, Matrix, Outcome, Outputs, Pure, RateRule, Vector, block, parameters, ports,
};

use crate::actuators::motor::gears::{Coupling, each, transmission};
use crate::robot::name::RobotName;

/// Inertia of the motors' rotors as the joints feel it, behind gears and couplings. It is
/// `(TΓ)⁻ᵀ diag(I_m) (TΓ)⁻¹`, with the gears and couplings of [`Motor`](crate::Motor), `s = T φ`
/// and `φ = Γ θ`, `Γ = diag(1/N)`.
///
/// Constant. A robot may also have these numbers from its file, as `reflected_inertia` (the matrix)
/// or `rotor_inertia` (the diagonal) of `Urdf`. Of coupled joints the diagonal alone is no inertia
/// of any motors.
///
/// iCub's hip pitch, for one: `N = 1/0.0067`, `I_m = 0.1367e-4 kg m²`, hence 0.3045 kg m².
///
/// Reference: N. Guedelha et al., *A flexible MATLAB/Simulink simulator for robotic floating-base
/// systems in contact with the ground* (2022), `motorReflectedInertiaFormat`.
#[ports(
    let robot = self.robot.find(ports)?;
    let gears = transmission(&robot, &self.gear_ratio, &self.coupling)?;
    let rotors = each("rotor_inertia", &self.rotor_inertia, &robot)?;
    let n = rotors.len();
    let mut numbers = vec![0.0; n * n];
    gears.reflected_inertia(&rotors, &mut numbers);
    keep numbers: Vec<f64> = numbers;
    ports.rate(RateRule::Constant);
    out matrix: Matrix::of(n, n), "kg*m^2", "symmetric, positive semidefinite";
    out vector: Vector::of(n), "kg*m^2",
        "its diagonal; all of it, `N² I_m`, where no joints are coupled";
)]
#[parameters(aliases("armature", "rotor inertia"))]
pub struct ReflectedInertia {
    /// The robot.
    pub robot: RobotName,
    /// I_m: inertia of each rotor about its axis, before the gear [kg m²]. What else turns with it,
    /// such as the wave generator of a harmonic drive, adds to it.
    pub rotor_inertia: PerJoint<NonNegative<Inertia>>,
    /// N: turns of the rotor per turn of the gear's output [1; 1/m for prismatic joints].
    #[default = 1]
    pub gear_ratio: PerJoint<Positive<Dimensionless>>,
    /// Joints that several motors move together; none by default.
    #[default]
    pub coupling: Vec<Coupling>,
}

#[block]
impl Pure for ReflectedInertia {
    fn output(&self, plan: &Self::Plan, _: &Inputs<'_>, outputs: &mut Outputs<'_>) -> Outcome {
        outputs.get(plan.matrix).copy_from_slice(&plan.numbers);
        let vector = outputs.get(plan.vector);
        let n = vector.len();
        for (j, entry) in vector.iter_mut().enumerate() {
            *entry = plan.numbers[j * n + j];
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
