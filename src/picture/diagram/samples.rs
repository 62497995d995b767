//! Models drawn by hand, for tests.
#![allow(clippy::unwrap_used, reason = "a sketch that names no port is a mistake in a test")]

use std::collections::BTreeMap;

use super::build::{connect, frame_of};
use super::schematic::{Flow, Output, Pin, Role, SampleTime, Schematic, Symbol};

/// Builds a schematic from paths.
pub(super) struct Sketch {
    schematic: Schematic,
    frames: BTreeMap<String, usize>,
    symbols: BTreeMap<String, usize>,
    sources: BTreeMap<Pin, Vec<(Pin, String, Flow)>>,
}

pub(super) fn every(ticks: u64) -> SampleTime {
    SampleTime::Periodic { period: ticks, offset: 0, text: format!("every {ticks} ms") }
}

impl Sketch {
    pub(super) fn new(title: &str) -> Self {
        Self {
            schematic: Schematic::new(title),
            frames: BTreeMap::new(),
            symbols: BTreeMap::new(),
            sources: BTreeMap::new(),
        }
    }

    /// A block: `outputs` with a `*` are buses.
    pub(super) fn block(
        &mut self,
        path: &str,
        kind: &str,
        sample_time: SampleTime,
        inputs: &[&str],
        outputs: &[&str],
    ) {
        let (frame, name) = frame_of(&mut self.schematic, &mut self.frames, path);
        self.symbols.insert(path.to_owned(), self.schematic.symbols.len());
        self.schematic.symbols.push(Symbol {
            frame,
            role: Role::Block,
            name,
            kind: kind.to_owned(),
            caption: Vec::new(),
            path: path.to_owned(),
            note: format!("{path}: {kind}()"),
            sample_time,
            inputs: inputs.iter().map(|&name| name.to_owned()).collect(),
            outputs: outputs
                .iter()
                .map(|name| Output {
                    name: name.trim_end_matches('*').to_owned(),
                    ty: if name.ends_with('*') { "Bus" } else { "Real" }.to_owned(),
                    bus: name.ends_with('*'),
                })
                .collect(),
            calls: false,
        });
    }

    /// A wire from `block.port` with an optional part to `block.port`.
    pub(super) fn wire(&mut self, from: &str, part: &str, to: &str, feeds: bool) {
        let (from_block, out) = from.rsplit_once('.').unwrap();
        let (to_block, input) = to.rsplit_once('.').unwrap();
        let (f, t) = (self.symbols[from_block], self.symbols[to_block]);
        let symbols = &self.schematic.symbols;
        let out = symbols[f].outputs.iter().position(|o| o.name == out).unwrap();
        let input = symbols[t].inputs.iter().position(|i| i == input).unwrap();
        let to = Pin { symbol: t, pin: input };
        let flow = if feeds { Flow::Through } else { Flow::State };
        let source = (Pin { symbol: f, pin: out }, part.to_owned(), flow);
        self.sources.entry(to).or_default().push(source);
    }

    /// What switches the part at `path`.
    pub(super) fn condition(&mut self, path: &str, text: &str) {
        self.block(&format!("{path}.~"), "", SampleTime::Continuous, &["by"], &[]);
        if let Some(symbol) = self.schematic.symbols.last_mut() {
            (symbol.role, symbol.name) = (Role::Condition, text.to_owned());
        }
    }

    /// A wire from `block.port` to what switches the part at `path`.
    pub(super) fn control(&mut self, from: &str, path: &str) {
        self.wire(from, "", &format!("{path}.~.by"), true);
        let to = Pin { symbol: self.symbols[&format!("{path}.~")], pin: 0 };
        for source in self.sources.get_mut(&to).unwrap() {
            source.2 = Flow::Control;
        }
    }

    pub(super) fn schematic(mut self) -> Schematic {
        connect(&mut self.schematic, self.sources);
        self.schematic
    }
}

/// A mass on a spring: two integrators in a loop.
pub(super) fn oscillator() -> Schematic {
    let mut s = Sketch::new("oscillator");
    s.block("force", "Constant", SampleTime::Constant, &[], &["y"]);
    s.block("sum", "Sum", SampleTime::Continuous, &["u1", "u2", "u3"], &["y"]);
    s.block("velocity", "Integrator", SampleTime::Continuous, &["u"], &["y"]);
    s.block("position", "Integrator", SampleTime::Continuous, &["u"], &["y"]);
    s.block("spring", "Gain", SampleTime::Continuous, &["u"], &["y"]);
    s.block("damper", "Gain", SampleTime::Continuous, &["u"], &["y"]);
    s.wire("force.y", "", "sum.u1", true);
    s.wire("spring.y", "", "sum.u2", true);
    s.wire("damper.y", "", "sum.u3", true);
    s.wire("sum.y", "", "velocity.u", false);
    s.wire("velocity.y", "", "position.u", false);
    s.wire("velocity.y", "", "damper.u", true);
    s.wire("position.y", "", "spring.u", true);
    s.schematic()
}

/// A quadruped that stands: four copies of a foot, a mask for contact.
pub(super) fn standing() -> Schematic {
    let mut s = Sketch::new("Mini Cheetah is dropped, lands and stands under joint PD.");
    let c = || SampleTime::Continuous;
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
    s.block("pose", "Constant", SampleTime::Constant, &[], &["y"]);
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
    s.schematic()
}

/// A controller that a switch turns on, and inside it a counter that an edge triggers.
pub(super) fn switched() -> Schematic {
    let mut s = Sketch::new("switched");
    s.block("mode", "Step", SampleTime::Continuous, &[], &["y"]);
    s.block("wave", "Sine", SampleTime::Continuous, &[], &["y"]);
    s.condition("guard", "Enabled");
    s.block("guard.gain", "Gain", SampleTime::Continuous, &["u"], &["y"]);
    s.condition("guard.count", "Triggered(Rising)");
    s.block("guard.count.hold", "UnitDelay", SampleTime::Continuous, &["u"], &["y"]);
    s.block("sum", "Sum", SampleTime::Continuous, &["u1", "u2"], &["y"]);
    s.control("mode.y", "guard");
    s.wire("wave.y", "", "guard.gain.u", true);
    s.control("guard.gain.y", "guard.count");
    s.wire("wave.y", "", "guard.count.hold.u", false);
    s.wire("guard.gain.y", "", "sum.u1", true);
    s.wire("guard.count.hold.y", "", "sum.u2", true);
    s.schematic()
}

/// `count` blocks, some in frames, wired at random; the same for the same `seed`.
pub(super) fn random(count: usize, seed: u64) -> Schematic {
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
        let sample_time = match below(6) {
            0 => SampleTime::Constant,
            1 | 2 => every(1 + 4 * below(3) as u64),
            _ => SampleTime::Continuous,
        };
        let kind = ["Gain", "Sum", "UnitDelay", "DiscreteTransferFunction"][below(4)];
        let (ins, outs) =
            (if sample_time == SampleTime::Constant { 0 } else { 1 + below(3) }, 1 + below(2));
        s.block(&path, kind, sample_time, &["u1", "u2", "u3"][..ins], &["y*", "state"][..outs]);
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
    s.schematic()
}
