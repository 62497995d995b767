//! Checks of a robot's energy: steps that make or lose energy, and steps that are too long.

use legwork_block::{Report, Warning};
use legwork_mechanics::Model;
use serde::{Deserialize, Serialize};

use crate::robot::model::RobotModel;

/// One step in this many has its balance computed; it represents them all.
const EVERY: u64 = 32;
/// 2⁶⁴ over the golden ratio: its multiples, modulo 2⁶⁴, are spread evenly and follow no period, so
/// that a spin cannot be sampled at one of its angles alone.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Energy made or lost by steps, over the initial energy and the work of all forces, from which the
/// run warns [1].
const MADE: f64 = 0.1;
/// `Δt (Σ|ω|)²` below which a step makes no energy that matters [1/s].
const LEAST_GROWTH: f64 = 1e-6;
/// Share of the accelerations at both ends of a step by which their mean may miss the change of the
/// velocity, so that the step is judged.
const UNRESOLVED: f64 = 0.3;
/// Change of speed in a step [m/s, rad/s] that counts if the next step reverses it.
const JUMP: f64 = 0.1;
/// Number of such steps, nearly without a break, from which the run warns.
const MOST_TURNS: u32 = 64;
/// Number of such steps that a step without one cancels.
const FORGIVEN: u32 = 8;

/// Energy of one robot or body.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Made {
    /// Initial kinetic energy, plus the absolute work of forces [J].
    brought: f64,
    /// Energy without a source: neither kinetic energy at the start nor work [J].
    made: f64,
    /// Time at which it first exceeded the limit [s], and the number of steps in which it did.
    since: Option<f64>,
    steps: u64,
}

/// A coordinate whose speed alternates from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Thrown {
    t: f64,
    coordinate: u32,
    /// Largest change of its speed in a step [m/s, rad/s].
    jump: f64,
    steps: u64,
}

/// Beginning of a step of a method with stages, whose end is the next instant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Begun {
    is_set: bool,
    t: f64,
    nu: Vec<f64>,
    nu_dot: Vec<f64>,
    force: Vec<f64>,
    /// Kinetic energy of each tree, at the beginning and now [J].
    kinetic: Vec<[f64; 2]>,
}

/// Energy and alternating speeds of the run so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct EnergyWatch {
    steps: u64,
    made: Vec<Made>,
    begun: Begun,
    /// Acceleration of the previous step, and the number of steps in which it has changed its sign.
    before: Vec<f64>,
    turns: Vec<u32>,
    thrown: Option<Thrown>,
}

impl EnergyWatch {
    /// The state before the first step of this model.
    pub(super) fn of(model: &Model) -> Self {
        let nv = model.velocity_dim();
        Self {
            made: vec![Made::default(); model.trees().len()],
            before: vec![0.0; nv],
            turns: vec![0; nv],
            begun: Begun {
                nu: vec![0.0; nv],
                nu_dot: vec![0.0; nv],
                force: vec![0.0; nv],
                kinetic: vec![[0.0; 2]; model.trees().len()],
                ..Begun::default()
            },
            ..Self::default()
        }
    }

    /// True if the balance of this step, with velocity ν, must be computed.
    pub(super) fn wants_balance(&mut self, nu: &[f64], step: f64) -> bool {
        let is_due = self.steps.wrapping_mul(SPREAD) < u64::MAX / EVERY;
        self.steps += 1;
        let speed: f64 = nu.iter().map(|rate| rate.abs()).sum();
        is_due && step * speed * speed > LEAST_GROWTH
    }

    /// True if a step of a method with stages has begun and waits for its end.
    pub(super) fn awaits_end(&self) -> bool {
        self.begun.is_set
    }

    /// Notes the kinetic energy of a tree at this instant [J].
    pub(super) fn note(&mut self, tree: usize, kinetic: f64) {
        let [_, now] = &mut self.begun.kinetic[tree];
        *now = kinetic;
    }

    /// An instant of a method with stages, with `force` F and the energies of [`Self::note`]. If a
    /// step ends here, its balance is `T⁺ − T − Δt ¼ (ν + ν⁺)ᵀ(F + F⁺)`; the next step begins here.
    ///
    /// A step over which the velocity does not change as the accelerations at both ends have it is
    /// not judged: a reset, or a force that the step does not resolve.
    pub(super) fn passes(
        &mut self,
        model: &Model,
        (t, nu, nu_dot): (f64, &[f64], &[f64]),
        force: &[f64],
    ) {
        let Begun { is_set, t: before, .. } = self.begun;
        let step = t - before;
        if is_set && step > 0.0 {
            for (tree, motion) in model.trees().iter().enumerate() {
                let begun = &self.begun;
                let (mut missed, mut size) = (0.0, 0.0);
                for i in motion.velocity_range() {
                    let ends = [begun.nu_dot[i], nu_dot[i]];
                    missed += (nu[i] - begun.nu[i] - 0.5 * step * (ends[0] + ends[1])).abs();
                    size += step * (ends[0].abs() + ends[1].abs()) + 1e-12 * nu[i].abs();
                }
                if missed > UNRESOLVED * size || motion.velocity_range().is_empty() {
                    continue;
                }
                let power = |i: usize| (begun.nu[i] + nu[i]) * (begun.force[i] + force[i]);
                let work = 0.25 * step * motion.velocity_range().map(power).sum::<f64>();
                let [kinetic, now] = begun.kinetic[tree];
                self.balance(t, tree, [kinetic, work, now - kinetic - work]);
            }
        }
        let begun = &mut self.begun;
        (begun.is_set, begun.t) = (!is_set, t);
        begun.nu.copy_from_slice(nu);
        begun.nu_dot.copy_from_slice(nu_dot);
        begun.force.copy_from_slice(force);
        begun.kinetic.iter_mut().for_each(|[before, now]| *before = *now);
    }

    /// Adds the balance of a step of one tree: kinetic energy, work and the energy without a source
    /// [J].
    pub(super) fn balance(&mut self, t: f64, tree: usize, [kinetic, work, made]: [f64; 3]) {
        let one = &mut self.made[tree];
        if one.brought == 0.0 {
            one.brought = kinetic;
        }
        one.brought += EVERY as f64 * work.abs();
        one.made += EVERY as f64 * made;
        if one.made.abs() > MADE * one.brought {
            one.since.get_or_insert(t);
            one.steps += EVERY;
        }
    }

    /// Counts the steps in which accelerations change their sign.
    pub(super) fn accelerate(&mut self, t: f64, step: f64, nu_dot: &[f64]) {
        let mut most = 0;
        let coordinates = nu_dot.iter().zip(&mut self.before).zip(&mut self.turns);
        for ((&now, before), turns) in coordinates {
            let is_thrown =
                now * *before < 0.0 && step * now.abs() > JUMP && 2.0 * now.abs() > before.abs();
            *turns = if is_thrown { *turns + 1 } else { turns.saturating_sub(FORGIVEN) };
            most = most.max(*turns);
            *before = now;
        }
        if most >= MOST_TURNS {
            self.note_thrown(t, step, nu_dot);
        }
    }

    #[cold]
    fn note_thrown(&mut self, t: f64, step: f64, nu_dot: &[f64]) {
        let thrown = self.turns.iter().enumerate().filter(|(_, turns)| **turns >= MOST_TURNS);
        let jumps = thrown.map(|(i, _)| (i as u32, step * nu_dot[i].abs()));
        let Some((coordinate, jump)) = jumps.max_by(|a, b| a.1.total_cmp(&b.1)) else { return };
        match &mut self.thrown {
            None => self.thrown = Some(Thrown { t, coordinate, jump, steps: 1 }),
            Some(first) => {
                first.steps += 1;
                if jump > first.jump {
                    (first.coordinate, first.jump) = (coordinate, jump);
                }
            }
        }
    }

    /// Warns of energy without a source and of steps that are too long.
    pub(super) fn report(&self, robot: &RobotModel, step: f64, report: &mut Report) {
        for (i, one) in self.made.iter().enumerate() {
            let Some(t) = one.since else { continue };
            let name = match robot.members.get(i) {
                Some(member) if robot.is_world() => member.name.as_str(),
                _ => robot.name.as_str(),
            };
            let factor = one.made.abs() / one.brought.max(f64::MIN_POSITIVE);
            let (kind, verb) =
                if one.made > 0.0 { ("makes-energy", "made") } else { ("loses-energy", "lost") };
            let message = format!(
                "the steps of `{name}` {verb} {:.3e} J that no force accounts for, {factor:.2} \
                 times what its start and all forces brought: {step} s is too long for how fast it \
                 turns; take shorter steps, `SemiImplicitEuler` for free flight, or `Rk4`",
                one.made.abs()
            );
            report.warnings.push(Warning { name: kind.into(), t, steps: one.steps, message });
        }
        if let Some(Thrown { t, coordinate, jump, steps }) = self.thrown {
            let names = robot.model.pattern();
            let message = format!(
                "{}: `{}` is accelerated to and fro in every step, by up to {jump:.3e} m/s or \
                 rad/s in one: steps of {step} s are too long for a gain, a damping or a stiffness \
                 that acts on it, or its inertia is too small, as without that of a rotor",
                robot.name,
                names.name(coordinate as usize)
            );
            report.warnings.push(Warning { name: "chatters".into(), t, steps, message });
        }
    }
}
