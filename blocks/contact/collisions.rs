//! `Collisions`: contacts between the bodies of a robot or world, found in each step.

mod pairs;
mod search;
mod slots;
mod solids;

use std::collections::BTreeMap;
use std::sync::Arc;

use legwork_block::quantity::{Dimensionless, Length, NonNegative};
use legwork_block::{
    Block, Dim, Files, Int, Invalid, Matrix, Outcome, OutputCx, Ports, Report, Sizes, UpdateCx,
    block, parameters, ports,
};
use legwork_mechanics::Kinematics;

use crate::buses::{ContactPointsBus, RobotDims, StateBus, contact_points};
use crate::contact::depth::Deep;
use crate::contact::geometry::check_restitution;
use crate::contact::ground::{Ground, Terrain};
use crate::robot::model::RobotModel;
use crate::robot::name::RobotName;
use crate::robot::shared_kinematics::kinematics;
use pairs::{Meetings, meetings};
use search::{Lost, OnGround, Place, Search, Work};
use slots::Slots;
pub use solids::LinkShape;
use solids::{Link, shaped, solids};

/// Contacts between the bodies of a robot or world, and with ground if it is given. All pairs
/// of their collision shapes are looked through in each step; those that are near get a contact.
///
/// | shape of the robot file | as it collides |
/// |---|---|
/// | sphere, box, cylinder, capsule | exact |
/// | mesh | the convex hull of at most `hull_vertices` of its corners |
///
/// A file without them is no hindrance: `shapes` states capsules, balls and boxes of links. A mesh
/// that is missing, broken or flat does not touch; a warning lists those of links that could.
///
/// A pair has up to `per_pair` contacts: corners of the overlap of two faces, both ends of two lines
/// that lie side by side, else the nearest points. Their normal is that of the nearest points, and
/// in overlap the direction in which the pair separates soonest; of deep overlaps, beyond a tenth of
/// the thinner body, about the soonest.
///
/// # Ground
///
/// With the `ground` a link has up to `per_pair` contacts at the corners, balls and rims of its
/// shapes, with the distance and the normal of the ground there, and each shape but a ball up to
/// `per_pair` more where an edge or corner of the ground stands out under it: of cuboids and
/// stairs, and of triangles that bend down from one another by more than 1e-5 rad, or end. On
/// triangles of one plane bodies move as on the plane. Of height fields, which are smooth, these
/// points are looked for on two triangles of each cell, and may be off by half a cell; their gap is
/// that of the field.
///
/// A body that is more than 1 cm in the ground, from where no edge pushes it out, is told of by the
/// warning `in-the-ground` of the run.
///
/// # Which pairs
///
/// - Bodies of different members of a `World`, always.
/// - With `self_collision`, bodies of one robot too: not those that a joint connects, nor those that
///   overlap while all joints are at zero or at their nearest limit, which a warning lists.
/// - Of a file of MuJoCo: not what it excludes, nor links whose bits of `contype` and `conaffinity`
///   do not meet; those of its `pair`s in any case, also where a joint connects them.
/// - With `between`, of those only the pairs that it names; never those that `exclude` names. The
///   ground is called `ground` there.
///
/// # The bus
///
/// The number of contacts is fixed: a diagram has room for `contacts`. A contact keeps its place as
/// long as its pair is near, so that what other blocks remember of it stays right; a place without
/// contact is far from the ground, separates, and has a Jacobian of zeros. If there are more than
/// places, the nearest are taken, with a warning of the run. Join the contacts with others:
/// `Join(["feet.points", "hits.contacts"])`, for any contact model.
///
/// Nothing is computed from one step to the next but the places. A step costs in proportion to the
/// number of pairs, for most of them the distance of two balls around the shapes. `jacobian_dot_nu`
/// is that of a ball or corner of the one against the tangent plane or ball of the other.
#[ports(
    let robot = self.robot.find(ports)?;
    keep search: Search = self.search(&robot, ports)?;
    keep has_fixed_steps: bool = !ports.solver().is_variable();
    let nv = RobotDims::of(ports, self.robot.as_str()).nv;
    let count = Dim::fixed(self.contacts);
    in  state: StateBus::of(ports, self.robot.as_str()), _, "configuration and velocity";
    ask kinematics: Kinematics = kinematics(ports, &robot, state);
    out contacts: contact_points(&count, &nv) as ContactPointsBus, _,
        "k = `contacts` places, taken or not";
    out jacobian: Matrix::of(3 * count, nv), _,
        "their Jacobians below one another: velocities of the points are `jacobian ν`",
        frame "contact", shape "3k × nv", units "1, m";
    out near: Int, _, "contacts that are near, in places or not", units "1";
    ports.updates();
)]
#[parameters(aliases("self-collision", "collision detection", "broad phase", "GJK"))]
pub struct Collisions {
    /// The robot or world.
    pub robot: RobotName,
    /// Places for contacts, 1 to 1000.
    #[default = 32]
    pub contacts: usize,
    /// Most contacts of one pair, 1 to 8.
    #[default = 4]
    pub per_pair: usize,
    /// Shapes of links in place of those of their files, by name:
    /// `{ "forearm": [Capsule(radius: "4 cm", from: [0, 0, 0], to: [0, 0, -0.25])] }`. A link with
    /// `[]` touches nothing.
    #[default]
    pub shapes: BTreeMap<String, Vec<LinkShape>>,
    /// Whether bodies of one robot may touch one another.
    #[default]
    pub self_collision: bool,
    /// Pairs of names or patterns (`*` stands for any characters) of links that may touch; default
    /// all.
    pub between: Option<Vec<[String; 2]>>,
    /// Pairs of names or patterns of links that never touch.
    #[default]
    pub exclude: Vec<[String; 2]>,
    /// The ground that all links touch too, as `ContactPatch` has it, but no `Body`; default none.
    pub ground: Option<Ground>,
    /// Distance up to which a pair has contacts, beside the way that it goes in a step [m].
    #[default = "5 mm"]
    pub reach: NonNegative<Length>,
    /// Most corners of the convex hull that stands for a collision mesh, 4 to 1000. Where the mesh
    /// reaches beyond that by more than a fiftieth of its size, a warning says how far.
    #[default = 64]
    pub hull_vertices: usize,
    /// Coulomb friction of these pairs of surfaces [1]; without, that of the contact model.
    pub mu: Option<NonNegative<Dimensionless>>,
    /// Restitution e of these pairs of surfaces, 0 to 1 [1]: it parts at e times the speed at which
    /// it met. `GaussContact` at velocity level and `Impact` have it; springs have dissipation.
    #[default = 0]
    pub restitution: NonNegative<Dimensionless>,
}

/// Most places for contacts.
const MOST_CONTACTS: usize = 1000;
/// Most contacts of a pair.
const MOST_OF_PAIR: usize = 8;

impl Collisions {
    fn search(&self, robot: &Arc<RobotModel>, ports: &mut Ports<'_>) -> Result<Search, Invalid> {
        if !(1..=MOST_CONTACTS).contains(&self.contacts) {
            let message = format!("expected 1 to {MOST_CONTACTS} places, found {}", self.contacts);
            return Err(Invalid::parameter("contacts", message));
        }
        if !(1..=MOST_OF_PAIR).contains(&self.per_pair) {
            let message = format!("expected 1 to {MOST_OF_PAIR} contacts, found {}", self.per_pair);
            return Err(Invalid::parameter("per_pair", message));
        }
        check_restitution(self.restitution.value())?;
        let mut doubts = Vec::new();
        let (links, Meetings { pairs, on_ground }) =
            self.touching(robot, ports.files(), &mut doubts)?;
        let ground = self.ground.as_ref().map(|ground| ground.terrain(ports)).transpose()?;
        let ground = ground.map(|Terrain { surface, friction, .. }| OnGround {
            surface,
            by_place: friction.filter(|_| self.mu.is_none()),
            links: on_ground,
        });
        doubts.into_iter().for_each(|doubt| ports.warn(doubt));
        Ok(Search::new(robot, links, pairs, ground, self))
    }

    /// The links that may touch something, and who may touch what.
    fn touching(
        &self,
        robot: &RobotModel,
        files: &dyn Files,
        doubts: &mut Vec<Invalid>,
    ) -> Result<(Vec<Link>, Meetings), Invalid> {
        let nobody = || {
            let message = format!("no pair of bodies of `{}` may touch", robot.name);
            let hint = "a robot alone needs `self_collision: true` or a ground";
            Err(Invalid::parameter("robot", message).hint(hint))
        };
        let shaped = shaped(self, robot)?;
        let meetings = meetings(self, robot, &shaped)?;
        if meetings.is_empty() {
            return nobody();
        }
        let model = &robot.model;
        let (links, meshes) = solids(self, robot, files, &shaped, &meetings.links())?;
        let (mut meetings, links) = meetings.of_those_left(links);
        doubts.extend(meetings.leave_out_overlapping(model, &links));
        // A robot whose meshes are missing runs.
        if meetings.is_empty() && meshes.are_whole() {
            return nobody();
        }
        doubts.extend(meshes.doubts(self.hull_vertices));
        Ok((links, meetings))
    }
}

/// What a step found.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct Found {
    slots: Vec<u64>,
    left_out: u32,
    deepest: Option<Deep>,
    lost: Option<Lost>,
}

#[block]
impl Block for Collisions {
    type State = Slots;
    type Memo = Found;
    type Scratch = Work;

    fn state(&self, _: &Self::Plan, _: &Sizes<'_>) -> Slots {
        Slots::new(self.contacts)
    }

    fn memo(&self, _: &Self::Plan, _: &Sizes<'_>) -> Found {
        Found { slots: vec![0; self.contacts], ..Found::default() }
    }

    fn clear_memo(&self, found: &mut Found) {
        found.slots.fill(0);
        (found.left_out, found.deepest, found.lost) = (0, None, None);
    }

    fn scratch(&self, plan: &Self::Plan, _: &Sizes<'_>) -> Work {
        plan.search.work(self.contacts)
    }

    fn output(&self, plan: &Self::Plan, cx: &mut OutputCx<'_, Self>) -> Outcome {
        let kinematics = cx.inputs.shared(plan.kinematics);
        let work = &mut *cx.scratch;
        plan.search.find(kinematics, cx.time.step, work);
        let near = work.near();
        let left_out = work.leave_out(self.contacts);
        plan.search.place(cx.state, work);
        cx.outputs.set(plan.near, near as f64);
        let place = Place { contact: plan.contacts, jacobian: plan.jacobian };
        let when = (cx.time.t, plan.has_fixed_steps.then_some(cx.time.step));
        let deepest = plan.search.write(when, kinematics, work, &mut cx.outputs, place);
        if !cx.time.minor {
            cx.memo.slots.copy_from_slice(&work.taken.keys);
            (cx.memo.left_out, cx.memo.deepest) = (left_out as u32, deepest);
            cx.memo.lost = work.lost;
        }
        Ok(())
    }

    fn update(&self, _: &Self::Plan, cx: &mut UpdateCx<'_, Self>) -> Outcome {
        cx.state.commit(cx.time.t, cx.memo);
        Ok(())
    }

    fn report(&self, plan: &Self::Plan, state: &Slots, report: &mut Report) {
        state.report(&plan.search, report);
    }
}

#[cfg(test)]
mod tests;
