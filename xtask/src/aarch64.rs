//! Another processor: `cargo xtask test` checks the crates for aarch64, and `cargo xtask aarch64` runs their tests there, emulated by QEMU
//! process by process.
//!
//! Emulated processes are of this host: they have its page size, and its processor's order of memory, which is stronger than that of
//! aarch64. What a weaker order lets happen, the models find (`cargo xtask test`, step `models`).

use crate::report::Report;
use crate::setup::{self, Tools};
use crate::step::Step;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Linker and C library of the target, and the emulator.
const PACKAGES: [&str; 3] = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"];

/// Lints for the target, which needs its standard library and nothing else.
pub(crate) fn check(clippy: &Result<(), String>, report: &mut Report) {
    let library = setup::find_target(TARGET, report);
    let packages = "-p chare -p chare-lrts -p chare-layout --features chare/ofi,chare/mpi,chare/ndarray";
    let step = Step::cargo("aarch64", &format!("clippy --target {TARGET} {packages} -- -D warnings"));
    report.add(Tools::run(&library.and(clippy.clone()), step));
}

/// Runs the tests under emulation.
pub(crate) fn run(report: &mut Report) {
    setup::install_packages(&PACKAGES, report);
    let library = setup::find_target(TARGET, report);
    for package in ["chare-layout", "chare-lrts", "chare"] {
        let test = format!("test --target {TARGET} --no-fail-fast -p {package} --lib --tests");
        let step = Step::cargo(&format!("aarch64: {package}"), &test)
            .environment("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
            .environment(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                "qemu-aarch64 -L /usr/aarch64-linux-gnu",
            );
        report.add(Tools::run(&library, step));
    }
}
