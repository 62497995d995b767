//! Errors of a contact model, in numbers; forces and velocities in contact axes (t1, t2, n).

/// Deepest penetration `max(0, -gap)` [m].
#[must_use]
pub fn penetration(gaps: &[f64]) -> f64 {
    gaps.iter().fold(0.0, |worst, gap| f64::max(worst, -gap))
}

/// Largest tangential speed of a contact whose normal force is above `force_threshold` [m/s].
///
/// # Panics
/// If the slices differ in length.
#[must_use]
pub fn slip_speed(forces: &[f64], velocities: &[f64], force_threshold: f64) -> f64 {
    assert_eq!(forces.len(), velocities.len(), "one velocity per force");
    let pairs = forces.chunks_exact(3).zip(velocities.chunks_exact(3));
    pairs
        .filter(|(f, _)| f[2] > force_threshold)
        .map(|(_, v)| (v[0] * v[0] + v[1] * v[1]).sqrt())
        .fold(0.0, f64::max)
}

/// Largest `|f_n φ|`, the force that acts at a distance or through a penetration [N m].
///
/// # Panics
/// If there is not one gap per contact.
#[must_use]
pub fn complementarity(forces: &[f64], gaps: &[f64]) -> f64 {
    assert_eq!(forces.len(), 3 * gaps.len(), "one gap per contact");
    forces.chunks_exact(3).zip(gaps).map(|(f, gap)| (f[2] * gap).abs()).fold(0.0, f64::max)
}

/// Smallest relative margin `(μ f_n - |f_t|) / (μ f_n)` to the circular cone over contacts with
/// `f_n > force_threshold`: 1 without friction force, 0 on the cone, negative outside; 1 if no
/// contact is loaded. A contact without friction (μ = 0) has margin 0, or -∞ if it has a tangential
/// force.
///
/// # Panics
/// If there is not one friction coefficient per contact.
#[must_use]
pub fn cone_margin(forces: &[f64], friction: &[f64], force_threshold: f64) -> f64 {
    assert_eq!(forces.len(), 3 * friction.len(), "one friction coefficient per contact");
    let mut margin: f64 = 1.0;
    for (f, mu) in forces.chunks_exact(3).zip(friction).filter(|(f, _)| f[2] > force_threshold) {
        let (reach, tangential) = (mu * f[2], (f[0] * f[0] + f[1] * f[1]).sqrt());
        let own = if reach > 0.0 {
            (reach - tangential) / reach
        } else if tangential > 0.0 {
            f64::NEG_INFINITY
        } else {
            0.0
        };
        margin = margin.min(own);
    }
    margin
}

/// How far the contact forces are from carrying the weight: `|Σ R_i f_i + m g| / (m |g|)`; 0 for a
/// body at rest.
///
/// | symbol | argument | shape |
/// |---|---|---|
/// | f | `forces` | 3k, contact axes [N] |
/// | R_i | `frames` | k rotations `world_from_contact` |
/// | m | `mass` | [kg] |
/// | g | `gravity` | 3, world axes [m/s²] |
///
/// # Panics
/// If there is not one frame per contact.
#[must_use]
pub fn weight_imbalance(
    forces: &[f64],
    frames: &[nalgebra::Matrix3<f64>],
    mass: f64,
    gravity: &nalgebra::Vector3<f64>,
) -> f64 {
    assert_eq!(forces.len(), 3 * frames.len(), "one frame per contact");
    let mut sum = mass * gravity;
    for (f, frame) in forces.chunks_exact(3).zip(frames) {
        sum += frame * nalgebra::Vector3::new(f[0], f[1], f[2]);
    }
    sum.norm() / (mass * gravity.norm())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_of_a_hand_made_case() {
        let forces = [3.0, 4.0, 10.0, 0.0, 0.0, 0.0];
        let velocities = [0.3, 0.4, 0.0, 9.0, 9.0, 9.0];
        assert_eq!(penetration(&[0.1, -0.02]), 0.02);
        assert_eq!(penetration(&[0.1]), 0.0);
        assert_eq!(slip_speed(&forces, &velocities, 0.0), 0.5);
        assert_eq!(complementarity(&forces, &[-1e-3, 5.0]), 1e-2);
        assert_eq!(cone_margin(&forces, &[1.0, 0.1], 0.0), 0.5);
        assert_eq!(cone_margin(&forces, &[0.25, 0.1], 0.0), -1.0);
        assert_eq!(cone_margin(&[0.0; 3], &[0.5], 0.0), 1.0);
        let frames = [nalgebra::Matrix3::identity(); 2];
        let gravity = nalgebra::Vector3::new(-3.0, -4.0, -10.0);
        assert_eq!(weight_imbalance(&forces, &frames, 1.0, &gravity), 0.0);
    }
}
