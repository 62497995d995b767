//! Things that blocks share and the diagram names: robots, and the files they come from.

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
}

/// The resources of a diagram, by name.
pub trait Resources {
    /// The resource of this name.
    fn resource(&self, name: &str) -> Option<&Arc<dyn Resource>>;
    /// All names, sorted.
    fn resource_names(&self) -> Vec<String>;
}

/// The resource `name`, if it is a `T`.
///
/// # Errors
/// If there is none, or it is of another kind.
pub fn typed<T: Resource>(resources: &dyn Resources, name: &str) -> Result<Arc<T>, Invalid> {
    let Some(found) = resources.resource(name) else {
        let names = resources.resource_names();
        let mut invalid =
            Invalid::parameter("robot", format!("expected the name of a robot, found `{name}`"));
        if let Some(near) = crate::nearest(name, names.iter().map(String::as_str)) {
            invalid = invalid.hint(format!("did you mean `{near}`?"));
        } else if names.is_empty() {
            invalid = invalid.hint("declare it under `robots:`");
        } else {
            invalid = invalid.hint(format!("known are: {}", names.join(", ")));
        }
        return Err(invalid);
    };
    let any: Arc<dyn Any + Send + Sync> = Arc::clone(found) as _;
    any.downcast::<T>().map_err(|_| {
        Invalid::parameter("robot", format!("`{name}` is not of the kind that this block needs"))
    })
}

/// Where diagrams, masks and robots are read from. Blocks do no IO of their own.
pub trait Files {
    /// The bytes of a file that the diagram names.
    ///
    /// # Errors
    /// A sentence that says where was looked.
    fn read(&self, path: &str) -> Result<Vec<u8>, String>;
}
