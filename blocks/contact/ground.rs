//! What a robot touches, as parameters.

mod field;
mod terrain;

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{
    Angle, Dimensionless, Formula, Length, NonNegative, Positive, Scalar,
};
use legwork_block::{Files, Invalid, Ports, parameters};
use legwork_contact::{Part, Plane, Surface, TriangleMesh, TriangleMeshError};
use legwork_mechanics::{FrameId, Model, Placement, Shape};
use nalgebra::Vector3;

use self::field::Field;
pub(crate) use self::field::FrictionField;
pub(crate) use self::terrain::{Section, Terrain};
use crate::robot::meshes::read_mesh;
use crate::robot::model::RobotModel;

/// Most steps of a flight of stairs.
const MOST_STEPS: usize = 1000;
/// How far below z = 0 the cuboids of stairs reach, so that nothing gets under them [m].
const BELOW: f64 = 1.0;

/// What is touched: ground, or another body. In the section `ground:` of a diagram it is what all
/// contact blocks stand on that state none of their own.
#[parameters]
#[derive(Default, PartialEq)]
pub enum Ground {
    /// That of the section `ground:` of the diagram; `Level` if it has none.
    #[default]
    OfDiagram,
    /// The plane z = 0.
    Level,
    /// A plane.
    Plane {
        /// Direction out of the ground, world axes; of any length but zero [1].
        normal: [f64; 3],
        /// Distance of the plane from the world's origin along the normal [m]; default 0.
        offset: Option<Length>,
    },
    /// Heights on a regular grid, smooth in between (Catmull-Rom splines). Beyond the border its
    /// heights continue outwards.
    HeightField {
        /// A file of comma-separated heights [m] without a header: along x in a line, along y from
        /// line to line. Lines that start with `#` do not count. Relative to the diagram, or in a
        /// search root.
        file: String,
        /// Distance of grid points along x and y [m].
        cell: Positive<Length>,
        /// Where the first height is, x and y [m]; default 0.
        origin: Option<[Length; 2]>,
        /// Coulomb friction by place; default that of the block or of the contact model.
        friction: Option<FrictionMap>,
    },
    /// Heights from the brightness of a picture, smooth in between as in `HeightField`.
    HeightImage {
        /// A PNG file in shades of grey, of 8 or 16 bits. Its columns go along x, its rows along y
        /// from the last one, so that it looks like a map.
        file: String,
        /// Distance of pixels along x and y [m].
        cell: Positive<Length>,
        /// Height of white over that of black [m].
        height: Length,
        /// Height of black [m]; default 0.
        lowest: Option<Length>,
        /// Where the pixel on the lower left is, x and y [m]; default 0.
        origin: Option<[Length; 2]>,
        /// Coulomb friction by place; default that of the block or of the contact model.
        friction: Option<FrictionMap>,
    },
    /// Heights by an expression of the place, computed on a regular grid and smooth in between as
    /// in `HeightField`.
    HeightFunction {
        /// The height [m] at x and y [m], which are numbers: `"0.1*sin(2*x)*cos(3*y)"`.
        z: Formula,
        /// From where to where along x [m].
        x: [Length; 2],
        /// From where to where along y [m].
        y: [Length; 2],
        /// Distance of grid points along x and y [m].
        cell: Positive<Length>,
        /// Values by name for the expression [any unit].
        #[default]
        constants: BTreeMap<String, Scalar>,
        /// Coulomb friction by place; default that of the block or of the contact model.
        friction: Option<FrictionMap>,
    },
    /// The triangles of a mesh: a scanned room, a model of rocks. They run counter-clockwise seen
    /// from outside, and are a closed surface or a sheet, beyond whose border nothing is touched.
    TriangleMesh {
        /// An STL, OBJ, COLLADA or glTF file. Relative to the diagram, or in a search root.
        file: String,
        /// Factor of its lengths [1]: 0.001 for a file in millimetres.
        #[default = 1]
        scale: Positive<Dimensionless>,
        /// Where its origin is, world axes [m]; default 0.
        position: Option<[Length; 3]>,
        /// How it is turned: roll, pitch, yaw [rad]; default 0.
        rpy: Option<[Angle; 3]>,
    },
    /// A flight of stairs on the plane z = 0.
    Stairs {
        /// Height of a step [m].
        rise: Positive<Length>,
        /// Depth of a step [m].
        run: Positive<Length>,
        /// Number of steps.
        count: usize,
        /// Width across [m].
        #[default = 2]
        width: Positive<Length>,
        /// How much deeper the top step is than the others [m].
        #[default = 1]
        landing: NonNegative<Length>,
        /// Whether as many steps lead down again behind it.
        #[default]
        down: bool,
        /// Middle of the foot of the stairs, x and y [m]; default 0.
        start: Option<[Length; 2]>,
        /// Where they lead up to: the angle from x to y [rad]; default 0, along x.
        yaw: Option<Angle>,
    },
    /// Cuboids on the plane z = 0: blocks, ramps, walls.
    Cuboids {
        /// The cuboids.
        of: Vec<Cuboid>,
    },
    /// Another body of the robot or world.
    Body {
        /// Name of its link; in a world `robot/link`.
        frame: String,
        /// What of it is touched; default its one collision shape.
        #[default]
        surface: BodySurface,
        /// Where the surface is in the frame [m]; default its origin. Not with `FromCollision`.
        at: Option<[Length; 3]>,
        /// How it is turned in the frame: roll, pitch, yaw [rad]; default 0. Not with
        /// `FromCollision`.
        rpy: Option<[Angle; 3]>,
    },
}

/// A cuboid that stands in the world.
#[parameters]
#[derive(Copy, PartialEq)]
pub struct Cuboid {
    /// Lengths of its edges along its own x, y, z [m].
    pub size: [Positive<Length>; 3],
    /// Its centre, world axes [m].
    pub position: [Length; 3],
    /// How it is turned: roll, pitch, yaw [rad]; default 0.
    pub rpy: Option<[Angle; 3]>,
}

/// Coulomb friction of square patches of ground.
#[parameters]
#[derive(PartialEq)]
pub struct FrictionMap {
    /// A file of coefficients, zero or more [1], in the form of the heights: one for each patch.
    file: String,
    /// Width of a patch [m]. The first patch begins at the field's `origin`; beyond the border its
    /// patches continue outwards.
    cell: Positive<Length>,
}

/// What of a body is touched.
#[parameters]
#[derive(Copy, Default, PartialEq)]
pub enum BodySurface {
    /// The one collision shape that the robot file gives to the link: a box, sphere or cylinder.
    #[default]
    FromCollision,
    /// A cuboid along the axes, centred.
    Box {
        /// Lengths of the edges along x, y, z [m].
        size: [Positive<Length>; 3],
    },
    /// A ball.
    Sphere {
        /// Radius [m].
        radius: Positive<Length>,
    },
    /// A solid cylinder along z, centred.
    Cylinder {
        /// Radius [m].
        radius: Positive<Length>,
        /// Height [m].
        length: Positive<Length>,
    },
    /// All that lies below a plane.
    Plane {
        /// Direction out of the surface; of any length but zero [1].
        normal: [f64; 3],
        /// Distance of the plane from the origin along the normal [m]; default 0.
        offset: Option<Length>,
    },
}

/// A surface of a body.
pub(crate) struct OnBody {
    /// The link that carries it.
    pub(crate) frame: FrameId,
    /// Where it is: `frame_from_surface`.
    pub(crate) placement: Placement,
}

fn wrong(message: impl Into<String>) -> Invalid {
    Invalid::parameter("ground", message)
}

/// The half-space below a plane at `offset` along `normal`.
fn half_space(normal: [f64; 3], offset: Option<Length>) -> Result<Surface, Invalid> {
    let through_origin = Plane::new(Vector3::zeros(), Vector3::from(normal));
    let offset = offset.map_or(0.0, Length::value);
    through_origin
        .and_then(|plane| Plane::new(offset * plane.normal(), plane.normal()))
        .map(Surface::HalfSpace)
        .ok_or_else(|| wrong(format!("expected a normal with a direction, found {normal:?}")))
}

impl Ground {
    /// The surface, and the body that carries it unless that is the world. `touching` is the frame
    /// that touches it.
    ///
    /// # Errors
    /// If a normal has no direction, a file cannot be read, or a body is not known or has no such
    /// shape.
    pub(crate) fn surface(
        &self,
        robot: &RobotModel,
        touching: FrameId,
        ports: &mut Ports<'_>,
    ) -> Result<(Terrain, Option<OnBody>), Invalid> {
        let Self::Body { frame, surface, at, rpy } = self else {
            return Ok((self.terrain(ports)?, None));
        };
        let frame = robot.frame("ground", frame)?;
        let model = &robot.model;
        if model.frame(frame).body == model.frame(touching).body {
            let (one, other) = (&model.frame(touching).name, &model.frame(frame).name);
            return Err(wrong(format!(
                "expected two bodies that move against each other, found `{one}` and `{other}`, \
                 which are one"
            )));
        }
        let stated = Placement::from_xyz_rpy(
            at.map_or([0.0; 3], |at| at.map(Length::value)),
            rpy.map_or([0.0; 3], |rpy| rpy.map(Angle::value)),
        );
        let (surface, placement) = match surface.stated()? {
            Some(surface) => (surface, stated),
            None if at.is_some() || rpy.is_some() => {
                return Err(wrong(
                    "expected a surface with `at` or `rpy`, found FromCollision, which knows where \
                     it is",
                )
                .hint("write surface: Box(size: […]) or another surface"));
            }
            None => collision_surface(model, frame)?,
        };
        Ok((Terrain::of(surface), Some(OnBody { frame, placement })))
    }

    /// Ground that no body carries.
    ///
    /// # Errors
    /// If a normal has no direction, a file cannot be read, or a body carries it.
    pub(crate) fn terrain(&self, ports: &mut Ports<'_>) -> Result<Terrain, Invalid> {
        if *self != Self::OfDiagram {
            let terrain = self.stated_terrain(ports.files())?;
            terrain.doubt.iter().for_each(|doubt| ports.warn(wrong(doubt.clone())));
            return Ok(terrain);
        }
        match ports.ground::<Section>() {
            Some(section) => Ok(section.terrain.clone()),
            None => Self::Level.stated_terrain(ports.files()),
        }
    }

    /// Ground that is stated here.
    fn stated_terrain(&self, files: &dyn Files) -> Result<Terrain, Invalid> {
        let field = |field: Field| Terrain {
            surface: Arc::new(Surface::HeightField(field.heights)),
            friction: field.friction.map(Arc::new),
            doubt: None,
        };
        Ok(match self {
            Self::Level => Terrain::of(Surface::HalfSpace(Plane::default())),
            Self::Plane { normal, offset } => Terrain::of(half_space(*normal, *offset)?),
            Self::HeightField { file, cell, origin, friction } => {
                field(Field::of_table(file, cell.value(), *origin, friction.as_ref(), files)?)
            }
            Self::HeightImage { file, cell, height, lowest, origin, friction } => {
                let levels = [lowest.map_or(0.0, Length::value), height.value()];
                let picture = (file.as_str(), levels);
                field(Field::of_image(picture, cell.value(), *origin, friction.as_ref(), files)?)
            }
            Self::HeightFunction { z, x, y, cell, constants, friction } => {
                let over = [*x, *y].map(|ends| ends.map(Length::value));
                let function = (z, constants);
                field(Field::of_function(function, over, cell.value(), friction.as_ref(), files)?)
            }
            Self::TriangleMesh { file, scale, position, rpy } => {
                let placement = Placement::from_xyz_rpy(
                    position.map_or([0.0; 3], |position| position.map(Length::value)),
                    rpy.map_or([0.0; 3], |rpy| rpy.map(Angle::value)),
                );
                triangles(file, scale.value(), &placement, files)?
            }
            Self::Stairs { .. } => Terrain::of(self.stairs()?),
            Self::Cuboids { of } => Terrain::of(on_level(of.iter().map(Cuboid::part))),
            Self::OfDiagram => {
                return Err(wrong("expected what the ground is, found `OfDiagram`, which asks"));
            }
            Self::Body { .. } => {
                return Err(wrong("expected ground of the world, found a body")
                    .hint("the bodies of a world touch one another without it"));
            }
        })
    }

    /// Steps as cuboids, each as deep as all that stand on it.
    fn stairs(&self) -> Result<Surface, Invalid> {
        let Self::Stairs { rise, run, count, width, landing, down, start, yaw } = self else {
            return Err(wrong("expected stairs"));
        };
        if !(1..=MOST_STEPS).contains(count) {
            let message = format!("expected 1 to {MOST_STEPS} steps, found {count}");
            return Err(wrong(message));
        }
        let (rise, run) = (rise.value(), run.value());
        let [x, y] = start.map_or([0.0; 2], |start| start.map(Length::value));
        let foot = Placement::from_xyz_rpy([x, y, 0.0], [0.0, 0.0, yaw.map_or(0.0, Angle::value)]);
        let top = *count as f64 * run + landing.value();
        let steps = (0..*count).map(|i| {
            let above = (count - 1 - i) as f64;
            let (near, far) = (i as f64 * run, top + if *down { above * run } else { 0.0 });
            let height = (i + 1) as f64 * rise;
            let size = Vector3::new(far - near, width.value(), height + BELOW);
            let centre = Vector3::new(0.5 * (near + far), 0.0, 0.5 * (height - BELOW));
            let step = Placement { translation: centre, ..Placement::identity() };
            Part { placement: foot * step, surface: Surface::Box { half_size: size * 0.5 } }
        });
        Ok(on_level(steps))
    }
}

/// The triangles of a file, placed in the world.
fn triangles(
    file: &str,
    scale: f64,
    placement: &Placement,
    files: &dyn Files,
) -> Result<Terrain, Invalid> {
    let mut mesh = read_mesh(file, files).map_err(wrong)?;
    let place = |vertex: &Vector3<f64>| placement.transform_point(&(vertex * scale));
    mesh.vertices = mesh.vertices.iter().map(place).collect();
    let surface = TriangleMesh::new(&mesh).map_err(|error| {
        let hint = match error {
            TriangleMeshError::TooLarge => "`scale` is the factor to metres: 0.001 of millimetres",
            _ => "make the faces of the mesh consistent where it was drawn, and merge its vertices",
        };
        wrong(format!("{file}: {error}")).hint(hint)
    })?;
    let (all, used) = (mesh.triangles.len(), surface.triangles().count());
    let doubt = (used < all)
        .then(|| format!("{file}: {} of {all} triangles have no area: left out", all - used));
    Ok(Terrain { doubt, ..Terrain::of(Surface::TriangleMesh(surface)) })
}

impl Cuboid {
    fn part(&self) -> Part {
        let rpy = self.rpy.map_or([0.0; 3], |rpy| rpy.map(Angle::value));
        Part {
            placement: Placement::from_xyz_rpy(self.position.map(Length::value), rpy),
            surface: Surface::Box {
                half_size: Vector3::from(self.size.map(Positive::value)) * 0.5,
            },
        }
    }
}

/// Parts on the plane z = 0.
fn on_level(parts: impl Iterator<Item = Part>) -> Surface {
    let level = Surface::HalfSpace(Plane::default());
    let level = Part { placement: Placement::identity(), surface: level };
    Surface::Union(std::iter::once(level).chain(parts).collect())
}

impl BodySurface {
    /// The surface that the parameters state; none for that of the robot file.
    fn stated(self) -> Result<Option<Surface>, Invalid> {
        Ok(Some(match self {
            Self::FromCollision => return Ok(None),
            Self::Box { size } => {
                Surface::Box { half_size: Vector3::from(size.map(Positive::value)) * 0.5 }
            }
            Self::Sphere { radius } => Surface::Sphere { radius: radius.value() },
            Self::Cylinder { radius, length } => {
                Surface::Cylinder { radius: radius.value(), half_length: 0.5 * length.value() }
            }
            Self::Plane { normal, offset } => half_space(normal, offset)?,
        }))
    }
}

/// The one collision shape of a link, and where it is.
fn collision_surface(model: &Model, frame: FrameId) -> Result<(Surface, Placement), Invalid> {
    let name = &model.frame(frame).name;
    let found: Vec<_> = model.collisions_of(frame).collect();
    let hint = "state what is touched: surface: Box(size: […]) or another surface";
    let [collision] = found.as_slice() else {
        let message =
            format!("expected one collision shape of link `{name}`, found {}", found.len());
        return Err(wrong(message).hint(hint));
    };
    let surface = match collision.shape {
        Shape::Sphere { radius } => Surface::Sphere { radius },
        Shape::Box { size } => Surface::Box { half_size: size * 0.5 },
        Shape::Cylinder { radius, length } => {
            Surface::Cylinder { radius, half_length: 0.5 * length }
        }
        _ => {
            let message =
                format!("expected a box, sphere or cylinder as collision shape of link `{name}`");
            return Err(wrong(message).hint(hint));
        }
    };
    Ok((surface, collision.link_from_shape))
}

#[cfg(test)]
mod tests;
