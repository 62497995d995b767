//! Work on several cores, with results in the order of the jobs.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Jobs at a time: one on each core, unless the request says otherwise.
pub(crate) fn at_a_time(asked: Option<NonZeroUsize>, jobs: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.map_or_else(cores, usize::from).min(jobs)
}

/// Does all jobs, `at_a_time` of them at once. `work` shares nothing between jobs that would let
/// the result of one depend on another.
pub(crate) fn map<J: Send, R: Send>(
    jobs: Vec<J>,
    at_a_time: usize,
    work: impl Fn(J) -> R + Sync,
) -> Vec<R> {
    let count = jobs.len();
    let waiting: Vec<Mutex<Option<J>>> =
        jobs.into_iter().map(|job| Mutex::new(Some(job))).collect();
    let next = AtomicUsize::new(0);
    let work_off = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(slot) = waiting.get(at) else { return done };
            let job = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(job) = job {
                done.push((at, work(job)));
            }
        }
    };
    let mut ended = std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..at_a_time.min(count).max(1)).map(|_| scope.spawn(work_off)).collect();
        let mut ended = Vec::with_capacity(count);
        for worker in workers {
            match worker.join() {
                Ok(done) => ended.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        ended
    });
    ended.sort_by_key(|(at, _)| *at);
    ended.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        for at_a_time in [0, 1, 3, 100] {
            // The first jobs take longest.
            let work = |job: u64| {
                std::thread::sleep(std::time::Duration::from_millis(8 - job));
                job * job
            };
            assert_eq!(map((0..8).collect(), at_a_time, work), [0, 1, 4, 9, 16, 25, 36, 49]);
        }
        assert!(map(Vec::<u64>::new(), 2, |job| job).is_empty());
    }
}
