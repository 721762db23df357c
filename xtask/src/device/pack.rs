//! Gathering: the programs that measure devices, built in release and stripped, with the kernels' PTX and this program, in one folder.

use super::{CONFORMANCE, DEVICES};
use crate::report::Report;
use crate::step::{Finished, Outcome, root, target_directory};
use serde_json::Value;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// What may be carried to a machine that is lent.
const BYTES_MAX: u64 = 64 << 20;

/// What is built, and the options that build it.
const BUILT: [(&str, &str); 2] = [
    (CONFORMANCE, "test --release --package chare-device --features cuda --test conformance"),
    (DEVICES, "bench --package chare-benches --features cuda --bench devices"),
];

pub(super) fn pack(report: &mut Report) {
    println!("\n=== pack ===");
    let (began, folder) = (Instant::now(), target_directory().join("device"));
    let outcome = gather(&folder).map_or_else(Outcome::Failed, |bytes| {
        println!("{}: {:.1} MiB", folder.display(), mib(bytes));
        Outcome::Passed
    });
    report.add(Finished { name: "pack".to_owned(), outcome, elapsed: began.elapsed(), output: Vec::new() });
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Returns how many bytes it has gathered.
fn gather(folder: &Path) -> Result<u64, String> {
    let named = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(folder).map_err(|error| named(folder, error))?;
    let mut programs = vec![("xtask", std::env::current_exe().map_err(|error| error.to_string())?)];
    for (name, options) in BUILT {
        programs.push((name, build(name, options)?));
    }
    let mut bytes = 0;
    for (name, program) in &programs {
        let copy = folder.join(name);
        fs::copy(program, &copy).map_err(|error| named(program, error))?;
        strip(&copy)?;
        bytes += fs::metadata(&copy).map_err(|error| named(&copy, error))?.len();
    }
    let ptx = root().join("device/kernels/step.ptx");
    bytes += fs::copy(&ptx, folder.join("step.ptx")).map_err(|error| named(&ptx, error))?;
    if bytes > BYTES_MAX {
        return Err(format!(
            "{} holds {:.1} MiB, more than the {:.0} that can be carried",
            folder.display(),
            mib(bytes),
            mib(BYTES_MAX)
        ));
    }
    Ok(bytes)
}

/// Builds a program, and returns where Cargo says it is.
fn build(name: &str, options: &str) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(cargo);
    command.current_dir(root()).args(options.split(' '));
    command.args(["--no-run", "--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let built = command.output().map_err(|error| format!("cargo: {error}"))?;
    if !built.status.success() {
        return Err(format!("`cargo {options}`: {}", built.status));
    }
    let said = String::from_utf8_lossy(&built.stdout);
    let messages = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ours = messages.filter(|message| message["target"]["name"] == name);
    let mut programs = ours.filter_map(|message| message["executable"].as_str().map(PathBuf::from));
    programs.next_back().ok_or_else(|| format!("`cargo {options}` has built no `{name}`"))
}

fn strip(program: &Path) -> Result<(), String> {
    match Command::new("strip").arg(program).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`strip {}`: {status}", program.display())),
        Err(error) => Err(format!("strip: {error}: it is of the package binutils")),
    }
}
