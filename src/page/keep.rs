//! A token that outlives its server, so that an open page finds the next one at the same address.
//!
//! It is as hard to guess as any other, and lies where the user alone can read: in the folder that
//! the system makes for the user's login (`XDG_RUNTIME_DIR`) and removes behind it. Without such a
//! folder no token is kept.

use std::path::{Path, PathBuf};

use legwork_program::Fnv;

/// Where the token of a diagram is kept, if there is a place.
pub fn place(diagram: &Path) -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?);
    let whole = std::path::absolute(diagram).ok()?;
    // Two paths with one hash share a token of the same user.
    let mut hash = Fnv::default();
    hash.add(&whole.to_string_lossy());
    let name = format!("view-{:016x}", hash.value());
    folder.is_absolute().then(|| folder.join("legwork").join(name))
}

/// A page that leads to `address` and that only the user can read: the list of processes shows the
/// arguments of a browser to others. `None` without a private folder.
pub fn redirect(address: &str) -> Option<PathBuf> {
    let private = match cfg!(target_os = "macos") {
        // The folder is created for this user alone.
        true => std::env::temp_dir(),
        false => PathBuf::from(std::env::var_os("XDG_RUNTIME_DIR")?),
    };
    redirect_in(&private, address)
}

fn redirect_in(private: &Path, address: &str) -> Option<PathBuf> {
    let mut hash = Fnv::default();
    hash.add(address);
    let file = private.join("legwork").join(format!("open-{:016x}.html", hash.value()));
    let text = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\"><title>Legwork</title>\n"
    );
    (private.is_absolute() && write(&file, &text).is_ok()).then_some(file)
}

/// The token of the last server, or this one, which is kept then. Whatever goes wrong, it is a
/// token that nobody else knows.
pub(crate) fn keep(file: &Path, fresh: String) -> String {
    match read(file, fresh.len()) {
        Some(kept) => kept,
        None => {
            // Without it a page does not find the next server.
            let _ = write(file, &fresh);
            fresh
        }
    }
}

/// A kept token; none if others can read it, such as who asked for root's rights, or if it is not
/// one.
#[cfg(unix)]
fn read(file: &Path, len: usize) -> Option<String> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let folder = std::fs::symlink_metadata(file.parent()?).ok()?;
    let found = std::fs::symlink_metadata(file).ok()?;
    let is_private = folder.permissions().mode() & 0o077 == 0
        && found.permissions().mode() & 0o077 == 0
        && [folder.uid(), found.uid()] == [rustix::process::geteuid().as_raw(); 2];
    let token = (is_private && found.is_file()).then(|| std::fs::read_to_string(file).ok())??;
    let is_token = token.len() == len && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_token.then_some(token)
}

/// Writes a token that the user alone can read.
#[cfg(unix)]
fn write(file: &Path, token: &str) -> std::io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(folder) = file.parent() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    // What lies there is no token of ours, or others could read it.
    if std::fs::symlink_metadata(file).is_ok() {
        std::fs::remove_file(file)?;
    }
    let mut options = std::fs::OpenOptions::new();
    let mut made = options.write(true).create_new(true).mode(0o600).open(file)?;
    made.write_all(token.as_bytes())
}

#[cfg(not(unix))]
fn read(_: &Path, _: usize) -> Option<String> {
    None
}

#[cfg(not(unix))]
fn write(_: &Path, _: &str) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn an_address_is_in_a_page_that_its_user_alone_can_read() {
        let folder = tempfile::tempdir().unwrap();
        let address = "http://127.0.0.1:1234/?token=0123456789abcdef";
        for _ in 0..2 {
            let file = redirect_in(folder.path(), address).unwrap();
            assert!(std::fs::read_to_string(&file).unwrap().contains(address));
            assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            assert!(!file.display().to_string().contains("0123456789abcdef"));
        }
        assert_eq!(redirect_in(Path::new("relative"), address), None);
    }

    #[test]
    fn a_token_is_kept_for_its_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("legwork/view-1");
        let [a, b, c] = ["a", "b", "c"].map(|digit| digit.repeat(32));
        assert_eq!(keep(&file, a.clone()), a);
        assert_eq!(keep(&file, b.clone()), a);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        // One that others could have read or written is none.
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        assert_eq!(keep(&file, b.clone()), b);
        std::fs::write(&file, "short").unwrap();
        assert_eq!(keep(&file, c.clone()), c);
        // What a link leads to is neither read nor written.
        let other = folder.path().join("other");
        std::fs::write(&other, &a).unwrap();
        std::fs::set_permissions(&other, std::fs::Permissions::from_mode(0o600)).unwrap();
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&other, &file).unwrap();
        assert_eq!(keep(&file, b.clone()), b);
        assert_eq!(std::fs::read_to_string(&other).unwrap(), a);
    }
}
