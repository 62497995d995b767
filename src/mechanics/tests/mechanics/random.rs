//! Seeded random robots and states.

use std::fmt::Write as _;
use std::sync::OnceLock;

use legwork_mechanics::nalgebra::DMatrix;
use legwork_mechanics::{Base, JointKind, MimicJoints, Model, Options, Placement};

/// SplitMix64: small, and the same everywhere.
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn chance(&mut self, p: f64) -> bool {
        self.in_range(0.0, 1.0) < p
    }

    pub(crate) fn in_range(&mut self, lo: f64, hi: f64) -> f64 {
        lo + (hi - lo) * (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    pub(crate) fn vector(&mut self, n: usize, size: f64) -> Vec<f64> {
        (0..n).map(|_| self.in_range(-size, size)).collect()
    }
}

/// How the links of a random robot hang together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Chain,
    /// Most links hang on the root.
    Star,
    /// Chains are likelier than stars, as in robots.
    Mixed,
}

/// What a random robot is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    /// Joints that are not fixed, mimic joints included.
    pub(crate) joints: usize,
    pub(crate) shape: Shape,
    /// Share of planar, spherical and floating joints.
    pub(crate) many_freedoms: f64,
    /// Share of mimic joints.
    pub(crate) mimics: f64,
}

/// Joint i of a random robot moves link i + 1.
#[derive(Clone, Debug)]
pub(crate) struct RandomJoint {
    pub(crate) parent: usize,
    /// `None` if fixed.
    pub(crate) kind: Option<JointKind>,
    /// The joint that it follows, multiplier and offset; the joint may follow another in turn.
    pub(crate) mimics: Option<(usize, f64, f64)>,
}

/// A random robot, as its file says it.
#[derive(Clone, Debug)]
pub(crate) struct RandomTree {
    pub(crate) text: String,
    pub(crate) joints: Vec<RandomJoint>,
}

impl RandomJoint {
    /// Whether one number says where it is.
    fn is_single(&self) -> bool {
        self.kind.is_some_and(|kind| kind.velocity_dim() == 1)
    }

    fn turns(&self) -> bool {
        matches!(self.kind, Some(JointKind::Revolute | JointKind::Continuous))
    }
}

fn triple(rng: &mut Rng, size: f64) -> String {
    let v = rng.vector(3, size);
    format!("{} {} {}", v[0], v[1], v[2])
}

/// An inertia of three point-like masses, so that it is physical.
fn inertial(rng: &mut Rng) -> String {
    let mass = rng.in_range(0.1, 3.0);
    let x: Vec<f64> = (0..3).map(|_| mass * rng.in_range(0.001, 0.02)).collect();
    let (ixx, iyy, izz) = (x[1] + x[2], x[0] + x[2], x[0] + x[1]);
    format!(
        "<inertial><origin xyz=\"{}\" rpy=\"{}\"/><mass value=\"{mass}\"/>\
         <inertia ixx=\"{ixx}\" ixy=\"0\" ixz=\"0\" iyy=\"{iyy}\" iyz=\"0\" izz=\"{izz}\"/></inertial>",
        triple(rng, 0.1),
        triple(rng, 3.0)
    )
}

/// Which link each joint hangs on, how it moves and what it follows.
fn random_joints(rng: &mut Rng, recipe: &Recipe) -> Vec<RandomJoint> {
    let mut joints: Vec<RandomJoint> = Vec::new();
    let mut movable = 0;
    while movable < recipe.joints {
        let last = joints.len();
        let parent = match recipe.shape {
            Shape::Chain => last,
            Shape::Star if rng.chance(0.8) => 0,
            Shape::Mixed if rng.chance(0.6) => last,
            Shape::Star | Shape::Mixed => rng.below(last + 1),
        };
        let kind = if rng.chance(0.15) {
            None
        } else if rng.chance(recipe.many_freedoms) {
            Some([JointKind::Planar, JointKind::Spherical, JointKind::Floating][rng.below(3)])
        } else {
            Some([JointKind::Revolute, JointKind::Continuous, JointKind::Prismatic][rng.below(3)])
        };
        movable += usize::from(kind.is_some());
        joints.push(RandomJoint { parent, kind, mimics: None });
    }
    // A joint follows one of lower rank, before or after it in the file, near or far in the tree:
    // chains, but no rings.
    let rank: Vec<u64> = joints.iter().map(|_| rng.next()).collect();
    for i in 0..joints.len() {
        let lower: Vec<usize> =
            (0..joints.len()).filter(|&j| joints[j].is_single() && rank[j] < rank[i]).collect();
        if joints[i].is_single() && !lower.is_empty() && rng.chance(recipe.mimics) {
            let followed = lower[rng.below(lower.len())];
            let (multiplier, offset) = match rng.below(4) {
                0 => (1.0, 0.0),
                1 => (-1.0, 0.0),
                _ => (rng.in_range(-1.5, 1.5), rng.in_range(-0.5, 0.5)),
            };
            joints[i].mimics = Some((followed, multiplier, offset));
        }
    }
    joints
}

fn joint_text(rng: &mut Rng, i: usize, joint: &RandomJoint) -> String {
    let kind = match joint.kind {
        None => "fixed",
        Some(JointKind::Revolute) => "revolute",
        Some(JointKind::Continuous) => "continuous",
        Some(JointKind::Prismatic) => "prismatic",
        Some(JointKind::Planar) => "planar",
        Some(JointKind::Spherical) => "spherical",
        Some(_) => "floating",
    };
    let axis = match rng.below(5) {
        0 => "1 0 0".to_owned(),
        1 => "0 -1 0".to_owned(),
        2 => "0 0 2".to_owned(),
        3 => "0 0 -1".to_owned(),
        _ => triple(rng, 1.0),
    };
    let rpy = if rng.chance(0.4) { "0 0 0".to_owned() } else { triple(rng, 3.0) };
    let mimic = match joint.mimics {
        None => String::new(),
        // These are the defaults.
        Some((followed, 1.0, 0.0)) => format!("<mimic joint=\"j{followed}\"/>"),
        Some((followed, multiplier, offset)) => format!(
            "<mimic joint=\"j{followed}\" multiplier=\"{multiplier}\" offset=\"{offset}\"/>"
        ),
    };
    format!(
        "<joint name=\"j{i}\" type=\"{kind}\"><parent link=\"l{}\"/><child link=\"l{}\"/>\
         <origin xyz=\"{}\" rpy=\"{rpy}\"/><axis xyz=\"{axis}\"/>\
         <limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"10\"/>{mimic}</joint>",
        joint.parent,
        i + 1,
        triple(rng, 0.4)
    )
}

/// A random robot with oblique and coordinate axes, welded links between the joints, links without
/// mass inside the tree, and, for odd seeds, joints and links in an order in which children may
/// come before their parents.
pub(crate) fn random_tree(recipe: &Recipe) -> RandomTree {
    let mut rng = Rng::new(recipe.seed);
    let joints = random_joints(&mut rng, recipe);
    let mut parts: Vec<String> =
        joints.iter().enumerate().map(|(i, joint)| joint_text(&mut rng, i, joint)).collect();
    // A link inside the tree may have no mass. If a leaf, two in a row, a link between two
    // parallel slides or one before or beyond a joint of many freedoms has none, some motion may
    // move no mass and M is singular. Mimic joints only take freedoms away.
    let mut massless = vec![false; joints.len() + 1];
    parts.push(format!("<link name=\"l0\">{}</link>", inertial(&mut rng)));
    for (i, joint) in joints.iter().enumerate() {
        let link = i + 1;
        let carries =
            joints.iter().any(|j| j.parent == link && (j.kind.is_none() || j.is_single()));
        massless[link] = carries && joint.turns() && !massless[joint.parent] && rng.chance(0.4);
        let body = if massless[link] { String::new() } else { inertial(&mut rng) };
        parts.push(format!("<link name=\"l{link}\">{body}</link>"));
    }
    if recipe.seed % 2 == 1 {
        for i in (1..parts.len()).rev() {
            parts.swap(i, rng.below(i + 1));
        }
    }
    let mut text = String::from("<robot name=\"random\">\n");
    for part in parts {
        writeln!(text, "{part}").unwrap();
    }
    text.push_str("</robot>");
    RandomTree { text, joints }
}

/// A random robot as file and model.
pub(crate) struct Sample {
    pub(crate) seed: u64,
    pub(crate) tree: RandomTree,
    pub(crate) options: Options,
    pub(crate) model: Model,
}

const SIZES: [usize; 13] = [1, 2, 3, 4, 6, 8, 12, 16, 20, 28, 36, 48, 60];
const VARIANTS: u64 = 18;

/// 234 robots of 1 to 60 joints: chains, stars and what is between them, on floating, fixed and
/// mounted bases, half of them with joints of many freedoms, some with mimic joints, a third each
/// without rotors, with a rotor per joint and with rotors that couple joints.
pub(crate) fn random_models() -> &'static [Sample] {
    static SAMPLES: OnceLock<Vec<Sample>> = OnceLock::new();
    SAMPLES.get_or_init(|| (0..SIZES.len() as u64 * VARIANTS).map(sample).collect())
}

/// Those with at most `joints` joints, for laws that cost more.
pub(crate) fn small_models(joints: usize) -> impl Iterator<Item = &'static Sample> {
    random_models().iter().filter(move |sample| SIZES[sample.seed as usize % SIZES.len()] <= joints)
}

fn sample(seed: u64) -> Sample {
    let joints = SIZES[seed as usize % SIZES.len()];
    let variant = seed as usize / SIZES.len();
    let mut rng = Rng::new(seed ^ 0x5eed);
    let recipe = Recipe {
        seed,
        joints,
        shape: [Shape::Chain, Shape::Star, Shape::Mixed][variant % 3],
        many_freedoms: if variant / 9 == 1 { 0.3 } else { 0.0 },
        mimics: if rng.chance(0.4) { 0.3 } else { 0.0 },
    };
    let tree = random_tree(&recipe);
    let base = if (variant / 3).is_multiple_of(3) { Base::Floating } else { Base::Fixed };
    let mut options = Options::new(base);
    if variant / 3 % 3 == 2 {
        let (p, r) = (rng.vector(3, 2.0), rng.vector(3, 3.0));
        options.mount = Placement::from_xyz_rpy([p[0], p[1], p[2]], [r[0], r[1], r[2]]);
    }
    let (model, _) = Model::from_urdf_text(&tree.text, &options).unwrap();
    let own = tree.joints.iter().filter(|joint| joint.kind.is_some() && joint.mimics.is_none());
    assert_eq!(model.joints().len(), own.count(), "seed {seed}");
    assert_eq!(model.joints().len() + model.mimic_joints().len(), joints, "seed {seed}");
    let model = with_random_rotors(model, &mut rng);
    Sample { seed, tree, options, model }
}

impl Sample {
    /// The same robot, its mimic joints moving on their own, without rotors.
    pub(crate) fn independent(&self) -> Model {
        let options = Options { mimic: MimicJoints::Independent, ..self.options.clone() };
        Model::from_urdf_text(&self.tree.text, &options).unwrap().0
    }
}

/// No rotors, one per joint, or motors `θ = T s` that drive several joints each.
fn with_random_rotors(model: Model, rng: &mut Rng) -> Model {
    let n = model.joint_dim();
    let inertia: Vec<f64> = (0..n).map(|_| rng.in_range(0.0, 0.02)).collect();
    match rng.below(3) {
        0 => model,
        1 => model.with_rotor_inertia(&inertia).unwrap(),
        _ => {
            let mut t = DMatrix::<f64>::identity(n, n);
            for _ in 0..3.min(n) {
                t[(rng.below(n), rng.below(n))] += rng.in_range(-1.0, 1.0);
            }
            let mut reflected = DMatrix::zeros(n, n);
            for (i, inertia) in inertia.iter().enumerate() {
                reflected += t.row(i).transpose() * t.row(i) * *inertia;
            }
            model.with_rotor_inertia_matrix(reflected.as_slice()).unwrap()
        }
    }
}

/// A random configuration (quaternions of unit length) and velocity.
pub(crate) fn random_state(model: &Model, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Rng::new(seed ^ 0xabcd);
    let mut q = rng.vector(model.configuration_dim(), 1.5);
    legwork_mechanics::normalize(model, &mut q);
    (q, rng.vector(model.velocity_dim(), 2.0))
}
