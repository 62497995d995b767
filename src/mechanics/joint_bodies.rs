//! The bodies of one joint, one per degree of freedom, along coordinate axes.

use nalgebra::{Matrix3, Vector3};

use crate::body::{Axis, Body};
use crate::inertia::Inertia;
use crate::model::JointKind;
use crate::placement::Placement;

/// Coordinates that move the bodies of a joint.
pub(crate) struct Drive {
    pub(crate) kind: JointKind,
    /// First index into `configuration`.
    pub(crate) q_index: usize,
    /// First index into `velocity`.
    pub(crate) v_index: usize,
    /// `s = multiplier · q + offset`; (1, 0) unless the joint is coupled.
    pub(crate) multiplier: f64,
    pub(crate) offset: f64,
}

/// A coordinate axis of the joint's frame.
#[derive(Clone, Copy, PartialEq)]
enum Along {
    X,
    Y,
    Z,
}

impl Along {
    /// `joint_from_body`: the turn that makes this axis the body's z axis. Its entries are zeros
    /// and ones, so that nothing is rounded.
    fn turn(self) -> Matrix3<f64> {
        let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
        Matrix3::from_columns(&match self {
            Self::X => [y, z, x],
            Self::Y => [z, x, y],
            Self::Z => [x, y, z],
        })
    }
}

/// Motion and axis of each body, and its coordinates counted from the joint's first.
type Parts = [(Axis, Along, usize, usize)];

const PLANAR: &Parts = &[
    (Axis::Prismatic, Along::X, 0, 0),
    (Axis::Prismatic, Along::Y, 1, 1),
    (Axis::Revolute, Along::Z, 2, 2),
];
const SPHERICAL: &Parts =
    &[(Axis::BallX, Along::Z, 0, 0), (Axis::BallY, Along::Z, 0, 1), (Axis::Ball, Along::Z, 0, 2)];
const FLOATING: &Parts = &[
    (Axis::Prismatic, Along::X, 0, 0),
    (Axis::Prismatic, Along::Y, 1, 1),
    (Axis::Prismatic, Along::Z, 2, 2),
    (Axis::BallX, Along::Z, 3, 3),
    (Axis::BallY, Along::Z, 3, 4),
    (Axis::Ball, Along::Z, 3, 5),
];

/// Maps a joint's axis to a coordinate axis of its bodies.
struct Alignment {
    /// Of a joint of one degree of freedom.
    along: Along,
    /// −1 if the joint moves against the axis.
    sign: f64,
    /// `link_from_body`, if body and link differ.
    turn: Option<Matrix3<f64>>,
}

/// Appends the bodies of a joint, without mass, and returns `body_from_link` of the child link on
/// the last of them. `parent_from_joint` places the child link at displacement zero on the body
/// `parent`; `axis` has unit length, and is of no matter for a joint without one.
pub(crate) fn push_bodies(
    bodies: &mut Vec<Body>,
    parent: usize,
    parent_from_joint: &Placement,
    axis: Vector3<f64>,
    drive: &Drive,
) -> Placement {
    let Alignment { along, sign, turn } = alignment(drive.kind, axis);
    let parts: &Parts = match drive.kind {
        JointKind::Revolute | JointKind::Continuous => &[(Axis::Revolute, along, 0, 0)],
        JointKind::Prismatic => &[(Axis::Prismatic, along, 0, 0)],
        JointKind::Planar => PLANAR,
        JointKind::Spherical => SPHERICAL,
        JointKind::Floating => FLOATING,
    };
    let first = bodies.len();
    let is_ball = |axis| matches!(axis, Axis::BallX | Axis::BallY | Axis::Ball);
    let mut ball_carrier = parent;
    let mut joint_from_body = turn.unwrap_or_else(Matrix3::identity);
    for (i, &(axis, along, q, v)) in parts.iter().enumerate() {
        let own = first + i;
        let parent = if i == 0 { parent } else { own - 1 };
        if !is_ball(axis) {
            ball_carrier = own;
        }
        let (rotation, offset) = match i {
            0 => (
                parent_from_joint.rotation * joint_from_body * along.turn(),
                parent_from_joint.translation,
            ),
            _ => (parts[i - 1].1.turn().transpose() * along.turn(), Vector3::zeros()),
        };
        joint_from_body *= match i {
            0 => along.turn(),
            _ => rotation,
        };
        bodies.push(Body {
            parent,
            carrier: if is_ball(axis) { ball_carrier } else { parent },
            last: if is_ball(axis) { first + parts.len() - 1 } else { own },
            tree: 0,
            q_index: drive.q_index + q,
            v_index: drive.v_index + v,
            axis,
            scale: sign * drive.multiplier,
            shift: sign * drive.offset,
            rotation,
            offset,
            inertia: Inertia::zero(),
            subtree_mass: 0.0,
        });
    }
    Placement { rotation: joint_from_body.transpose(), translation: Vector3::zeros() }
}

fn alignment(kind: JointKind, axis: Vector3<f64>) -> Alignment {
    let turn = match kind {
        // The motion has no preferred direction.
        JointKind::Spherical | JointKind::Floating => None,
        JointKind::Planar => {
            let turn = plane(&axis);
            (turn != Matrix3::identity()).then_some(turn)
        }
        JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic => {
            let (along, sign) = match [axis.x, axis.y, axis.z] {
                [sign, 0.0, 0.0] => (Along::X, sign),
                [0.0, sign, 0.0] => (Along::Y, sign),
                [0.0, 0.0, sign] => (Along::Z, sign),
                _ => {
                    let turn = Some(rotation_to(&axis));
                    return Alignment { along: Along::Z, sign: 1.0, turn };
                }
            };
            return Alignment { along, sign, turn: None };
        }
    };
    Alignment { along: Along::Z, sign: 1.0, turn }
}

/// A rotation whose columns are the axes of a plane and its normal `n` (unit length): the cyclic
/// successors of a coordinate axis, else whatever [`rotation_to`] gives.
fn plane(n: &Vector3<f64>) -> Matrix3<f64> {
    match [n.x, n.y, n.z] {
        [1.0, 0.0, 0.0] => Matrix3::from_columns(&[Vector3::y(), Vector3::z(), Vector3::x()]),
        [0.0, 1.0, 0.0] => Matrix3::from_columns(&[Vector3::z(), Vector3::x(), Vector3::y()]),
        [0.0, 0.0, 1.0] => Matrix3::identity(),
        // A zero that lost its sign in the file must not choose the plane's axes.
        _ => rotation_to(&n.add_scalar(0.0)),
    }
}

/// A rotation whose z axis is `n` (unit length).
///
/// Reference: T. Duff et al., *Building an Orthonormal Basis, Revisited*, JCGT 6 (2017).
fn rotation_to(n: &Vector3<f64>) -> Matrix3<f64> {
    let sign = 1.0_f64.copysign(n.z);
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    Matrix3::from_columns(&[
        Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x),
        Vector3::new(b, sign + n.y * n.y * a, -n.y),
        *n,
    ])
}
