//! Normal speeds after impacts with restitution, in chains too.
//!
//! Newton's law, `v⁺ ≥ −e v⁻` at each contact, loses energy in a chain: a ball that is at rest
//! until its neighbour strikes it has `v⁻ = 0`, so `e` has no effect on its next contact. Here one
//! impact follows the other within the instant, as in generalised reflections. With A the contacts
//! that approach, v their normal speeds and p the impulses:
//!
//! ```text
//! 0 ≤ p ⟂ G_AA p + (1 + e) v_A ≥ 0        v ← v + G_A p        until none approaches
//! ```
//!
//! Contacts that approach at the same time bounce together, so a box that lands flat stays flat.
//! At e = 1 each pass keeps kinetic energy: `½ pᵀ(2 v_A + G_AA p) = 0`. The result is the smallest
//! speed of separation of each contact that was struck. With it the contact problem of the step,
//! `v⁺ ≥` that speed, finds the forces, with friction.
//!
//! # References
//! - B. Smith, D. Kaufman, E. Vouga, R. Tamstorf, E. Grinspun, *Reflections on simultaneous
//!   impact*, ACM Trans. Graph. 31 (2012).
//! - V. Seghete, T. Murphey, *Multiple instantaneous collisions in a variational framework*, CDC
//!   2009: impacts one after the other.

use legwork_qp::complementarity::{Lcp, PrincipalPivoting};

/// Contacts with restitution at one instant, as borrowed slices.
#[derive(Clone, Copy, Debug)]
pub struct BounceProblem<'a> {
    /// G, 3k × 3k: contact velocity per impulse [1/kg]; zero rows where no contact acts.
    pub inverse_inertia: &'a [f64],
    /// e, k.
    pub restitution: &'a [f64],
    /// Normal velocity before, k [m/s].
    pub velocity: &'a [f64],
    /// Nonzero where the contact acts, k.
    pub active: &'a [f64],
    /// Speed of approach above which a contact with restitution bounces [m/s].
    pub bounce_speed: f64,
}

/// Work memory for [`Self::find`]; it grows if more contacts approach together than before.
#[derive(Clone, Debug, Default)]
pub struct Bounces {
    /// Normal velocities so far, k.
    velocity: Vec<f64>,
    /// Contacts of this pass, their matrix, vector, impulses and guess.
    approaching: Vec<usize>,
    matrix: Vec<f64>,
    vector: Vec<f64>,
    impulses: Vec<f64>,
    pressing: Vec<f64>,
    pivoting: PrincipalPivoting,
}

/// Impacts that may follow each other in one instant, per contact; a chain of n balls needs n.
const MOST_PER_CONTACT: usize = 8;
/// And in addition to those.
const MOST: usize = 32;

/// Contacts that approach together for which memory is reserved.
const RESERVED: usize = 32;

impl Bounces {
    /// Memory for `contact_count` contacts, of which at most 32 approach together.
    #[must_use]
    pub fn new(contact_count: usize) -> Self {
        let together = contact_count.min(RESERVED);
        Self {
            velocity: Vec::with_capacity(contact_count),
            approaching: Vec::with_capacity(contact_count),
            matrix: Vec::with_capacity(together * together),
            vector: Vec::with_capacity(together),
            impulses: Vec::with_capacity(together),
            pressing: Vec::with_capacity(together),
            pivoting: PrincipalPivoting::new(together, together),
        }
    }

    /// Writes the speeds with which contacts separate, k; NaN where a contact does not bounce.
    /// Returns false, with all NaN, if none bounces.
    ///
    /// | symbol | argument | shape | meaning |
    /// |---|---|---|---|
    /// | | `problem` | | G, e and the velocities before |
    /// | | `closes` | | true if contact i closes within the step at this normal velocity [m/s] |
    /// | v⁺ | `separation` | k | written [m/s] |
    ///
    /// A contact that was struck and approaches again, more slowly than it bounces, has a negative
    /// speed.
    ///
    /// If the impacts do not end (many contacts with e near 1), what still approaches is left to
    /// the contact problem, which stops it without a bounce.
    ///
    /// # Panics
    /// If a slice has the wrong length.
    pub fn find(
        &mut self,
        problem: &BounceProblem<'_>,
        closes: impl Fn(usize, f64) -> bool,
        separation: &mut [f64],
    ) -> bool {
        let k = problem.velocity.len();
        assert_eq!(problem.inverse_inertia.len(), 9 * k * k, "G needs 3k x 3k values");
        assert_eq!(
            (problem.restitution.len(), problem.active.len(), separation.len()),
            (k, k, k),
            "e, the active flags and the speeds need k values"
        );
        separation.fill(f64::NAN);
        self.velocity.clear();
        self.velocity.extend_from_slice(problem.velocity);
        for pass in 0..MOST + MOST_PER_CONTACT * k {
            self.gather(problem, &closes);
            let restitution = |i: &usize| problem.restitution[*i];
            let is_over = self.approaching.is_empty()
                || pass == 0 && !self.approaching.iter().any(|i| restitution(i) > 0.0);
            if is_over || !self.strike(problem, separation) {
                break;
            }
        }
        separation.iter().any(|speed| !speed.is_nan())
    }

    /// Contacts that approach and would close within the step.
    fn gather(&mut self, problem: &BounceProblem<'_>, closes: &impl Fn(usize, f64) -> bool) {
        self.approaching.clear();
        for (i, &v) in self.velocity.iter().enumerate() {
            let least = if problem.restitution[i] > 0.0 { problem.bounce_speed } else { 0.0 };
            if problem.active[i] != 0.0 && v < -least && closes(i, v) {
                self.approaching.push(i);
            }
        }
    }

    /// One pass: the impulses of the contacts that approach. False if they are not found.
    fn strike(&mut self, problem: &BounceProblem<'_>, separation: &mut [f64]) -> bool {
        let (k, count) = (self.velocity.len(), self.approaching.len());
        let normal = |row: usize, column: usize| {
            problem.inverse_inertia[(3 * column + 2) * 3 * k + 3 * row + 2]
        };
        self.matrix.clear();
        self.vector.clear();
        for &j in &self.approaching {
            self.matrix.extend(self.approaching.iter().map(|&i| normal(i, j)));
            self.vector.push((1.0 + problem.restitution[j]) * self.velocity[j]);
        }
        self.impulses.clear();
        self.impulses.resize(count, 0.0);
        self.pressing.clear();
        self.pressing.resize(count, 1.0);
        let Ok(lcp) = Lcp::new(&self.matrix, &self.vector) else { return false };
        let outcome = self.pivoting.solve_lcp(&lcp, &mut self.pressing, &mut self.impulses);
        if !outcome.status.is_usable() {
            return false;
        }
        // A contact of this pass separates at e times its speed, without rounding.
        for (after, &i) in self.vector.iter_mut().zip(&self.approaching) {
            *after = -problem.restitution[i] * self.velocity[i];
        }
        for i in (0..k).filter(|&i| problem.active[i] != 0.0) {
            let pairs = self.approaching.iter().zip(&self.impulses);
            let change: f64 = pairs.map(|(&j, p)| normal(i, j) * p).sum();
            // Still NaN where the contact was not struck.
            separation[i] += change;
            self.velocity[i] += change;
        }
        let struck = self.approaching.iter().zip(&self.vector).zip(&self.impulses);
        for ((&i, &after), &impulse) in struck {
            if impulse > 0.0 {
                self.velocity[i] = after;
            }
            if problem.restitution[i] > 0.0 {
                separation[i] = after;
            }
        }
        true
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may stop")]
mod tests {
    use super::*;

    /// Balls of these masses in a row, contact i between i and i + 1: speeds after the impact.
    fn row(masses: &[f64], e: f64, before: &[f64]) -> Vec<f64> {
        let k = masses.len() - 1;
        let mut g = vec![0.0; 9 * k * k];
        let mut set = |i: usize, j: usize, value: f64| g[(3 * j + 2) * 3 * k + 3 * i + 2] = value;
        for i in 0..k {
            set(i, i, 1.0 / masses[i] + 1.0 / masses[i + 1]);
            if i + 1 < k {
                set(i, i + 1, -1.0 / masses[i + 1]);
                set(i + 1, i, -1.0 / masses[i + 1]);
            }
        }
        let relative: Vec<f64> = before.windows(2).map(|v| v[1] - v[0]).collect();
        let problem = BounceProblem {
            inverse_inertia: &g,
            restitution: &vec![e; k],
            velocity: &relative,
            active: &vec![1.0; k],
            bounce_speed: 1e-9,
        };
        let mut separation = vec![0.0; k];
        let mut bounces = Bounces::new(k);
        assert!(bounces.find(&problem, |_, _| true, &mut separation));
        for (speed, v) in separation.iter_mut().zip(&bounces.velocity) {
            assert!(speed.is_nan() || (*speed - v).abs() < 1e-12, "{speed} {v}");
            *speed = *v;
        }
        // Momentum and the relative speeds give the speeds.
        let total: f64 = masses.iter().sum();
        let momentum: f64 = masses.iter().zip(before).map(|(m, v)| m * v).sum();
        let mut after = vec![0.0; k + 1];
        for i in 0..k {
            after[i + 1] = after[i] + separation[i];
        }
        let shift =
            momentum / total - masses.iter().zip(&after).map(|(m, v)| m * v).sum::<f64>() / total;
        after.iter_mut().for_each(|v| *v += shift);
        after
    }

    fn energy(masses: &[f64], v: &[f64]) -> f64 {
        masses.iter().zip(v).map(|(m, v)| 0.5 * m * v * v).sum()
    }

    /// Newton's cradle: as many balls leave as have struck, at their speed.
    #[test]
    fn as_many_balls_leave_as_have_struck() {
        for count in 2..12 {
            for struck in 1..count {
                let mut before = vec![0.0; count];
                before[..struck].fill(1.0);
                let after = row(&vec![0.4; count], 1.0, &before);
                for (i, v) in after.iter().enumerate() {
                    let expected = if i >= count - struck { 1.0 } else { 0.0 };
                    assert!((v - expected).abs() < 1e-9, "{count} {struck}: {after:?}");
                }
            }
        }
    }

    /// Of equal balls with e < 1 the last leaves with `((1 + e)/2)ⁿ⁻¹`, and those before it share
    /// the rest.
    #[test]
    fn a_chain_passes_on_what_its_restitution_leaves() {
        for (count, e) in [(3, 0.9), (4, 0.8), (5, 0.95), (2, 0.3), (6, 1.0)] {
            let mut before = vec![0.0; count];
            before[0] = 1.0;
            let after = row(&vec![2.0; count], e, &before);
            let first = f64::powi(0.5 * (1.0 + e), i32::try_from(count).unwrap() - 1);
            // Later impacts can only add to it.
            assert!(after[count - 1] >= first - 1e-12, "{count} {e}: {after:?}, {first}");
            assert!(after.windows(2).all(|v| v[1] >= v[0] - 1e-8), "{after:?}");
            let lost = energy(&vec![2.0; count], &before) - energy(&vec![2.0; count], &after);
            assert!(if e == 1.0 { lost.abs() < 1e-12 } else { lost > 0.0 }, "{count} {e}: {lost}");
        }
    }

    /// Any masses and speeds: momentum is kept by construction, energy at e = 1, and no contact
    /// approaches afterwards.
    #[test]
    fn energy_is_kept_at_one_and_never_made_below() {
        let mut random = legwork_qp::problems::Random::new(3);
        for _ in 0..200 {
            let count = 2 + (random.uniform() * 6.0) as usize;
            let masses: Vec<f64> = (0..count).map(|_| f64::exp(2.0 * random.uniform())).collect();
            let before: Vec<f64> = (0..count).map(|i| random.uniform() - 0.3 * i as f64).collect();
            if before.windows(2).all(|v| v[1] >= v[0]) {
                continue;
            }
            for e in [1.0, 0.7, 0.2] {
                let after = row(&masses, e, &before);
                let [was, is] = [&before, &after].map(|v| energy(&masses, v));
                assert!(is <= was * (1.0 + 1e-9), "{masses:?} {before:?} {e}: {was} {is}");
                if e == 1.0 {
                    assert!((is / was - 1.0).abs() < 1e-9, "{masses:?} {before:?}: {was} {is}");
                }
                // Impacts of small e fade out below the default bounce speed, 2 cm/s.
                assert!(after.windows(2).all(|v| v[1] - v[0] > -0.02), "{after:?}");
            }
        }
    }

    /// Four corners of a box that lands flat have the same speed.
    #[test]
    fn what_strikes_together_bounces_together() {
        let k = 4;
        let corners = [[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [-1.0, 1.0]];
        let mut g = vec![0.0; 9 * k * k];
        for (i, a) in corners.iter().enumerate() {
            for (j, b) in corners.iter().enumerate() {
                g[(3 * j + 2) * 3 * k + 3 * i + 2] = 1.0 + 1.5 * (a[0] * b[0] + a[1] * b[1]);
            }
        }
        let problem = BounceProblem {
            inverse_inertia: &g,
            restitution: &[0.6; 4],
            velocity: &[-2.0; 4],
            active: &[1.0; 4],
            bounce_speed: 0.02,
        };
        let mut separation = [0.0; 4];
        assert!(Bounces::default().find(&problem, |_, _| true, &mut separation));
        assert_eq!(separation, [1.2; 4]);
        let slow = BounceProblem { velocity: &[-0.01; 4], ..problem };
        assert!(!Bounces::default().find(&slow, |_, _| true, &mut separation));
        assert!(separation.iter().all(|speed| speed.is_nan()));
    }
}
