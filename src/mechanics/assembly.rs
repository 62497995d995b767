//! The last steps of building a model: what follows from its bodies and joints.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::body::{Axis, Body};
use crate::branch::BranchPattern;
use crate::inertia::Inertia;
use crate::layout::Layout;
use crate::model::{BodyId, Frame, FrameId, JointId, JointKind, Link, Model, ModelError, Tree};
use crate::resistance::{JointResistance, of_joints};
use crate::rotors::Rotors;
use crate::springs::JointSpring;

/// Most numbers below the diagonal of `M` of one robot: a chain of 2047 joints.
const MAX_CHAINED: usize = 1 << 21;

/// Bodies above each body of some trees, added up: the packed rows of `M` have so many numbers, and
/// the ways of all bodies to their root so many steps.
fn chained(bodies: &[Body]) -> usize {
    let mut depth = vec![0_usize; bodies.len()];
    for (i, body) in bodies.iter().enumerate() {
        depth[i] = if body.parent == i { 0 } else { depth[body.parent] + 1 };
    }
    depth.iter().sum()
}

impl Model {
    /// The model, unless its chains are so long that the sparsity of `M` would take more memory
    /// than a robot is worth.
    pub(crate) fn not_too_deep(self) -> Result<Self, ModelError> {
        let (found, limit) = (chained(&self.bodies), MAX_CHAINED);
        match found > limit {
            true => Err(ModelError::TooDeep { found, limit }),
            false => Ok(self),
        }
    }

    /// About how many bytes the sparsity of `M` takes, which grows by the square of a chain's
    /// length.
    #[must_use]
    pub fn pattern_bytes(&self) -> u64 {
        // An ancestor and its rank, and somewhat less than half a step of four lanes.
        const EACH: u64 = 2 * size_of::<usize>() as u64 + 24;
        chained(&self.bodies) as u64 * EACH
    }

    /// Completes a model of which trees, bodies, joints, mimic joints, frames and collision shapes
    /// are given: masses of subtrees, names, damping of the joints, sparsity.
    pub(crate) fn complete(mut self) -> Self {
        self.add_up_masses();
        self.frame_by_name =
            self.frames.iter().enumerate().map(|(i, frame)| (frame.name.clone(), i)).collect();
        let bases = self.trees.iter().filter(|tree| tree.is_floating());
        let balls = self.bodies.iter().filter(|body| body.axis == Axis::Ball);
        self.quaternions = bases
            .map(|tree| (tree.q.start + 3, tree.v.start + 3))
            .chain(balls.map(|ball| (ball.q_index, ball.v_index - 2)))
            .collect();
        self.quaternions.sort_unstable();
        self.joint_velocities =
            self.trees.iter().flat_map(|tree| tree.joint_velocity_range()).collect();
        self.resistance = of_joints(&self.joints, &self.mimics);
        self.lay_out_pattern();
        self
    }

    /// Finds the masses of subtrees from those of the bodies.
    pub(crate) fn add_up_masses(&mut self) {
        for body in &mut self.bodies {
            body.subtree_mass = body.inertia.mass();
        }
        for i in (0..self.bodies.len()).rev() {
            let (parent, mass) = (self.bodies[i].parent, self.bodies[i].subtree_mass);
            if parent != i {
                self.bodies[parent].subtree_mass += mass;
            }
        }
    }

    /// Finds the sparsity of `M` from the bodies and rotors.
    pub(crate) fn lay_out_pattern(&mut self) {
        let names = self.coordinate_names();
        let mut order: Vec<usize> = Vec::with_capacity(names.len());
        let mut seen = vec![false; names.len()];
        let mut parents: Vec<Option<usize>> = vec![None; names.len()];
        let mut coupled = self.trees_with_coupled_rotors();
        // Parents of coordinates: the six of a floating base in a chain, then body by body. Bodies
        // that share a coordinate couple its branches.
        for (tree, coupled) in self.trees.iter().zip(&mut coupled) {
            let base = tree.v.start..tree.v.start + tree.base_dim();
            for k in base.clone() {
                order.push(k);
                seen[k] = true;
                parents[k] = (k > base.start).then(|| k - 1);
            }
            for body in &self.bodies[tree.bodies.clone()][1..] {
                let k = body.v_index;
                if seen[k] {
                    *coupled = true;
                    continue;
                }
                seen[k] = true;
                order.push(k);
                parents[k] = match body.parent == tree.bodies.start {
                    true => base.clone().last(),
                    false => Some(self.bodies[body.parent].v_index),
                };
            }
        }
        self.coupled = coupled.contains(&true);
        // Where nothing couples branches, M has the tree's own sparsity, and rows begin with the
        // block of their floating base. Else the elimination tree of all pairs that couple.
        let free = self
            .trees
            .iter()
            .zip(&coupled)
            .filter(|(tree, coupled)| tree.is_floating() && !**coupled);
        let bases: Vec<usize> = free.map(|(tree, _)| tree.v.start).collect();
        let pattern = match self.coupled {
            false => BranchPattern::new(&parents, &bases, names),
            true => {
                BranchPattern::of_pairs(self.coupled_pairs().into_iter(), &order, &bases, names)
            }
        };
        self.pattern = Arc::new(pattern);
        // The lanes, which store their entries of M where the pattern says.
        let (joints, pattern) = (&self.joint_velocities, &self.pattern);
        let layout = Layout::new(&self.trees, &self.bodies, joints, pattern, self.coupled);
        self.layout = Arc::new(layout);
    }

    /// Joints whose motion moves nothing that has mass or rotational inertia.
    pub(crate) fn massless_joints(&self) -> impl Iterator<Item = usize> {
        let mut carries: Vec<bool> =
            self.bodies.iter().map(|body| body.inertia != Inertia::zero()).collect();
        for (i, body) in self.bodies.iter().enumerate().skip(1).rev() {
            carries[body.parent] |= carries[i];
        }
        // By coordinate: a joint that others follow moves their bodies, too.
        let mut moves = vec![false; self.velocity_dim()];
        for (body, carries) in self.bodies.iter().zip(&carries).skip(1) {
            moves[body.v_index] |= *carries && body.scale != 0.0;
        }
        for (&k, &rotor) in self.joint_velocities.iter().zip(self.rotors.diagonal()) {
            moves[k] |= rotor > 0.0;
        }
        let joints = self.joints.iter().enumerate();
        joints
            .filter_map(move |(i, joint)| (!joint.velocity_range().all(|k| moves[k])).then_some(i))
    }

    /// Whether rotors couple joints of each tree.
    fn trees_with_coupled_rotors(&self) -> Vec<bool> {
        let joints = self.joint_velocities.len();
        let couples = |i: usize| (0..joints).any(|j| j != i && self.rotors.entry(i, j) != 0.0);
        let mut first = 0;
        let trees = self.trees.iter().map(|tree| {
            let own = first..first + tree.joint_velocity_range().len();
            first = own.end;
            self.rotors.matrix.is_some() && own.into_iter().any(couples)
        });
        trees.collect()
    }

    /// Pairs of coordinates with an entry in `M`.
    fn coupled_pairs(&self) -> Vec<(usize, usize)> {
        let mut pairs = Vec::new();
        for tree in &self.trees {
            let base = tree.v.start..tree.v.start + tree.base_dim();
            for k in base.clone() {
                pairs.extend((base.start..k).map(|i| (k, i)));
            }
            for body in &self.bodies[tree.bodies.clone()][1..] {
                pairs.extend(base.clone().map(|i| (body.v_index, i)));
                let mut above = body.parent;
                while above != tree.bodies.start {
                    pairs.push((body.v_index, self.bodies[above].v_index));
                    above = self.bodies[above].parent;
                }
            }
        }
        for (i, &a) in self.joint_velocities.iter().enumerate() {
            for (j, &b) in self.joint_velocities[..i].iter().enumerate() {
                if self.rotors.entry(i, j) != 0.0 {
                    pairs.push((a, b));
                }
            }
        }
        pairs
    }

    /// Names of the velocity coordinates; in a world they begin with the robot's name.
    fn coordinate_names(&self) -> Vec<String> {
        let mut names = vec![String::new(); self.velocity_dim()];
        for tree in &self.trees {
            let prefix = match self.world {
                false => String::new(),
                true => format!("{}/", tree.name),
            };
            let base = ["base vx", "base vy", "base vz", "base wx", "base wy", "base wz"];
            for (name, what) in names[tree.v.clone()].iter_mut().zip(&base[..tree.base_dim()]) {
                *name = format!("{prefix}{what}");
            }
        }
        for joint in &self.joints {
            let suffixes: &[&str] = match joint.kind {
                JointKind::Revolute | JointKind::Continuous | JointKind::Prismatic => &[""],
                JointKind::Planar => &[".vx", ".vy", ".w"],
                JointKind::Spherical => &[".wx", ".wy", ".wz"],
                JointKind::Floating => &[".vx", ".vy", ".vz", ".wx", ".wy", ".wz"],
            };
            for (name, suffix) in names[joint.velocity_range()].iter_mut().zip(suffixes) {
                *name = format!("{}{suffix}", joint.name);
            }
        }
        names
    }

    /// Several robots and free bodies in one world: `q` and `ν` are stacked in the order given,
    /// `M` is block-diagonal, frames and joints are named `robot/link` and `robot/joint`. All
    /// algorithms then work on the world as on one robot; Jacobians between bodies of different
    /// robots are differences.
    ///
    /// # Errors
    /// [`ModelError::World`] if there is no robot, two have one name, a name is empty or contains
    /// `/`, or gravity differs.
    pub fn world(robots: &[(&str, &Self)]) -> Result<Self, ModelError> {
        let wrong = |problem: String| ModelError::World { problem };
        let Some((first_name, first)) = robots.first() else {
            return Err(wrong("expected at least one robot, found none".to_owned()));
        };
        for (i, (name, model)) in robots.iter().enumerate() {
            if name.is_empty() || name.contains('/') {
                return Err(wrong(format!("expected a name without `/`, found `{name}`")));
            }
            if robots[..i].iter().any(|(other, _)| other == name) {
                return Err(wrong(format!("robot `{name}` is listed twice")));
            }
            if model.gravity != first.gravity {
                return Err(wrong(format!(
                    "expected one gravity, found {:?} m/s² for `{first_name}` \
                     and {:?} m/s² for `{name}`",
                    first.gravity.as_slice(),
                    model.gravity.as_slice()
                )));
            }
        }
        // An empty world, to which the robots are appended.
        let mut world = Self {
            name: robots.iter().map(|(name, _)| *name).collect::<Vec<_>>().join("+"),
            gravity: first.gravity,
            trees: Vec::new(),
            bodies: Vec::new(),
            joints: Vec::new(),
            mimics: Vec::new(),
            frames: Vec::new(),
            frame_by_name: BTreeMap::new(),
            links: Vec::new(),
            collisions: Vec::new(),
            visuals: Vec::new(),
            rotors: Rotors::none(0),
            resistance: JointResistance::none(0),
            springs: Vec::new(),
            pattern: Arc::new(BranchPattern::new(&[], &[], Vec::new())),
            layout: Arc::default(),
            joint_velocities: Vec::new(),
            quaternions: Vec::new(),
            world: true,
            coupled: false,
        };
        for (name, model) in robots {
            world.append(name, model);
        }
        world.rotors = stacked_rotors(robots);
        let mut world = world.complete();
        // A robot may be one whose damping does not act.
        world.resistance = stacked_resistance(robots);
        Ok(world)
    }

    /// Appends the trees of `model`.
    fn append(&mut self, name: &str, model: &Self) {
        let (bodies, joints, frames) = (self.bodies.len(), self.joints.len(), self.frames.len());
        let (trees, q, v) = (self.trees.len(), self.configuration_dim(), self.velocity_dim());
        let within = |inner: &str| format!("{name}/{inner}");
        // Everything that counts bodies, joints, frames or coordinates moves up by those before.
        self.bodies.extend(model.bodies.iter().cloned().map(|mut body| {
            body.parent += bodies;
            body.carrier += bodies;
            body.last += bodies;
            body.tree += trees;
            body.q_index += q;
            body.v_index += v;
            body
        }));
        self.joints.extend(model.joints.iter().cloned().map(|mut joint| {
            joint.name = within(&joint.name);
            joint.q_index += q;
            joint.v_index += v;
            joint.body += bodies;
            joint
        }));
        self.mimics.extend(model.mimics.iter().cloned().map(|mut mimic| {
            mimic.name = within(&mimic.name);
            mimic.joint = JointId(mimic.joint.0 + joints);
            mimic.body += bodies;
            mimic
        }));
        self.springs.extend(
            model
                .springs
                .iter()
                .map(|spring| JointSpring { joint: JointId(spring.joint.0 + joints), ..*spring }),
        );
        self.links.extend(model.links.iter().map(|link| Link {
            parent: link.parent.map(|parent| FrameId(parent.0 + frames)),
            joint: link.joint.as_deref().map(within),
            inertia: link.inertia,
        }));
        self.collisions.extend(model.collisions.iter().cloned().map(|mut collision| {
            collision.link = FrameId(collision.link.0 + frames);
            collision
        }));
        self.visuals.extend(model.visuals.iter().cloned().map(|mut visual| {
            visual.link = FrameId(visual.link.0 + frames);
            visual
        }));
        self.frames.extend(model.frames.iter().map(|frame| Frame {
            name: within(&frame.name),
            body: BodyId(frame.body.0 + bodies),
            body_from_frame: frame.body_from_frame,
        }));
        self.trees.extend(model.trees.iter().map(|tree| Tree {
            name: if model.trees.len() == 1 { name.to_owned() } else { within(&tree.name) },
            base: tree.base,
            root_frame: FrameId(tree.root_frame.0 + frames),
            mount: tree.mount,
            bodies: tree.bodies.start + bodies..tree.bodies.end + bodies,
            joints: tree.joints.start + joints..tree.joints.end + joints,
            q: tree.q.start + q..tree.q.end + q,
            v: tree.v.start + v..tree.v.end + v,
        }));
    }
}

/// Damping and friction of the joints of all robots.
fn stacked_resistance(robots: &[(&str, &Model)]) -> JointResistance {
    let all = |values: fn(&JointResistance) -> &Vec<f64>| -> Vec<f64> {
        robots.iter().flat_map(|(_, model)| values(&model.resistance)).copied().collect()
    };
    JointResistance::new(all(|r| &r.viscous), all(|r| &r.dry), all(|r| &r.speed))
}

/// Rotors of all robots, block by block.
fn stacked_rotors(robots: &[(&str, &Model)]) -> Rotors {
    let diagonal: Vec<f64> =
        robots.iter().flat_map(|(_, model)| model.rotors.diagonal.iter().copied()).collect();
    if robots.iter().all(|(_, model)| model.rotors.matrix.is_none()) {
        return Rotors { diagonal, matrix: None };
    }
    let n = diagonal.len();
    let mut matrix = vec![0.0; n * n];
    let mut at = 0;
    for (_, model) in robots {
        let own = model.joint_dim();
        for i in 0..own {
            for j in 0..own {
                matrix[(at + i) * n + at + j] = model.rotors.entry(i, j);
            }
        }
        at += own;
    }
    Rotors { diagonal, matrix: Some(matrix) }
}
