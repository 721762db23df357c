//! `cargo xtask kernels`: the kernels of devices, compiled to the PTX that is checked in beside them.
//!
//! They are compiled by NVRTC, which needs no device, from PyPI's wheel of one version: another one writes other PTX.

use crate::report::Report;
use crate::step::{Finished, Outcome, Step, root, target_directory};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{fs, io};

/// The version that wrote what is checked in: the oldest that can be had. Newer ones write PTX that older drivers refuse; this one's, drivers
/// take from 515 on.
const VERSION: &str = "11.7.99";

/// What is compiled: the kernels of the library, and those of programs.
const SOURCES: [&str; 3] =
    ["device/kernels/step.cu", "examples/stencil2d/sweep.cu", "benches/benches/devices/product/product.cu"];

/// What to do with what was compiled.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only compare it with what is checked in
    #[arg(long)]
    check: bool,
}

/// Compiles the kernels, and writes or compares them.
pub(crate) fn run(options: &Options, report: &mut Report) {
    println!("\n=== kernels ===");
    let began = Instant::now();
    let outcome = match find_nvrtc() {
        Ok(library) => compile(&library, options.check).map_or_else(Outcome::Failed, |()| Outcome::Passed),
        Err(why) => Outcome::Skipped(why),
    };
    report.add(Finished {
        name: "kernels".to_owned(),
        outcome,
        elapsed: began.elapsed(),
        output: Vec::new(),
    });
}

/// Compares the kernels with what is checked in.
pub(crate) fn check(report: &mut Report) {
    run(&Options { check: true }, report);
}

/// Looks for NVRTC among the project's own tools and installs it there if it is missing, once.
fn find_nvrtc() -> Result<PathBuf, String> {
    let tools = target_directory().join(format!("tools/nvrtc-{VERSION}"));
    let library = tools.join("nvidia/cuda_nvrtc/lib/libnvrtc.so.11.2");
    if library.exists() {
        return Ok(library);
    }
    let wheel = format!("nvidia-cuda-nvrtc-cu11=={VERSION}");
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", &wheel];
    let finished = Step::program("nvrtc", "python3");
    let finished =
        install.into_iter().fold(finished, Step::argument).argument("--target").argument(&tools).run();
    match finished.outcome {
        Outcome::Failed(why) => {
            Err(format!("`python3 {} --target {}` failed ({why})", install.join(" "), tools.display()))
        }
        _ if library.exists() => Ok(library),
        _ => Err(format!("{wheel} has no {}", library.display())),
    }
}

fn compile(library: &Path, only_compares: bool) -> Result<(), String> {
    SOURCES.into_iter().try_for_each(|source| compile_one(library, &root().join(source), only_compares))
}

fn compile_one(library: &Path, source: &Path, only_compares: bool) -> Result<(), String> {
    let (compiler, kept) = (root().join("device/kernels/compile.py"), source.with_extension("ptx"));
    let compiled = Command::new("python3").arg(compiler).args([library, source]).output();
    let compiled = compiled.map_err(|error| format!("python3: {error}"))?;
    let complaints = String::from_utf8_lossy(&compiled.stderr);
    if !compiled.status.success() {
        return Err(format!("{}: {}", source.display(), complaints.trim()));
    }
    let is_same = fs::read(&kept).is_ok_and(|ptx| ptx == compiled.stdout);
    let named = |error: io::Error| format!("{}: {error}", kept.display());
    match (is_same, only_compares) {
        (true, _) => println!("{} is what {} compiles to", kept.display(), source.display()),
        (false, true) => {
            return Err(format!(
                "{} is not what its source compiles to: run `cargo xtask kernels`",
                kept.display()
            ));
        }
        (false, false) => {
            fs::write(&kept, &compiled.stdout).map_err(named)?;
            println!("written: {}", kept.display());
        }
    }
    Ok(())
}
