//! `cargo xtask fuzz`: libFuzzer on the targets of `fuzz/`, for a while each.
//!
//! Builds with the pinned stable toolchain, whose own switch (`RUSTC_BOOTSTRAP`) opens what libFuzzer needs: an address
//! sanitizer and counters at every branch. New inputs go to `target/fuzz-corpus`; an input that breaks a target
//! stays in `target/fuzz-corpus/NAME-broken`, to be kept in `fuzz/corpus/NAME` with its fix.

use crate::report::Report;
use crate::step::{Step, flags_with, root, target_directory};
use std::fs;
use std::time::Duration;

const TARGETS: [&str; 7] = ["envelope", "frame", "emulated", "handshake", "handle", "layout", "options"];

const FLAGS: &str = "-Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg=fuzzing";

/// A peer may announce any length; one that is not backed yet costs address space alone. What is resident has a limit of its own.
const LONGEST_ALLOCATION: &str = "-malloc_limit_mb=1000000000";

/// Beyond its time, a fuzzer ends its last input and tells what it did.
const LAST_INPUT: Duration = Duration::from_secs(60);

/// What to fuzz.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Targets; all without a name
    #[arg(value_parser = TARGETS)]
    targets: Vec<String>,
}

/// Builds the fuzzers and runs them one after another.
pub(crate) fn run(options: Options, report: &mut Report) {
    let build = "build --release --target x86_64-unknown-linux-gnu --manifest-path fuzz/libfuzzer/Cargo.toml";
    let built = target_directory().join("fuzz");
    let build = Step::cargo("build", build)
        .environment("RUSTC_BOOTSTRAP", "1")
        .environment("RUSTFLAGS", flags_with(FLAGS))
        .environment("CARGO_TARGET_DIR", &built);
    report.add(build.run());
    let all = || TARGETS.map(str::to_owned).to_vec();
    let targets = if options.targets.is_empty() { all() } else { options.targets };
    for name in targets {
        let found = target_directory().join("fuzz-corpus").join(&name);
        let broken = target_directory().join("fuzz-corpus").join(format!("{name}-broken/"));
        // A fuzzer says what is wrong with a folder that is not there.
        let _ = fs::create_dir_all(&found).and_then(|()| fs::create_dir_all(&broken));
        let seeds =
            Step::cargo(&format!("{name}: seeds"), "run --quiet --package chare-fuzz --example seeds --");
        report.add(seeds.argument(&name).argument(&found).run());
        let mut fuzzer = Step::program(&name, built.join("x86_64-unknown-linux-gnu/release").join(&name))
            // Leaks are looked for by a test of their own; a large allocation that fails is an error here as elsewhere.
            .environment("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
            .argument(format!("-max_total_time={}", options.seconds))
            .argument(format!("-artifact_prefix={}/", broken.display()))
            .argument("-print_final_stats=1")
            .argument("-rss_limit_mb=4096")
            .argument(LONGEST_ALLOCATION)
            .argument(&found)
            .within(Duration::from_secs(options.seconds) + LAST_INPUT);
        // There is one once fuzzing has found something.
        let kept = root().join("fuzz/corpus").join(&name);
        if kept.exists() {
            fuzzer = fuzzer.argument(kept);
        }
        report.add(fuzzer.run());
    }
}
