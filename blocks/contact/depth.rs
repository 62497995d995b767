//! What a contact tells of its depth: it starts inside the ground, enters it within one step, or
//! sinks in.

use legwork_block::{Report, Warning};
use serde::{Deserialize, Serialize};

/// Depth from which a contact is told [m]: no foot or box that is as stiff as it looks sinks in as
/// far.
const DEEP: f64 = 0.01;

/// How a contact came to be deep in the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Way {
    Starts,
    Enters,
    Sinks,
}

/// A contact deep in the ground.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Deep {
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

/// What was noticed first [s], and in how many steps.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DepthWatch {
    first: Option<(f64, Deep)>,
    steps: u64,
}

impl DepthWatch {
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
            Way::Starts => {
                ("starts-inside", format!("contact {contact} starts {depth:.3} mm inside"))
            }
            Way::Enters => (
                "enters-in-one-step",
                format!(
                    "contact {contact} went {depth:.3} mm into the surface within a step, at \
                     {speed:.3} m/s: too fast for it"
                ),
            ),
            Way::Sinks => ("sinks-in", format!("contact {contact} sank in by {depth:.3} mm")),
        };
        report.warnings.push(Warning { name: name.into(), t, steps: self.steps, message });
    }
}
