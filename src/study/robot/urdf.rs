//! Conversion of a robot of any format to a URDF file.

use std::path::Path;

use legwork_mechanics::{Written, urdf_rs};

use super::Robot;
use crate::error::Error;

impl Robot {
    /// Text of a URDF file at `output`, and the parts of the robot without an equivalent in URDF.
    /// Mesh paths are relative to the file's folder if they are below it, otherwise absolute.
    ///
    /// # Errors
    /// If the robot is a world of several robots.
    pub fn to_urdf(&self, output: &Path) -> Result<(String, Vec<String>), Error> {
        let beside = output.parent().filter(|folder| !folder.as_os_str().is_empty());
        let beside = beside.unwrap_or(Path::new(".")).canonicalize().ok();
        let path_of = |name: &str| {
            let file = self.folder.join(name).canonicalize().ok()?;
            let below = beside.as_deref().and_then(|folder| file.strip_prefix(folder).ok());
            below.unwrap_or(&file).to_str().map(str::to_owned)
        };
        let model = self.model.clone().with_mesh_paths(path_of);
        let Some(Written { robot, left_out }) = model.to_urdf() else {
            return Err(Error::request("expected one robot, found a world of several"));
        };
        let text = urdf_rs::write_to_string(&robot)
            .map_err(|error| Error::request(format!("the robot cannot be written: {error}")))?;
        Ok((text, left_out))
    }
}
