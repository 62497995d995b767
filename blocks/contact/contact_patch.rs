//! `ContactPatch`: where a foot with several contact points can touch the ground.

use legwork_block::quantity::{Dimensionless, Length, NonNegative};
use legwork_block::{Block, Dim, Invalid, Matrix, Outcome, OutputCx, Ports, Sizes};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::buses::{ContactPointsBus, RobotDims, contact_points};
use crate::contact::geometry::{ContactGeometry, Written};
use crate::contact::ground::Ground;
use crate::contact::shape::PatchShape;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::AtState;

/// Several points of a link that can touch the ground or another body. They are the corners of a
/// sole, the rim of a round one, or a wheel.
///
/// | port | shape | unit | meaning |
/// |---|---|---|---|
/// | in `state` | State(robot) | | configuration and velocity |
/// | in `ground_pose`, optional | Pose | 1, m | world_from_ground; not for `Body` |
/// | in `ground_velocity`, optional | 6 | m/s, rad/s | of the ground's origin, world axes |
/// | in `ground_acceleration`, optional | 6 | m/s², rad/s² | alike |
/// | out `contacts` | `ContactPoints` | | k contacts, in the order of the shape |
/// | out `jacobian` | 3k × nv | 1, m | their Jacobians below one another |
///
/// | shape | k | contacts |
/// |---|---|---|
/// | `Vertices([[x, y, z], …])` | as many | points of the frame |
/// | `Circle(radius: r, points: 8)` | `points` | of a circle about the frame's z axis |
/// | `Cylinder(radius: r, length: l, axis: [0, 1, 0])` | 2 | the lowest point of each end |
/// | `Sphere(radius: r)` | 1 | the lowest point |
/// | `Grid(size: [x, y], cells: [10, 10])` | one per cell | middles, in the frame's x-y plane |
/// | `FromCollision` | 8 per box, 1 per sphere, 2 per cylinder, capsule | all collision shapes |
///
/// A contact of the k is what `ContactPoint` gives for one; see there for axes, velocity, ground
/// that moves and other bodies. The motion of the link is computed once for all of them.
///
/// The lowest point of a circle swings round as its axis comes close to the normal; within 0.06° of
/// it the point moves to the circle's middle instead, and the gap is rounded by 4e-4 of the radius
/// at most. A cylinder that stands on its end thus has one point below it: to keep it upright take
/// `Circle`.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-aliases" = ["foot", "sole", "wheel"]))]
pub struct ContactPatch {
    /// The robot or world.
    pub robot: RobotName,
    /// Name of a link of the robot file.
    pub frame: String,
    /// What touches; `FromCollision`, the default, takes the link's collision shapes.
    #[serde(default)]
    pub shape: PatchShape,
    /// Where the shape's origin is in the frame [m]; default the frame's. Not with `FromCollision`.
    #[serde(default)]
    pub at: Option<[Length; 3]>,
    /// What is touched: `Level` (the default), at height zero, `Plane(normal: [0, 0.1, 1])`,
    /// `HeightField(file: "hills.csv", cell: "5 cm")` or `Body(frame: "box/body")`.
    #[serde(default)]
    pub ground: Ground,
    /// Coulomb friction of this pair of surfaces [1]; without, that of the contact model.
    #[serde(default)]
    pub mu: Option<NonNegative<Dimensionless>>,
}

/// Ports and geometry of a [`ContactPatch`].
pub struct Plan {
    geometry: ContactGeometry,
    to: Written<ContactPointsBus>,
}

impl Block for ContactPatch {
    const KIND: &'static str = "ContactPatch";
    type Plan = Plan;
    type State = ();
    type Memo = ();
    /// Six rows of a Jacobian.
    type Scratch = Vec<f64>;

    fn plan(&self, ports: &mut Ports<'_>) -> Result<Plan, Invalid> {
        let state = AtState::plan(&self.robot, ports)?;
        let frame = state.robot.frame("frame", &self.frame)?;
        let features = self.shape.features(self.at, &state.robot.model, frame)?;
        let mu = self.mu.map(NonNegative::value);
        let geometry = ContactGeometry::plan(state, frame, features, &self.ground, mu, ports)?;
        let nv = RobotDims::of(ports, self.robot.as_str()).nv;
        let count = Dim::fixed(geometry.count());
        let contacts = ports.output("contacts", &contact_points(&count, &nv));
        ports.note_out(contacts).doc("the contacts, whether they touch or not");
        let jacobian = ports.output("jacobian", &Matrix::of(3 * count, nv));
        ports.note_out(jacobian).frame("contact").doc("velocities of the points = jacobian ν");
        Ok(Plan { geometry, to: Written { contact: contacts, jacobian } })
    }

    fn state(&self, _: &Plan, _: &Sizes<'_>) {}

    fn scratch(&self, plan: &Plan, _: &Sizes<'_>) -> Vec<f64> {
        plan.geometry.rows()
    }

    fn output(&self, plan: &Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        plan.geometry.write(&cx.inputs, cx.scratch, &mut cx.outputs, plan.to);
        Ok(())
    }
}
