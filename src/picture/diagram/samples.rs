//! Models drawn by hand, for tests.
#![allow(clippy::unwrap_used, reason = "a sketch that names no port is a mistake in a test")]

use std::collections::BTreeMap;

use super::build::{connect, frame_of};
use super::model::{Model, Node, Output, Pace, Pin, Role};

/// Builds a model from paths.
pub(super) struct Sketch {
    model: Model,
    frames: BTreeMap<String, usize>,
    nodes: BTreeMap<String, usize>,
    sources: BTreeMap<Pin, Vec<(Pin, String, bool)>>,
}

pub(super) fn every(ticks: u64) -> Pace {
    Pace::Periodic { period: ticks, offset: 0, text: format!("every {ticks} ms") }
}

impl Sketch {
    pub(super) fn new(title: &str) -> Self {
        Self {
            model: Model::new(title),
            frames: BTreeMap::new(),
            nodes: BTreeMap::new(),
            sources: BTreeMap::new(),
        }
    }

    /// A block: `outputs` with a `*` are buses.
    pub(super) fn block(
        &mut self,
        path: &str,
        kind: &str,
        pace: Pace,
        inputs: &[&str],
        outputs: &[&str],
    ) {
        let (frame, name) = frame_of(&mut self.model, &mut self.frames, path);
        self.nodes.insert(path.to_owned(), self.model.nodes.len());
        self.model.nodes.push(Node {
            frame,
            role: Role::Block,
            name,
            kind: kind.to_owned(),
            note: format!("{path}: {kind}()"),
            pace,
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            outputs: outputs
                .iter()
                .map(|name| Output {
                    name: name.trim_end_matches('*').to_owned(),
                    ty: if name.ends_with('*') { "Bus" } else { "Real" }.to_owned(),
                    bus: name.ends_with('*'),
                })
                .collect(),
        });
    }

    /// A wire from `block.port` with an optional part to `block.port`.
    pub(super) fn wire(&mut self, from: &str, part: &str, to: &str, feeds: bool) {
        let (from_block, out) = from.rsplit_once('.').unwrap();
        let (to_block, input) = to.rsplit_once('.').unwrap();
        let (f, t) = (self.nodes[from_block], self.nodes[to_block]);
        let nodes = &self.model.nodes;
        let out = nodes[f].outputs.iter().position(|o| o.name == out).unwrap();
        let input = nodes[t].inputs.iter().position(|i| i == input).unwrap();
        let to = Pin { node: t, pin: input };
        let source = (Pin { node: f, pin: out }, part.to_owned(), feeds);
        self.sources.entry(to).or_default().push(source);
    }

    pub(super) fn model(mut self) -> Model {
        connect(&mut self.model, self.sources);
        self.model
    }
}

/// A mass on a spring: two integrators in a loop.
pub(super) fn oscillator() -> Model {
    let mut s = Sketch::new("oscillator");
    s.block("force", "Constant", Pace::Constant, &[], &["y"]);
    s.block("sum", "Sum", Pace::Continuous, &["u1", "u2", "u3"], &["y"]);
    s.block("velocity", "Integrator", Pace::Continuous, &["u"], &["y"]);
    s.block("position", "Integrator", Pace::Continuous, &["u"], &["y"]);
    s.block("spring", "Gain", Pace::Continuous, &["u"], &["y"]);
    s.block("damper", "Gain", Pace::Continuous, &["u"], &["y"]);
    s.wire("force.y", "", "sum.u1", true);
    s.wire("spring.y", "", "sum.u2", true);
    s.wire("damper.y", "", "sum.u3", true);
    s.wire("sum.y", "", "velocity.u", false);
    s.wire("velocity.y", "", "position.u", false);
    s.wire("velocity.y", "", "damper.u", true);
    s.wire("position.y", "", "spring.u", true);
    s.model()
}

/// A quadruped that stands: four copies of a foot, a mask for contact.
pub(super) fn standing() -> Model {
    let mut s = Sketch::new("Mini Cheetah is dropped, lands and stands under joint PD.");
    let c = || Pace::Continuous;
    s.block("accel", "ForwardDynamics", c(), &["state", "tau", "J", "f"], &["nu_dot"]);
    s.block("act", "Actuator", c(), &["u"], &["tau"]);
    s.block("audit", "ContactMetrics", every(10), &["points", "f", "height"], &[]);
    s.block("body", "FloatingBase", c(), &["nu_dot"], &["state*"]);
    s.block("contact.assemble", "GaussContact", c(), &["dynamics", "points", "tau"], &["problem*"]);
    s.block("contact.dyn", "RobotDynamics", c(), &["state"], &["bus*"]);
    s.block("contact.solve", "ActiveSetQp", c(), &["problem"], &["f"]);
    s.block("foot.J", "Stack", c(), &["u1", "u2", "u3", "u4"], &["y"]);
    for foot in ["FL", "FR", "HL", "HR"] {
        let path = format!("foot[{foot}_foot].point");
        s.block(&path, "ContactPoint", c(), &["state"], &["contact*", "jacobian"]);
        s.wire("body.state", "", &format!("{path}.state"), true);
    }
    s.block("pd", "JointPd", every(1), &["s_ref", "state"], &["tau"]);
    s.block("pose", "Constant", Pace::Constant, &[], &["y"]);
    for (i, foot) in ["FL", "FR", "HL", "HR"].iter().enumerate() {
        let path = format!("foot[{foot}_foot].point");
        s.wire(&format!("{path}.contact"), "", "contact.assemble.points", true);
        s.wire(&format!("{path}.contact"), "", "audit.points", true);
        s.wire(&format!("{path}.jacobian"), "", &format!("foot.J.u{}", i + 1), true);
    }
    s.wire("pose.y", "", "pd.s_ref", true);
    s.wire("body.state", "", "pd.state", true);
    s.wire("pd.tau", "", "act.u", false);
    s.wire("body.state", "", "contact.dyn.state", true);
    s.wire("contact.dyn.bus", "", "contact.assemble.dynamics", true);
    s.wire("act.tau", "", "contact.assemble.tau", true);
    s.wire("contact.assemble.problem", "", "contact.solve.problem", true);
    s.wire("body.state", "", "accel.state", true);
    s.wire("act.tau", "", "accel.tau", true);
    s.wire("foot.J.y", "", "accel.J", true);
    s.wire("contact.solve.f", "", "accel.f", true);
    s.wire("accel.nu_dot", "", "body.nu_dot", false);
    s.wire("contact.solve.f", "", "audit.f", true);
    s.wire("body.state", ".base.position[2]", "audit.height", true);
    s.model()
}

/// `count` blocks, some in frames, wired at random; the same for the same `seed`.
pub(super) fn random(count: usize, seed: u64) -> Model {
    let mut state = seed | 1;
    let mut below = move |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let mut s = Sketch::new(&format!("{count} blocks & <wires>"));
    let frames =
        ["", "", "", "", "plant.", "plant.motor.", "leg[FL].", "leg[FR].", "\"odd\" & <name>."];
    let mut paths: Vec<(String, usize, usize)> = Vec::new();
    for i in 0..count {
        let path = format!("{}b{i}", frames[below(frames.len())]);
        let pace = match below(6) {
            0 => Pace::Constant,
            1 | 2 => every(1 + 4 * below(3) as u64),
            _ => Pace::Continuous,
        };
        let kind = ["Gain", "Sum", "UnitDelay", "DiscreteTransferFunction"][below(4)];
        let (ins, outs) = (if pace == Pace::Constant { 0 } else { 1 + below(3) }, 1 + below(2));
        s.block(&path, kind, pace, &["u1", "u2", "u3"][..ins], &["y*", "state"][..outs]);
        paths.push((path, ins, outs));
    }
    for to in 0..count {
        for input in 0..paths[to].1 {
            let back = below(8) == 0;
            let from = if back || to == 0 { below(count) } else { to - 1 - below(to.min(9)) };
            let out = ["y", "state"][below(paths[from].2)];
            let part = ["", "", "", ".q[2]"][below(4)];
            let feeds = from < to && below(4) > 0;
            let (from, to) = (&paths[from].0, &paths[to].0);
            s.wire(&format!("{from}.{out}"), part, &format!("{to}.u{}", input + 1), feeds);
        }
    }
    s.model()
}
