//! Damaged inputs and random diagrams: nothing panics, hangs or takes memory out of proportion.
//!
//! As a test each target takes so many inputs, always the same. For hours:
//!
//! ```text
//! cargo test --release --test fuzz -- fuzz diagram 1000000 --seed 7 --from 0
//! ```
//!
//! | target | input |
//! |---|---|
//! | `diagram` | a diagram, first those of `hostile.rs`; what is accepted runs a few steps |
//! | `mask`, `patch`, `table`, `robot`, `xacro` | a file that a diagram names |
//! | `study` | a study; each run of what is accepted is compiled |
//! | `mjcf` | a model of MuJoCo with what it includes |
//! | `mesh` | STL, OBJ, COLLADA, glTF or MSH: read, measured, its hull taken |
//! | `picture` | a PNG file that is the ground |
//! | `texture` | a PNG or JPEG file on a mesh |
//! | `recording`, `snapshot`, `problem` | what commands read again |
//! | `sealed` | a snapshot with damage under its checksum |
//! | `commands` | commands of a session, carried out in this process |
//! | `scripts` | the same by `legwork step`, which records them |
//! | `frames` | what a page sends to the server of `legwork view` |
//! | `editor` | a text, asked at random places what can be written and what is there |
//! | `lsp`, `dap` | what an editor sends to the language server and the debug adapter |
//! | `same` | a random diagram: run, steps, resumption, forks and the way back give equal bits |
//! | `solvers` | a random contact problem: all solvers agree |
//!
//! `soak FILE SECONDS` runs a diagram so long: nothing is allocated, time is exact, and the half
//! that is resumed from a snapshot ends in the same bits.
//!
//! An input is made from its number and the seed alone. What ends the process (a stack that
//! overflows, memory that is not there) leaves its number in the file that is named at the start.

#![allow(clippy::unwrap_used, reason = "a test panics where it fails")]
#![allow(clippy::print_stdout, reason = "the counts are worth reading")]

mod commands;
mod editors;
mod frames;
mod hostile;
mod meshes;
mod mjcf;
mod mutate;
mod named;
mod same;
mod soak;
mod solvers;
mod studies;
mod targets;
mod textures;

use std::collections::BTreeMap;
use std::io::{Seek, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use allocation_counter::measure;
use libtest_mimic::{Arguments, Failed, Trial};

use mutate::Random;

/// Bytes that one input may take, beside those for each of its own.
const PEAK: u64 = 64_000_000;
/// Bytes for each of the input.
const PEAK_PER_BYTE: u64 = 64;
/// An input that takes longer hangs [s]: by hand, and among the tests of a busy machine.
const HANGS: [u64; 2] = [5, 60];

/// What is done with damaged inputs.
pub(crate) trait Target {
    /// Input number `index` if it is a fixed one.
    fn fixed(&self, _index: u64) -> Option<Vec<u8>> {
        None
    }

    /// A random input.
    fn input(&self, random: &mut Random) -> Vec<u8>;

    /// Does it; what came of it, in a word. An `Err` is a finding.
    ///
    /// # Errors
    /// What is wrong.
    fn run(&self, input: &[u8], random: &mut Random) -> Result<&'static str, String>;
}

/// Name, inputs of the test, and what makes it.
type Entry = (&'static str, u64, fn() -> Box<dyn Target>);

const TARGETS: [Entry; 23] = [
    ("diagram", 1200, || Box::new(targets::Diagrams::new())),
    ("mask", 600, || Box::new(named::Named::masks())),
    ("patch", 300, || Box::new(named::Named::patches())),
    ("study", 600, || Box::new(studies::Studies::new())),
    ("table", 1500, || Box::new(named::Named::tables())),
    ("robot", 400, || Box::new(named::Named::robots())),
    ("xacro", 400, || Box::new(named::Named::macros())),
    ("mjcf", 600, || Box::new(mjcf::Models::new())),
    ("mesh", 2000, || Box::new(meshes::Meshes::new())),
    ("picture", 600, || Box::new(named::Named::pictures())),
    ("texture", 1500, || Box::new(textures::Textures::new())),
    ("recording", 1500, || Box::new(targets::Recordings::new())),
    ("snapshot", 600, || Box::new(targets::Snapshots::new())),
    ("sealed", 600, || Box::new(targets::Sealed(targets::Snapshots::new()))),
    ("problem", 200, || Box::new(targets::Problems::new())),
    ("frames", 3000, || Box::new(frames::Frames::new())),
    ("editor", 800, || Box::new(editors::Texts::new())),
    ("lsp", 400, || Box::new(editors::Messages::lsp())),
    ("dap", 200, || Box::new(editors::Messages::dap())),
    ("commands", 400, || Box::new(commands::Commands::new())),
    ("scripts", 60, || Box::new(commands::Scripts)),
    ("same", 150, || Box::new(same::Same::new())),
    ("solvers", 300, || Box::new(solvers::Solvers)),
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "fuzz") {
        return by_hand(&arguments[1..]);
    }
    if let [first, file, seconds] = &arguments[..]
        && first == "soak"
    {
        println!("{}", soak::soak(file, seconds).unwrap());
        return;
    }
    let trials = TARGETS.map(|(name, count, make)| {
        Trial::test(name, move || {
            let found = fuzz(name, &*make(), (1, HANGS[1]), 0..count);
            if found.is_empty() { Ok(()) } else { Err(Failed::from(found.join("\n"))) }
        })
    });
    let soaks = ["diagrams/quadruped/stand.ron", "diagrams/quadruped/trot.ron"].map(|file| {
        Trial::test(format!("soak of {file}"), move || match soak::soak(file, "4") {
            Ok(_) => Ok(()),
            Err(why) => Err(Failed::from(why)),
        })
    });
    let mut arguments = Arguments::from_args();
    // One input at a time, so that the watch knows it.
    arguments.test_threads = Some(1);
    libtest_mimic::run(&arguments, trials.into_iter().chain(soaks).collect()).exit();
}

/// `TARGET COUNT [--seed N] [--from N]`.
fn by_hand(arguments: &[String]) {
    let usage = "usage: fuzz TARGET COUNT [--seed N] [--from N]";
    let option = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1)?.parse::<u64>().ok()
    };
    let target = arguments.first().expect(usage);
    let count: u64 = arguments.get(1).and_then(|count| count.parse().ok()).expect(usage);
    let (seed, from) = (option("--seed").unwrap_or(1), option("--from").unwrap_or(0));
    let Some((name, _, make)) = TARGETS.iter().find(|(name, ..)| name == target) else {
        let names: Vec<&str> = TARGETS.iter().map(|(name, ..)| *name).collect();
        panic!("expected a target, one of {}, found {target}", names.join(", "));
    };
    // A diagram is run some ten times over.
    let hangs = if *name == "same" { HANGS[1] } else { HANGS[0] };
    let found = fuzz(name, &*make(), (seed, hangs), from..from + count);
    found.iter().for_each(|found| println!("{found}"));
    std::process::exit(i32::from(!found.is_empty()));
}

/// Number of the input that runs, and when it began [s since the start].
static CURRENT: AtomicU64 = AtomicU64::new(0);

/// The input that runs, for one that hangs.
static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Where the last panic was.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Runs these inputs; gives what is wrong.
fn fuzz(
    name: &'static str,
    target: &dyn Target,
    (seed, hangs): (u64, u64),
    inputs: std::ops::Range<u64>,
) -> Vec<String> {
    let at = folder().join(format!("{name}.at"));
    println!("{name}: the input that runs is in {}", at.display());
    // Written over rather than anew: a file that is cut to nothing is written through to the disk.
    let mut at = std::fs::File::create(at).unwrap();
    watch(name, seed, hangs);
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map_or_else(String::new, ToString::to_string);
        *PLACE.lock().unwrap() = place;
    }));
    let (mut counts, mut found) = (BTreeMap::new(), Vec::new());
    for index in inputs {
        at.rewind().unwrap();
        writeln!(at, "{name} --seed {seed} --from {index:<20}").unwrap();
        CURRENT.store(index + 1, Ordering::SeqCst);
        let mut random = Random::of(seed, index);
        let input = target.fixed(index).unwrap_or_else(|| target.input(&mut random));
        INPUT.lock().unwrap().clone_from(&input);
        let mut outcome = None;
        let info = measure(|| {
            outcome = Some(catch_unwind(AssertUnwindSafe(|| target.run(&input, &mut random))));
        });
        let limit = PEAK + PEAK_PER_BYTE * input.len() as u64;
        let wrong = match outcome {
            Some(Ok(Ok(_))) if info.bytes_max > limit => {
                Some(format!("it took {} MB", info.bytes_max / 1_000_000))
            }
            Some(Ok(Ok(what))) => {
                *counts.entry(what).or_insert(0u64) += 1;
                None
            }
            Some(Ok(Err(why))) => Some(why),
            Some(Err(panic)) => {
                Some(format!("panic at {}: {}", PLACE.lock().unwrap(), said(&*panic)))
            }
            None => Some("it did not run".to_owned()),
        };
        if let Some(wrong) = wrong {
            let kept = folder().join(format!("{name}-{seed}-{index}"));
            std::fs::write(&kept, &input).unwrap();
            found.push(format!("{name} {seed} {index}: {wrong}; the input is {}", kept.display()));
        }
    }
    CURRENT.store(0, Ordering::SeqCst);
    let _ = std::panic::take_hook();
    println!("{name}: {counts:?}, {} findings", found.len());
    found
}

fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned())).unwrap_or_default()
}

/// Ends the process if one input takes too long.
fn watch(name: &'static str, seed: u64, hangs: u64) {
    std::thread::spawn(move || {
        let (mut last, mut since) = (0, 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = CURRENT.load(Ordering::SeqCst);
            since = if now == last { since + 1 } else { 0 };
            last = now;
            if now == 0 {
                return;
            }
            if since > hangs {
                let kept = folder().join(format!("{name}-{seed}-{}", now - 1));
                std::fs::write(&kept, &*INPUT.lock().unwrap()).unwrap();
                println!("{name} {seed} {}: hangs; the input is {}", now - 1, kept.display());
                std::process::exit(101);
            }
        }
    });
}

/// Where findings are kept.
pub(crate) fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// A path of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
