//! Forward dynamics by the articulated-body algorithm, O(n).
//!
//! All quantities are about the base origin `O` in world axes, so that articulated inertias and
//! forces of children add to the parent's without a transformation. Accelerations are taken
//! relative to those that `ν` alone causes, which the kinematics hold: `a_i = a_i^bias + a'_i` with
//! `a'_i = a'_λ(i) + S_i ν̇_i`. Then, from the leaves to the root,
//!
//! ```text
//! U = I^A S        D = Sᵀ U + I_rotor        u = τ − Sᵀ p^A
//! I^A_λ += I^A − U D⁻¹ Uᵀ                    p^A_λ += p^A + U D⁻¹ u
//! ```
//!
//! where `p` begins as the force that the body needs at `a^bias` against gravity, and from the root
//! to the leaves `ν̇ = D⁻¹ (u − Uᵀ a'_λ)`. A floating base solves `I^A_0 a'_0 = f_0 − p^A_0`.
//!
//! Reference: R. Featherstone, *Rigid Body Dynamics Algorithms* (2008), sec. 7.3.

use legwork_linalg::{Singular, ldlt};
use nalgebra::Vector3;

use crate::branch::BASE;
use crate::chain::Chain;
use crate::forward_dynamics::forward_dynamics;
use crate::inverse_dynamics::{InverseDynamics, QuadForce, bias_force, group_force};
use crate::kinematics::{GroupState, Kinematics, Motion};
use crate::layout::{Group, NONE, Role, gather, scatter};
use crate::mass_factor::{MassFactor, SingularMass};
use crate::mass_matrix::{MassMatrix, mass_matrix};
use crate::model::Model;
use crate::quad::{LANES, Laned, Quad, Quad3, QuadMatrix, QuadMotion, QuadSymmetric, laned};

/// Scratch memory of [`articulated_body`].
#[derive(Clone, Debug)]
pub struct ArticulatedBody {
    /// By group of the layout.
    groups: Vec<Share>,
    /// By body of the longest chain.
    chain: Vec<ChainShare>,
    /// Inertia that each joint coordinate has of its own, n: of its rotor, and what was added.
    rotors: Vec<f64>,
    /// For models whose branches are coupled.
    coupled: Option<Box<Coupled>>,
}

#[derive(Clone, Debug)]
struct Share {
    /// `I^A` about `O`.
    inertia: Articulated,
    /// `p^A`.
    bias: QuadForce,
    /// `U`.
    momentum: QuadForce,
    inverse_d: Quad,
    u: Quad,
    /// `a'`.
    acceleration: QuadMotion,
}

/// What the way out of a chain needs of a body: four times the same.
#[derive(Clone, Debug)]
struct ChainShare {
    subspace: QuadMotion,
    momentum: QuadForce,
    inverse_d: Quad,
    u: Quad,
}

/// Articulated inertias `[A, B; Bᵀ, C]`, which map motions (linear, angular) to forces.
#[derive(Clone, Copy, Debug)]
struct Articulated {
    linear: QuadSymmetric,
    mixed: QuadMatrix,
    angular: QuadSymmetric,
}

laned!(Articulated: linear, mixed, angular);

#[derive(Clone, Debug)]
struct Coupled {
    mass: MassMatrix,
    factor: MassFactor,
    workspace: InverseDynamics,
    bias: Vec<f64>,
    added: Vec<f64>,
}

impl ArticulatedBody {
    /// Memory for `model`.
    #[must_use]
    pub fn new(model: &Model) -> Self {
        let force = QuadForce::zero();
        let none = Share {
            inertia: Articulated::zero(),
            bias: force,
            momentum: force,
            inverse_d: Quad::ZERO,
            u: Quad::ZERO,
            acceleration: QuadMotion::zero(),
        };
        let coupled = model.coupled.then(|| {
            Box::new(Coupled {
                mass: MassMatrix::new(model),
                factor: MassFactor::new(model),
                workspace: InverseDynamics::new(model),
                bias: vec![0.0; model.velocity_dim()],
                added: vec![0.0; model.velocity_dim()],
            })
        });
        let longest = model.layout.chains.iter().map(|chain| chain.len).max().unwrap_or(0);
        let link = ChainShare {
            subspace: QuadMotion::zero(),
            momentum: force,
            inverse_d: Quad::ZERO,
            u: Quad::ZERO,
        };
        let groups = vec![none; model.layout.groups.len()];
        let rotors = model.rotors.diagonal.clone();
        Self { groups, chain: vec![link; longest], rotors, coupled }
    }

    /// Adds to the diagonal of `M` at the joints, in place of what was added before: `added` (nv,
    /// zero or more), as implicit joint damping has it
    /// ([`JointResistance`](crate::JointResistance)).
    ///
    /// # Panics
    /// If `added` has another length than nv, or the model is another one.
    pub fn set_added_inertia(&mut self, model: &Model, added: &[f64]) {
        assert_eq!(added.len(), model.velocity_dim(), "length of added");
        if let Some(coupled) = &mut self.coupled {
            coupled.added.copy_from_slice(added);
        }
        let own = model.rotors.diagonal.iter().zip(&model.joint_velocities);
        for (rotor, (own, &k)) in self.rotors.iter_mut().zip(own) {
            *rotor = own + added[k];
        }
    }
}

/// Forward dynamics `ν̇ = M⁻¹ (Sᵀτ + f_ext − h)` without forming `M`.
///
/// | symbol | argument | shape | meaning |
/// |---|---|---|---|
/// | (q, ν) | `kinematics` | | after [`Kinematics::update`] |
/// | τ | `joint_torques` | n | [N m or N] |
/// | f_ext = Σ Jᵀf | `external_force` | nv | generalised external force [N, N m, N m or N] |
/// | ν̇ | `out` | nv | [m/s², rad/s², rad/s² or m/s²] |
///
/// Rotor inertia of the model is included. O(n), allocates nothing. Models whose branches are
/// coupled (mimic joints, coupled rotors) are solved by the factor of `M` instead.
///
/// # Errors
/// [`SingularMass`] with the joint that moves no inertia; `out` must not be used then.
///
/// # Panics
/// If a slice has the wrong length or a workspace belongs to another model.
#[doc(alias("aba", "ABA", "articulated body algorithm", "forward dynamics"))]
#[expect(clippy::panic_in_result_fn, reason = "lengths are the caller's contract")]
pub fn articulated_body(
    model: &Model,
    kinematics: &Kinematics,
    joint_torques: &[f64],
    external_force: &[f64],
    workspace: &mut ArticulatedBody,
    out: &mut [f64],
) -> Result<(), SingularMass> {
    let nv = model.velocity_dim();
    assert_eq!(joint_torques.len(), model.joint_dim(), "length of joint_torques");
    assert_eq!(external_force.len(), nv, "length of external_force");
    assert_eq!(out.len(), nv, "length of out");
    if let Some(coupled) = &mut workspace.coupled {
        let Coupled { mass, factor, workspace, bias, added } = &mut **coupled;
        mass_matrix(model, kinematics, mass);
        factor.factorize_with(mass, added)?;
        bias_force(model, kinematics, workspace, bias);
        forward_dynamics(model, factor, bias, joint_torques, external_force, out);
        return Ok(());
    }
    // The generalised force, and where it is used up, the acceleration.
    out.copy_from_slice(external_force);
    for (&k, torque) in model.joint_velocities.iter().zip(joint_torques) {
        out[k] += torque;
    }
    let layout = &*model.layout;
    let gravity = Quad3::splat(&model.gravity);
    let ArticulatedBody { groups, chain: links, rotors, .. } = workspace;
    // I^A and p^A begin as the body's own.
    for ((group, state), share) in layout.groups.iter().zip(&kinematics.groups).zip(&mut *groups) {
        share.inertia = rigid(group.mass, state);
        share.bias = group_force(group.mass, state, &state.bias, &gravity);
    }
    // To the root: what is left of each body beyond the freedom of its joint adds to its parent.
    let rounding = 4.0 * f64::EPSILON * nv as f64;
    for (g, group) in layout.groups.iter().enumerate().skip(layout.root_groups).rev() {
        match group.role {
            Role::Tree => {}
            Role::Link => continue,
            Role::Start(chain) => {
                let chain = &layout.chains[chain];
                let (groups, links) = (&mut **groups, &mut **links);
                chain_inwards(model, kinematics, chain, rounding, rotors, groups, links, out)?;
                continue;
            }
        }
        let state = &kinematics.groups[g];
        let (rest, own) = groups.split_at_mut(g);
        let share = &mut own[0];
        let s = &state.subspace;
        // U, and D with the rotor's inertia.
        let momentum = share.inertia.times(s);
        let rotor = Quad::from(group.rotors.map(|r| if r == NONE { 0.0 } else { rotors[r] }));
        let d = s.power(&momentum.force, &momentum.moment) + rotor;
        // About O, D is known to the rounding of what the joint could move at most.
        let most = group.most(state) + rotor;
        check_pivots(model, group, d, most, rounding)?;
        // Idle lanes divide by one.
        share.inverse_d = Quad::ONE / (d + group.idle);
        share.u = group.rates(out) - s.power(&share.bias.force, &share.bias.moment);
        share.momentum = momentum;
        let scaled = momentum.times(share.inverse_d);
        let inertia = share.inertia.less(&momentum, &scaled);
        let bias = share.bias.plus(&scaled.times(share.u));
        scatter(&group.parent, &group.live, rest, |share| &mut share.inertia, &inertia);
        scatter(&group.parent, &group.live, rest, |share| &mut share.bias, &bias);
    }
    // The bases: a fixed one does not accelerate.
    for tree in &model.trees {
        let (g, lane) = layout.places[tree.bodies.start];
        let share = &mut groups[g];
        let mut base = Motion::zero();
        if tree.is_floating() {
            let v = tree.v.start;
            base = solve_base(share, lane, &out[v..v + 6], rounding).map_err(
                |(axis, pivot, diagonal)| SingularMass {
                    coordinate: model.pattern.name(v + axis).to_owned(),
                    is_base: true,
                    pivot,
                    diagonal,
                },
            )?;
            out[v..v + 3].copy_from_slice(base.linear.as_slice());
            out[v + 3..v + 6].copy_from_slice(base.angular.as_slice());
        }
        share.acceleration.linear.set_lane(lane, &base.linear);
        share.acceleration.angular.set_lane(lane, &base.angular);
    }
    // To the leaves.
    for (g, group) in layout.groups.iter().enumerate().skip(layout.root_groups) {
        match group.role {
            Role::Tree => {}
            Role::Link => continue,
            Role::Start(chain) => {
                chain_outwards(model, &layout.chains[chain], groups, links, out);
                continue;
            }
        }
        let (done, own) = groups.split_at_mut(g);
        let share = &mut own[0];
        let above = gather(&group.parent, done, |share| &share.acceleration);
        let (f, n) = (&share.momentum.force, &share.momentum.moment);
        let rate = (share.u - above.power(f, n)) * share.inverse_d;
        share.acceleration = above + kinematics.groups[g].subspace.times(rate);
        let rates = rate.to_array();
        for l in 0..LANES {
            if group.live[l] {
                out[group.v_index[l]] = rates[l];
            }
        }
    }
    Ok(())
}

/// The way to the root along a chain, a body at a time: each needs what the one behind it has left.
#[expect(clippy::too_many_arguments, reason = "parts of one workspace, borrowed one by one")]
fn chain_inwards(
    model: &Model,
    kinematics: &Kinematics,
    chain: &Chain,
    rounding: f64,
    rotors: &[f64],
    groups: &mut [Share],
    links: &mut [ChainShare],
    forces: &[f64],
) -> Result<(), SingularMass> {
    let (mut inertia, mut bias) = (Articulated::zero(), QuadForce::zero());
    for (i, link) in links[..chain.len].iter_mut().enumerate().rev() {
        let (g, lane) = chain.place(i);
        let (group, state, share) = (&model.layout.groups[g], &kinematics.groups[g], &groups[g]);
        inertia.add_all(&Laned::spread(&share.inertia, lane));
        bias.add_all(&Laned::spread(&share.bias, lane));
        let s = QuadMotion::spread(&state.subspace, lane);
        let momentum = inertia.times(&s);
        let (k, rotor) = (group.v_index[lane], group.rotors[lane]);
        let rotor = if rotor == NONE { 0.0 } else { rotors[rotor] };
        let rotor = Quad::splat(rotor);
        let d = s.power(&momentum.force, &momentum.moment) + rotor;
        let most = Quad::spread(&group.most(state), lane) + rotor;
        check_pivot(model, k, d.to_array()[0], most.to_array()[0], rounding)?;
        let inverse_d = Quad::ONE / d;
        let u = Quad::splat(forces[k]) - s.power(&bias.force, &bias.moment);
        let scaled = momentum.times(inverse_d);
        inertia = inertia.less(&momentum, &scaled);
        bias = bias.plus(&scaled.times(u));
        *link = ChainShare { subspace: s, momentum, inverse_d, u };
    }
    let root = &mut groups[chain.root.0];
    root.inertia.add_lane(chain.root.1, &inertia, 0);
    root.bias.add_lane(chain.root.1, &bias, 0);
    Ok(())
}

/// The way out along a chain.
fn chain_outwards(
    model: &Model,
    chain: &Chain,
    groups: &[Share],
    links: &[ChainShare],
    out: &mut [f64],
) {
    let mut above = QuadMotion::spread(&groups[chain.root.0].acceleration, chain.root.1);
    for (i, link) in links[..chain.len].iter().enumerate() {
        let (g, lane) = chain.place(i);
        let rate =
            (link.u - above.power(&link.momentum.force, &link.momentum.moment)) * link.inverse_d;
        above = above + link.subspace.times(rate);
        out[model.layout.groups[g].v_index[lane]] = rate.to_array()[0];
    }
}

/// Fails if the pivot of a live lane is not positive beyond rounding.
#[inline]
fn check_pivots(
    model: &Model,
    group: &Group,
    d: Quad,
    most: Quad,
    rounding: f64,
) -> Result<(), SingularMass> {
    let (d, most) = (d.to_array(), most.to_array());
    for l in 0..LANES {
        if group.live[l] {
            check_pivot(model, group.v_index[l], d[l], most[l], rounding)?;
        }
    }
    Ok(())
}

#[inline]
fn check_pivot(
    model: &Model,
    coordinate: usize,
    pivot: f64,
    most: f64,
    rounding: f64,
) -> Result<(), SingularMass> {
    if pivot > rounding * most && pivot.is_finite() {
        return Ok(());
    }
    let coordinate = model.pattern.name(coordinate).to_owned();
    Err(SingularMass { coordinate, is_base: false, pivot, diagonal: most })
}

/// Rigid-body inertias about `O`: `[m 1, −m[c]×; m[c]×, I_c − m[c]×²]`.
#[inline(always)]
fn rigid(mass: Quad, state: &GroupState) -> Articulated {
    let (c, none) = (state.center.times(mass), Quad::ZERO);
    Articulated {
        linear: QuadSymmetric { xx: mass, xy: none, xz: none, yy: mass, yz: none, zz: mass },
        mixed: QuadMatrix {
            x: Quad3 { x: none, y: none - c.z, z: c.y },
            y: Quad3 { x: c.z, y: none, z: none - c.x },
            z: Quad3 { x: none - c.y, y: c.x, z: none },
        },
        angular: state.inertia.shifted(mass, &state.center),
    }
}

impl Articulated {
    /// `I s`.
    #[inline(always)]
    fn times(&self, s: &QuadMotion) -> QuadForce {
        let b = &self.mixed;
        QuadForce {
            force: self.linear.times(&s.linear) + b.times(&s.angular),
            moment: Quad3 { x: b.x.dot(&s.linear), y: b.y.dot(&s.linear), z: b.z.dot(&s.linear) }
                + self.angular.times(&s.angular),
        }
    }

    /// `I − a bᵀ` with `a bᵀ` symmetric.
    #[inline(always)]
    fn less(&self, a: &QuadForce, b: &QuadForce) -> Self {
        let (f, n) = (&a.force, &b.moment);
        let m = &self.mixed;
        Self {
            linear: less(&self.linear, f, &b.force),
            mixed: QuadMatrix {
                x: m.x - f.times(n.x),
                y: m.y - f.times(n.y),
                z: m.z - f.times(n.z),
            },
            angular: less(&self.angular, &a.moment, n),
        }
    }
}

#[inline(always)]
fn less(m: &QuadSymmetric, a: &Quad3, b: &Quad3) -> QuadSymmetric {
    QuadSymmetric {
        xx: m.xx - a.x * b.x,
        xy: m.xy - a.x * b.y,
        xz: m.xz - a.x * b.z,
        yy: m.yy - a.y * b.y,
        yz: m.yz - a.y * b.z,
        zz: m.zz - a.z * b.z,
    }
}

impl QuadForce {
    #[inline(always)]
    fn times(&self, factor: Quad) -> Self {
        Self { force: self.force.times(factor), moment: self.moment.times(factor) }
    }

    #[inline(always)]
    fn plus(&self, other: &Self) -> Self {
        Self { force: self.force + other.force, moment: self.moment + other.moment }
    }
}

/// Acceleration `a'` of a floating base, `I^A a' = f − p^A`, by `I^A = L D Lᵀ`; else the axis, its
/// pivot and the largest value that its diagonal entry had.
fn solve_base(
    share: &Share,
    at: usize,
    force: &[f64],
    rounding: f64,
) -> Result<Motion, (usize, f64, f64)> {
    let (a, b) = (share.inertia.linear.lane(at).to_matrix(), share.inertia.mixed.lane(at));
    let c = share.inertia.angular.lane(at).to_matrix();
    // The lower triangle, column by column.
    let mut m = [[0.0; BASE]; BASE];
    for k in 0..3 {
        m[k][..3].copy_from_slice(a.column(k).as_slice());
        (0..3).for_each(|r| m[k][3 + r] = b[(k, r)]);
        m[3 + k][3..].copy_from_slice(c.column(k).as_slice());
    }
    let diagonal: [f64; BASE] = std::array::from_fn(|k| m[k][k]);
    let (p, n) = (share.bias.force.lane(at), share.bias.moment.lane(at));
    let bias = [p.x, p.y, p.z, n.x, n.y, n.z];
    let mut x: [f64; BASE] = std::array::from_fn(|k| force[k] - bias[k]);
    ldlt::solve_once(&mut m, &mut x, rounding)
        .map_err(|Singular { rank, pivot }| (rank, pivot, diagonal[rank]))?;
    Ok(Motion { linear: Vector3::new(x[0], x[1], x[2]), angular: Vector3::new(x[3], x[4], x[5]) })
}
