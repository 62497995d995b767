//! Trunk orientation as ZYX Euler angles: between the block's state and the bus.

use legwork_block::{Fault, Invalid, Outcome};
use legwork_mechanics::quaternion_to_rotation;
use libm::{cos, sincos};

use super::Init;
use crate::robot::model::RobotModel;
use crate::rotation::rotations::roll_pitch_yaw;

/// `cos 89°`: nearer to the pole angle rates are more than 57 times the angular velocity.
const LEAST_COSINE: f64 = 0.017_452_406_437_283_51;

/// The bases whose orientation is kept as roll, pitch, yaw: none, or all that float.
pub(super) struct EulerBases {
    /// Name and place of the quaternion in q, in ascending order.
    bases: Vec<(String, usize)>,
}

impl EulerBases {
    /// No base: the state is that of the bus.
    pub(super) fn none() -> Self {
        Self { bases: Vec::new() }
    }

    /// All floating bases of a robot or world.
    pub(super) fn all(robot: &RobotModel) -> Result<Self, Invalid> {
        let floating = robot.model.trees().iter().filter(|tree| tree.is_floating());
        let names: Vec<&str> = match robot.is_world() {
            true => robot.members.iter().filter(|r| r.is_floating()).map(|r| &*r.name).collect(),
            false => vec![&robot.name],
        };
        // The quaternion follows the position.
        let bases: Vec<(String, usize)> = (names.into_iter().zip(floating))
            .map(|(name, tree)| (name.to_owned(), tree.configuration_range().start + 3))
            .collect();
        if bases.is_empty() {
            let message =
                format!("expected a floating base to orient, that of `{}` is fixed", robot.name);
            return Err(Invalid::parameter("orientation", message));
        }
        Ok(Self { bases })
    }

    /// Whether no base is kept so.
    pub(super) fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// Whether the quaternion at this place in q is one of theirs.
    pub(super) fn has(&self, place: usize) -> bool {
        self.bases.iter().any(|(_, base)| *base == place)
    }

    /// Numbers of the position in the state, of `configuration_dim` numbers in q.
    pub(super) fn position_len(&self, configuration_dim: usize) -> usize {
        configuration_dim - self.bases.len()
    }

    /// Writes q of a position in the state.
    pub(super) fn configuration(&self, position: &[f64], q: &mut [f64]) {
        let (mut from, mut to) = (0, 0);
        for &(_, base) in &self.bases {
            let plain = base - to;
            q[to..base].copy_from_slice(&position[from..from + plain]);
            from += plain;
            let angles = [position[from], position[from + 1], position[from + 2]];
            q[base..base + 4].copy_from_slice(&quaternion_from_rpy(angles));
            (from, to) = (from + 3, base + 4);
        }
        q[to..].copy_from_slice(&position[from..]);
    }

    /// The state of q and ν; angles that `init` states are taken as they are, turns included.
    ///
    /// # Errors
    /// If a pitch is near ±90°.
    pub(super) fn state(
        &self,
        robot: &RobotModel,
        init: &Init,
        q_nu: &[f64],
    ) -> Result<Vec<f64>, Invalid> {
        let mut x = Vec::with_capacity(q_nu.len());
        let mut at = 0;
        for (name, base) in &self.bases {
            x.extend_from_slice(&q_nu[at..*base]);
            let q = &q_nu[*base..base + 4];
            let of_quaternion =
                || roll_pitch_yaw(quaternion_to_rotation([q[0], q[1], q[2], q[3]]).as_slice());
            let stated = match robot.is_world() {
                true => init.robots.get(name).and_then(|init| init.rpy),
                false => init.rpy,
            };
            let stated = stated.map(|rpy| rpy.map(|angle| angle.value()));
            let upright = stated.filter(|[_, pitch, _]| cos(*pitch) >= LEAST_COSINE);
            let angles = upright.unwrap_or_else(of_quaternion);
            if cos(angles[1]) < LEAST_COSINE {
                return Err(Invalid::parameter("init", near_the_pole(name, angles[1])).hint(REMEDY));
            }
            x.extend_from_slice(&angles);
            at = base + 4;
        }
        x.extend_from_slice(&q_nu[at..]);
        Ok(x)
    }

    /// Above 0 when a base is near the pole, or beyond it.
    pub(super) fn nearness(&self, position: &[f64]) -> f64 {
        let margins = self.pitches(position).map(|(_, pitch)| LEAST_COSINE - cos(pitch));
        margins.fold(f64::NEG_INFINITY, f64::max)
    }

    /// The fault of a base near the pole.
    pub(super) fn singular(&self, position: &[f64]) -> Outcome {
        let near = self.pitches(position).find(|(_, pitch)| cos(*pitch) <= LEAST_COSINE);
        near.map_or(Ok(()), |(name, pitch)| {
            Err(Fault::new(format!("{}; {REMEDY}", near_the_pole(name, pitch))))
        })
    }

    fn pitches<'a>(&'a self, position: &'a [f64]) -> impl Iterator<Item = (&'a str, f64)> {
        // Every base before this one has a number less here than in q.
        let place = |(k, (name, base)): (usize, &'a (String, usize))| {
            (name.as_str(), position[base - k + 1])
        };
        self.bases.iter().enumerate().map(place)
    }
}

const REMEDY: &str = "take `orientation: Quaternion`, which has no such pole";

fn near_the_pole(robot: &str, pitch: f64) -> String {
    format!(
        "pitch of the base of `{robot}` is {:.2}°: within 1° of ±90° Euler angles ZYX are singular",
        pitch.to_degrees()
    )
}

/// Quaternion (w, x, y, z) of `Rz(yaw) Ry(pitch) Rx(roll)`.
pub(super) fn quaternion_from_rpy(rpy: [f64; 3]) -> [f64; 4] {
    let [(sr, cr), (sp, cp), (sy, cy)] = rpy.map(|angle| sincos(angle / 2.0));
    [
        cy * cp * cr + sy * sp * sr,
        cy * cp * sr - sy * sp * cr,
        cy * sp * cr + sy * cp * sr,
        sy * cp * cr - cy * sp * sr,
    ]
}
