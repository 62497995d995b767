//! How each joint moves: on its own, coupled to another, or not at all.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Matrix3, Vector3};

use super::Lowering;
use super::base::Root;
use crate::joint_bodies::Drive;
use crate::mjcf::MjcfOptions;
use crate::mjcf::source::Place;
use crate::mjcf::tree::{EqualityKind, Joint, JointType, Options};
use crate::mjcf::values::rotation_about;
use crate::model::{self, JointId, JointKind, MimicJoint, Model, ModelError};
use crate::placement::Placement;
use crate::rotors::matches;
use crate::springs::JointSpring;

/// Most degrees of freedom of all joints. The factor of a single chain has n²/2 entries.
const MAX_FREEDOMS: usize = 2048;

/// How a joint moves.
pub(super) enum Motion {
    /// Not at all: the joint of the base.
    None,
    /// Held at a displacement from the model's pose [rad or m].
    Held(f64),
    Driven(Drive),
}

/// What is decided about a joint.
#[derive(Clone, Copy)]
enum Fate {
    Base,
    /// At this position.
    Held(f64),
    /// An index into [`Joints::own`].
    Own(usize),
    /// An index into [`Joints::mimics`].
    Mimic(usize),
}

/// The joints of a model; a joint of the file is known by its index in the order of the file.
pub(super) struct Joints<'a> {
    file: Vec<&'a Joint>,
    /// Index of each body's first joint.
    first: Vec<usize>,
    by_name: BTreeMap<&'a str, usize>,
    fates: Vec<Fate>,
    pub(super) own: Vec<model::Joint>,
    pub(super) mimics: Vec<MimicJoint>,
    pub(super) configuration_dim: usize,
    pub(super) velocity_dim: usize,
    base_dim: usize,
}

/// A joint follows another: `s = multiplier · s_to + offset`.
#[derive(Clone, Copy)]
struct Law {
    to: usize,
    multiplier: f64,
    offset: f64,
    place: Place,
}

impl<'a> Joints<'a> {
    pub(super) fn new(lowering: &mut Lowering<'a>, base: &Root, options: &MjcfOptions<'_>) -> Self {
        let bodies = &lowering.tree.bodies;
        let mut file: Vec<&Joint> = Vec::new();
        let (mut first, mut owners) = (Vec::new(), Vec::new());
        for (i, body) in bodies.iter().enumerate() {
            first.push(file.len());
            file.extend(&body.joints);
            owners.extend(body.joints.iter().map(|_| i));
        }
        let named = file.iter().enumerate().filter(|(_, joint)| !joint.name.is_empty());
        let by_name: BTreeMap<&str, usize> =
            named.map(|(i, joint)| (joint.name.as_str(), i)).collect();
        let (configuration_dim, velocity_dim) = if base.fixed() { (0, 0) } else { (7, 6) };
        let mut joints = Self {
            fates: vec![Fate::Base; file.len()],
            file,
            first,
            by_name,
            own: Vec::new(),
            mimics: Vec::new(),
            configuration_dim,
            velocity_dim,
            base_dim: velocity_dim,
        };
        let (laws, mut held) = joints.couplings(lowering, options.coupled);
        joints.hold(lowering, &options.welded, &mut held);
        let names = joints.names(lowering, &owners);
        for i in 0..joints.file.len() {
            if base.leaves_joint(owners[i]) && joints.file[i].kind == JointType::Free {
                continue;
            }
            let followed =
                laws[i].and_then(|law| Some(law.multiplier * held[law.to]? + law.offset));
            match (held[i].or(followed), laws[i]) {
                (Some(position), _) => joints.fates[i] = Fate::Held(position),
                (None, Some(_)) => {}
                (None, None) => {
                    joints.fates[i] = Fate::Own(joints.own.len());
                    joints.add(names[i].clone(), i, &lowering.tree.options);
                }
            }
        }
        for (i, law) in laws.iter().enumerate() {
            let (Some(law), false) = (law, matches!(joints.fates[i], Fate::Held(_))) else {
                continue;
            };
            let Fate::Own(followed) = joints.fates[law.to] else { continue };
            joints.fates[i] = Fate::Mimic(joints.mimics.len());
            joints.mimics.push(MimicJoint {
                name: names[i].clone(),
                joint: JointId(followed),
                multiplier: law.multiplier,
                offset: law.offset,
                damping: joints.damping(i, &lowering.tree.options),
                friction: joints.friction(i, &lowering.tree.options),
                // Known when the tree is laid out.
                body: 0,
            });
        }
        let found = joints.velocity_dim - joints.base_dim;
        if found > MAX_FREEDOMS {
            let problem = format!("{found} degrees of freedom are more than {MAX_FREEDOMS}");
            lowering.document.error(Place::START, problem);
        }
        joints
    }

    /// Viscous damping that acts [N m s/rad or N s/m].
    fn damping(&self, index: usize, options: &Options) -> f64 {
        if options.dampers { self.file[index].damping } else { 0.0 }
    }

    /// Dry friction that acts [N m or N].
    fn friction(&self, index: usize, options: &Options) -> f64 {
        if options.friction { self.file[index].friction } else { 0.0 }
    }

    fn add(&mut self, name: String, index: usize, options: &Options) {
        let joint = self.file[index];
        let range = joint.range.filter(|_| options.limits);
        let kind = match (joint.kind, range) {
            (JointType::Free, _) => JointKind::Floating,
            (JointType::Ball, _) => JointKind::Spherical,
            (JointType::Slide, _) => JointKind::Prismatic,
            (JointType::Hinge, Some(_)) => JointKind::Revolute,
            (JointType::Hinge, None) => JointKind::Continuous,
        };
        let single = matches!(joint.kind, JointType::Slide | JointType::Hinge);
        let [lower, upper] = range.filter(|_| single).unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
        let effort = joint.force_range.filter(|_| single);
        self.own.push(model::Joint {
            name,
            kind,
            lower,
            upper,
            effort: effort.map_or(f64::INFINITY, |[low, high]| low.abs().max(high.abs())),
            velocity: f64::INFINITY,
            damping: self.damping(index, options),
            friction: self.friction(index, options),
            q_index: self.configuration_dim,
            v_index: self.velocity_dim,
            // Known when the tree is laid out.
            body: 0,
        });
        self.configuration_dim += kind.configuration_dim();
        self.velocity_dim += kind.velocity_dim();
    }

    /// Joints that equalities tie to others, and those that they hold. MuJoCo's equalities are soft;
    /// here they hold exactly.
    fn couplings(
        &self,
        lowering: &mut Lowering<'_>,
        coupled: bool,
    ) -> (Vec<Option<Law>>, Vec<Option<f64>>) {
        let mut laws: Vec<Option<Law>> = vec![None; self.file.len()];
        let mut held = vec![None; self.file.len()];
        let tree = lowering.tree;
        for equality in &tree.equalities {
            let EqualityKind::Joint { joints, coefficients } = &equality.kind else { continue };
            let place = equality.place;
            if !equality.active {
                lowering.unused.add("equality that is not active");
                continue;
            }
            let [Some(follower), to] = [0, 1].map(|i| self.find(&joints[i])) else {
                lowering.document.error(place, format!("no joint is named `{}`", joints[0]));
                continue;
            };
            if to.is_none() && !joints[1].is_empty() {
                lowering.document.error(place, format!("no joint is named `{}`", joints[1]));
                continue;
            }
            let single =
                |i: usize| matches!(self.file[i].kind, JointType::Slide | JointType::Hinge);
            let linear = coefficients[2..] == [0.0; 3];
            if !coupled {
                lowering.warn(place, format!("the equality of joint `{}` is left out", joints[0]));
                continue;
            }
            if !single(follower) || !to.is_none_or(single) || !linear || laws[follower].is_some() {
                let problem = format!(
                    "the equality of joint `{}` is left out: expected one for each joint, linear, \
                     of hinges and slides",
                    joints[0]
                );
                lowering.warn(place, problem);
                continue;
            }
            let [constant, slope, ..] = *coefficients;
            let reference = self.file[follower].reference;
            match to {
                None => held[follower] = Some(reference + constant),
                Some(to) if to == follower => {
                    lowering.document.error(place, "a joint cannot follow itself");
                }
                Some(to) => {
                    let offset = reference + constant - slope * self.file[to].reference;
                    laws[follower] = Some(Law { to, multiplier: slope, offset, place });
                }
            }
        }
        (self.flattened(lowering, &laws), held)
    }

    /// Laws that lead to joints that follow none.
    fn flattened(&self, lowering: &mut Lowering<'_>, laws: &[Option<Law>]) -> Vec<Option<Law>> {
        let mut flat = laws.to_vec();
        for (i, law) in laws.iter().enumerate() {
            let Some(mut law) = *law else { continue };
            let mut steps = 0;
            while let Some(next) = laws[law.to] {
                law = Law {
                    to: next.to,
                    multiplier: law.multiplier * next.multiplier,
                    offset: law.multiplier * next.offset + law.offset,
                    place: law.place,
                };
                steps += 1;
                // A chain of this length is a circle, or a mistake.
                if steps > 64 {
                    lowering.document.error(law.place, "joints follow one another in a circle");
                    flat[i] = None;
                    break;
                }
            }
            if steps <= 64 {
                flat[i] = Some(law);
            }
        }
        flat
    }

    /// Joints that the options hold.
    fn hold(
        &self,
        lowering: &mut Lowering<'_>,
        welded: &[(String, f64)],
        held: &mut [Option<f64>],
    ) {
        for (pattern, position) in welded {
            let mut found = false;
            for (i, joint) in self.file.iter().enumerate() {
                if !matches(pattern.as_bytes(), joint.name.as_bytes()) {
                    continue;
                }
                found = true;
                match joint.kind {
                    JointType::Slide | JointType::Hinge => held[i] = Some(*position),
                    // A pattern may mean the joints beside it.
                    _ if pattern.contains('*') => {}
                    _ => lowering.document.error(
                        joint.place,
                        format!("only hinges and slides can be held, not joint `{}`", joint.name),
                    ),
                }
            }
            if !found {
                let problem = format!("no joint matches `{pattern}`, which is to be held");
                lowering.document.error(Place::START, problem);
            }
        }
    }

    /// A name for each joint: its own, else that of its body.
    fn names(&self, lowering: &Lowering<'_>, owners: &[usize]) -> Vec<String> {
        let mut taken: BTreeSet<String> =
            self.by_name.keys().map(|name| (*name).to_owned()).collect();
        let mut names = Vec::with_capacity(self.file.len());
        for (i, joint) in self.file.iter().enumerate() {
            if !joint.name.is_empty() {
                names.push(joint.name.clone());
                continue;
            }
            let place = i - self.first[owners[i]] + 1;
            let body = &lowering.tree.bodies[owners[i]];
            let mut name = match body.joints.len() {
                1 => format!("{}_joint", body.name),
                _ => format!("{}_joint_{place}", body.name),
            };
            while !taken.insert(name.clone()) {
                name.push('_');
            }
            names.push(name);
        }
        names
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The joint of the model, and how far it moves this one: 1 if it is itself.
    pub(super) fn driver(&self, joint: usize) -> Option<(usize, f64)> {
        match self.fates[joint] {
            Fate::Own(index) => Some((index, 1.0)),
            Fate::Mimic(index) => {
                Some((self.mimics[index].joint.index(), self.mimics[index].multiplier))
            }
            Fate::Base | Fate::Held(_) => None,
        }
    }

    /// Joints of the file that are those of the model, in its order, and their kinds.
    pub(super) fn of_file(&self) -> impl Iterator<Item = (JointType, Option<usize>)> {
        self.file.iter().zip(&self.fates).map(|(joint, fate)| {
            let own = match fate {
                Fate::Own(index) => Some(*index),
                _ => None,
            };
            (joint.kind, own)
        })
    }

    pub(super) fn kind(&self, joint: usize) -> JointType {
        self.file[joint].kind
    }

    pub(super) fn motion(&self, body: usize, joint: usize) -> Motion {
        let index = self.first[body] + joint;
        let reference = self.file[index].reference;
        let (own, multiplier, offset) = match self.fates[index] {
            Fate::Base => return Motion::None,
            Fate::Held(position) => return Motion::Held(position - reference),
            Fate::Own(own) => (own, 1.0, 0.0),
            Fate::Mimic(mimic) => {
                let mimic = &self.mimics[mimic];
                (mimic.joint.index(), mimic.multiplier, mimic.offset)
            }
        };
        let kind = match self.file[index].kind {
            JointType::Free => JointKind::Floating,
            JointType::Ball => JointKind::Spherical,
            JointType::Slide => JointKind::Prismatic,
            JointType::Hinge => JointKind::Continuous,
        };
        let joint = &self.own[own];
        let (q_index, v_index) = (joint.q_index, joint.v_index);
        // The file's pose is that at the reference.
        let offset = match kind {
            JointKind::Prismatic | JointKind::Continuous => offset - reference,
            _ => offset,
        };
        Motion::Driven(Drive { kind, q_index, v_index, multiplier, offset })
    }

    /// Tells the body of the model that a joint moves.
    pub(super) fn moves(&mut self, body: usize, joint: usize, moved: usize) {
        match self.fates[self.first[body] + joint] {
            Fate::Own(own) => self.own[own].body = moved,
            Fate::Mimic(mimic) => self.mimics[mimic].body = moved,
            _ => {}
        }
    }

    /// The model with the armatures of its joints; those of joints that follow load the others.
    pub(super) fn with_armature(&self, model: Model) -> Result<Model, ModelError> {
        let model = model.not_too_deep()?.complete();
        let mut values = vec![0.0; model.joint_dim()];
        for (i, joint) in self.file.iter().enumerate() {
            let Some((own, multiplier)) = self.driver(i) else { continue };
            for k in model.joints[own].velocity_range() {
                values[k - self.base_dim] += multiplier * multiplier * joint.armature;
            }
        }
        model.with_rotor_inertia(&values)
    }

    /// Springs of hinges and slides; those of joints that follow act on the joints that they
    /// follow.
    pub(super) fn springs(&self, lowering: &mut Lowering<'_>) -> Vec<JointSpring> {
        let mut springs = Vec::new();
        for (i, joint) in self.file.iter().enumerate() {
            if joint.stiffness == 0.0 || !lowering.tree.options.springs {
                continue;
            }
            if !matches!(joint.kind, JointType::Slide | JointType::Hinge) {
                lowering.unused.add("stiffness of a ball or free joint");
                continue;
            }
            // ½ k (m s + o − r)² of the joint that it follows.
            let (own, multiplier, offset) = match self.fates[i] {
                Fate::Own(own) => (own, 1.0, 0.0),
                Fate::Mimic(mimic) => {
                    let mimic = &self.mimics[mimic];
                    (mimic.joint.index(), mimic.multiplier, mimic.offset)
                }
                Fate::Base | Fate::Held(_) => continue,
            };
            if multiplier == 0.0 {
                continue;
            }
            springs.push(JointSpring {
                joint: JointId(own),
                stiffness: joint.stiffness * multiplier * multiplier,
                rest: (joint.spring_reference - offset) / multiplier,
            });
        }
        springs
    }
}

/// `joint_from_body` of a hinge or slide that is held away from the model's pose.
pub(super) fn displaced(joint: &Joint, displacement: f64) -> Placement {
    match joint.kind {
        JointType::Slide => {
            Placement { rotation: Matrix3::identity(), translation: joint.axis * displacement }
        }
        _ => Placement {
            rotation: rotation_about(joint.axis, displacement),
            translation: Vector3::zeros(),
        },
    }
}
