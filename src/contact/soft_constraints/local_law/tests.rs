//! The impulse is a projection, and the curvature its derivative.

use super::*;
use crate::soft_constraints::problem::{Friction, SpringDamper};
use legwork_qp::problems::Random;

fn random_contact(random: &mut Random) -> LocalLaw {
    let normal = SpringDamper::new(-1e-3 * random.uniform(), 1e4 * random.uniform(), 10.0);
    let friction = Friction::coulomb(0.2 + random.uniform(), 1e3 * random.uniform() + 1.0);
    let lag = Lag { slip: 0.1 * random.uniform(), ..Lag::default() };
    LocalLaw::new(&Law::Contact(normal, friction), 0.01, [1.0, 1.0], &lag)
}

/// The impulse is the nearest point of the cone in the metric of 1/D: it lies in the cone, and
/// `(y - γ)/D` in the polar cone, normal to it.
#[test]
fn the_impulse_is_the_projection_on_the_cone() {
    let mut random = Random::new(3);
    let mut seen = [0; 3];
    for _ in 0..2000 {
        let law = random_contact(&mut random);
        let u = [random.normal(), random.normal(), 0.3 * random.normal()];
        let u = u.map(|u| u * libm::pow(10.0, -3.0 * random.uniform()));
        let (y, response) = (law.drive(u), law.response(u));
        let (g, [d_t, d_n]) = (response.impulse, law.conductance);
        seen[response.region as usize] += 1;
        let slack = law.friction * g[2] - (g[0] * g[0] + g[1] * g[1]).sqrt();
        let scale = y.iter().fold(1e-12, |m: f64, y| m.max(y.abs()));
        assert!(slack >= -1e-12 * scale && g[2] >= 0.0, "{g:?}");
        let z = [(g[0] - y[0]) / d_t, (g[1] - y[1]) / d_t, (g[2] - y[2]) / d_n];
        let size = z.iter().fold(1e-12, |m: f64, z| m.max(z.abs()));
        // z in the dual cone: z_n ≥ μ |z_t|.
        let dual = z[2] - law.friction * (z[0] * z[0] + z[1] * z[1]).sqrt();
        assert!(dual >= -1e-10 * size, "{z:?}");
        let inner: f64 = g.iter().zip(&z).map(|(g, z)| g * z).sum();
        assert!(inner.abs() <= 1e-10 * size * scale, "{inner:.1e}");
    }
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

/// The curvature is minus the difference quotient of the impulse, and symmetric.
#[test]
fn the_curvature_is_the_derivative() {
    let mut random = Random::new(4);
    for _ in 0..500 {
        let law = random_contact(&mut random);
        let u = [random.normal(), random.normal(), 0.3 * random.normal()].map(|u| 0.1 * u);
        let mut curvature = [0.0; 9];
        let region = law.curvature(u, &mut curvature).region;
        let step = 1e-6;
        for j in 0..3 {
            let at = |sign: f64| {
                let mut moved = u;
                moved[j] += sign * step;
                law.response(moved)
            };
            let (plus, minus) = (at(1.0), at(-1.0));
            if plus.region != region || minus.region != region {
                continue;
            }
            for i in 0..3 {
                let slope = (plus.impulse[i] - minus.impulse[i]) / (2.0 * step);
                let scale = law.conductance[0].max(law.conductance[1]);
                let c = curvature[3 * j + i];
                assert!((c + slope).abs() < 1e-5 * scale, "{i} {j}: {c} {slope}");
                assert_eq!(c.to_bits(), curvature[3 * i + j].to_bits());
            }
        }
    }
}
