//! Reads what is to be seen out of the signals of a step.

use std::any::Any;

use legwork_block::{Arg, Slot, Type};
use legwork_mechanics::{FrameId, Kinematics, Model, center_of_mass, world_from_frame};
use legwork_mesh::Mesh;
use legwork_program::{Node, Program};

use crate::contacts::Contacts;
use crate::moment::Moment;
use crate::shapes::{Pose, Robot, Scene, Surface};

/// Name of the bus of a robot's state, whose first leaf is its configuration.
const STATE: &str = "State";

/// What to look at in the signals of a program.
pub struct Viewer {
    scene: Scene,
    robots: Vec<Seen>,
    contacts: Vec<Contacts>,
    moment: Moment,
}

/// A robot and where its configuration is.
struct Seen {
    model: Model,
    frames: Vec<FrameId>,
    kinematics: Kinematics,
    q: Slot,
}

impl Viewer {
    /// What can be seen of a program; `mechanism` finds the mechanics of a robot by its name, and
    /// `ground` is those of the diagram's ground, if it states one.
    pub fn new<'m>(
        program: &Program,
        mechanism: impl Fn(&str) -> Option<&'m dyn Any>,
        ground: Option<&dyn Any>,
    ) -> Self {
        let mut states: Vec<(&str, Slot, bool)> = Vec::new();
        for node in program.nodes.iter() {
            for (robot, q) in states_of(node) {
                let integrates = node.continuous.is_some();
                match states.iter_mut().find(|(known, ..)| *known == robot) {
                    Some(known) if integrates && !known.2 => *known = (robot, q, true),
                    Some(_) => {}
                    None => states.push((robot, q, integrates)),
                }
            }
        }
        states.sort_by_key(|(robot, ..)| *robot);
        let found: Vec<(&str, Slot, &Model)> = states
            .into_iter()
            .filter_map(|(robot, q, _)| {
                let model = mechanism(robot)?.downcast_ref::<Model>()?;
                (q.len as usize == model.configuration_dim()).then_some((robot, q, model))
            })
            .collect();
        let prefix = |robot: &str| match found.len() {
            1 => String::new(),
            _ => format!("{robot}/"),
        };
        let robots = found.iter().map(|(name, _, model)| Robot::new(name, &prefix(name), model));
        let ground = ground.and_then(|ground| ground.downcast_ref::<Mesh>()).map(Surface::of);
        let scene = Scene { robots: robots.collect(), ground, ..Scene::default() };
        let seen = found.into_iter().map(|(_, q, model)| Seen {
            kinematics: Kinematics::new(model),
            frames: model.frames().iter().filter_map(|f| model.find_frame(&f.name)).collect(),
            model: model.clone(),
            q,
        });
        Self {
            robots: seen.collect(),
            contacts: Contacts::of(program),
            scene,
            moment: Moment::default(),
        }
    }

    /// One that sees nothing.
    pub fn nothing() -> Self {
        let (robots, contacts) = (Vec::new(), Vec::new());
        Self { scene: Scene::default(), robots, contacts, moment: Moment::default() }
    }

    /// Sees only what lies in signals that are known, as those that are recorded.
    pub fn keep(&mut self, is_known: impl Fn(&Slot) -> bool) {
        let known: Vec<bool> = self.robots.iter().map(|seen| is_known(&seen.q)).collect();
        let mut kept = known.iter();
        self.robots.retain(|_| kept.next() == Some(&true));
        let mut kept = known.iter();
        self.scene.robots.retain(|_| kept.next() == Some(&true));
        self.contacts.retain_mut(|contacts| contacts.keep(&is_known));
    }

    /// Whether something of it lies in signals that are not known.
    pub fn lacks(&self, is_known: impl Fn(&Slot) -> bool) -> bool {
        let robots = self.robots.iter().map(|seen| seen.q);
        let contacts = self.contacts.iter().flat_map(Contacts::slots);
        robots.chain(contacts).any(|slot| !is_known(&slot))
    }

    /// How many numbers a moment has: seven for each link, three for each robot, eleven for each
    /// contact.
    pub fn numbers(&self) -> usize {
        let links: usize = self.scene.robots.iter().map(|robot| robot.links.len()).sum();
        let contacts: usize = self.contacts.iter().map(Contacts::count).sum();
        7 * links + 3 * self.robots.len() + 11 * contacts
    }

    /// Whether there is nothing to see.
    pub fn is_empty(&self) -> bool {
        self.robots.is_empty() && self.contacts.is_empty()
    }

    /// Weight of all that can move [N].
    pub fn weight(&self) -> f64 {
        let models = self.robots.iter().map(|seen| &seen.model);
        models.map(|model| model.total_mass() * model.gravity().norm()).sum()
    }

    /// Where everything was when it was last seen.
    pub fn moment(&self) -> &Moment {
        &self.moment
    }

    /// What does not change.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// Takes over where meshes are, see [`Scene::find_meshes`].
    pub fn find_meshes(&mut self, found: &Scene) {
        self.scene.find_meshes(found);
    }

    /// Reads the meshes that are drawn, see [`Scene::read_surfaces`].
    pub fn read_surfaces(
        &mut self,
        read: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Vec<String> {
        self.scene.read_surfaces(read)
    }

    /// Where everything is at time `t` [s], at which the program's signals are in `arena`.
    ///
    /// # Panics
    /// If the arena is that of another program.
    pub fn see(&mut self, t: f64, arena: &[f64]) -> &Moment {
        let Self { robots, contacts, moment, .. } = self;
        moment.t = t;
        moment.links.resize_with(robots.len(), Vec::new);
        moment.centers.clear();
        for (seen, poses) in robots.iter_mut().zip(&mut moment.links) {
            let Seen { model, frames, kinematics, q } = seen;
            kinematics.update_placements(model, &arena[q.range()]);
            kinematics.update_inertias(model);
            poses.clear();
            let pose = |&frame| Pose::from(&world_from_frame(model, kinematics, frame));
            poses.extend(frames.iter().map(pose));
            moment.centers.push(center_of_mass(model, kinematics).into());
        }
        moment.contacts.clear();
        moment.contacts.extend(contacts.iter().flat_map(|contacts| contacts.read(arena)));
        moment
    }
}

/// The robots whose states a block puts out, and where their configurations are.
fn states_of(node: &Node) -> impl Iterator<Item = (&str, Slot)> {
    node.output_types.iter().enumerate().filter_map(|(port, ty)| {
        let Type::Bus(bus) = ty else { return None };
        let (STATE, [Arg::Name(robot)]) = (bus.name.as_str(), &bus.args[..]) else { return None };
        let q = node.io.outputs.port(port).first()?;
        Some((robot.as_str(), *q))
    })
}
