//! `ContactPatch`: where a foot with several contact points can touch the ground.

use std::sync::Arc;

use legwork_block::quantity::{Dimensionless, Length, NonNegative};
use legwork_block::{
    Block, Dim, Invalid, Matrix, Outcome, OutputCx, Ports, Pose, Report, Sizes, UpdateCx, Vector,
    block, parameters, ports,
};
use legwork_mechanics::Kinematics;

use crate::buses::{ContactPointsBus, RobotDims, StateBus, contact_points};
use crate::contact::depth::{DepthWatch, Noticed};
use crate::contact::geometry::{ContactGeometry, Moved, Work, Written};
use crate::contact::ground::Ground;
use crate::contact::hulls::Hulls;
use crate::contact::shape::PatchShape;
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;

/// Several points of a link that can touch the ground or another body. They are the corners of a
/// sole, the rim of a round one, or a wheel.
///
/// | shape | k | contacts |
/// |---|---|---|
/// | `Vertices([[x, y, z], …])` | as many | points of the frame |
/// | `Circle(radius: r, points: 8)` | `points` | of a circle about the frame's z axis |
/// | `Cylinder(radius: r, length: l, axis: [0, 1, 0])` | 2 | the lowest point of each end |
/// | `Sphere(radius: r)` | 1 | the lowest point |
/// | `Grid(size: [x, y], cells: [10, 10])` | one per cell | middles, in the frame's x-y plane |
/// | `FromCollision` | 8 per box, 1 per sphere, 2 per cylinder, capsule | all collision shapes |
/// | | `hull_vertices` per mesh at most | corners of its convex hull |
/// | `Sole(down: [0, 0, -1], depth: "5 mm", points: 8)` | `points` at most | of collision meshes and boxes |
///
/// A contact of the k is what `ContactPoint` gives for one; see there for axes, velocity, ground
/// that moves and other bodies. The motion of the link is computed once for all of them.
///
/// The lowest point of a circle swings round as its axis comes close to the normal; within 0.06° of
/// it the point moves to the circle's middle instead, and the gap is rounded by 4e-4 of the radius
/// at most. A cylinder that stands on its end thus has one point below it: to keep it upright take
/// `Circle`.
///
/// A mesh of the robot file touches with corners of its convex hull: those that lie farthest outside
/// the hull of the ones before, at most `hull_vertices` of them. Where the mesh reaches beyond that
/// hull by more than a fiftieth of its size, a warning says how far. Sixteen corners are spread over
/// all of a foot, and may miss its sole by millimetres; `Sole` takes what lies lowest: the corners of
/// the convex polygon around all vertices down to `depth` above the lowest.
///
/// A contact that starts more than 1 cm inside the surface, enters it that deep within one step, or
/// sinks in that far is a warning of the run. So is a base of the robot whose centre of mass gets
/// more than 1 cm below ground at rest, `below-the-ground`: only what has a contact touches.
#[ports(
    let robot = self.robot.find(ports)?;
    keep geometry: ContactGeometry = self.geometry(&robot, ports)?;
    keep has_fixed_steps: bool = !ports.solver().is_variable();
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    let count = Dim::fixed(geometry.count());
    let is_world = geometry.is_on_world();
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    // Ground that belongs to no body moves by these inputs.
    in  pose("ground_pose")?: Pose, _, "world_from_ground; the ground as it is stated without",
        when is_world, if "not for `Body`", units "1, m";
    in  velocity("ground_velocity")?: Vector::of(6), _,
        "of the ground's origin, world axes; 0 without", frame "world", when is_world,
        if "not for `Body`", units "m/s, rad/s";
    in  acceleration("ground_acceleration")?: Vector::of(6), _, "alike; 0 without",
        frame "world", when is_world, if "not for `Body`", units "m/s², rad/s²";
    out contacts: contact_points(&count, &nv) as ContactPointsBus, _,
        "k contacts, in the order of the shape, whether they touch or not";
    out jacobian: Matrix::of(3 * count, nv), _,
        "their Jacobians below one another: velocities of the points are `jacobian ν`",
        frame "contact", shape "3k × nv", units "1, m";
    ports.updates();
)]
#[parameters(aliases("foot", "sole", "wheel"))]
pub struct ContactPatch {
    /// The robot or world.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// What touches; `FromCollision`, the default, takes the link's collision shapes.
    #[default]
    pub shape: PatchShape,
    /// Where the shape's origin is in the frame [m]; default the frame's. Zero with
    /// `FromCollision` and `Sole`, whose shapes the robot file places.
    pub at: Option<[Length; 3]>,
    /// Most corners of the convex hull that stands for a collision mesh, 4 to 1000.
    #[default = 16]
    pub hull_vertices: usize,
    /// What is touched: `Level` (the default), at height zero, `Plane(normal: [0, 0.1, 1])`,
    /// `HeightField(file: "hills.csv", cell: "5 cm")` or `Body(frame: "box/body")`.
    #[default]
    pub ground: Ground,
    /// Coulomb friction of this pair of surfaces [1]; without, that of the contact model.
    pub mu: Option<NonNegative<Dimensionless>>,
    /// Restitution e of this pair of surfaces, 0 to 1 [1]: it parts at e times the speed at which
    /// it met. `GaussContact` at velocity level and `Impact` have it; springs have dissipation.
    #[default = 0]
    pub restitution: NonNegative<Dimensionless>,
}

impl ContactPatch {
    fn geometry(
        &self,
        robot: &Arc<RobotModel>,
        ports: &mut Ports<'_>,
    ) -> Result<ContactGeometry, Invalid> {
        let frame = robot.frame("frame", &self.frame)?;
        let mut hulls = Hulls::new(robot, ports.files(), self.hull_vertices)?;
        let features = self.shape.features(self.at, &robot.model, frame, &mut hulls)?;
        let doubts = hulls.doubts();
        doubts.into_iter().for_each(|doubt| ports.warn(doubt));
        let law = (self.mu.map(NonNegative::value), self.restitution.value());
        ContactGeometry::new(robot, frame, features, &self.ground, law, ports)
    }
}

#[block]
impl Block for ContactPatch {
    type State = DepthWatch;
    type Memo = Noticed;
    type Scratch = Work;

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Work {
        plan.geometry.work()
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let ground = Moved::read(&cx.inputs, plan.pose, plan.velocity, plan.acceleration);
        let to = Written { contact: plan.contacts, jacobian: plan.jacobian };
        let kinematics = cx.inputs.shared(plan.kinematics);
        let when = (cx.time.t, plan.has_fixed_steps.then_some(cx.time.step));
        let (work, outputs) = (&mut *cx.scratch, &mut cx.outputs);
        let deepest = plan.geometry.write(when, kinematics, &ground, work, outputs, to);
        if !cx.time.minor {
            let looks = cx.state.looks_at_base();
            let base = looks.then(|| plan.geometry.base_depth(kinematics, &ground)).flatten();
            *cx.memo = Noticed { deepest, base };
        }
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.keep(cx.time.t, cx.memo);
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &DepthWatch, report: &mut Report) {
        plan.geometry.report(state, report);
    }
}
