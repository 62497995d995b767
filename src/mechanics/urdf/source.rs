//! [`urdf_rs::Robot`] with the lines of its links and joints; validation of a robot without a file.

use std::ops::Deref;

use nalgebra::{Matrix3, Vector3};

use super::error::{NotUsed, UrdfError};
use crate::inertia::Inertia;
use crate::model::JointKind;
use crate::placement::Placement;
use crate::shape::Shape;

/// Lines of links and joints in the file, from 1; all are 0 for a robot without a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Lines {
    pub(super) links: Vec<usize>,
    pub(super) joints: Vec<usize>,
    /// Joints with a `<limit>` element; `urdf-rs` does not distinguish a missing one.
    pub(super) is_limited: Vec<bool>,
}

impl Lines {
    /// Lines of a robot without a file. A limit with all defaults counts as missing.
    pub(super) fn unknown(robot: &urdf_rs::Robot) -> Self {
        let is_limited = |joint: &urdf_rs::Joint| joint.limit != urdf_rs::JointLimit::default();
        Self {
            links: vec![0; robot.links.len()],
            joints: vec![0; robot.joints.len()],
            is_limited: robot.joints.iter().map(is_limited).collect(),
        }
    }
}

/// A link or a joint with its line.
#[derive(Debug)]
pub(super) struct Located<'a, T> {
    pub(super) line: usize,
    pub(super) is_limited: bool,
    part: &'a T,
}

impl<T> Deref for Located<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.part
    }
}

pub(super) type Link<'a> = Located<'a, urdf_rs::Link>;
pub(super) type Joint<'a> = Located<'a, urdf_rs::Joint>;

/// Links and joints in the order of the file.
#[derive(Debug)]
pub(super) struct Robot<'a> {
    pub(super) name: &'a str,
    pub(super) links: Vec<Link<'a>>,
    pub(super) joints: Vec<Joint<'a>>,
    pub(super) materials: &'a [urdf_rs::Material],
}

impl<'a> Robot<'a> {
    pub(super) fn new(robot: &'a urdf_rs::Robot, lines: &Lines) -> Self {
        let links = robot.links.iter().zip(&lines.links);
        let joints = robot.joints.iter().zip(&lines.joints).zip(&lines.is_limited);
        Self {
            name: &robot.name,
            links: links.map(|(part, &line)| Located { line, is_limited: false, part }).collect(),
            joints: joints
                .map(|((part, &line), &is_limited)| Located { line, is_limited, part })
                .collect(),
            materials: &robot.materials,
        }
    }
}

/// The kind of a joint; `None` if it is fixed.
pub(super) fn kind_of(joint: &urdf_rs::Joint) -> Option<JointKind> {
    match joint.joint_type {
        urdf_rs::JointType::Fixed => None,
        urdf_rs::JointType::Revolute => Some(JointKind::Revolute),
        urdf_rs::JointType::Continuous => Some(JointKind::Continuous),
        urdf_rs::JointType::Prismatic => Some(JointKind::Prismatic),
        urdf_rs::JointType::Floating => Some(JointKind::Floating),
        urdf_rs::JointType::Planar => Some(JointKind::Planar),
        urdf_rs::JointType::Spherical => Some(JointKind::Spherical),
    }
}

/// Damping and friction of a joint.
pub(super) fn resistance_of(joint: &urdf_rs::Joint) -> (f64, f64) {
    joint.dynamics.as_ref().map_or((0.0, 0.0), |it| (it.damping, it.friction))
}

pub(super) fn placement_of(pose: &urdf_rs::Pose) -> Placement {
    Placement::from_xyz_rpy(pose.xyz.0, pose.rpy.0)
}

/// In axes of the link, about its origin.
pub(super) fn inertia_of(inertial: &urdf_rs::Inertial) -> Inertia {
    let urdf_rs::Inertia { ixx, ixy, ixz, iyy, iyz, izz } = inertial.inertia;
    let matrix = Matrix3::new(ixx, ixy, ixz, ixy, iyy, iyz, ixz, iyz, izz);
    let at_center = Inertia::new(inertial.mass.value, Vector3::zeros(), &matrix);
    at_center.transformed(&placement_of(&inertial.origin))
}

pub(super) fn shape_of(geometry: &urdf_rs::Geometry) -> Shape {
    match geometry {
        urdf_rs::Geometry::Sphere { radius } => Shape::Sphere { radius: *radius },
        urdf_rs::Geometry::Box { size } => Shape::Box { size: size.0.into() },
        urdf_rs::Geometry::Cylinder { radius, length } => {
            Shape::Cylinder { radius: *radius, length: *length }
        }
        urdf_rs::Geometry::Capsule { radius, length } => {
            Shape::Capsule { radius: *radius, length: *length }
        }
        urdf_rs::Geometry::Mesh { filename, scale } => Shape::Mesh {
            path: filename.clone(),
            scale: scale.map_or(Vector3::repeat(1.0), |scale| scale.0.into()),
        },
    }
}

/// Sizes of a shape, and `true` if they must not be negative: the scale of a mesh may be.
fn sizes_of(geometry: &urdf_rs::Geometry) -> ([f64; 3], bool) {
    match geometry {
        urdf_rs::Geometry::Sphere { radius } => ([*radius, 0.0, 0.0], true),
        urdf_rs::Geometry::Box { size } => (size.0, true),
        urdf_rs::Geometry::Cylinder { radius, length }
        | urdf_rs::Geometry::Capsule { radius, length } => ([*radius, *length, 0.0], true),
        urdf_rs::Geometry::Mesh { scale, .. } => (scale.map_or([1.0; 3], |scale| scale.0), false),
    }
}

/// Validates the numbers and names of a robot without a file, as `schema` does for a file.
///
/// # Errors
/// If a number is outside its range, or a name is empty or has control characters.
pub(super) fn check(robot: &urdf_rs::Robot) -> Result<(), UrdfError> {
    let name = |element: &str, name: &str| {
        let problem = match name {
            _ if name.trim().is_empty() => format!("<{element}> has an empty `name`"),
            _ if name.chars().any(char::is_control) => {
                format!("<{element}>: control character in `name`")
            }
            _ => return Ok(()),
        };
        Err(UrdfError::Schema { line: 0, problem })
    };
    for link in &robot.links {
        name("link", &link.name)?;
        let urdf_rs::Inertial { origin, mass, inertia } = &link.inertial;
        pose(origin)?;
        positive("mass", "value", &[mass.value])?;
        let urdf_rs::Inertia { ixx, ixy, ixz, iyy, iyz, izz } = *inertia;
        finite("inertia", "ixx to izz", &[ixx, ixy, ixz, iyy, iyz, izz])?;
        let collisions = link.collision.iter().map(|it| (&it.origin, &it.geometry));
        let visuals = link.visual.iter().map(|it| (&it.origin, &it.geometry));
        for (origin, geometry) in collisions.chain(visuals) {
            pose(origin)?;
            let (sizes, is_length) = sizes_of(geometry);
            finite("geometry", "sizes", &sizes)?;
            if is_length {
                positive("geometry", "sizes", &sizes)?;
            }
        }
    }
    for joint in &robot.joints {
        name("joint", &joint.name)?;
        pose(&joint.origin)?;
        finite("axis", "xyz", &joint.axis.xyz.0)?;
        let (damping, friction) = resistance_of(joint);
        positive("dynamics", "damping and friction", &[damping, friction])?;
        let limit = &joint.limit;
        number("limit", "lower and upper", "a number", &[limit.lower, limit.upper], |x| {
            !x.is_nan()
        })?;
        let most = [limit.effort, limit.velocity];
        number("limit", "effort and velocity", "a number not below zero", &most, |x| x >= 0.0)?;
        if let Some(mimic) = &joint.mimic {
            let law = [mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0)];
            finite("mimic", "multiplier and offset", &law)?;
        }
    }
    Ok(())
}

/// Parts of a robot without a file that the model does not use.
pub(super) fn not_used(robot: &urdf_rs::Robot) -> Vec<NotUsed> {
    let count = |is_used: &dyn Fn(&urdf_rs::Joint) -> bool| {
        robot.joints.iter().filter(|joint| is_used(joint)).count()
    };
    let own = robot.links.iter().flat_map(|link| &link.visual);
    let materials = own.filter_map(|visual| visual.material.as_ref()).chain(&robot.materials);
    let found = [
        ("<calibration>", count(&|joint| joint.calibration.is_some())),
        ("<safety_controller>", count(&|joint| joint.safety_controller.is_some())),
        ("`acceleration` of <limit>", count(&|joint| joint.limit.acceleration.is_finite())),
        ("`deceleration` of <limit>", count(&|joint| joint.limit.deceleration.is_finite())),
        ("`jerk` of <limit>", count(&|joint| joint.limit.jerk.is_finite())),
        ("<texture>", materials.filter(|material| material.texture.is_some()).count()),
    ];
    let found = found.into_iter().filter(|(_, count)| *count > 0);
    found.map(|(name, count)| NotUsed { name: name.to_owned(), count, line: 0 }).collect()
}

fn pose(pose: &urdf_rs::Pose) -> Result<(), UrdfError> {
    finite("origin", "xyz", &pose.xyz.0)?;
    finite("origin", "rpy", &pose.rpy.0)
}

fn finite(element: &str, attribute: &str, found: &[f64]) -> Result<(), UrdfError> {
    number(element, attribute, "a finite number", found, f64::is_finite)
}

fn positive(element: &str, attribute: &str, found: &[f64]) -> Result<(), UrdfError> {
    let is_right = |x: f64| x.is_finite() && x >= 0.0;
    number(element, attribute, "a finite number not below zero", found, is_right)
}

fn number(
    element: &str,
    attribute: &str,
    expected: &str,
    found: &[f64],
    is_right: impl Fn(f64) -> bool,
) -> Result<(), UrdfError> {
    match found.iter().find(|&&x| !is_right(x)) {
        Some(wrong) => Err(UrdfError::Number {
            line: 0,
            element: element.to_owned(),
            attribute: attribute.to_owned(),
            expected: expected.to_owned(),
            found: wrong.to_string(),
        }),
        None => Ok(()),
    }
}
