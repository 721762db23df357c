//! `cargo xtask test`: every check of the project, in the order in which a mistake is found soonest.

use crate::aarch64;
use crate::book;
use crate::dependencies;
use crate::floors;
use crate::instructions;
use crate::kernels;
use crate::report::Report;
use crate::setup::{self, Tools};
use crate::step::Step;
use crate::vm;
use std::{panic, thread};

/// Backends that are features. They load their libraries at run time; their checks skip what is not there.
const BACKENDS: &str = "ofi,verbs,mpi";

/// The features with which all is built and tested: the backends, CUDA's devices, the dashboard, the DSA, and simulated jobs.
const FEATURES: &str = "ofi,verbs,mpi,cuda,dashboard,dsa,sim";

/// Runs all checks; `quick` leaves out the documentation, the book and the counts of instructions.
pub(crate) fn run(quick: bool, report: &mut Report) {
    let tools = setup::prepare(report);
    report.add(Tools::run(&tools.rustfmt, Step::cargo("format", "fmt --all --check")));
    report.add(floors::step());
    dependencies::run(report);
    let lints = "clippy --workspace --all-targets --all-features -- -D warnings";
    report.add(Tools::run(&tools.clippy, Step::cargo("lints", lints)));
    for feature in BACKENDS.split(',') {
        let lints = format!("clippy --package chare-lrts --features {feature} -- -D warnings");
        report.add(Tools::run(&tools.clippy, Step::cargo(&format!("lints: {feature} alone"), &lints)));
    }
    let lints = "clippy --package chare --no-default-features -- -D warnings";
    report.add(Tools::run(&tools.clippy, Step::cargo("lints: no features", lints)));
    let lints = "clippy --package chare --no-default-features --features launch -- -D warnings";
    report.add(Tools::run(&tools.clippy, Step::cargo("lints: no net", lints)));
    let lints = "clippy --package chare-device -- -D warnings";
    report.add(Tools::run(&tools.clippy, Step::cargo("lints: no cuda", lints)));
    aarch64::check(&tools.clippy, report);
    kernels::check(report);
    report.add(packages().run());
    // Tests start examples and programs as separate processes, so these are built before.
    report.add(
        Step::cargo("build", &format!("build --workspace --features {FEATURES} --bins --examples")).run(),
    );
    // Passing tests may have skipped something; their output says so. `--bins` would link a second executable of each program.
    let test = format!("test --workspace --features {FEATURES} --no-fail-fast");
    report.add(Step::cargo("tests", &format!("{test} --tests -- --show-output")).run());
    // What a build without TCP refuses, it alone can test.
    report.add(
        Step::cargo(
            "tests: no net",
            "test --package chare-lrts --no-default-features --lib -- by_tcp listening launchers",
        )
        .run(),
    );
    // Guests leave a good part of the processors idle, and nothing of this looks at a clock.
    thread::scope(|scope| {
        let beside = scope.spawn(|| beside_guests(quick));
        // With other features, all that guests run would be built once more.
        vm::suite::run(FEATURES, report);
        report.join(beside.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
    });
    report.add(Step::cargo("doctests", &format!("{test} --doc")).run());
}

/// What guests need not wait for: counts of instructions, the documentation, the book. What these say is shown when each is over.
fn beside_guests(quick: bool) -> Report {
    let mut report = Report::default();
    if quick {
        for step in [documentation(), book::step()] {
            report.add(step.skip("--quick".to_owned()));
        }
    } else {
        instructions::run(&instructions::Options::default(), &mut report);
        report.add(documentation().aside().run());
        book::run(&mut report);
    }
    report
}

/// Packs what the registry would get, in the order in which it would get it. Compiles nothing: the other steps have compiled the same files.
fn packages() -> Step {
    Step::cargo("packages", "publish --workspace --dry-run --no-verify --allow-dirty")
}

fn documentation() -> Step {
    let flags = std::env::var("RUSTDOCFLAGS").unwrap_or_default();
    Step::cargo("documentation", &format!("doc --workspace --features {FEATURES} --no-deps"))
        .environment("RUSTDOCFLAGS", format!("{flags} -D warnings"))
}
