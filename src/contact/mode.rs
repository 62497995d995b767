//! When a contact opens and closes.

/// Whether a contact is closed, a state wherever a model needs it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContactMode {
    /// The contact may not carry force; its touchdown guard is armed.
    #[default]
    Open,
    /// The contact may carry force.
    Closed,
}

impl ContactMode {
    /// The mode of a contact at the start of a run: closed if it touches.
    #[must_use]
    pub fn initial(gap: f64) -> Self {
        if gap <= 0.0 { Self::Closed } else { Self::Open }
    }

    /// True if the contact may carry force.
    #[must_use]
    pub fn is_closed(self) -> bool {
        self == Self::Closed
    }
}

/// The mode after a step.
///
/// - open → closed on `gap ≤ 0` with approaching velocity (`normal_velocity < 0`);
/// - closed → open only on zero force (`normal_force ≤ force_tolerance`) with separating velocity
///   (`normal_velocity > 0`).
///
/// Without the two conditions on velocity a standing robot flips modes hundreds of times per
/// second. The tolerance [N] is that of the solver that found the force: 0 for an active-set
/// method, its accuracy for an iterative one. NaN keeps the mode.
#[must_use]
pub fn next_mode(
    mode: ContactMode,
    gap: f64,
    normal_velocity: f64,
    normal_force: f64,
    force_tolerance: f64,
) -> ContactMode {
    match mode {
        ContactMode::Open if gap <= 0.0 && normal_velocity < 0.0 => ContactMode::Closed,
        ContactMode::Closed if normal_force <= force_tolerance && normal_velocity > 0.0 => {
            ContactMode::Open
        }
        unchanged => unchanged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContactMode::{Closed, Open};

    #[test]
    fn modes_change_on_both_conditions_only() {
        for (mode, gap, velocity, force, expected) in [
            (Open, 1e-3, -1.0, 0.0, Open),
            (Open, 0.0, -1.0, 0.0, Closed),
            (Open, -1e-3, 0.1, 0.0, Open),
            (Open, -1e-3, 0.0, 0.0, Open),
            (Closed, 0.0, 0.1, 5.0, Closed),
            (Closed, 0.0, -0.1, 0.0, Closed),
            (Closed, 1e-4, 0.0, 0.0, Closed),
            (Closed, 1e-4, 0.1, 0.0, Open),
            (Open, f64::NAN, -1.0, 0.0, Open),
            (Closed, 0.0, f64::NAN, 0.0, Closed),
        ] {
            let found = next_mode(mode, gap, velocity, force, 0.0);
            assert_eq!(found, expected, "{mode:?}, gap {gap}, velocity {velocity}, force {force}");
        }
        assert_eq!((ContactMode::initial(0.0), ContactMode::initial(1e-9)), (Closed, Open));
    }
}
