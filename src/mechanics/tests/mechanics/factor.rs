//! The factor of the mass matrix: how exact its answers are, and when it refuses.

use legwork_mechanics::nalgebra::{DMatrix, DVector, Vector3};
use legwork_mechanics::{
    Base, InverseMass, Kinematics, MassFactor, MassMatrix, Model, Options, PackedFactor,
    WeightedJacobian, add_transposed_product, contact_inverse_inertia, mass_matrix, pack_dense,
    point_jacobian_rows,
};

use crate::quantities::*;
use crate::random::{Rng, Sample, random_models, random_state};

/// ‖M x − b‖ ≤ 1e-14 n (‖M‖ ‖x‖ + ‖b‖): the solution is that of a problem as near as rounding.
#[test]
fn solves_are_backward_stable() {
    let mut backward = Law::new("backward error of a solve / nv", 1e-14);
    let mut halves = Law::new("halves make the whole / condition", 1e-14);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let mass = mass_at(model, &kinematics_at(model, &q, &nu));
        let m = dense(&mass);
        let nv = mass.dim();
        let mut factor = MassFactor::new(model);
        factor.factorize(&mass).unwrap();
        let b = Rng::new(*seed).vector(nv, 1.0);
        let mut x = b.clone();
        factor.solve_in_place(&mut x);
        let (b, solution) = (DVector::from_vec(b), DVector::from_vec(x.clone()));
        let residual = (&m * &solution - &b).amax();
        let size = infinity_norm(&m) * solution.amax() + b.amax();
        backward.check(*seed, residual / size / nv as f64);

        let condition = condition(&m);
        let mut half = b.as_slice().to_vec();
        factor.view().half_solve_in_place(&mut half);
        let energy = b.dot(&solution);
        halves.check(*seed, (norm(&half) * norm(&half) - energy).abs() / energy / condition);
        factor.view().half_solve_transposed_in_place(&mut half);
        halves.check(*seed, distance(&half, &x) / norm(&x) / condition);

        // By the packed factor, of the model and of the dense matrix alone.
        let (mut packed, mut reader) = (vec![0.0; nv * (nv + 1)], PackedFactor::new(nv));
        factor.pack_into(&mut packed);
        let mut again = b.as_slice().to_vec();
        reader.read(&packed).unwrap().solve_in_place(&mut again);
        halves.check(*seed, distance(&again, &x) / norm(&x) / condition);
        pack_dense(m.clone().as_mut_slice(), &mut packed).unwrap();
        again.copy_from_slice(b.as_slice());
        reader.read(&packed).unwrap().solve_in_place(&mut again);
        halves.check(*seed, distance(&again, &x) / norm(&x) / condition);

        // What the tree does not have is zero in every state.
        let (q, nu) = random_state(model, *seed + 1);
        let mut before = dense_mass_at(model, &kinematics_at(model, &q, &nu));
        mass.overwrite_dense(before.as_mut_slice());
        assert_eq!(before, m, "seed {seed}");
    }
}

/// Symmetric to the last bit, positive definite, and inverse to rounding times the condition
/// number of `M`.
#[test]
fn written_inverse_is_the_inverse() {
    let mut law = Law::new("M M^-1 = 1 / condition", 1e-14);
    let mut columns = Law::new("columns of M^-1 are solves / condition", 1e-14);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let m = dense_mass_at(model, &kinematics);
        let factor = factor_at(model, &kinematics);
        let nv = nu.len();
        let mut inverse = DMatrix::from_element(nv, nv, f64::NAN);
        let mut workspace = InverseMass::new(model);
        factor.write_inverse(&mut workspace, inverse.as_mut_slice());
        assert_eq!(inverse, inverse.transpose(), "seed {seed}");
        let first = inverse.clone();
        factor.write_inverse(&mut workspace, inverse.as_mut_slice());
        assert_eq!(inverse, first, "seed {seed}: the workspace was used before");
        let condition = condition(&m);
        let unit = DMatrix::identity(nv, nv);
        law.check(*seed, (&m * &inverse - &unit).norm() / condition / unit.norm());
        for k in 0..nv {
            let mut x = unit.column(k).into_owned();
            factor.solve_in_place(x.as_mut_slice());
            columns.check(*seed, (&x - inverse.column(k)).norm() / inverse.norm() / condition);
        }
    }
}

/// Against LU on the dense `M`, with contacts on all branches in random order.
#[test]
fn delassus_matrix_agrees_with_dense_elimination() {
    let mut law = Law::new("J M^-1 J' / condition", 1e-14);
    let mut transposed = Law::new("J'f", 1e-14);
    for Sample { seed, model, .. } in random_models() {
        let (q, nu) = random_state(model, *seed);
        let kinematics = kinematics_at(model, &q, &nu);
        let m = dense_mass_at(model, &kinematics);
        let nv = nu.len();
        let mut rng = Rng::new(*seed);
        let contacts = 1 + rng.below(5);
        let nc = 3 * contacts;
        let mut j = DMatrix::zeros(nc, nv);
        for c in 0..contacts {
            let name = model.frames()[rng.below(model.frames().len())].name.clone();
            let frame = model.find_frame(&name).unwrap();
            let offset = Vector3::from_vec(rng.vector(3, 0.1));
            let out = j.as_mut_slice();
            point_jacobian_rows(model, &kinematics, frame, &offset, 3 * c, nc, out);
        }
        let mut g = DMatrix::zeros(nc, nc);
        let mut workspace = WeightedJacobian::new(model.velocity_dim(), nc);
        let factor = factor_at(model, &kinematics);
        contact_inverse_inertia(&factor, j.as_slice(), nc, &mut workspace, g.as_mut_slice());
        assert_eq!(g, g.transpose(), "seed {seed}");
        let expected = &j * m.clone().lu().solve(&j.transpose()).unwrap();
        let size = expected.norm().max(f64::MIN_POSITIVE);
        law.check(*seed, (&g - &expected).norm() / size / condition(&m).max(10.0));

        let f = DVector::from_vec(rng.vector(nc, 1.0));
        let mut found = vec![0.0; nv];
        add_transposed_product(j.as_slice(), f.as_slice(), &mut found);
        transposed.check(*seed, relative(&found, (j.transpose() * f).as_slice()));
    }
}

const BODY: &str = r#"<inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>"#;

fn link(name: &str, inertial: &str) -> String {
    format!("<link name=\"{name}\">{inertial}</link>")
}

fn joint(name: &str, kind: &str, ends: (&str, &str), inner: &str) -> String {
    let (parent, child) = ends;
    format!(
        "<joint name=\"{name}\" type=\"{kind}\"><parent link=\"{parent}\"/>\
         <child link=\"{child}\"/><limit effort=\"1\" velocity=\"1\"/>{inner}</joint>"
    )
}

/// Both ways to accelerations must refuse, at many configurations, and name one of the joints.
fn assert_singular(text: &str, base: Base, names: &[&str]) {
    let (model, _) = Model::from_urdf_text(text, &Options::new(base)).unwrap();
    for seed in 0..50 {
        let (q, nu) = random_state(&model, seed);
        let kinematics = kinematics_at(&model, &q, &nu);
        let mut mass = MassMatrix::new(&model);
        mass_matrix(&model, &kinematics, &mut mass);
        let torques = vec![0.0; model.joint_dim()];
        let none = vec![0.0; nu.len()];
        for (how, error) in [
            ("factorize", MassFactor::new(&model).factorize(&mass).err()),
            ("articulated_body", articulated_at(&model, &kinematics, &torques, &none).err()),
        ] {
            let error = error.unwrap_or_else(|| panic!("{how}: no error, seed {seed}\n{text}"));
            let named = names.iter().any(|name| error.coordinate.starts_with(name));
            assert!(named, "{how}: {error}, expected one of {names:?}");
            assert!(error.to_string().contains(&error.coordinate));
        }
    }
}

#[test]
fn trees_that_move_no_mass_are_refused_by_name() {
    let robot = |parts: &[String]| format!("<robot name=\"r\">{}</robot>", parts.concat());
    for base in [Base::Floating, Base::Fixed] {
        for kind in ["revolute", "prismatic", "planar", "spherical", "floating"] {
            let axis = "<origin xyz=\"0.3 -0.2 0.1\" rpy=\"0.1 0.2 0.3\"/><axis xyz=\"1 2 3\"/>";
            let arm = joint("arm", "revolute", ("base", "upper"), axis);
            let leaf = joint("leaf", kind, ("upper", "tip"), axis);
            let tree = [link("base", BODY), link("upper", BODY), link("tip", ""), arm, leaf];
            assert_singular(&robot(&tree), base, &["leaf"]);
        }
        // Two parallel slides, and two hinges on one line, without mass between them.
        for kind in ["prismatic", "revolute"] {
            for axis in ["1 0 0", "0.3 -0.4 0.7"] {
                let axis = format!("<axis xyz=\"{axis}\"/>");
                let tilted = format!("<origin xyz=\"1 2 3\" rpy=\"0.4 0.5 0.6\"/>{axis}");
                let first = joint("first", kind, ("base", "middle"), &tilted);
                let second = joint("second", kind, ("middle", "tip"), &axis);
                let links = [link("base", BODY), link("middle", ""), link("tip", BODY)];
                let tree = [&links[..], &[first, second]].concat();
                assert_singular(&robot(&tree), base, &["first", "second"]);
            }
        }
        // A point has no rotational inertia.
        let point = "<inertial><mass value=\"1\"/>\
                     <inertia ixx=\"0\" ixy=\"0\" ixz=\"0\" iyy=\"0\" iyz=\"0\" izz=\"0\"/></inertial>";
        let ball = joint("ball", "spherical", ("base", "tip"), "<origin xyz=\"1 0 0\"/>");
        let tree = [link("base", BODY), link("tip", point), ball];
        assert_singular(&robot(&tree), base, &["ball"]);
    }
    assert_singular(&robot(&[link("base", "")]), Base::Floating, &["base"]);
}

/// A joint and its mirror image cancel: the link after them does not move, and the link between
/// them has no mass.
#[test]
fn mimic_joints_that_cancel_are_refused() {
    let origin = "<origin xyz=\"0.3 -0.2 0.1\" rpy=\"0.1 0.2 0.3\"/>";
    let axis = "<axis xyz=\"1 2 3\"/>";
    for kind in ["prismatic", "revolute"] {
        let first = joint("first", kind, ("base", "middle"), &format!("{origin}{axis}"));
        let back = format!("{axis}<mimic joint=\"first\" multiplier=\"-1\"/>");
        let second = joint("second", kind, ("middle", "tip"), &back);
        let text = [link("base", BODY), link("middle", ""), link("tip", BODY), first, second];
        let text = format!("<robot name=\"r\">{}</robot>", text.concat());
        assert_singular(&text, Base::Floating, &["first"]);
    }
}

/// Scale is not a fault: a robot of milligrams and one of megatonnes are as regular as others.
#[test]
fn light_and_heavy_robots_are_regular() {
    for mass in [1e-9, 1e-6, 1e6, 1e12] {
        let body = BODY.replace("\"1\"", &format!("\"{mass}\""));
        let hinge = joint("hinge", "revolute", ("base", "tip"), "<origin xyz=\"0 0 1\"/>");
        let text = [link("base", &body), link("tip", &body), hinge].concat();
        let text = format!("<robot name=\"r\">{text}</robot>");
        let (model, _) = Model::from_urdf_text(&text, &Options::new(Base::Floating)).unwrap();
        let kinematics = Kinematics::new(&model);
        let fall = articulated_at(&model, &kinematics, &[0.0], &[0.0; 7]).unwrap();
        assert!((fall[2] + 9.81).abs() < 1e-12, "{fall}");
        let fall = forward_at(&model, &kinematics, &[0.0], &[0.0; 7]);
        assert!((fall[2] + 9.81).abs() < 1e-12, "{fall}");
    }
}
