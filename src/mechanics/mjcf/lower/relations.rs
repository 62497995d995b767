//! Equalities, actuators, keyframes and contact pairs, and the end of lowering.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::Matrix3;

use super::base::Root;
use super::joints::Joints;
use super::results::{ActuatorLaw, Mjcf, MjcfActuator, MjcfEquality, MjcfGeom, MjcfKeyframe};
use super::{Carried, Lowering};
use crate::manifold::quaternion_to_rotation;
use crate::mjcf::error::MjcfErrors;
use crate::mjcf::tree::{Actuator, EqualityKind, JointType, Key, Solid, Transmission};
use crate::model::{BodyId, Frame, JointId, Model};
use crate::placement::Placement;

/// Most numbers of all keyframes.
const MOST_NUMBERS: usize = 1_000_000;

impl Lowering<'_> {
    /// What the mechanism does not hold.
    pub(super) fn finish(
        mut self,
        mut model: Model,
        geoms: Vec<MjcfGeom>,
        joints: &Joints<'_>,
        carried: &[Option<Carried>],
        base: &Root,
    ) -> Result<Mjcf, MjcfErrors> {
        let equalities = self.equalities(&mut model, carried);
        let actuators = self.actuators(joints);
        limit_efforts(&mut model, &actuators);
        self.idle_tendons();
        let keyframes = self.keyframes(&model, joints, base);
        model.springs = joints.springs(&mut self);
        let (pairs, excluded) = self.contacts();
        self.doubts(&model);
        self.document.finish()?;
        let unused = self.unused.list();
        if !unused.is_empty() {
            let file = self.document.file_of(crate::mjcf::source::Place::START);
            self.warnings.push(format!("{file}: not used: {unused}"));
        }
        Ok(Mjcf {
            model,
            time_step: self.tree.options.time_step,
            integrator: self.tree.options.integrator.clone(),
            keyframes,
            actuators,
            geoms,
            equalities,
            excluded,
            pairs,
            warnings: self.warnings,
        })
    }

    /// Warnings about the mechanism itself.
    fn doubts(&mut self, model: &Model) {
        for i in model.massless_joints().collect::<Vec<_>>() {
            let name = &model.joints()[i].name;
            let place = self.tree.bodies.iter().flat_map(|body| &body.joints);
            let place = place.clone().find(|joint| joint.name == *name).map(|joint| joint.place);
            let warning = format!("joint `{name}` moves nothing that has mass");
            self.warn(place.unwrap_or(crate::mjcf::source::Place::START), warning);
        }
        let mut used: BTreeSet<&str> = BTreeSet::new();
        for body in &self.tree.bodies {
            for joint in &body.joints {
                let single = matches!(joint.kind, JointType::Slide | JointType::Hinge);
                if joint.kind == JointType::Ball && joint.range.is_some() {
                    self.unused.add("range of a ball joint");
                }
                match joint.force_range {
                    Some(_) if !single => {
                        self.unused.add("actuatorfrcrange of a ball or free joint");
                    }
                    // An effort is one number.
                    Some([low, high]) if low != -high => {
                        self.unused.add("smaller side of an actuatorfrcrange");
                    }
                    _ => {}
                }
            }
            for geom in &body.geoms {
                if let Solid::Mesh { mesh } | Solid::Fitted { mesh } = &geom.solid {
                    used.insert(mesh);
                }
            }
        }
        for mesh in used {
            match self.tree.meshes.get(mesh) {
                None => self.warnings.push(format!("no mesh is named `{mesh}`")),
                // Their points do not become a shape.
                Some(found) if found.file.is_none() => {
                    self.unused.add("mesh that the file itself lists");
                }
                Some(_) => {}
            }
        }
    }

    /// Equalities of bodies, for which frames are added that coincide in the file's pose.
    fn equalities(&mut self, model: &mut Model, carried: &[Option<Carried>]) -> Vec<MjcfEquality> {
        let tree = self.tree;
        let by_name: BTreeMap<&str, usize> =
            tree.bodies.iter().enumerate().map(|(i, body)| (&*body.name, i)).collect();
        let find = |name: &str| if name.is_empty() { Some(0) } else { by_name.get(name).copied() };
        // `world_from_body` in the file's pose.
        let mut poses: Vec<Placement> = Vec::with_capacity(tree.bodies.len());
        for (i, body) in tree.bodies.iter().enumerate() {
            poses.push(if i == 0 { body.placement } else { poses[body.parent] * body.placement });
        }
        let mut found = Vec::new();
        for (i, equality) in tree.equalities.iter().enumerate() {
            let name = match equality.name.as_str() {
                "" => format!("equality_{i}"),
                name => name.to_owned(),
            };
            let (weld, ends) = match &equality.kind {
                EqualityKind::Joint { .. } => continue,
                EqualityKind::ConnectSites { sites } | EqualityKind::WeldSites { sites } => {
                    let weld = matches!(equality.kind, EqualityKind::WeldSites { .. });
                    for site in sites {
                        if !model.frame_by_name.contains_key(site) {
                            self.warn(
                                equality.place,
                                format!("equality `{name}` is left out: no site `{site}`"),
                            );
                        }
                    }
                    found.push(MjcfEquality {
                        name,
                        weld,
                        active: equality.active,
                        frames: sites.clone(),
                    });
                    continue;
                }
                EqualityKind::Connect { bodies, anchor } => {
                    let [Some(first), Some(second)] = [0, 1].map(|i| find(&bodies[i])) else {
                        self.document.error(equality.place, "no body of this name to connect");
                        continue;
                    };
                    let at = Placement { translation: *anchor, ..Placement::identity() };
                    let other = poses[second].inverse() * poses[first] * at;
                    (false, [(first, at), (second, other)])
                }
                EqualityKind::Weld { bodies, relative, anchor } => {
                    let [Some(first), Some(second)] = [0, 1].map(|i| find(&bodies[i])) else {
                        self.document.error(equality.place, "no body of this name to weld");
                        continue;
                    };
                    // The anchor is a point of the second body.
                    let at = Placement { translation: *anchor, ..Placement::identity() };
                    let relative =
                        relative.unwrap_or_else(|| poses[first].inverse() * poses[second]);
                    (true, [(first, relative * at), (second, at)])
                }
            };
            let [Some(first), Some(second)] = ends.map(|(body, _)| carried[body]) else {
                let warning = format!(
                    "equality `{name}` is left out: it holds the robot in a world that a floating \
                     base does not know"
                );
                self.warn(equality.place, warning);
                continue;
            };
            let frames = [format!("{name}_1"), format!("{name}_2")];
            for (frame, (at, end)) in frames.iter().zip([(first, ends[0].1), (second, ends[1].1)]) {
                if model.frame_by_name.contains_key(frame) {
                    self.document.error(equality.place, format!("the name `{frame}` is taken"));
                    continue;
                }
                model.frame_by_name.insert(frame.clone(), model.frames.len());
                model.frames.push(Frame {
                    name: frame.clone(),
                    body: BodyId(at.body),
                    body_from_frame: at.body_from_frame * end,
                });
            }
            found.push(MjcfEquality { name, weld, active: equality.active, frames });
        }
        found
    }

    fn actuators(&mut self, joints: &Joints<'_>) -> Vec<MjcfActuator> {
        let tree = self.tree;
        let mut actuators = Vec::new();
        for (i, actuator) in tree.actuators.iter().enumerate() {
            let Some(moment) = self.moment(actuator, joints) else { continue };
            let name = match actuator.name.as_str() {
                "" => format!("actuator_{i}"),
                name => name.to_owned(),
            };
            let unlimited = [f64::NEG_INFINITY, f64::INFINITY];
            let [constant, per_length, per_rate] = actuator.bias;
            let law = ActuatorLaw { gain: actuator.gain, constant, per_length, per_rate };
            if actuator.other_law {
                self.unused.add(format!("law of the actuator `{name}`"));
            }
            actuators.push(MjcfActuator {
                name,
                kind: actuator.kind.clone(),
                moment,
                law: (!actuator.other_law).then_some(law),
                control_range: actuator.control_range.unwrap_or(unlimited),
                force_range: actuator.force_range.unwrap_or(unlimited),
            });
        }
        actuators
    }

    /// Fixed tendons that no actuator pulls: what else they would do is not taken.
    fn idle_tendons(&mut self) {
        let pulled: BTreeSet<&str> = self
            .tree
            .actuators
            .iter()
            .filter_map(|actuator| match &actuator.transmission {
                Transmission::Tendon(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let idle = self.tree.tendons.iter().filter(|tendon| !pulled.contains(&*tendon.name));
        idle.for_each(|_| self.unused.add("fixed tendon without an actuator"));
    }

    /// Joint torques per force; `None` if it is not taken, which is told.
    fn moment(&mut self, actuator: &Actuator, joints: &Joints<'_>) -> Option<Vec<(JointId, f64)>> {
        let tree = self.tree;
        let gear = actuator.gear[0];
        let terms: Vec<(&str, f64)> = match &actuator.transmission {
            Transmission::Joint(joint) => vec![(joint, gear)],
            Transmission::Tendon(name) => {
                match tree.tendons.iter().find(|tendon| tendon.name == *name) {
                    Some(tendon) => {
                        let terms = tendon.joints.iter();
                        terms.map(|(joint, weight)| (joint.as_str(), gear * weight)).collect()
                    }
                    None => {
                        self.unused
                            .add(format!("actuator `{}` on a spatial tendon", actuator.name));
                        return None;
                    }
                }
            }
            Transmission::Other(what) => {
                self.unused.add(format!("actuator `{}` on a {what}", actuator.name));
                return None;
            }
        };
        let mut moment: Vec<(JointId, f64)> = Vec::new();
        for (name, weight) in terms {
            let Some(index) = joints.find(name) else {
                self.document.error(actuator.place, format!("no joint is named `{name}`"));
                return None;
            };
            if matches!(joints.kind(index), JointType::Ball | JointType::Free) {
                self.unused.add(format!("actuator `{}` on a ball or free joint", actuator.name));
                return None;
            }
            let Some((own, multiplier)) = joints.driver(index) else { continue };
            let own = JointId(own);
            match moment.iter_mut().find(|(joint, _)| *joint == own) {
                Some((_, sum)) => *sum += weight * multiplier,
                None => moment.push((own, weight * multiplier)),
            }
        }
        if moment.is_empty() {
            self.unused.add(format!("actuator `{}` on joints that are held", actuator.name));
            return None;
        }
        Some(moment)
    }

    /// The file's pose and its keyframes, in our coordinates.
    fn keyframes(&mut self, model: &Model, joints: &Joints<'_>, base: &Root) -> Vec<MjcfKeyframe> {
        let tree = self.tree;
        let nq: usize = joints.of_file().map(|(kind, _)| dims(kind).0).sum();
        let nv: usize = joints.of_file().map(|(kind, _)| dims(kind).1).sum();
        let reference = self.reference();
        let mut keyframes = Vec::new();
        let mut names = BTreeSet::new();
        let pose = Key {
            place: crate::mjcf::source::Place::START,
            name: "reference".to_owned(),
            positions: None,
            velocities: None,
            controls: None,
        };
        if tree.keys.len().saturating_mul(nq + nv) > MOST_NUMBERS {
            let problem = format!("keyframes of more than {MOST_NUMBERS} numbers");
            self.document.error(tree.keys[0].place, problem);
            return keyframes;
        }
        let stated = tree.keys.iter().any(|key| key.name == "reference");
        let keys = (!stated).then_some(&pose).into_iter().chain(&tree.keys);
        for (i, key) in keys.enumerate() {
            let name = match key.name.as_str() {
                "" => format!("key_{}", i - usize::from(!stated)),
                name => name.to_owned(),
            };
            let positions = key.positions.clone().unwrap_or_else(|| reference.clone());
            let velocities = key.velocities.clone().unwrap_or_else(|| vec![0.0; nv]);
            let controls = key.controls.as_ref().map_or(0, Vec::len);
            if positions.len() != nq || velocities.len() != nv {
                let (q, v) = (positions.len(), velocities.len());
                let problem = format!(
                    "keyframe `{name}`: expected {nq} numbers in `qpos` and {nv} in `qvel`, \
                     found {q} and {v}"
                );
                self.document.error(key.place, problem);
                continue;
            }
            let known = tree.actuators.len();
            if controls != 0 && controls != known {
                // Actuators that are not read count in `ctrl`, too.
                self.unused.add("ctrl of keyframes with actuators that are not read");
            }
            if !names.insert(name.clone()) {
                self.document.error(key.place, format!("a keyframe `{name}` exists already"));
            }
            let (configuration, velocity) = ours(model, joints, base, &positions, &velocities);
            keyframes.push(MjcfKeyframe {
                name,
                configuration,
                velocity,
                controls: key.controls.clone().filter(|list| list.len() == known),
            });
        }
        keyframes
    }

    /// MuJoCo's `qpos0`.
    fn reference(&self) -> Vec<f64> {
        let mut positions = Vec::new();
        for body in &self.tree.bodies {
            for joint in &body.joints {
                match joint.kind {
                    JointType::Free => {
                        positions.extend(body.placement.translation.iter());
                        positions.extend(quaternion_of(&body.placement.rotation));
                    }
                    JointType::Ball => positions.extend([1.0, 0.0, 0.0, 0.0]),
                    JointType::Slide | JointType::Hinge => positions.push(joint.reference),
                }
            }
        }
        positions
    }

    fn contacts(&mut self) -> (Vec<[String; 2]>, Vec<[String; 2]>) {
        let tree = self.tree;
        let bodies: BTreeSet<&str> = tree.bodies.iter().map(|body| &*body.name).collect();
        let geoms = tree.bodies.iter().flat_map(|body| &body.geoms);
        let geoms: BTreeSet<&str> = geoms.map(|geom| &*geom.name).collect();
        let mut excluded = Vec::new();
        for (first, second, place) in &tree.exclusions {
            for name in [first, second] {
                if !bodies.contains(name.as_str()) {
                    self.document.error(*place, format!("no body is named `{name}`"));
                }
            }
            excluded.push([first.clone(), second.clone()]);
        }
        for pair in &tree.pairs {
            for name in &pair.geoms {
                if !geoms.contains(name.as_str()) {
                    self.document.error(pair.place, format!("no geom is named `{name}`"));
                }
            }
        }
        (tree.pairs.iter().map(|pair| pair.geoms.clone()).collect(), excluded)
    }
}

/// Numbers in `qpos` and in `qvel`.
fn dims(kind: JointType) -> (usize, usize) {
    match kind {
        JointType::Free => (7, 6),
        JointType::Ball => (4, 3),
        JointType::Slide | JointType::Hinge => (1, 1),
    }
}

/// `qpos` and `qvel` as q and ν: joints without coordinates are left out, and angular velocities
/// of ball and free joints turn from the axes of the body to those of its parent.
fn ours(
    model: &Model,
    joints: &Joints<'_>,
    base: &Root,
    positions: &[f64],
    velocities: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let mut q = vec![0.0; model.configuration_dim()];
    let mut v = vec![0.0; model.velocity_dim()];
    if !base.fixed() {
        q[3] = 1.0;
    }
    let (mut at_q, mut at_v) = (0, 0);
    for (kind, own) in joints.of_file() {
        let (nq, nv) = dims(kind);
        let from = &positions[at_q..at_q + nq];
        let rates = &velocities[at_v..at_v + nv];
        at_q += nq;
        at_v += nv;
        let (to_q, to_v) = match own {
            Some(own) => (model.joints[own].q_index, model.joints[own].v_index),
            None if kind == JointType::Free && !base.fixed() => (0, 0),
            None => continue,
        };
        q[to_q..to_q + nq].copy_from_slice(from);
        v[to_v..to_v + nv].copy_from_slice(rates);
        let (turn, omega) = match kind {
            JointType::Free => (to_q + 3, to_v + 3),
            JointType::Ball => (to_q, to_v),
            JointType::Slide | JointType::Hinge => continue,
        };
        let length = q[turn..turn + 4].iter().map(|part| part * part).sum::<f64>().sqrt();
        if length > 0.0 {
            q[turn..turn + 4].iter_mut().for_each(|part| *part /= length);
        } else {
            q[turn] = 1.0;
        }
        let rotation = quaternion_to_rotation([q[turn], q[turn + 1], q[turn + 2], q[turn + 3]]);
        let rates = nalgebra::Vector3::new(v[omega], v[omega + 1], v[omega + 2]);
        v[omega..omega + 3].copy_from_slice((rotation * rates).as_slice());
    }
    (q, v)
}

/// The unit quaternion (w, x, y, z) of a rotation, w ≥ 0.
fn quaternion_of(rotation: &Matrix3<f64>) -> [f64; 4] {
    let rotation = nalgebra::Rotation3::from_matrix_unchecked(*rotation);
    let q = nalgebra::UnitQuaternion::from_rotation_matrix(&rotation);
    let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
    [q.w, q.i, q.j, q.k].map(|part| sign * part)
}

/// The largest torque that actuators of limited force give each joint.
fn limit_efforts(model: &mut Model, actuators: &[MjcfActuator]) {
    let mut sums: Vec<Option<f64>> = vec![None; model.joints.len()];
    for actuator in actuators {
        let largest = |range: [f64; 2]| range[0].abs().max(range[1].abs());
        let by_control = match actuator.law {
            Some(law) if law.per_length == 0.0 && law.per_rate == 0.0 => {
                (law.gain * largest(actuator.control_range)).abs() + law.constant.abs()
            }
            _ => f64::INFINITY,
        };
        let force = largest(actuator.force_range).min(by_control);
        for (joint, moment) in &actuator.moment {
            let part = if *moment == 0.0 { 0.0 } else { moment.abs() * force };
            *sums[joint.index()].get_or_insert(0.0) += part;
        }
    }
    for (joint, sum) in model.joints.iter_mut().zip(sums) {
        if let Some(sum) = sum {
            joint.effort = joint.effort.min(sum);
        }
    }
}
