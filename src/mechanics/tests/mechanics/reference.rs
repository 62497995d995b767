//! Every quantity against files of reference values (Pinocchio 4.1, cross-checked with iDynTree).

use legwork_mechanics::nalgebra::Vector3;
use legwork_mechanics::{
    ArticulatedBody, Base, Inertia, InverseDynamics, Kinematics, MassFactor, MassMatrix,
    MimicJoints, MixedWrench, Model, Options, add_frame_wrench, articulated_body, bias_force,
    center_of_mass, center_of_mass_jacobian, center_of_mass_velocity, centroidal_momentum,
    centroidal_momentum_matrix, coriolis_force, forward_dynamics, frame_jacobian,
    frame_jacobian_dot_velocity, frame_velocity, gravity_force, inverse_dynamics, kinetic_energy,
    mass_matrix, potential_energy, product, world_from_frame,
};
use serde_json::Value;

use crate::quantities::{Law, six};

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

pub(crate) fn urdf(robot: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/diagrams/robots/{robot}/{robot}.urdf")).unwrap()
}

/// All numbers of a value, rows of matrices one after the other.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

fn vector3(value: &Value) -> Vector3<f64> {
    Vector3::from_vec(numbers(value))
}

/// Compares with the reference within 1e-11 (1 + |value|).
struct Check {
    state: usize,
    law: Law,
}

impl Check {
    fn values(&mut self, what: &str, found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{what}: length");
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            let error = (found - expected).abs() / (1.0 + expected.abs());
            self.law.check_part(self.state as u64, &format!("{what}[{i}]"), error);
        }
    }
}

/// Rows of a column-major matrix.
fn rows(matrix: &[f64], row_count: usize) -> Vec<f64> {
    let columns = matrix.len() / row_count;
    (0..row_count).flat_map(|r| (0..columns).map(move |c| matrix[c * row_count + r])).collect()
}

/// Maps the reference's joint order to the model's: `order[k]` is the place in the reference of
/// the model's velocity coordinate k.
fn joint_order(model: &Model, reference: &Value) -> Vec<usize> {
    let names: Vec<&str> =
        reference["joint_names"].as_array().unwrap().iter().map(|n| n.as_str().unwrap()).collect();
    assert_eq!(names.len(), model.joint_dim());
    let base = model.trees()[0].base_dim();
    let joints = model
        .joints()
        .iter()
        .map(|joint| base + names.iter().position(|name| *name == joint.name).unwrap());
    (0..base).chain(joints).collect()
}

fn permuted(values: &[f64], order: &[usize]) -> Vec<f64> {
    order.iter().map(|&k| values[k]).collect()
}

/// Columns in the model's order of a matrix given by rows.
fn permuted_columns(values: &[f64], order: &[usize]) -> Vec<f64> {
    values.chunks_exact(order.len()).flat_map(|row| permuted(row, order)).collect()
}

fn check_robot(robot: &'static str) {
    let text = std::fs::read_to_string(format!("{ROOT}/tests/data/reference/{robot}.json"));
    let reference: Value = serde_json::from_str(&text.unwrap()).unwrap();
    let base = if reference["base"] == "floating" { Base::Floating } else { Base::Fixed };
    let options = Options { mimic: MimicJoints::Independent, ..Options::new(base) };
    let (model, _) = Model::from_urdf_text(&urdf(robot), &options).unwrap();
    assert_eq!(model.frames()[model.root_frame().index()].name, reference["base_link"]);
    let order = joint_order(&model, &reference);
    let mut check = Check { state: 0, law: Law::new(robot, 1e-11) };
    check.values("mass", &[model.total_mass()], &numbers(&reference["total_mass"]));
    for (i, state) in reference["states"].as_array().unwrap().iter().enumerate() {
        check.state = i;
        check_state(&model, state, &order, &mut check);
    }
}

fn check_state(model: &Model, state: &Value, order: &[usize], check: &mut Check) {
    let (nv, base) = (model.velocity_dim(), model.trees()[0].base_dim());
    let joint_order: Vec<usize> = order[base..].iter().map(|k| k - base).collect();
    let coordinates = |name: &str| permuted(&numbers(&state[name]), order);
    let mut q = Vec::new();
    if model.trees()[0].is_floating() {
        q.extend(numbers(&state["base_position"]));
        q.extend(numbers(&state["base_quaternion_wxyz"]));
    }
    q.extend(permuted(&numbers(&state["s"]), &joint_order));
    let nu = coordinates("nu");
    let mut kinematics = Kinematics::new(model);
    kinematics.update(model, &q, &nu);

    check_frames(model, &kinematics, state, order, check);
    check_momentum(model, &kinematics, state, order, check);

    let mut workspace = InverseDynamics::new(model);
    let mut mass = MassMatrix::new(model);
    mass_matrix(model, &kinematics, &mut mass);
    let mut dense = vec![0.0; nv * nv];
    mass.write_dense(&mut dense);
    let m = permuted_columns(&numbers(&state["M"]), order);
    let m: Vec<f64> = order.iter().flat_map(|&k| m[k * nv..(k + 1) * nv].to_vec()).collect();
    check.values("M", &dense, &m);

    let (mut h, mut g, mut tau) = (vec![0.0; nv], vec![0.0; nv], vec![0.0; nv]);
    bias_force(model, &kinematics, &mut workspace, &mut h);
    check.values("h", &h, &coordinates("h"));
    gravity_force(model, &kinematics, &mut g);
    check.values("gravity_force", &g, &coordinates("gravity_force"));
    let mut coriolis = vec![0.0; nv];
    coriolis_force(model, &kinematics, &mut workspace, &mut coriolis);
    check.values("coriolis_force", &coriolis, &coordinates("coriolis_force"));
    inverse_dynamics(model, &kinematics, &coordinates("nu_dot"), &mut workspace, &mut tau);
    check.values("rnea_free", &tau, &coordinates("rnea_free"));

    let mut external = vec![0.0; nv];
    for (name, wrench) in state["wrenches"].as_object().unwrap() {
        let w = numbers(wrench);
        let wrench = MixedWrench {
            force: Vector3::new(w[0], w[1], w[2]),
            moment: Vector3::new(w[3], w[4], w[5]),
        };
        let frame = model.find_frame(name).unwrap();
        add_frame_wrench(model, &kinematics, frame, &wrench, &mut external);
    }
    let rnea: Vec<f64> = tau.iter().zip(&external).map(|(tau, f)| tau - f).collect();
    check.values("rnea", &rnea, &coordinates("rnea"));

    let mut factor = MassFactor::new(model);
    factor.factorize(&mass).unwrap();
    let torques = permuted(&numbers(&state["tau_joint"]), &joint_order);
    let mut nu_dot = vec![0.0; nv];
    let mut bodies = ArticulatedBody::new(model);
    for (name, external) in [("fd_nu_dot", external), ("fd_nu_dot_free", vec![0.0; nv])] {
        let expected = coordinates(name);
        forward_dynamics(model, &factor, &h, &torques, &external, &mut nu_dot);
        check.values(&format!("{name} by the factor"), &nu_dot, &expected);
        nu_dot.fill(f64::NAN);
        articulated_body(model, &kinematics, &torques, &external, &mut bodies, &mut nu_dot)
            .unwrap();
        check.values(&format!("{name} by articulated bodies"), &nu_dot, &expected);
    }
}

fn check_frames(
    model: &Model,
    kinematics: &Kinematics,
    state: &Value,
    order: &[usize],
    check: &mut Check,
) {
    if model.trees()[0].is_floating() {
        let base = world_from_frame(model, kinematics, model.root_frame());
        let rotation = base.rotation.transpose();
        check.values("base_rotation", rotation.as_slice(), &numbers(&state["base_rotation"]));
    }
    for (name, expected) in state["frames"].as_object().unwrap() {
        let frame = model.find_frame(name).unwrap();
        let placement = world_from_frame(model, kinematics, frame);
        check.values(
            &format!("{name} position"),
            placement.translation.as_slice(),
            &numbers(&expected["position"]),
        );
        check.values(
            &format!("{name} rotation"),
            placement.rotation.transpose().as_slice(),
            &numbers(&expected["rotation"]),
        );
        let mut jacobian = vec![f64::NAN; 6 * model.velocity_dim()];
        frame_jacobian(model, kinematics, frame, &mut jacobian);
        let columns = permuted_columns(&numbers(&expected["jacobian"]), order);
        check.values(&format!("{name} jacobian"), &rows(&jacobian, 6), &columns);
        check.values(
            &format!("{name} velocity"),
            six(&frame_velocity(model, kinematics, frame)).as_slice(),
            &numbers(&expected["velocity"]),
        );
        check.values(
            &format!("{name} jdot_nu"),
            six(&frame_jacobian_dot_velocity(model, kinematics, frame)).as_slice(),
            &numbers(&expected["jdot_nu"]),
        );
    }
}

fn check_momentum(
    model: &Model,
    kinematics: &Kinematics,
    state: &Value,
    order: &[usize],
    check: &mut Check,
) {
    let com = center_of_mass(model, kinematics);
    check.values("com", com.as_slice(), vector3(&state["com"]).as_slice());
    let velocity = center_of_mass_velocity(model, kinematics);
    check.values("com_velocity", velocity.as_slice(), &numbers(&state["com_velocity"]));
    let mut jacobian = vec![f64::NAN; 3 * model.velocity_dim()];
    center_of_mass_jacobian(model, kinematics, &mut jacobian);
    let expected = permuted_columns(&numbers(&state["com_jacobian"]), order);
    check.values("com_jacobian", &rows(&jacobian, 3), &expected);
    let momentum = centroidal_momentum(model, kinematics);
    let (p, l) = (momentum.force, momentum.moment);
    let found = [p.x, p.y, p.z, l.x, l.y, l.z];
    let expected = numbers(&state["centroidal_momentum"]);
    check.values("centroidal_momentum", &found, &expected);
    let mut matrix = vec![f64::NAN; 6 * model.velocity_dim()];
    centroidal_momentum_matrix(model, kinematics, &mut matrix);
    let mut found = [0.0; 6];
    product(&matrix, &permuted(&numbers(&state["nu"]), order), &mut found);
    check.values("centroidal_momentum_matrix nu", &found, &expected);
    let kinetic = kinetic_energy(model, kinematics);
    check.values("kinetic_energy", &[kinetic], &numbers(&state["kinetic_energy"]));
    let potential = potential_energy(model, kinematics);
    check.values("potential_energy", &[potential], &numbers(&state["potential_energy"]));
}

#[test]
fn mini_cheetah_agrees_with_the_reference() {
    check_robot("mini_cheetah");
}

#[test]
fn solo12_agrees_with_the_reference() {
    check_robot("solo12");
}

#[test]
fn anymal_c_agrees_with_the_reference() {
    check_robot("anymal_c");
}

#[test]
fn panda_agrees_with_the_reference() {
    check_robot("panda");
}

#[test]
fn icub_agrees_with_the_reference() {
    check_robot("icub");
}

/// Two welded balls: mass, centre and inertia by the textbook.
#[test]
fn merging_inertias_is_the_parallel_axis_theorem() {
    use legwork_mechanics::nalgebra::Matrix3;
    let ball = |x: f64| Inertia::new(2.0, Vector3::new(x, 0.0, 0.0), &(Matrix3::identity() * 0.1));
    let both = ball(-1.0).merged(&ball(3.0));
    assert_eq!(both.mass(), 4.0);
    assert_eq!(both.center_of_mass(), Vector3::new(1.0, 0.0, 0.0));
    let expected = Matrix3::from_diagonal(&Vector3::new(0.2, 0.2 + 16.0, 0.2 + 16.0));
    assert!((both.about_center_of_mass() - expected).amax() < 1e-14);
}
