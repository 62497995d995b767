//! Rotor inertia: what it adds to `M`, and what is refused.

use legwork_mechanics::nalgebra::DMatrix;
use legwork_mechanics::{Base, Model, ModelError, Options, rotor_kinetic_energy};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_state, small_models};

/// `M` with rotors is `M` without, and `Tᵀ diag(I) T` at the joints.
#[test]
fn rotors_add_their_reflected_inertia() {
    let mut law = Law::new("M = M_links + S T' I T S'", 1e-14);
    let mut energy = Law::new("energy of rotors = sum I theta_dot^2 / 2", 1e-13);
    for Sample { seed, model, .. } in small_models(20) {
        let n = model.joint_dim();
        let without = model.clone().with_rotor_inertia(&vec![0.0; n]).unwrap();
        let (q, nu) = random_state(model, *seed);
        let links = dense_mass_at(&without, &kinematics_at(&without, &q, &nu));
        let mut rng = Rng::new(seed + 3);
        let t = DMatrix::from_vec(n, n, rng.vector(n * n, 1.0));
        let inertia: Vec<f64> = (0..n).map(|_| rng.in_range(0.0, 0.1)).collect();
        let mut reflected = DMatrix::zeros(n, n);
        for (i, inertia) in inertia.iter().enumerate() {
            reflected += t.row(i).transpose() * t.row(i) * *inertia;
        }
        let with = without.with_rotor_inertia_matrix(reflected.as_slice()).unwrap();
        let found = dense_mass_at(&with, &kinematics_at(&with, &q, &nu));
        let mut expected = links;
        let indices = model.joint_velocity_indices();
        for (i, &a) in indices.iter().enumerate() {
            for (j, &b) in indices.iter().enumerate() {
                expected[(a, b)] += reflected[(i, j)];
            }
        }
        law.check(*seed, (found - &expected).norm() / expected.norm());
        let speeds = joint_rows(model, &nu);
        let turning = (0..n).map(|i| {
            let theta: f64 = t.row(i).iter().zip(&speeds).map(|(t, s)| t * s).sum();
            0.5 * inertia[i] * theta * theta
        });
        let expected: f64 = turning.sum();
        energy.check(*seed, (rotor_kinetic_energy(&with, &nu) - expected).abs() / (1.0 + expected));
    }
}

const BODY: &str = r#"<inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"#;

fn two_hinges() -> Model {
    let link = |name: &str| format!("<link name=\"{name}\">{BODY}</link>");
    let joint = |name: &str, child: &str| {
        format!(
            "<joint name=\"{name}\" type=\"continuous\"><parent link=\"a\"/>\
             <child link=\"{child}\"/></joint>"
        )
    };
    let parts = [link("a"), link("b"), link("c"), joint("left", "b"), joint("right", "c")];
    let text = format!("<robot name=\"r\">{}</robot>", parts.concat());
    Model::from_urdf_text(&text, &Options::new(Base::Fixed)).unwrap().0
}

/// Joints that are not named keep their rotors, and what couples them to others.
#[test]
fn named_rotors_leave_the_others_alone() {
    let model = two_hinges().with_rotor_inertia_matrix(&[1.0, 0.5, 0.5, 2.0]).unwrap();
    assert!(model.is_coupled());
    let same = model.clone().with_named_rotor_inertia(&[]).unwrap();
    assert_eq!(same.rotors(), model.rotors());
    let other = model.with_named_rotor_inertia(&[("left".to_owned(), 3.0)]).unwrap();
    assert_eq!(other.rotors().matrix(), Some(&[3.0, 0.5, 0.5, 2.0][..]));
}

#[test]
fn matrices_that_are_no_inertia_are_refused() {
    let cases: [(&[f64], &str); 5] = [
        (&[1.0], "expected 2 x 2 numbers, found 1"),
        (&[1.0, 0.0, 0.0, f64::NAN], "finite"),
        (&[1.0, 0.1, 0.2, 1.0], "symmetric"),
        (&[1.0, 2.0, 2.0, 1.0], "negative eigenvalue"),
        (&[-1.0, 0.0, 0.0, 1.0], "negative eigenvalue"),
    ];
    for (matrix, words) in cases {
        let error = two_hinges().with_rotor_inertia_matrix(matrix).unwrap_err();
        assert!(matches!(error, ModelError::RotorInertiaMatrix { .. }));
        assert!(error.to_string().contains(words), "{error}");
    }
    // One motor that drives both: semidefinite, and enough.
    assert!(two_hinges().with_rotor_inertia_matrix(&[1.0, 1.0, 1.0, 1.0]).is_ok());
    // A diagonal couples nothing.
    let model = two_hinges().with_rotor_inertia_matrix(&[1.0, 0.0, 0.0, 2.0]).unwrap();
    assert!(!model.is_coupled() && model.rotors().matrix().is_none());
    assert_eq!(model.rotors().diagonal(), [1.0, 2.0]);
}

/// A robot without joints has no rotors: a matrix of no entries is right.
#[test]
fn a_body_without_joints_takes_the_empty_matrix() {
    let text = format!("<robot name=\"r\"><link name=\"a\">{BODY}</link></robot>");
    let (model, _) = Model::from_urdf_text(&text, &Options::new(Base::Floating)).unwrap();
    let model = model.with_rotor_inertia_matrix(&[]).unwrap();
    assert_eq!(model.rotors().diagonal(), [0.0; 0]);
}
