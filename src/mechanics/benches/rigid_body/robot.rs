//! Robots, serial chains and their random states.

use std::fmt::Write;
use std::hint::black_box;

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    ArticulatedBody, Base, FrameId, InverseDynamics, InverseMass, Kinematics, MassFactor,
    MassMatrix, Model, Options, WeightedJacobian, mass_matrix, normalize, point_jacobian_rows,
};

/// Robots and the links that carry their feet.
pub(crate) const ROBOTS: [(&str, &[&str]); 2] = [
    ("mini_cheetah", &["FL_foot", "FR_foot", "HL_foot", "HR_foot"]),
    ("icub", &["l_sole", "r_sole"]),
];

/// Joints of the chains.
pub(crate) const CHAIN_LENGTHS: [usize; 13] = [1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100];

/// States through which a row cycles.
const STATE_COUNT: usize = 128;

/// One random state and the inputs at it, all entries within ±1.
pub(crate) struct State {
    pub(crate) configuration: Vec<f64>,
    pub(crate) velocity: Vec<f64>,
    pub(crate) acceleration: Vec<f64>,
    pub(crate) torques: Vec<f64>,
}

/// A robot, its workspaces and outputs, and the states through which a row cycles.
pub(crate) struct Robot {
    pub(crate) model: Model,
    pub(crate) feet: Vec<FrameId>,
    pub(crate) states: Vec<State>,
    /// Index of the present state.
    pub(crate) at: usize,
    pub(crate) kinematics: Kinematics,
    pub(crate) workspace: InverseDynamics,
    pub(crate) mass: MassMatrix,
    pub(crate) factor: MassFactor,
    pub(crate) inverse: InverseMass,
    pub(crate) articulated: ArticulatedBody,
    /// `nv` zeros: no external force.
    pub(crate) zeros: Vec<f64>,
    /// `nv` values each.
    pub(crate) force: Vec<f64>,
    pub(crate) acceleration: Vec<f64>,
    /// `nv × nv`.
    pub(crate) dense: Vec<f64>,
    /// `6 × nv` of each foot.
    pub(crate) foot_jacobians: Vec<Vec<f64>>,
    /// Contact points at the feet's origins: `nc × nv`, with `nc` three times the feet.
    pub(crate) contact_jacobian: Vec<f64>,
    pub(crate) delassus: WeightedJacobian,
    /// `nc × nc`.
    pub(crate) contact_inverse_inertia: Vec<f64>,
}

impl Robot {
    /// One of [`ROBOTS`], on a floating base.
    pub(crate) fn named(name: &str) -> Self {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../diagrams/robots");
        let text = std::fs::read_to_string(format!("{root}/{name}/{name}.urdf")).unwrap();
        let (_, feet) = ROBOTS.iter().find(|(robot, _)| *robot == name).unwrap();
        Self::new(&text, Base::Floating, feet)
    }

    /// A serial chain of revolute joints on a fixed base.
    pub(crate) fn chain(joints: usize) -> Self {
        Self::new(&chain_urdf(joints), Base::Fixed, &[])
    }

    fn new(text: &str, base: Base, feet: &[&str]) -> Self {
        let (model, _) = Model::from_urdf_text(text, &Options::new(base)).unwrap();
        let feet: Vec<FrameId> = feet.iter().map(|name| model.find_frame(name).unwrap()).collect();
        let (nv, nc) = (model.velocity_dim(), 3 * feet.len());
        let mut random = Random::new();
        let states = (0..STATE_COUNT).map(|_| random.state(&model)).collect();
        let mut robot = Self {
            states,
            at: 0,
            kinematics: Kinematics::new(&model),
            workspace: InverseDynamics::new(&model),
            mass: MassMatrix::new(&model),
            factor: MassFactor::new(&model),
            inverse: InverseMass::new(&model),
            articulated: ArticulatedBody::new(&model),
            zeros: vec![0.0; nv],
            force: vec![0.0; nv],
            acceleration: vec![0.0; nv],
            dense: vec![0.0; nv * nv],
            foot_jacobians: vec![vec![0.0; 6 * nv]; feet.len()],
            contact_jacobian: vec![0.0; nc * nv],
            delassus: WeightedJacobian::new(model.velocity_dim(), nc),
            contact_inverse_inertia: vec![0.0; nc * nc],
            model,
            feet,
        };
        robot.prepare();
        robot
    }

    /// Fills what rows without kinematics of their own read.
    fn prepare(&mut self) {
        self.update();
        mass_matrix(&self.model, &self.kinematics, &mut self.mass);
        self.factor.factorize(&self.mass).unwrap();
        let (origin, nc) = (Vector3::zeros(), 3 * self.feet.len());
        let (model, kinematics) = (&self.model, &self.kinematics);
        for (i, &foot) in self.feet.iter().enumerate() {
            let out = &mut self.contact_jacobian;
            point_jacobian_rows(model, kinematics, foot, &origin, 3 * i, nc, out);
        }
    }

    /// All kinematics at the next state.
    pub(crate) fn update(&mut self) {
        self.at = (self.at + 1) % STATE_COUNT;
        let State { configuration, velocity, .. } = &self.states[self.at];
        self.kinematics.update(&self.model, black_box(configuration), black_box(velocity));
    }

    /// Placements and joint axes alone at the next state.
    pub(crate) fn update_placements(&mut self) {
        self.at = (self.at + 1) % STATE_COUNT;
        let configuration = &self.states[self.at].configuration;
        self.kinematics.update_placements(&self.model, black_box(configuration));
    }
}

/// Linear congruential generator (Knuth, MMIX): the same states on every machine.
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(1)
    }

    /// Uniform in [−1, 1).
    fn number(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, length: usize) -> Vec<f64> {
        (0..length).map(|_| self.number()).collect()
    }

    fn state(&mut self, model: &Model) -> State {
        let mut configuration = self.vector(model.configuration_dim());
        normalize(model, &mut configuration);
        State {
            configuration,
            velocity: self.vector(model.velocity_dim()),
            acceleration: self.vector(model.velocity_dim()),
            torques: self.vector(model.joint_dim()),
        }
    }
}

/// A chain of links of about 1 kg and 0.1 m, each turned against the one before, on joints about
/// x, y or z in random order.
/// The robot file of such a chain.
pub(crate) fn chain_urdf(joints: usize) -> String {
    let mut random = Random::new();
    let mut text = String::from("<robot name=\"chain\">\n<link name=\"l0\"/>\n");
    for i in 1..=joints {
        let axis = ["1 0 0", "0 1 0", "0 0 1"][((random.number() + 1.0) * 1.5) as usize % 3];
        let [x, y, z, roll, pitch, yaw, mass] = std::array::from_fn(|_| random.number());
        write!(
            text,
            "<link name=\"l{i}\"><inertial>\n\
             <origin xyz=\"{} {} 0.05\"/><mass value=\"{}\"/>\n\
             <inertia ixx=\"0.003\" iyy=\"0.004\" izz=\"0.002\" ixy=\"1e-4\" ixz=\"2e-4\" iyz=\"-1e-4\"/>\n\
             </inertial></link>\n\
             <joint name=\"j{i}\" type=\"revolute\">\n\
             <parent link=\"l{}\"/><child link=\"l{i}\"/><axis xyz=\"{axis}\"/>\n\
             <origin xyz=\"{} {} 0.1\" rpy=\"{roll} {pitch} {yaw}\"/>\
             <limit lower=\"-9\" upper=\"9\" effort=\"9\" velocity=\"9\"/></joint>\n",
            0.01 * x,
            0.01 * y,
            1.0 + 0.2 * mass,
            i - 1,
            0.02 * y,
            0.02 * z,
        )
        .unwrap();
    }
    text.push_str("</robot>");
    text
}
