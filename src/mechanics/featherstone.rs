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
    ArticulatedBody, Base, InverseDynamics, Kinematics, MassFactor, MassMatrix, Model, Options,
    articulated_body, inverse_dynamics, mass_matrix,
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
    assert_eq!(found.len(), expected.len(), "{what}");
    let size = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
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
    Model::from_urdf(&text, &Options::new(base)).unwrap().0
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
