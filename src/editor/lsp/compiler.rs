//! Compiles texts on a thread of their own, the newest first of all that wait for a file.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use legwork_study::{Diagram, Survey};

use crate::findings::{self, Finding};
use crate::service::Service;

/// What came of compiling a text.
pub(super) struct Compiled {
    pub(super) path: String,
    /// The number of the text that was compiled.
    pub(super) number: u64,
    pub(super) findings: Vec<Finding>,
    /// What is known of it; with the first findings alone.
    pub(super) survey: Option<Survey>,
}

/// A text that waits.
struct Job {
    diagram: Diagram,
    number: u64,
    /// Whether it is a mask or a patch, by itself.
    is_part: bool,
}

#[derive(Default)]
struct Queue {
    jobs: BTreeMap<String, Job>,
    /// The number of the last text of each file.
    newest: BTreeMap<String, u64>,
    is_over: bool,
}

/// The thread's other end.
pub(super) struct Compiler {
    shared: Arc<(Mutex<Queue>, Condvar)>,
}

/// No thread stops in the middle of a change to the queue.
fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Compiler {
    /// Begins; `tell` takes what comes of each text, and says whether somebody still listens.
    pub(super) fn begin(
        service: Arc<Service>,
        tell: impl Fn(Compiled) -> bool + Send + 'static,
    ) -> Self {
        let shared: Arc<(Mutex<Queue>, Condvar)> = Arc::default();
        let thread = Arc::clone(&shared);
        std::thread::spawn(move || work(&service, &thread, &tell));
        Self { shared }
    }

    /// Compiles this text of a file, in place of one that waits; `is_part` says that it is a mask
    /// or a patch.
    pub(super) fn compile(&self, path: &str, diagram: Diagram, number: u64, is_part: bool) {
        let (queue, condition) = &*self.shared;
        let mut queue = lock(queue);
        queue.newest.insert(path.to_owned(), number);
        queue.jobs.insert(path.to_owned(), Job { diagram, number, is_part });
        condition.notify_one();
    }

    /// Forgets a file.
    pub(super) fn forget(&self, path: &str) {
        let mut queue = lock(&self.shared.0);
        queue.newest.remove(path);
        queue.jobs.remove(path);
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        lock(&self.shared.0).is_over = true;
        self.shared.1.notify_one();
    }
}

/// First what the compiler says of each text and what is known of it, then, while nothing waits,
/// what other choices of its variants add.
fn work(service: &Service, shared: &(Mutex<Queue>, Condvar), tell: &impl Fn(Compiled) -> bool) {
    let mut rest: Vec<(String, Job)> = Vec::new();
    loop {
        let job = {
            let mut queue = lock(&shared.0);
            loop {
                if queue.is_over {
                    return;
                }
                if let Some(job) = queue.jobs.pop_first() {
                    break Some(job);
                }
                if !rest.is_empty() {
                    break None;
                }
                queue = shared.1.wait(queue).unwrap_or_else(PoisonError::into_inner);
            }
        };
        let is_newest = |path: &str, number: u64| {
            let queue = lock(&shared.0);
            !queue.is_over && queue.newest.get(path) == Some(&number)
        };
        let goes_on = match job {
            Some((path, job)) => {
                rest.retain(|(other, _)| *other != path);
                let survey = service.survey(&job.diagram);
                let findings = match job.diagram.is_study() {
                    true => Vec::new(),
                    false => findings::of_survey(&survey),
                };
                let number = job.number;
                // What else there is to say of a mask or a patch is said of diagrams that use it.
                if !job.is_part {
                    rest.push((path.clone(), job));
                }
                tell(Compiled { path, number, findings, survey: Some(survey) })
            }
            None => {
                let Some((path, Job { diagram, number, is_part })) = rest.pop() else { continue };
                // A text that came meanwhile, of any file, goes before.
                let goes_on = || is_newest(&path, number) && lock(&shared.0).jobs.is_empty();
                match findings::of_check(&diagram, &goes_on) {
                    Some(findings) => tell(Compiled { path, number, findings, survey: None }),
                    None => {
                        if is_newest(&path, number) {
                            rest.push((path, Job { diagram, number, is_part }));
                        }
                        true
                    }
                }
            }
        };
        if !goes_on {
            return;
        }
    }
}
