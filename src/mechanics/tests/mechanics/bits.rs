//! Results do not depend on the CPU: every bit of every quantity, folded into one number per robot.
//!
//! The numbers were recorded once. They hold in builds for any CPU and vector width, since sums
//! have a fixed order and nothing is fused. A change of an algorithm changes them: then run the
//! tests once in a portable build and once with `-C target-cpu=native`, and record the numbers that
//! both print.

use legwork_mechanics::{
    ArticulatedBody, Base, Derivatives, InverseDynamics, InverseMass, Kinematics, MassFactor,
    MassMatrix, MimicJoints, Model, Options, Representation, WeightedJacobian, articulated_body,
    bias_force, center_of_mass_jacobian, centroidal_momentum_matrix, contact_inverse_inertia,
    forward_dynamics_derivatives, frame_jacobian_in, inverse_dynamics, mass_matrix, normalize,
};

use crate::random::{Recipe, Rng, Shape, random_tree};
use crate::reference::urdf;

/// FNV-1a over the bits of the numbers.
struct Digest(u64);

impl Digest {
    fn add(&mut self, values: &[f64]) {
        for value in values {
            for byte in value.to_bits().to_le_bytes() {
                self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            }
        }
    }
}

fn digest(text: &str, base: Base) -> u64 {
    let options = Options { mimic: MimicJoints::Independent, ..Options::new(base) };
    let (model, _) = Model::from_urdf_text(text, &options).unwrap();
    let (nv, n) = (model.velocity_dim(), model.joint_dim());
    let last = model.frames().last().unwrap().name.clone();
    let frame = model.find_frame(&last).unwrap();
    let mut kinematics = Kinematics::new(&model);
    let (mut mass, mut factor) = (MassMatrix::new(&model), MassFactor::new(&model));
    let mut workspace = InverseDynamics::new(&model);
    let mut bodies = ArticulatedBody::new(&model);
    let mut inverse = InverseMass::new(&model);
    let mut delassus = WeightedJacobian::new(nv, 6);
    let mut derivatives = Derivatives::new(&model);
    let (mut vector, mut matrix) = (vec![0.0; nv], vec![0.0; nv * nv]);
    let (mut second, mut third) = (matrix.clone(), vec![0.0; nv * n]);
    let (mut jacobian, mut g) = (vec![0.0; 6 * nv], vec![0.0; 36]);
    let mut out = Digest(0xcbf2_9ce4_8422_2325);
    let mut rng = Rng::new(7);
    for _ in 0..16 {
        let mut q = rng.vector(model.configuration_dim(), 3.0);
        normalize(&model, &mut q);
        let (nu, rate, torques) = (rng.vector(nv, 2.0), rng.vector(nv, 5.0), rng.vector(n, 9.0));
        kinematics.update(&model, &q, &nu);
        mass_matrix(&model, &kinematics, &mut mass);
        mass.write_dense(&mut matrix);
        out.add(&matrix);
        factor.factorize(&mass).unwrap();
        factor.write_inverse(&mut inverse, &mut matrix);
        out.add(&matrix);
        bias_force(&model, &kinematics, &mut workspace, &mut vector);
        out.add(&vector);
        factor.solve_in_place(&mut vector);
        out.add(&vector);
        inverse_dynamics(&model, &kinematics, &rate, &mut workspace, &mut vector);
        out.add(&vector);
        articulated_body(&model, &kinematics, &torques, &rate, &mut bodies, &mut vector).unwrap();
        out.add(&vector);
        frame_jacobian_in(&model, &kinematics, frame, Representation::Body, &mut jacobian);
        out.add(&jacobian);
        contact_inverse_inertia(&factor, &jacobian, 6, &mut delassus, &mut g);
        out.add(&g);
        centroidal_momentum_matrix(&model, &kinematics, &mut jacobian);
        out.add(&jacobian);
        center_of_mass_jacobian(&model, &kinematics, &mut jacobian[..3 * nv]);
        out.add(&jacobian[..3 * nv]);
        let (by_q, by_v, by_tau) = (&mut matrix, &mut second, &mut third);
        let derivatives = &mut derivatives;
        forward_dynamics_derivatives(
            &model,
            &kinematics,
            &factor,
            &vector,
            derivatives,
            by_q,
            by_v,
            by_tau,
        );
        out.add(by_q);
        out.add(by_v);
        out.add(by_tau);
    }
    out.0
}

#[test]
fn every_bit_is_the_same_on_every_cpu() {
    let chain =
        Recipe { seed: 1, joints: 30, shape: Shape::Chain, many_freedoms: 0.0, mimics: 0.0 };
    let found = [
        digest(&urdf("mini_cheetah"), Base::Floating),
        digest(&urdf("icub"), Base::Floating),
        digest(&urdf("panda"), Base::Fixed),
        digest(&random_tree(&chain).text, Base::Fixed),
    ];
    let recorded = [
        0xa02e_e99c_e74d_5c80,
        0x4064_75bb_85cb_64d7,
        0xb861_84ed_b876_1b6d,
        0x683a_09b2_afd0_5aac,
    ];
    assert_eq!(found.map(|x| format!("{x:#x}")), recorded.map(|x: u64| format!("{x:#x}")));
}
