//! What kind of file describes a robot, by its ending and its first element.

use std::path::Path;

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
        let found = match first_element(&head) {
            Some("robot") => return Ok(Self::Urdf),
            Some("mujoco") => return Ok(Self::Mjcf),
            Some("mujocoinclude") => {
                "a part that a model of MuJoCo includes (<mujocoinclude>)".to_owned()
            }
            Some("sdf") => {
                "SDF (<sdf>): convert it, for instance by `gz sdf -p` from a URDF".into()
            }
            Some(other) => format!("<{other}>"),
            // Perhaps it was meant to be one; its reader says what is wrong.
            None if matches!(ending(&path.to_string_lossy()), "urdf" | "xacro") => {
                return Ok(Self::Urdf);
            }
            None if head.is_empty() => "an empty file".to_owned(),
            None => "no XML element".to_owned(),
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

/// The name of the first element, without declarations and comments before it.
fn first_element(head: &[u8]) -> Option<&str> {
    // What is cut off at the end of the head is not looked at.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let mut rest = text;
    loop {
        rest = rest.split_once('<')?.1;
        let end = match rest {
            comment if comment.starts_with("!--") => "-->",
            other if other.starts_with(['!', '?']) => ">",
            _ => break,
        };
        rest = rest.split_once(end)?.1;
    }
    let name = rest.split(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).next()?;
    (!name.is_empty() && name.len() <= 64).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::first_element;

    #[test]
    fn the_first_element_stands_behind_declarations_and_comments() {
        for (text, name) in [
            ("<robot name='a'>", Some("robot")),
            ("\u{feff}<?xml version='1.0'?>\n<!-- <sdf> -->\n<mujoco>", Some("mujoco")),
            ("<!DOCTYPE robot>\n<robot/>", Some("robot")),
            ("solid stl", None),
            ("<!-- no end <robot>", None),
            ("<", None),
            ("", None),
        ] {
            assert_eq!(first_element(text.as_bytes()), name, "{text}");
        }
        assert_eq!(first_element(b"<robot \xff"), Some("robot"));
        assert_eq!(first_element(b"\xff\xfe<robot"), None);
    }
}
