//! Torque of a DC motor under a limited supply voltage.
//!
//! A motor without inductance has `v = R i + k_e ω` and makes the torque `t = k_t i`. Its drive
//! offers voltages within ± V, so at the speed ω the currents
//!
//! ```text
//! (−V − k_e ω)/R ≤ i ≤ (V − k_e ω)/R
//! ```
//!
//! are possible: full torque up to a corner speed, and from there linearly down to zero at the
//! no-load speed `V/k_e`. A brushed motor has `k_e = k_t`; for a three-phase motor the two differ
//! by the definition of current and voltage (phase, line, amplitude, mean).

/// Constants of one motor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcMotor {
    /// `k_t`, torque of the rotor per current [N m/A], above zero.
    pub torque_constant: f64,
    /// `k_e`, voltage induced per angular velocity of the rotor [V s/rad], zero or more.
    pub voltage_constant: f64,
    /// `R` [Ω], above zero.
    pub resistance: f64,
}

impl DcMotor {
    /// The current [A] nearest to `wanted` that a voltage within ± `bus_voltage` [V] (zero or more)
    /// drives at the rotor's angular velocity `speed` [rad/s]. Beyond the no-load speed the current
    /// brakes, whatever `wanted` is.
    ///
    /// # Panics
    /// If `bus_voltage` is negative or NaN.
    #[must_use]
    pub fn current(&self, wanted: f64, speed: f64, bus_voltage: f64) -> f64 {
        let voltage = self.voltage(wanted, speed);
        // A current within the limits is returned unchanged, bit for bit.
        if voltage.abs() <= bus_voltage {
            return wanted;
        }
        (voltage.clamp(-bus_voltage, bus_voltage) - self.voltage_constant * speed) / self.resistance
    }

    /// The voltage [V] at the current [A] and the rotor's angular velocity `speed` [rad/s]:
    /// `v = R i + k_e ω`.
    #[must_use]
    pub fn voltage(&self, current: f64, speed: f64) -> f64 {
        self.resistance * current + self.voltage_constant * speed
    }
}

#[cfg(test)]
mod tests {
    use super::DcMotor;

    /// Mini Cheetah's: 24 V stall at 138.7 A, no load at 240 rad/s.
    const MOTOR: DcMotor =
        DcMotor { torque_constant: 0.075, voltage_constant: 0.1, resistance: 0.173 };

    #[test]
    fn stall_and_no_load_are_the_ends_of_the_line() {
        assert!((MOTOR.current(1e6, 0.0, 24.0) - 24.0 / 0.173).abs() < 1e-12);
        assert!(MOTOR.current(1e6, 240.0, 24.0).abs() < 1e-12);
        assert!((MOTOR.current(1e6, 120.0, 24.0) - 12.0 / 0.173).abs() < 1e-12);
        assert!(MOTOR.current(50.0, 300.0, 24.0) < 0.0, "it brakes beyond the no-load speed");
        // In braking, the back-EMF adds to the supply voltage.
        assert!((MOTOR.current(-1e6, 120.0, 24.0) + 36.0 / 0.173).abs() < 1e-12);
    }

    #[test]
    fn what_is_wanted_and_possible_is_what_flows() {
        for (wanted, speed) in [(40.0, 0.0), (40.0, 170.0), (-40.0, 200.0), (0.0, -240.0)] {
            assert_eq!(MOTOR.current(wanted, speed, 24.0), wanted);
        }
    }

    #[test]
    fn the_voltage_stays_within_the_bus() {
        for i in -20..=20 {
            for speed in -12..=12 {
                let (wanted, speed) = (10.0 * f64::from(i), 20.0 * f64::from(speed));
                let current = MOTOR.current(wanted, speed, 24.0);
                assert!(MOTOR.voltage(current, speed).abs() <= 24.0 + 1e-12);
            }
        }
    }
}
