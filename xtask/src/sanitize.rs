//! `cargo xtask sanitize`: the suites that own raw memory, and the programs and ports that use it, under a sanitizer.
//!
//! Works with the pinned stable toolchain: the compiler's own switch (`RUSTC_BOOTSTRAP`) opens `-Z sanitizer`. The thread
//! sanitizer must see the standard library's locks and channels, so it is built along, from the component `rust-src`; and it
//! must see memory being unmapped and mapped again, so `rustix` calls the C library, which the sanitizer watches.

use crate::report::Report;
use crate::setup;
use crate::step::{Step, flags_with, target_directory};
use clap::ValueEnum;

const TARGET: &str = "--target x86_64-unknown-linux-gnu";

/// Without the checks of how much memory is used: a sanitizer keeps freed memory for a while, to notice who still uses it. Nor those with few
/// addresses, of which a sanitizer takes terabytes, nor the one check that a process ends by a fault of memory, which a sanitizer reports instead.
pub(crate) const STEPS: [(&str, &str, &str); 8] = [
    ("layout", "test --no-fail-fast", "-p chare-layout --lib --tests"),
    ("device", "test --no-fail-fast", "-p chare-device --lib --tests -- --skip a_host_that_touches"),
    ("lrts", "test --no-fail-fast", "-p chare-lrts --lib --tests -- --skip long_heap_memory_costs_nothing"),
    (
        "runtime",
        "test --no-fail-fast",
        "-p chare --lib --tests -- --skip memory_stays_flat --skip takes_no_memory",
    ),
    ("suite", "test --no-fail-fast", "-p chare-tests --test conformance -- --skip strangers_do_not_disturb"),
    ("examples", "build", "-p chare-examples -p chare-hello --examples"),
    (
        "programs",
        "test --no-fail-fast",
        "-p chare-tests --test acceptance --test zerocopy --test megatest -- --skip flood:: --skip addresses",
    ),
    ("fuzz", "test --no-fail-fast", "-p chare-trace -p chare-fuzz --lib --tests"),
];

/// The errors to look for.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Sanitizer {
    /// Memory that is used after it was freed, or beyond its end
    Address,
    /// Memory that threads touch at the same time. It does not know fences, on which some protocols rest: those are proved
    /// by the models
    Thread,
}

/// Runs the suites, or those of these names.
pub(crate) fn run(sanitizer: Sanitizer, wanted: &[String], report: &mut Report) {
    let (name, flags, library) = match sanitizer {
        Sanitizer::Address => ("address", "-Zsanitizer=address", ""),
        Sanitizer::Thread => ("thread", "-Zsanitizer=thread --cfg=rustix_use_libc", "-Zbuild-std"),
    };
    let source = match sanitizer {
        Sanitizer::Address => Ok(()),
        Sanitizer::Thread => setup::find_standard_library(report),
    };
    // The thread sanitizer puts a signal's handler off until its thread calls the C library by name; one that sleeps for a wake-up does not.
    let skips = |what| match (sanitizer, what) {
        (Sanitizer::Thread, "programs") => " --skip signal",
        _ => "",
    };
    let is_wanted = |what: &str| wanted.is_empty() || wanted.iter().any(|one| one == what);
    for (what, verb, packages) in STEPS.into_iter().filter(|(what, ..)| is_wanted(what)) {
        // The target is named so that build scripts and macros, which run in the compiler, are left alone.
        let command = format!("{verb} {library} {TARGET} {packages}{}", skips(what));
        let step = Step::cargo(&format!("{name}: {what}"), &command)
            .environment("RUSTC_BOOTSTRAP", "1")
            .environment("RUSTFLAGS", flags_with(flags))
            // A search for leaks traces the process and opens files, which some tests forbid to their children; memory that cannot be
            // had is an error that other tests ask for.
            .environment("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
            .environment("TSAN_OPTIONS", "allocator_may_return_null=1")
            .environment("CARGO_TARGET_DIR", target_directory().join(name));
        report.add(setup::Tools::run(&source, step));
    }
}
