//! Closed-form kinematics of a leg with three hinges: abduction about x, hip and knee about y.
//!
//! In axes of the trunk, with s = 0 as in the robot file, the foot is at
//!
//! ```text
//! p = o + Rx(σ₁s₁) q        q = (d_x + t_x, Y, d_z + t_z)
//! t = Ry(σ₂s₂) (u + Ry(σ₃s₃) w)
//! ```
//!
//! | symbol | meaning |
//! |---|---|
//! | o | a point on the abduction axis |
//! | d | from there to the hip axis, in the x-z plane |
//! | u, w | thigh (hip axis to knee axis) and shank (knee axis to foot), in the x-z plane |
//! | Y | offset of the foot along the hip axis: constant, since Ry keeps y |
//! | σ | ±1: the axis in the robot file points along +x, +y or against it |
//!
//! So the inverse is exact: `r = p − o` gives `q_z = −√(r_y² + r_z² − Y²)` with the foot below the
//! abduction axis, then s₁ by the angle between (Y, q_z) and (r_y, r_z), and the knee by the law of
//! cosines. Two configurations of the same length bend either way; [`KneeBend`] selects one. There
//! is no solution where `r_y² + r_z² < Y²` (the hip axis would have to come nearer to the abduction
//! axis), or where t is longer than the stretched leg or shorter than the folded leg: then the
//! nearest configuration in the leg's plane is returned, and [`Reach`] says so.

use legwork_mechanics::nalgebra::{Matrix3, Vector3};
use legwork_mechanics::{
    FrameId, JointId, JointKind, Kinematics, Model, frame_jacobian, jacobian_columns,
    world_from_frame,
};
use libm::{acos, atan2, cos, sin, sincos, sqrt};
use thiserror::Error;

use std::f64::consts::{PI, TAU};

/// Which side of the line from hip to foot the knee is on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema))]
pub enum KneeBend {
    /// Knee behind the line: as on Mini Cheetah.
    #[default]
    Backward,
    /// Knee before the line.
    Forward,
}

/// Whether a foot can reach its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// It can.
    Within,
    /// Farther than the stretched leg.
    TooFar,
    /// Nearer to the hip than the folded leg.
    TooNear,
    /// Nearer to the abduction axis than the leg's plane can come.
    OnAbductionAxis,
    /// A joint is on a limit.
    BeyondLimit,
}

/// Joint positions for a foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegSolution {
    /// Positions of abduction, hip, knee within their limits [rad].
    pub positions: [f64; 3],
    /// Whether the foot is there.
    pub reach: Reach,
}

/// Why a chain of joints is not such a leg.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum LegError {
    /// Another number of joints.
    #[error("expected a leg of 3 joints above `{foot}`, found {found}")]
    JointCount {
        /// The foot.
        foot: String,
        /// Joints above it.
        found: usize,
    },
    /// A joint that is not an independent hinge.
    #[error("expected a hinge, found the joint `{joint}` of another kind")]
    Kind {
        /// The joint.
        joint: String,
    },
    /// A hinge about another axis.
    #[error(
        "expected the axis of `{joint}` along {expected} of the trunk at rest, found {found:?}"
    )]
    Axis {
        /// The joint.
        joint: String,
        /// `x` or `y`.
        expected: char,
        /// Its axis.
        found: [f64; 3],
    },
    /// A thigh or shank of zero length.
    #[error("expected a thigh and a shank above `{foot}`, found lengths {thigh} m and {shank} m")]
    Length {
        /// The foot.
        foot: String,
        /// Length of the thigh [m].
        thigh: f64,
        /// Length of the shank [m].
        shank: f64,
    },
}

/// A leg of a robot: abduction, hip, knee.
#[doc(alias("analytic inverse kinematics", "closed-form IK"))]
#[derive(Clone, Debug, PartialEq)]
pub struct Leg {
    joints: [JointId; 3],
    signs: [f64; 3],
    lower: [f64; 3],
    upper: [f64; 3],
    /// A point on the abduction axis.
    abduction: Vector3<f64>,
    /// From there to the hip axis, x and z.
    hip: [f64; 2],
    thigh: [f64; 2],
    shank: [f64; 2],
    thigh_length: f64,
    shank_length: f64,
    /// Y.
    lateral: f64,
    bend: KneeBend,
}

/// Largest part of an axis across its direction: axes in robot files are often rounded.
const AXIS_TOLERANCE: f64 = 1e-6;

/// Size of the Jacobian's determinant, over thigh · shank · leg, below which velocities are damped.
const NEAR_SINGULAR: f64 = 0.02;

/// Largest damping, by the length of the leg.
const DAMPING: f64 = 0.05;

/// Turns (x, z) by `angle` about y.
fn turned([x, z]: [f64; 2], angle: f64) -> [f64; 2] {
    let (s, c) = sincos(angle);
    [x * c + z * s, z * c - x * s]
}

/// Angle of (x, z) that [`turned`] adds to.
fn angle_of([x, z]: [f64; 2]) -> f64 {
    atan2(x, z)
}

/// Turns about x.
fn raised(v: &Vector3<f64>, angle: f64) -> Vector3<f64> {
    let (s, c) = sincos(angle);
    Vector3::new(v.x, v.y * c - v.z * s, v.y * s + v.z * c)
}

/// The same angle in (−π, π].
fn wrapped(angle: f64) -> f64 {
    let rest = libm::remainder(angle, TAU);
    if rest <= -PI { rest + TAU } else { rest }
}

impl Leg {
    /// The leg that ends in the frame `foot`; its trunk is the root link of the robot.
    ///
    /// # Errors
    /// If the foot is not at the end of three hinges about x, y and y of the trunk.
    pub fn new(model: &Model, foot: FrameId, bend: KneeBend) -> Result<Self, LegError> {
        let name = || model.frame(foot).name.clone();
        let tree = &model.trees()[model.tree_of_frame(foot)];
        let columns: Vec<usize> = jacobian_columns(model, foot)
            .into_iter()
            .filter(|column| model.joint_velocity_indices().contains(column))
            .collect();
        let above = |column: usize| {
            tree.joint_range().find(|&j| model.joints()[j].velocity_range().contains(&column))
        };
        let indices: Vec<usize> = columns.iter().filter_map(|&column| above(column)).collect();
        let &[abduction, hip, knee] = indices.as_slice() else {
            return Err(LegError::JointCount { foot: name(), found: indices.len() });
        };
        let joints = [abduction, hip, knee].map(|j| &model.joints()[j]);
        for joint in joints {
            if !matches!(joint.kind, JointKind::Revolute | JointKind::Continuous) {
                return Err(LegError::Kind { joint: joint.name.clone() });
            }
        }
        let mut kinematics = Kinematics::new(model);
        kinematics.update_placements(model, &model.zero_configuration());
        let mut jacobian = vec![0.0; 6 * model.velocity_dim()];
        frame_jacobian(model, &kinematics, foot, &mut jacobian);
        let trunk = world_from_frame(model, &kinematics, tree.root_frame).inverse();
        let foot_at =
            trunk.transform_point(&world_from_frame(model, &kinematics, foot).translation);
        let (mut signs, mut points) = ([0.0; 3], [Vector3::zeros(); 3]);
        for (i, &column) in columns.iter().enumerate() {
            let part = |k: usize| {
                let at = 6 * column + k;
                trunk.rotation * Vector3::new(jacobian[at], jacobian[at + 1], jacobian[at + 2])
            };
            let (linear, axis) = (part(0), part(3));
            let along = if i == 0 { axis.x } else { axis.y };
            if (along.abs() - 1.0).abs() > AXIS_TOLERANCE {
                return Err(LegError::Axis {
                    joint: joints[i].name.clone(),
                    expected: if i == 0 { 'x' } else { 'y' },
                    found: axis.into(),
                });
            }
            signs[i] = if along > 0.0 { 1.0 } else { -1.0 };
            // The column is a × (p − o): the foot of the perpendicular from p on the axis.
            points[i] = foot_at - linear.cross(&axis);
        }
        let plane = |from: &Vector3<f64>, to: &Vector3<f64>| [to.x - from.x, to.z - from.z];
        let (thigh, shank) = (plane(&points[1], &points[2]), plane(&points[2], &foot_at));
        let length = |[x, z]: [f64; 2]| sqrt(x * x + z * z);
        let (thigh_length, shank_length) = (length(thigh), length(shank));
        if thigh_length < 1e-6 || shank_length < 1e-6 {
            return Err(LegError::Length {
                foot: name(),
                thigh: thigh_length,
                shank: shank_length,
            });
        }
        let find = |j: usize| model.find_joint(&model.joints()[j].name);
        let ids = [abduction, hip, knee].map(find);
        let [Some(first), Some(second), Some(third)] = ids else {
            return Err(LegError::JointCount { foot: name(), found: indices.len() });
        };
        Ok(Self {
            joints: [first, second, third],
            signs,
            lower: joints.map(|joint| joint.lower),
            upper: joints.map(|joint| joint.upper),
            abduction: points[0],
            hip: plane(&points[0], &points[1]),
            thigh,
            shank,
            thigh_length,
            shank_length,
            lateral: foot_at.y - points[0].y,
            bend,
        })
    }

    /// Abduction, hip and knee.
    #[must_use]
    pub fn joints(&self) -> [JointId; 3] {
        self.joints
    }

    /// Length of the leg stretched, hip axis to foot [m].
    #[must_use]
    pub fn length(&self) -> f64 {
        self.thigh_length + self.shank_length
    }

    /// The point of the hip axis beside the foot, at s₁ = 0, in axes of the trunk from its origin
    /// [m].
    #[must_use]
    pub fn hip_position(&self) -> Vector3<f64> {
        let [x, z] = self.hip;
        self.abduction + Vector3::new(x, self.lateral, z)
    }

    /// The foot seen from the hip axis in the leg's plane, and the shank's part of it: t.
    fn planar(&self, s: &[f64; 3]) -> ([f64; 2], [f64; 2]) {
        let hip = self.signs[1] * s[1];
        let thigh = turned(self.thigh, hip);
        let shank = turned(self.shank, hip + self.signs[2] * s[2]);
        ([thigh[0] + shank[0], thigh[1] + shank[1]], shank)
    }

    /// Position of the foot in axes of the trunk from its origin [m], from joint positions [rad].
    #[must_use]
    pub fn foot_position(&self, s: &[f64; 3]) -> Vector3<f64> {
        let (t, _) = self.planar(s);
        let q = Vector3::new(self.hip[0] + t[0], self.lateral, self.hip[1] + t[1]);
        self.abduction + raised(&q, self.signs[0] * s[0])
    }

    /// Jacobian of the foot's position by the joint positions [m], axes of the trunk.
    #[must_use]
    pub fn jacobian(&self, s: &[f64; 3]) -> Matrix3<f64> {
        let (t, shank) = self.planar(s);
        let (angle, lateral) = (self.signs[0] * s[0], self.lateral);
        let q = Vector3::new(self.hip[0] + t[0], lateral, self.hip[1] + t[1]);
        let r = raised(&q, angle);
        let abduction = Vector3::new(0.0, -r.z, r.y) * self.signs[0];
        let hip = raised(&Vector3::new(t[1], 0.0, -t[0]), angle) * self.signs[1];
        let knee = raised(&Vector3::new(shank[1], 0.0, -shank[0]), angle) * self.signs[2];
        Matrix3::from_columns(&[abduction, hip, knee])
    }

    /// Joint positions that bring the foot to `foot`, axes of the trunk from its origin [m].
    #[must_use]
    pub fn joint_positions(&self, foot: &Vector3<f64>) -> LegSolution {
        let mut reach = Reach::Within;
        let r = foot - self.abduction;
        let below = r.y * r.y + r.z * r.z - self.lateral * self.lateral;
        if below < 0.0 {
            reach = Reach::OnAbductionAxis;
        }
        let q_z = -sqrt(below.max(0.0));
        let abduction = atan2(r.z, r.y) - atan2(q_z, self.lateral);
        let t = [r.x - self.hip[0], q_z - self.hip[1]];
        let (u, w) = (self.thigh_length, self.shank_length);
        let cosine = (t[0] * t[0] + t[1] * t[1] - u * u - w * w) / (2.0 * u * w);
        if reach == Reach::Within && cosine > 1.0 {
            reach = Reach::TooFar;
        } else if reach == Reach::Within && cosine < -1.0 {
            reach = Reach::TooNear;
        }
        let bend = match self.bend {
            KneeBend::Backward => -acos(cosine.clamp(-1.0, 1.0)),
            KneeBend::Forward => acos(cosine.clamp(-1.0, 1.0)),
        };
        let knee = bend - (angle_of(self.shank) - angle_of(self.thigh));
        let ahead = atan2(w * sin(bend), u + w * cos(bend));
        let hip = angle_of(t) - ahead - angle_of(self.thigh);
        let mut positions = [abduction, hip, knee];
        for (i, s) in positions.iter_mut().enumerate() {
            *s = self.within(i, wrapped(self.signs[i] * *s), &mut reach);
        }
        LegSolution { positions, reach }
    }

    /// The position of joint `i` within its limits, by whole turns if that helps.
    fn within(&self, i: usize, s: f64, reach: &mut Reach) -> f64 {
        let (lower, upper) = (self.lower[i], self.upper[i]);
        for turn in [0.0, TAU, -TAU] {
            if s + turn >= lower && s + turn <= upper {
                return s + turn;
            }
        }
        if *reach == Reach::Within {
            *reach = Reach::BeyondLimit;
        }
        // `max` first: a file may have its limits swapped, which must not cause a panic.
        s.max(lower).min(upper)
    }

    /// Joint velocities [rad/s] at which the foot moves by `velocity` [m/s], axes of the trunk, at
    /// joint positions s: `ṡ = Jᵀ (J Jᵀ + λ² 1)⁻¹ v`.
    ///
    /// λ is zero, and the answer exact, while `|det J|` is above 2 % of thigh · shank · leg; below
    /// it grows to 5 % of the leg's length at a singular pose, so that ṡ stays finite and the foot
    /// lags in the direction in which it cannot move.
    ///
    /// Reference: Y. Nakamura, H. Hanafusa, *Inverse kinematic solutions with singularity
    /// robustness for robot manipulator control* (1986).
    #[must_use]
    pub fn joint_velocities(&self, s: &[f64; 3], velocity: &Vector3<f64>) -> [f64; 3] {
        let jacobian = self.jacobian(s);
        let leg = self.length();
        let least = NEAR_SINGULAR * self.thigh_length * self.shank_length * leg;
        let room = 1.0 - jacobian.determinant().abs() / least;
        if room <= 0.0
            && let Some(inverse) = jacobian.try_inverse()
        {
            return (inverse * velocity).into();
        }
        let damping = DAMPING * leg * room.max(0.0);
        let normal = jacobian * jacobian.transpose() + Matrix3::identity() * (damping * damping);
        // Damped it is positive definite; without damping the function has returned above.
        let solved = normal.try_inverse().map_or(Vector3::zeros(), |inverse| inverse * velocity);
        (jacobian.transpose() * solved).into()
    }
}
