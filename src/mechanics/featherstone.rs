//! The textbook's algorithms, body by body in body coordinates, as they are printed in
//! R. Featherstone, *Rigid Body Dynamics Algorithms* (2008): what the algorithms over lanes, about
//! the base origin in world axes, must agree with.
//!
//! Names are the book's: λ(i) is `parent`, `ⁱX_λ(i)` `x`, `S_i` `s`, `I_i` `inertia`, H `h`.
//! Spatial vectors have the angular part first; forces go back to the parent by `Xᵀ` (eq. 2.27). A
//! floating base is a joint of six freedoms with the velocity (ṗ, ω) in world axes; a fixed base
//! has none.

use nalgebra::{DMatrix, DVector, Matrix3, Matrix6, Matrix6xX, Rotation3, Vector3, Vector6};

use crate::body::Axis;
use crate::manifold::quaternion_to_rotation;
use crate::{
    ArticulatedBody, Base, Derivatives, InverseDynamics, Kinematics, MassFactor, MassMatrix, Model,
    Options, articulated_body, forward_dynamics_derivatives, inverse_dynamics,
    inverse_dynamics_derivatives, mass_matrix,
};

/// A body with its joint at one state.
struct Link {
    parent: Option<usize>,
    x: Matrix6<f64>,
    s: Matrix6xX<f64>,
    /// `c_J = S̊ q̇`.
    bias: Vector6<f64>,
    inertia: Matrix6<f64>,
    /// Its coordinates.
    at: std::ops::Range<usize>,
}

fn spatial(a: Matrix3<f64>, b: Matrix3<f64>, c: Matrix3<f64>, d: Matrix3<f64>) -> Matrix6<f64> {
    let mut m = Matrix6::zeros();
    for (block, row, column) in [(a, 0, 0), (b, 0, 3), (c, 3, 0), (d, 3, 3)] {
        m.fixed_view_mut::<3, 3>(row, column).copy_from(&block);
    }
    m
}

/// Eq. 2.24: to a frame turned by E whose origin is at r.
fn plucker(e: Matrix3<f64>, r: Vector3<f64>) -> Matrix6<f64> {
    spatial(e, Matrix3::zeros(), -e * r.cross_matrix(), e)
}

/// Eq. 2.31: `v ×`; forces take `v ×* = −(v ×)ᵀ` (eq. 2.32).
fn crm(v: &Vector6<f64>) -> Matrix6<f64> {
    let (w, v) = (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]));
    spatial(w.cross_matrix(), Matrix3::zeros(), v.cross_matrix(), w.cross_matrix())
}

/// Sec. 4.4: the joints' transforms and subspaces, as `jcalc` gives them.
fn links(model: &Model, q: &[f64], nu: &[f64]) -> Vec<Link> {
    let tree = &model.trees[0];
    let bodies = model.bodies.iter().enumerate().map(|(i, body)| {
        let c = body.inertia.center_of_mass().cross_matrix();
        let m = body.inertia.mass();
        // Eq. 2.63.
        let about_origin = body.inertia.about_center_of_mass() + m * c * c.transpose();
        let inertia = spatial(about_origin, m * c, m * c.transpose(), m * Matrix3::identity());
        if body.parent == i {
            let mut link = Link {
                parent: None,
                x: plucker(tree.mount.rotation.transpose(), tree.mount.translation),
                s: Matrix6xX::zeros(0),
                bias: Vector6::zeros(),
                inertia,
                at: 0..0,
            };
            if tree.is_floating() {
                let e = quaternion_to_rotation([q[3], q[4], q[5], q[6]]).transpose();
                link.x = plucker(e, Vector3::new(q[0], q[1], q[2]));
                let s = spatial(Matrix3::zeros(), e, e, Matrix3::zeros());
                link.s = Matrix6xX::from_column_slice(s.as_slice());
                let v = s * Vector6::from_column_slice(&nu[..6]);
                let (w, v) = (Vector3::new(v[0], v[1], v[2]), Vector3::new(v[3], v[4], v[5]));
                link.bias.fixed_rows_mut::<3>(3).copy_from(&-w.cross(&v));
                link.at = 0..6;
            }
            return link;
        }
        let moved = body.scale * q[body.q_index] + body.shift;
        let (row, turned, slid) = match body.axis {
            Axis::Revolute => (2, moved, 0.0),
            _ => (5, 0.0, moved),
        };
        let e =
            (body.rotation * Rotation3::from_axis_angle(&Vector3::z_axis(), turned)).transpose();
        let mut s = Matrix6xX::zeros(1);
        s[(row, 0)] = body.scale;
        Link {
            parent: Some(body.parent),
            x: plucker(e, body.offset + body.rotation * Vector3::new(0.0, 0.0, slid)),
            s,
            bias: Vector6::zeros(),
            inertia,
            at: body.v_index..body.v_index + 1,
        }
    });
    bodies.collect()
}

fn minus_gravity(model: &Model) -> Vector6<f64> {
    let g = model.gravity();
    -Vector6::new(0.0, 0.0, 0.0, g.x, g.y, g.z)
}

/// Table 5.1: the recursive Newton–Euler algorithm.
fn rnea(model: &Model, links: &[Link], nu: &DVector<f64>, rate: &DVector<f64>) -> DVector<f64> {
    let mut tau = DVector::zeros(nu.len());
    let (mut v, mut a, mut f) = (vec![], vec![], vec![]);
    for link in links {
        let Link { parent, x, s, bias, inertia, at } = link;
        let joint: Vector6<f64> = s * nu.rows(at.start, at.len());
        let before = parent.map_or((Vector6::zeros(), minus_gravity(model)), |p| (v[p], a[p]));
        let velocity = x * before.0 + joint;
        let own = s * rate.rows(at.start, at.len());
        let acceleration = x * before.1 + own + bias + crm(&velocity) * joint;
        let momentum = inertia * velocity;
        f.push(inertia * acceleration - crm(&velocity).transpose() * momentum);
        v.push(velocity);
        a.push(acceleration);
    }
    for (i, Link { parent, x, s, at, .. }) in links.iter().enumerate().rev() {
        tau.rows_mut(at.start, at.len()).copy_from(&(s.transpose() * f[i]));
        if let Some(p) = *parent {
            let carried = x.transpose() * f[i];
            f[p] += carried;
        }
    }
    tau
}

/// What a coordinate moves: one of q along the manifold, or one of ν.
#[derive(Clone, Copy)]
enum Along {
    Configuration(usize),
    Velocity(usize),
}

/// The recursive Newton–Euler algorithm differentiated line by line, Δ being the derivative along
/// one coordinate: J. Carpentier, N. Mansard, *Analytical derivatives of rigid body dynamics
/// algorithms* (2018). Of a joint moved along `s = S e_k`, ΔX = −(s ×) X; a subspace that is fixed
/// in the world turns with the body, ΔS = −(ω_s ×) S, which of other joints is zero.
fn rnea_derivative(
    model: &Model,
    links: &[Link],
    (nu, rate): (&DVector<f64>, &DVector<f64>),
    along: Along,
) -> DVector<f64> {
    let mut slope = DVector::zeros(nu.len());
    let none = Matrix6::zeros();
    let (mut v, mut a, mut f) = (vec![], vec![], vec![]);
    for Link { parent, x, s, bias, inertia, at } in links {
        let (own, own_rate) = (nu.rows(at.start, at.len()), rate.rows(at.start, at.len()));
        let (mut dx, mut ds) = (none, s * 0.0);
        let joint: Vector6<f64> = s * own;
        let mut d_joint = Vector6::zeros();
        match along {
            Along::Configuration(k) if at.contains(&k) => {
                let moved: Vector6<f64> = s.column(k - at.start).into();
                dx = -crm(&moved) * x;
                let turned = Vector6::new(moved[0], moved[1], moved[2], 0.0, 0.0, 0.0);
                ds = -crm(&turned) * s;
                d_joint = &ds * own;
            }
            Along::Velocity(k) if at.contains(&k) => d_joint = s.column(k - at.start).into(),
            _ => {}
        }
        // c_J = −(0, ω × v) of a floating base, else zero.
        let mut d_bias = Vector6::zeros();
        if at.len() == 6 {
            let halves =
                |v: &Vector6<f64>| (v.fixed_rows::<3>(0).into(), v.fixed_rows::<3>(3).into());
            let (w, u): (Vector3<f64>, Vector3<f64>) = halves(&joint);
            let (dw, du): (Vector3<f64>, Vector3<f64>) = halves(&d_joint);
            d_bias.fixed_rows_mut::<3>(3).copy_from(&-(dw.cross(&u) + w.cross(&du)));
        }
        let zero = Vector6::zeros();
        let (before, d_before) = parent.map_or(((zero, minus_gravity(model)), (zero, zero)), |p| {
            let ((v, dv), (a, da)): ((Vector6<f64>, _), (Vector6<f64>, _)) = (v[p], a[p]);
            ((v, a), (dv, da))
        });
        let velocity = x * before.0 + joint;
        let d_velocity = x * d_before.0 + dx * before.0 + d_joint;
        let acceleration = x * before.1 + s * own_rate + bias + crm(&velocity) * joint;
        let d_acceleration = x * d_before.1
            + dx * before.1
            + &ds * own_rate
            + d_bias
            + crm(&d_velocity) * joint
            + crm(&velocity) * d_joint;
        let (momentum, d_momentum) = (inertia * velocity, inertia * d_velocity);
        let force = inertia * acceleration - crm(&velocity).transpose() * momentum;
        let d_force = inertia * d_acceleration
            - crm(&d_velocity).transpose() * momentum
            - crm(&velocity).transpose() * d_momentum;
        v.push((velocity, d_velocity));
        a.push((acceleration, d_acceleration));
        f.push((force, d_force, dx, ds));
    }
    for (i, Link { parent, x, s, at, .. }) in links.iter().enumerate().rev() {
        let (force, d_force, dx, ds) = f[i].clone();
        let own = s.transpose() * d_force + ds.transpose() * force;
        slope.rows_mut(at.start, at.len()).copy_from(&own);
        if let Some(p) = *parent {
            f[p].0 += x.transpose() * force;
            f[p].1 += x.transpose() * d_force + dx.transpose() * force;
        }
    }
    slope
}

/// Table 6.2: the composite-rigid-body algorithm.
fn crba(links: &[Link], nv: usize) -> DMatrix<f64> {
    let mut h = DMatrix::zeros(nv, nv);
    let mut composite: Vec<_> = links.iter().map(|link| link.inertia).collect();
    for (i, Link { parent, x, s, at, .. }) in links.iter().enumerate().rev() {
        if let Some(p) = *parent {
            let carried = x.transpose() * composite[i] * x;
            composite[p] += carried;
        }
        let mut f = composite[i] * s;
        let own = s.transpose() * &f;
        h.view_mut((at.start, at.start), own.shape()).copy_from(&own);
        let mut j = i;
        while let Some(p) = links[j].parent {
            f = links[j].x.transpose() * f;
            j = p;
            let entries = f.transpose() * &links[j].s;
            h.view_mut((at.start, links[j].at.start), entries.shape()).copy_from(&entries);
            h.view_mut((links[j].at.start, at.start), (entries.ncols(), entries.nrows()))
                .copy_from(&entries.transpose());
        }
    }
    h
}

/// Table 7.1: the articulated-body algorithm.
fn aba(model: &Model, links: &[Link], nu: &DVector<f64>, tau: &DVector<f64>) -> DVector<f64> {
    let mut rate = DVector::zeros(nu.len());
    let (mut v, mut c, mut p_a) = (vec![], vec![], vec![]);
    let mut i_a: Vec<_> = links.iter().map(|link| link.inertia).collect();
    for Link { parent, x, s, bias, inertia, at } in links {
        let joint: Vector6<f64> = s * nu.rows(at.start, at.len());
        let velocity = parent.map_or(Vector6::zeros(), |p| x * v[p]) + joint;
        c.push(bias + crm(&velocity) * joint);
        p_a.push(-crm(&velocity).transpose() * inertia * velocity);
        v.push(velocity);
    }
    let mut solved = vec![];
    for (i, Link { parent, x, s, at, .. }) in links.iter().enumerate().rev() {
        let momentum = i_a[i] * s;
        let inverse = (s.transpose() * &momentum).try_inverse().unwrap();
        let u = tau.rows(at.start, at.len()) - s.transpose() * p_a[i];
        if let Some(p) = *parent {
            let apparent = i_a[i] - &momentum * &inverse * momentum.transpose();
            let bias = p_a[i] + apparent * c[i] + &momentum * &inverse * &u;
            i_a[p] += x.transpose() * apparent * x;
            p_a[p] += x.transpose() * bias;
        }
        solved.push((momentum, inverse, u));
    }
    let mut a: Vec<Vector6<f64>> = vec![];
    for ((link, (momentum, inverse, u)), c) in links.iter().zip(solved.iter().rev()).zip(&c) {
        let before = link.x * link.parent.map_or(minus_gravity(model), |p| a[p]) + c;
        let own = inverse * (u - momentum.transpose() * before);
        a.push(before + &link.s * &own);
        rate.rows_mut(link.at.start, link.at.len()).copy_from(&own);
    }
    rate
}

/// Table 6.3 and sec. 6.5: `H = Lᵀ D L` in place, L below the diagonal, D on it.
fn ltdl(model: &Model, mut h: DMatrix<f64>) -> DMatrix<f64> {
    let parent = |k: usize| model.pattern.ancestors(k).last().copied();
    for &k in model.pattern.order().iter().rev() {
        let mut row = parent(k);
        while let Some(i) = row {
            let a = h[(k, i)] / h[(k, k)];
            let mut column = Some(i);
            while let Some(j) = column {
                h[(i, j)] -= a * h[(k, j)];
                column = parent(j);
            }
            h[(k, i)] = a;
            row = parent(i);
        }
    }
    h
}

fn is_near(what: &str, robot: usize, found: &[f64], expected: &[f64], bound: f64) {
    is_near_beside(what, robot, found, (expected, 0.0), bound);
}

/// The same where what is zero is a difference of terms of so large a `size`.
fn is_near_beside(
    what: &str,
    robot: usize,
    found: &[f64],
    (expected, size): (&[f64], f64),
    bound: f64,
) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(size, |most: f64, x| most.max(x.abs()));
    for (found, expected) in found.iter().zip(expected) {
        let error = (found - expected).abs() / size;
        assert!(error <= bound, "{what} of robot {robot}: {error:e}");
    }
}

/// Numbers between -1 and 1 (D. H. Lehmer's generator).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0 * 48_271 % 0x7fff_ffff;
        2.0 * self.0 as f64 / f64::from(0x7fff_ffff) - 1.0
    }

    fn vector(&mut self, len: usize) -> Vec<f64> {
        (0..len).map(|_| self.next()).collect()
    }
}

/// A robot of revolute and prismatic joints: a chain, a star or between.
fn robot(seed: u64, random: &mut Random) -> Model {
    let joints = [1, 2, 5, 9, 14, 23, 50][seed as usize % 7];
    let mut text = String::from("<robot name=\"r\">");
    let mut triple = |size: f64| {
        format!("{} {} {}", size * random.next(), size * random.next(), size * random.next())
    };
    for i in 0..=joints {
        let (at, turned, xx) = (triple(0.1), triple(3.0), 0.01 + 1e-4 * i as f64);
        text += &format!(
            "<link name=\"l{i}\"><inertial><origin xyz=\"{at}\" rpy=\"{turned}\"/>\
             <mass value=\"{}\"/><inertia ixx=\"{xx}\" iyy=\"0.02\" izz=\"0.015\" ixy=\"1e-3\" \
             ixz=\"-2e-3\" iyz=\"5e-4\"/></inertial></link>",
            1.0 + 0.1 * i as f64
        );
    }
    for i in 1..=joints {
        let parent = match seed / 7 % 3 {
            0 => i - 1,
            1 => i / 8,
            _ => i - 1 - (i - 1) * (i % 3) / 3,
        };
        let kind = if i % 5 == 4 { "prismatic" } else { "revolute" };
        let (at, turned, axis) = (triple(0.3), triple(3.0), triple(1.0));
        text += &format!(
            "<joint name=\"j{i}\" type=\"{kind}\"><parent link=\"l{parent}\"/><child link=\"l{i}\"/>\
             <origin xyz=\"{at}\" rpy=\"{turned}\"/><axis xyz=\"{axis}\"/>\
             <limit lower=\"-1\" upper=\"1\" effort=\"1\" velocity=\"1\"/></joint>"
        );
    }
    text += "</robot>";
    let base = if seed.is_multiple_of(2) { Base::Floating } else { Base::Fixed };
    Model::from_urdf_text(&text, &Options::new(base)).unwrap().0
}

#[test]
fn the_textbooks_algorithms_give_the_same() {
    let mut random = Random(1);
    for seed in 0..63 {
        let model = robot(seed, &mut random);
        let at = seed as usize;
        let nv = model.velocity_dim();
        let mut q = random.vector(model.configuration_dim());
        crate::normalize(&model, &mut q);
        let [nu, rate] = [(); 2].map(|()| DVector::from_vec(random.vector(nv)));
        let links = links(&model, &q, nu.as_slice());
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &q, nu.as_slice());

        let mut mass = MassMatrix::new(&model);
        mass_matrix(&model, &kinematics, &mut mass);
        let mut m = DMatrix::zeros(nv, nv);
        mass.write_dense(m.as_mut_slice());
        let h = crba(&links, nv);
        is_near("mass matrix", at, m.as_slice(), h.as_slice(), 1e-14);

        let mut tau = DVector::zeros(nv);
        let mut workspace = InverseDynamics::new(&model);
        inverse_dynamics(&model, &kinematics, rate.as_slice(), &mut workspace, tau.as_mut_slice());
        let expected = rnea(&model, &links, &nu, &rate);
        is_near("inverse dynamics", at, tau.as_slice(), expected.as_slice(), 1e-13);

        let mut found = vec![0.0; nv];
        let none = vec![0.0; model.joint_dim()];
        let mut workspace = ArticulatedBody::new(&model);
        articulated_body(&model, &kinematics, &none, tau.as_slice(), &mut workspace, &mut found)
            .unwrap();
        let expected = aba(&model, &links, &nu, &tau);
        is_near("forward dynamics", at, &found, expected.as_slice(), 1e-9);

        let mut factor = MassFactor::new(&model);
        factor.factorize(&mass).unwrap();
        let (expected, factor) = (ltdl(&model, m.clone()), factor.view());
        for k in 0..nv {
            let d = expected[(k, k)];
            let row = model.pattern.ancestors(k).iter().map(|&i| d.sqrt() * expected[(k, i)]);
            let row: Vec<f64> = std::iter::once(d.sqrt()).chain(row).collect();
            let root = factor.inverse_pivots[k].sqrt().recip();
            let found = factor.rows[model.pattern.row(k)].iter().map(|l| root * l);
            let found: Vec<f64> = std::iter::once(root).chain(found).collect();
            is_near("factor", at, &found, &row, 1e-10);
        }
    }
}

/// `∂ID/∂q`, `∂ID/∂ν`, and with `∂FD/∂x = −H⁻¹ ∂ID/∂x` by a dense factor the derivatives of forward
/// dynamics. Rounding of the latter grows with the condition of H.
#[test]
fn the_textbooks_derivatives_are_the_same() {
    let mut random = Random(2);
    for seed in 0..63 {
        let model = robot(seed, &mut random);
        let at = seed as usize;
        let nv = model.velocity_dim();
        let mut q = random.vector(model.configuration_dim());
        crate::normalize(&model, &mut q);
        let [nu, rate] = [(); 2].map(|()| DVector::from_vec(random.vector(nv)));
        let links = links(&model, &q, nu.as_slice());
        let mut kinematics = Kinematics::new(&model);
        kinematics.update(&model, &q, nu.as_slice());
        let by = |along: fn(usize) -> Along| {
            let columns: Vec<_> =
                (0..nv).map(|k| rnea_derivative(&model, &links, (&nu, &rate), along(k))).collect();
            DMatrix::from_columns(&columns)
        };
        let expected = [by(Along::Configuration), by(Along::Velocity)];
        let tau = rnea(&model, &links, &nu, &rate).amax();

        let mut workspace = Derivatives::new(&model);
        let mut found = [(); 2].map(|()| DMatrix::from_element(nv, nv, f64::NAN));
        let [by_q, by_v] = &mut found;
        inverse_dynamics_derivatives(
            &model,
            &kinematics,
            rate.as_slice(),
            &mut workspace,
            by_q.as_mut_slice(),
            by_v.as_mut_slice(),
        );
        for (what, found, expected) in
            [("∂ID/∂q", &found[0], &expected[0]), ("∂ID/∂ν", &found[1], &expected[1])]
        {
            let expected = (expected.as_slice(), tau);
            is_near_beside(what, at, found.as_slice(), expected, 1e-11);
        }

        let mut mass = MassMatrix::new(&model);
        mass_matrix(&model, &kinematics, &mut mass);
        let mut factor = MassFactor::new(&model);
        factor.factorize(&mass).unwrap();
        let mut by_torque = vec![0.0; nv * model.joint_dim()];
        let [by_q, by_v] = &mut found;
        forward_dynamics_derivatives(
            &model,
            &kinematics,
            &factor,
            rate.as_slice(),
            &mut workspace,
            by_q.as_mut_slice(),
            by_v.as_mut_slice(),
            &mut by_torque,
        );
        let h = crba(&links, nv);
        let eigenvalues = h.clone().symmetric_eigenvalues();
        let bound = 1e-11 * (1e-3 * eigenvalues.max() / eigenvalues.min()).max(1.0);
        let h = h.lu();
        for (what, found, expected) in
            [("∂FD/∂q", &found[0], &expected[0]), ("∂FD/∂ν", &found[1], &expected[1])]
        {
            let expected = -h.solve(expected).unwrap();
            let expected = (expected.as_slice(), rate.amax());
            is_near_beside(what, at, found.as_slice(), expected, bound);
        }
    }
}
