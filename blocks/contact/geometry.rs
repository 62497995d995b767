//! What `ContactPoint` and `ContactPatch` share: contacts of one frame with one surface.
//!
//! The motion of the frame against the surface is found once, in the axes of the surface, and its
//! Jacobian once in six rows, in those of the world or of the body that carries the surface. Each
//! contact then takes three rows of it: `J = Fᵀ (J_lin + J_ang × arm)`. For a surface of a body B
//! the six rows are `J_A − J_B` at the origin of A's frame, so that three of them are
//! `Fᵀ (J_A(x) − J_B(x))`: what acts on A at x acts on B at x with the opposite sign.

use std::sync::Arc;

use legwork_block::{
    Inputs, Invalid, Matrix, OptionalIn, Out, Outputs, Ports, Pose, Report, Vector,
};
use legwork_contact::touch::touch;
use legwork_contact::{Belt, Feature, RelativeMotion, Surface, Touch};
use legwork_mechanics::{
    FrameId, FrameRows, Kinematics, MixedTwist, Model, Placement, Tree, base_center_of_mass,
    frame_motion, jacobian_columns, relative_jacobian, relative_jacobian_dot_velocity,
    relative_placement, relative_velocity, world_from_frame,
};
use nalgebra::{Matrix3, Vector3};

use crate::buses::ContactBus;
use crate::contact::depth::{Deep, DepthWatch};
use crate::contact::ground::{FrictionField, Ground, OnBody, Terrain};
use crate::robot::frames::read_placement;
use crate::robot::model::RobotModel;

/// Geometry and constants of contacts of one frame with one surface.
pub(crate) struct ContactGeometry {
    robot: Arc<RobotModel>,
    frame: FrameId,
    features: Vec<Feature>,
    surface: Arc<Surface>,
    /// The body of the robot or world that carries the surface; without, the world does.
    body: Option<OnBody>,
    /// What the leaf `friction` says where the ground has none of its own by place.
    friction: f64,
    /// Friction by place; a stated μ goes before it.
    by_place: Option<Arc<FrictionField>>,
    /// What the leaf `restitution` says.
    restitution: f64,
}

/// The motion of ground that belongs to no body, as far as it is connected.
pub(crate) struct Moved<'a> {
    pose: Option<&'a [f64]>,
    velocity: Option<MixedTwist>,
    acceleration: Option<MixedTwist>,
}

impl<'a> Moved<'a> {
    /// Reads the inputs, which ground on a body does not have.
    pub(crate) fn read(
        inputs: &Inputs<'a>,
        pose: Option<OptionalIn<Pose>>,
        velocity: Option<OptionalIn<Vector>>,
        acceleration: Option<OptionalIn<Vector>>,
    ) -> Self {
        let twist = |port: Option<OptionalIn<Vector>>| inputs.optional(port?).map(read_twist);
        Self {
            pose: pose.and_then(|port| inputs.optional(port)),
            velocity: twist(velocity),
            acceleration: twist(acceleration),
        }
    }
}

/// The surface and the frame at one state.
pub(crate) struct Scene {
    pub(crate) motion: RelativeMotion,
    belt: Option<Belt>,
    world_from_surface: Placement,
    /// From the axes of the surface to those of the six rows.
    rows_from_surface: Matrix3<f64>,
    /// All of them are the world's axes.
    is_world: bool,
}

/// Work memory of a [`ContactGeometry`].
pub struct Work {
    /// The six rows, by the columns that can differ from zero.
    rows: FrameRows,
    /// All of them, if they are a difference.
    dense: Vec<f64>,
    /// Whether the other columns have been written: they stay zero from then on.
    has_zeros: bool,
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
    /// Finds the surface.
    ///
    /// # Errors
    /// As [`Ground::surface`].
    pub(crate) fn new(
        robot: &Arc<RobotModel>,
        frame: FrameId,
        features: Vec<Feature>,
        ground: &Ground,
        (mu, restitution): (Option<f64>, f64),
        ports: &mut Ports<'_>,
    ) -> Result<Self, Invalid> {
        check_restitution(restitution)?;
        let (Terrain { surface, friction: by_place, .. }, body) =
            ground.surface(robot, frame, ports)?;
        let friction = mu.unwrap_or(ContactBus::NO_FRICTION);
        let by_place = by_place.filter(|_| mu.is_none());
        let robot = Arc::clone(robot);
        Ok(Self { robot, frame, features, surface, body, friction, by_place, restitution })
    }

    /// Whether the surface belongs to no body, so that inputs can move it.
    pub(crate) fn is_on_world(&self) -> bool {
        self.body.is_none()
    }

    /// How many contacts there are.
    pub(crate) fn count(&self) -> usize {
        self.features.len()
    }

    /// The robot that the frame belongs to, if its base is free and is another body. Contacts of the
    /// base warn of their own depth.
    fn floating(&self) -> Option<&Tree> {
        let model = &self.robot.model;
        let tree = &model.trees()[model.tree_of_frame(self.frame)];
        let of_base = model.frame(self.frame).body == model.frame(tree.root_frame).body;
        (tree.is_floating() && !of_base).then_some(tree)
    }

    /// Depth [m] of the centre of mass of the robot's base in ground at rest; none where that says
    /// nothing: the base is fixed, or the ground moves or is a sheet with borders.
    pub(crate) fn base_depth(&self, kinematics: &Kinematics, ground: &Moved<'_>) -> Option<f64> {
        let has_inside = !matches!(*self.surface, Surface::TriangleMesh(_));
        let tree = self.floating().filter(|_| has_inside && self.body.is_none())?;
        let center = base_center_of_mass(&self.robot.model, kinematics, tree);
        ground.pose.is_none().then(|| -self.surface.at(&center).distance)
    }

    /// Warns of what the watch noticed.
    pub(crate) fn report(&self, watch: &DepthWatch, report: &mut Report) {
        watch.report(report);
        if let Some(tree) = self.floating() {
            let base = &self.robot.model.frame(tree.root_frame).name;
            watch.report_base((&tree.name, base), report);
        }
    }

    /// Memory for [`Self::write`].
    pub(crate) fn work(&self) -> Work {
        let model = &self.robot.model;
        let (rows, dense) = match &self.body {
            None => (FrameRows::new(model, self.frame), Vec::new()),
            Some(body) => {
                let mut columns = jacobian_columns(model, self.frame);
                columns.extend(jacobian_columns(model, body.frame));
                columns.sort_unstable();
                columns.dedup();
                (FrameRows::of_columns(columns), vec![0.0; 6 * model.velocity_dim()])
            }
        };
        Work { rows, dense, has_zeros: false }
    }

    /// Computes all contacts and writes them, at this time and, if that is fixed, step [s]. The
    /// deepest one that is to be told of.
    pub(crate) fn write<S>(
        &self,
        when: (f64, Option<f64>),
        kinematics: &Kinematics,
        ground: &Moved<'_>,
        work: &mut Work,
        outputs: &mut Outputs<'_>,
        to: Written<S>,
    ) -> Option<Deep> {
        let model = &self.robot.model;
        let scene = match &self.body {
            Some(body) => {
                relative_jacobian(model, kinematics, body.frame, self.frame, &mut work.dense);
                work.rows.load(&work.dense);
                on_body(model, kinematics, body, self.frame)
            }
            None => {
                work.rows.update(model, kinematics, self.frame);
                let still = Scene::in_world(model, kinematics, self.frame);
                let Moved { pose, velocity, acceleration } = *ground;
                match pose {
                    Some(pose) => still.on_ground(&read_placement(pose), velocity, acceleration),
                    None => still.on_belt(velocity, acceleration),
                }
            }
        };
        if !work.has_zeros {
            outputs.get(to.jacobian).fill(0.0);
            for i in 0..self.features.len() {
                let leaf = i * ContactBus::LEAVES + ContactBus::JACOBIAN;
                outputs.leaf(to.contact, leaf).fill(0.0);
            }
            work.has_zeros = true;
        }
        let mut deepest = None;
        for (i, feature) in self.features.iter().enumerate() {
            let found = touch(feature, &self.surface, &scene.motion, scene.belt.as_ref());
            Deep::see(&mut deepest, when, i, found.gap, -found.velocity.z);
            let place = [found.position.x, found.position.y];
            let friction = self.by_place.as_ref().map_or(self.friction, |field| field.at(place));
            let which = (i, self.features.len());
            let law = [friction, self.restitution];
            write_touch(which, (&found, law), &scene, &work.rows, outputs, to);
        }
        deepest
    }
}

/// Fails if a coefficient of restitution is more than 1.
///
/// # Errors
/// If it is.
pub(crate) fn check_restitution(restitution: f64) -> Result<(), Invalid> {
    if restitution <= 1.0 {
        return Ok(());
    }
    let message = format!("expected a restitution of 0 to 1, found {restitution}");
    Err(Invalid::parameter("restitution", message))
}

/// Writes contact i of `count`, with its friction and restitution.
pub(crate) fn write_touch<S>(
    (i, count): (usize, usize),
    (found, [friction, restitution]): (&Touch, [f64; 2]),
    scene: &Scene,
    rows: &FrameRows,
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
    write(outputs, ContactBus::FRICTION, &[friction]);
    write(outputs, ContactBus::RESTITUTION, &[restitution]);
    write(outputs, ContactBus::ROW, &[0.0]);
    let is_stack_read = outputs.is_read(to.jacobian);
    let [own, stacked] =
        outputs.leaves([to.contact.leaf(first + ContactBus::JACOBIAN), to.jacobian.leaf(0)]);
    let height = 3 * count;
    rows.at_point(&rows_axes, &arm, |k, column| {
        if let Some(own) = own[3 * k..].first_chunk_mut() {
            *own = column;
        }
        if is_stack_read && let Some(stacked) = stacked[height * k + 3 * i..].first_chunk_mut() {
            *stacked = column;
        }
    });
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
    pub(crate) fn in_world(model: &Model, kinematics: &Kinematics, frame: FrameId) -> Self {
        let (placement, twist, rate) = frame_motion(model, kinematics, frame);
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
pub(crate) fn on_body(
    model: &Model,
    kinematics: &Kinematics,
    body: &OnBody,
    frame: FrameId,
) -> Scene {
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
