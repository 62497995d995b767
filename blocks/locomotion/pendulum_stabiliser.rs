//! `PendulumStabiliser`: joint torques by which feet push against a trunk that tips.

use legwork_block::quantity::{Length, NonNegative, RotationalDamping, RotationalStiffness};
use legwork_block::{Block, Dim, Outcome, OutputCx, Sizes, Vector, block, parameters, ports};

use crate::buses::{ContactPointsBus, RobotDims, StateBus, contact_points};
use crate::locomotion::trunk::{Base, roll_pitch_yaw};
use crate::robot::name::RobotName;

/// Joint torques that keep the trunk upright, by a virtual pendulum. They push the feet on the low
/// side harder into the ground while the trunk tips; the support of the pendulum moves.
///
/// Wanted is the moment `m = −k_p (φ, ϑ) − k_d (ω_φ, ω_ϑ)` on the trunk about its horizontal axes,
/// of its roll and pitch and their rates. With the normal rows N of the contacts' Jacobian within
/// `reach`, N_m their two columns for these axes and N_s those for the joints,
///
/// ```text
/// f = max(0, N_m (N_mᵀ N_m + λ² 1)⁻¹ m)        τ = −N_sᵀ f
/// ```
///
/// λ is a quarter of the mean arm, so that two feet on a line, which can hardly turn the trunk
/// about it, do not push for that with many times the weight. Feet only push: what would pull is
/// left out, so the trunk gains height a little. A rate of turn about the vertical is not resisted.
/// Stable in steps Δt while `k_d Δt` is less than the trunk's inertia, about.
///
/// References: T. Sugihara, Y. Nakamura, *Variable impedant inverted pendulum model control for a
/// seamless contact phase transition on humanoid robot* (2003); S. Zapolsky, E. Drumwright (2017),
/// sec. 7.3, with k_p = 0 and k_d of 10 or 50 N m s/rad in their published settings.
#[ports(
    let robot = self.robot.find(ports)?;
    keep base: Base = Base::of(&robot)?;
    /// Index of the first joint in ν.
    keep joints: usize = base.velocity + 6;
    keep k: Dim = ports.dim();
    let RobotDims { n, nv, .. } = RobotDims::of(ports, self.robot.as_str());
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    in  points: contact_points(&k, &nv) as ContactPointsBus, _, "k contacts of its feet";
    out f: Vector::of(&k), "N", "wanted change of the normal forces, zero or more";
    out tau: Vector::of(n), "N*m", "joint torques", elements state.s_dot;
)]
#[parameters(aliases("balance", "virtual model control"))]
pub struct PendulumStabiliser {
    /// The robot; its base floats.
    pub robot: RobotName,
    /// Moment per angle k_p [N m/rad].
    #[default = 0]
    pub stiffness: NonNegative<RotationalStiffness>,
    /// Moment per rate k_d [N m s/rad].
    pub damping: NonNegative<RotationalDamping>,
    /// Gap up to which a contact counts [m].
    #[default = "1 mm"]
    pub reach: NonNegative<Length>,
}

#[block]
impl Block for PendulumStabiliser {
    /// Arms of the contacts about roll and pitch axes [m].
    type Scratch = Vec<[f64; 2]>;

    fn scratch(&self, plan: &Self::Plan, sizes: &Sizes<'_>) -> Vec<[f64; 2]> {
        vec![[0.0; 2]; sizes.dim(&plan.k)]
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let (state, points) = (cx.inputs.get(plan.state), cx.inputs.get(plan.points));
        let Base { quaternion, velocity } = plan.base;
        let [roll, pitch, yaw] = roll_pitch_yaw(&state.q[quaternion..]);
        let (s, c) = libm::sincos(yaw);
        // World axes of roll and pitch lie along the heading and to its left.
        let axes = [[c, s], [-s, c]];
        let omega = &state.nu[velocity + 3..velocity + 5];
        let (stiffness, damping) = (self.stiffness.value(), self.damping.value());
        let about = |[x, y]: [f64; 2], v: &[f64]| x * v[0] + y * v[1];
        let moment = [
            -stiffness * roll - damping * about(axes[0], omega),
            -stiffness * pitch - damping * about(axes[1], omega),
        ];

        let (mut gram, mut counted) = ([[0.0; 2]; 2], 0.0);
        for (arm, contact) in cx.scratch.iter_mut().zip(points.iter()) {
            *arm = [0.0; 2];
            if contact.gap > self.reach.value() || contact.row {
                continue;
            }
            let normal = |column: usize| contact.jacobian[3 * (velocity + column) + 2];
            let turn = [normal(3), normal(4)];
            *arm = axes.map(|axis| about(axis, &turn));
            for (row, a) in gram.iter_mut().zip(*arm) {
                for (product, b) in row.iter_mut().zip(*arm) {
                    *product += a * b;
                }
            }
            counted += 1.0;
        }
        let tau = cx.outputs.get(plan.tau);
        tau.fill(0.0);
        if counted == 0.0 {
            cx.outputs.get(plan.f).fill(0.0);
            return Ok(());
        }
        let regular = (gram[0][0] + gram[1][1]) / (16.0 * counted) + f64::MIN_POSITIVE;
        let [a, b, d] = [gram[0][0] + regular, gram[0][1], gram[1][1] + regular];
        let determinant = a * d - b * b;
        let push = if determinant > 0.0 {
            [
                (d * moment[0] - b * moment[1]) / determinant,
                (a * moment[1] - b * moment[0]) / determinant,
            ]
        } else {
            [0.0; 2]
        };
        for (i, (arm, contact)) in cx.scratch.iter().zip(points.iter()).enumerate() {
            let force = (arm[0] * push[0] + arm[1] * push[1]).max(0.0);
            cx.outputs.get(plan.f)[i] = force;
            let columns = contact.jacobian.chunks_exact(3).skip(plan.joints);
            for (tau, column) in cx.outputs.get(plan.tau).iter_mut().zip(columns) {
                *tau -= column[2] * force;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::buses::ContactBus;
    use crate::testing::contacts::points;
    use crate::testing::robots::{Rig, go};

    /// Four feet at the corners ±0.2, ±0.1 of a level trunk that heads to `yaw`, each on a joint
    /// that moves it up and down.
    fn rig(yaw: f64, omega: [f64; 3], gap: f64) -> Rig {
        let parameters = json!({ "robot": "go", "damping": 10 });
        let block: PendulumStabiliser = serde_json::from_value(parameters).expect("it binds");
        let given = [("points", points(4, 18))];
        let mut rig = Rig::with(block, &go(), &[], &given).expect("a plan");
        let mut q = vec![0.0; 19];
        (q[3], q[6]) = (libm::cos(0.5 * yaw), libm::sin(0.5 * yaw));
        let (s, c) = libm::sincos(yaw);
        let turned = |[x, y]: [f64; 2]| [c * x - s * y, s * x + c * y];
        let mut nu = vec![0.0; 18];
        let [x, y] = turned([omega[0], omega[1]]);
        (nu[3], nu[4], nu[5]) = (x, y, omega[2]);
        rig.set("state", &[&q, &nu]);
        let corners = [[0.2, 0.1], [0.2, -0.1], [-0.2, 0.1], [-0.2, -0.1]];
        let mut leaves = Vec::new();
        for (i, corner) in corners.into_iter().enumerate() {
            let [x, y] = turned(corner);
            // ω × r along z is ω_x y − ω_y x.
            let mut jacobian = vec![0.0; 3 * 18];
            (jacobian[3 * 2 + 2], jacobian[3 * 3 + 2], jacobian[3 * 4 + 2]) = (1.0, y, -x);
            jacobian[3 * (6 + 3 * i) + 2] = -1.0;
            for leaf in 0..ContactBus::LEAVES {
                leaves.push(match leaf {
                    ContactBus::AXES => vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
                    ContactBus::GAP => vec![gap],
                    ContactBus::JACOBIAN => jacobian.clone(),
                    ContactBus::FRICTION => vec![ContactBus::NO_FRICTION],
                    ContactBus::RESTITUTION | ContactBus::ROW => vec![0.0],
                    _ => vec![0.0; 3],
                });
            }
        }
        let leaves: Vec<&[f64]> = leaves.iter().map(Vec::as_slice).collect();
        rig.set("points", &leaves);
        rig.output();
        rig
    }

    /// Feet on the side that goes down push, with the moment that damps, or half of it: those on
    /// the other side would have to pull for the rest.
    #[test]
    fn the_side_that_goes_down_is_pushed_up_whatever_the_heading() {
        for yaw in [0.0, 1.1, -2.5] {
            // Pitching forward: front feet go down.
            let rig = rig(yaw, [0.0, 0.3, 0.7], 0.0);
            let f = rig.leaf("f", 0);
            assert!(f[0] > 1.0 && (f[0] - f[1]).abs() < 1e-9 * f[0], "{yaw}: {f:?}");
            assert_eq!(&f[2..], [0.0, 0.0], "{yaw}");
            let moment = 0.2 * (f[0] + f[1]);
            // Σ arm² about pitch, and λ² of the mean of all arms.
            let (gram, regular) = (4.0 * 0.2 * 0.2, (0.2 * 0.2 + 0.1 * 0.1) / 16.0);
            let expected = 0.5 * 10.0 * 0.3 * gram / (gram + regular);
            assert!((moment / expected - 1.0).abs() < 1e-9, "{yaw}: {moment} N m");
            // A joint that lifts its foot by −1 is turned with +f.
            let tau = rig.leaf("tau", 0);
            assert!((tau[0] - f[0]).abs() < 1e-12 && tau[1] == 0.0 && tau[6] == 0.0);
        }
    }

    #[test]
    fn a_trunk_in_the_air_or_one_that_only_turns_is_left_alone() {
        assert_eq!(rig(0.3, [0.5, 0.3, 0.0], 0.01).leaf("tau", 0), [0.0; 12]);
        assert_eq!(rig(0.3, [0.0, 0.0, 1.0], 0.0).leaf("tau", 0), [0.0; 12]);
    }
}
