//! Where the parts of a robot are in a pose.

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Kinematics, Model, Placement, Shape, world_from_frame};

/// A robot in a pose, in world axes [m].
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    /// Between the origins of links that are joined.
    pub bones: Vec<Bone>,
    /// Collision shapes.
    pub solids: Vec<Solid>,
}

/// A line from a link's origin to that of the link above it.
#[derive(Debug, Clone, PartialEq)]
pub struct Bone {
    /// Name of the lower link.
    pub link: String,
    /// Origin of the link above.
    pub from: [f64; 3],
    /// Origin of the link.
    pub to: [f64; 3],
}

/// A convex shape: the hull of points.
#[derive(Debug, Clone, PartialEq)]
pub struct Solid {
    /// Name of its link.
    pub link: String,
    /// Points of its surface.
    pub points: Vec<[f64; 3]>,
}

/// Points around a circle, and rings of a ball between its poles.
const AROUND: u32 = 24;
const RINGS: u32 = 8;

impl View {
    pub(super) fn new(model: &Model, kinematics: &Kinematics) -> Self {
        let frames: Vec<Placement> = (model.frames().iter())
            .map(|frame| {
                let id = model.find_frame(&frame.name);
                id.map_or(Placement::identity(), |id| world_from_frame(model, kinematics, id))
            })
            .collect();
        let links = model.links().iter().zip(model.frames()).zip(&frames);
        let bones = links.filter_map(|((link, frame), to)| {
            let from = frames[link.parent?.index()].translation.into();
            Some(Bone { link: frame.name.clone(), from, to: to.translation.into() })
        });
        let solids = model.collisions().iter().filter_map(|collision| {
            let place = frames[collision.link.index()] * collision.link_from_shape;
            let points = surface(&collision.shape)?;
            let points = points.iter().map(|point| place.transform_point(point).into()).collect();
            Some(Solid { link: model.frame(collision.link).name.clone(), points })
        });
        Self { bones: bones.collect(), solids: solids.collect() }
    }
}

/// Points whose hull is a shape; `None` for one in a file.
fn surface(shape: &Shape) -> Option<Vec<Vector3<f64>>> {
    let circle = |radius: f64, z: f64| {
        (0..AROUND).map(move |i| {
            let angle = std::f64::consts::TAU * f64::from(i) / f64::from(AROUND);
            let (sin, cos) = angle.sin_cos();
            Vector3::new(radius * cos, radius * sin, z)
        })
    };
    let ball = |radius: f64, z: f64| {
        (0..=RINGS).flat_map(move |ring| {
            let angle = std::f64::consts::PI * (f64::from(ring) / f64::from(RINGS) - 0.5);
            let (sin, cos) = angle.sin_cos();
            circle(radius * cos, z + radius * sin)
        })
    };
    Some(match *shape {
        Shape::Sphere { radius } => ball(radius, 0.0).collect(),
        Shape::Box { size } => (0..8)
            .map(|corner| {
                let side = |axis: u32| if corner >> axis & 1 == 0 { -0.5 } else { 0.5 };
                Vector3::new(side(0) * size.x, side(1) * size.y, side(2) * size.z)
            })
            .collect(),
        Shape::Cylinder { radius, length } => {
            circle(radius, -0.5 * length).chain(circle(radius, 0.5 * length)).collect()
        }
        Shape::Capsule { radius, length } => {
            ball(radius, -0.5 * length).chain(ball(radius, 0.5 * length)).collect()
        }
        _ => return None,
    })
}
