//! The body that a shape and a mass make.

use legwork_block::Resource;
use legwork_mechanics::{Kinematics, MassMatrix, Shape, mass_matrix};
use serde_json::json;

use super::FreeBody;
use crate::testing::robots::{close, load_as};

/// Diagonal of M of a body at rest, level at the origin.
fn diagonal(parameters: serde_json::Value) -> [f64; 6] {
    let (body, warnings) = load_as::<FreeBody>("box", parameters, &[]).expect("a body");
    assert!(warnings.is_empty(), "{warnings:?}");
    let mut kinematics = Kinematics::new(&body.model);
    kinematics.update(&body.model, &body.model.zero_configuration(), &[0.0; 6]);
    let mut mass = MassMatrix::new(&body.model);
    mass_matrix(&body.model, &kinematics, &mut mass);
    let mut dense = vec![0.0; 36];
    mass.write_dense(&mut dense);
    for i in 0..6 {
        for j in (0..6).filter(|j| *j != i) {
            assert_eq!(dense[6 * i + j], 0.0, "({i}, {j})");
        }
    }
    [0, 7, 14, 21, 28, 35].map(|at| dense[at])
}

#[test]
fn inertia_is_that_of_uniform_density() {
    let brick = json!({ "mass": "12 kg", "shape": { "Box": { "size": [1, "20 cm", 3] } } });
    close(&diagonal(brick), &[12.0, 12.0, 12.0, 9.04, 10.0, 1.04], 1e-14);
    let ball = json!({ "mass": 5, "shape": { "Sphere": { "radius": 0.5 } } });
    close(&diagonal(ball), &[5.0, 5.0, 5.0, 0.5, 0.5, 0.5], 1e-15);
    let can = json!({ "mass": 12, "shape": { "Cylinder": { "radius": 2, "length": 4 } } });
    close(&diagonal(can), &[12.0, 12.0, 12.0, 28.0, 28.0, 24.0], 1e-14);
}

/// Numbers that no decimal of few digits says come through as they are.
#[test]
fn numbers_lose_no_bit() {
    let (third, moments) = (1.0 / 3.0, [0.1 + 0.2, 1e-7 / 3.0 + 0.3, std::f64::consts::FRAC_1_PI]);
    let body = json!({
        "mass": third,
        "shape": { "Box": { "size": [third, 1e-9 * third, 1e9 * third] } },
        "inertia": moments,
    });
    let [x, y, z] = moments;
    assert_eq!(diagonal(body.clone()), [third, third, third, x, y, z]);
    let (body, _) = load_as::<FreeBody>("box", body, &[]).expect("a body");
    let size = nalgebra::Vector3::new(third, 1e-9 * third, 1e9 * third);
    assert_eq!(body.model.collisions()[0].shape, Shape::Box { size });
}

#[test]
fn a_body_is_a_robot_of_one_link() {
    let parameters = json!({
        "mass": "0.782 kg", "shape": { "Sphere": { "radius": "3 cm" } }, "gravity": [0, 0, -1.62],
    });
    let (ball, _) = load_as::<FreeBody>("ball", parameters, &[]).expect("a body");
    assert_eq!(ball.name, "ball");
    assert_eq!(ball.names(), ["body"]);
    let dims = ["n", "ns", "nv", "nq"].map(|name| ball.dimension(name));
    assert_eq!(dims, [Some(0), Some(0), Some(6), Some(7)]);
    assert_eq!(ball.model.gravity().as_slice(), [0.0, 0.0, -1.62]);
    assert_eq!(ball.model.total_mass(), 0.782);
}

#[test]
fn moments_that_no_body_has_are_refused() {
    let flat = json!({
        "mass": 1, "shape": { "Sphere": { "radius": 1 } }, "inertia": [1, 1, 3],
    });
    let invalid = load_as::<FreeBody>("box", flat, &[]).expect_err("an error");
    assert_eq!(invalid.parameter.as_deref(), Some("inertia"));
    assert_eq!(
        invalid.message,
        "expected moments of a rigid body, none greater than the sum of the others, found 1, 1, 3 \
         kg m²"
    );
}
