//! What `ContactPoint` and `ContactPatch` share: contacts of one frame with one surface.
//!
//! The motion of the frame against the surface is found once, in the axes of the surface, and its
//! Jacobian once in six rows, in those of the world or of the body that carries the surface. Each
//! contact then takes three rows of it: `J = Fᵀ (J_lin + J_ang × arm)`. For a surface of a body B
//! the six rows are `J_A − J_B` at the origin of A's frame, so that three of them are
//! `Fᵀ (J_A(x) − J_B(x))`: what acts on A at x acts on B at x with the opposite sign.

use legwork_block::{Inputs, Invalid, Matrix, OptionalIn, Out, Outputs, Ports, Pose, Vector};
use legwork_contact::touch::touch;
use legwork_contact::{Belt, Feature, RelativeMotion, Surface, Touch};
use legwork_mechanics::{
    FrameId, Kinematics, MixedTwist, Model, Placement, frame_jacobian, frame_jacobian_dot_velocity,
    frame_velocity, jacobian_columns, relative_jacobian, relative_jacobian_dot_velocity,
    relative_placement, relative_velocity, world_from_frame,
};
use nalgebra::{Matrix3, Vector3};

use crate::buses::ContactBus;
use crate::contact::ground::{FrictionField, Ground, OnBody};
use crate::robot::frames::read_placement;
use crate::robot::shared_kinematics::AtState;

/// Inputs, geometry and constants of contacts of one frame with one surface.
pub(crate) struct ContactGeometry {
    state: AtState,
    frame: FrameId,
    features: Vec<Feature>,
    surface: Surface,
    carrier: Carrier,
    /// Columns of the Jacobian that can differ from zero.
    columns: Vec<usize>,
    /// What the leaf `friction` says where the ground has none of its own by place.
    friction: f64,
    /// Friction by place; a stated μ goes before it.
    by_place: Option<FrictionField>,
}

/// What carries the surface.
enum Carrier {
    /// The world, moved by these inputs if they are connected.
    World { pose: OptionalIn<Pose>, velocity: OptionalIn<Vector>, acceleration: OptionalIn<Vector> },
    /// A body of the robot or world.
    Body(OnBody),
}

/// The surface and the frame at one state.
struct Scene {
    motion: RelativeMotion,
    belt: Option<Belt>,
    world_from_surface: Placement,
    /// From the axes of the surface to those of the six rows.
    rows_from_surface: Matrix3<f64>,
    /// All of them are the world's axes.
    is_world: bool,
}

/// Where contacts are written.
pub(crate) struct Written<S> {
    /// One contact, or an array of them.
    pub(crate) contact: Out<S>,
    /// Their stacked Jacobian.
    pub(crate) jacobian: Out<Matrix>,
}

impl<S> Clone for Written<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Written<S> {}

impl ContactGeometry {
    /// Declares the inputs that move the ground, and finds the surface.
    ///
    /// # Errors
    /// As [`Ground::surface`].
    pub(crate) fn plan(
        state: AtState,
        frame: FrameId,
        features: Vec<Feature>,
        ground: &Ground,
        mu: Option<f64>,
        ports: &mut Ports<'_>,
    ) -> Result<Self, Invalid> {
        let (surface, body) = ground.surface(&state.robot, frame, ports.files())?;
        let model = &state.robot.model;
        let mut columns = jacobian_columns(model, frame);
        let carrier = match body {
            Some(body) => {
                columns.extend(jacobian_columns(model, body.frame));
                columns.sort_unstable();
                columns.dedup();
                Carrier::Body(body)
            }
            None => moved_world(ports),
        };
        let friction = mu.unwrap_or(ContactBus::NO_FRICTION);
        let by_place = ground.friction(ports.files())?.filter(|_| mu.is_none());
        Ok(Self { state, frame, features, surface, carrier, columns, friction, by_place })
    }

    /// How many contacts there are.
    pub(crate) fn count(&self) -> usize {
        self.features.len()
    }

    /// Memory for [`Self::write`]: six rows of a Jacobian.
    pub(crate) fn rows(&self) -> Vec<f64> {
        vec![0.0; 6 * self.state.robot.model.velocity_dim()]
    }

    /// Computes all contacts and writes them.
    pub(crate) fn write<S>(
        &self,
        inputs: &Inputs<'_>,
        rows: &mut [f64],
        outputs: &mut Outputs<'_>,
        to: Written<S>,
    ) {
        let (model, kinematics) = (&self.state.robot.model, inputs.shared(self.state.kinematics));
        let scene = match &self.carrier {
            Carrier::Body(body) => {
                relative_jacobian(model, kinematics, body.frame, self.frame, rows);
                on_body(model, kinematics, body, self.frame)
            }
            Carrier::World { pose, velocity, acceleration } => {
                frame_jacobian(model, kinematics, self.frame, rows);
                let still = Scene::in_world(model, kinematics, self.frame);
                let twist = inputs.optional(*velocity).map(read_twist);
                let rate = inputs.optional(*acceleration).map(read_twist);
                match inputs.optional(*pose) {
                    Some(pose) => still.on_ground(&read_placement(pose), twist, rate),
                    None => still.on_belt(twist, rate),
                }
            }
        };
        outputs.get(to.jacobian).fill(0.0);
        for (i, feature) in self.features.iter().enumerate() {
            let found = touch(feature, &self.surface, &scene.motion, scene.belt.as_ref());
            self.write_contact(i, &found, &scene, rows, outputs, to);
        }
    }

    fn write_contact<S>(
        &self,
        i: usize,
        found: &Touch,
        scene: &Scene,
        rows: &[f64],
        outputs: &mut Outputs<'_>,
        to: Written<S>,
    ) {
        let (position, axes, rows_axes, arm) = if scene.is_world {
            (found.position, found.frame, found.frame, found.arm)
        } else {
            let world_from_surface = &scene.world_from_surface;
            (
                world_from_surface.transform_point(&found.position),
                world_from_surface.rotation * found.frame,
                scene.rows_from_surface * found.frame,
                scene.rows_from_surface * found.arm,
            )
        };
        let first = i * ContactBus::LEAVES;
        let write = |outputs: &mut Outputs<'_>, leaf: usize, numbers: &[f64]| {
            outputs.leaf(to.contact, first + leaf).copy_from_slice(numbers);
        };
        write(outputs, ContactBus::POSITION, position.as_slice());
        write(outputs, ContactBus::AXES, axes.as_slice());
        write(outputs, ContactBus::GAP, &[found.gap]);
        write(outputs, ContactBus::VELOCITY, found.velocity.as_slice());
        write(outputs, ContactBus::JACOBIAN_DOT_NU, found.velocity_rate.as_slice());
        let place = [found.position.x, found.position.y];
        let friction = self.by_place.as_ref().map_or(self.friction, |field| field.at(place));
        write(outputs, ContactBus::FRICTION, &[friction]);
        let [own, stacked] =
            outputs.leaves([to.contact.leaf(first + ContactBus::JACOBIAN), to.jacobian.leaf(0)]);
        own.fill(0.0);
        let height = 3 * self.features.len();
        for &k in &self.columns {
            let row = &rows[6 * k..6 * k + 6];
            let linear = Vector3::new(row[0], row[1], row[2]);
            let angular = Vector3::new(row[3], row[4], row[5]);
            let column = rows_axes.tr_mul(&(linear + angular.cross(&arm)));
            own[3 * k..3 * k + 3].copy_from_slice(column.as_slice());
            let start = height * k + 3 * i;
            stacked[start..start + 3].copy_from_slice(column.as_slice());
        }
    }
}

/// Declares the inputs that move ground which belongs to no robot.
fn moved_world(ports: &mut Ports<'_>) -> Carrier {
    let pose = ports.optional_input("ground_pose", &Pose);
    ports.note_optional(pose).doc("world_from_ground; the ground as it is stated without");
    let velocity = ports.optional_input("ground_velocity", &Vector::of(6));
    let doc = "velocity of the ground's origin and angular velocity; 0 without";
    ports.note_optional(velocity).frame("world").doc(doc);
    let acceleration = ports.optional_input("ground_acceleration", &Vector::of(6));
    let doc = "acceleration of the ground's origin and angular acceleration; 0 without";
    ports.note_optional(acceleration).frame("world").doc(doc);
    Carrier::World { pose, velocity, acceleration }
}

fn read_twist(numbers: &[f64]) -> MixedTwist {
    MixedTwist {
        linear: Vector3::from_column_slice(&numbers[..3]),
        angular: Vector3::from_column_slice(&numbers[3..6]),
    }
}

const AT_REST: MixedTwist =
    MixedTwist { linear: Vector3::new(0.0, 0.0, 0.0), angular: Vector3::new(0.0, 0.0, 0.0) };

impl Scene {
    /// Ground at rest in the world.
    fn in_world(model: &Model, kinematics: &Kinematics, frame: FrameId) -> Self {
        let placement = world_from_frame(model, kinematics, frame);
        let twist = frame_velocity(model, kinematics, frame);
        let rate = frame_jacobian_dot_velocity(model, kinematics, frame);
        Self {
            motion: motion(&placement, &twist, &rate),
            belt: None,
            world_from_surface: Placement::identity(),
            rows_from_surface: Matrix3::identity(),
            is_world: true,
        }
    }

    /// Ground that stays where it is while its matter moves.
    fn on_belt(mut self, twist: Option<MixedTwist>, rate: Option<MixedTwist>) -> Self {
        if twist.is_some() || rate.is_some() {
            let (twist, rate) = (twist.unwrap_or(AT_REST), rate.unwrap_or(AT_REST));
            self.belt = Some(Belt {
                linear: twist.linear,
                angular: twist.angular,
                linear_rate: rate.linear,
                angular_rate: rate.angular,
            });
        }
        self
    }

    /// Ground that moves as a whole: the motion against it, in its axes, by the equations of
    /// [`relative_velocity`] and [`relative_jacobian_dot_velocity`].
    fn on_ground(
        self,
        ground: &Placement,
        twist: Option<MixedTwist>,
        rate: Option<MixedTwist>,
    ) -> Self {
        let (twist, rate) = (twist.unwrap_or(AT_REST), rate.unwrap_or(AT_REST));
        let (of, axes) = (self.motion, &ground.rotation);
        let w = twist.angular;
        let apart = of.translation - ground.translation;
        let seen = of.linear - twist.linear - w.cross(&apart);
        let linear_rate = of.linear_rate
            - rate.linear
            - rate.angular.cross(&apart)
            - w.cross(&w.cross(&apart))
            - w.cross(&seen) * 2.0;
        let angular_rate = of.angular_rate - rate.angular - w.cross(&(of.angular - w));
        Self {
            motion: RelativeMotion {
                rotation: axes.tr_mul(&of.rotation),
                translation: axes.tr_mul(&apart),
                linear: axes.tr_mul(&seen),
                angular: axes.tr_mul(&(of.angular - w)),
                linear_rate: axes.tr_mul(&linear_rate),
                angular_rate: axes.tr_mul(&angular_rate),
            },
            belt: None,
            world_from_surface: *ground,
            rows_from_surface: *axes,
            is_world: false,
        }
    }
}

/// The motion of `frame` against a surface of a body.
fn on_body(model: &Model, kinematics: &Kinematics, body: &OnBody, frame: FrameId) -> Scene {
    let placement = relative_placement(model, kinematics, body.frame, frame);
    let twist = relative_velocity(model, kinematics, body.frame, frame);
    let rate = relative_jacobian_dot_velocity(model, kinematics, body.frame, frame);
    // The surface is fixed in its body: only axes and origin change.
    let axes = &body.placement.rotation;
    let turned = |twist: &MixedTwist| MixedTwist {
        linear: axes.tr_mul(&twist.linear),
        angular: axes.tr_mul(&twist.angular),
    };
    Scene {
        motion: motion(&(body.placement.inverse() * placement), &turned(&twist), &turned(&rate)),
        belt: None,
        world_from_surface: world_from_frame(model, kinematics, body.frame) * body.placement,
        rows_from_surface: *axes,
        is_world: false,
    }
}

fn motion(placement: &Placement, twist: &MixedTwist, rate: &MixedTwist) -> RelativeMotion {
    RelativeMotion {
        rotation: placement.rotation,
        translation: placement.translation,
        linear: twist.linear,
        angular: twist.angular,
        linear_rate: rate.linear,
        angular_rate: rate.angular,
    }
}

#[cfg(test)]
mod tests;
