//! Coulomb's law in its own words: signs, cones and directions, without the map that Newton's
//! method uses.

use super::*;
use crate::active_set::PyramidActiveSet;
use crate::circular::{CIRCULAR_SIDES, CircularByPyramids};
use crate::cone::ConeShape;
use crate::contact_problem::ContactProblemData;
use crate::method::ContactMethod as _;
use crate::problems::{random_definite, rigid_body};

/// By how much these forces break the law: forces relative to the force scale, accelerations to the
/// scale of accelerations, angles in rad.
fn fault(problem: &ContactProblem<'_>, forces: &[f64]) -> f64 {
    let mut accelerations = vec![0.0; problem.dim()];
    problem.acceleration_into(forces, &mut accelerations);
    let largest = forces.iter().fold(problem.force_scale, |most, f| most.max(f.abs()));
    let scale =
        accelerations.iter().fold(problem.acceleration_scale(), |most, a| most.max(a.abs()));
    let mut worst: f64 = 0.0;
    for i in (0..problem.contact_count()).filter(|&i| problem.is_active(i)) {
        let (f, a) = (&forces[3 * i..3 * i + 3], &accelerations[3 * i..3 * i + 3]);
        let (friction, slip) = (libm::hypot(f[0], f[1]), libm::hypot(a[0], a[1]));
        let reach = problem.friction[i] * f[2];
        worst = worst.max(-f[2] / largest).max(-a[2] / scale).max((friction - reach) / largest);
        // No force at a distance, and no slip below the limit of friction.
        worst = worst.max((f[2] / largest).min(a[2] / scale));
        worst = worst.max(((reach - friction) / largest).min(slip / scale));
        if friction / largest > 1e-3 && slip / scale > 1e-3 {
            let along = -(f[0] * a[0] + f[1] * a[1]) / (friction * slip);
            worst = worst.max(libm::acos(along.clamp(-1.0, 1.0)));
        }
    }
    worst
}

/// Problems at speeds from a creeping foot to a throw.
fn problems() -> impl Iterator<Item = ContactProblemData> {
    (0..100).flat_map(|seed| {
        [1, 2, 4, 8].into_iter().flat_map(move |count| {
            let circular = ConeShape::circular;
            let bodies = rigid_body(seed, count, circular(), seed % 3 == 0);
            [bodies, random_definite(seed, count, circular())].map(|mut data| {
                let fast = [1e-2, 1.0, 1e2][(seed % 3) as usize];
                for tangential in data.bias.chunks_exact_mut(3).flat_map(|b| &mut b[..2]) {
                    *tangential *= fast;
                }
                data
            })
        })
    })
}

#[test]
fn answers_obey_coulombs_law() {
    let (mut solved, mut count, mut steps, mut sliding) = (0, 0, 0, 0);
    for (at, data) in problems().enumerate() {
        let (problem, contacts) = (data.view(), data.friction.len());
        let inner = PyramidActiveSet::new(contacts, CIRCULAR_SIDES);
        let mut start = vec![0.0; problem.dim()];
        let _ = CircularByPyramids::new(inner, contacts).solve(&problem, &mut start);
        let mut newton = NonsmoothNewton::new(contacts);
        let (residual, taken) = newton.solve(&problem, &start, SlidingLaw::Coulomb, (1e-9, 1e-9));
        count += 1;
        sliding += u32::from(taken > 0);
        if residual <= 1e-9 {
            (solved, steps) = (solved + 1, steps + taken);
            let fault = fault(&problem, &newton.best);
            assert!(fault < 1e-6, "problem {at}: {fault:.1e}");
        }
    }
    assert!(solved * 100 > count * 95 && sliding * 2 > count, "{solved} of {count}, {sliding}");
    assert!(steps < 5 * sliding, "{steps} steps");
}
