//! `cargo xtask setup`: installs what the checks need and the machine lacks: components of the pinned toolchain, by rustup, and
//! Debian's packages of network libraries and launchers, where this user may.

use crate::report::Report;
use crate::step::{Finished, Outcome, Step, root};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// The tools that checks call; each is there or has a reason why not.
pub(crate) struct Tools {
    pub(crate) rustfmt: Result<(), String>,
    pub(crate) clippy: Result<(), String>,
}

impl Tools {
    /// Runs a step if the tool it needs is there.
    pub(crate) fn run(tool: &Result<(), String>, step: Step) -> Finished {
        match tool {
            Ok(()) => step.run(),
            Err(why) => step.skip(why.clone()),
        }
    }
}

/// Looks for all tools and installs those that are missing.
pub(crate) fn prepare(report: &mut Report) -> Tools {
    install_packages(&PACKAGES, report);
    Tools {
        rustfmt: find_or_install("rustfmt", || answers("cargo", &["fmt", "--version"]), report),
        clippy: find_or_install("clippy", || answers("cargo", &["clippy", "--version"]), report),
    }
}

/// Looks for the sources of the standard library and installs them if they are missing.
pub(crate) fn find_standard_library(report: &mut Report) -> Result<(), String> {
    find_or_install("rust-src", || is_in_toolchain("src/rust/library/Cargo.lock"), report)
}

/// Looks for the standard library of another target and installs it if it is missing.
pub(crate) fn find_target(target: &str, report: &mut Report) -> Result<(), String> {
    find_or_install(&format!("rust-std-{target}"), || is_in_toolchain(target), report)
}

/// Whether the pinned toolchain has this file or folder beside its libraries.
fn is_in_toolchain(path: &str) -> bool {
    let sysroot = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root()).output();
    let sysroot = sysroot.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    sysroot.is_ok_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(path).exists())
}

/// Packages that checks load or start at run time: libfabric, network namespaces, ssh, Open MPI, MPICH, Slurm. Slurm's own PMIx plugin opens
/// `libpmix.so` by its development name. Then those that build the bindings of verbs, those that make guests and run them,
/// a browser that opens the dashboard, and what counts instructions.
const PACKAGES: [&str; 18] = [
    "libfabric1",
    "iproute2",
    "openssh-client",
    "openssh-server",
    "openmpi-bin",
    "mpich",
    "slurm-wlm",
    "munge",
    "libpmix-dev",
    "cmake",
    "libclang1-14",
    "libclang-common-14-dev",
    "qemu-system-x86",
    "debootstrap",
    "busybox-static",
    "kmod",
    "chromium",
    "valgrind",
];

/// Installs Debian's packages that are missing. Without them the checks that need them are skipped, one by one.
pub(crate) fn install_packages(packages: &[&str], report: &mut Report) {
    let began = Instant::now();
    let is_there = |package: &&str| {
        let status = Command::new("dpkg-query").args(["-W", "-f=${Status}", package]).output();
        status.is_ok_and(|status| status.stdout == b"install ok installed")
    };
    let missing: Vec<&str> = packages.iter().copied().filter(|package| !is_there(package)).collect();
    let install = [&["install", "--yes", "--no-install-recommends"], &missing[..]].concat();
    let outcome = if missing.is_empty() || (answers("apt-get", &["update"]) && answers("apt-get", &install)) {
        Outcome::Passed
    } else {
        Outcome::Skipped(format!("`apt-get {}` failed", install.join(" ")))
    };
    let name = "packages".to_owned();
    report.add(Finished { name, outcome, elapsed: began.elapsed(), output: Vec::new() });
}

fn find_or_install(
    component: &str,
    is_there: impl FnOnce() -> bool,
    report: &mut Report,
) -> Result<(), String> {
    let began = Instant::now();
    let result = match is_there() {
        true => Ok(()),
        false if !answers("rustup", &["--version"]) => {
            Err(format!("{component} is missing and there is no rustup to install it"))
        }
        false if answers("rustup", &["component", "add", component]) => Ok(()),
        false => Err(format!("{component} is missing and `rustup component add {component}` failed")),
    };
    let outcome = match &result {
        Ok(()) => Outcome::Passed,
        Err(why) => Outcome::Skipped(why.clone()),
    };
    report.add(Finished {
        name: component.to_owned(),
        outcome,
        elapsed: began.elapsed(),
        output: Vec::new(),
    });
    result
}

/// Whether a program runs and succeeds, silently.
pub(crate) fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(root())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
