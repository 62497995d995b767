//! Timing by many short batches: the median over batches is robust against preemption.

use std::time::{Duration, Instant};

/// Length of a batch: long against the clock's own cost, short against a scheduler's time slice.
const BATCH: Duration = Duration::from_micros(150);
const WARM_UP: Duration = Duration::from_millis(50);
const FEWEST_BATCHES: usize = 31;

/// Median time per call over all batches [ns]; calls `f` for about `seconds` after a warm-up.
pub(crate) fn median_ns(seconds: f64, mut f: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0_u32;
    while start.elapsed() < WARM_UP {
        f();
        calls += 1;
    }
    let per_call = start.elapsed().as_secs_f64() / f64::from(calls);
    let batch_size = (BATCH.as_secs_f64() / per_call).max(1.0) as u32;
    let batch_count = ((seconds / (per_call * f64::from(batch_size))) as usize).max(FEWEST_BATCHES);
    let mut batches = vec![0.0; batch_count];
    for time in &mut batches {
        let start = Instant::now();
        for _ in 0..batch_size {
            f();
        }
        *time = start.elapsed().as_secs_f64() * 1e9 / f64::from(batch_size);
    }
    batches.sort_by(f64::total_cmp);
    batches[batch_count / 2]
}
