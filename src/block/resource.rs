//! Resources that blocks share and the diagram names: robots, and the files they come from.

use std::any::Any;
use std::sync::Arc;

use crate::fault::Invalid;
use crate::value::Value;

/// Something of the `robots:` section: made once from parameters and files, then immutable.
pub trait Resource: Any + Send + Sync {
    /// What expressions see: `go.n`, `go.feet`, `go.keyframes.stand.s`.
    fn facts(&self) -> Value;

    /// A named dimension, such as `n`, `nv`, `nq`.
    fn dimension(&self, name: &str) -> Option<usize>;

    /// Names that blocks may point at, such as frames, for "did you mean".
    fn names(&self) -> Vec<String> {
        Vec::new()
    }

    /// Bytes that it takes beside what its file has: what grows faster than that, such as the
    /// sparsity of a mass matrix.
    fn memory(&self) -> u64 {
        0
    }

    /// The mechanism, for who describes or shows it: that of a robot is a model of the crate
    /// `legwork-mechanics`.
    fn mechanism(&self) -> Option<&dyn Any> {
        None
    }
}

/// The resources of a diagram, by name.
pub trait Resources {
    /// The resource of this name.
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>>;
    /// All names, sorted.
    fn resource_names(&self) -> Vec<String>;
    /// What the diagram's `ground:` is, if it has one.
    fn ground(&self) -> Option<&Arc<dyn Resource>> {
        None
    }
}

/// The resource `name`, if it is a `T`.
///
/// # Errors
/// If there is none, or it is of another kind.
pub fn typed<T: Resource>(resources: &dyn Resources, name: &str) -> Result<Arc<T>, Invalid> {
    match resources.resource(name) {
        Some(found) => of_type("robot", name, Arc::clone(found)),
        None => Err(unknown("robot", name, &resources.resource_names())),
    }
}

/// The diagram's ground, if it has one that is a `T`.
pub(crate) fn typed_ground<T: Resource>(resources: &dyn Resources) -> Option<Arc<T>> {
    let any: Arc<dyn Any + Send + Sync> = resources.ground()?.clone();
    any.downcast::<T>().ok()
}

/// The resources that another one may be made of, as a world is of robots. Each is loaded when it
/// is first asked for, so that their order in the diagram does not matter.
pub trait OtherResources {
    /// The resource `name`.
    ///
    /// # Errors
    /// Why there is none.
    fn other(&self, name: &str) -> Result<Arc<dyn Resource>, NoResource>;
    /// All names that may be asked for, sorted.
    fn other_names(&self) -> Vec<String>;
}

/// Why a resource cannot be used by another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoResource {
    /// The diagram has no resource of this name.
    Unknown,
    /// It has mistakes of its own, or is made of the one that asks. That is reported where it
    /// is; what follows from it is not reported again.
    Failed,
}

/// Resources that are all loaded.
impl<R: Resources> OtherResources for R {
    fn other(&self, name: &str) -> Result<Arc<dyn Resource>, NoResource> {
        self.resource(name).cloned().ok_or(NoResource::Unknown)
    }

    fn other_names(&self) -> Vec<String> {
        self.resource_names()
    }
}

/// The resource `name`, which the parameter `parameter` of another one names, if it is a `T`.
///
/// # Errors
/// If there is none, or it is of another kind.
pub fn other<T: Resource>(
    others: &dyn OtherResources,
    parameter: &str,
    name: &str,
) -> Result<Arc<T>, Invalid> {
    match others.other(name) {
        Ok(found) => of_type(parameter, name, found),
        Err(NoResource::Unknown) => Err(unknown(parameter, name, &others.other_names())),
        Err(NoResource::Failed) => {
            Err(Invalid::parameter(parameter, format!("`{name}` has errors of its own")))
        }
    }
}

fn unknown(parameter: &str, name: &str, names: &[String]) -> Invalid {
    let invalid =
        Invalid::parameter(parameter, format!("expected the name of a robot, found `{name}`"));
    if let Some(near) = crate::nearest(name, names.iter().map(String::as_str)) {
        invalid.hint(format!("did you mean `{near}`?"))
    } else if names.is_empty() {
        invalid.hint("declare it under `robots:`")
    } else {
        invalid.hint(format!("known are: {}", names.join(", ")))
    }
}

fn of_type<T: Resource>(
    parameter: &str,
    name: &str,
    found: Arc<dyn Resource>,
) -> Result<Arc<T>, Invalid> {
    let any: Arc<dyn Any + Send + Sync> = found;
    any.downcast::<T>().map_err(|_| {
        let message = format!("`{name}` is not of the kind that is needed here");
        Invalid::parameter(parameter, message)
    })
}

/// Where diagrams, masks and robots are read from. Blocks do no IO of their own.
pub trait Files {
    /// The bytes of a file that the diagram names.
    ///
    /// # Errors
    /// A sentence that says where was looked.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;

    /// The same for a file that was searched for: the program depends on what is in it and on its
    /// name, but not on the folder in which it was found.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    fn read_found(&self, path: &str) -> Result<Vec<u8>, String> {
        self.read(path)
    }

    /// The bytes of a file on which nothing that is computed depends, such as what a robot looks
    /// like. The program is the same without it, and a recording does not keep it.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    fn look(&self, path: &str) -> Result<Vec<u8>, String> {
        self.read(path)
    }

    /// Whether there is a file that may be read.
    fn exists(&self, path: &str) -> bool {
        self.look(path).is_ok()
    }

    /// Why a file is left alone that may not be read, be it there or not, and what would allow it.
    fn refusal(&self, _path: &str) -> Option<String> {
        None
    }
}
