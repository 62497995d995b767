//! What a robot touches, as parameters.

use legwork_block::quantity::{Angle, Length, Positive};
use legwork_block::{Files, Invalid};
use legwork_contact::{HeightField, Plane, Surface};
use legwork_mechanics::{FrameId, Model, Placement, Shape};
use nalgebra::Vector3;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::robot_model::RobotModel;

/// What is touched: ground, or another body.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Ground {
    /// The plane z = 0.
    #[default]
    Level,
    /// A plane.
    Plane {
        /// Direction out of the ground, world axes; of any length but zero [1].
        normal: [f64; 3],
        /// Distance of the plane from the world's origin along the normal [m]; default 0.
        #[serde(default)]
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
        /// Where the first height stands, x and y [m]; default 0.
        #[serde(default)]
        origin: Option<[Length; 2]>,
    },
    /// Another body of the robot or world.
    Body {
        /// Name of its link; in a world `robot/link`.
        frame: String,
        /// What of it is touched; default its one collision shape.
        #[serde(default)]
        surface: BodySurface,
        /// Where the surface is in the frame [m]; default its origin. Not with `FromCollision`.
        #[serde(default)]
        at: Option<[Length; 3]>,
        /// How it is turned in the frame: roll, pitch, yaw [rad]; default 0. Not with
        /// `FromCollision`.
        #[serde(default)]
        rpy: Option<[Angle; 3]>,
    },
}

/// What of a body is touched.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
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
        #[serde(default)]
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

/// Reads the heights of a field, row by row, and the number of heights of a row.
fn heights(bytes: &[u8], file: &str) -> Result<(Vec<f64>, usize), Invalid> {
    let mut reader = csv::ReaderBuilder::new()
        .comment(Some(b'#'))
        .trim(csv::Trim::All)
        .has_headers(false)
        .flexible(true)
        .from_reader(bytes);
    let (mut heights, mut along_x) = (Vec::new(), None);
    for record in reader.records() {
        let record = record.map_err(|error| wrong(format!("{file}: {error}")))?;
        let line = record.position().map_or(0, csv::Position::line);
        let expected = *along_x.get_or_insert(record.len());
        if record.len() != expected {
            let found = record.len();
            let message = format!(
                "{file}, line {line}: expected {expected} heights as in the first, found {found}"
            );
            return Err(wrong(message));
        }
        for cell in &record {
            let height = cell.parse::<f64>().ok().filter(|height| height.is_finite());
            heights.push(height.ok_or_else(|| {
                wrong(format!("{file}, line {line}: expected a finite number, found `{cell}`"))
            })?);
        }
    }
    Ok((heights, along_x.unwrap_or(0)))
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
        files: &dyn Files,
    ) -> Result<(Surface, Option<OnBody>), Invalid> {
        match self {
            Self::Level => Ok((Surface::HalfSpace(Plane::default()), None)),
            Self::Plane { normal, offset } => Ok((half_space(*normal, *offset)?, None)),
            Self::HeightField { file, cell, origin } => {
                let bytes = files.read(file).map_err(wrong)?;
                let (heights, along_x) = heights(&bytes, file)?;
                let origin = origin.map_or([0.0; 2], |origin| origin.map(Length::value));
                let field = HeightField::new(&heights, along_x, cell.value(), origin)
                    .map_err(|error| wrong(format!("{file}: {error}")))?;
                Ok((Surface::HeightField(field), None))
            }
            Self::Body { frame, surface, at, rpy } => {
                let frame = robot.frame("ground", frame)?;
                let model = &robot.model;
                if model.frame(frame).body == model.frame(touching).body {
                    let (one, other) = (&model.frame(touching).name, &model.frame(frame).name);
                    return Err(wrong(format!(
                        "expected two bodies that move against each other, found `{one}` and \
                         `{other}`, which are one"
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
                            "expected a surface with `at` or `rpy`, found FromCollision, which \
                             knows where it is",
                        )
                        .hint("write surface: Box(size: […]) or another surface"));
                    }
                    None => collision_surface(model, frame)?,
                };
                Ok((surface, Some(OnBody { frame, placement })))
            }
        }
    }
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
