//! Gathering: the programs that test and measure devices, built in release, stripped and compressed, with the kernels' PTX and this program, in
//! one folder.

use super::parts::{BETWEEN_NODES, CONFORMANCE, DDTBENCH, DEVICES, HALO, IN_CHARES, PING_PONG, STENCIL};
use crate::report::Report;
use crate::step::{Finished, Outcome, built, root, target_directory};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// What may be carried to a machine that is lent.
const BYTES_MAX: u64 = 64 << 20;

/// What is built: the same packages with the same features each time, so that each library is built once.
const PACKAGES: &str = "--release --package chare-device --package chare-tests --package chare-examples --package chare-benches \
    --features chare-device/cuda,chare-tests/cuda,chare-examples/cuda,chare-benches/cuda";

/// Cargo's commands, and what they build of it. `test` would make tests of the examples.
const BUILDS: [(&str, &str); 2] = [
    ("test", "--no-run --test conformance --test devices --bench devices"),
    ("build", "--example stencil2d --example pingpong --example halo --example ddtbench"),
];

/// A program of the folder, and where it comes from.
struct Gathered {
    name: &'static str,
    /// The folder of its package.
    package: &'static str,
    /// What it is there, and its name.
    target: (&'static str, &'static str),
}

const GATHERED: [Gathered; 9] = [
    Gathered { name: CONFORMANCE, package: "device", target: ("test", "conformance") },
    Gathered { name: BETWEEN_NODES, package: "tests", target: ("test", "conformance") },
    Gathered { name: IN_CHARES, package: "tests", target: ("test", "devices") },
    // Tests look for these two by their names.
    Gathered { name: "on_devices", package: "tests", target: ("bin", "on_devices") },
    Gathered { name: STENCIL, package: "examples", target: ("example", "stencil2d") },
    Gathered { name: PING_PONG, package: "examples", target: ("example", "pingpong") },
    Gathered { name: HALO, package: "examples", target: ("example", "halo") },
    Gathered { name: DDTBENCH, package: "examples", target: ("example", "ddtbench") },
    Gathered { name: DEVICES, package: "benches", target: ("bench", "devices") },
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
    let built = build()?;
    // What an earlier one left is of other programs.
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(named(folder, error)),
        _ => fs::create_dir_all(folder).map_err(|error| named(folder, error))?,
    }
    let mut programs = vec![("xtask", std::env::current_exe().map_err(|error| error.to_string())?)];
    for gathered in &GATHERED {
        programs.push((gathered.name, find(&built, gathered)?));
    }
    let mut bytes = 0;
    for (name, program) in &programs {
        let copy = folder.join(name);
        fs::copy(program, &copy).map_err(|error| named(program, error))?;
        done(Command::new("strip").arg(&copy), "binutils")?;
        // What unpacks the others stays as it is.
        let carried = if *name == "xtask" { copy } else { compressed(&copy)? };
        bytes += fs::metadata(&carried).map_err(|error| named(&carried, error))?.len();
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

/// Builds all programs, and returns what Cargo says of each artifact.
fn build() -> Result<Vec<Value>, String> {
    let mut all = Vec::new();
    for (what, targets) in BUILDS {
        all.extend(built(&format!("{what} {PACKAGES} {targets}"))?);
    }
    Ok(all)
}

/// Where Cargo has put a program.
fn find(
    built: &[Value],
    Gathered { name, package, target: (kind, target) }: &Gathered,
) -> Result<PathBuf, String> {
    let is_it = |message: &&Value| {
        let manifest = message["manifest_path"].as_str().map(Path::new);
        message["target"]["name"] == *target
            && message["target"]["kind"][0] == *kind
            && manifest.is_some_and(|manifest| manifest.ends_with(format!("{package}/Cargo.toml")))
    };
    let mut programs = built.iter().filter(is_it);
    let found = programs.find_map(|message| message["executable"].as_str().map(PathBuf::from));
    found.ok_or_else(|| format!("cargo has built no {kind} `{target}` of {package}, for {name}"))
}

/// Puts `NAME.gz` in the place of a program.
fn compressed(program: &Path) -> Result<PathBuf, String> {
    done(Command::new("gzip").arg(program), "gzip")?;
    Ok(program.with_extension("gz"))
}

/// Puts the programs of a folder in the place of what [`pack`] made of them; does nothing where there is no folder.
///
/// # Errors
/// What `gunzip` says.
pub(super) fn unpack(folder: &Path) -> Result<(), String> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(()) };
    let packed = entries.flatten().map(|entry| entry.path());
    for program in packed.filter(|path| path.extension().is_some_and(|extension| extension == "gz")) {
        done(Command::new("gunzip").arg(program), "gzip")?;
    }
    Ok(())
}

/// Runs a program of a package of the system to its end.
fn done(command: &mut Command, package: &str) -> Result<(), String> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(error) => Err(format!("{command:?}: {error}: it is of the package {package}")),
    }
}

#[cfg(test)]
mod tests {
    use super::{GATHERED, find};
    use serde_json::json;
    use std::path::Path;

    #[test]
    fn programs_of_one_name_are_told_apart_by_their_packages() {
        let message = |package: &str, kind: &str, executable: &str| {
            json!({
                "manifest_path": format!("/there/{package}/Cargo.toml"), "executable": executable,
                "target": { "name": "conformance", "kind": [kind] },
            })
        };
        let built = [
            message("device", "test", "/one"),
            message("tests", "bin", "/no"),
            message("tests", "test", "/two"),
        ];
        let [of_devices, of_nodes, chares, ..] = &GATHERED;
        assert_eq!(find(&built, of_devices).as_deref(), Ok(Path::new("/one")));
        assert_eq!(find(&built, of_nodes).as_deref(), Ok(Path::new("/two")));
        assert!(find(&built, chares).is_err());
    }
}
