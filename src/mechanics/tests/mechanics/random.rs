//! Seeded random robots and states.

use std::fmt::Write as _;

use legwork_mechanics::{Base, Model, Options};

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

/// Text of a random tree with `joints` movable joints, some fixed ones between, oblique and
/// coordinate axes, sliding joints, links without mass inside the tree, and, for odd seeds, joints
/// and links in an order in which children may come before their parents.
pub(crate) fn random_urdf(seed: u64, joints: usize) -> String {
    let mut rng = Rng::new(seed);
    let mut links = vec![format!("<link name=\"l0\">{}</link>", inertial(&mut rng))];
    let mut parts = Vec::new();
    let mut has_child = vec![false];
    let mut parents = vec![0];
    let mut turns = vec![false];
    let total = joints + joints / 3;
    let mut movable = 0;
    while movable < joints {
        let i = links.len();
        // Chains are likelier than stars, as in robots.
        let parent = if rng.chance(0.6) { i - 1 } else { rng.below(i) };
        has_child[parent] = true;
        has_child.push(false);
        parents.push(parent);
        let fixed = i < total && rng.chance(0.2);
        let kind = if fixed {
            "fixed"
        } else {
            movable += 1;
            ["revolute", "continuous", "prismatic"][rng.below(3)]
        };
        turns.push(matches!(kind, "revolute" | "continuous"));
        let axis = match rng.below(5) {
            0 => "1 0 0".to_owned(),
            1 => "0 -1 0".to_owned(),
            2 => "0 0 2".to_owned(),
            3 => "0 0 -1".to_owned(),
            _ => triple(&mut rng, 1.0),
        };
        let rpy = if rng.chance(0.4) { "0 0 0".to_owned() } else { triple(&mut rng, 3.0) };
        parts.push(format!(
            "<joint name=\"j{i}\" type=\"{kind}\"><parent link=\"l{parent}\"/><child link=\"l{i}\"/>\
             <origin xyz=\"{}\" rpy=\"{rpy}\"/><axis xyz=\"{axis}\"/>\
             <limit lower=\"-1\" upper=\"1\" effort=\"10\" velocity=\"10\"/></joint>",
            triple(&mut rng, 0.4)
        ));
        links.push(String::new());
    }
    // A link inside the tree may have no mass. If a leaf, two in a row, or a link between two
    // parallel slides has none, some motion moves no mass and M is singular.
    let mut massless = vec![false; links.len()];
    for i in 1..links.len() {
        massless[i] = has_child[i] && turns[i] && !massless[parents[i]] && rng.chance(0.4);
        let body = if massless[i] { String::new() } else { inertial(&mut rng) };
        links[i] = format!("<link name=\"l{i}\">{body}</link>");
    }
    parts.extend(links);
    if seed % 2 == 1 {
        for i in (1..parts.len()).rev() {
            parts.swap(i, rng.below(i + 1));
        }
    }
    let mut text = String::from("<robot name=\"random\">\n");
    for part in parts {
        writeln!(text, "{part}").unwrap();
    }
    text.push_str("</robot>");
    text
}

/// Random robots of 1 to 40 joints on floating and fixed bases, half of them with rotors.
pub(crate) fn random_models() -> impl Iterator<Item = (u64, Model)> {
    (0..60_u64).map(|seed| {
        let joints = [1, 2, 3, 5, 8, 12, 18, 25, 32, 40][seed as usize % 10];
        let base = if seed % 3 == 2 { Base::Fixed } else { Base::Floating };
        let (model, _) = Model::from_urdf(&random_urdf(seed, joints), &Options::new(base)).unwrap();
        assert_eq!(model.joint_count(), joints, "seed {seed}");
        let rotors = vec![if seed % 4 < 2 { 0.0 } else { 0.01 }; joints];
        (seed, model.with_rotor_inertia(&rotors).unwrap())
    })
}

/// A random configuration (quaternion of unit length) and velocity.
pub(crate) fn random_state(model: &Model, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut rng = Rng::new(seed ^ 0xabcd);
    let mut q = rng.vector(model.configuration_dim(), 1.5);
    legwork_mechanics::normalize(model, &mut q);
    (q, rng.vector(model.velocity_dim(), 2.0))
}
