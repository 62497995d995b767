//! Step watch of a robot: energy and momentum without a source, unresolved forces, alternating
//! speeds.

use legwork_block::{Report, Warning};
use legwork_mechanics::{FreeMotion, Model, TreeBalance, TreeMotion};
use serde::{Deserialize, Serialize};

use super::momentum::{MomentumWatch, over};
use crate::robot::model::RobotModel;
use crate::run_warnings::{self, CHATTERS, LOSES_ENERGY, MAKES_ENERGY};

/// Sampling of steps: the balance of one step in this many is computed and represents them all. The
/// second entry is for fast motions.
const EVERY: [u64; 2] = [32, 4];
/// Fast motion: `Δt Σ|νᵢ|` over all coordinates [rad, m]. Only the sampling depends on it.
const FAR: f64 = 0.1;
/// 2⁶⁴ over the golden ratio: its multiples, modulo 2⁶⁴, are spread evenly and follow no period, so
/// that a spin cannot be sampled at one of its angles alone.
const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
/// Energy made or lost by steps, over the initial energy and the work of all forces, from which the
/// run warns [1].
const MADE: f64 = 0.1;
/// Standard deviation of the work of forces, over the energy made or lost by the sampled steps, from
/// which the change of kinetic energy does not count [1].
const UNCERTAIN: f64 = 0.5;
/// `Δt (Σ|ω|)²` below which a step makes no energy that matters [1/s].
const LEAST_GROWTH: f64 = 1e-6;
/// Share of the accelerations at both ends of a step by which their mean may miss the change of the
/// velocity, so that the step is judged.
const UNRESOLVED: f64 = 0.3;
/// Share of unresolved steps, and their number, above which the run warns. Resets and impacts are
/// unresolved too, but few.
const MOST_UNRESOLVED: f64 = 0.25;
const LEAST_UNRESOLVED: u64 = 8;
/// Change of speed in a step [m/s, rad/s] that counts if the next step reverses it.
const JUMP: f64 = 0.1;
/// Number of such steps, nearly without a break, from which the run warns.
const MOST_TURNS: u32 = 64;
/// Number of such steps that a step without one cancels.
const FORGIVEN: u32 = 8;

/// Energy of one robot or body.
///
/// Energy without a source is estimated twice. The sum over the sampled steps misses what the
/// others undo; the change of kinetic energy misses the work of forces in them. The smaller of the
/// two counts, and none if their signs differ. If the work is uncertain by half of the sum or more,
/// the sum counts alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Made {
    /// Kinetic energy of the first sampled step [J], if there is one.
    start: Option<f64>,
    /// Initial kinetic energy, plus the absolute work of forces [J].
    brought: f64,
    /// Work of forces [J], and the variance of this estimate.
    work: f64,
    variance: f64,
    /// Energy without a source: the sum over the sampled steps [J].
    sum: f64,
    /// Largest estimate beyond the limit [J], and its share of `brought` [1].
    made: f64,
    share: f64,
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

/// Compared steps of a tree. In an unresolved step the velocity change differs from the mean
/// acceleration of both ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
struct Judged {
    steps: u64,
    unresolved: u64,
    /// Time of the first unresolved one [s].
    since: f64,
}

impl Judged {
    fn add(&mut self, t: f64, is_resolved: bool) {
        self.steps += 1;
        if !is_resolved {
            self.since = if self.unresolved == 0 { t } else { self.since };
            self.unresolved += 1;
        }
    }

    /// Share of unresolved steps, if the run warns of it.
    fn share(&self) -> Option<f64> {
        let share = self.unresolved as f64 / self.steps as f64;
        (self.unresolved >= LEAST_UNRESOLVED && share > MOST_UNRESOLVED).then_some(share)
    }
}

/// Beginning of a step of a method with stages, whose end is the next instant.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Begun {
    is_set: bool,
    t: f64,
    nu: Vec<f64>,
    nu_dot: Vec<f64>,
    force: Vec<f64>,
    /// Each tree, at the beginning and now.
    motions: Vec<[TreeMotion; 2]>,
}

/// Energy, momentum and alternating speeds of the run so far.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct StepWatch {
    steps: u64,
    /// Number of steps that the next balance represents.
    every: u64,
    made: Vec<Made>,
    momenta: Vec<MomentumWatch>,
    judged: Vec<Judged>,
    begun: Begun,
    /// Acceleration of the previous step, and the number of steps in which it has changed its sign.
    before: Vec<f64>,
    turns: Vec<u32>,
    thrown: Option<Thrown>,
}

impl StepWatch {
    /// The state before the first step of this model.
    pub(super) fn of(model: &Model) -> Self {
        let nv = model.velocity_dim();
        Self {
            made: vec![Made::default(); model.trees().len()],
            momenta: vec![MomentumWatch::default(); model.trees().len()],
            judged: vec![Judged::default(); model.trees().len()],
            before: vec![0.0; nv],
            turns: vec![0; nv],
            begun: Begun {
                nu: vec![0.0; nv],
                nu_dot: vec![0.0; nv],
                force: vec![0.0; nv],
                motions: vec![[TreeMotion::default(); 2]; model.trees().len()],
                ..Begun::default()
            },
            ..Self::default()
        }
    }

    /// True if the balance of this step, with velocity ν, must be computed.
    pub(super) fn wants_balance(&mut self, nu: &[f64], step: f64) -> bool {
        let speed: f64 = nu.iter().map(|rate| rate.abs()).sum();
        self.every = EVERY[usize::from(step * speed > FAR)];
        let is_due = self.steps.wrapping_mul(SPREAD) < u64::MAX / self.every;
        self.steps += 1;
        is_due && step * speed * speed > LEAST_GROWTH
    }

    /// True if a step of a method with stages has begun and waits for its end.
    pub(super) fn awaits_end(&self) -> bool {
        self.begun.is_set
    }

    /// Notes the motion of a tree at this instant.
    pub(super) fn note(&mut self, tree: usize, motion: TreeMotion) {
        let [_, now] = &mut self.begun.motions[tree];
        *now = motion;
    }

    /// An instant of a method with stages, with `force` F and the motions of [`Self::note`]. If a
    /// step ends here, its balance is `T⁺ − T − Δt ¼ (ν + ν⁺)ᵀ(F + F⁺)`, and that of momenta by the
    /// mean wrench; the next step begins here.
    ///
    /// A step over which the velocity does not change as the accelerations at both ends have it is
    /// not judged: a reset, or a force that the step does not resolve. Many of them are a warning.
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
                if motion.velocity_range().is_empty() {
                    continue;
                }
                let is_resolved = missed <= UNRESOLVED * size;
                self.judged[tree].add(t, is_resolved);
                if !is_resolved {
                    continue;
                }
                let power = |i: usize| (begun.nu[i] + nu[i]) * (begun.force[i] + force[i]);
                let work = 0.25 * step * motion.velocity_range().map(power).sum::<f64>();
                let [start, now] = begun.motions[tree];
                self.add_energy(t, tree, start.kinetic, work, now.kinetic - start.kinetic - work);
                if let (Some(before), Some(after)) = (start.free, now.free) {
                    let (impulse, made) = over(step, &before, &after);
                    self.momenta[tree].add(t, self.every, before.gross, impulse, made);
                }
            }
        }
        let begun = &mut self.begun;
        (begun.is_set, begun.t) = (!is_set, t);
        begun.nu.copy_from_slice(nu);
        begun.nu_dot.copy_from_slice(nu_dot);
        begun.force.copy_from_slice(force);
        begun.motions.iter_mut().for_each(|[before, now]| *before = *now);
    }

    /// Adds the balance of a step of one tree.
    pub(super) fn balance(&mut self, t: f64, step: f64, tree: usize, balance: TreeBalance) {
        let TreeBalance { start, work, energy, momentum } = balance;
        self.add_energy(t, tree, start.kinetic, work, energy);
        if let Some(FreeMotion { gross, wrench, .. }) = start.free {
            let impulse = wrench.map(|force| step * force);
            self.momenta[tree].add(t, self.every, gross, impulse, momentum);
        }
    }

    /// Adds a tree's kinetic energy at the beginning of a step, the work of forces and the energy
    /// without a source [J].
    fn add_energy(&mut self, t: f64, tree: usize, kinetic: f64, work: f64, made: f64) {
        let (one, every) = (&mut self.made[tree], self.every);
        let start = *one.start.get_or_insert(kinetic);
        if one.brought == 0.0 {
            one.brought = kinetic;
        }
        one.brought += every as f64 * work.abs();
        one.work += every as f64 * work;
        one.variance += (every as f64 * work).powi(2);
        one.sum += every as f64 * made;
        let change = kinetic + work + made - start - one.work;
        let least = match one.variance.sqrt() < UNCERTAIN * one.sum.abs() {
            false => one.sum.abs(),
            true if one.sum * change > 0.0 => one.sum.abs().min(change.abs()),
            true => 0.0,
        };
        if least > MADE * one.brought {
            one.since.get_or_insert(t);
            one.steps += every;
            if least > one.made.abs() {
                one.made = least.copysign(one.sum);
                one.share = least / one.brought.max(f64::MIN_POSITIVE);
            }
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

    /// Warns of energy and momentum without a source and of steps that are too long.
    pub(super) fn report(&self, robot: &RobotModel, step: f64, report: &mut Report) {
        let name_of = |tree: usize| match robot.members.get(tree) {
            Some(member) if robot.is_world() => member.name.as_str(),
            _ => robot.name.as_str(),
        };
        for (i, one) in self.made.iter().enumerate() {
            let (Some(t), name) = (one.since, name_of(i)) else { continue };
            let factor = one.share;
            let (kind, verb) =
                if one.made > 0.0 { (MAKES_ENERGY, "made") } else { (LOSES_ENERGY, "lost") };
            let message = format!(
                "the steps of `{name}` {verb} about {:.3e} J that no force accounts for, \
                 {factor:.2} times what its start and all forces brought: {step} s is too long for \
                 how fast it turns; take shorter steps, `SemiImplicitEuler` for free flight, or `Rk4`",
                one.made.abs()
            );
            report.warnings.push(Warning { name: kind.to_string(), t, steps: one.steps, message });
        }
        for (i, one) in self.momenta.iter().enumerate() {
            one.report(name_of(i), step, report);
        }
        for (i, one) in self.judged.iter().enumerate() {
            let Some(share) = one.share() else { continue };
            let message = format!(
                "in {:.0} % of the steps that were compared, the velocities of `{}` do not change \
                 as its accelerations at the beginning and the end say: {step} s is too long for \
                 the forces on it or for how fast it turns; take shorter steps",
                100.0 * share,
                name_of(i)
            );
            let (name, steps) = (run_warnings::UNRESOLVED.to_string(), one.unresolved);
            report.warnings.push(Warning { name, t: one.since, steps, message });
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
            report.warnings.push(Warning { name: CHATTERS.to_string(), t, steps, message });
        }
    }
}
