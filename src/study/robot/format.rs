//! What kind of file describes a robot, by its ending and its first element.

use std::path::Path;

use legwork_mechanics::first_element;

use crate::error::Error;

/// A kind of robot file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Format {
    /// Of the language.
    Robot,
    /// URDF or xacro.
    Urdf,
    Mjcf,
}

/// So much of a file is looked at for its first element.
const HEAD: usize = 64 * 1024;

impl Format {
    /// That of a file of the library, by its ending.
    pub(super) fn of_library(name: &str) -> Self {
        match ending(name) {
            "ron" | "robot" => Self::Robot,
            "xml" => Self::Mjcf,
            _ => Self::Urdf,
        }
    }

    /// That of a file.
    ///
    /// # Errors
    /// If it is no file, cannot be read, or is of another format, which is named.
    pub(super) fn of_file(path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        if path.is_dir() {
            return Err(Error::request(format!("`{shown}` is a folder, expected a robot file")));
        }
        if !path.is_file() {
            return Err(Error::request(format!("no file `{shown}`")));
        }
        if matches!(ending(&path.to_string_lossy()), "ron" | "robot") {
            return Ok(Self::Robot);
        }
        let head = head(path).map_err(|error| Error::request(format!("`{shown}`: {error}")))?;
        let found = match first_element(text(&head)) {
            Some("robot") => return Ok(Self::Urdf),
            Some("mujoco") => return Ok(Self::Mjcf),
            Some("mujocoinclude") => {
                "a part that a model of MuJoCo includes (<mujocoinclude>)".to_owned()
            }
            Some("sdf") => {
                "SDF (<sdf>): convert it, for instance by `gz sdf -p` from a URDF".into()
            }
            // It may be any file, so that nothing of it is shown.
            Some(other) if !other.is_empty() => "another element".to_owned(),
            // Perhaps it was meant to be one; its reader says what is wrong.
            _ if matches!(ending(&path.to_string_lossy()), "urdf" | "xacro") => {
                return Ok(Self::Urdf);
            }
            _ if head.is_empty() => "an empty file".to_owned(),
            _ => "no XML element".to_owned(),
        };
        Err(Error::request(format!(
            "`{shown}`: expected URDF or xacro (<robot>), a model of MuJoCo (<mujoco>), or a robot \
             file of the language (.robot, .ron), found {found}"
        )))
    }
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// The beginning of a file.
fn head(path: &Path) -> std::io::Result<Vec<u8>> {
    use std::io::Read;
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(HEAD as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// What is cut off at the end of the head is not looked at.
fn text(head: &[u8]) -> &str {
    match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::{first_element, text};

    #[test]
    fn the_first_element_is_found_in_front_of_other_bytes() {
        assert_eq!(first_element(text(b"<robot \xff")), Some("robot"));
        assert_eq!(first_element(text(b"\xff\xfe<robot")), None);
    }
}
