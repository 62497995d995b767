//! `FreeBody`: a rigid body without a robot file.

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{Acceleration, Inertia, Length, Mass, Positive};
use legwork_block::{Files, Invalid, OtherResources, Resource, ResourceKind, parameters};
use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{Base, Model, Options};

use crate::robot::model::RobotModel;

/// A free rigid body, for the `robots:` section: a robot of one link.
///
/// Its link and only frame is called `body`, with the origin in the centre of mass, which is the
/// centre of the shape, and axes along the principal axes of inertia. The shape is also what
/// collides.
///
/// | shape | principal moments of inertia at uniform density |
/// |---|---|
/// | `Box(size: [x, y, z])` | `m (y² + z²) / 12`, `m (z² + x²) / 12`, `m (x² + y²) / 12` |
/// | `Sphere(radius: r)` | `2/5 m r²` three times |
/// | `Cylinder(radius: r, length: l)`, along z | `m (3 r² + l²) / 12` twice, `m r² / 2` |
#[parameters(aliases("rigid body", "box", "ball"))]
pub struct FreeBody {
    /// Mass [kg].
    pub mass: Positive<Mass>,
    /// Shape, around the centre of mass.
    pub shape: BodyShape,
    /// Principal moments of inertia about x, y, z [kg m²]; without them, those of uniform density.
    pub inertia: Option<[Positive<Inertia>; 3]>,
    /// Acceleration of free fall in world axes [m/s²].
    #[default = [0, 0, -9.81]]
    pub gravity: [Acceleration; 3],
}

/// Shape of a [`FreeBody`].
#[parameters]
#[derive(Copy)]
pub enum BodyShape {
    /// A cuboid along the axes.
    Box {
        /// Lengths of the edges along x, y, z [m].
        size: [Positive<Length>; 3],
    },
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: Positive<Length>,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius [m].
        radius: Positive<Length>,
        /// Height [m].
        length: Positive<Length>,
    },
}

impl BodyShape {
    /// Principal moments of inertia per mass, at uniform density [m²].
    fn moments(self) -> [f64; 3] {
        match self {
            Self::Box { size } => {
                let [x, y, z] = size.map(|edge| edge.value() * edge.value());
                [(y + z) / 12.0, (z + x) / 12.0, (x + y) / 12.0]
            }
            Self::Sphere { radius } => [0.4 * radius.value() * radius.value(); 3],
            Self::Cylinder { radius, length } => {
                let (r2, l2) = (radius.value() * radius.value(), length.value() * length.value());
                let across = (3.0 * r2 + l2) / 12.0;
                [across, across, r2 / 2.0]
            }
        }
    }

    /// The element of a robot file. Numbers are written so that they read back as they are.
    fn element(self) -> String {
        match self {
            Self::Box { size } => {
                let [x, y, z] = size.map(Positive::value);
                format!("<box size=\"{x:?} {y:?} {z:?}\"/>")
            }
            Self::Sphere { radius } => format!("<sphere radius=\"{:?}\"/>", radius.value()),
            Self::Cylinder { radius, length } => {
                let (radius, length) = (radius.value(), length.value());
                format!("<cylinder radius=\"{radius:?}\" length=\"{length:?}\"/>")
            }
        }
    }
}

impl FreeBody {
    /// The body as a robot file.
    fn urdf(&self) -> String {
        let mass = self.mass.value();
        let [x, y, z] = match self.inertia {
            Some(moments) => moments.map(Positive::value),
            None => self.shape.moments().map(|moment| mass * moment),
        };
        let shape = self.shape.element();
        format!(
            "<robot name=\"body\"><link name=\"body\">\
             <inertial><mass value=\"{mass:?}\"/>\
             <inertia ixx=\"{x:?}\" iyy=\"{y:?}\" izz=\"{z:?}\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/>\
             </inertial><collision><geometry>{shape}</geometry></collision></link></robot>"
        )
    }
}

impl ResourceKind for FreeBody {
    const KIND: &'static str = "FreeBody";

    fn load(
        self,
        name: &str,
        _: &dyn Files,
        _: &dyn OtherResources,
    ) -> Result<(Arc<dyn Resource>, Vec<String>), Invalid> {
        if let Some(moments) = self.inertia {
            let [x, y, z] = moments.map(Positive::value);
            if x > y + z || y > z + x || z > x + y {
                let message = format!(
                    "expected moments of a rigid body, none greater than the sum of the others, \
                     found {x}, {y}, {z} kg m²"
                );
                return Err(Invalid::parameter("inertia", message));
            }
        }
        let [x, y, z] = self.gravity.map(Acceleration::value);
        let options = Options { gravity: Vector3::new(x, y, z), ..Options::new(Base::Floating) };
        let (model, warnings) = Model::from_urdf_text(&self.urdf(), &options)
            .map_err(|error| Invalid::new(error.to_string()))?;
        let body = RobotModel {
            start: None,
            name: name.to_owned(),
            model,
            feet: Vec::new(),
            keyframes: BTreeMap::new(),
            members: Vec::new(),
            of_file: Vec::new(),
            hulls: BTreeMap::new(),
        };
        Ok((Arc::new(body), warnings.iter().map(ToString::to_string).collect()))
    }
}

#[cfg(test)]
mod tests;
