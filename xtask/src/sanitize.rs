//! `cargo xtask sanitize`: the suites that own raw memory, under a sanitizer.
//!
//! Works with the pinned stable toolchain: the compiler's own switch (`RUSTC_BOOTSTRAP`) opens `-Z sanitizer`. The standard
//! library stays as it is, not instrumented; an address sanitizer does not need more.

use crate::report::Report;
use crate::step::{Step, flags_with, target_directory};
use clap::ValueEnum;

/// The sanitizers that give reliable answers here. A thread sanitizer does not: it needs an instrumented standard
/// library, and it does not know fences, on which the protocols of this project rest; the models check those instead.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Sanitizer {
    /// Memory that is used after it was freed, or beyond its end
    Address,
}

/// Runs the suites.
pub(crate) fn run(sanitizer: Sanitizer, report: &mut Report) {
    let Sanitizer::Address = sanitizer;
    // The target is named so that build scripts and macros, which run in the compiler, are left alone.
    let suites = [
        (
            "address: lrts",
            "test --target x86_64-unknown-linux-gnu --no-fail-fast -p chare-lrts --lib --tests",
        ),
        ("address: runtime", "test --target x86_64-unknown-linux-gnu --no-fail-fast -p chare --lib --tests"),
        (
            "address: suite",
            "test --target x86_64-unknown-linux-gnu --no-fail-fast -p chare-tests --test conformance",
        ),
    ];
    for (name, arguments) in suites {
        let step = Step::cargo(name, arguments)
            .environment("RUSTC_BOOTSTRAP", "1")
            .environment("RUSTFLAGS", flags_with("-Zsanitizer=address"))
            // A search for leaks traces the process and opens files, which some tests forbid to their children.
            .environment("ASAN_OPTIONS", "detect_leaks=0")
            .environment("CARGO_TARGET_DIR", target_directory().join("address"));
        report.add(step.run());
    }
}
