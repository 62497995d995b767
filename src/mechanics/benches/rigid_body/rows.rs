//! The rows: what is timed. A row that states no other goes from (q, ν) to its result.

use std::hint::black_box;

use legwork_mechanics::{
    articulated_body, bias_force, contact_inverse_inertia, forward_dynamics, frame_jacobian,
    frame_jacobian_dot_velocity, inverse_dynamics, mass_matrix,
};

use crate::robot::Robot;

/// One thing to time.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) run: fn(&mut Robot),
}

/// Rows of the robots. Those before `kinematics` have a counterpart of the same name in
/// `benches/peers`, the others are parts of them.
pub(crate) const ROBOT_ROWS: &[Row] = &[
    Row { name: "crba", about: "mass matrix", run: crba },
    Row { name: "nle", about: "Coriolis and gravity", run: nle },
    Row { name: "rnea", about: "inverse dynamics", run: rnea },
    Row {
        name: "aba",
        about: "forward dynamics by articulated bodies, from (q, ν, τ) to ν̇",
        run: aba,
    },
    Row { name: "foot_jacobians", about: "placements, 6 × nv of each foot", run: foot_jacobians },
    Row {
        name: "forward_dynamics_by_factor",
        about: "mass matrix, bias force, factor and solve, from (q, ν, τ) to ν̇",
        run: forward_dynamics_by_factor,
    },
    Row {
        name: "minverse",
        about: "dense inverse of the mass matrix, by its factor",
        run: minverse,
    },
    Row {
        name: "terms_of_controller",
        about: "dense mass matrix, bias force, Jacobian and J̇ν of each foot",
        run: terms_of_controller,
    },
    Row { name: "kinematics", about: "what all quantities share", run: Robot::update },
    Row { name: "factorize", about: "of a mass matrix at hand", run: factorize },
    Row { name: "solve", about: "one right-hand side, with a factor at hand", run: solve },
    Row {
        name: "delassus",
        about: "J M⁻¹ Jᵀ of a point on each foot, with Jacobian and factor at hand",
        run: delassus,
    },
];

/// Rows of the chains.
pub(crate) const CHAIN_ROWS: &[Row] = &[
    Row { name: "crba", about: "mass matrix", run: crba },
    Row { name: "rnea", about: "inverse dynamics", run: rnea },
    Row { name: "aba", about: "forward dynamics by articulated bodies", run: aba },
    Row { name: "crba_factorize", about: "mass matrix and its factor", run: crba_factorize },
];

fn crba(s: &mut Robot) {
    s.update_placements();
    s.kinematics.update_inertias(&s.model);
    mass_matrix(&s.model, &s.kinematics, &mut s.mass);
}

fn nle(s: &mut Robot) {
    s.update();
    bias_force(&s.model, &s.kinematics, &mut s.workspace, &mut s.force);
}

fn rnea(s: &mut Robot) {
    s.update();
    let Robot { model, kinematics, workspace, force, states, at, .. } = s;
    let acceleration = black_box(&states[*at].acceleration);
    inverse_dynamics(model, kinematics, acceleration, workspace, force);
}

fn aba(s: &mut Robot) {
    s.update();
    let Robot { model, kinematics, articulated, zeros, acceleration, states, at, .. } = s;
    let torques = black_box(&states[*at].torques);
    articulated_body(model, kinematics, torques, zeros, articulated, acceleration).unwrap();
}

fn foot_jacobians(s: &mut Robot) {
    s.update_placements();
    write_foot_jacobians(s);
}

fn forward_dynamics_by_factor(s: &mut Robot) {
    s.update();
    mass_matrix(&s.model, &s.kinematics, &mut s.mass);
    s.factor.factorize(&s.mass).unwrap();
    bias_force(&s.model, &s.kinematics, &mut s.workspace, &mut s.force);
    let torques = black_box(&s.states[s.at].torques);
    forward_dynamics(&s.model, &s.factor, &s.force, torques, &s.zeros, &mut s.acceleration);
}

fn minverse(s: &mut Robot) {
    crba_factorize(s);
    s.factor.write_inverse(&mut s.inverse, &mut s.dense);
}

fn terms_of_controller(s: &mut Robot) {
    s.update();
    mass_matrix(&s.model, &s.kinematics, &mut s.mass);
    s.mass.write_dense(&mut s.dense);
    bias_force(&s.model, &s.kinematics, &mut s.workspace, &mut s.force);
    write_foot_jacobians(s);
    for &foot in &s.feet {
        black_box(frame_jacobian_dot_velocity(&s.model, &s.kinematics, foot));
    }
}

fn write_foot_jacobians(s: &mut Robot) {
    for (&foot, jacobian) in s.feet.iter().zip(&mut s.foot_jacobians) {
        frame_jacobian(&s.model, &s.kinematics, foot, jacobian);
    }
}

fn crba_factorize(s: &mut Robot) {
    crba(s);
    s.factor.factorize(&s.mass).unwrap();
}

fn factorize(s: &mut Robot) {
    s.factor.factorize(black_box(&s.mass)).unwrap();
}

fn solve(s: &mut Robot) {
    s.acceleration.copy_from_slice(&s.states[s.at].acceleration);
    s.factor.solve_in_place(black_box(&mut s.acceleration));
}

fn delassus(s: &mut Robot) {
    let Robot { factor, contact_jacobian, delassus, contact_inverse_inertia: out, .. } = s;
    let row_count = 3 * s.feet.len();
    contact_inverse_inertia(factor, black_box(contact_jacobian), row_count, delassus, out);
}
