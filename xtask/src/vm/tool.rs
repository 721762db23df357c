//! Tools of the host, and their messages when they fail.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// Why there is no guest, in words.
#[derive(Debug)]
pub(crate) struct Failure(pub(crate) String);

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(error.to_string())
    }
}

/// Runs a tool; what it prints is shown only when it fails.
///
/// # Errors
/// Its name and its last words.
pub(super) fn run(command: &mut Command) -> Result<(), Failure> {
    output(command).map(drop)
}

/// Runs a tool and returns what it printed.
///
/// # Errors
/// Its name and its last words.
pub(super) fn output(command: &mut Command) -> Result<String, Failure> {
    let name = command.get_program().display().to_string();
    let done = command.stdin(Stdio::null()).output().map_err(|error| Failure(format!("{name}: {error}")))?;
    let (said, complained) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    if done.status.success() {
        return Ok(said.into_owned());
    }
    let all: Vec<&str> = said.lines().chain(complained.lines()).filter(|line| !line.is_empty()).collect();
    let last = all[all.len().saturating_sub(3)..].join("; ");
    Err(Failure(format!("{name}: {}: {last}", done.status)))
}

/// Downloads packages and unpacks them into a directory, without installing them.
///
/// # Errors
/// The tools'.
pub(super) fn unpack(cache: &Path, into: &Path, packages: &[&str]) -> Result<(), Failure> {
    let downloads = cache.join("downloads");
    fs::create_dir_all(&downloads)?;
    let download = || {
        let mut apt = Command::new("apt-get");
        apt.args(["-o", "APT::Sandbox::User=root", "download"]).args(packages).current_dir(&downloads);
        run(&mut apt)
    };
    if download().is_err() {
        // Old lists name packages that are gone.
        run(Command::new("apt-get").arg("update"))?;
        download()?;
    }
    for package in fs::read_dir(&downloads)? {
        run(Command::new("dpkg").arg("-x").arg(package?.path()).arg(into))?;
    }
    fs::remove_dir_all(&downloads)?;
    Ok(())
}

/// Writes a file that can be executed.
///
/// # Errors
/// The file system's.
pub(super) fn write_program(path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))?;
    Ok(())
}
