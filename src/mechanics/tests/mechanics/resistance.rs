//! Damping and dry friction of joints: where they come from, and how a step takes them.

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    ArticulatedBody, Base, Kinematics, MassFactor, MassMatrix, Model, Options, articulated_body,
    mass_matrix,
};

use crate::reference::urdf;
use crate::robot_file::{floating, three_links};

/// Damping and friction of a file are those of the model, with the share of joints that follow.
#[test]
fn damping_and_friction_are_those_of_the_file() {
    let dynamics = r#"<dynamics damping="0.5" friction="3"/>"#;
    let text = three_links("", "i", "").replace("</joint>", &format!("{dynamics}</joint>"));
    let (model, _) = floating(&text).unwrap();
    let resistance = model.resistance();
    assert!(resistance.acts());
    // m = 2: the follower turns twice as fast and has twice the lever.
    assert_eq!(resistance.viscous(), [0.5 + 4.0 * 0.5, 0.5]);
    assert_eq!(resistance.dry(), [3.0 + 2.0 * 3.0, 3.0]);
    let mut damping = [f64::NAN; 8];
    let nu = [9.0, 9.0, 9.0, 9.0, 9.0, 9.0, -2.0, 0.005];
    model.joint_damping(&nu, &mut damping);
    assert_eq!(damping[..6], [0.0; 6]);
    assert_eq!(damping[6..], [2.5 + 9.0 / 2.0, 0.5 + 3.0 / 0.01]);
    model.joint_damping_slope(&nu, &mut damping);
    assert_eq!(damping[6..], [2.5, 0.5 + 3.0 / 0.01]);
    assert!(!model.clone().without_resistance().resistance().acts());
    // A world has that of its robots.
    let world = Model::world(&[("a", &model.clone().without_resistance()), ("b", &model)]).unwrap();
    assert_eq!(world.resistance().viscous(), [0.0, 0.0, 2.5, 0.5]);
}

/// `(M + Δt d) ν̇ = f` by the factor and by articulated bodies, the sum being that of a matrix.
#[test]
fn added_inertia_is_on_the_diagonal_by_both_algorithms() {
    for base in [Base::Floating, Base::Fixed] {
        for robot in ["icub", "panda"] {
            let (model, _) = Model::from_urdf_text(&urdf(robot), &Options::new(base)).unwrap();
            let nv = model.velocity_dim();
            let mut kinematics = Kinematics::new(&model);
            kinematics.update(&model, &model.zero_configuration(), &vec![0.0; nv]);
            let mut added = vec![0.0; nv];
            for (i, &k) in model.joint_velocity_indices().iter().enumerate() {
                added[k] = 0.05 * (i % 7) as f64;
            }
            let mut mass = MassMatrix::new(&model);
            mass_matrix(&model, &kinematics, &mut mass);
            let mut factor = MassFactor::new(&model);
            factor.factorize_with(&mass, &added).unwrap();
            let force: Vec<f64> = (0..nv).map(|i| (i as f64).sin()).collect();
            let mut found = force.clone();
            factor.solve_in_place(&mut found);
            let mut dense = vec![0.0; nv * nv];
            mass.write_dense(&mut dense);
            for i in 0..nv {
                let own: f64 = (0..nv).map(|k| dense[k * nv + i] * found[k]).sum();
                assert!((own + added[i] * found[i] - force[i]).abs() < 1e-9, "{robot} {i}");
            }
            // Without gravity and at rest nothing else acts.
            let model = model.with_gravity(Vector3::zeros());
            let mut bodies = ArticulatedBody::new(&model);
            bodies.set_added_inertia(&model, &added);
            let mut other = vec![0.0; nv];
            let none = vec![0.0; model.joint_dim()];
            articulated_body(&model, &kinematics, &none, &force, &mut bodies, &mut other).unwrap();
            for (a, b) in found.iter().zip(&other) {
                assert!((a - b).abs() < 1e-8 * (1.0 + a.abs()), "{robot}: {a} {b}");
            }
        }
    }
}
