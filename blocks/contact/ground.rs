//! What a robot touches, as parameters.

use legwork_block::quantity::{Angle, Length, Positive};
use legwork_block::{Files, Invalid, parameters};
use legwork_contact::{HeightField, Plane, Surface};
use legwork_mechanics::{FrameId, Model, Placement, Shape};
use nalgebra::Vector3;

use crate::robot::model::RobotModel;

/// What is touched: ground, or another body.
#[parameters]
#[derive(Default, PartialEq)]
pub enum Ground {
    /// The plane z = 0.
    #[default]
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

/// Friction by place.
pub(crate) struct FrictionField {
    values: Vec<f64>,
    along_x: usize,
    cell: f64,
    origin: [f64; 2],
}

impl FrictionField {
    /// Friction at x and y in axes of the ground.
    pub(crate) fn at(&self, [x, y]: [f64; 2]) -> f64 {
        let along_y = self.values.len() / self.along_x;
        let index = |place: f64, origin: f64, count: usize| {
            let patch = libm::floor((place - origin) / self.cell);
            // From zero to a count, so the conversion is exact.
            patch.max(0.0).min((count - 1) as f64) as usize
        };
        let column = index(x, self.origin[0], self.along_x);
        self.values[index(y, self.origin[1], along_y) * self.along_x + column]
    }
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

/// Reads the numbers of a field, row by row, and how many a row has.
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
                "{file}, line {line}: expected {expected} numbers as in the first, found {found}"
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
    if !bytes.ends_with(b"\n") && !bytes.ends_with(b"\r") && !heights.is_empty() {
        let message = "the file ends in its last cell, so that a number that was cut off cannot be \
                       told from a whole one; end the last line with a line break";
        return Err(wrong(format!("{file}: {message}")));
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
            of_world => Ok((of_world.world_surface(files)?, None)),
        }
    }

    /// The surface of ground that no body carries.
    ///
    /// # Errors
    /// If a normal has no direction, a file cannot be read, or a body carries it.
    pub(crate) fn world_surface(&self, files: &dyn Files) -> Result<Surface, Invalid> {
        match self {
            Self::Level => Ok(Surface::HalfSpace(Plane::default())),
            Self::Plane { normal, offset } => half_space(*normal, *offset),
            Self::HeightField { file, cell, origin, .. } => {
                let bytes = files.read(file).map_err(wrong)?;
                let (heights, along_x) = heights(&bytes, file)?;
                let origin = origin.map_or([0.0; 2], |origin| origin.map(Length::value));
                let field = HeightField::new(&heights, along_x, cell.value(), origin)
                    .map_err(|error| wrong(format!("{file}: {error}")))?;
                Ok(Surface::HeightField(field))
            }
            Self::Body { .. } => Err(wrong("expected ground of the world, found a body")
                .hint("the bodies of a world touch one another without it")),
        }
    }
}

impl Ground {
    /// Friction by place, if the ground has it.
    ///
    /// # Errors
    /// If its file cannot be read, is empty, or has a coefficient below zero.
    pub(crate) fn friction(&self, files: &dyn Files) -> Result<Option<FrictionField>, Invalid> {
        let Self::HeightField { origin, friction: Some(map), .. } = self else { return Ok(None) };
        let file = &map.file;
        let bytes = files.read(file).map_err(wrong)?;
        let (values, along_x) = heights(&bytes, file)?;
        if along_x == 0 {
            return Err(wrong(format!("{file}: expected friction of patches, found none")));
        }
        if let Some(mu) = values.iter().find(|mu| **mu < 0.0) {
            return Err(wrong(format!("{file}: expected friction of zero or more, found {mu}")));
        }
        let origin = origin.map_or([0.0; 2], |origin| origin.map(Length::value));
        Ok(Some(FrictionField { values, along_x, cell: map.cell.value(), origin }))
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

#[cfg(test)]
mod tests {
    use super::*;

    struct OneFile(&'static str);

    impl Files for OneFile {
        fn read(&self, path: &str) -> Result<Vec<u8>, String> {
            if path == "mu.csv" { Ok(self.0.as_bytes().to_vec()) } else { Err(path.to_owned()) }
        }
    }

    fn hills() -> Ground {
        serde_json::from_value(serde_json::json!({ "HeightField": {
            "file": "hills.csv", "cell": 1, "origin": [-1, 2],
            "friction": { "file": "mu.csv", "cell": "50 cm" },
        } }))
        .expect("a ground")
    }

    #[test]
    fn each_patch_has_its_friction_and_the_border_goes_on() {
        let text = OneFile("# mu\n0.1, 0.2, 0.3\n0.4, 0.5, 0.6\n");
        let field = hills().friction(&text).expect("a file").expect("a map");
        for ([x, y], mu) in [
            ([-1.0, 2.0], 0.1),
            ([-0.51, 2.49], 0.1),
            ([-0.5, 2.49], 0.2),
            ([0.49, 2.5], 0.6),
            ([-9.0, 9.0], 0.4),
            ([9.0, -9.0], 0.3),
        ] {
            assert_eq!(field.at([x, y]), mu, "at {x}, {y}");
        }
        assert!(Ground::Level.friction(&text).expect("none").is_none());
    }

    #[test]
    fn a_map_that_is_none_is_refused() {
        for (text, what) in [("", "found none"), ("0.5,-1\n", "found -1"), ("0.5,x\n", "`x`")] {
            let refused = hills().friction(&OneFile(text)).err().expect("refused");
            assert!(refused.message.contains(what), "{}", refused.message);
        }
    }
}
