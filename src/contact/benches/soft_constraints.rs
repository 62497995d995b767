//! Microseconds per step of a cube on an elastic foundation and of stacks of spheres, without the
//! assembly of the problem.
//!
//! `cargo bench -p legwork-contact --bench soft_constraints`

#![allow(clippy::print_stdout, reason = "a bench reports")]
#![allow(dead_code, reason = "modules are those of the tests")]

#[path = "../tests/soft_constraints/bodies.rs"]
mod bodies;
#[path = "../tests/soft_constraints/foundation.rs"]
mod foundation;
#[path = "../tests/soft_constraints/spheres.rs"]
mod spheres;

use bodies::World;
use foundation::Foundation;
use legwork_qp::Status;
use spheres::Stack;
use std::time::Instant;

/// Times of solves [µs], and how many of them missed the tolerance.
#[derive(Default)]
struct Solves {
    times: Vec<f64>,
    missed: usize,
}

/// Median, mean and 90th percentile of a solve [µs], Newton steps per solve, mean time of a Newton
/// step, and how many solves missed the tolerance.
fn report(name: &str, Solves { mut times, missed }: Solves, iterations: u32) {
    let (count, total) = (times.len(), times.iter().sum::<f64>());
    times.sort_by(f64::total_cmp);
    let (median, high) = (times[count / 2], times[count * 9 / 10]);
    let (mean, newton) = (total / count as f64, f64::from(iterations) / count as f64);
    println!(
        "{name:<26} median {median:>8.1} mean {mean:>8.1} 90 % {high:>8.1} µs, \
         {newton:>4.1} Newton steps of {:>8.1} µs, {missed} missed",
        mean / newton
    );
}

fn solve(world: &mut World, solves: &mut Solves) {
    // The same problem twice: the second solve has warm caches, the guess is restored.
    let guess = world.solution.velocity.clone();
    let _ = world.solver.solve(&world.problem, &mut world.solution);
    world.solution.velocity.copy_from_slice(&guess);
    let start = Instant::now();
    let outcome = world.advance();
    solves.times.push(start.elapsed().as_secs_f64() * 1e6);
    solves.missed += usize::from(outcome.status != Status::Solved);
}

fn main() {
    for per_side in [10, 30] {
        for modulus in [1e7, 1e11] {
            for load in [5.0, 50.0, 5000.0] {
                let mut foundation = Foundation::new(per_side, modulus, 0.01);
                let mut solves = Solves::default();
                for step in 0..100 {
                    foundation.assemble(0.01 * f64::from(step), load);
                    solve(&mut foundation.world, &mut solves);
                }
                let name = format!("cube/{}/{modulus:.0e}/{load} N", per_side * per_side);
                report(&name, solves, foundation.world.iterations);
            }
        }
    }
    for count in [10, 100, 1000] {
        // Falls from the paper's kind of start; is compressed by its own weight from rest.
        for (what, distance) in [("falling", 0.02), ("settling", 0.0)] {
            let mut stack = Stack::new(count, 1e11, distance);
            let mut solves = Solves::default();
            for _ in 0..100 {
                stack.assemble();
                solve(&mut stack.world, &mut solves);
            }
            report(&format!("spheres/{count}/{what}"), solves, stack.world.iterations);
        }
        one_step(count);
    }
}

/// Best of many solves of one step, in which a stack at rest is pushed aside at its top: the cost
/// of a step by its size, undisturbed by other programs.
fn one_step(count: usize) {
    let mut stack = Stack::new(count, 1e11, 0.0);
    for _ in 0..200 {
        stack.assemble();
        let _ = stack.world.advance();
    }
    if let Some(top) = stack.world.bodies.last_mut() {
        top.linear.x += 0.1;
    }
    stack.assemble();
    let world = &mut stack.world;
    let guess = world.solution.velocity.clone();
    let (mut best, mut iterations) = (f64::INFINITY, 0);
    for _ in 0..20 {
        world.solution.velocity.copy_from_slice(&guess);
        let start = Instant::now();
        let outcome = world.solver.solve(&world.problem, &mut world.solution);
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
        assert!(outcome.status.is_usable(), "{outcome:?}");
        iterations = outcome.iterations;
    }
    let each = best / f64::from(iterations.max(1)) / count as f64;
    println!(
        "spheres/{count}/pushed: best {best:.1} µs, {iterations} Newton steps, \
         {each:.2} µs per step and sphere"
    );
}
