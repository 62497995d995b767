//! Mesh files, read one after the other and worked on side by side.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use legwork_block::Files;
use legwork_mesh::{Format, Hull, Mesh};

use super::extent::Extent;

/// Most threads; files are read on one more.
const MOST_THREADS: usize = 8;

/// Corners of the hull that stands for a mesh.
pub(crate) const CORNERS: usize = 64;

/// What is known of a mesh; none of a flat one.
type Found = Result<Option<(Extent, Hull)>, String>;

/// Reads a mesh; `beside` gives the bytes of a file by its path.
///
/// # Errors
/// What is wrong with it.
pub(super) fn read(
    path: &str,
    bytes: &[u8],
    beside: &dyn Fn(&str) -> Result<Vec<u8>, String>,
) -> Result<Mesh, String> {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut in_folder = |name: &str| match folder {
        "" => beside(name),
        folder => beside(&format!("{folder}/{name}")),
    };
    legwork_mesh::read(path, bytes, &mut in_folder).map_err(|error| error.to_string())
}

/// The extents and hulls of meshes in their own axes, in the order of their paths. Of the files, no
/// more are in memory than there are threads, and one.
pub(super) fn extents(paths: &[&str], files: &dyn Files) -> Vec<Found> {
    let mut found: Vec<Found> = vec![Ok(None); paths.len()];
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    thread::scope(|scope| {
        let (give, take) = sync_channel::<(usize, Vec<u8>)>(0);
        // Owned by the threads, so that nothing waits for them once they are gone.
        let take = Arc::new(Mutex::new(take));
        let workers: Vec<_> = (0..threads.min(paths.len()))
            .map(|_| {
                let take = Arc::clone(&take);
                scope.spawn(move || work(&take, paths))
            })
            .collect();
        drop(take);
        for (index, path) in paths.iter().enumerate() {
            found[index] = match files.look(path) {
                // Its vertices may be in files beside it, which this thread alone can read.
                Ok(bytes) if Format::of(path) == Some(Format::Gltf) => {
                    extent(path, &bytes, &|name| files.look(name))
                }
                Ok(bytes) => match give.send((index, bytes)) {
                    Ok(()) => continue,
                    Err(_) => Err("the threads that read meshes ended".to_owned()),
                },
                Err(why) => Err(why),
            };
        }
        drop(give);
        for worker in workers {
            for (index, extent) in worker.join().unwrap_or_default() {
                found[index] = extent;
            }
        }
    });
    found
}

/// Works on what is given until there is no more.
fn work(take: &Mutex<Receiver<(usize, Vec<u8>)>>, paths: &[&str]) -> Vec<(usize, Found)> {
    let mut done = Vec::new();
    loop {
        let next = take.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, bytes)) = next else { return done };
        // Materials have no extent.
        let found = extent(paths[index], &bytes, &|_| Err("it is not looked at".to_owned()));
        done.push((index, found));
    }
}

fn extent(path: &str, bytes: &[u8], beside: &dyn Fn(&str) -> Result<Vec<u8>, String>) -> Found {
    let mesh = read(path, bytes, beside)?;
    let hull = Hull::of_mesh(&mesh, CORNERS).ok();
    Ok(hull.and_then(|hull| Some((Extent::of_mesh(&mesh, &hull)?, hull))))
}
