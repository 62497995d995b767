//! Warnings of depth: a contact starts inside the ground, enters it within one step or sinks in, or
//! the base of its robot passes through the ground beside it.

use legwork_block::{Report, Warning};
use serde::{Deserialize, Serialize};

use crate::run_warnings;

/// Depth from which a contact is told [m]: no foot or box that is as stiff as it looks sinks in as
/// far.
const DEEP: f64 = 0.01;
/// Number of steps from one look at the base to the next.
const LOOK_EVERY: u64 = 32;

/// How a contact came to be deep in the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Way {
    Starts,
    Enters,
    Sinks,
}

/// A contact deep in the ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Deep {
    way: Way,
    contact: u32,
    /// Depth [m].
    depth: f64,
    /// Speed into the ground [m/s].
    speed: f64,
}

impl Deep {
    /// Notes in `deepest` a contact that is deep, at time t [s]. It entered within the step [s] if
    /// its velocity brought it from the other side of the surface; solvers that choose their steps
    /// take several meanwhile, and have none.
    #[inline]
    pub(crate) fn see(
        deepest: &mut Option<Self>,
        (t, step): (f64, Option<f64>),
        contact: usize,
        gap: f64,
        speed: f64,
    ) {
        if gap < -DEEP && deepest.is_none_or(|other| other.depth < -gap) {
            let enters = step.is_some_and(|step| gap + step * speed > 0.0);
            let way = match (t > 0.0, enters) {
                (false, _) => Way::Starts,
                (true, true) => Way::Enters,
                (true, false) => Way::Sinks,
            };
            *deepest = Some(Self { way, contact: contact as u32, depth: -gap, speed });
        }
    }
}

/// Depths of one step.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Noticed {
    pub(crate) deepest: Option<Deep>,
    /// Depth of the base's centre of mass in the ground, if that is more than the limit [m].
    pub(crate) base: Option<f64>,
}

/// What was noticed first [s], and in how many steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DepthWatch {
    first: Option<(f64, Deep)>,
    steps: u64,
    passed: u64,
    base: Option<(f64, f64)>,
    base_steps: u64,
}

impl DepthWatch {
    /// True if this step must look at the base.
    pub(crate) fn looks_at_base(&self) -> bool {
        self.passed.is_multiple_of(LOOK_EVERY)
    }

    /// Keeps what a step noticed of contacts and of the base.
    pub(crate) fn keep(&mut self, t: f64, noticed: &Noticed) {
        self.passed += 1;
        self.commit(t, noticed.deepest);
        if let Some(depth) = noticed.base.filter(|depth| *depth > DEEP) {
            self.base.get_or_insert((t, depth));
            self.base_steps += LOOK_EVERY;
        }
    }

    /// Warns of a base that passed through the ground, which nothing of it touched: `base` names
    /// its link, `robot` the robot.
    pub(crate) fn report_base(&self, (robot, base): (&str, &str), report: &mut Report) {
        let Some((t, depth)) = self.base else { return };
        let message = format!(
            "the centre of mass of `{base}` is {:.1} cm below the ground, which does not stop it: \
             of `{robot}` only what has a contact touches; `Collisions` with a `ground` finds \
             contacts of all its links",
            100.0 * depth
        );
        let (name, steps) = (run_warnings::BELOW_THE_GROUND.to_string(), self.base_steps);
        report.common_warnings.push(Warning { name, t, steps, message });
    }

    /// Keeps what a step saw.
    pub(crate) fn commit(&mut self, t: f64, seen: Option<Deep>) {
        let Some(deep) = seen else { return };
        let (_, first) = self.first.get_or_insert((t, deep));
        self.steps += u64::from(first.way == deep.way);
    }

    /// Warns of the first.
    pub(crate) fn report(&self, report: &mut Report) {
        let Some((t, Deep { way, contact, depth, speed })) = self.first else { return };
        let depth = 1e3 * depth;
        let (name, message) = match way {
            Way::Starts => (
                run_warnings::STARTS_INSIDE,
                format!("contact {contact} starts {depth:.3} mm inside"),
            ),
            Way::Enters => (
                run_warnings::ENTERS_IN_ONE_STEP,
                format!(
                    "contact {contact} went {depth:.3} mm into the surface within a step, at \
                     {speed:.3} m/s: too fast for it"
                ),
            ),
            Way::Sinks => {
                (run_warnings::SINKS_IN, format!("contact {contact} sank in by {depth:.3} mm"))
            }
        };
        report.warnings.push(Warning { name: name.to_string(), t, steps: self.steps, message });
    }
}
