//! Rates: which block is due when (semantics 2.3, 2.4, 3.1).
//!
//! One file: what inherits a rate, what holds one, and what is said where two meet go by one table.

use std::collections::VecDeque;

use legwork_block::{Diagnostic, Diagnostics, RateRule, Span, code};
use legwork_program::{Rate, Ratio};

use crate::network::{Network, NetworkBlock};

/// The rational base of time, the step in ticks, and every block's rate.
pub(crate) struct Rates {
    pub(crate) base: Ratio,
    pub(crate) step_ticks: u64,
    pub(crate) stop_tick: u64,
    pub(crate) rates: Vec<Rate>,
    /// When `update` runs: at the same rate, but for blocks between two rates.
    pub(crate) updates: Vec<Rate>,
}

impl Rates {
    /// A window from `after` to `until` [s] in ticks, its ends rounded outwards.
    pub(crate) fn window(&self, after: f64, until: f64) -> (u64, u64) {
        let base = self.base.to_f64();
        let after = (after / base - 1e-9).ceil().max(0.0) as u64;
        (after, (until / base + 1e-9).floor() as u64)
    }
}

/// Most steps that are counted.
const MOST_STEPS: f64 = 1e15;

/// What the `run:` section says of time.
pub(crate) struct RunTimes {
    pub(crate) stop: (Ratio, Span),
    pub(crate) step: (Ratio, Span),
    /// Whether the solver chooses its own steps, so that a major step may be at any rational time.
    pub(crate) is_variable: bool,
}

/// The rate of a block while rates are found out, in exact time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Constant,
    Continuous,
    Periodic(Ratio, Ratio),
}

/// Finds every rate; reports what is missing or does not fit. On an algebraic loop, which is
/// reported already, a missing rate only follows.
pub(crate) fn find(
    network: &Network,
    run: &RunTimes,
    log_periods: &[(Ratio, Span)],
    has_loop: bool,
    diagnostics: &mut Diagnostics,
) -> Option<Rates> {
    let stated = stated_multiples(network, run, log_periods, diagnostics);
    let found = propagate(network, has_loop, diagnostics);
    let step = (!run.is_variable).then_some(run.step.0);
    crossings(network, &found, step, diagnostics);
    let found = found.into_iter().collect::<Option<Vec<Found>>>()?;
    let (base, step_ticks, stop_tick) = stated?;
    let rate = |found: Found| match found {
        Found::Constant => Some(Rate::Constant),
        Found::Continuous => Some(Rate::Continuous),
        Found::Periodic(period, offset) => {
            Some(Rate::Periodic { period: ticks(period, base)?, offset: ticks(offset, base)? })
        }
    };
    let updates = (0..found.len())
        .map(|b| match root(network, b).declaration.any_rates {
            true => rate(source_rate(network, b, &found, diagnostics)?),
            false => rate(found[b]),
        })
        .collect::<Option<Vec<_>>>()?;
    let rates = found.into_iter().map(rate).collect::<Option<Vec<_>>>()?;
    Some(Rates { base, step_ticks, stop_tick, rates, updates })
}

/// The period of what goes into a block between two rates.
fn source_rate(
    network: &Network,
    b: usize,
    found: &[Found],
    diagnostics: &mut Diagnostics,
) -> Option<Found> {
    let block = root(network, b);
    let mut sources = Vec::new();
    sources_of(network, b, &mut sources);
    let rates: Vec<Found> = sources.iter().map(|&s| found[s]).collect();
    if let Some(first @ Found::Periodic(..)) = rates.first()
        && rates.iter().all(|rate| rate == first)
    {
        return Some(*first);
    }
    diagnostics.push(
        Diagnostic::error(
            code::RATE_CONFLICT,
            block.span,
            format!("the input of {} has no single period", block.path),
        )
        .hint("leave the RateTransition out: from continuous to periodic and back needs none"),
    );
    None
}

/// `time` in ticks of `base`, if it is a whole number of them.
pub(crate) fn ticks(time: Ratio, base: Ratio) -> Option<u64> {
    u64::try_from(time.whole_multiple_of(base)?).ok()
}

/// The base, the step and the stop time in ticks. With fixed steps every stated period and offset
/// is a whole multiple of the step, so the step is the base; otherwise the base is what all of
/// them are whole multiples of.
fn stated_multiples(
    network: &Network,
    run: &RunTimes,
    log_periods: &[(Ratio, Span)],
    diagnostics: &mut Diagnostics,
) -> Option<(Ratio, u64, u64)> {
    let step = run.step.0;
    let mut good = true;
    let mut base = step;
    let mut check = |time: Ratio, span: Span, what: &str| {
        // A time is counted in steps, and must stay exact as a double.
        let steps = time.to_f64() / step.to_f64();
        if steps.abs() > MOST_STEPS || step.times(Ratio::whole(MOST_STEPS as i128)).is_none() {
            good = false;
            let message = format!("the {what} {time} is more than {MOST_STEPS:e} steps of {step}");
            let found = Diagnostic::error(code::OUT_OF_RANGE, span, message);
            diagnostics.push(found.also(run.step.1, "the step of the run"));
            return;
        }
        if ticks(time, step).is_some() {
            return;
        }
        if run.is_variable {
            match base
                .gcd(time)
                .filter(|base| is_countable(run.stop.0.to_f64().max(step.to_f64()), *base))
            {
                Some(finer) => base = finer,
                None => {
                    good = false;
                    let message = format!(
                        "the {what} {time} and the other times of the run have no common measure \
                         that is above {step} / {MOST_STEPS:e}"
                    );
                    let found = Diagnostic::error(code::OUT_OF_RANGE, span, message);
                    diagnostics.push(found.also(run.step.1, "the longest step of the run"));
                }
            }
            return;
        }
        good = false;
        let nearest = nearest_multiples(time, step);
        diagnostics.push(
            Diagnostic::error(
                code::RATE_CONFLICT,
                span,
                format!("the {what} {time} is not a whole multiple of the step {step}"),
            )
            .also(run.step.1, "the step of the run")
            .hint(format!("use {nearest}, or a step that divides it")),
        );
    };
    for &block in &network.root.blocks {
        if let Some(every) = network.blocks[block].every {
            check(every.period, every.span, "period");
            check(every.offset, every.span, "offset");
        }
    }
    for (period, span) in log_periods {
        check(*period, *span, "period");
    }
    check(run.stop.0, run.stop.1, "stop time");
    if !good {
        return None;
    }
    Some((base, ticks(step, base)?, ticks(run.stop.0, base)?))
}

/// Whether `time` [s] in ticks of `base` stays an exact number.
fn is_countable(time: f64, base: Ratio) -> bool {
    time / base.to_f64() <= MOST_STEPS
}

fn nearest_multiples(time: Ratio, step: Ratio) -> String {
    let below = (time.to_f64() / step.to_f64()).floor().max(0.0);
    let multiple = |k: f64| Ratio::from_decimal(k).and_then(|k| step.times(k));
    match (multiple(below), multiple(below + 1.0)) {
        (Some(low), Some(high)) if low.is_positive() => format!("{low} or {high}"),
        (_, Some(high)) => format!("{high}"),
        _ => "a whole multiple".into(),
    }
}

/// Rates go forward from sources, stated periods and continuous state (semantics 2.3).
fn propagate(
    network: &Network,
    has_loop: bool,
    diagnostics: &mut Diagnostics,
) -> Vec<Option<Found>> {
    let n = network.root.blocks.len();
    let mut sources = Vec::new();
    // Who is to be looked at again once the rate of a block is known: (block, reader).
    let mut readers: Vec<(usize, usize)> = Vec::with_capacity(n);
    let mut found: Vec<Option<Found>> = vec![None; n];
    let mut failed = vec![false; n];
    for (b, &id) in network.root.blocks.iter().enumerate() {
        let block = &network.blocks[id];
        let declaration = &block.declaration;
        let every = block.every;
        sources_of(network, b, &mut sources);
        readers.extend(sources.iter().map(|&source| (source, b)));
        readers.extend(block.gate.map(|gate| (network.node(gate), b)));
        if declaration.continuous.is_some() {
            if let Some(every) = every {
                diagnostics.push(
                    Diagnostic::error(
                        code::RATE_CONFLICT,
                        every.span,
                        format!("{} has continuous state and no period", block.path),
                    )
                    .hint(
                        "leave `every:` out or move the block out of its Group, and sample its \
                         outputs with a ZeroOrderHold",
                    )
                    .hint(
                        "or make it discrete: `discrete: true` if the block has it, a \
                         DiscreteIntegrator for an Integrator",
                    ),
                );
            }
            if network.is_momentary(id) {
                diagnostics.push(
                    Diagnostic::error(
                        code::RATE_CONFLICT,
                        block.span,
                        format!(
                            "{} has continuous state, but runs at single steps only",
                            block.path
                        ),
                    )
                    .hint("put a DiscreteIntegrator or a DiscreteStateSpace there"),
                );
            }
            found[b] = Some(Found::Continuous);
        } else if let Some(every) = every {
            found[b] = Some(Found::Periodic(every.period, every.offset));
        } else if declaration.rate == RateRule::Constant {
            found[b] = Some(Found::Constant);
        } else if declaration.rate == RateRule::Continuous
            || (sources.is_empty()
                && declaration.rate != RateRule::Sampled
                && !network.is_momentary(id))
        {
            found[b] = Some(Found::Continuous);
        }
    }
    readers.sort_unstable();
    let mut waiting: VecDeque<usize> = (0..n).collect();
    while let Some(b) = waiting.pop_front() {
        if found[b].is_some() || failed[b] {
            continue;
        }
        sources_of(network, b, &mut sources);
        match inherit(network, b, &sources, &found, &failed) {
            Inherit::Wait => continue,
            Inherit::Rate(rate) => found[b] = Some(rate),
            Inherit::Fail(diagnostic) => {
                diagnostics.extend(diagnostic.map(|diagnostic| *diagnostic));
                failed[b] = true;
            }
        }
        let first = readers.partition_point(|(block, _)| *block < b);
        let of_block = readers[first..].iter().take_while(|(block, _)| *block == b);
        waiting.extend(of_block.map(|(_, reader)| reader));
    }
    let unknown: Vec<&str> = (0..n)
        .filter(|&b| found[b].is_none() && !failed[b])
        .map(|b| root(network, b).path.as_str())
        .collect();
    let first = (0..n).find(|&b| found[b].is_none() && !failed[b]);
    // On an algebraic loop the missing rate only follows.
    if let (Some(first), false) = (first, has_loop) {
        diagnostics.push(
            Diagnostic::error(
                code::UNKNOWN_RATE,
                root(network, first).span,
                format!("no rate reaches the cycle of {}", unknown.join(", ")),
            )
            .hint("state a period in one of them: every: \"1 ms\""),
        );
    }
    held_constants(network, &readers, &mut found);
    found
}

/// What is constant inside a conditional part is computed while the part is on, and its outputs
/// hold or reset while it is off: it changes as the condition does, and so does what reads it.
fn held_constants(network: &Network, readers: &[(usize, usize)], found: &mut [Option<Found>]) {
    let is_constant = |b: usize, found: &[Option<Found>]| found[b] == Some(Found::Constant);
    let held =
        (0..found.len()).filter(|&b| is_constant(b, found) && root(network, b).gate.is_some());
    let mut waiting: VecDeque<usize> = held.collect();
    let mut sources = Vec::new();
    while let Some(b) = waiting.pop_front() {
        if !is_constant(b, found) {
            continue;
        }
        sources_of(network, b, &mut sources);
        sources.extend(root(network, b).gate.map(|gate| network.node(gate)));
        let mut rates = sources.iter().filter_map(|&s| found[s]);
        let first = rates.find(|rate| *rate != Found::Constant).unwrap_or(Found::Continuous);
        let is_one = rates.all(|rate| rate == Found::Constant || rate == first);
        found[b] = Some(if is_one { first } else { Found::Continuous });
        let start = readers.partition_point(|(block, _)| *block < b);
        let of_block = readers[start..].iter().take_while(|(block, _)| *block == b);
        waiting.extend(of_block.map(|(_, reader)| reader));
    }
}

enum Inherit {
    Wait,
    Rate(Found),
    Fail(Option<Box<Diagnostic>>),
}

fn inherit(
    network: &Network,
    b: usize,
    sources: &[usize],
    found: &[Option<Found>],
    failed: &[bool],
) -> Inherit {
    let id = network.root.blocks[b];
    let block = &network.blocks[id];
    let path = &block.path;
    if sources.iter().any(|&s| failed[s]) {
        return Inherit::Fail(None);
    }
    let sampled = block.declaration.rate == RateRule::Sampled;
    // What runs at single steps of a condition needs no period of its own: those are its hits.
    if let Some(gate) = block.gate.filter(|_| network.is_momentary(id)) {
        let gate = network.node(gate);
        return match found[gate] {
            Some(rate) => Inherit::Rate(rate),
            None if failed[gate] => Inherit::Fail(None),
            None => Inherit::Wait,
        };
    }
    // A block whose state asks for one period cannot take it from a continuous or constant input,
    // so it need not wait for the others.
    let known = sources.iter().filter_map(|&s| found[s]);
    let continuous = known.clone().any(|rate| rate == Found::Continuous);
    if continuous && !sampled {
        return Inherit::Rate(Found::Continuous);
    }
    if known.clone().count() < sources.len() && !continuous {
        return Inherit::Wait;
    }
    let periodic: Vec<Found> = known.filter(|rate| matches!(rate, Found::Periodic(..))).collect();
    let fail = |message: String| {
        Inherit::Fail(Some(Box::new(
            Diagnostic::error(code::UNKNOWN_RATE, block.span, message)
                .hint("state its period: every: \"1 ms\""),
        )))
    };
    match periodic.first() {
        _ if sampled && continuous => {
            fail(format!("{path} has discrete state, but its input is continuous: no period"))
        }
        None if sampled => fail(format!("{path} has discrete state, but nothing gives its period")),
        None if network.updates(id) => Inherit::Rate(Found::Continuous),
        None => Inherit::Rate(Found::Constant),
        Some(first) if periodic.iter().all(|rate| rate == first) => Inherit::Rate(*first),
        Some(_) => {
            let mut names: Vec<String> = periodic
                .iter()
                .filter_map(|rate| match rate {
                    Found::Periodic(period, _) => Some(period.to_string()),
                    _ => None,
                })
                .collect();
            names.sort();
            names.dedup();
            Inherit::Fail(Some(Box::new(
                Diagnostic::error(
                    code::RATE_CONFLICT,
                    block.span,
                    format!("{path} has inputs of several rates: {}", names.join(", ")),
                )
                .hint("state the period it is to have: every: \"…\""),
            )))
        }
    }
}

/// Block `b` of the diagram's own.
fn root(network: &Network, b: usize) -> &NetworkBlock {
    &network.blocks[network.root.blocks[b]]
}

/// Puts the blocks whose outputs a block reads, its shared computations included, in `sources`.
fn sources_of(network: &Network, b: usize, sources: &mut Vec<usize>) {
    let block = root(network, b);
    sources.clear();
    sources.extend(block.asked.iter().map(|&asked| network.node(asked)));
    for wire in block.inputs.iter().flatten() {
        wire.source.each_port(&mut |port| sources.push(network.node(port.block)));
    }
    sources.sort_unstable();
    sources.dedup();
}

/// Semantics 2.4: between two periods one must divide the other, with offsets that agree. Periods
/// that are proposed are whole multiples of a fixed `step`.
fn crossings(
    network: &Network,
    found: &[Option<Found>],
    step: Option<Ratio>,
    diagnostics: &mut Diagnostics,
) {
    for b in 0..network.root.blocks.len() {
        let block = root(network, b);
        let Some(rate @ Found::Periodic(..)) = found[b] else { continue };
        if block.declaration.any_rates {
            continue;
        }
        for (input, wire) in block.declaration.inputs.iter().zip(&block.inputs) {
            let Some(wire) = wire else { continue };
            wire.source.each_port(&mut |port| {
                let s = network.node(port.block);
                let port = format_args!("{}.{}", block.path, input.name);
                let conflict = found[s].and_then(|source| crossing(port, rate, source, step));
                diagnostics.extend(conflict.map(|(message, proposal)| {
                    let found = Diagnostic::error(code::RATE_CONFLICT, wire.span, message)
                        .also(root(network, s).span, "the source");
                    proposal.into_iter().fold(found, Diagnostic::hint).hint(
                        "or put `RateTransition(mode: Hold)` between, with the `every:` of the \
                             reader; `legwork blocks RateTransition` has the modes",
                    )
                }));
            });
        }
    }
}

/// What is wrong between the rate of the input `port` and that of its source, and what would fit.
fn crossing(
    port: std::fmt::Arguments<'_>,
    reader: Found,
    source: Found,
    step: Option<Ratio>,
) -> Option<(String, Option<String>)> {
    let (Found::Periodic(period, offset), Found::Periodic(from, from_offset)) = (reader, source)
    else {
        return None;
    };
    if fits((period, offset), (from, from_offset)) {
        return None;
    }
    let (fast, slow) = if from <= period { (from, period) } else { (period, from) };
    let (wrong, proposal) = match slow.whole_multiple_of(fast) {
        None => ("neither rate divides the other", propose(fast, slow, step)),
        Some(_) => (
            "the offsets do not agree",
            Some(format!("offsets that differ by 0 or a whole multiple of {fast} fit")),
        ),
    };
    let message = format!(
        "`{port}` runs every {period} (offset {offset}), its source every {from} \
         (offset {from_offset}): {wrong}"
    );
    Some((message, proposal))
}

fn fits(a: (Ratio, Ratio), b: (Ratio, Ratio)) -> bool {
    let (fast, slow) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let difference = if slow.1 >= fast.1 { slow.1.minus(fast.1) } else { fast.1.minus(slow.1) };
    slow.0.whole_multiple_of(fast.0).is_some()
        && difference.is_some_and(|d| d.whole_multiple_of(fast.0).is_some())
}

/// Parts of a period that are round numbers.
const PARTS: [f64; 10] = [1.0, 2.0, 4.0, 5.0, 8.0, 10.0, 20.0, 25.0, 50.0, 100.0];

/// The nearest periods for the slower side that the faster divides, and a part of the slower for
/// the faster.
fn propose(fast: Ratio, slow: Ratio, step: Option<Ratio>) -> Option<String> {
    let multiple = (slow.to_f64() / fast.to_f64()).floor().max(1.0);
    let low = fast.times(Ratio::from_decimal(multiple)?)?;
    let high = fast.times(Ratio::from_decimal(multiple + 1.0)?)?;
    let ratio = slow.to_f64() / fast.to_f64();
    let far = |part: f64| (part / ratio).max(ratio / part);
    let part = |parts: &f64| slow.times(Ratio::from_decimal(1.0 / parts)?);
    let is_countable = |part: Ratio| step.is_none_or(|step| ticks(part, step).is_some());
    let possible = PARTS.iter().filter(|parts| part(parts).is_some_and(is_countable));
    let part = part(possible.min_by(|a, b| far(**a).total_cmp(&far(**b)))?)?;
    Some(format!(
        "they fit with the slower one every {low} or {high} (not {slow}), or with the faster one \
         every {part} (not {fast})"
    ))
}
