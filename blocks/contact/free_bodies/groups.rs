//! Groups of equal bodies, and where they are at the start.

use legwork_block::quantity::{
    AngularVelocity, Density, Length, Mass, NonNegative, Positive, Velocity,
};
use legwork_block::{Files, Invalid, parameters};
use legwork_contact::collision::Solid;
use legwork_contact::free_bodies::Body;
use nalgebra::{Quaternion, UnitQuaternion, Vector3};

use super::shapes::{Shaped, SolidShape};

/// Equal bodies.
#[parameters]
pub enum BodyGroup {
    /// Balls.
    Spheres(SphereGroup),
    /// Cuboids.
    Boxes(BoxGroup),
    /// Capsules, cylinders or convex hulls.
    Solids(SolidGroup),
}

/// Balls of one size.
#[parameters]
pub struct SphereGroup {
    /// Radius [m].
    pub radius: Positive<Length>,
    /// Mass of each [kg]; or `density`.
    pub mass: Option<Positive<Mass>>,
    /// Density [kg/m³]; or `mass`.
    pub density: Option<Positive<Density>>,
    /// Where they are at the start.
    pub at: BodyPlaces,
    /// Velocity at the start [m/s].
    #[default = [0, 0, 0]]
    pub velocity: [Velocity; 3],
    /// Angular velocity at the start, world axes [rad/s].
    #[default = [0, 0, 0]]
    pub spin: [AngularVelocity; 3],
    /// Whether nothing moves them.
    #[default]
    pub fixed: bool,
}

/// Cuboids of one size.
#[parameters]
pub struct BoxGroup {
    /// Lengths of the edges along x, y, z [m].
    pub size: [Positive<Length>; 3],
    /// Mass of each [kg]; or `density`.
    pub mass: Option<Positive<Mass>>,
    /// Density [kg/m³]; or `mass`.
    pub density: Option<Positive<Density>>,
    /// Where they are at the start.
    pub at: BodyPlaces,
    /// Velocity at the start [m/s].
    #[default = [0, 0, 0]]
    pub velocity: [Velocity; 3],
    /// Angular velocity at the start, world axes [rad/s].
    #[default = [0, 0, 0]]
    pub spin: [AngularVelocity; 3],
    /// Whether nothing moves them.
    #[default]
    pub fixed: bool,
}

/// Bodies of one shape.
#[parameters]
pub struct SolidGroup {
    /// `Capsule(radius: …, length: …)`, `Cylinder(radius: …, length: …)`, `Hull(points: [[…], …])`,
    /// `HullOf(file: "rock.stl")`.
    pub shape: SolidShape,
    /// Mass of each [kg]; or `density`.
    pub mass: Option<Positive<Mass>>,
    /// Density [kg/m³]; or `mass`.
    pub density: Option<Positive<Density>>,
    /// Where they are at the start.
    pub at: BodyPlaces,
    /// Velocity at the start [m/s].
    #[default = [0, 0, 0]]
    pub velocity: [Velocity; 3],
    /// Angular velocity at the start, world axes [rad/s].
    #[default = [0, 0, 0]]
    pub spin: [AngularVelocity; 3],
    /// Whether nothing moves them.
    #[default]
    pub fixed: bool,
}

/// Where the bodies of a group are at the start.
#[parameters]
pub enum BodyPlaces {
    /// In layers above one another.
    Lattice {
        /// How many.
        count: usize,
        /// Bodies of a layer along x and y; the default is a stack.
        #[default = [1, 1]]
        columns: [usize; 2],
        /// Distance of the surfaces, also above the origin's plane [m].
        #[default = 0]
        gap: NonNegative<Length>,
        /// Distance of the centres along x, y and z [m]; default that of the surfaces and the size.
        pitch: Option<[Positive<Length>; 3]>,
        /// Shift of every second layer along x and y [m].
        #[default = 0]
        stagger: NonNegative<Length>,
        /// Middle of the plane that the lowest layer is `gap` above [m].
        #[default = [0, 0, 0]]
        origin: [Length; 3],
        /// Orientation of all, a quaternion (w, x, y, z).
        #[default = [1, 0, 0, 0]]
        orientation: [f64; 4],
    },
    /// One by one.
    Poses {
        /// Centres [m].
        positions: Vec<[Length; 3]>,
        /// Orientations, quaternions (w, x, y, z), one for each; default none.
        #[default]
        orientations: Vec<[f64; 4]>,
    },
}

/// The quaternion of no rotation.
const UPRIGHT: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

/// Most bodies of a block.
pub(super) const MOST_BODIES: usize = 100_000;

/// What all groups come to.
#[derive(Debug, Clone, Default)]
pub(super) struct Start {
    pub(super) bodies: Vec<Body>,
    pub(super) positions: Vec<f64>,
    pub(super) orientations: Vec<f64>,
    pub(super) velocities: Vec<f64>,
}

/// What groups of balls and of cuboids have alike.
struct Group<'a> {
    solid: Solid,
    /// The axes in which the shape is stated, seen from those of the solid's inertia.
    turn: UnitQuaternion<f64>,
    /// Height and other sizes of the solid.
    size: Vector3<f64>,
    mass: Option<Positive<Mass>>,
    density: Option<Positive<Density>>,
    at: &'a BodyPlaces,
    velocity: [f64; 6],
    fixed: bool,
}

impl BodyGroup {
    fn common(&self, files: &dyn Files) -> Result<Group<'_>, Invalid> {
        let six = |velocity: &[Velocity; 3], spin: &[AngularVelocity; 3]| {
            let ([x, y, z], [p, q, r]) = (velocity.map(Velocity::value), spin.map(|w| w.value()));
            [x, y, z, p, q, r]
        };
        let turn = UnitQuaternion::identity();
        Ok(match self {
            Self::Spheres(group) => Group {
                turn,
                solid: Solid::Sphere { radius: group.radius.value() },
                size: Vector3::repeat(2.0 * group.radius.value()),
                mass: group.mass,
                density: group.density,
                at: &group.at,
                velocity: six(&group.velocity, &group.spin),
                fixed: group.fixed,
            },
            Self::Boxes(group) => {
                let size = Vector3::from(group.size.map(Positive::value));
                Group {
                    turn,
                    solid: Solid::Box { half_size: 0.5 * size },
                    size,
                    mass: group.mass,
                    density: group.density,
                    at: &group.at,
                    velocity: six(&group.velocity, &group.spin),
                    fixed: group.fixed,
                }
            }
            Self::Solids(group) => {
                let Shaped { solid, turn, size } = group.shape.solid(files)?;
                Group {
                    turn,
                    solid,
                    size,
                    mass: group.mass,
                    density: group.density,
                    at: &group.at,
                    velocity: six(&group.velocity, &group.spin),
                    fixed: group.fixed,
                }
            }
        })
    }
}

impl Group<'_> {
    fn body(&self) -> Result<Body, Invalid> {
        let mass = match (self.mass, self.density) {
            (Some(mass), None) => mass.value(),
            (None, Some(density)) => density.value() * self.solid.volume(),
            (None, None) if self.fixed => 1.0,
            (None, None) => return Err(bad("expected a mass or a density, found neither")),
            (Some(_), Some(_)) => return Err(bad("expected a mass or a density, found both")),
        };
        if self.fixed && self.velocity.iter().any(|v| *v != 0.0) {
            return Err(bad("expected no velocity of fixed bodies, found one"));
        }
        Ok(Body { is_fixed: self.fixed, ..Body::uniform(self.solid.clone(), mass) })
    }

    /// Orientation of the axes of inertia, from that of the stated shape.
    fn orientation(&self, quaternion: &[f64; 4]) -> Result<[f64; 4], Invalid> {
        let [w, x, y, z] = unit(quaternion)?;
        if self.turn == UnitQuaternion::identity() {
            return Ok([w, x, y, z]);
        }
        let stated = UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z));
        let q = stated * self.turn.inverse();
        Ok([q.w, q.i, q.j, q.k])
    }

    /// Appends the group's bodies.
    fn add(&self, start: &mut Start) -> Result<(), Invalid> {
        let (body, before) = (self.body()?, start.bodies.len());
        match self.at {
            BodyPlaces::Lattice { count, columns, gap, pitch, stagger, origin, orientation } => {
                let [nx, ny] = *columns;
                if !(1..=MOST_BODIES).contains(&nx.saturating_mul(ny)) {
                    let message =
                        format!("expected at least one column each way, found {nx} x {ny}");
                    return Err(bad(&message));
                }
                if *count > MOST_BODIES {
                    return Err(bad(&format!(
                        "expected {MOST_BODIES} bodies at most, found {count}"
                    )));
                }
                let (gap, quaternion) = (gap.value(), self.orientation(orientation)?);
                let pitch =
                    pitch.map_or(self.size.add_scalar(gap), |p| p.map(Positive::value).into());
                let origin = origin.map(Length::value);
                for i in 0..*count {
                    let layer = i / (nx * ny);
                    let shift = if layer % 2 == 1 { stagger.value() } else { 0.0 };
                    let along = |k: usize, n: usize, axis: usize| {
                        origin[axis] + (k as f64 - 0.5 * (n - 1) as f64) * pitch[axis] + shift
                    };
                    let height = origin[2] + gap + 0.5 * self.size.z + layer as f64 * pitch.z;
                    start.positions.extend([
                        along(i % nx, nx, 0),
                        along(i / nx % ny, ny, 1),
                        height,
                    ]);
                    start.orientations.extend(quaternion);
                    start.bodies.push(body.clone());
                }
            }
            BodyPlaces::Poses { positions, orientations } => {
                let given = orientations.len();
                if given != 0 && given != positions.len() {
                    let message =
                        format!("expected {} orientations, found {given}", positions.len());
                    return Err(bad(&message));
                }
                for (i, position) in positions.iter().enumerate() {
                    start.positions.extend(position.map(Length::value));
                    let quaternion = orientations.get(i).copied().unwrap_or(UPRIGHT);
                    start.orientations.extend(self.orientation(&quaternion)?);
                    start.bodies.push(body.clone());
                }
            }
        }
        for _ in before..start.bodies.len() {
            start.velocities.extend(self.velocity);
        }
        Ok(())
    }
}

fn bad(message: &str) -> Invalid {
    Invalid::parameter("bodies", message.to_owned())
}

fn unit(quaternion: &[f64; 4]) -> Result<[f64; 4], Invalid> {
    let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
    if !(length.is_normal()) {
        return Err(bad(&format!("expected a quaternion with a direction, found {quaternion:?}")));
    }
    Ok(quaternion.map(|x| x / length))
}

/// All bodies in the order of their groups.
pub(super) fn start(groups: &[BodyGroup], files: &dyn Files) -> Result<Start, Invalid> {
    let mut start = Start::default();
    for group in groups {
        group.common(files)?.add(&mut start)?;
        let count = start.bodies.len();
        if count > MOST_BODIES {
            return Err(bad(&format!("expected {MOST_BODIES} bodies at most, found {count}")));
        }
    }
    if start.bodies.is_empty() {
        return Err(bad("expected bodies, found none"));
    }
    Ok(start)
}
