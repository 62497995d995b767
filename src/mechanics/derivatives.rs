//! Analytic derivatives of inverse and forward dynamics.
//!
//! Derivatives with respect to `q` are along the manifold: column k is the change under
//! `q ⊕ ε e_k` (see `integrate`), with `ν` and `ν̇` held fixed number by number.
//!
//! With everything about `O` in world axes, composite inertia `I`, composite force `f`, and the
//! bilinear terms of velocity in `B`, for coordinate j moved by body j and i at or beyond it:
//!
//! ```text
//! Ψ̇_j = v_j × S_j          Ψ̈_j = a_j × S_j + v_j × Ψ̇_j          Φ_j = v_λ(j) × S_j + v_j × S_j
//! ∂τ_i/∂q_j = S_iᵀ (2 B_i Ψ̇_j + I_i Ψ̈_j)                      j turns S_i
//! ∂τ_j/∂q_i = S_jᵀ (2 B_i Ψ̇_i + I_i Ψ̈_i + S_i ×* f_i)          i does not turn S_j
//! ∂τ_i/∂ν_j = S_iᵀ (2 B_i S_j + I_i Φ_j)          ∂τ_j/∂ν_i = S_jᵀ (2 B_i S_i + I_i Φ_i)
//! ```
//!
//! `v_j, a_j` are those of the last body of the joint, `v_λ(j)` of the body that carries it; all
//! accelerations include `−g`. A rigid body of mass m, centre c, velocity `v_c` of the centre and
//! rotational inertia `I_c` has `B (v', ω') = (ω' × m v_c, D ω')` with
//! `D = −m [c]×[v_c]× + ½ ([ω]× I_c − I_c [ω]× − [I_c ω]×)`: the composite `B` is the linear
//! momentum of the subtree and a 3 × 3 matrix.
//!
//! Reference: S. Singh, R. P. Russell, P. M. Wensing, *Efficient analytical derivatives of
//! rigid-body dynamics using spatial vector algebra* (2022), whose body-fixed joints these are; the
//! forms here hold for axes that are fixed to the carrier too (ball joints, floating bases).

use legwork_linalg::axpy;
use nalgebra::{Matrix3, Vector3};

use crate::frame::attach;
use crate::inverse_dynamics::{SpatialForce, body_force, root_acceleration};
use crate::inverse_mass::InverseMass;
use crate::kinematics::{BodyState, Kinematics, Motion};
use crate::mass_factor::MassFactor;
use crate::mass_matrix::momentum;
use crate::model::{FrameId, Model};
use crate::placement::MixedWrench;

/// Scratch memory of the derivatives.
#[derive(Clone, Debug)]
pub struct Derivatives {
    bodies: Vec<Share>,
    /// By body; roots have none.
    columns: Vec<Column>,
    inverse: InverseMass,
    full_inverse: Vec<f64>,
    product: Vec<f64>,
}

/// Share of one body, then of its subtree.
#[derive(Clone, Copy, Debug)]
struct Share {
    /// Spatial acceleration, gravity included.
    acceleration: Motion,
    force: SpatialForce,
    /// Linear momentum, as the Galilean observer of the tree sees it.
    momentum: Vector3<f64>,
    /// `D`.
    spin: Matrix3<f64>,
}

/// One velocity coordinate's axis and its rates.
#[derive(Clone, Copy, Debug)]
struct Column {
    axis: Motion,
    /// `Ψ̇`
    rate: Motion,
    /// `Ψ̈`
    second: Motion,
    /// `Φ`
    both: Motion,
}

impl Derivatives {
    /// Memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let nv = model.velocity_dim();
        let share = Share {
            acceleration: Motion::zero(),
            force: SpatialForce { force: Vector3::zeros(), moment: Vector3::zeros() },
            momentum: Vector3::zeros(),
            spin: Matrix3::zeros(),
        };
        Self {
            bodies: vec![share; model.bodies.len()],
            columns: vec![
                column(&Motion::zero(), &Motion::zero(), &Motion::zero(), Motion::zero());
                model.bodies.len()
            ],
            inverse: InverseMass::new(model),
            full_inverse: vec![0.0; nv * nv],
            product: vec![0.0; nv],
        }
    }
}

/// Derivatives of [`inverse_dynamics`](crate::inverse_dynamics), `τ = M ν̇ + h`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | (q, ν) | `kinematics` | | after [`Kinematics::update`] |
/// | ν̇ | `acceleration` | nv | [m/s², rad/s², rad/s² or m/s²] |
/// | ∂τ/∂q | `by_configuration` | nv × nv, column-major | along the manifold |
/// | ∂τ/∂ν | `by_velocity` | nv × nv, column-major | |
///
/// `∂τ/∂ν̇` is `M`. With an external wrench, subtract [`add_frame_wrench_derivative`]. O(nv depth),
/// allocates nothing.
///
/// # Panics
/// If a slice has the wrong length or the workspace belongs to another model.
#[doc(alias("computeRNEADerivatives", "RNEA derivatives"))]
pub fn inverse_dynamics_derivatives(
    model: &Model,
    kinematics: &Kinematics,
    acceleration: &[f64],
    workspace: &mut Derivatives,
    by_configuration: &mut [f64],
    by_velocity: &mut [f64],
) {
    let nv = model.velocity_dim();
    assert_eq!(acceleration.len(), nv, "length of acceleration");
    assert_eq!(by_configuration.len(), nv * nv, "length of by_configuration");
    assert_eq!(by_velocity.len(), nv * nv, "length of by_velocity");
    by_configuration.fill(0.0);
    by_velocity.fill(0.0);
    gather(model, kinematics, acceleration, &mut workspace.bodies);
    let (shares, columns) = (&workspace.bodies, &mut workspace.columns);
    for (i, column) in columns.iter_mut().enumerate() {
        *column = column_of(model, kinematics, shares, i);
    }
    // Bodies share coordinates where joints are coupled, so entries add.
    let mut add = |row: usize, column: usize, configuration: f64, velocity: f64| {
        by_configuration[column * nv + row] += configuration;
        by_velocity[column * nv + row] += velocity;
    };
    for tree in &model.trees {
        let root = tree.bodies.start;
        let base: [Column; 3] =
            std::array::from_fn(|axis| base_column(kinematics, shares, root, axis));
        for i in root + 1..tree.bodies.end {
            let (body, state, share) = (&model.bodies[i], &kinematics.body(i), &shares[i]);
            let own = &columns[i];
            let weight = body.subtree_mass;
            let (down_q, down_v) = down(weight, state, share, own);
            // S_iᵀ I_i and S_iᵀ 2 B_i, multiplied later by the columns of ancestors.
            let (f, n) = momentum(weight, &state.subtree_moment, &state.subtree_inertia, &own.axis);
            let twist = (share.momentum.cross(&own.axis.linear)
                + share.spin.tr_mul(&own.axis.angular))
                * 2.0;
            let row = |at: &Motion, rate: &Motion| rate.power(&f, &n) + at.angular.dot(&twist);
            let k = body.v_index;
            add(
                k,
                k,
                own.axis.power(&down_q.force, &down_q.moment),
                own.axis.power(&down_v.force, &down_v.moment),
            );
            // Every ancestor j: ∂τ_j/∂i by the force that i sends down, ∂τ_i/∂j by the row.
            let mut j = body.parent;
            while j != root {
                let above = &columns[j];
                let l = model.bodies[j].v_index;
                add(
                    l,
                    k,
                    above.axis.power(&down_q.force, &down_q.moment),
                    above.axis.power(&down_v.force, &down_v.moment),
                );
                let mut by_q = row(&above.rate, &above.second);
                if model.bodies[j].last == body.last {
                    // Parts of one ball joint do not turn one another's axes.
                    let turned = cross_force(&above.axis, &share.force);
                    by_q += own.axis.power(&turned.force, &turned.moment);
                }
                add(k, l, by_q, row(&above.axis, &above.both));
                j = model.bodies[j].parent;
            }
            // The same with the six of a floating base, whose axes are unit vectors: their powers
            // are the components of force and moment.
            if tree.is_floating() {
                let v = tree.v.start;
                for axis in 0..3 {
                    add(v + axis, k, down_q.force[axis], down_v.force[axis]);
                    add(v + 3 + axis, k, down_q.moment[axis], down_v.moment[axis]);
                    let base = &base[axis];
                    let by_q = row(&base.rate, &base.second);
                    add(k, v + 3 + axis, by_q, row(&base.axis, &base.both));
                }
            }
        }
        if tree.is_floating() {
            // The position and the linear velocity of the base have no effect.
            let (weight, v) = (model.bodies[root].subtree_mass, tree.v.start);
            for (axis, own) in base.iter().enumerate() {
                let (by_q, by_v) = down(weight, &kinematics.body(root), &shares[root], own);
                for r in 0..3 {
                    add(v + r, v + 3 + axis, by_q.force[r], by_v.force[r]);
                    add(v + 3 + r, v + 3 + axis, by_q.moment[r], by_v.moment[r]);
                }
            }
        }
    }
}

/// Derivatives of forward dynamics `ν̇ = M⁻¹ (Sᵀτ + f_ext − h)`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | (q, ν) | `kinematics` | | after [`Kinematics::update`] |
/// | M | `factor` | nv × nv | at the same q |
/// | ν̇ | `acceleration` | nv | the solution at which to differentiate |
/// | ∂ν̇/∂q | `by_configuration` | nv × nv, column-major | along the manifold, `f_ext` held fixed |
/// | ∂ν̇/∂ν | `by_velocity` | nv × nv, column-major | |
/// | ∂ν̇/∂τ | `by_torque` | nv × n, column-major | `M⁻¹S` |
///
/// `∂ν̇/∂x = −M⁻¹ ∂ID/∂x` at that ν̇. O(nv² depth), allocates nothing.
///
/// # Panics
/// If a slice has the wrong length or a workspace belongs to another model.
#[doc(alias("computeABADerivatives", "ABA derivatives"))]
#[expect(clippy::too_many_arguments, reason = "three results of one computation")]
pub fn forward_dynamics_derivatives(
    model: &Model,
    kinematics: &Kinematics,
    factor: &MassFactor,
    acceleration: &[f64],
    workspace: &mut Derivatives,
    by_configuration: &mut [f64],
    by_velocity: &mut [f64],
    by_torque: &mut [f64],
) {
    let nv = model.velocity_dim();
    assert_eq!(by_torque.len(), nv * model.joint_dim(), "length of by_torque");
    inverse_dynamics_derivatives(
        model,
        kinematics,
        acceleration,
        workspace,
        by_configuration,
        by_velocity,
    );
    if nv == 0 {
        return;
    }
    let Derivatives { inverse, full_inverse, product, .. } = workspace;
    factor.write_inverse(inverse, full_inverse);
    for matrix in [by_configuration, by_velocity] {
        for column in matrix.chunks_exact_mut(nv) {
            multiply_negative(full_inverse, column, product);
        }
    }
    for (&k, column) in model.joint_velocities.iter().zip(by_torque.chunks_exact_mut(nv)) {
        column.copy_from_slice(&full_inverse[k * nv..(k + 1) * nv]);
    }
}

/// `x ← −A x` for a symmetric matrix; zeros of x cost nothing.
fn multiply_negative(matrix: &[f64], x: &mut [f64], product: &mut [f64]) {
    product.fill(0.0);
    for (column, &factor) in matrix.chunks_exact(x.len()).zip(&*x) {
        if factor != 0.0 {
            axpy(-factor, column, product);
        }
    }
    x.copy_from_slice(product);
}

/// Adds `∂(Jᵀ w)/∂q` (nv × nv, column-major, along the manifold) of a wrench that keeps its world
/// axes and acts at the frame's origin.
///
/// # Panics
/// If `out` has the wrong length or the frame belongs to another model.
pub fn add_frame_wrench_derivative(
    model: &Model,
    kinematics: &Kinematics,
    frame: FrameId,
    wrench: &MixedWrench,
    out: &mut [f64],
) {
    let nv = model.velocity_dim();
    assert_eq!(out.len(), nv * nv, "length of out");
    let (_, r) = attach(model, kinematics, frame, &Vector3::zeros());
    let at_origin =
        SpatialForce { force: wrench.force, moment: wrench.moment + r.cross(&wrench.force) };
    let carrier = model.frames[frame.0].body.0;
    let tree = &model.trees[model.bodies[carrier].tree];
    let (root, v) = (tree.bodies.start, tree.v.start);
    // Coordinate `column` moves the frame's origin by `shift`; the axis of every row on the way
    // takes the moment of that, and turns if the column's axis carries it.
    let mut column = |j: usize, axis: &Motion, index: usize| {
        let shift = axis.linear + axis.angular.cross(&r);
        let moment = shift.cross(&wrench.force);
        let turned = cross_force(axis, &at_origin);
        let mut i = carrier;
        while i != root {
            let (body, state) = (&model.bodies[i], &kinematics.body(i));
            let mut value = state.subspace.angular.dot(&moment);
            // Parts of one ball joint do not turn one another's axes.
            let turns = j == root || (i > j && model.bodies[j].last != body.last);
            if turns {
                // (S_j × S_i)·F = −S_i·(S_j ×* F)
                value -= state.subspace.power(&turned.force, &turned.moment);
            }
            out[index * nv + body.v_index] += value;
            i = body.parent;
        }
        if tree.is_floating() {
            for row in 0..3 {
                out[index * nv + v + 3 + row] += moment[row];
            }
        }
    };
    let mut j = carrier;
    while j != root {
        column(j, &kinematics.subspace(j), model.bodies[j].v_index);
        j = model.bodies[j].parent;
    }
    if tree.is_floating() {
        for axis in 0..3 {
            let mut angular = Vector3::zeros();
            angular[axis] = 1.0;
            column(root, &Motion { linear: Vector3::zeros(), angular }, v + 3 + axis);
        }
    }
}

/// Accelerations, forces and velocity terms of all bodies, summed over subtrees.
fn gather(model: &Model, kinematics: &Kinematics, acceleration: &[f64], shares: &mut [Share]) {
    let gravity = &model.gravity;
    for tree in &model.trees {
        let root = tree.bodies.start;
        for i in tree.bodies.clone() {
            let (body, state) = (&model.bodies[i], &kinematics.body(i));
            // Until the bodies beyond have been visited: acceleration due to ν̇ alone.
            let own = if i == root {
                root_acceleration(tree, acceleration)
            } else {
                let (parent, rate) = (shares[body.parent].acceleration, acceleration[body.v_index]);
                Motion {
                    linear: parent.linear + state.subspace.linear * rate,
                    angular: parent.angular + state.subspace.angular * rate,
                }
            };
            shares[i] = share_of(body.inertia.mass(), state, own, gravity);
        }
        // Sums over subtrees.
        for i in (root + 1..tree.bodies.end).rev() {
            let (parents, own) = shares.split_at_mut(i);
            let parent = &mut parents[model.bodies[i].parent];
            parent.force.force += own[0].force.force;
            parent.force.moment += own[0].force.moment;
            parent.momentum += own[0].momentum;
            parent.spin += own[0].spin;
        }
        // Afterwards the accelerations are the whole ones, gravity included.
        for i in tree.bodies.clone() {
            let (share, bias) = (&mut shares[i], kinematics.body(i).bias);
            share.acceleration.linear += bias.linear - gravity;
            share.acceleration.angular += bias.angular;
        }
    }
}

fn share_of(mass: f64, state: &BodyState, own: Motion, gravity: &Vector3<f64>) -> Share {
    let total = Motion {
        linear: own.linear + state.bias.linear,
        angular: own.angular + state.bias.angular,
    };
    let (v, w) = (&state.velocity, &state.velocity.angular);
    let momentum = (v.linear + w.cross(&state.center)) * mass;
    let inertia = state.inertia.to_matrix();
    let turning = w.cross_matrix();
    let spin = (turning * inertia - inertia * turning - (inertia * w).cross_matrix()) * 0.5
        - state.center.cross_matrix() * momentum.cross_matrix();
    Share { acceleration: own, force: body_force(mass, state, &total, gravity), momentum, spin }
}

/// `(2 B Ψ̇ + I Ψ̈ + S ×* f, 2 B S + I Φ)` of a subtree.
fn down(
    mass: f64,
    state: &BodyState,
    share: &Share,
    column: &Column,
) -> (SpatialForce, SpatialForce) {
    let (mc, inertia) = (&state.subtree_moment, &state.subtree_inertia);
    let apply = |velocity: &Motion, acceleration: &Motion| {
        let (f, n) = momentum(mass, mc, inertia, acceleration);
        let w = &velocity.angular;
        SpatialForce { force: f + w.cross(&share.momentum) * 2.0, moment: n + share.spin * w * 2.0 }
    };
    let mut by_q = apply(&column.rate, &column.second);
    let turned = cross_force(&column.axis, &share.force);
    by_q.force += turned.force;
    by_q.moment += turned.moment;
    (by_q, apply(&column.axis, &column.both))
}

fn column_of(model: &Model, kinematics: &Kinematics, shares: &[Share], i: usize) -> Column {
    let body = &model.bodies[i];
    let carrier = kinematics.body(body.carrier).velocity;
    let last = kinematics.body(body.last).velocity;
    let axis = kinematics.subspace(i);
    column(&carrier, &last, &shares[body.last].acceleration, axis)
}

fn base_column(kinematics: &Kinematics, shares: &[Share], root: usize, axis: usize) -> Column {
    let mut angular = Vector3::zeros();
    angular[axis] = 1.0;
    let axis = Motion { linear: Vector3::zeros(), angular };
    let state = kinematics.body(root).velocity;
    column(&Motion::zero(), &state, &shares[root].acceleration, axis)
}

fn column(carrier: &Motion, last: &Motion, acceleration: &Motion, axis: Motion) -> Column {
    let rate = cross(last, &axis);
    let carried = cross(carrier, &axis);
    let (turned, second) = (cross(acceleration, &axis), cross(last, &rate));
    Column {
        second: Motion {
            linear: turned.linear + second.linear,
            angular: turned.angular + second.angular,
        },
        both: Motion {
            linear: carried.linear + rate.linear,
            angular: carried.angular + rate.angular,
        },
        axis,
        rate,
    }
}

/// Motion cross product `a × b`.
#[inline]
fn cross(a: &Motion, b: &Motion) -> Motion {
    Motion {
        linear: a.angular.cross(&b.linear) + a.linear.cross(&b.angular),
        angular: a.angular.cross(&b.angular),
    }
}

/// Force cross product `m ×* f`.
#[inline]
fn cross_force(m: &Motion, f: &SpatialForce) -> SpatialForce {
    SpatialForce {
        force: m.angular.cross(&f.force),
        moment: m.angular.cross(&f.moment) + m.linear.cross(&f.force),
    }
}
