//! Masses times factors: what they change, and what is refused.

use legwork_mechanics::nalgebra::{DMatrix, Matrix3, Vector3};
use legwork_mechanics::{Base, Model, ModelError, Options};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_state, small_models};

/// `M` grows by what the added matter of each link adds by itself, from the Jacobian of its frame.
#[test]
fn denser_links_add_their_own_inertia() {
    let mut law = Law::new("M(s) = M + sum (s - 1) (m Jc' Jc + Jw' I Jw)", 1e-13);
    for Sample { seed, model, .. } in small_models(20) {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let mut expected = dense_mass_at(model, &kinematics);
        let mut rng = Rng::new(seed + 11);
        let factors: Vec<f64> = (0..model.frames().len())
            .map(|_| if rng.chance(0.5) { 1.0 } else { rng.in_range(0.3, 3.0) })
            .collect();
        let mut mass = 0.0;
        for ((frame, link), factor) in frame_ids(model).zip(model.links()).zip(&factors) {
            let jacobian = frame_jacobian_at(model, &kinematics, frame);
            let rotation = legwork_mechanics::world_from_frame(model, &kinematics, frame).rotation;
            let arm: Vector3<f64> = rotation * link.inertia.center_of_mass();
            let cross: Matrix3<f64> = arm.cross_matrix();
            let turning = jacobian.rows(3, 3).into_owned();
            let going = jacobian.rows(0, 3)
                - DMatrix::from_iterator(3, 3, cross.iter().copied()) * &turning;
            let about: Matrix3<f64> =
                rotation * link.inertia.about_center_of_mass() * rotation.transpose();
            let about = DMatrix::from_iterator(3, 3, about.iter().copied());
            let added = going.transpose() * &going * link.inertia.mass()
                + turning.transpose() * about * &turning;
            expected += added * (factor - 1.0);
            mass += factor * link.inertia.mass();
        }
        let scaled = model.clone().with_mass_scale(&factors).unwrap();
        let found = dense_mass_at(&scaled, &kinematics_at(&scaled, &q, &nu));
        law.check(*seed, (found - &expected).norm() / expected.norm());
        if model.trees()[0].is_floating() {
            law.check(*seed, (scaled.total_mass() - mass).abs() / mass);
        }
        // Links of a model that was scaled say what they weigh.
        let back: Vec<f64> = factors.iter().map(|factor| 1.0 / factor).collect();
        let back = scaled.with_mass_scale(&back).unwrap();
        let (found, before) =
            (dense_mass_at(&back, &kinematics), dense_mass_at(model, &kinematics));
        law.check(*seed, (found - &before).norm() / before.norm());
    }
}

/// Factors of 1 change no bit.
#[test]
fn factors_of_one_change_nothing() {
    for Sample { seed, model, .. } in small_models(20) {
        let (q, nu) = random_state(model, *seed);
        let same = model.clone().with_mass_scale(&vec![1.0; model.frames().len()]).unwrap();
        let found = dense_mass_at(&same, &kinematics_at(&same, &q, &nu));
        assert_eq!(found, dense_mass_at(model, &kinematics_at(model, &q, &nu)), "seed {seed}");
    }
}

#[test]
fn factors_that_are_no_masses_are_refused() {
    let text = r#"<robot name="r"><link name="a"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link></robot>"#;
    let (model, _) = Model::from_urdf_text(text, &Options::new(Base::Floating)).unwrap();
    for factors in [&[][..], &[1.0, 1.0], &[0.0], &[-1.0], &[f64::NAN], &[f64::INFINITY]] {
        let refused = model.clone().with_mass_scale(factors).unwrap_err();
        assert!(matches!(refused, ModelError::MassScale { .. }), "{factors:?}");
    }
}
