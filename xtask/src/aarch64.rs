//! Another processor: `cargo xtask test` checks the crates for aarch64, and `cargo xtask aarch64` runs their tests there, emulated by QEMU
//! process by process.
//!
//! Emulated processes are of this host: they have its page size, and its processor's order of memory, which is stronger than that of
//! aarch64. What a weaker order lets happen, the models find (`cargo test -p chare-model`).

use crate::report::Report;
use crate::setup::{self, Tools};
use crate::step::Step;

const TARGET: &str = "aarch64-unknown-linux-gnu";

/// Linker and C library of the target, and the emulator.
const PACKAGES: [&str; 3] = ["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user"];

/// Tests of each package that the emulator can run, and those among them that it cannot.
///
/// QEMU has no `process_vm_readv`, tells nothing of a process's page tables, and has signal handlers of its own, and a program that starts
/// itself again would start a file that is for another processor. Jobs over CMA say themselves that they are skipped.
const TESTS: [(&str, &str, &[&str]); 4] = [
    ("chare-layout", "--lib --tests", &[]),
    ("chare-device", "--lib", &[]),
    (
        "chare-lrts",
        "--lib --test codec",
        &["cma::", "host::arena::tests::an_arena_that", "host::tests::an_arena_takes"],
    ),
    ("chare", "--lib --tests", &["a_handler_that_is_there_is_seen", "memory_stays_flat_on_every_path"]),
];

/// Lints for the target, which needs its standard library and nothing else.
pub(crate) fn check(clippy: &Result<(), String>, report: &mut Report) {
    let library = setup::find_target(TARGET, report);
    let packages =
        "-p chare -p chare-lrts -p chare-layout -p chare-device --features chare/ofi,chare/mpi,chare/ndarray";
    let step = Step::cargo("aarch64", &format!("clippy --target {TARGET} {packages} -- -D warnings"));
    report.add(Tools::run(&library.and(clippy.clone()), step));
}

/// Runs the tests under emulation.
pub(crate) fn run(report: &mut Report) {
    setup::install_packages(&PACKAGES, report);
    let library = setup::find_target(TARGET, report);
    for (package, tests, without) in TESTS {
        let skips: String = without.iter().map(|test| format!(" --skip {test}")).collect();
        let test = format!("test --target {TARGET} --no-fail-fast -p {package} {tests} --{skips}");
        let step = Step::cargo(&format!("aarch64: {package}"), &test)
            .environment("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc")
            .environment(
                "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER",
                "qemu-aarch64 -L /usr/aarch64-linux-gnu",
            );
        report.add(Tools::run(&library, step));
    }
}
