//! `cargo xtask fuzz`: libFuzzer on the targets of `fuzz/`, for a while or so many executions each.
//!
//! Builds with the pinned stable toolchain, whose own switch (`RUSTC_BOOTSTRAP`) opens what libFuzzer needs: an address
//! sanitizer and counters at every branch. In `target/fuzz-corpus/NAME`, `kept` are the inputs of `fuzz/corpus/NAME.inputs`, `found` the
//! seeds and new inputs, `broken` those that break the target. `--pack` keeps of the found what reaches new branches, and all that is
//! or was broken: its fix is to be made first, for the tests replay what is kept.

use crate::report::Report;
use crate::step::{Finished, Outcome, Step, flags_with, target_directory};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TARGETS: [&str; 9] =
    ["envelope", "buffers", "moves", "frame", "emulated", "handshake", "handle", "layout", "options"];

const FLAGS: &str = "-Zsanitizer=address -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg=fuzzing";

/// A peer may announce any length; one that is not backed yet costs address space alone. What is resident has a limit of its own.
const LONGEST_ALLOCATION: &str = "-malloc_limit_mb=1000000000";

/// Beyond its time, a fuzzer ends its last input and tells what it did.
const LAST_INPUT: Duration = Duration::from_secs(60);

/// Within this any number of executions that somebody waits for is over.
const CAMPAIGN: Duration = Duration::from_secs(7 * 24 * 3_600);

/// What to fuzz.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How long each target, in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// How many executions of each target, however long they take, such as 10000000 for a campaign
    #[arg(long, conflicts_with = "seconds", value_parser = clap::value_parser!(u64).range(1..))]
    runs: Option<u64>,
    /// Keep what was found in fuzz/corpus
    #[arg(long)]
    pack: bool,
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
        let campaign = Campaign::of(&name, &built);
        report.add(campaign.corpus("seeds", &[&campaign.found]));
        let unpacked = campaign.corpus("unpack", &[&campaign.kept]);
        // What was not unpacked would be missing from what is packed.
        let packs = options.pack && unpacked.outcome == Outcome::Passed;
        report.add(unpacked);
        report.add(match options.runs {
            Some(runs) => campaign.search(&format!("-runs={runs}"), CAMPAIGN),
            None => {
                let limit = format!("-max_total_time={}", options.seconds);
                campaign.search(&limit, Duration::from_secs(options.seconds))
            }
        });
        if packs {
            report.add(campaign.merge());
            report.add(campaign.corpus("pack", &[&campaign.kept, &campaign.broken]));
        }
    }
}

/// A target, the fuzzer that drives it, and its folders.
struct Campaign<'a> {
    name: &'a str,
    fuzzer: PathBuf,
    found: PathBuf,
    kept: PathBuf,
    broken: PathBuf,
}

impl<'a> Campaign<'a> {
    fn of(name: &'a str, built: &Path) -> Self {
        let folder = target_directory().join("fuzz-corpus").join(name);
        let [found, kept, broken] = ["found", "kept", "broken"].map(|part| folder.join(part));
        // What was kept by an earlier build may be kept no longer. A fuzzer says what is wrong with a folder that is not there.
        let _ = fs::remove_dir_all(&kept);
        let _ = [&found, &kept, &broken].into_iter().try_for_each(fs::create_dir_all);
        Self { name, fuzzer: built.join("x86_64-unknown-linux-gnu/release/fuzzer"), found, kept, broken }
    }

    fn corpus(&self, verb: &str, folders: &[&Path]) -> Finished {
        let run = "run --quiet --package chare-fuzz --example corpus --";
        let step = Step::cargo(&format!("{}: {verb}", self.name), run).argument(verb).argument(self.name);
        folders.iter().fold(step, |step, folder| step.argument(*folder)).run()
    }

    fn fuzzer(&self, step: &str) -> Step {
        Step::program(step, &self.fuzzer)
            .environment("CHARE_FUZZ_TARGET", self.name)
            // Leaks are looked for by a test of their own; a large allocation that fails is an error here as elsewhere.
            .environment("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1")
            .argument("-rss_limit_mb=4096")
            .argument(LONGEST_ALLOCATION)
    }

    fn search(&self, limit: &str, time: Duration) -> Finished {
        let fuzzer = self.fuzzer(self.name).argument(limit);
        let fuzzer = fuzzer.argument(format!("-artifact_prefix={}/", self.broken.display()));
        fuzzer
            .argument("-print_final_stats=1")
            .argument(&self.found)
            .argument(&self.kept)
            .within(time + LAST_INPUT)
            .run()
    }

    /// Adds to what is kept the found inputs that reach new branches.
    fn merge(&self) -> Finished {
        let fuzzer = self.fuzzer(&format!("{}: merge", self.name));
        fuzzer.argument("-merge=1").argument(&self.kept).argument(&self.found).run()
    }
}
