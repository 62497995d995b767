//! The trained network of `balance.ron`, from starts that its training has not seen.

use legwork_qp::problems::Random;

use super::harness::{Case, failed_checks};

/// Uniform in ±most.
fn within(random: &mut Random, most: f64) -> f64 {
    most * (2.0 * random.uniform() - 1.0)
}

/// 95 of 100 episodes end upright, in the place, never having fallen.
#[test]
fn the_trained_policy_balances_from_new_starts() {
    let mut random = Random::new(7);
    let mut lost = Vec::new();
    for episode in 0..100 {
        let place = format!("{} m", within(&mut random, 0.5));
        let tilt = format!("{} rad", within(&mut random, 0.3));
        let speed = format!("{} m/s", within(&mut random, 0.5));
        let turn = format!("{} rad/s", within(&mut random, 0.5));
        let set = [("place", &*place), ("tilt", &tilt), ("speed", &speed), ("turn", &turn)];
        let case = Case { file: "diagrams/basics/balance.ron", set: &set, ..Case::default() };
        let failed = failed_checks(&case.simulate());
        if !failed.is_empty() {
            lost.push((episode, set.map(|(_, value)| value.to_owned()), failed));
        }
    }
    assert!(lost.len() <= 5, "{} episodes are lost: {lost:?}", lost.len());
}

/// Without its network the pole falls.
#[test]
fn without_the_policy_the_pole_falls() {
    let case = Case {
        file: "diagrams/basics/balance.ron",
        variants: &[("control", "outside")],
        ..Case::default()
    };
    assert!(failed_checks(&case.simulate()).contains(&"stays up".to_owned()));
}
