//! Modes and impacts of a ball, and of soles whose contacts are redundant.

use legwork_block::{Dim, Signal, Type};
use legwork_qp::problems::Random;
use nalgebra::{DMatrix, DVector};
use serde_json::json;

use super::*;
use crate::buses::{ConstraintBus, ContactBus};
use crate::testing::contacts::{Harness, block, dynamics, packed, points};

/// A ball of 2 kg with one contact below its centre, r = 0.1 m.
fn ball(parameters: serde_json::Value) -> Harness {
    let impact: Impact = block(parameters);
    let ports = [("dynamics", dynamics(6)), ("points", points(1, 6)), ("f", Type::vector(3))];
    let mut rig = Harness::new(impact, &ports).expect("planned");
    let root = |i: usize| if i < 3 { f64::sqrt(2.0) } else { f64::sqrt(0.008) };
    let factor = DMatrix::from_fn(6, 6, |i, j| if i == j { root(i) } else { 0.0 });
    rig.set_leaf("dynamics", 1, (&factor * &factor).as_slice());
    rig.set_leaf("dynamics", 3, &packed(&factor));
    rig
}

/// J of the ball's lowest point: v + ω × (0, 0, -r).
fn write(rig: &mut Harness, gap: f64, nu: [f64; 6]) {
    let mut jacobian = [0.0; 18];
    for i in 0..3 {
        jacobian[4 * i] = 1.0;
    }
    (jacobian[3 * 4], jacobian[3 * 3 + 1]) = (-0.1, 0.1);
    let velocity = [nu[0] - 0.1 * nu[4], nu[1] + 0.1 * nu[3], nu[2]];
    rig.set_leaf("dynamics", 0, &nu);
    rig.set_leaf("points", ContactBus::JACOBIAN, &jacobian);
    rig.set_contact("points", 0, gap, velocity);
}

fn energy(nu: &[f64]) -> f64 {
    let square = |x: &[f64]| x.iter().map(|v| v * v).sum::<f64>();
    0.5 * (2.0 * square(&nu[..3]) + 0.008 * square(&nu[3..]))
}

/// Semantics 4.4: touching at t = 0 is closed without impact; landing closes with one; a closed
/// contact opens on zero force with separating velocity only.
#[test]
fn s4_4_modes_open_and_close_on_both_conditions() {
    let mut rig = ball(json!({ "mu": 0.7 }));
    let nu = [0.0, 0.0, -1.0, 0.0, 0.0, 0.0];
    write(&mut rig, 0.0, nu);
    rig.output(0.0).expect("no fault");
    assert_eq!((rig.value("trigger"), rig.value("nu_plus")), (vec![0.0], nu.to_vec()));
    rig.step(0.0).expect("no fault");
    assert_eq!(rig.value("mode"), [1.0]);
    assert_eq!(rig.value("trigger"), [0.0]);

    for (force, up, mode) in [(5.0, 0.1, 1.0), (0.0, -0.1, 1.0), (0.0, 0.1, 0.0)] {
        write(&mut rig, 1e-4, [0.0, 0.0, up, 0.0, 0.0, 0.0]);
        rig.set("f", &[0.0, 0.0, force]);
        rig.step(0.1).expect("no fault");
        rig.output(0.1).expect("no fault");
        assert_eq!(rig.value("mode"), [mode], "force {force}, velocity {up}");
    }

    write(&mut rig, -1e-5, nu);
    rig.output(0.2).expect("no fault");
    assert_eq!(rig.value("trigger"), [1.0]);
    assert!(rig.value("nu_plus")[2].abs() < 1e-9);
    assert!((rig.value("impulse")[2] - 2.0).abs() < 1e-6, "m v");
    assert!(rig.guard(0.2).expect("no fault"));
    assert!(!rig.guard(0.2).expect("no fault"), "the reset disarms the guard");
    rig.output(0.2).expect("no fault");
    assert_eq!((rig.value("mode"), rig.value("trigger")), (vec![1.0], vec![0.0]));
    assert!((rig.value("impulse")[2] - 2.0).abs() < 1e-6, "m v, in the row after the reset");
    assert_eq!(rig.value("struck"), [1.0]);
    rig.step(0.2).expect("no fault");
    rig.output(0.201).expect("no fault");
    assert_eq!((rig.value("impulse"), rig.value("struck")), (vec![0.0; 3], vec![0.0]));
    assert_eq!(rig.report().value_of("impacts"), Some(1.0));
}

#[test]
fn every_kind_takes_out_energy_and_frictional_impulses_stay_in_the_cone() {
    let nu = [1.0, -0.5, -2.0, 3.0, 1.0, 0.2];
    for (kind, cone) in [
        ("Stick", json!("Circular")),
        ("NormalOnly", json!("Circular")),
        ("Frictional", json!("Circular")),
        ("Frictional", json!({ "Pyramid": {} })),
        ("TwoPhase", json!({ "Pyramid": {} })),
    ] {
        let mut rig = ball(json!({ "mu": 0.1, "kind": kind, "cone": cone }));
        write(&mut rig, 1.0, nu);
        rig.step(0.0).expect("no fault");
        write(&mut rig, 0.0, nu);
        rig.output(0.001).expect("no fault");
        let (after, f) = (rig.value("nu_plus"), rig.value("impulse"));
        assert!(energy(&after) < energy(&nu), "{kind}");
        assert!(after[2] > -1e-12, "{kind}: still approaching");
        let reach = (f[0] * f[0] + f[1] * f[1]).sqrt();
        match kind {
            "Stick" => {
                let slip = [after[0] - 0.1 * after[4], after[1] + 0.1 * after[3]];
                assert!(slip.iter().all(|v| v.abs() < 1e-9), "{slip:?}");
            }
            "NormalOnly" => assert_eq!(reach, 0.0),
            _ => assert!(reach > 0.0 && reach <= 0.1 * f[2] * (1.0 + 1e-6), "{kind} {f:?}"),
        }
    }
}

/// Four vertices of one rigid sole on a random mechanism of which two rows are held: contacts are
/// redundant among themselves and with the constraints. In every kind no contact approaches
/// afterwards, the constraints are at rest, and the energy does not grow; on ground that moves,
/// the velocities are those against the ground.
#[test]
fn redundant_soles_with_constraints_come_to_rest_without_gaining_energy() {
    const NV: usize = 9;
    let bus = ConstraintsBus::of(&ConstraintBus::new(&Dim::fixed(NV)), &Dim::fixed(1)).ty();
    let ports = [
        ("dynamics", dynamics(NV)),
        ("points", points(4, NV)),
        ("f", Type::vector(12)),
        ("constraints", bus),
    ];
    let kinds = ["Stick", "NormalOnly", "Frictional", "TwoPhase"];
    for (seed, kind) in (0..40).flat_map(|seed| kinds.map(|kind| (seed, kind))) {
        let mut random = Random::new(seed);
        let factor = DMatrix::from_fn(NV, NV, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Greater => 0.5 * random.normal(),
            std::cmp::Ordering::Equal => 0.5 + random.uniform(),
            std::cmp::Ordering::Less => 0.0,
        });
        let mass = factor.transpose() * &factor;
        // The sole: six rows of a frame; a vertex moves at v + w × r.
        let frame = DMatrix::from_fn(6, NV, |_, _| random.normal());
        let nu = DVector::from_fn(NV, |_, _| random.normal());
        // Held: one row of the sole's frame and one of its own; twice.
        let own = DMatrix::from_fn(1, NV, |_, _| random.normal());
        let held =
            [0, 1, 0, 1].map(|i| if i == 0 { frame.row(5) } else { own.row(0) }.into_owned());
        let parameters = json!({ "mu": 0.6, "kind": kind, "cone": { "Pyramid": { "sides": 8 } } });
        let mut rig = Harness::new(block::<Impact>(parameters), &ports).expect("planned");
        rig.set_leaf("dynamics", 0, nu.as_slice());
        rig.set_leaf("dynamics", 1, mass.as_slice());
        rig.set_leaf("dynamics", 3, &packed(&factor));
        let (mut j_p, mut active) = ([0.0; 6 * NV], [0.0; 6]);
        for (row, held) in held.iter().enumerate() {
            (0..NV).for_each(|c| j_p[6 * c + row] = held[c]);
            active[row] = 1.0;
        }
        rig.set_leaf("constraints", ConstraintBus::JACOBIAN, &j_p);
        rig.set_leaf("constraints", ConstraintBus::ACTIVE, &active);
        let ground = if seed % 2 == 0 { [0.0; 3] } else { [0.3, -0.2, 0.1] };
        let mut all = DMatrix::zeros(12, NV);
        let mut relative = Vec::new();
        for (i, (x, y)) in
            [(0.1, 0.05), (0.1, -0.05), (-0.1, 0.05), (-0.1, -0.05)].iter().enumerate()
        {
            let (v, w) = (frame.rows(0, 3), frame.rows(3, 3));
            // w × (x, y, 0) by rows.
            let mut rows = v.into_owned();
            for c in 0..NV {
                rows[(0, c)] -= y * w[(2, c)];
                rows[(1, c)] += x * w[(2, c)];
                rows[(2, c)] += y * w[(0, c)] - x * w[(1, c)];
            }
            let at = &rows * &nu;
            relative.push([at[0] - ground[0], at[1] - ground[1], at[2] - ground[2]]);
            all.rows_mut(3 * i, 3).copy_from(&rows);
            let first = i * ContactBus::LEAVES;
            rig.set_leaf("points", first + ContactBus::JACOBIAN, rows.as_slice());
            rig.set_contact("points", i, 1.0, relative[i]);
        }
        rig.step(0.0).expect("no fault");
        // Those that do not approach were closed already or stay open.
        for (i, relative) in relative.iter().enumerate() {
            rig.set_contact("points", i, 0.0, *relative);
        }
        let approaching: Vec<bool> = relative.iter().map(|v| v[2] < 0.0).collect();
        rig.output(0.001).expect("no fault");
        let after = DVector::from_vec(rig.value("nu_plus"));
        if !approaching.contains(&true) {
            assert_eq!(after, nu);
            continue;
        }
        let what = format!("seed {seed}, {kind}");
        for held in &held {
            let rate = (held * &after)[0];
            assert!(rate.abs() < 1e-10, "{what}: constraint {rate:.1e}");
        }
        let velocity = &all * &after;
        for i in (0..4).filter(|&i| approaching[i]) {
            let v = [0, 1, 2].map(|axis| velocity[3 * i + axis] - ground[axis]);
            assert!(v[2] > -1e-9, "{what}: approach {:.1e}", v[2]);
            if kind == "Stick" && seed % 2 == 0 {
                assert!(v.iter().all(|v| v.abs() < 1e-9), "{what}: {v:?}");
            }
        }
        let energy = |nu: &DVector<f64>| 0.5 * nu.dot(&(&mass * nu));
        if seed % 2 == 0 {
            let growth = energy(&after) - energy(&nu);
            assert!(growth <= 1e-14 * energy(&nu), "{what}: energy grew by {growth:.1e}");
        }
    }
}

#[test]
fn two_phases_need_a_pyramid() {
    let impact: Impact = block(json!({ "mu": 0.5, "kind": "TwoPhase", "cone": "Circular" }));
    let ports = [("dynamics", dynamics(6)), ("points", points(1, 6)), ("f", Type::vector(3))];
    let invalid = Harness::new(impact, &ports).err().expect("refused");
    assert_eq!(invalid.parameter.as_deref(), Some("cone"));
}
